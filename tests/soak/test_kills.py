"""kill -9 at random moments: what was acknowledged is there after every restart."""

import json
import subprocess
import sys

import pytest


@pytest.mark.acceptance
def test_nothing_acknowledged_is_missing_after_two_hundred_kills():
    command = [sys.executable, "-m", "tests.soak.kills", "--count", "200", "--seed", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    report = json.loads(done.stdout[done.stdout.index("{") :])
    assert (report["wrong"], done.returncode) == ([], 0)
    assert sum(report["kills"].values()) == 200
    assert len(report["kills"]) == 7
    assert report["acknowledged"]["labels"] > 0
    assert report["acknowledged"]["recordings"] > 0
    assert report["acknowledged"]["models"] > 0
