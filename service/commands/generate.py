"""Generate test signals: several modulations in turn through a simulated receiver, as SigMF with annotations.

Each class is on the air for its share of --seconds, with a pause of noise before it. With --random, classes
are drawn at random, some in bursts. The same seed gives the same files. SNR is in the occupied bandwidth.

examples:
  wavetell generate signals.sigmf
  wavetell generate keyed.sigmf --classes OOK,2FSK,GFSK --snr 15 --seconds 3
  wavetell generate long.sigmf --random --seconds 60 --snr 5..30 --rate 1M --seed 7
"""

import argparse
from itertools import chain
from pathlib import Path

from hardware.address import parse_number
from hardware.samples import datatype
from streaming.errors import ConfigError
from training.signals.classes import CLASSES, NOISE, check_class
from training.signals.conditions import CLEAN, Conditions
from training.signals.recording import write_recording
from training.signals.stream import Stream, at_random, in_turn

PAUSE = 0.15  # of a class's share
LONGEST = 2_000_000_000  # samples: what is made is held in memory


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    everything = ",".join(name for name in CLASSES if name != NOISE)
    parser.add_argument("out", metavar="OUT", help="the recording, such as signals.sigmf")
    parser.add_argument("--classes", default=everything, help=f"which, with commas between [{everything}]")
    parser.add_argument("--snr", metavar="DB", default="20", help="in dB, or a range such as 5..25 [20]")
    parser.add_argument("--seconds", default="5", help="length of the recording [5]")
    parser.add_argument("--rate", metavar="HZ", default="200k", help="samples a second [200k]")
    parser.add_argument(
        "--freq", metavar="HZ", default="433.92M", help="centre frequency to write down [433.92M]"
    )
    parser.add_argument("--type", default="ci8", help="of the samples: cf32, ci16 or ci8 [ci8]")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same recording [1]")
    parser.add_argument("--random", action="store_true", help="classes at random, some in bursts")
    parser.add_argument("--clean", action="store_true", help="nothing but noise: no fading, offset or faults")


def run(args: argparse.Namespace) -> None:
    """Write the recording."""
    classes = [name.strip() for name in args.classes.split(",")]
    for name in classes:
        check_class(name)
    rate_hz, seconds = parse_number(args.rate, "--rate"), parse_number(args.seconds, "--seconds")
    if rate_hz <= 0 or seconds <= 0 or not len(classes) * 100 <= seconds * rate_hz <= LONGEST:
        raise ConfigError(
            f"{seconds:g} s at {rate_hz:g} Hz; expected 100 samples per class or more, at most {LONGEST:,}"
        )
    if args.seed < 0:
        raise ConfigError(f"--seed is {args.seed}; it must be at least 0")
    conditions, total = conditions_of(args), round(seconds * rate_hz)
    if args.random:
        longest = max(2, min(total, round(rate_hz)))
        plan = at_random(classes, (max(1, longest // 50), longest), conditions, args.seed)
    else:
        share = total // len(classes)
        pause = max(1, round(PAUSE * share))
        paused = zip(
            in_turn([NOISE] * len(classes), pause, conditions, args.seed + 1),
            in_turn(classes, share - pause, conditions, args.seed),
            strict=True,
        )
        plan = chain.from_iterable(paused)
    stream = Stream(plan, conditions, args.seed)
    samples = stream.next(total)
    write_recording(
        Path(args.out),
        samples,
        stream.labels,
        rate_hz=rate_hz,
        freq_hz=parse_number(args.freq, "--freq"),
        datatype=datatype(args.type, "--type"),
        description=f"{', '.join(classes)}; SNR {args.snr} dB; seed {args.seed}",
    )
    print(f"wavetell: {len(samples):,} samples, {len(stream.labels)} annotations in {args.out}")


def conditions_of(args: argparse.Namespace) -> Conditions:
    """The simulated air and receiver that the flags ask for."""
    low, _, high = args.snr.partition("..")
    snr_db = (parse_number(low, "--snr"), parse_number(high or low, "--snr"))
    if args.clean:
        return Conditions(**{**vars(CLEAN), "snr_db": snr_db})
    return Conditions(snr_db=snr_db, bits={"ci8": 8, "cs8": 8}.get(args.type, 12))
