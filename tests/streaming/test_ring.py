"""The ring keeps the newest seconds and gives back any part of them that is whole."""

import numpy as np
import pytest

from streaming.block import Block, Gap
from streaming.errors import InputError
from streaming.ring import Ring


def block(index, count, rate_hz=1000.0, **more):
    return Block(
        np.arange(index, index + count).astype(np.complex64), index, rate_hz, utc_ns=index * 10**6, **more
    )


def test_the_ring_gives_back_what_it_keeps_and_refuses_the_rest():
    ring = Ring(seconds=1, max_bytes=1 << 20)
    for index in range(0, 3000, 100):
        ring.append(block(index, 100))
    assert ring.span == (2000, 3000)
    got = ring.read(2150, 2420)
    np.testing.assert_array_equal(got.samples.real, np.arange(2150, 2420))
    assert (got.index, got.utc_ns) == (2150, 2150 * 10**6)
    for start, end in ((1999, 2100), (2900, 3001), (2500, 2500)):
        with pytest.raises(InputError, match="not all kept"):
            ring.read(start, end)
    ring.append(block(3100, 100, gap=Gap(100, "overflow", True)))
    with pytest.raises(InputError):
        ring.read(2950, 3150)
    assert ring.before(3150, 500) == 3100
    assert ring.before(3000, 500) == 2500


def test_the_rings_memory_is_bounded_whatever_the_rate():
    ring = Ring(seconds=10, max_bytes=8 * 1000)
    for index in range(0, 10_000, 100):
        ring.append(block(index, 100))
    first, last = ring.span
    assert last - first <= 1000


def test_samples_of_two_frequencies_are_not_given_as_one_block():
    ring = Ring(seconds=1)
    ring.append(block(0, 100, freq_hz=433e6))
    ring.append(block(100, 100, freq_hz=868e6))
    with pytest.raises(InputError, match="the frequency or rate changed within samples 50 to 150"):
        ring.read(50, 150)
    assert [ring.before(index, 90) for index in (80, 100, 150, 200)] == [0, 100, 100, 110]


def test_the_newest_seconds_are_kept_in_whole_blocks():
    ring = Ring(seconds=0.02)
    for index in range(0, 99_000, 3000):
        ring.append(block(index, 3000, rate_hz=1e6))
    assert ring.span == (78_000, 99_000)
    (cut,) = ring.blocks(98_500, 200_000)
    assert (cut.index, cut.end) == (98_500, 99_000)
