"""Figures of the model `radio` are what they say, and emissions are embedded alike on every core."""

import json

import numpy as np
import pytest

from streaming.band.frontend import BandSettings
from streaming.bundle import Bundle
from streaming.bundle_meta import Meta
from streaming.encoder import Encoder
from streaming.shape import EncoderShape
from tests.models import tiny_head
from training.datasets.held_out import HeldOut
from training.evaluation.radio_evaluate import Judged, embed_all, embed_one, expected_error, summary


def test_calibration_error_of_a_sure_and_a_humble_guess():
    right = np.array([True, True, True, False])
    assert np.isclose(expected_error(np.full(4, 0.75), right), 0.0)
    assert np.isclose(expected_error(np.ones(4), right), 0.25)
    assert np.isclose(expected_error(np.array([0.9, 0.9, 0.1, 0.1]), np.array([1, 1, 0, 0], bool)), 0.1)


def test_the_summary_counts_families_refusals_and_what_was_not_found():
    judged = Judged(
        truth=np.array(["16QAM", "16QAM", "GMSK", "GMSK", "OFDM"]),
        said=np.array(["16QAM", "64QAM", "GMSK", "QPSK", "OFDM"]),
        family=np.array(["QAM", "QAM", "FSK", "PSK", "OFDM"]),
        sure=np.full(5, 0.8),
        family_sure=np.full(5, 0.9),
        refused=np.array([True, False, False, False, False]),
        snr_db=np.array([12.0, 22.0, 22.0, 12.0, 3.0]),
    )
    found = summary(judged, missed_db=np.array([11.0, 2.0, 1.0]))
    assert found["emissions"] == 8
    assert found["class_high"]["percent"] == pytest.approx(50)
    assert found["family_high"]["percent"] == pytest.approx(75)
    assert found["named_high"]["percent"] == pytest.approx(50)
    assert found["unknown"]["percent"] == pytest.approx(20)
    assert found["missed"]["percent"] == pytest.approx(100 * 3 / 8)
    assert found["missed_high"]["percent"] == pytest.approx(100 / 5)
    assert found["ece_class"] == pytest.approx(0.2)  # 80 % sure, three of five right
    assert found["confusion_high"] == {"16QAM": {"unknown": 1, "64QAM": 1}, "GMSK": {"GMSK": 1, "QPSK": 1}}
    assert [(row["from_db"], row["family"]["percent"]) for row in found["by_snr"]] == [
        (0.0, 100.0),
        (10.0, 50.0),
        (20.0, 100.0),
    ]
    json.dumps(found)


def test_emissions_are_embedded_alike_on_every_core(tmp_path):
    encoder = Encoder(EncoderShape(channels=4, depth=2, reduced=6, outputs=5), seed=1)
    head = tiny_head(encoder, name="live", mode="live", window=512, hop=128)
    path = tmp_path / "tiny.safetensors"
    Bundle(encoder, {"live": head}, Meta(BandSettings())).save(path)
    made = HeldOut("narrow", ("GMSK", "QPSK"), seed=2)
    found = embed_all(str(path), made.make, 5, "emissions")
    alone = [embed_one(str(path), made.make, i) for i in range(5)]
    assert [snr_db for row, snr_db in alone if row is None] == found.missed_db.tolist()
    assert found.number.tolist() == [i for i, (row, _) in enumerate(alone) if row is not None]
    for row, number in zip(found.rows, found.number.tolist(), strict=True):
        assert np.array_equal(row, alone[number][0])
