"""The service under random faults: `make soak`, or `python -m tests.soak --minutes 60 --seed 1 --json`.

Radios send over ZMQ and SoapyRemote, one of them 2.4 MS/s with many emissions; a broker and a web hook
take the events, a second service has its history in PostgreSQL; clients label, record, fit and upload. Faults
come at random, with a seed, and are logged. In the end what was acknowledged is held against what is there.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import httpx

from tests.service.conftest import level_bundle, small_bundle, within
from tests.soak.beside import Beside
from tests.soak.curves import Curves
from tests.soak.faults import FAULTS
from tests.soak.ledger import Ledger
from tests.soak.running import BandSender, Running, Sender
from tests.soak.samples import account
from tests.soak.system import Clock

REMOTE = "0" * 24  # the stream of the remote radio
PAUSE_S = (0.2, 2.0)  # between two faults
SOON_S, SETTLE_S = 0.05, 10.0
READY_S = 20.0  # in which everything is well again, on an idle machine


class Soak:
    """One run."""

    def __init__(self, folder, seed, names):
        self.chance, self.names = random.Random(seed), names
        self.beside = Beside(folder)
        self.sender, self.band = Sender(seed), BandSender(seed)
        self.clock = Clock(folder)
        self.running = Running(folder / "first", small_bundle(), "--sinks", self.beside.sinks)
        # A radio of another machine is not opened over REST: somebody has set it up before.
        radio = {"source": self.beside.radio, "name": "remote radio", "head": ""}
        (self.running.data / "streams.json").write_text(json.dumps({REMOTE: radio}))
        self.running.start(**self.clock.environment)
        self.second = Running(folder / "second", level_bundle(), "--history", self.beside.database)
        self.second.start()
        self.model = self.running.model.read_bytes()
        self.ledger, self.second_ledger = Ledger(self.running), Ledger(self.second)
        self.curves = Curves(self.running)
        self.began, self.count = time.monotonic(), 0
        self.log, self.wrong = [], []
        self.stream = self.ledger.stream(f"zmq:{self.sender.endpoint}", name="radio")
        self.kept_streams = {
            self.stream,
            self.ledger.stream(f"zmq:{self.band.endpoint}", name="band"),
            REMOTE,
        }
        assert self.kept_streams == set(self.ledger.streams()), self.running.log.read_text()
        self.second_ledger.stream(f"zmq:{self.sender.endpoint}", name="radio")

    def run(self, seconds):
        """Inject faults until the time is over."""
        deck = []
        while time.monotonic() < self.began + seconds:
            if not deck:  # every kind comes before one comes again
                deck = self.chance.sample(self.names, len(self.names))
            name, at, settled_s = deck.pop(), time.monotonic() - self.began, None
            self.count += 1
            try:
                FAULTS[name](self)
                self.ready(name)
                settled_s = self.settled()
                if difference := account(self) if self.count % 3 == 0 else "":
                    self.wrong.append(f"after {name}: samples: {difference}")
            except Exception as error:
                self.wrong.append(f"{name}: {error!r}"[:1000])
                for running in (self.running, self.second):
                    if running.process.poll() is not None:
                        running.start()
            self.ledger.see_events()
            self.second_ledger.see_events()
            took_s = round(time.monotonic() - self.began - at, 1)
            self.log.append({"at_s": round(at, 1), "fault": name, "took_s": took_s, "settled_s": settled_s})
            print(
                f"{at:7.1f} s  {name:<20} {self.log[-1]['took_s']:5.1f} s  {len(self.wrong)} wrong",
                flush=True,
            )
            time.sleep(self.chance.uniform(*PAUSE_S))

    def ready(self, name):
        """Wait until everything is well again."""
        for ledger in (self.ledger, self.second_ledger):
            end, said = time.monotonic() + within(READY_S) + 30, None  # a failed thread is well after 30 s
            while time.monotonic() < end:
                answer = ledger.ask("GET", "/v1/ready")
                said = answer.text if answer is not None else None
                if answer is not None and answer.status_code == 200:
                    break
                time.sleep(0.1)
            else:
                self.wrong.append(f"after {name}: not ready: {said}")

    def settled(self):
        """Seconds until one second's answers of /v1/health all come within `SOON_S`; None: not soon."""
        began = since = time.monotonic()
        with self.running.client() as http:
            while (asked := time.monotonic()) < began + SETTLE_S:
                with suppress(httpx.HTTPError):
                    http.get("/v1/health")
                    if time.monotonic() > asked + SOON_S:
                        since = time.monotonic()
                    elif time.monotonic() > since + 1:
                        return round(since - began, 1)
                time.sleep(0.02)
        return None

    def finish(self):
        """Kill it once more, start it, and compare."""
        for running in (self.running, self.second):
            running.stop()
            running.start()
        self.ready("the last kill")
        for ledger in (self.ledger, self.second_ledger):
            self.wrong += ledger.compare() + ledger.errors
        self.curves.close()
        self.sender.close()
        self.band.close()
        for running in (self.running, self.second):
            running.stop(15)
            log = running.log.read_text(errors="replace")
            if "Traceback" in log:
                self.wrong.append(log[log.index("Traceback") :][:3000])
        self.beside.close()

    def report(self, seed):
        """Everything that was seen."""
        p99 = [row[5] for row in self.curves.rows]
        return {
            "seed": seed,
            "minutes": round((time.monotonic() - self.began) / 60, 1),
            "faults": len(self.log),
            "kinds": Counter(entry["fault"] for entry in self.log),
            "starts": self.running.starts,
            "acknowledged": {kind: len(entries) for kind, entries in self.ledger.kept.items()}
            | {"events of the second": len(self.second_ledger.kept["events"])},
            "answers": {str(status): count for status, count in self.ledger.statuses.items()},
            "health_p99_ms": {"median": round(sorted(p99)[len(p99) // 2], 1), "worst": round(max(p99), 1)}
            if p99
            else {},
            "not_settled_within_5_s": sum((entry["settled_s"] or SETTLE_S) > 5 for entry in self.log),
            "growth_percent_an_hour": self.curves.growth(),
            "wrong": self.wrong,
            "log": self.log,
        }


def main():
    """Run, print, and fail where anything was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--faults", default="all", help=f"all, or some of {','.join(FAULTS)}")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    parser.add_argument("--json", action="store_true", help="the whole report as JSON at the end")
    parser.add_argument(
        "--out", type=Path, default=Path("runs/soak"), help="folder of report and picture [runs/soak]"
    )
    args = parser.parse_args()
    names = list(FAULTS) if args.faults == "all" else args.faults.split(",")
    with tempfile.TemporaryDirectory(prefix="wavetell-soak-") as folder:
        soak = Soak(Path(folder), args.seed, names)
        with suppress(KeyboardInterrupt):
            soak.run(60 * args.minutes)
        soak.finish()
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "service.log").write_bytes(soak.running.log.read_bytes())
    report = soak.report(args.seed)
    (args.out / "report.json").write_text(json.dumps(report, indent=1))
    soak.curves.draw(args.out / "curves.png", [(entry["at_s"], entry["fault"]) for entry in soak.log])
    if args.json:
        print(json.dumps(report, indent=1))
    else:
        kinds, wrong = len(report["kinds"]), len(report["wrong"])
        print(f"{report['faults']} faults of {kinds} kinds, {wrong} wrong; {args.out}")
    for line in report["wrong"]:
        print(f"WRONG {line}")
    sys.exit(1 if report["wrong"] else 0)


if __name__ == "__main__":
    main()
