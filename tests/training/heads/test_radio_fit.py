"""The projection and head of radio: what is fitted is what runs, classes lie apart, outliers stand out."""

from dataclasses import replace

import numpy as np
import pytest

from streaming.band.frontend import BandSettings
from streaming.band.pipeline import BandPipeline
from streaming.block import Block
from streaming.bundle import Bundle, encoder_sha256
from streaming.bundle_meta import Meta
from streaming.encoder import Encoder
from streaming.engine import open_engine
from streaming.features import COUNT
from streaming.shape import EncoderShape
from training.datasets.emissions import HEARD, OUTLIER
from training.datasets.examples import Maker, make_examples
from training.datasets.held_out import HeldOut, last_questions
from training.heads.fit import Identity, fit_head, fit_live
from training.heads.projection import Training, feature_mixup, fit_projection
from training.heads.radio_fit import HOP, WINDOW, embed, fit_radio, weighed
from training.heads.search import Search
from training.signals.classes import CLASSES, FAMILIES

SHAPE = EncoderShape(channels=4, depth=2, reduced=8, outputs=6, pooling="mean")
NAMES = ("16QAM", "64QAM", "GMSK", "OFDM")
QUICK = Training(epochs=30, batch=64)


def cluster(rng, count):
    """Features of four classes, each around its own corner, and their labels."""
    label = np.arange(4 * count) % 4
    near = 4 * np.eye(4, 6)[label] + rng.standard_normal((4 * count, 6))
    return np.tile(near, COUNT // 6 + 1)[:, :COUNT].astype(np.float32), label


def around(rng, count):
    """Features of anything."""
    return np.tile(rng.uniform(-8, 8, (count, 6)), COUNT // 6 + 1)[:, :COUNT].astype(np.float32)


@pytest.fixture(scope="module")
def projection():
    rng = np.random.default_rng(2)
    return fit_projection(*cluster(rng, 200), NAMES, around(rng, 800), 0, QUICK)


def test_emissions_of_one_class_lie_together(projection):
    features, label = cluster(np.random.default_rng(3), 50)
    rows = projection.push(features)[:, :-1]
    centres = np.stack([rows[label == k].mean(0) for k in range(4)])
    nearest = np.square(rows[:, None] - centres).sum(2).argmin(1)
    assert np.mean(nearest == label) > 0.95


def test_outliers_have_the_higher_odds(projection):
    rng = np.random.default_rng(4)
    known, strange = (projection.push(x)[:, -1] for x in (cluster(rng, 50)[0], around(rng, 200)))
    limit = np.quantile(known, 0.95)
    assert np.mean(strange > limit) > 0.8


def test_feature_mixup_is_between_two_families():
    rng = np.random.default_rng(5)
    known, label = cluster(rng, 40)
    family = np.array([0, 0, 1, 2])[label]
    made = feature_mixup(known, family, np.random.default_rng(6))
    assert np.array_equal(made, feature_mixup(known, family, np.random.default_rng(6)))
    for i in range(0, 40, 2):  # features of either
        own = made[i] == known[i]
        assert 0.3 < own.mean() < 0.7
        (other,) = np.flatnonzero((known[:, ~own] == made[i][~own]).all(1))
        assert family[other] != family[i]
    for i in range(1, 40, 2):  # a weighted mean
        assert (made[i] != known[i]).all()


def test_examples_depend_on_the_seed_alone_and_are_kept(tmp_path):
    maker = Maker(("GMSK", "noise", OUTLIER), 3)
    found = make_examples(maker, 12, tmp_path, "emissions")
    assert found.names == ("GMSK", "noise", OUTLIER)
    made = [maker.make(i) for i in range(12)]
    expected = {tuple(row.tolist()): i for i, one in enumerate(made) if one for row in one.features}
    assert len(expected) == len(found.features) >= 6
    numbers = [expected[tuple(row.tolist())] for row in found.features]
    assert found.label.tolist() == [number % 3 for number in numbers]
    kept = sorted(tmp_path.iterdir())
    kept[4].unlink()  # as if it had been stopped there
    again = make_examples(maker, 12, tmp_path, "emissions")
    assert np.array_equal(again.features, found.features)
    assert sorted(tmp_path.iterdir()) == kept


def test_what_is_fitted_is_what_the_pipeline_runs(projection):
    rng = np.random.default_rng(7)
    encoder = Encoder(SHAPE)
    bundle = Bundle(encoder, {}, Meta(BandSettings()), projection=projection)
    features, label = cluster(rng, 10)
    rows = np.concatenate([rng.standard_normal((40, 6)), projection.push(features)], 1).astype(np.float32)
    identity = Identity("live", NAMES, "live", WINDOW, HOP, encoder_sha256(encoder))
    fit = fit_live(bundle, rows, label, identity, Search(C=(1.0,), gamma=(1.0,)))
    head = replace(fit.head, outlier_limit=0.0)
    recording = HeldOut("narrow", ("QPSK",), seed=1).make(0)
    block = Block(recording.samples, 0, recording.rate_hz)
    pipeline = BandPipeline(bundle, head, open_engine(encoder, HOP))
    last = {p.emission: p for p in [*pipeline.push(block), *pipeline.flush()] if p.bandwidth_hz is not None}
    questions = last_questions([block])
    assert questions
    for question in questions:
        fitted = embed(bundle, [(question.samples, question.box.snr_db)])
        np.testing.assert_allclose(
            last[question.emission].probabilities, head.probabilities(fitted)[0], atol=1e-6
        )


def test_the_whole_fit_has_every_class_its_family_and_a_limit(tmp_path):
    bundle, fit = fit_radio(Bundle(Encoder(SHAPE)), 3, 1, tmp_path, known=80, outliers=8, partly_heard=8)
    assert isinstance(bundle.meta.front_end, BandSettings)
    head = fit.head
    assert head.classes == CLASSES
    assert head.families == tuple(FAMILIES.values())
    assert head.outlier_limit is not None
    assert head.entries == SHAPE.outputs + bundle.projection.outputs + 1
    assert set(HEARD) < set(CLASSES)


def test_a_class_that_was_made_more_often_is_likelier_by_that_much():
    """Bayes: the odds of two classes change by the ratio of how often they occur."""
    rng = np.random.default_rng(9)
    label = np.arange(60) % 2
    rows = rng.normal(label[:, None], 1, (60, 4)).astype(np.float32)
    head = fit_head(rows, label, Identity("live", ("OOK", "OFDM"), "live", 512, 512, "")).head
    before, after = (h.probabilities(rows) for h in (head, weighed(head, {"OOK": 100, "OFDM": 300})))
    assert np.allclose(after[:, 1] / after[:, 0], 3 * before[:, 1] / before[:, 0])
