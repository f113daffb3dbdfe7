"""Scan more spectrum than a radio sees at once, step by step, and list every emission that was found.

The radio is tuned from START to STOP in steps that overlap, and stays --dwell at each; what was under way
while it was retuned is discarded. A line per emission: its centre and bandwidth, its SNR, what it is, when it
was seen first and last, and in how many passes. An emission that two steps saw is listed once. Ctrl-C ends
the scan and prints what was found so far.

examples:
  wavetell scan 'soapy:driver=rtlsdr?rate=2.4M&gain=30' 430M 440M
  wavetell scan 'rtltcp:127.0.0.1:1234?rate=2.4M' 863M 870M --dwell 500ms --passes 10 --json
"""

import argparse
import json
import signal
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from types import FrameType

from tqdm import tqdm

from hardware import open_source
from hardware.address import parse_duration, parse_number, source_address
from hardware.plan import DWELL_S, SETTLE_S, USABLE, Plan
from hardware.source import Source
from hardware.sweep import Sweep
from service.commands.listen import say_end
from service.settings import add_settings, settings
from streaming.band.pipeline import BandPipeline
from streaming.bundle import load_bundle
from streaming.catalogue import Catalogue, Entry, Visit
from streaming.engine import open_engine
from streaming.errors import ConfigError
from streaming.pipeline import LivePipeline, choose_head, open_pipeline
from streaming.prediction import utc_text
from streaming.quantities import BANDWIDTH_HZ, FREQ_HZ


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("source", metavar="SOURCE", help="a radio: soapy:... or rtltcp:...")
    parser.add_argument("start", metavar="START", help="lowest frequency, such as 430M")
    parser.add_argument("stop", metavar="STOP", help="highest frequency")
    parser.add_argument("--dwell", metavar="TIME", default="100ms", help="how long at each step [100ms]")
    parser.add_argument("--step", metavar="HZ", help="between steps, at most [0.6 of the rate]")
    parser.add_argument(
        "--settle", metavar="TIME", default="50ms", help="that is discarded after a retune [50ms]"
    )
    parser.add_argument(
        "--passes", type=int, default=1, metavar="N", help="through all steps; 0 goes on until Ctrl-C [1]"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object per emission")
    add_settings(parser, "model", "head", "backend", "threads")


def run(args: argparse.Namespace) -> None:
    """Scan, then print what was found."""
    plan = plan_of(args)
    values = settings(args)
    bundle = load_bundle(values.model)
    head = choose_head(bundle, values.head, "live")
    engine = open_engine(bundle.encoder, hop=head.hop, backend=values.backend, threads=values.threads)
    with (
        closing(open_pipeline(bundle, head, engine)) as pipeline,
        open_source(source_address(args.source)) as source,
    ):
        scan = Scan(source, plan, args.passes, pipeline)
        scan.run()
        for entry in scan.catalogue.listed():
            print(json.dumps(as_json(entry)) if args.json else as_text(entry))
        if not args.json:
            print(f"{len(scan.catalogue.entries)} emissions in {scan.visited} of {scan.steps} steps")
        if scan.short:
            print(f"wavetell: {scan.short} bursts were too short to be named", file=sys.stderr)
        say_end(source)


def plan_of(args: argparse.Namespace) -> Plan:
    """What the flags ask for."""
    if args.passes < 0:
        raise ConfigError(f"--passes is {args.passes}; it must be at least 0")
    return Plan(
        start_hz=parse_number(args.start, FREQ_HZ, "START"),
        stop_hz=parse_number(args.stop, FREQ_HZ, "STOP"),
        dwell_s=parse_duration(args.dwell, DWELL_S, "--dwell"),
        step_hz=None if args.step is None else parse_number(args.step, BANDWIDTH_HZ, "--step"),
        settle_s=parse_duration(args.settle, SETTLE_S, "--settle"),
    )


class Scan:
    """A radio, its plan, and what is found."""

    def __init__(self, source: Source, plan: Plan, passes: int, pipeline: LivePipeline) -> None:
        if not isinstance(pipeline, BandPipeline):
            raise ConfigError("this model takes a stream as one signal; a scan needs one such as radio")
        self.plan, self.pipeline, self.catalogue = plan, pipeline, Catalogue()
        self.sweep = Sweep(source, plan, passes or None)
        self.visited = 0

    @property
    def short(self) -> int:
        """Emissions of single visits that are not listed, because there was too little of them to name."""
        return self.pipeline.book.short

    @property
    def steps(self) -> int:
        """Of one pass."""
        return len(self.sweep.centres)

    def run(self) -> None:
        """Until the passes are over, the source ends or the user has seen enough."""
        current = self.visit(0)
        with (
            Interrupt() as interrupt,
            tqdm(total=self.sweep.visits, unit="step", disable=None, leave=False) as bar,
        ):
            for block in self.sweep.blocks():
                with interrupt.held():
                    if self.sweep.visit != current.number:
                        self.leave(current)
                        current = self.visit(self.sweep.visit)
                        bar.update()
                    self.pipeline.push(block)
                    self.visited = min(self.steps, current.number + 1)
        self.leave(current)

    def visit(self, number: int) -> Visit:
        """A visit of the sweep."""
        sweep, step = divmod(number, self.steps)
        centre_hz, half_hz = self.sweep.centres[step], USABLE / 2 * self.sweep.rate_hz
        return Visit(
            number,
            sweep,
            max(self.plan.start_hz, centre_hz - half_hz),
            min(self.plan.stop_hz, centre_hz + half_hz),
        )

    def leave(self, visit: Visit) -> None:
        """A visit is over: note what was found there."""
        self.pipeline.flush()
        for change in self.pipeline.changes(0.0):
            if change.state == "end":
                self.catalogue.add(change, visit)


class Interrupt:
    """Within it, Ctrl-C ends what runs, but not while it is held."""

    def __init__(self) -> None:
        self._held = self._asked = False

    def __enter__(self) -> "Interrupt":
        self._before = signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        signal.signal(signal.SIGINT, self._before)
        return kind is KeyboardInterrupt

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self._asked = True
        if not self._held:
            raise KeyboardInterrupt

    @contextmanager
    def held(self) -> Iterator[None]:
        """Finish this first."""
        self._held = True
        yield
        self._held = False
        if self._asked:
            raise KeyboardInterrupt


def as_json(entry: Entry) -> dict[str, object]:
    """One object."""
    name = entry.name
    return {
        "centre_hz": round(entry.box.centre, 1),
        "bandwidth_hz": round(entry.box.width, 1),
        "lower_hz": round(entry.box.lower, 1),
        "upper_hz": round(entry.box.upper, 1),
        "snr_db": round(entry.box.snr_db, 1),
        "label": name.label,
        "family": name.family,
        "probability": round(name.probability, 4),
        "bursts": entry.bursts,
        "first": utc_text(entry.first_ns),
        "last": utc_text(entry.last_ns),
        "passes": len(entry.sweeps),
    }


def as_text(entry: Entry) -> str:
    """One line of the table."""
    name, box = entry.name, entry.box
    first, last = (utc_text(ns)[11:19] for ns in (entry.first_ns, entry.last_ns))
    return (
        f"{box.centre / 1e6:>13,.4f} MHz {box.width / 1e3:>9,.1f} kHz {box.snr_db:>6.1f} dB  "
        f"{name.label:<12}{name.family or '':<9}{name.probability:>4.0%}  {first} to {last} UTC "
        f"{len(entry.sweeps):>4} passes"
    )
