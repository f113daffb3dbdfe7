"""Secure aggregation with real SuperLink and SuperNodes: the sum is right, and only the sum is there."""

import os
import signal

import numpy as np
import pytest

from service.bench.flower import FLOWER, flower_fleet
from tests.require import need
from tests.training.federation.sleeper import SLEEPER, delta_of
from tests.training.federation.support import federation, final_model, until

NAMES = ("s1", "s2", "s3", "s4", SLEEPER)
TRAIN = "tests.training.federation.sleeper:train"
SHAPES = {"a": (64, 40), "b": (50,)}
PIECE = 64  # bytes of an update: that they are anywhere by chance has a probability of 2^-512


def pieces_of(array):
    raw = np.ascontiguousarray(array).tobytes()
    return [raw[i : i + PIECE] for i in range(0, len(raw) - PIECE, 7 * PIECE)]


def found_in(folder, needles):
    """Names of files that hold any of these."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if any(needle in path.read_bytes() for needle in needles)]


@pytest.mark.acceptance
@pytest.mark.timeout(1_800)
def test_a_killed_station_is_left_out_of_the_sum_and_no_update_is_on_the_server(tmp_path):
    need(FLOWER.exists(), "Flower's environment (make flower)")
    run, link, nodes = tmp_path / "run", tmp_path / "link", tmp_path / "nodes"
    coordinator, _ = federation(run, 1, NAMES, SHAPES, quorum=4, deadline_s=120.0)
    before = coordinator.models.open(coordinator.models.of(0)["float32"]).arrays()
    link.mkdir()
    with flower_fleet(dict.fromkeys(NAMES, ""), nodes, "--database", str(link / "state.sqlite")) as fleet:
        fleet.start(coordinator, secure=True, train=TRAIN)
        until((nodes / SLEEPER / "asleep").exists, 600)  # it has shared its keys, and trains
        os.killpg(fleet.nodes[SLEEPER].pid, signal.SIGKILL)
        until(lambda: coordinator.finished, 900)
    (nodes / "superlink.log").rename(link / "superlink.log")

    deltas = {name: delta_of(name, SHAPES) for name in NAMES}
    after = final_model(coordinator)
    for name in SHAPES:
        total = sum(deltas[station][name].astype(np.float64) for station in NAMES[:4])
        assert np.abs(4 * (after[name].astype(np.float64) - before[name]) - total).max() <= 1e-5
    for station in NAMES[:4]:
        trained = {name: before[name] + deltas[station][name] for name in SHAPES}
        sent = {name: trained[name] - before[name] for name in SHAPES}  # rounded once more
        needles = [piece for kind in (sent, trained) for name in SHAPES for piece in pieces_of(kind[name])]
        needles += [piece for name in SHAPES for piece in pieces_of(sent[name].astype(np.float64))]
        for server in (run, link, nodes / "home"):
            assert found_in(server, needles) == []
        assert found_in(nodes / station, needles)  # the search finds it where it is
