"""Signals that nobody here made: recordings and scenes out of TorchSig's signal builders, for judging only.

`benchmarks.accuracy.torchsig` runs this file with the Python of an environment that has TorchSig 2.2 in it:

    ENVIRONMENT/bin/python -P benchmarks/accuracy/torchsig_side.py narrow FOLDER [--count 8] [--seed 0]
    ENVIRONMENT/bin/python -P benchmarks/accuracy/torchsig_side.py scenes FOLDER [--count 20] [--seed 0]

Half of the signals have TorchSig's impairments of level 2: those of a transmitter and of fading. The noise is
white. An SNR is the power while the signal is on, over the noise in the band that holds 99 % of that power
(of AM without its carrier), or in 1 kHz where it is narrower.
"""

import argparse
import csv
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torchsig.transforms.impairments import Impairments
from torchsig.utils.signal_building import concrete_generator_names, lookup_signal_generator_by_string

Complex = NDArray[np.complex64]

LEAST_HZ = 1_000.0  # narrowest band that an SNR is stated for
OVER = 10.0  # full scale of the file over the RMS of all that is in it
DVBS2 = {"qpsk": "QPSK", "8psk": "8PSK", "16apsk": "16APSK", "32apsk": "32APSK"}
# TorchSig's name -> wavetell's class; TorchSig's ASK is on both sides of zero
CLASSES = {
    **{"ook": "OOK", "adsb-long": "OOK", "adsb-short": "OOK", "4ask": "4PAM"},
    **{"bpsk": "BPSK", "qpsk": "QPSK", "8psk": "8PSK", "zigbee": "OQPSK"},
    **{"16qam": "16QAM", "64qam": "64QAM", "256qam": "256QAM", "16apsk": "16APSK", "32apsk": "32APSK"},
    **{"2fsk": "2FSK", "4fsk": "4FSK", "2gfsk": "GFSK", "2msk": "MSK", "2gmsk": "GMSK"},
    **{"btle": "GFSK", "gsm": "GMSK", "dmr": "4FSK", "p25": "4FSK"},
    **{"am-dsb": "AM-DSB", "am-dsb-sc": "AM-DSB-SC", "am-usb": "SSB", "am-lsb": "SSB"},
    **{"lfm-data": "chirp", "lfm-radar": "chirp", "chirpss": "chirp", "lora": "chirp", "tone": "carrier"},
    **{name: "OFDM" for name in concrete_generator_names if name.startswith(("ofdm", "80211a"))},
}
# how the names of the rest end -> wavetell's family
FAMILIES = {
    "qam": "QAM",
    "cross": "QAM",
    "psk": "PSK",
    "fsk": "FSK",
    "msk": "FSK",
    "ask": "ASK",
    "data": "FM",
}
OF_CLASS = {
    **dict.fromkeys(("OOK", "4PAM"), "ASK"),
    **dict.fromkeys(("BPSK", "QPSK", "8PSK", "OQPSK"), "PSK"),
    **dict.fromkeys(("16QAM", "64QAM", "256QAM", "16APSK", "32APSK"), "QAM"),
    **dict.fromkeys(("2FSK", "4FSK", "GFSK", "MSK", "GMSK"), "FSK"),
    **dict.fromkeys(("AM-DSB", "AM-DSB-SC", "SSB"), "AM"),
    **{name: name for name in ("OFDM", "chirp", "carrier")},
}


class Signal(NamedTuple):
    """A signal at its place in the band, of unit power while it is on."""

    kind: str  # TorchSig's name
    modulation: str  # wavetell's class, or its family where there is none
    family: str
    samples: Complex
    lower_hz: float  # edges of the occupied band
    upper_hz: float
    nominal_hz: float  # the bandwidth that TorchSig was asked for
    level: int  # of its impairments

    def scale(self, snr_db: float, rate_hz: float) -> float:
        """Its amplitude at this SNR, over noise of unit power in the whole band."""
        width_hz = max(self.upper_hz - self.lower_hz, LEAST_HZ)
        return float(np.sqrt(10 ** (snr_db / 10) * width_hz / rate_hz))


