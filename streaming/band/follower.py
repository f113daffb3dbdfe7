"""Follows tracks through looks in which nothing begins, ends or is to be measured, in the native kernel.

What happens in such a look is defined by `streaming.band.tracker`, which takes over at every other one; most
looks are such, and what numpy costs per call would be most of a tracker's time.
"""

from collections.abc import Sequence

from streaming.band.floor import Floor
from streaming.band.track import Birth, Track
from streaming.native_signals import Floats, Followed, FollowRules, Masks, SignalKernel

STEADY, BURST, BIRTH = range(3)  # as streaming/native/signals.h counts them


def follow(
    kernel: SignalKernel,
    rules: FollowRules,
    looks: Floats,
    hot: Masks,
    at: int,
    floor: Floor,
    ones: Sequence[Track | Birth],
) -> int:
    """Take in looks (n, bins) from look `at` on, up to the first that needs a decision: how many."""
    followed = (Followed * len(ones))(*map(as_followed, ones))
    done = kernel.follow(rules, looks, hot, floor.level, followed, at, floor.total, floor.held)
    for one, now in zip(ones, followed, strict=True) if done else ():
        one.looks, one.last, one.level = now.looks, now.last, now.level
        if isinstance(one, Track):
            one.peak, one.reaches = now.peak, bool(now.reaches)
    return done


def as_followed(one: Track | Birth) -> Followed:
    """As it is now; arrays are changed in place, so their addresses are looked up once."""
    now = one.followed
    if now is None:
        now = one.followed = Followed(mask=one.mask.ctypes.data, total=one.total.ctypes.data, kind=BIRTH)
        if isinstance(one, Track):
            now.kind = STEADY if one.steady else BURST
            now.reached, now.floor = one.reached.ctypes.data, one.floor.ctypes.data
    now.looks, now.last, now.level = one.looks, one.last, one.level
    if isinstance(one, Track):
        now.peak, now.reaches = one.peak, one.reaches
    return now
