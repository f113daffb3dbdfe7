"""Blocks are cut, joined and timed in one way, and bad samples are refused where they enter."""

from itertools import pairwise

import numpy as np
import pytest

from streaming.band.frontend import BandSettings
from streaming.block import Block, Gap, merge
from streaming.bundle import Bundle
from streaming.bundle_meta import Meta
from streaming.encoder import Encoder
from streaming.engine import open_engine
from streaming.errors import InputError
from streaming.level import LevelSettings
from streaming.pipeline import FramePipeline, open_pipeline
from streaming.shape import EncoderShape
from tests.models import tiny_head

LOST = Gap(100, "overflow", exact=True)
BLOCK = Block(np.arange(1000).astype(np.complex64), 5000, 1e6, 433e6, 10**18, "hardware", LOST)


@pytest.mark.parametrize(
    ("start", "end", "expected", "gap"),
    [(0, 9000, (5000, 6000), LOST), (5100, 9000, (5100, 6000), None), (0, 5900, (5000, 5900), LOST),
     (5100, 5200, (5100, 5200), None), (6000, 6000, (6000, 6000), None)],
)  # fmt: skip
def test_a_part_of_a_block_knows_its_place_and_time(start, end, expected, gap):
    part = BLOCK.cut(start, end)
    assert (part.index, part.end) == expected
    np.testing.assert_array_equal(part.samples.real, np.arange(expected[0] - 5000, expected[1] - 5000))
    assert part.utc_ns == 10**18 + (expected[0] - 5000) * 1000
    assert (part.rate_hz, part.freq_hz, part.clock, part.gap) == (1e6, 433e6, "hardware", gap)


def test_parts_of_a_block_follow_each_other_and_make_it_again():
    parts = [BLOCK.cut(a, b) for a, b in pairwise([5000, 5001, 5400, 6000])]
    assert all(after.follows(before) for before, after in pairwise(parts))
    again = merge(parts)
    np.testing.assert_array_equal(again.samples, BLOCK.samples)
    assert (again.index, again.utc_ns, again.gap) == (BLOCK.index, BLOCK.utc_ns, BLOCK.gap)


@pytest.mark.parametrize("change", [{"index": 6001}, {"freq_hz": 434e6}, {"rate_hz": 2e6}])
def test_what_comes_after_a_gap_or_a_retune_does_not_follow(change):
    place = {"index": 6000, "rate_hz": 1e6, "freq_hz": 433e6}
    assert Block(BLOCK.samples, **place).follows(BLOCK)
    assert not Block(BLOCK.samples, **place | change).follows(BLOCK)


def pipeline(kind):
    encoder = Encoder(EncoderShape(channels=4, depth=2, reduced=6, outputs=5), seed=1)
    mode = "frame" if kind == "frame" else "live"
    head = tiny_head(encoder, name="a", mode=mode, window=200, hop=50)
    front_end = BandSettings() if kind == "front end" else LevelSettings(agc_samples=300)
    bundle = Bundle(encoder, {"a": head}, Meta(front_end))
    if kind == "frame":
        return FramePipeline(bundle, head)
    return open_pipeline(bundle, head, open_engine(encoder, 50))


@pytest.mark.parametrize("kind", ["level", "front end", "frame"])
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.array([1, np.nan], np.complex64), "samples contain NaN or infinity"),
        (np.array([1, complex(0, np.inf)], np.complex64), "samples contain NaN or infinity"),
        (np.array([1, 1e9j], np.complex64), "times full scale"),
        (np.zeros(3), "samples are float64 of shape (3,); expected complex64 of shape (samples,)"),
        (np.zeros((2, 3), np.complex64), "samples are complex64 of shape (2, 3); expected"),
        ([1j], "samples are list; expected complex64"),
    ],
)
def test_bad_samples_are_refused_where_they_enter_and_nothing_has_changed(kind, bad, message):
    rng = np.random.default_rng(5)
    x = (rng.standard_normal((40_000, 2)) @ [0.01, 0.01j]).astype(np.complex64)
    x[20_000:] += np.exp(2j * np.pi * 0.1 * np.arange(20_000)).astype(np.complex64)
    tried, same = pipeline(kind), pipeline(kind)
    for each in (tried, same):
        each.push(Block(x[:30_030], 0, 250e3))
    if isinstance(bad, np.ndarray) and bad.dtype == np.complex64 and bad.ndim == 1:
        bad = np.concatenate([x, bad])  # the fault lies near the end
    with pytest.raises(InputError) as caught:
        tried.push(Block(bad, 30_030, 250e3))
    assert message in str(caught.value)
    rest = Block(x[30_030:], 30_030, 250e3)
    found, expected = (each.push(rest) + each.flush() for each in (tried, same))
    assert found
    for one, other in zip(found, expected, strict=True):
        assert (one.start, one.past) == (other.start, other.past)
        np.testing.assert_array_equal(one.probabilities, other.probabilities)
