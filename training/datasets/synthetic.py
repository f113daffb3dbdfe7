"""The paper's synthetic signals: symbols, a gain, a phase, a carrier offset and white noise,

    r[n] = A exp(j (theta + 2 pi df n / N)) s[n] + w[n],      n = -past, ..., N - 1

A = min(Rayleigh(1), 1), theta ~ U(0, pi/16), df in cycles per frame of N samples from a mixture of uniform
bands, and SNR ~ U(-10, 10) dB. The noise is Gaussian with the variance A^2 E|s|^2 / SNR, so that given the
parameters the samples are independent and the limit of `training.evaluation.likelihood` is exact; the SNR
measured in a frame scatters about the drawn one by some 0.5 dB.

>>> make_frames(Signal(), counts=(2, 2, 2, 2), seed=1).iq.shape
(8, 100)
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from streaming.block import Samples
from streaming.errors import ConfigError
from training.datasets.frames import Frames

CLASSES = ("BPSK", "QPSK", "8PSK", "16QAM")
CHUNK = 4096  # frames made at once: small enough for the cache, and part of what a seed means


@dataclass(frozen=True)
class Band:
    """Carrier offsets uniform on [low, high], in cycles per frame, drawn with this weight."""

    weight: float
    low: float
    high: float


@dataclass(frozen=True)
class Signal:
    """What the frames of one client are drawn from; the defaults are the paper's."""

    samples: int = 100  # N
    classes: tuple[str, ...] = CLASSES
    unit_power: bool = True  # False: 16-QAM has the points +-1, +-3, ten times the power
    snr_db: tuple[float, float] = (-10.0, 10.0)
    rayleigh: float = 1.0  # scale of A before it is cut; 0 for the gain 1
    gain_max: float = 1.0
    phase: tuple[float, float] = (0.0, np.pi / 16)
    cfo: tuple[Band, ...] = (Band(1.0, 0.01, 0.01),)

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise ConfigError(f"signal.samples is {self.samples}; it must be at least 1")
        for name in self.classes:
            constellation(name)
        for name, (low, high) in (("snr_db", self.snr_db), ("phase", self.phase)):
            if not low <= high:
                raise ConfigError(f"signal.{name} is {low}..{high}; the first must not exceed the second")
        if not self.cfo or any(band.weight < 0 or band.low > band.high for band in self.cfo):
            raise ConfigError("signal.cfo needs bands with a weight of at least 0 and low <= high")
        if self.rayleigh < 0 or self.gain_max <= 0:
            raise ConfigError("signal.rayleigh must be at least 0 and signal.gain_max above 0")


@dataclass(frozen=True)
class SyntheticFrames(Frames):
    """Frames, and the parameters that only the generator knows."""

    gain: NDArray[np.float32]  # (n,)
    phase: NDArray[np.float32]  # (n,)
    cfo: NDArray[np.float32]  # (n,)


def constellation(name: str, unit_power: bool = True) -> NDArray[np.complex128]:
    """The points of a modulation: PSK on the unit circle from angle 0, QAM on the odd integers."""
    if name in ("BPSK", "QPSK", "8PSK"):
        order = {"BPSK": 2, "QPSK": 4, "8PSK": 8}[name]
        return np.asarray(np.exp(2j * np.pi * np.arange(order) / order), np.complex128)
    if name == "16QAM":
        odd = np.array([-3.0, -1.0, 1.0, 3.0])
        points = (odd[:, None] + 1j * odd).ravel()
        return points / np.sqrt(10.0) if unit_power else points
    raise ConfigError(f"there is no modulation {name!r}; the synthetic set has {', '.join(CLASSES)}")


