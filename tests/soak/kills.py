"""kill -9 at random moments of every kind of work: `python -m tests.soak.kills --count 200 --seed 1`.

After each restart everything that was acknowledged before must be there. Killed are a service, while it is
labelled, fitted, recorded, sent models, told to use them, or brings a history of version 0.1.0 to this one,
and a coordinator that takes updates.
"""

import argparse
import json
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import httpx

from tests.service.conftest import level_bundle, within
from tests.service.test_migration import OLD
from tests.soak.ledger import Ledger
from tests.soak.running import Running
from tests.training.federation.support import body_of, federation, kill, put, serve

LONGEST_S = 1.5  # that work goes on before the kill, on an idle machine
BACK_S = 10.0  # in which the service must answer again
FOREVER = ("--keep-days", "1000000")  # the old rows are older than others are kept
OLD_ROWS = 3  # runs, and as many events


class Kills:
    """One service, one coordinator, and what they said yes to."""

    def __init__(self, folder, seed):
        self.folder, self.chance, self.count = folder, random.Random(seed), 0
        self.running = Running(folder / "service", level_bundle())
        self.running.start()
        self.ledger = Ledger(self.running)
        self.active = None  # the model that was last put to use; None: nobody knows
        self.stream = self.ledger.stream("tone:?rate=48k&snr_db=10")
        self.back_s, self.wrong = [], []
        self.works = {
            each.__name__: each
            for each in (self.labels, self.fits, self.activations, self.recordings, self.uploads)
        }
        self.places = self.works | {"migrations": None, "rounds": None}

    def labels(self):
        self.ledger.label(self.stream, self.chance.choice(["OOK", "2FSK"]))

    def fits(self):
        self.labels()
        self.use("/v1/heads/a/fit", "model")

    def recordings(self):
        self.ledger.record(self.stream)

    def uploads(self):
        """A model that is new, and one of the old goes."""
        self.count += 1
        made = self.folder / "made.safetensors"
        level_bundle(f"m{self.count}", seed=self.count).save(made)
        self.ledger.upload(f"m{self.count}", made.read_bytes())
        if len(self.ledger.kept["models"]) > 4:
            self.ledger.delete("models", next(iter(self.ledger.kept["models"])))

    def activations(self):
        if not self.ledger.kept["models"]:
            self.uploads()
        name = self.chance.choice([*self.ledger.kept["models"], "level"])
        self.use(f"/v1/models/{name}/activate", "active")

    def use(self, path, key):
        """Put a model to use, and remember which one answered."""
        before, self.active = self.active, None
        answer = self.ledger.ask("POST", path, json={})
        if answer is not None:
            self.active = answer.json()[key] if answer.status_code == 200 else before

    def kill_at(self, name):
        """Work until it is killed; start it again and look."""
        moment = threading.Timer(self.chance.uniform(0, within(LONGEST_S)), self.running.stop)
        moment.start()
        while self.running.process.poll() is None:
            self.works[name]()
        moment.join()
        began = time.monotonic()
        self.running.start()
        self.back_s.append(time.monotonic() - began)
        self.wrong += [f"after {name}: {line}" for line in self.ledger.compare() + self.ledger.errors]
        self.ledger.errors.clear()
        used = self.ledger.ask("GET", "/v1/models").json()["activations"]
        if self.active is not None and used[-1] != self.active:
            self.wrong.append(f"after {name}: {used[-1]} is in use, not {self.active}")

    def kill_migration(self):
        """A service is killed while it opens a history of version 0.1.0, and opened again."""
        migrated = Running(self.folder / f"migrated-{self.count}", level_bundle(), *FOREVER)
        self.count += 1
        shutil.copy(OLD, migrated.data / "history.sqlite")
        moment = self.chance.uniform(0.2, 1) * min(self.back_s, default=2.0)
        timer = threading.Timer(moment, lambda: migrated.process.send_signal(signal.SIGKILL))
        timer.start()
        with suppress(AssertionError):  # it is dead before it answers
            migrated.start()
        timer.join()
        migrated.process.wait()
        began = time.monotonic()
        migrated.start()
        self.back_s.append(time.monotonic() - began)
        migrated.stop(signal.SIGTERM)
        with closing(sqlite3.connect(migrated.data / "history.sqlite")) as database:
            for table in ("runs", "events"):
                (rows,) = database.execute(f"SELECT count(*) FROM {table}").fetchone()
                if rows != OLD_ROWS:
                    self.wrong.append(f"after a migration: {rows} rows of {table}, not {OLD_ROWS}")
        shutil.rmtree(migrated.folder)

    def kill_round(self):
        """A coordinator is killed while four stations send their updates; the receipts stay."""
        folder = self.folder / f"round-{self.count}"
        self.count += 1
        coordinator, tokens = federation(folder, rounds=1)
        body = body_of(coordinator)
        coordinator.store.close()
        process, url = serve(folder)
        given = {}

        def send(name):
            with suppress(httpx.TransportError), httpx.Client(base_url=url, timeout=60) as http:
                answer = put(http, name, tokens[name], body)
                if answer.status_code in (200, 201):
                    given[name] = answer.json()["sha256"]

        threads = [threading.Thread(target=send, args=(name,)) for name in tokens]
        for thread in threads:
            thread.start()
        time.sleep(self.chance.uniform(0, within(0.2)))
        kill(process)
        process.stdout.close()
        for thread in threads:
            thread.join()
        process, url = serve(folder)
        with httpx.Client(base_url=url, timeout=60) as http:
            for name, sha256 in given.items():
                headers = {"Authorization": f"Bearer {tokens[name]}"}
                receipt = http.get(f"/v1/runs/main/rounds/1/updates/{name}", headers=headers)
                if receipt.status_code != 200 or receipt.json()["sha256"] != sha256:
                    self.wrong.append(f"after a round: {name}'s update: {receipt.text[:200]}")
        kill(process)
        process.stdout.close()
        shutil.rmtree(folder)

    def run(self, count):
        """So many kills, every kind of work before one comes again."""
        kinds, deck = Counter(), []
        for number in range(1, count + 1):
            deck = deck or self.chance.sample(list(self.places), len(self.places))
            name = deck.pop()
            kinds[name] += 1
            if name == "migrations":
                self.kill_migration()
            elif name == "rounds":
                self.kill_round()
            else:
                self.kill_at(name)
            print(f"{number:4d} {name:<12} {len(self.wrong)} wrong", flush=True)
        self.running.stop(signal.SIGTERM)
        log = self.running.log.read_text(errors="replace")
        if "Traceback" in log:
            self.wrong.append(log[log.index("Traceback") :][:3000])
        return kinds


def main():
    """Kill, and fail where anything is missing."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak.kills", description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    args = parser.parse_args()
    print(f"seed {args.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="wavetell-kills-") as folder:
        kills = Kills(Path(folder), args.seed)
        try:
            kinds = kills.run(args.count)
        finally:
            if kills.running.process.poll() is None:
                kills.running.stop()
    late = sorted(kills.back_s)
    report = {
        "kills": kinds,
        "acknowledged": {kind: len(entries) for kind, entries in kills.ledger.kept.items()},
        "answers": {str(status): number for status, number in kills.ledger.statuses.items()},
        "seconds_until_it_answered": {"median": round(late[len(late) // 2], 1), "most": round(late[-1], 1)},
        "longer_than_10_s": sum(seconds > BACK_S for seconds in late),
        "wrong": kills.wrong,
    }
    print(json.dumps(report, indent=1))
    sys.exit(1 if kills.wrong else 0)


if __name__ == "__main__":
    main()