def build(kind: str, rng: np.random.Generator, rate_hz: float, width_hz: float, samples: int) -> Signal:
    """A signal of this kind, its band where the band of the receiver has room."""
    generator = lookup_signal_generator_by_string(kind)
    seed, modulation = int(rng.integers(2**31)), CLASSES.get(kind)
    settings: dict[str, Any] = {
        "sample_rate": rate_hz,
        **dict.fromkeys(("bandwidth_min", "bandwidth_max"), round(width_hz)),
        **dict.fromkeys(("signal_duration_in_samples_min", "signal_duration_in_samples_max"), samples),
    }
    if kind == "dvbs2":
        settings["constellation_name"] = str(rng.choice(list(DVBS2)))
        modulation = DVBS2[settings["constellation_name"]]
    for name, value in settings.items():
        generator[name] = value
    generator.seed(seed)
    made = generator()
    x = np.asarray(made.data, np.complex64)
    on = np.flatnonzero(np.abs(x) > 1e-3 * np.abs(x).max())  # a short frame has zeros around it
    x = made.data = x[on[0] : on[-1] + 1]
    lower, upper = occupied(x - x.mean() if kind == "am-dsb" else x)
    level = 2 * int(rng.integers(2))
    if level:
        faults = Impairments(level)
        faults.seed(seed)
        x = np.asarray(faults.signal_transforms(made).data, np.complex64)
    room = max(0.0, 0.48 - (upper - lower) / 2)
    offset = rng.uniform(-room, room) - (lower + upper) / 2
    x = x * np.exp(2j * np.pi * (offset * np.arange(len(x)) + rng.random()))
    x = x / np.sqrt(np.mean(np.abs(x) ** 2))
    family = OF_CLASS[modulation] if modulation else family_of(kind)
    edges = (lower + offset) * rate_hz, (upper + offset) * rate_hz
    return Signal(kind, modulation or family, family, x.astype(np.complex64), *edges, width_hz, level)


def family_of(kind: str) -> str:
    """The family of a kind that has no class."""
    return next(family for ending, family in FAMILIES.items() if kind.endswith(ending))


def occupied(x: Complex) -> tuple[float, float]:
    """Edges, in cycles per sample, of the band that holds the middle 99 % of the power."""
    power = np.fft.fftshift(np.abs(np.fft.fft(x)) ** 2).astype(np.float64)
    share = np.cumsum(power) / power.sum()
    lower, upper = np.searchsorted(share, (0.005, 0.995))
    return float(lower / len(x) - 0.5), float((upper + 1) / len(x) - 0.5)


def noise(rng: np.random.Generator, samples: int) -> Complex:
    """Of unit power."""
    parts = rng.standard_normal(2 * samples, dtype=np.float32) * np.float32(np.sqrt(0.5))
    return parts.view(np.complex64)


def write(base: Path, x: Complex, rate_hz: float, annotations: list[dict[str, Any]]) -> None:
    """The recording as SigMF, 16 bits."""
    level = 32_767 / (OVER * np.sqrt(np.mean(np.abs(x) ** 2)))
    parts = np.clip(np.rint(x.view(np.float32) * np.float32(level)), -32_768, 32_767)
    parts.astype("<i2").tofile(base.with_suffix(".sigmf-data"))
    meta = {
        "global": {
            "core:datatype": "ci16_le",
            "core:sample_rate": rate_hz,
            "core:version": "1.2.0",
            "core:description": "TorchSig 2.2",
            "core:extensions": [
                {"name": name, "version": "1.0.0", "optional": True} for name in ("wavetell", "torchsig")
            ],
        },
        "captures": [{"core:sample_start": 0, "core:frequency": 0.0}],
        "annotations": sorted(annotations, key=lambda one: one["core:sample_start"]),
    }
    base.with_suffix(".sigmf-meta").write_text(json.dumps(meta, indent=1))


