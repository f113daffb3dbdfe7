"""The head of radio: what is fitted is what runs, outliers are found, and figures are what they say."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from streaming.block import Block
from streaming.bundle import Bundle, encoder_sha256
from streaming.bundle_meta import Meta
from streaming.encoder import Encoder, EncoderShape, iq
from streaming.engine import open_engine
from streaming.errors import ConfigError
from streaming.features import ABOUT, COUNT, extract
from streaming.follower import Piece
from streaming.frontend import FrontEnd
from streaming.pipeline import LivePipeline
from training.evaluation.radio_evaluate import expected_error, judge, summary, unseen
from training.heads.fit import Identity
from training.heads.open_set import Maker, OpenSetData, feature_mixup, make_data
from training.heads.radio_fit import FALSE_ALARMS, embed_signals, fit_radio, with_open_set
from training.heads.search import Search
from training.pretraining.radio import FRONTEND, RATE_HZ
from training.signals.conditions import Conditions
from training.signals.stream import Stream, in_turn

SHAPE = EncoderShape(channels=4, depth=2, reduced=8, outputs=6, pooling="mean")
NAMES = ("16QAM", "64QAM", "GMSK", "OFDM")


@pytest.fixture(scope="module")
def clusters():
    """Four classes, each around its own corner."""
    rng = np.random.default_rng(1)
    corners = 4 * np.eye(4, 6)
    label = np.repeat(np.arange(4), 40)
    near = corners[label] + rng.standard_normal((160, 6))
    return np.concatenate([near, np.tile(near, COUNT // 6 + 1)[:, :COUNT]], 1).astype(np.float32), label


@pytest.fixture(scope="module")
def data():
    """The same corners, and outliers all around."""
    rng = np.random.default_rng(2)
    label = np.repeat(np.arange(4), 300)
    known = np.tile(4 * np.eye(4, 6)[label] + rng.standard_normal((1_200, 6)), COUNT // 6 + 1)[:, :COUNT]
    outliers = np.tile(rng.uniform(-8, 8, (1_200, 6)), COUNT // 6 + 1)[:, :COUNT]
    family = np.array(["QAM", "QAM", "FSK", "OFDM"])[label]
    related = ("", "FSK,PSK", "~FSK") * 400
    held = np.arange(len(known)) % 5 == 0
    return OpenSetData(known.astype(np.float32), family, held, outliers.astype(np.float32), related)


@pytest.fixture(scope="module")
def head(clusters, data):
    identity = Identity("live", NAMES, "live", 64, 32, encoder_sha256(Encoder(SHAPE)))
    return fit_radio(*clusters, identity, data, Search(C=(1.0,), gamma=(1.0,), refuse=0.0)).head


def test_signals_are_embedded_as_the_encoder_does_it(clusters):
    encoder = Encoder(SHAPE, seed=2)
    rng = np.random.default_rng(0)
    signals = rng.standard_normal((20, 2 * 96)).astype(np.float32).view(np.complex64)
    found = embed_signals(encoder, signals, hop=32, window=64)
    with torch.no_grad():
        features = encoder.features(iq(signals))[:, -64:]
        expected = encoder.linear(features.mean(1)).numpy()
    assert np.abs(found[:, :6] - expected).max() <= 1e-5 * np.abs(expected).max()
    assert np.array_equal(found[:, 6:], [extract(signal[-64:]) for signal in signals])


def test_what_is_fitted_is_what_the_pipeline_runs(head):
    conditions = Conditions(snr_db=(25.0, 25.0))
    stream = Stream(in_turn(("noise", "QPSK"), 30_000, conditions, 3), conditions, 3)
    block = Block(stream.next(60_000), 0, RATE_HZ)
    encoder = Encoder(SHAPE)
    bundle = Bundle(encoder, {"live": head}, Meta(FRONTEND, has_features=True))
    pipeline = LivePipeline(bundle, head, open_engine(encoder, head.hop))
    predictions = [p for p in pipeline.push(block) if p.bandwidth_hz is not None]
    pieces = [item for item in FrontEnd(FRONTEND).push(block) if isinstance(item, Piece)]
    signal = np.concatenate([piece.samples for piece in pieces])
    ends = range(head.window, len(signal) + 1, head.hop)
    assert len(predictions) == len(ends) > 5
    for prediction, end in zip(predictions, ends, strict=True):
        fitted = head.probabilities(embed_signals(encoder, signal[None, :end], head.hop, head.window))
        assert np.allclose(prediction.probabilities, fitted[0], atol=1e-6)


def test_known_signals_are_named_and_outliers_are_not(clusters, head):
    assert head.families == ("QAM", "QAM", "FSK", "OFDM")
    embeddings, label = clusters
    known = head.answer(embeddings)[0]
    assert np.mean(known == label) > 0.9
    outliers = np.full((10, 6 + COUNT), -6, np.float32)
    assert (head.answer(outliers)[0] == -1).all()


def test_the_open_set_detector_calls_as_many_known_signals_unknown_as_was_asked(head, data):
    lame = with_open_set(head, data, 0.5, 0)
    half = with_open_set(head, data, FALSE_ALARMS, 0)
    held = np.pad(data.known[data.held], ((0, 0), (6, 0)))
    assert np.mean(lame.outlier_odds(held) > lame.outlier_limit) == pytest.approx(0.5, abs=0.01)
    assert np.mean(half.outlier_odds(held) > half.outlier_limit) == pytest.approx(FALSE_ALARMS, abs=0.01)
    assert half.outlier_limit == head.outlier_limit  # the same seed gives the same


def test_data_without_a_family_have_nothing_of_it(data):
    left = data.without("FSK")
    assert set(left.family.tolist()) == {"QAM", "OFDM"}
    assert len(left.known) == 900
    assert [left.held[left.family == name].mean() for name in ("QAM", "OFDM")] == [0.2, 0.2]
    assert len(left.outliers) == 400
    assert set(left.related) == {""}
    assert set(data.without("FSK", like=False).related) == {"", "~FSK"}


def test_feature_mixup_is_between_two_families(data):
    made = feature_mixup(data.known, data.family, np.random.default_rng(3))
    assert np.array_equal(made, feature_mixup(data.known, data.family, np.random.default_rng(3)))
    things = ABOUT.max() + 1
    own = np.stack([(made == data.known)[:, i == ABOUT].all(1) for i in range(things)], 1)
    assert [set(own[way::3].sum(1).tolist()) for way in range(3)] == [{0}, {things // 2}, {1}]
    for row, mine, family in zip(made[2:90:3], own[2::3], data.family[2::3], strict=False):
        others = np.isin(ABOUT, np.flatnonzero(~mine))
        (other,) = np.flatnonzero((data.known[:, others] == row[others]).all(1))
        assert data.family[other] != family


def test_the_open_set_data_depend_on_the_seed_alone_and_are_kept(tmp_path):
    maker = Maker(("GMSK", "QPSK"), 600, 512, Conditions(snr_db=(10.0, 30.0)), 3, known=11, outliers=12)
    found = make_data(maker, tmp_path)
    assert found.family.tolist() == ["FSK", "PSK"] * 5 + ["FSK"]
    rows = [maker.make(i) for i in range(23)]
    assert np.array_equal([*found.known, *found.outliers], [row for row, _ in rows])
    assert list(found.related) == [names for _, names in rows[11:]]
    assert {name for names in found.related for name in names.split(",")} >= {"FSK", "PSK", "~FSK"}
    assert np.isfinite(found.outliers).all()
    assert np.flatnonzero(found.held).tolist() == [0, 5, 10]
    with pytest.raises(ConfigError, match="5 classes"):
        replace(maker, classes=("GMSK",) * 5)
    kept = sorted(tmp_path.iterdir())
    kept[4].unlink()  # as if it had been stopped there
    again = make_data(maker, tmp_path)
    assert np.array_equal(again.outliers, found.outliers)
    assert sorted(tmp_path.iterdir()) == kept


def test_calibration_error_of_a_sure_and_a_humble_guess():
    right = np.array([True, True, True, False])
    assert np.isclose(expected_error(np.full(4, 0.75), right), 0.0)
    assert np.isclose(expected_error(np.ones(4), right), 0.25)
    assert np.isclose(expected_error(np.array([0.9, 0.9, 0.1, 0.1]), np.array([1, 1, 0, 0], bool)), 0.1)


def test_the_summary_counts_families_where_the_class_is_wrong(clusters, head):
    embeddings, label = clusters
    truth = [NAMES[0] if name == NAMES[1] else name for name in (NAMES[i] for i in label.tolist())]
    found = summary(judge(head, embeddings, truth, np.full(160, 20, np.float32)))
    assert found["class"]["percent"] < 78  # every 64QAM is now called 16QAM in the truth
    assert found["family"]["percent"] > 95


def test_a_family_left_out_is_unknown(clusters, head, data):
    found = unseen(head, data, (*clusters, np.full(160, 20.0, np.float32)), NAMES)
    assert set(found) == set(NAMES)
    assert found["OFDM"]["flagged"] > 50
