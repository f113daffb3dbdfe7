"""Bands with known emissions, for tests."""

import numpy as np

RATE = 250_000


def band(seconds=2.0, seed=1, rate=RATE, emissions=((-60e3, 10e3, 0.3), (50e3, 16e3, 0.1))):
    """Noise, and narrow noise-like emissions (centre, bandwidth, level) from 0.5 s on."""
    rng = np.random.default_rng(seed)
    count = round(seconds * rate)
    x = rng.standard_normal((count, 2)) @ [1, 1j] * 0.005
    f, t = np.fft.fftfreq(count, 1 / rate), np.arange(count) / rate
    for centre, width, level in emissions:
        spectrum = np.where(np.abs(f - centre) < width / 2, rng.standard_normal((count, 2)) @ [1, 1j], 0)
        signal = np.fft.ifft(spectrum)
        x += (t > 0.5) * level * signal / np.sqrt(np.mean(np.abs(signal) ** 2))
    return x.astype(np.complex64)


def write(path, x, rate=RATE, freq=433e6):
    """As a recording whose name says what it is."""
    file = path / f"band_{freq / 1e6:g}M_{rate / 1e3:g}k.cf32"
    file.write_bytes(x.tobytes())
    return file
