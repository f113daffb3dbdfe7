"""Signals for the tests of the band, in plain numpy and scipy: none of them comes from the generator."""

import numpy as np
from scipy.signal import firwin, lfilter


def noise(length, seed=1, level=0.02):
    """White, of this RMS."""
    parts = np.random.default_rng(seed).standard_normal((length, 2)) * level / np.sqrt(2)
    return parts.astype(np.float32).view(np.complex64)[:, 0]


def tone(length, frequency, level=1.0):
    """A carrier; frequencies are in cycles per sample everywhere here."""
    return (level * np.exp(2j * np.pi * frequency * np.arange(length))).astype(np.complex64)


def psk(length, per_symbol, offset=0.0, level=0.2, seed=2, order=4):
    """PSK with Hann pulses of two symbols: nearly all of its power lies within two symbol rates."""
    impulses = np.zeros(length, complex)
    count = len(impulses[::per_symbol])
    impulses[::per_symbol] = np.exp(
        2j * np.pi / order * np.random.default_rng(seed).integers(0, order, count)
    )
    shaped = np.convolve(impulses, np.hanning(2 * per_symbol + 1))[:length]
    shaped *= level / np.sqrt(np.mean(np.abs(shaped) ** 2))
    return (shaped * np.exp(2j * np.pi * offset * np.arange(length))).astype(np.complex64)


def fsk(length, per_symbol, spacing, offset=0.0, level=0.2, seed=3):
    """2FSK with a continuous phase; the tones are this far apart."""
    bits = np.random.default_rng(seed).integers(0, 2, length // per_symbol + 1)
    frequency = offset + spacing * (np.repeat(bits, per_symbol)[:length] - 0.5)
    return (level * np.exp(2j * np.pi * np.cumsum(frequency))).astype(np.complex64)


def ook(length, per_symbol, offset=0.0, level=0.2, seed=4):
    """Hard-keyed, without any shaping."""
    bits = np.random.default_rng(seed).integers(0, 2, length // per_symbol + 1)
    return np.repeat(bits, per_symbol)[:length] * tone(length, offset, level)


def flat_band(length, width, offset=0.0, level=0.2, seed=5):
    """Noise in a band only, so that its bandwidth and power are exact."""
    white = noise(length + 1024, seed, 1.0).astype(complex)
    inside = lfilter(firwin(1023, width, fs=2.0), 1, white)[1024:]
    inside *= level / np.sqrt(np.mean(np.abs(inside) ** 2))
    return (inside * np.exp(2j * np.pi * offset * np.arange(length))).astype(np.complex64)
