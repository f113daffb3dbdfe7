"""Constellations: the points a linear modulation sends, at unit mean power.

    PSK    exp(2 pi j k / M)              PAM    +-1, +-3, ..., on one axis
    QAM    the square grid of odd integers    ASK    0, 1, ..., M - 1 on one axis (OOK is 2-ASK)
    APSK   rings of 4, 12 (and 16) points with the radii of DVB-S2 (EN 302 307, rates 3/4)

liquid-dsp's Python modems agree with the PSK, QAM and PAM points; the tests hold one against the other. They
are not used here: there is no wheel for ARM Linux or Windows, a modem takes one symbol per call, and its
stream generators draw from one global random state, so that a seed would mean nothing.
"""

import numpy as np
from numpy.typing import NDArray

from streaming.errors import ConfigError

# name -> for each ring: points, radius, angle of the first point in turns
RINGS = {
    "16APSK": ((4, 1.0, 1 / 8), (12, 2.85, 1 / 24)),
    "32APSK": ((4, 1.0, 1 / 8), (12, 2.84, 1 / 24), (16, 5.27, 0.0)),
}
PSK = {"BPSK": 2, "QPSK": 4, "OQPSK": 4, "8PSK": 8}
QAM = {"16QAM": 4, "64QAM": 8, "256QAM": 16}  # points along one side
AXIS = {"4PAM": np.arange(-3.0, 4.0, 2.0), "4ASK": np.arange(4.0), "OOK": np.arange(2.0)}


def constellation(name: str) -> NDArray[np.complex64]:
    """The points of a modulation, (M,)."""
    if name in PSK:
        points = np.exp(2j * np.pi * (np.arange(PSK[name]) + (0.5 if PSK[name] == 4 else 0)) / PSK[name])
    elif name in QAM:
        odd = np.arange(1 - QAM[name], QAM[name], 2)
        points = (odd[:, None] + 1j * odd).ravel()
    elif name in RINGS:
        rings = [r * np.exp(2j * np.pi * (np.arange(n) / n + turn)) for n, r, turn in RINGS[name]]
        points = np.concatenate(rings)
    elif name in AXIS:
        points = AXIS[name].astype(np.complex128)
    else:
        known = ", ".join([*PSK, *QAM, *RINGS, *AXIS])
        raise ConfigError(f"there is no constellation {name!r}; there are {known}")
    return np.asarray(points / np.sqrt(np.mean(np.abs(points) ** 2)), np.complex64)