def make_frames(signal: Signal, counts: Sequence[int], seed: int, past: int = 0) -> SyntheticFrames:
    """Frames with these class counts, in random order; the same seed gives the same frames.

    ``past`` samples of the same emission come before each frame, for the live form: iq is (n, past + N).
    """
    if len(counts) != len(signal.classes) or min(counts) < 0:
        raise ConfigError(f"counts are {tuple(counts)}; expected {len(signal.classes)} numbers of at least 0")
    rng = np.random.default_rng(seed)
    n, T = sum(counts), past + signal.samples
    label = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    snr_db = rng.uniform(*signal.snr_db, n).astype(np.float32)
    gain = np.full(n, signal.gain_max, np.float32)
    if signal.rayleigh > 0:
        gain = np.minimum(rng.rayleigh(signal.rayleigh, n), signal.gain_max).astype(np.float32)
    phase = rng.uniform(*signal.phase, n).astype(np.float32)
    cfo = draw_cfo(signal.cfo, n, rng)

    points = [constellation(name, signal.unit_power).astype(np.complex64) for name in signal.classes]
    size = max(map(len, points))  # every order here divides the largest
    table = np.stack([np.tile(p, size // len(p)) for p in points])  # (classes, size)
    power = (np.abs(table) ** 2).mean(1)
    sigma = gain * np.sqrt(power[label] * 10 ** (-snr_db / 10) / 2)  # of each of I and Q

    iq = np.empty((n, T), np.complex64)
    for i in range(0, n, CHUNK):
        part = slice(i, min(i + CHUNK, n))
        choice = rng.integers(0, size, (part.stop - i, T), dtype=np.uint8)
        clean = table[label[part, None], choice]
        clean *= carriers(gain[part], phase[part], cfo[part], signal.samples, past)
        noise = rng.standard_normal((part.stop - i, 2 * T), dtype=np.float32)
        noise *= sigma[part, None]
        np.add(clean, noise.view(np.complex64), out=iq[part])
    return SyntheticFrames(iq, label, snr_db, signal.classes, gain, phase, cfo)


def draw_cfo(bands: Sequence[Band], n: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Carrier offsets of n frames, each from a band chosen by its weight."""
    weights = np.array([band.weight for band in bands])
    band = rng.choice(len(bands), n, p=weights / weights.sum())
    low = np.array([band.low for band in bands])[band]
    high = np.array([band.high for band in bands])[band]
    return rng.uniform(low, high).astype(np.float32)


def carriers(
    gain: NDArray[np.float32], phase: NDArray[np.float32], cfo: NDArray[np.float32], samples: int, past: int
) -> Samples:
    """A exp(j (theta + 2 pi df n / N)) for n = -past .. N-1, by doubling: cheaper than an exp per sample."""
    T = past + samples
    start = phase - 2 * np.pi * cfo.astype(np.float64) * past / samples
    out = np.empty((len(gain), T), np.complex64)
    out[:, 0] = gain * np.exp(1j * start)
    done = 1
    while done < T:
        more = min(done, T - done)
        step = np.exp(2j * np.pi * cfo.astype(np.float64) * done / samples).astype(np.complex64)
        np.multiply(out[:, :more], step[:, None], out=out[:, done : done + more])
        done += more
    return out


@dataclass(frozen=True)
class Client:
    """One client of an experiment: its signals and how many frames of each class it has."""

    name: str
    signal: Signal
    unlabelled: tuple[int, ...]
    labelled: tuple[int, ...]
    test: tuple[int, ...]


def scaled(counts: Sequence[int], total: int) -> tuple[int, ...]:
    """Counts in the same proportions with this total, the largest remainders rounded up."""
    exact = np.array(counts, float) * total / sum(counts)
    out = np.floor(exact).astype(int)
    order = np.argsort(-(exact - out), kind="stable")
    out[order[: total - out.sum()]] += 1
    return tuple(int(c) for c in out)


# The paper's class counts, clients 1 to 4, in units of 10,000 unlabelled frames.
SHARES = ((6, 6, 1, 1), (1, 6, 6, 1), (1, 1, 6, 6), (6, 1, 1, 6))
SNR_BY_CLIENT = ((-10.0, -5.0), (-5.0, 0.0), (0.0, 5.0), (5.0, 10.0))
BANDS = ((0.0, 0.01), (0.01, 0.1), (0.1, 1.0), (1.0, 20.0))  # cycles per frame
BAND_WEIGHTS = ((0.4, 0.4, 0.1, 0.1), (0.4, 0.1, 0.4, 0.1), (0.1, 0.4, 0.4, 0.1), (0.1, 0.1, 0.4, 0.4))
Heterogeneity = Literal["labels", "snr", "cfo"]


def listener(labels: int, samples: int) -> Client:
    """A client that receives the paper's signals by radio: all classes alike, any phase, a drifting carrier.

    The paper's clients know the phase to a 32nd of a cycle, which no receiver does.
    """
    signal = Signal(samples, snr_db=(-5.0, 20.0), phase=(0.0, 2 * np.pi), cfo=(Band(1.0, -0.1, 0.1),))
    counts = scaled((1,) * len(CLASSES), labels)
    return Client("live", signal, unlabelled=(0, 0, 0, 0), labelled=counts, test=counts)


def paper_clients(
    labels: int = 2_800,
    test: int | None = None,
    unlabelled: int = 140_000,
    heterogeneity: Heterogeneity = "labels",
    unit_power: bool = True,
) -> list[Client]:
    """The paper's four clients.

    Their classes always differ; with ``heterogeneity`` "snr" or "cfo" their SNR ranges or mixtures of carrier
    offsets do too. ``test`` frames per client are by default a tenth of the labelled ones, as in the paper.
    """
    clients = []
    for i, shares in enumerate(SHARES):
        signal = Signal(unit_power=unit_power)
        if heterogeneity == "snr":
            signal = replace(signal, snr_db=SNR_BY_CLIENT[i])
        elif heterogeneity == "cfo":
            weighted = zip(BAND_WEIGHTS[i], BANDS, strict=True)
            signal = replace(signal, cfo=tuple(Band(weight, *band) for weight, band in weighted))
        elif heterogeneity != "labels":
            raise ConfigError(f"heterogeneity is {heterogeneity!r}; it must be labels, snr or cfo")
        sizes = (unlabelled, labels, labels // 10 if test is None else test)
        clients.append(Client(f"client-{i + 1}", signal, *(scaled(shares, total) for total in sizes)))
    return clients
