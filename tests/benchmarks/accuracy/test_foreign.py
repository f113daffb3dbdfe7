"""GNU Radio's signals are what they are said to be, come again from the same seed, and are scored rightly."""

import json
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.accuracy import foreign
from benchmarks.accuracy.foreign import BEFORE, COUNT, PACKAGES, as_text, gnuradio, hear, jobs
from streaming.band.frontend import BandSettings
from streaming.bundle import Bundle
from streaming.bundle_meta import Meta
from streaming.encoder import Encoder
from streaming.shape import EncoderShape
from tests.models import tiny_head
from tests.require import need
from training.evaluation.exam.emissions import FoundEmission
from training.evaluation.exam.labels import Truth
from training.evaluation.exam.recordings import Decision, LabelledRecording
from training.signals.classes import FAMILIES

CLASSES = ("QPSK", "16QAM", "GMSK")
FOUND = FoundEmission(0, 100, -1e3, 1e3, 10.0, "QPSK", "PSK", 0.9, {}, 1.0, ((0, 100),))


@pytest.fixture
def side():
    need(PACKAGES.is_dir(), "GNU Radio (tests/setup_gnuradio.sh)")
    with gnuradio() as process:
        yield process


def job(name, **more):
    chosen = next(j for j in jobs() if j["name"] == name and j["snr_db"] == 20)
    return chosen | {"before": 20_000, "count": 60_000, "after": 5_000} | more


def test_every_class_of_ours_is_made_there(side):
    names = subprocess.run(
        ["/usr/bin/python3", foreign.SIDE, "names"],
        env={"PYTHONPATH": str(PACKAGES)},
        capture_output=True,
        check=True,
    ).stdout
    assert set(json.loads(names)) == set(FAMILIES)


def occupied(x):
    """The 99 % bandwidth, by scipy-free Welch."""
    spectrum = np.square(
        np.abs(np.fft.fft(x[: len(x) // 1024 * 1024].reshape(-1, 1024) * np.hanning(1024)))
    ).mean(0)
    below = np.cumsum(np.fft.fftshift(spectrum)) / spectrum.sum()
    return (np.searchsorted(below, 0.995) - np.searchsorted(below, 0.005)) / 1024


@pytest.mark.parametrize("name", ["QPSK", "64QAM", "OQPSK", "GMSK", "2FSK", "WBFM", "OFDM", "chirp", "SSB"])
def test_power_bandwidth_and_place_are_as_told(side, name):
    asked = job(name, snr_db=50)  # so that noise beside the signal is below 0.1 %
    x, truth = hear(side, asked)
    assert len(x) == 85_000
    noise = np.mean(np.square(np.abs(x[:19_000])))
    both = np.mean(np.square(np.abs(x[25_000:75_000])))
    width = truth["bandwidth_hz"] / asked["rate_hz"]
    # An echo of up to a quarter changes the power by up to 1.9 dB.
    assert 10 * np.log10((both - noise) / noise / width) == pytest.approx(50, abs=2)
    assert occupied(x[25_000:75_000]) == pytest.approx(width, rel=0.25)


def test_the_same_job_gives_the_same_samples_and_another_seed_others(side):
    first, _ = hear(side, job("16QAM"))
    again, _ = hear(side, job("16QAM"))
    other, _ = hear(side, job("16QAM", seed=5))
    np.testing.assert_allclose(
        first, again, atol=1e-6
    )  # where GNU Radio cuts its buffers shows in the last bit
    assert np.abs(first - other).max() > 0.1


def test_what_is_made_is_kept_and_answered(side, tmp_path, monkeypatch):
    few = [j for j in jobs() if j["name"] in ("QPSK", "noise") and j["snr_db"] == 20][::3]
    monkeypatch.setattr(foreign, "jobs", lambda: few)
    foreign.make(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    foreign.make(tmp_path)
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    encoder = Encoder(EncoderShape(channels=4, depth=2, reduced=6, outputs=5), seed=1)
    head = replace(tiny_head(encoder, name="live", mode="live", window=512, hop=128), classes=CLASSES)
    path = tmp_path / "tiny.safetensors"
    Bundle(encoder, {"live": head}, Meta(BandSettings()), "tiny").save(path)
    qpsk, noise = foreign.evaluate(str(path), tmp_path, few, workers=1)
    assert (qpsk.recording.truth.label, noise.recording.truth.label) == ("QPSK", "noise")
    assert noise.emission is None
    assert noise.family_right
    assert qpsk.answer in CLASSES
    assert qpsk.emission.begin == pytest.approx(BEFORE, abs=1_024)
    assert qpsk.emission.end == pytest.approx(BEFORE + COUNT, abs=4_096)
    assert qpsk.emission.snr_db == pytest.approx(20, abs=2)


def decision(name, snr_db, answer, family):
    """As if this had been answered."""
    recording = LabelledRecording("x", "file:x", name, Truth(name, FAMILIES[name]), snr_db)
    emission = None if answer is None else replace(FOUND, label=answer, family=family)
    return Decision(recording, emission, 0.1)


def test_a_family_may_be_right_where_the_class_is_not():
    text = as_text(
        [
            decision("QPSK", 10, "8PSK", "PSK"),
            decision("QPSK", 20, "QPSK", "PSK"),
            decision("OOK", 20, None, None),
            decision("OOK", 5, "OOK", "ASK"),
            decision("noise", None, None, None),
        ]
    )
    assert "classes from 10 dB: 33.3 (6.1-79.2) % of 3 recordings" in text
    assert "families from 10 dB: 66.7 (20.8-93.9) % of 3 recordings" in text
    assert "noise 1/1" in text
