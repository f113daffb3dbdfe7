"""Features of an emission: what a receiver's operator would read off its samples, on several time scales.

    windows      statistics of up to eight windows of 2,048 samples: mean, deviation, of lines the largest
    slow         power and frequency averaged over 8 and over 64 samples: symbols too long for a window
    spectrum     its shape; the autocorrelation at long lags, as it is and with the spectrum made flat
    conditions   SNR, length, how much of the time it is on

The level is that of the loud parts, so that pauses do not change what the rest looks like. No timing, phase
or small carrier offset changes the features much.

>>> describe(np.ones(64, np.complex64), 20.0).shape == (COUNT,)
True
"""

import numpy as np

from streaming.block import Samples
from streaming.features import slow, spectrum, window
from streaming.features.window import Row
from streaming.native_signals import signal_kernel

MOST = 131_072  # samples: the newest so many are described
SHORTEST = 48  # samples
WINDOWS = 8
LOUD = 0.9  # the level is this quantile of the power, averaged over 8 samples
HIGHEST = 8.0  # times the level: clicks are cut there
ON = 0.1  # of the loudest window's power: quieter windows are pauses
SCALES = (8, 64)
LOWEST_DB, HIGHEST_DB = -10.0, 40.0  # beyond, an SNR says nothing more of a signal, but of a false floor
COUNT = 2 * window.COUNT + window.LINES + len(SCALES) * slow.COUNT + spectrum.COUNT + 5


def describe(samples: Samples, snr_db: float) -> Row:
    """The features (COUNT,) of an emission, from its newest samples at the model's rate."""
    kernel, snr_db = signal_kernel(), min(max(snr_db, LOWEST_DB), HIGHEST_DB)
    if kernel is None or len(samples) < SHORTEST:
        return describe_in_numpy(samples, snr_db)
    return kernel.describe(samples[-MOST:], snr_db, COUNT)


def describe_in_numpy(samples: Samples, snr_db: float) -> Row:
    """The definition of the features, which the kernel keeps to."""
    x = levelled(samples[-MOST:])
    length = min(window.LENGTH, len(x))
    count = len(x) // length
    power = np.square(np.abs(x[: count * length].reshape(count, length))).mean(1)
    loud = np.flatnonzero(power >= ON * power.max())
    if len(loud) > WINDOWS:
        loud = loud[np.linspace(0, len(loud) - 1, WINDOWS).round().astype(int)]
    rows = np.stack([window.describe(x[i * length : (i + 1) * length]) for i in loud.tolist()])
    conditions = [
        snr_db / 10,
        np.log2(len(x)) / 4,
        len(rows) / WINDOWS,
        power.mean() / (power.max() + 1e-9),
        np.log10(np.square(np.abs(x)).mean() + 1e-6),
    ]
    return np.concatenate(
        [
            rows.mean(0),
            rows.std(0),
            rows.max(0)[window.LINE_PART],
            *(slow.describe(x, scale) for scale in SCALES),
            spectrum.describe(x),
            conditions,
        ],
        dtype=np.float32,
    )


def levelled(samples: Samples) -> Samples:
    """At unit power where it is loud."""
    power = np.square(np.abs(samples))
    smooth = np.convolve(power, np.full(8, 1 / 8, np.float32), "same")
    level = float(np.quantile(smooth if len(smooth) < 32_768 else smooth[::4], LOUD))
    x = samples / np.float32(np.sqrt(level + 1e-20))
    size = np.abs(x)
    return np.asarray(x * np.minimum(1, HIGHEST / (size + np.float32(1e-9))), np.complex64)
