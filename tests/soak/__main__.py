"""The service under random faults: `make soak`, or `python -m tests.soak --minutes 60 --seed 1 --json`.

A radio sends over ZMQ, a broker takes the events, clients label, record, fit and upload; faults come at
random, with a seed, and are logged. In the end what was acknowledged is held against what is there.
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

from tests.ports import free_port
from tests.service.conftest import within
from tests.service.servers import ended, mosquitto
from tests.soak.curves import Curves
from tests.soak.faults import FAULTS
from tests.soak.ledger import Ledger
from tests.soak.running import Running, Sender
from tests.soak.samples import account

PAUSE_S = (0.2, 2.0)  # between two faults
READY_S = 20.0  # in which everything is well again, on an idle machine


class Broker:
    """mosquitto, which comes and goes."""

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        self.start()

    def start(self):
        self._context = mosquitto(self.folder, self.port)
        self.process = self._context.__enter__()

    def stop(self):
        ended(self.process)


class Soak:
    """One run."""

    def __init__(self, folder, seed, names):
        self.chance, self.names = random.Random(seed), names
        self.broker = Broker(folder)
        self.running = Running(folder, f"mqtt://127.0.0.1:{self.broker.port}/soak")
        self.model = (folder / "level.safetensors").read_bytes()
        self.sender = Sender(seed)
        self.ledger = Ledger(self.running)
        self.curves = Curves(self.running)
        self.began, self.count = time.monotonic(), 0
        self.log, self.wrong = [], []
        self.stream = self.ledger.stream(f"zmq:{self.sender.endpoint}", name="radio")

    def run(self, seconds):
        """Inject faults until the time is over."""
        deck = []
        while time.monotonic() < self.began + seconds:
            if not deck:  # every kind comes before one comes again
                deck = self.chance.sample(self.names, len(self.names))
            name, at = deck.pop(), time.monotonic() - self.began
            self.count += 1
            try:
                FAULTS[name](self)
                self.ready(name)
                if difference := account(self) if self.count % 3 == 0 else "":
                    self.wrong.append(f"after {name}: samples: {difference}")
            except Exception as error:
                self.wrong.append(f"{name}: {error!r}"[:1000])
            self.ledger.see_events()
            self.log.append(
                {"at_s": round(at, 1), "fault": name, "took_s": round(time.monotonic() - self.began - at, 1)}
            )
            print(
                f"{at:7.1f} s  {name:<20} {self.log[-1]['took_s']:5.1f} s  {len(self.wrong)} wrong",
                flush=True,
            )
            time.sleep(self.chance.uniform(*PAUSE_S))

    def ready(self, name):
        """Wait until everything is well again."""
        end, said = time.monotonic() + within(READY_S) + 30, None  # a thread that failed is well after 30 s
        while time.monotonic() < end:
            answer = self.ledger.ask("GET", "/v1/ready")
            said = answer.text if answer is not None else None
            if answer is not None and answer.status_code == 200:
                return
            time.sleep(0.1)
        self.wrong.append(f"after {name}: not ready: {said}")

    def finish(self):
        """Kill it once more, start it, and compare."""
        self.running.stop()
        self.running.start()
        self.ready("the last kill")
        self.wrong += self.ledger.compare()
        self.wrong += self.ledger.errors
        self.curves.close()
        self.sender.close()
        self.running.stop(15)
        log = self.running.log.read_text(errors="replace")
        if "Traceback" in log:
            self.wrong.append(log[log.index("Traceback") :][:3000])
        self.broker.stop()

    def report(self, seed):
        """Everything that was seen."""
        p99 = [row[-1] for row in self.curves.rows]
        return {
            "seed": seed,
            "minutes": round((time.monotonic() - self.began) / 60, 1),
            "faults": len(self.log),
            "kinds": Counter(entry["fault"] for entry in self.log),
            "starts": self.running.starts,
            "acknowledged": {kind: len(entries) for kind, entries in self.ledger.kept.items()},
            "answers": {str(status): count for status, count in self.ledger.statuses.items()},
            "health_p99_ms": {"median": round(sorted(p99)[len(p99) // 2], 1), "worst": round(max(p99), 1)}
            if p99
            else {},
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
