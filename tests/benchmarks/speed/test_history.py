"""The benchmark of the history runs, and asks for something that is there."""

import json

from benchmarks.speed import history


def test_it_measures_every_request_of_a_small_history(capsys):
    history.main(["--emissions", "500", "--hours", "3", "--requests", "2"])
    measured = json.loads(capsys.readouterr().out)
    assert set(measured) == {"table", "table by SNR", "table of a label", "review", "occupancy"}
    assert all(0 < each["p50_ms"] <= each["p95_ms"] for each in measured.values())
