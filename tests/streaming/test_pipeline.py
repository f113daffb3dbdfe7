"""The pipeline answers what the batch encoder would, for any cut, and says where its past was cut."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streaming.agc import Agc, normalise
from streaming.block import Block
from streaming.bundle import Bundle
from streaming.bundle_meta import Meta
from streaming.encoder import Encoder, iq
from streaming.engine import open_engine
from streaming.errors import ConfigError
from streaming.level import LevelSettings
from streaming.pipeline import FramePipeline, LevelPipeline, choose_head
from streaming.shape import EncoderShape
from tests.models import tiny_head

SHAPE = EncoderShape(channels=4, depth=2, reduced=6, outputs=5)  # sees 29 samples
WINDOW, HOP, AGC = 40, 10, 50.0
RNG = np.random.default_rng(7)
SIGNAL = (RNG.standard_normal(400) + 1j * RNG.standard_normal(400)).astype(np.complex64)


@pytest.fixture(scope="module")
def bundle():
    encoder = Encoder(SHAPE, seed=1)
    heads = {
        "live": tiny_head(encoder, name="live", mode="live", window=WINDOW, hop=HOP),
        "frames": tiny_head(encoder, name="frames", mode="frame", window=WINDOW, hop=WINDOW),
    }
    return Bundle(encoder, heads, Meta(LevelSettings(agc_samples=AGC)), "tiny")


def live(bundle):
    return LevelPipeline(bundle, bundle.heads["live"], open_engine(bundle.encoder, hop=HOP, backend="torch"))


def blocks(samples, cuts=(), first=0, freq_hz=None):
    edges = [0, *sorted(cuts), len(samples)]
    return [
        Block(samples[a:b], first + a, 1000.0, freq_hz, utc_ns=1_000_000_000 + (first + a) * 1_000_000)
        for a, b in itertools.pairwise(edges)
        if b > a
    ]


def push(pipeline, pieces):
    return [prediction for block in pieces for prediction in pipeline.push(block)]


def test_a_live_answer_is_the_heads_over_the_batch_features_of_the_whole_history(bundle):
    features = bundle.encoder.features(iq(Agc(AGC).push(SIGNAL)[None]))[0].detach()
    expected = [
        bundle.encoder.linear(bundle.encoder.pool(features[None, end - WINDOW : end])).detach().numpy()[0]
        for end in range(WINDOW, len(SIGNAL) + 1, HOP)
    ]
    _, probabilities = bundle.heads["live"].answer(np.array(expected))
    found = push(live(bundle), blocks(SIGNAL))
    assert [(p.start, p.end) for p in found] == [(e - WINDOW, e) for e in range(WINDOW, len(SIGNAL) + 1, HOP)]
    np.testing.assert_allclose([p.probabilities for p in found], probabilities, atol=1e-4)


@given(st.lists(st.integers(1, len(SIGNAL) - 1), max_size=12, unique=True))
@settings(max_examples=30, deadline=None)
def test_how_the_stream_is_cut_never_shows(bundle, cuts):
    whole, cut = push(live(bundle), blocks(SIGNAL)), push(live(bundle), blocks(SIGNAL, cuts))
    assert [(p.start, p.end, p.past, p.utc_ns) for p in whole] == [
        (p.start, p.end, p.past, p.utc_ns) for p in cut
    ]
    np.testing.assert_allclose([p.probabilities for p in whole], [p.probabilities for p in cut], atol=1e-4)


def test_a_gap_restarts_and_is_marked(bundle):
    pipeline = live(bundle)
    push(pipeline, blocks(SIGNAL[:200]))
    after = push(pipeline, blocks(SIGNAL, first=1007))
    fresh = push(live(bundle), blocks(SIGNAL, first=1007))
    assert [p.start for p in after] == [p.start for p in fresh]
    np.testing.assert_array_equal([p.probabilities for p in after], [p.probabilities for p in fresh])
    whole_past = 1007 + WINDOW + SHAPE.receptive_field - 1
    assert {p.past for p in after if p.end < whole_past} == {"gap"}
    assert {p.past for p in after if p.end >= whole_past} == {"warm"}
    assert {p.past for p in fresh if p.end < whole_past} == {"cold"}


def test_an_answer_carries_the_time_of_its_first_sample(bundle):
    for prediction in push(live(bundle), blocks(SIGNAL, [33, 150])):
        assert prediction.utc_ns == 1_000_000_000 + prediction.start * 1_000_000


def test_frames_are_encoded_each_from_an_empty_state(bundle):
    expected = bundle.encoder.encode(normalise(SIGNAL.reshape(10, WINDOW)))
    _, probabilities = bundle.heads["frames"].answer(expected)
    found = push(FramePipeline(bundle, bundle.heads["frames"]), blocks(SIGNAL, [7, 55, 300]))
    assert [p.start for p in found] == list(range(0, 400, WINDOW))
    np.testing.assert_allclose([p.probabilities for p in found], probabilities, atol=1e-6)


def test_a_frame_that_a_gap_cuts_is_left_out(bundle):
    pipeline = FramePipeline(bundle, bundle.heads["frames"])
    found = push(pipeline, [*blocks(SIGNAL[:50]), *blocks(SIGNAL[:85], first=90)])
    assert [p.start for p in found] == [0, 90, 130]


def test_a_head_is_chosen_by_name_or_mode(bundle):
    assert choose_head(bundle, "", "frame").name == "frames"
    assert choose_head(bundle, "live", "live").name == "live"
    with pytest.raises(ConfigError, match="has no head 'x'; it has live, frames"):
        choose_head(bundle, "x", "live")
    with pytest.raises(ConfigError, match="fitted for frame mode; use --frame 40"):
        choose_head(bundle, "frames", "live")


@pytest.mark.parametrize("mode", ["live", "frame"])
def test_samples_of_two_frequencies_are_two_signals(bundle, mode):
    def pipeline():
        return live(bundle) if mode == "live" else FramePipeline(bundle, bundle.heads["frames"])

    first, second = SIGNAL[:190], SIGNAL[190:]
    found = push(
        pipeline(), [*blocks(first, freq_hz=433e6), *blocks(second, cuts=[50], first=190, freq_hz=868e6)]
    )
    apart = push(pipeline(), blocks(first)) + push(pipeline(), blocks(second, first=190))
    assert [(p.start, p.end) for p in found] == [(p.start, p.end) for p in apart]
    np.testing.assert_allclose([p.probabilities for p in found], [p.probabilities for p in apart], atol=1e-6)
    if mode == "live":
        assert {p.past for p in found if p.start == 190} == {"gap"}
