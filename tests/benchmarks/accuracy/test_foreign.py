"""GNU Radio's signals are what they are said to be, come again from the same seed, and are scored rightly."""

import json
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.accuracy import foreign
from benchmarks.accuracy.foreign import BEFORE, COUNT, PACKAGES, answered, as_text, gnuradio, hear, jobs
from streaming.bundle import Bundle
from streaming.bundle_meta import Meta
from streaming.encoder import Encoder, EncoderShape
from streaming.engine import open_engine
from streaming.frontend import FrontEndSettings
from streaming.pipeline import LivePipeline
from streaming.prediction import NO_SIGNAL
from tests.models import tiny_head
from tests.require import need
from training.signals.classes import FAMILIES


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
    assert 10 * np.log10((both - noise) / noise / width) == pytest.approx(50, abs=1)
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
    head = tiny_head(encoder, name="live", mode="live", window=200, hop=100)
    bundle = Bundle(encoder, {"live": head}, Meta(FrontEndSettings(agc_samples=300.0)), "tiny")
    found = {}
    for each in few:
        pipeline = LivePipeline(bundle, head, open_engine(encoder, 100))
        found[each["name"]] = answered(head, pipeline, foreign.meta_path(tmp_path, each))
    assert found["noise"].label == NO_SIGNAL
    assert found["QPSK"].label in head.classes
    assert found["QPSK"].start == pytest.approx(BEFORE, abs=1_024)
    assert found["QPSK"].end == pytest.approx(BEFORE + COUNT, abs=4_096)
    assert found["QPSK"].snr_db == pytest.approx(20, abs=2)
    head = replace(head, classes=("QPSK", "16QAM", "noise"))
    bundle = Bundle(encoder, {"live": head}, bundle.meta, "tiny")
    rows = foreign.evaluate(bundle, tmp_path, few)
    assert [row["name"] for row in rows] == ["QPSK", "noise"]
    assert rows[1]["answer"] == "noise"


def test_a_family_may_be_right_where_the_class_is_not():
    rows = [
        {"name": "QPSK", "snr_db": 10, "answer": "8PSK", "family": "PSK"},
        {"name": "QPSK", "snr_db": 20, "answer": "QPSK", "family": "PSK"},
        {"name": "OOK", "snr_db": 20, "answer": NO_SIGNAL, "family": NO_SIGNAL},
        {"name": "noise", "snr_db": 0, "answer": "noise", "family": "noise"},
    ]
    text = as_text(rows)
    assert "classes at 10 dB and above: 33.3 %" in text
    assert "families at 10 dB and above: 66.7 %" in text
    assert "no signal found in 1, unknown 0 of 3; noise left alone in 1 of 1" in text