def narrow(folder: Path, count: int, seed: int, rate_hz: float = 250e3, samples: int = 131_072) -> None:
    """One signal per recording, `count` of each kind, and labels.csv."""
    columns = ["file", "modulation", "family", "snr_db", "source", "grade", "known"]
    with (folder / "labels.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(columns)
        for number, kind in enumerate(concrete_generator_names):
            for i in range(count):
                rng = np.random.default_rng([seed, 1, number, i])
                width_hz = np.exp(rng.uniform(np.log(8e3), np.log(60e3)))
                one = build(kind, rng, rate_hz, width_hz, int(rng.uniform(0.6, 1) * samples))
                snr_db, begin = rng.uniform(10, 30), rng.integers(samples - len(one.samples) + 1)
                x = noise(rng, samples)
                x[begin : begin + len(one.samples)] += one.samples * np.float32(one.scale(snr_db, rate_hz))
                name = f"{kind}-{i}"
                write(folder / name, x, rate_hz, [box(one, int(begin), snr_db, rate_hz)])
                known = "class" if one.modulation in OF_CLASS else "family"
                grade = "impaired" if one.level else "clean"
                truth = one.modulation, one.family, f"{snr_db:.1f}"
                table.writerow([f"{name}.sigmf-meta", *truth, kind, grade, known])


def scenes(folder: Path, count: int, seed: int, rate_hz: float = 2.4e6, samples: int = 960_000) -> None:
    """Two to eight signals per recording, a box for each; no two over each other."""
    for number in range(count):
        rng = np.random.default_rng([seed, 2, number])
        x, boxes, wanted = noise(rng, samples), list[dict[str, Any]](), int(rng.integers(2, 9))
        for _ in range(10 * wanted):
            if len(boxes) == wanted:
                break
            width_hz = np.exp(rng.uniform(np.log(5e3), np.log(250e3)))
            length = samples if rng.random() < 0.3 else int(rng.uniform(0.1, 0.9) * samples)
            one = build(str(rng.choice(concrete_generator_names)), rng, rate_hz, width_hz, length)
            begin, snr_db = int(rng.integers(samples - len(one.samples) + 1)), rng.uniform(5, 30)
            new = box(one, begin, snr_db, rate_hz)
            if not any(meets(new, other, rate_hz) for other in boxes):
                x[begin : begin + len(one.samples)] += one.samples * np.float32(one.scale(snr_db, rate_hz))
                boxes.append(new)
        write(folder / f"scene-{number:03}", x, rate_hz, boxes)


def box(one: Signal, begin: int, snr_db: float, rate_hz: float) -> dict[str, Any]:
    """Its annotation."""
    return {
        "core:sample_start": begin,
        "core:sample_count": len(one.samples),
        "core:freq_lower_edge": max(one.lower_hz, -rate_hz / 2),
        "core:freq_upper_edge": min(one.upper_hz, rate_hz / 2),
        "core:label": one.modulation,
        "wavetell:snr_db": round(float(snr_db), 1),
        "torchsig:kind": one.kind,
        "torchsig:bandwidth_hz": one.nominal_hz,
        "torchsig:impairments": one.level,
    }


def meets(one: dict[str, Any], other: dict[str, Any], rate_hz: float) -> bool:
    """Whether two boxes are less than 20 ms and less than a quarter of the wider one apart."""
    starts = [box["core:sample_start"] for box in (one, other)]
    ends = [box["core:sample_start"] + box["core:sample_count"] for box in (one, other)]
    lower = [box["core:freq_lower_edge"] for box in (one, other)]
    upper = [box["core:freq_upper_edge"] for box in (one, other)]
    guard_hz = 0.25 * max(upper[0] - lower[0], upper[1] - lower[1])
    apart = max(starts) > min(ends) + 0.02 * rate_hz or max(lower) > min(upper) + guard_hz
    return not apart


def main() -> None:
    """Write the folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("set", choices=["narrow", "scenes"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, required=True, help="recordings of each kind, or scenes")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    args.folder.mkdir(parents=True)
    {"narrow": narrow, "scenes": scenes}[args.set](args.folder, args.count, args.seed)


if __name__ == "__main__":
    main()
