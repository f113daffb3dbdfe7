"""Lobes: the peaks of a spectrum, and which of them are one emission.

Bins that rise in the same look may be one emission (the tones of FSK, the sidebands of AM, the side lobes of
hard keying), one emission and what the receiver made of it (its image, harmonics), or two emissions. Lobes
are parted at valleys of 9 dB and put together where

    a lobe has a partner on the other side of a stronger one, at its distance and level  sidebands, side lobes
    they are alike, and on in turn, sample by sample: hardly ever both                   tones of FSK
    they are alike, and others mirror each other about the middle between them           FSK of a pattern

A weaker lobe that rises and falls with a stronger one, that lies at its mirror image, or on its slope, is a
product of the stronger one and is absorbed: it is not an emission, nor part of one.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streaming.band.heard import STEPS, Compared, Heard, Lobe
from streaming.band.looks import Spectrum
from streaming.band.regions import Mask, Run, as_mask
from streaming.filters import moving_mean

VALLEY = 8.0  # 9 dB below both peaks
SMOOTH, FINE = 5, 3  # bins
FAINT = 1e-3  # of the strongest lobe
IMAGE = 0.03  # of a lobe: its mirror image in an uneven receiver is at most this strong
SLOPE = 0.05  # of a lobe: on its slope
ALIKE = 4.0  # ratio of the levels of two sidebands
TOGETHER = 0.5  # correlation of power
IN_TURN = 0.6  # of the product of the powers that independent ones would have
SIDEBANDS = 0.3  # correlation of the powers of two sidebands, at least
TONES = 8.0  # ratio of the powers of two tones of FSK, at most
KEYED = 0.15  # of the power of two tones that is not explained by one switch from the one to the other
WIDTHS = 3.0  # ratio of the widths of lines of one pattern, at most
PAIRS = 2  # of lobes that mirror each other about the middle of two strong ones
WEAK, REACH = 0.05, 16.0  # of a lobe's power, and widths of it, within which keying makes side lobes
NEAREST, LASTING = (
    4.0,
    0.3,
)  # widths within which side lobes last; share of its power that a lasting lobe keeps
RISE = 0.7  # correlation of what begins at one time
MOST = 8  # lobes that are compared sample by sample


class Group(NamedTuple):
    """The lobes of an emission, and those that are no emissions but made by it."""

    members: "list[Lobe]"
    products: "list[Lobe]"


def bins_of(lobes: list[Lobe], bins: int) -> Mask:
    """The bins of lobes."""
    return as_mask(bins, [(lobe.first, lobe.end) for lobe in lobes])


def find_lobes(excess: Spectrum, regions: list[Run], fine: bool = False) -> list[Lobe]:
    """The lobes of regions of an excess (bins,), strongest first; faint ones are left out.

    `fine`: it is a mean over so many looks that a valley of few bins is one.
    """
    parts = [part for region in regions for part in split(smoothed(excess, region, fine), region)]
    lobes = [Lobe(a, b, float(excess[a:b].sum()), middle(excess, a, b)) for a, b in parts]
    strongest = max((lobe.power for lobe in lobes), default=0.0)
    kept = [lobe for lobe in lobes if lobe.power > FAINT * strongest]
    return sorted(kept, key=lambda lobe: -lobe.power)


def smoothed(excess: Spectrum, region: Run, fine: bool) -> Spectrum:
    """The excess without the ripple of noise, over a share of the region."""
    width = region[1] - region[0]
    return moving_mean(excess, max(FINE, width // 64) if fine else max(SMOOTH, width // 32), "constant")


def middle(excess: Spectrum, first: int, end: int) -> float:
    """The centre of power."""
    weights = excess[first:end]
    return float(
        np.average(np.arange(first, end), weights=weights) if weights.sum() > 0 else (first + end) / 2
    )


def split(smooth: Spectrum, region: Run) -> list[Run]:
    """A region parted at its valleys; the shallowest are closed first."""
    first, end = region
    inner = smooth[first:end]
    slope = np.diff(inner, prepend=-1.0, append=-1.0)
    peaks = np.flatnonzero((slope[:-1] > 0) & (slope[1:] <= 0)).tolist()
    cuts = [a + 1 + int(inner[a + 1 : b].argmin()) for a, b in pairwise(peaks)]
    highs = np.maximum.reduceat(inner, [0, *cuts]).tolist() if cuts else []
    lows = np.maximum(inner[cuts], 1e-30).tolist() if cuts else []
    depths = [min(highs[i : i + 2]) / low for i, low in enumerate(lows)]
    while cuts and min(depths) < VALLEY:
        at = depths.index(min(depths))
        highs[at : at + 2] = [max(highs[at : at + 2])]
        del cuts[at], lows[at], depths[at]
        for i in range(max(0, at - 1), min(at + 1, len(cuts))):  # beside the valley that was closed
            depths[i] = min(highs[i : i + 2]) / lows[i]
    return [(first + a, first + b) for a, b in pairwise([0, *cuts, len(inner)])]


def group(lobes: list[Lobe], heard: Heard, steady: bool, began: bool = False) -> list[Group]:
    """The lobes of each emission.

    What is steady did not begin together, and spurs lie at equal distances, too: patterns are not looked for.
    What `began` together is one emission and its products where it is far weaker.
    """
    left, groups = list(range(len(lobes))), list[Group]()
    while left:
        head, *left = left
        members = [head] if steady else [head, *mirrored(lobes, head, left)]
        left = [at for at in left if at not in members]
        made = list[Lobe]()
        for at in list(left):
            if at not in left:
                continue
            lobe, strong = lobes[at], lobes[head]
            partner = sideband(lobes, strong, at, left)
            beside = partner is not None and near(strong, lobe) and near(strong, lobes[partner])
            both = heard.compare(lobe, strong) if at < MOST else Compared()
            together = both.correlated > TOGETHER
            if partner is not None and (beside or correlated_pair(lobes, at, partner, heard)):
                members += [at, partner]
                left = [other for other in left if other not in (at, partner)]
            elif (together and lobe.power * ALIKE > strong.power) or (
                are_tones(lobe.power, strong.power, both)
            ):
                members.append(at)
                left.remove(at)
            elif (
                together
                or is_product(lobe, strong, heard.bins)
                or (began and is_splatter(lobe, strong, heard))
            ):
                made.append(lobe)
                left.remove(at)
        groups.append(Group([lobes[i] for i in members], made))
    return groups


def is_splatter(lobe: Lobe, strong: Lobe, heard: Heard) -> bool:
    """Whether a lobe is so weak, and so near to a stronger one, that it may be splatter of its keying.

    Farther away than its first side lobes there is splatter while it is switched only: what lasts is another.
    """
    widths = abs(lobe.centre - strong.centre) / (strong.end - strong.first)
    if lobe.power >= WEAK * strong.power or widths >= REACH:
        return False
    return widths < NEAREST or not (heard.enough and lasts(heard.power(lobe)))


def lasts(power: NDArray[np.float64]) -> bool:
    """Whether a power goes on as it began, apart from its onset."""
    later = moving_mean(power, STEPS // 16)[STEPS // 4 : -STEPS // 16]
    return bool(np.quantile(later, 0.1) > LASTING * np.quantile(later, 0.9))


def within_reach(mask: Mask, lobes: list[Lobe]) -> bool:
    """Whether lobes may be splatter of what has these bins."""
    own = np.flatnonzero(mask)
    first, end = int(own[0]), int(own[-1]) + 1
    return all(abs(lobe.centre - (first + end) / 2) < REACH * (end - first) for lobe in lobes)


def rise_together(strong: Lobe, lobe: Lobe, heard: Heard) -> bool:
    """Whether two lobes begin at one time in these samples."""
    if not heard.enough:
        return False
    a, b = (moving_mean(heard.power(one), STEPS // 16) for one in (strong, lobe))
    rose = float(np.quantile(a, 0.1)) < 0.2 * float(np.quantile(a, 0.9))
    return rose and float(np.corrcoef(a, b)[0, 1]) > RISE


def sideband(lobes: list[Lobe], strong: Lobe, at: int, left: list[int]) -> int | None:
    """The lobe that mirrors `lobes[at]` about a stronger one."""
    lobe = lobes[at]
    distance = lobe.centre - strong.centre
    for other in left:
        partner = lobes[other]
        near = abs(partner.centre - strong.centre + distance) <= max(2.0, 0.15 * abs(distance))
        if other != at and near and 1 / ALIKE < partner.power / lobe.power < ALIKE:
            return other
    return None


def correlated_pair(lobes: list[Lobe], at: int, partner: int, heard: Heard) -> bool:
    """Whether two sidebands rise and fall together, as far as they are compared."""
    first, last = min(at, partner), max(at, partner)
    return last < MOST and heard.compare(lobes[last], lobes[first]).correlated > SIDEBANDS


def near(lobe: Lobe, other: Lobe) -> bool:
    """Whether there is no more between two lobes than the stronger one is wide."""
    apart = max(lobe.first, other.first) - min(lobe.end, other.end)
    return apart <= lobe.end - lobe.first


def are_tones(power: float, other: float, both: Compared) -> bool:
    """Whether two lobes of these powers are tones of one FSK: on in turn, again and again (`compare`).

    A transmitter that goes to another channel is on in turn, too, but does not come back at once.
    """
    return both.product < IN_TURN and both.keyed > KEYED and 1 / TONES < power / other < TONES


def mirrored(lobes: list[Lobe], head: int, left: list[int]) -> list[int]:
    """Where the strongest two lobes left are alike and two pairs of others mirror each other: all of these.

    FSK that sends a pattern, such as a preamble, has lines at equal distances, and none of them keys.
    """
    if not left:
        return []
    strong, second = lobes[head], lobes[left[0]]
    if second.power * ALIKE < strong.power or not alike(strong, second):
        return []
    middle = (strong.centre + second.centre) / 2
    near = max(2.0, 0.05 * abs(strong.centre - second.centre))
    members = [left[0]]
    for at in left[1:]:
        for other in left[left.index(at) + 1 :]:
            one, partner = lobes[at], lobes[other]
            mirror = abs((one.centre + partner.centre) / 2 - middle) <= near and alike(strong, one, partner)
            if mirror and at not in members and other not in members and partner.power * ALIKE > one.power:
                members += [at, other]
    return members if len(members) >= PAIRS * 2 + 1 else []


def alike(*lobes: Lobe) -> bool:
    """Whether these are equally wide, as lines are."""
    widths = [lobe.end - lobe.first for lobe in lobes]
    return max(widths) <= WIDTHS * min(widths)


def is_product(lobe: Lobe, strong: Lobe, bins: int) -> bool:
    """Whether a weaker lobe is a stronger one's mirror image, or lies on its slope."""
    width = min(lobe.end - lobe.first, strong.end - strong.first)
    image = abs(lobe.centre + strong.centre - bins) <= max(2.0, 0.1 * width)
    if image and lobe.power < IMAGE * strong.power:
        return True
    beside = lobe.first <= strong.end + 2 and strong.first <= lobe.end + 2
    return beside and lobe.power < SLOPE * strong.power
