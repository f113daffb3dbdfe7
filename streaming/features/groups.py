"""Groups of features by what they are about, for explanations.

>>> sum(len(places) for places in groups().values()) == COUNT
True
"""

import numpy as np
from numpy.typing import NDArray

from streaming.features import COUNT, SCALES, slow, spectrum, window

SERIES = (
    "the signal itself",
    "its square",
    "its fourth power",
    "its phase doubled",
    "its phase fourfold",
    "its beat with itself 16 samples before",
    "its beat with itself 64 samples before",
    "its power",
    "its phase increment",
    "the size of its phase increment",
)


def groups() -> dict[str, NDArray[np.int64]]:
    """The places of the features of each group."""
    about = window_groups()
    names = [*about, *about, *about[window.LINE_PART]]
    for scale in SCALES:
        half = len(slow.QUANTILES)
        rest = slow.COUNT - 1 - 2 * half
        names += ["how long it is", *[f"its level over {scale} samples"] * half]
        names += [f"its frequency over {scale} samples"] * half
        names += [f"keying over {scale} samples"] * rest
    names += ["the shape of its spectrum"] * spectrum.PARTS
    names += ["repeats at long lags (cyclic prefix, code)"] * (spectrum.COUNT - spectrum.PARTS)
    names += ["SNR", "how long it is", "how long it is", "how much of the time it is on", "its level"]
    assert len(names) == COUNT
    return {name: np.flatnonzero(np.array(names) == name) for name in dict.fromkeys(names)}


def window_groups() -> list[str]:
    """What each feature of a window is about."""
    lags, lines = len(window.LAGS), len(window.RANKS) + len(window.SHARES)
    names = [f"autocorrelation of {series}" for series in SERIES for _ in range(lags)]
    names += [f"lines of {series}" for series in SERIES for _ in range(lines)]
    quantiles = len(window.QUANTILES)
    return (
        names
        + ["how its level is distributed"] * quantiles
        + ["how its frequency is distributed"] * quantiles
    )
