"""The picture of an explanation: spectrum, levels and phases, frequency over time, classes."""

from pathlib import Path

import numpy as np
from scipy import fft

from training.evaluation.explain import Explanation

POINTS = 4_096  # samples that are drawn
FRAME = 512


def draw(known: Explanation, path: Path) -> None:
    """Write it as PNG or SVG, by the suffix."""
    from matplotlib.figure import Figure

    x, rate_khz = known.samples[-POINTS:], known.rate_hz / 1e3
    figure = Figure(figsize=(11, 7), layout="constrained")
    (shape, plane), (time, bars) = figure.subplots(2, 2)
    frames = known.samples[: len(known.samples) // FRAME * FRAME].reshape(-1, FRAME)
    frames = frames if len(frames) else np.resize(known.samples, (1, FRAME))
    density = np.square(np.abs(fft.fft(frames * np.hanning(FRAME)))).mean(0)
    at = fft.fftshift(fft.fftfreq(FRAME)) * rate_khz
    shape.plot(at, 10 * np.log10(fft.fftshift(density) / density.max() + 1e-9), lw=1)
    half = (known.prediction.bandwidth_hz or 0) / 2e3
    shape.axvspan(-half, half, alpha=0.15)
    shape.set(title="spectrum and box", xlabel="kHz", ylabel="dB")
    level = float(np.quantile(np.abs(x), 0.95)) or 1.0
    plane.plot(x.real / level, x.imag / level, ",", alpha=0.6)
    plane.set(title="levels and phases", aspect="equal", xlim=(-1.6, 1.6), ylim=(-1.6, 1.6))
    frequency = np.angle(x[1:] * x[:-1].conj()) / (2 * np.pi) * rate_khz
    when = np.arange(len(x)) / rate_khz
    time.plot(when[1:], frequency, lw=0.5)
    time.twinx().plot(when, np.abs(x) / level, lw=0.8, color="tab:orange", alpha=0.7)
    time.set(title="frequency (blue, kHz) and level (orange)", xlabel="ms")
    likely = list(known.probabilities.items())[:6][::-1]
    bars.barh([name for name, _ in likely], [p for _, p in likely])
    bars.set(title="probability", xlim=(0, 1))
    figure.savefig(path, dpi=110)
