"""What the carriers of LTE and NR send: resource blocks in use, reference signals, synchronisation, pauses.

An idle cell sends little but what phones need to find it: a few symbols of each slot, or of each 20 ms, at
full power between empty ones (3GPP TS 36.211 and 38.211). That is what most receivers hear of it.
"""

import numpy as np
from numpy.typing import NDArray

from training.signals.classes import log_uniform
from training.signals.symbols import Points

SLOT = 7  # symbols
SUBFRAME = 2 * SLOT
FRAME = 10 * SUBFRAME
BLOCK = 12  # carriers
# What a subframe is in networks that take turns: (D)own, (U)p, or the (S)witch between; TS 36.211, 4.2.
TURNS = ("DSUUDDSUUD", "DSUDDDSUDD", "DSUUUDSUUU", "DDDSUUDDDD", "DDDSU")
SWITCHED = 9  # symbols of a switch that are still sent
SIDE_LINK = 0.01  # power of what comes from phones
Carriers = NDArray[np.int64]


def cellular_grid(
    rng: np.random.Generator, points: Points, load: float, number: int, carriers: Carriers, new: bool
) -> Points:
    """What each carrier sends in each symbol, (number, carriers); `new` is NR.

    Carriers are counted from the channel's centre; `load` is the share of the resource blocks in use.
    """
    t = int(rng.integers(2 * FRAME)) + np.arange(number)
    out = data(rng, points, load, t, carriers)
    if new:
        beams(rng, points, t, carriers, out)
    else:
        references(rng, t, carriers, out)
        synchronisation(points, rng, t, carriers, out)
    if rng.random() < (0.7 if new else 0.4):
        turns = TURNS[int(rng.integers(len(TURNS)))]
        turn = np.array(list(turns))[t // SUBFRAME % len(turns)]
        up = (turn == "U") | ((turn == "S") & (t % SUBFRAME >= SWITCHED))
        out[up] *= np.float32(np.sqrt(SIDE_LINK)) * (rng.random() < 0.5)
    if not out.any():  # a short excerpt of an idle cell: at least one symbol
        references(rng, SLOT * np.arange(1), carriers, out[number // 2 : number // 2 + 1])
    return out


def data(rng: np.random.Generator, points: Points, load: float, t: Carriers, carriers: Carriers) -> Points:
    """Resource blocks in use, some subframes not at all, and the control symbols before them."""
    subframe, block = (t - t[0]) // SUBFRAME, (carriers - carriers.min()) // BLOCK
    count = int(subframe[-1]) + 1, int(block[-1]) + 1
    busy = rng.random(count[0]) < rng.uniform(load, 1)
    used = (rng.random(count) < load / max(busy.mean(), load, 1e-3)) & busy[:, None]
    control = t % SUBFRAME < rng.integers(1, 4)
    spread = rng.random((len(t), count[1])) < log_uniform(rng, 0.05, 1)
    on = np.where(control[:, None], spread, used[subframe])[:, block]
    level = np.where(control, 1.0, log_uniform(rng, 0.5, 1.4))[:, None]
    sent = points[rng.integers(0, len(points), (len(t), len(carriers)))]
    return np.asarray(sent * (on * level), np.complex64)


def references(rng: np.random.Generator, t: Carriers, carriers: Carriers, out: Points) -> None:
    """Of LTE: each third or sixth carrier in the first and the fifth symbol of a slot."""
    ports, first, boost = int(rng.choice([1, 2, 2, 4])), int(rng.integers(6)), log_uniform(rng, 1, 2)
    for within, shift in ((0, 0), (4, 3), *([(1, 0)] if ports == 4 else [])):
        when = np.flatnonzero(t % SLOT == within)
        step = 6 if ports == 1 else 3
        at = np.flatnonzero((carriers - first - shift) % step == 0)
        signs = rng.choice(np.array([1, 1j, -1, -1j], np.complex64), (len(when), len(at)))
        out[np.ix_(when, at)] = np.float32(boost) * signs


def synchronisation(
    points: Points, rng: np.random.Generator, t: Carriers, carriers: Carriers, out: Points
) -> None:
    """Of LTE, on the middle carriers: two symbols each 5 ms, and four each 10 ms."""
    sync = np.isin(t % (FRAME // 2), (5, 6))
    broadcast = (t % FRAME >= SLOT) & (t % FRAME < SLOT + 4)
    for when, half in ((sync, 31), (broadcast, 36)):
        place = np.ix_(np.flatnonzero(when), np.flatnonzero(np.abs(carriers) <= half))
        out[place] = points[rng.integers(0, len(points), out[place].shape)]


def beams(rng: np.random.Generator, points: Points, t: Carriers, carriers: Carriers, out: Points) -> None:
    """Of NR: blocks of 240 carriers over four symbols, one to eight of them each 10 or 20 ms."""
    middle = int(rng.integers(carriers.min(), carriers.max() + 1))
    period, count = FRAME * int(rng.choice([1, 2])), int(rng.integers(1, 9))
    since = t % period
    when = (since < count * SLOT) & (since % SLOT < 4)
    place = np.ix_(np.flatnonzero(when), np.flatnonzero(np.abs(carriers - middle) <= 120))
    out[place] = points[rng.integers(0, len(points), out[place].shape)]
