"""Changes are found soon, once and however the hops are cut; what is kept afterwards is the newest alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streaming.changes import Changes
from streaming.encoder import Encoder
from streaming.engine import Hops
from streaming.shape import EncoderShape
from streaming.window import Window

HOP = 512


def features(seed=1, jump=0.0, hops=60, at=40):
    rows = np.random.default_rng(seed).standard_normal((hops, 32)).astype(np.float32)
    rows[at:] += jump
    return rows


def test_a_jump_is_found_once_and_within_the_newest_hops():
    changes = Changes(HOP)
    (found,) = changes.push(features(jump=2.0))
    assert 40 <= found < 40 + changes.recent


def test_a_steady_signal_hardly_ever_changes():
    assert sum(len(Changes(HOP).push(features(seed, hops=500))) for seed in range(10)) <= 5


def test_nothing_is_found_before_there_is_enough_to_compare():
    assert Changes(HOP).push(features(jump=9.0, hops=11, at=5)) == []


def test_another_signal_is_compared_with_itself_alone():
    changes = Changes(HOP)
    assert changes.push(features()[:40]) == []
    changes.reset()
    assert changes.push(features(seed=2)[:20] + 50) == []


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(0, 9), max_size=30))
def test_cuts_never_show(cuts):
    rows = features(jump=2.0)
    whole, pieces, at, found = Changes(HOP).push(rows), Changes(HOP), 0, []
    for length in [*cuts, len(rows)]:
        found += [at + row for row in pieces.push(rows[at : at + length])]
        at = min(at + length, len(rows))
    assert found == whole


@pytest.mark.parametrize("kept", [0, 1, 2, 5])
def test_what_is_kept_is_all_that_a_window_sees(kept):
    encoder = Encoder(EncoderShape(channels=2, depth=2, reduced=6, outputs=5, pooling="max+mean"), seed=1)
    rows = np.random.default_rng(2).standard_normal((2, 12, 6)).astype(np.float32)
    window, fresh = Window(encoder, 8, 32), Window(encoder, 8, 32)
    window.push(Hops(*rows[:, :8]))
    window.keep(kept)
    fresh.push(Hops(*rows[:, max(5, 8 - kept) : 8]))  # a window holds four hops, three of them from before
    assert np.array_equal(window.push(Hops(*rows[:, 8:])), fresh.push(Hops(*rows[:, 8:])))
    assert window.seen.tolist() == (8 * (min(kept, 8) + np.arange(1, 5))).tolist()
