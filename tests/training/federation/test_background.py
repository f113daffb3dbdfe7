"""The child process that trains: modest, replaced when it dies, and gone with its station."""

import os
import signal
import subprocess
import sys

import pytest

from streaming.errors import InputError
from tests.require import ROOT
from tests.training.federation.support import until
from training.federation.manifest import Manifest
from training.federation.station.background import Background, start
from training.federation.station.lesson import Synthetic

STATION = """
import os, sys, time
from training.federation.station.background import start
if __name__ == "__main__":
    print(start(3).submit(os.getpid).result(), flush=True)
    time.sleep(60)
"""


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().split()[2] != "Z"
    except FileNotFoundError:
        return False


def test_the_child_has_low_priority():
    pool = start(7)
    assert pool.submit(os.nice, 0).result() == os.nice(0) + 7
    pool.shutdown()


def test_a_killed_station_leaves_no_child(tmp_path):
    (tmp_path / "station.py").write_text(STATION)
    command = [sys.executable, str(tmp_path / "station.py")]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as station:
        child = int(station.stdout.readline())
        assert is_alive(child)
        station.send_signal(signal.SIGKILL)
    until(lambda: not is_alive(child))


def die(_):
    os.abort()


def test_a_child_that_dies_every_time_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("training.federation.station.background.learn_there", die)
    monkeypatch.setattr("training.federation.station.background.TRIES", 1)
    train = Background(Synthetic(0, 10), "s1")
    with pytest.raises(InputError, match="was killed 1 times"):
        train(tmp_path, Manifest("main", {}), 1)
    train.close()
