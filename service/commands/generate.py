"""Generate test signals through a simulated receiver, as SigMF with annotations.

Each class is on the air for its share of --seconds, with a pause of noise before it. With --random, classes
are drawn at random, some in bursts. With --scene there are many emissions at once, as a radio hears a band:
OUT is then a folder for --count recordings, and each emission has a box around it. The same seed gives the
same files. SNR is in the occupied bandwidth.

examples:
  wavetell generate signals.sigmf
  wavetell generate keyed.sigmf --classes OOK,2FSK,GFSK --snr 15 --seconds 3
  wavetell generate long.sigmf --random --seconds 60 --snr 5..30 --rate 1M --seed 7
  wavetell generate scenes --scene --count 20 --emissions 16 --snr 10..30
"""

import argparse
import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from hardware.address import parse_number
from hardware.samples import datatype
from streaming.block import Samples
from streaming.errors import ConfigError
from streaming.quantities import FREQ_HZ, RATE_HZ, SECONDS, SNR_DB
from training.signals.classes import CLASSES, NOISE, check_class
from training.signals.conditions import CLEAN, Conditions
from training.signals.recording import steps_of, write_recording
from training.signals.scene import Scene
from training.signals.scene_plan import SceneSettings, plan
from training.signals.stream import Stream, at_random, in_turn

PAUSE = 0.15  # of a class's share
LONGEST = 20_000_000_000  # samples of a recording
BLOCK = 1 << 20  # samples made and written at a time
MOST = 100_000  # scenes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    everything = ",".join(name for name in CLASSES if name != NOISE)
    parser.add_argument("--json", action="store_true", help="one JSON object a recording")
    parser.add_argument(
        "out", metavar="OUT", help="the recording, such as signals.sigmf; with --scene the folder"
    )
    parser.add_argument("--classes", default=everything, help=f"which, with commas between [{everything}]")
    parser.add_argument("--snr", metavar="DB", help="in dB, or a range such as 5..25 [20; scenes 5..30]")
    parser.add_argument("--seconds", help="length of the recording [5; scenes 1]")
    parser.add_argument("--rate", metavar="HZ", help="samples a second [200k; scenes 2.4M]")
    parser.add_argument(
        "--freq", metavar="HZ", default="433.92M", help="centre frequency to write down [433.92M]"
    )
    parser.add_argument("--type", default="ci8", help="of the samples: cf32, ci16 or ci8 [ci8]")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same recording [1]")
    parser.add_argument("--clean", action="store_true", help="nothing but noise: no fading, offset or faults")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--random", action="store_true", help="classes at random, some in bursts")
    ways.add_argument("--scene", action="store_true", help="many emissions at once")
    parser.add_argument("--emissions", type=int, default=8, metavar="N", help="transmitters of a scene [8]")
    parser.add_argument("--count", type=int, default=1, metavar="N", help="how many scenes [1]")


def run(args: argparse.Namespace) -> None:
    """Write the recording, or the scenes."""
    if args.seed < 0:
        raise ConfigError(f"--seed is {args.seed}; it must be at least 0")
    if args.scene:
        make_scenes(args)
    else:
        make_stream(args)


def make_stream(args: argparse.Namespace) -> None:
    """One recording, one emission at a time."""
    classes, rate_hz, seconds = classes_of(args), rate_of(args, "200k"), seconds_of(args, "5")
    if not len(classes) * 100 <= seconds * rate_hz <= LONGEST:
        raise ConfigError(
            f"{seconds:g} s at {rate_hz:g} Hz; expected 100 samples per class or more, at most {LONGEST:,}"
        )
    conditions, total = conditions_of(args), round(seconds * rate_hz)
    if args.random:
        longest = max(2, min(total, round(rate_hz)))
        parts = at_random(classes, (max(1, longest // 50), longest), conditions, args.seed)
    else:
        share = total // len(classes)
        pause = max(1, round(PAUSE * share))
        paused = zip(
            in_turn([NOISE] * len(classes), pause, conditions, args.seed + 1),
            in_turn(classes, share - pause, conditions, args.seed),
            strict=True,
        )
        parts = chain.from_iterable(paused)
    about = f"{', '.join(classes)}; SNR {args.snr or 20} dB; seed {args.seed}"
    write(args, Path(args.out), Stream(parts, conditions, args.seed), total, rate_hz, about)


def make_scenes(args: argparse.Namespace) -> None:
    """A folder of recordings; scene n of a seed is the same, however many there are."""
    rate_hz, folder = rate_of(args, "2.4M"), Path(args.out)
    total = round(seconds_of(args, "1") * rate_hz)
    if not 1 <= args.count <= MOST:
        raise ConfigError(f"--count is {args.count}; it must be 1 to {MOST:,}")
    if total > LONGEST:
        raise ConfigError(f"a scene of {total:,} samples; expected at most {LONGEST:,}")
    if folder.suffix.startswith(".sigmf") or (folder.exists() and not folder.is_dir()):
        raise ConfigError(f"with --scene OUT is a folder; {args.out} is not one")
    settings = SceneSettings(
        rate_hz=rate_hz,
        samples=total,
        emissions=args.emissions,
        snr_db=snr_of(args, "5..30"),
        classes=tuple(classes_of(args)),
        clean=args.clean,
        steps=steps_of(datatype(args.type, "--type")),
    )
    for number in range(args.count):
        seed = args.seed * MOST + number
        scene = Scene(settings, plan(settings, seed), seed)
        about = f"scene of {args.emissions} transmitters; SNR {args.snr or '5..30'} dB; seed {seed}"
        write(args, folder / f"scene-{number:03}.sigmf", scene, total, rate_hz, about)


def write(
    args: argparse.Namespace, path: Path, made: Stream | Scene, total: int, rate_hz: float, about: str
) -> None:
    """A recording of so many samples."""
    count = write_recording(
        path,
        blocks(made, total),
        made.labels,
        rate_hz=rate_hz,
        freq_hz=parse_number(args.freq, FREQ_HZ, "--freq"),
        datatype=datatype(args.type, "--type"),
        description=about,
    )
    as_json = json.dumps({"path": str(path), "samples": count, "annotations": len(made.labels)})
    text = f"wavetell: {count:,} samples, {len(made.labels)} annotations in {path}"
    print(as_json if args.json else text)


def blocks(made: Stream | Scene, total: int) -> Iterator[Samples]:
    """All samples, some at a time."""
    while total > 0 and len(block := made.next(min(BLOCK, total))):
        yield block
        total -= len(block)


def classes_of(args: argparse.Namespace) -> list[str]:
    """The classes that the flags ask for."""
    classes = [name.strip() for name in args.classes.split(",")]
    for name in classes:
        check_class(name)
    return classes


def rate_of(args: argparse.Namespace, default: str) -> float:
    """The rate."""
    return parse_number(args.rate or default, RATE_HZ, "--rate")


def seconds_of(args: argparse.Namespace, default: str) -> float:
    """The length."""
    return parse_number(args.seconds or default, SECONDS, "--seconds")


def snr_of(args: argparse.Namespace, default: str) -> tuple[float, float]:
    """The range of SNR."""
    low, _, high = (args.snr or default).partition("..")
    return parse_number(low, SNR_DB, "--snr"), parse_number(high or low, SNR_DB, "--snr")


def conditions_of(args: argparse.Namespace) -> Conditions:
    """The simulated air and receiver that the flags ask for."""
    snr_db = snr_of(args, "20")
    if args.clean:
        return Conditions(**{**vars(CLEAN), "snr_db": snr_db})
    return Conditions(snr_db=snr_db, bits={"ci8": 8, "cs8": 8}.get(args.type, 12))
