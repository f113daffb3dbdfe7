"""Follows tracks through looks in the native kernel.

What happens in a look is defined by `streaming.band.tracker`, which also decides where something begins, ends
or is to be measured; what numpy costs per call would be most of a tracker's time.
"""

import ctypes
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from streaming.band.floor import Floor
from streaming.band.track import Birth, Track
from streaming.native_signals import Floats, Followed, FollowRules, Masks, SignalKernel

STEADY, BURST, BIRTH = range(3)  # as streaming/native/signals.h counts them
GOES_ON, ENDS, LOUDER, AGAIN, READY = range(5)


class Decision(NamedTuple):
    """What the tracker has to decide in a look: about whom, and where something begins."""

    verdicts: list[tuple[Track | Birth, int]]
    fresh: Masks  # (bins,)


def follow(
    kernel: SignalKernel,
    rules: FollowRules,
    looks: Floats,
    hot: Masks,
    at: int,
    floor: Floor,
    ones: Sequence[Track | Birth],
) -> tuple[int, Decision | None]:
    """Take in looks (n, bins) from look `at` on: how many, and what is to be decided in the next one.

    That one is not settled; its tracks are followed.
    """
    followed, fresh = as_array(ones), np.empty(looks.shape[1], bool)
    done = kernel.follow(rules, looks, hot, floor.level, followed, at, floor.total, floor.held, fresh)
    take_back(ones, followed)
    if done >= 0:
        return done, None
    verdicts = [(one, now.verdict) for one, now in zip(ones, followed, strict=True) if now.verdict != GOES_ON]
    return -1 - done, Decision(verdicts, fresh)


def settle(
    kernel: SignalKernel, rules: FollowRules, look: Floats, floor: Floor, ones: Sequence[Track | Birth]
) -> None:
    """Finish a look (bins,) after its decisions."""
    followed = as_array(ones)
    kernel.settle(rules, look, followed, floor.total, floor.held)
    take_back(ones, followed)


def as_array(ones: Sequence[Track | Birth]) -> "ctypes.Array[Followed]":
    """As the kernel takes them."""
    return (Followed * len(ones))(*map(as_followed, ones))


def take_back(ones: Sequence[Track | Birth], followed: "ctypes.Array[Followed]") -> None:
    """What the kernel has changed, but for arrays."""
    for one, now in zip(ones, followed, strict=True):
        one.looks, one.last, one.level = now.looks, now.last, now.level
        if isinstance(one, Track):
            one.peak, one.reaches = now.peak, bool(now.reaches)


def as_followed(one: Track | Birth) -> Followed:
    """As it is now; arrays are changed in place, so their addresses are looked up once."""
    now = one.followed
    if now is None:
        now = one.followed = Followed(mask=one.mask.ctypes.data, total=one.total.ctypes.data, kind=BIRTH)
        if isinstance(one, Track):
            now.kind = STEADY if one.steady else BURST
            now.reached, now.floor = one.reached.ctypes.data, one.floor.ctypes.data
            now.splatter = one.splatter.ctypes.data
    now.looks, now.last, now.level = one.looks, one.last, one.level
    if isinstance(one, Track):
        now.peak, now.reaches = one.peak, one.reaches
    return now
