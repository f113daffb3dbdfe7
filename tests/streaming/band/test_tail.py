"""A tail holds the newest samples, and what it gave out stays as it was."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from streaming.band.tail import Tail

STEPS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 40), st.integers(0, 10)), max_size=40)


@settings(deadline=None)
@given(STEPS)
def test_a_tail_is_what_was_appended_without_what_was_dropped(steps):
    tail, expected, at, given_out = Tail(), np.empty(0, np.complex64), 0, []
    for added, most, taken_back in steps:
        fresh = np.arange(at, at + added).astype(np.complex64)
        tail.append(fresh)
        tail.take_back(min(taken_back, added))
        expected = np.concatenate([expected, fresh[: added - min(taken_back, added)]])
        dropped = min(most, len(tail))
        tail.drop(dropped)
        expected, at = expected[dropped:], at + added
        np.testing.assert_array_equal(tail.samples, expected)
        assert len(tail) == len(expected)
        given_out.append((tail.samples, expected))
    for samples, was in given_out:
        np.testing.assert_array_equal(samples, was)


def test_the_memory_of_a_tail_does_not_grow_with_the_stream():
    tail = Tail()
    for _ in range(1000):
        tail.append(np.zeros(300, np.complex64))
        tail.drop(max(0, len(tail) - 4096))
    assert len(tail._room) < 2 * 4096
