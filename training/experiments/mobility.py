"""How motion becomes a carrier offset (the paper's appendix).

A transmitter that approaches at v is heard f_c v / c too high, which in a receiver that samples at f_s is

    df = f_c v / (f_s c)   cycles per sample,      N df   cycles per frame of N samples

A car at 30 m/s, on 2.4 GHz, received at 1 MS/s advances by 0.024 cycles in a frame of 100 samples: the second
of the paper's four regimes.

>>> round(frame_offset(cycles_per_sample(speed=30.0, carrier_hz=2.4e9, rate_hz=1e6), samples=100), 4)
0.024
>>> regime(0.024)
(0.01, 0.1)
"""

import csv
from pathlib import Path

from streaming.errors import ConfigError
from training.datasets.synthetic import BANDS

LIGHT = 299_792_458.0  # m/s
FRAME = 100  # samples
SPEEDS = {"walker": 1.4, "car": 30.0, "train": 90.0, "airliner": 250.0, "satellite": 7_600.0}  # m/s
RADIOS = ((433.92e6, 250e3), (2.4e9, 1e6), (28e9, 1e6))  # carrier and sample rate


def cycles_per_sample(speed: float, carrier_hz: float, rate_hz: float) -> float:
    """The normalised carrier offset, to first order in v / c.

    Parameters
    ----------
    speed
        Radial velocity in m/s, positive when transmitter and receiver approach each other.
    """
    if not carrier_hz > 0 or not rate_hz > 0 or abs(speed) >= LIGHT:
        raise ConfigError("carrier and rate must be above 0, and the speed below that of light")
    return carrier_hz * speed / (rate_hz * LIGHT)


def frame_offset(offset: float, samples: int) -> float:
    """Cycles per frame, as the synthetic set counts them, from cycles per sample."""
    return offset * samples


def speed_of(offset: float, carrier_hz: float, rate_hz: float, samples: int) -> float:
    """The speed in m/s behind an offset in cycles per frame.

    >>> round(speed_of(0.01, carrier_hz=2.4e9, rate_hz=1e6, samples=100), 1)
    12.5
    """
    return offset / samples * rate_hz * LIGHT / carrier_hz


def regime(offset: float) -> tuple[float, float] | None:
    """The regime of the paper's mixture, in cycles per frame, that holds this offset."""
    return next(((low, high) for low, high in BANDS if low <= abs(offset) <= high), None)


def write(folder: Path) -> list[Path]:
    """mobility.csv and mobility.md: everyday speeds as offsets."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for what, speed in SPEEDS.items():
        for carrier_hz, rate_hz in RADIOS:
            offset = frame_offset(cycles_per_sample(speed, carrier_hz, rate_hz), FRAME)
            band = regime(offset)
            shown = "beyond" if band is None else f"U[{band[0]:g}, {band[1]:g}]"
            rows.append([what, speed, carrier_hz, rate_hz, f"{offset:.3g}", shown])
    heads = ["who", "speed_m_s", "carrier_hz", "rate_hz", "cycles_a_frame", "regime"]
    paths = [folder / "mobility.csv", folder / "mobility.md"]
    with paths[0].open("w", newline="") as file:
        csv.writer(file).writerows([heads, *rows])
    lines = [f"# Motion as a carrier offset, frames of {FRAME} samples", "", "| " + " | ".join(heads) + " |"]
    lines += ["|---" * len(heads) + "|", *("| " + " | ".join(map(str, row)) + " |" for row in rows)]
    paths[1].write_text("\n".join(lines) + "\n")
    return paths
