"""Filter banks, partial response and combined modulations of digital links."""

import numpy as np
from numpy.random import Generator

from benchmarks.accuracy.unheard.practice.waves import (
    TAU,
    Response,
    Signal,
    band,
    pam,
    qam,
    raster,
    root,
    shape,
    slots,
    unit,
)


def fbmc(rng: Generator, count: int) -> Signal:
    """Filter-bank multicarrier with offset QAM (Saltzberg's SMT): overlapping pulses and no cyclic prefix."""
    carriers, width, levels = int(rng.integers(8, 49)), rng.uniform(0.2, 0.55), int(rng.choice([2, 4]))
    spacing = width / carriers
    symbols = slots(count, 0.5 / spacing)
    stagger = 1j ** (np.arange(carriers)[:, None] + np.arange(symbols))
    rows = stagger * pam(rng, levels, (carriers, symbols))
    centres = raster(carriers, spacing)
    return unit(shape(rows, count, lambda u: np.cos(np.pi * u), centres, 0.5))


def teds(rng: Generator, count: int) -> Signal:
    """A few separately filtered QAM subcarriers side by side: TETRA TEDS, iDEN M-16QAM, FDMDV."""
    carriers, width, side = int(rng.integers(3, 17)), rng.uniform(0.15, 0.5), int(rng.choice([2, 4, 8]))
    spacing, rolloff = width / carriers, rng.uniform(0.1, 0.3)
    rows = qam(rng, side, (carriers, slots(count, rng.uniform(1.1, 1.3) / spacing)))
    centres = raster(carriers, spacing)
    return unit(shape(rows, count, lambda u: root(u, 0.5, rolloff / 2), centres, 0.7))


def qpr(rng: Generator, count: int) -> Signal:
    """Quadrature partial response, duobinary or modified: 9- and 49-QPR digital microwave radio."""
    symbols = slots(count, 1 / rng.uniform(0.1, 0.55))
    pulse: Response = (lambda u: np.cos(np.pi * u)) if rng.integers(2) else (lambda u: 1j * np.sin(TAU * u))
    return unit(shape(qam(rng, int(rng.choice([2, 4])), symbols), count, pulse, reach=0.5))


def q2psk(rng: Generator, count: int) -> Signal:
    """Quadrature-quadrature PSK (Saha and Birdsall): four bits on two pulse shapes and two carrier phases."""
    width = rng.uniform(0.1, 0.4)
    data = qam(rng, 2, (2, slots(count, 2.4 / width)))
    wave = shape(data[0], count, lambda u: np.sinc(u - 0.5) + np.sinc(u + 0.5))
    wave += shape(data[1], count, lambda u: 1j * (np.sinc(u + 0.5) - np.sinc(u - 0.5)))
    return unit(band(wave, 1.4 * width))


def fqam(rng: Generator, count: int) -> Signal:
    """FQAM: each symbol picks one orthogonal tone and a QAM point on it (cell-edge 5G proposal)."""
    tones, width = int(rng.choice([2, 4, 8])), rng.uniform(0.15, 0.45)
    symbols = slots(count, (tones + 1) / width)
    chosen, data = rng.integers(tones, size=symbols), qam(rng, int(rng.choice([2, 4])), symbols)
    waves = [
        shape(data * (chosen == k), count, lambda u, f=f: np.sinc(u - f))
        for k, f in enumerate(raster(tones, 1))
    ]
    return unit(band(np.sum(waves, 0), 1.25 * width))
