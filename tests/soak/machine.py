"""Faults of the service's process and files."""

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress


def kill(soak):
    """kill -9 of the service while labels are given."""
    threads = [threading.Thread(target=soak.ledger.label, args=(soak.stream, "OOK")) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(soak.chance.uniform(0, 0.5))
    soak.running.stop(signal.SIGKILL)
    for thread in threads:
        thread.join()
    soak.running.start()


def restart(soak):
    """An orderly stop and start."""
    soak.running.stop(signal.SIGTERM)
    soak.running.start()


def freeze(soak):
    """SIGSTOP for a while."""
    os.kill(soak.running.process.pid, signal.SIGSTOP)
    time.sleep(soak.chance.uniform(0.5, 3))
    os.kill(soak.running.process.pid, signal.SIGCONT)


def full_disk(soak):
    """No file may grow: writes fail as on a full disk."""
    pid = soak.running.process.pid
    _, most = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, most))
    for name in ("OOK", "2FSK"):
        soak.ledger.label(soak.stream, name)
    soak.ledger.record(soak.stream)
    time.sleep(1)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (most, most))


def folder_gone(soak):
    """The folder of labels is away, and comes back."""
    labels = soak.running.data / "labels"
    aside = labels.with_name("labels-away")
    labels.rename(aside)
    soak.ledger.label(soak.stream, "OOK")
    soak.ledger.ask("GET", "/v1/labels")
    time.sleep(0.5)
    if labels.exists():  # what was acknowledged meanwhile is kept, too
        for path in labels.iterdir():
            shutil.move(path, aside / path.name)
        labels.rmdir()
    aside.rename(labels)


def few_files(soak):
    """The service may open hardly any more files."""
    pid = soak.running.process.pid
    limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (soak.running.sizes[1] + 3, limits[1]))
    soak.ledger.label(soak.stream, "OOK")
    soak.ledger.record(soak.stream)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)


def locked_history(soak):
    """Somebody holds the history's lock."""
    database = sqlite3.connect(soak.running.data / "history.sqlite", timeout=1)
    with suppress(sqlite3.OperationalError):
        database.execute("BEGIN EXCLUSIVE")
        soak.ledger.see_events()
        time.sleep(soak.chance.uniform(0.5, 4))
        database.rollback()
    database.close()


def killed_child(soak):
    """The processes that fit or try models are killed."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(soak.ledger.ask, "POST", "/v1/heads/a/fit", json={})
        time.sleep(soak.chance.uniform(0.1, 1))
        with open(f"/proc/{soak.running.process.pid}/task/{soak.running.process.pid}/children") as file:
            for child in file.read().split():
                with suppress(ProcessLookupError):
                    os.kill(int(child), signal.SIGKILL)


def backup(soak):
    """A backup is made, restored elsewhere and thrown away."""
    target, restored = (
        soak.running.folder / f"{soak.count}.tar",
        soak.running.folder / f"restored-{soak.count}",
    )
    for argv in (
        ["backup", target, "--data", soak.running.data],
        ["restore", target, "--data", restored],
    ):
        command = [sys.executable, "-m", "service.cli", *map(str, argv)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    target.unlink()
    shutil.rmtree(restored)
