"""Some minutes of faults of every kind: nothing acknowledged is missing, and nothing is a server error."""

import json
import subprocess
import sys

import pytest

from tests.soak.faults import FAULTS


@pytest.mark.acceptance
def test_nothing_acknowledged_is_missing_after_every_kind_of_fault(tmp_path):
    command = [sys.executable, "-m", "tests.soak", "--minutes", "8", "--seed", "1", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["wrong"], done.returncode) == ([], 0)
    assert report["kinds"].keys() <= FAULTS.keys()
    assert len(report["kinds"]) >= 20
    assert min(report["acknowledged"].values()) > 0
    assert (tmp_path / "curves.png").stat().st_size > 10_000
