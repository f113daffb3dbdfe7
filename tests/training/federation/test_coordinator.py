"""The round's state machine, in process."""

import shutil
import time
from functools import partial

import pytest

from service.federation.page import metrics, page
from streaming.errors import ConfigError
from tests.training.federation.support import (
    NAMES,
    a_model,
    arithmetic,
    body_of,
    expected_model,
    federation,
    final_model,
    same,
)
from training.federation.codec import sha256_of
from training.federation.coordinator import intake
from training.federation.coordinator.rounds import Coordinator
from training.federation.coordinator.store import PRUNE_AUDIT
from training.federation.errors import Problem
from training.federation.local import LocalExchange
from training.federation.station.loop import Station


def send(coordinator, station, body, number=1, precision="float32"):
    path = coordinator.store.temporary()
    path.write_bytes(body)
    return intake.accept(coordinator, station, number, precision, path, sha256_of(body))


def test_a_round_goes_through_its_states_and_opens_the_next(tmp_path):
    coordinator, _ = federation(tmp_path, quorum=2, names=("s1", "s2"))
    assert coordinator.current()["state"] == "OPEN"
    assert send(coordinator, "s1", body_of(coordinator))[0] == 201
    assert coordinator.current()["state"] == "COLLECTING"
    assert not coordinator.tick()
    send(coordinator, "s2", body_of(coordinator))
    assert coordinator.tick()
    assert (coordinator.current()["number"], coordinator.current()["state"]) == (2, "OPEN")
    assert intake.receipt(coordinator, "s1", 1)["state"] == "aggregated"


def test_below_quorum_at_the_deadline_the_round_is_abandoned_and_its_base_used_again(tmp_path):
    coordinator, _ = federation(tmp_path, quorum=3, deadline_s=0.2, grace_s=0)
    base = coordinator.describe("s1")["bases"]
    send(coordinator, "s1", body_of(coordinator))
    time.sleep(0.25)
    assert coordinator.tick()
    after = coordinator.describe("s1")
    assert (after["round"], after["generation"], after["bases"]) == (2, 1, base)
    assert coordinator.store.query("SELECT note FROM rounds WHERE number = 1")[0]["note"].startswith("1 of 3")


def test_quorum_and_grace_close_a_round_without_the_slow_one_who_is_told_so(tmp_path):
    coordinator, _ = federation(tmp_path, quorum=3, grace_s=0.2)
    for name in NAMES[:3]:
        send(coordinator, name, body_of(coordinator))
    late = body_of(coordinator)
    assert not coordinator.tick()
    time.sleep(0.25)
    assert coordinator.tick()
    with pytest.raises(Problem, match="round 1 is closed") as problem:
        send(coordinator, "s4", late)
    assert problem.value.status == 410
    assert "<td>s4</td>" in page(coordinator)  # under "late or missing"


@pytest.mark.parametrize(
    ("status", "make"),
    [
        (409, lambda c: (body_of(c, round="2"), 1)),
        (409, lambda c: (body_of(c, base="0" * 64), 1)),
        (422, lambda c: (body_of(c, examples="0"), 1)),
        (422, lambda c: (body_of(c, examples="-5"), 1)),
        (422, lambda c: (body_of(c, examples="1e9"), 1)),
        (422, lambda c: (body_of(c, examples="1000001"), 1)),
        (422, lambda c: (body_of(c, examples="9" * 400), 1)),
        (422, lambda c: (body_of(c, loss="low"), 1)),
        (404, lambda c: (body_of(c), 2)),
        (404, lambda c: (body_of(c), 10**9)),
    ],
)
def test_an_update_that_may_not_count_is_refused(tmp_path, status, make):
    coordinator, _ = federation(tmp_path)
    body, number = make(coordinator)
    with pytest.raises(Problem) as problem:
        send(coordinator, "s1", body, number)
    assert problem.value.status == status
    assert send(coordinator, "s1", body_of(coordinator))[0] == 201  # and a right one still does


def test_the_same_update_again_is_harmless_and_another_is_refused(tmp_path):
    coordinator, _ = federation(tmp_path)
    body = body_of(coordinator)
    assert [send(coordinator, "s1", body)[0] for _ in range(3)] == [201, 200, 200]
    with pytest.raises(Problem, match="another update") as problem:
        send(coordinator, "s1", body_of(coordinator, a_model(5)))
    assert problem.value.status == 409
    assert coordinator.accepted(1) == 1


def test_an_outlier_is_refused_at_the_close_and_its_receipt_says_why(tmp_path):
    coordinator, _ = federation(tmp_path)
    for name in NAMES:
        send(coordinator, name, body_of(coordinator, a_model(1, 50.0 if name == "s2" else 0.1)))
    coordinator.tick()
    receipt = intake.receipt(coordinator, "s2", 1)
    assert receipt["state"] == "refused"
    assert "norm" in receipt["reason"]
    assert coordinator.describe("s2")["last"]["state"] == "refused"
    refused = coordinator.store.query("SELECT * FROM audit WHERE outcome = 'refused'")
    assert [(row["station"], row["round"]) for row in refused] == [("s2", 1)]
    assert 'outcome="refused"} 1' in metrics(coordinator)


def test_a_revoked_stations_update_does_not_count(tmp_path):
    coordinator, _ = federation(tmp_path, quorum=2)
    for name in NAMES[:3]:
        send(coordinator, name, body_of(coordinator))
    coordinator.stations.revoke("s1")
    with pytest.raises(ConfigError, match="there is no station 's1'"):
        coordinator.stations.revoke("s1")
    send(coordinator, "s4", body_of(coordinator))
    coordinator.tick()
    assert intake.receipt(coordinator, "s1", 1)["reason"] == "the station's token was revoked"


def test_a_replay_of_the_aggregation_gives_the_same_bits(tmp_path):
    coordinator, _ = federation(tmp_path / "one")
    for i, name in enumerate(NAMES):
        send(coordinator, name, body_of(coordinator, a_model(i, 0.1)))
    coordinator.close()
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    models = []
    for folder in ("one", "two"):
        replayed = Coordinator(tmp_path / folder)
        assert replayed.tick()
        models.append(replayed.models.of(1))
        replayed.close()
    assert models[0] == models[1]


def test_a_station_that_waits_hears_that_nothing_changed(tmp_path):
    coordinator, _ = federation(tmp_path, names=("s1", "s2"))
    station = Station(LocalExchange(coordinator, "s1"), tmp_path / "s1", partial(arithmetic, "s1"))
    heard = []
    for _ in range(3):
        assert not station.step(lambda described: heard.append((described["round"], described["state"])))
    assert heard == [(1, "open")] * 3


def test_old_files_go_and_the_newest_stay(tmp_path):
    coordinator, _ = federation(tmp_path, rounds=8, keep_rounds=2)
    members = [
        Station(LocalExchange(coordinator, n), tmp_path / n, lambda *a, n=n: arithmetic(n, *a), "int8")
        for n in NAMES
    ]
    while not coordinator.finished:
        for member in members:
            member.step()
    assert len(list((tmp_path / "updates").iterdir())) == 3 * len(NAMES)
    assert len(list((tmp_path / "models").iterdir())) <= 3 * 5


@pytest.mark.parametrize("precision", ["float16", "int8"])
def test_the_model_of_a_lower_precision_follows_the_global_one(tmp_path, precision):
    """Error feedback: what one round loses, the next ones bring."""
    coordinator, _ = federation(tmp_path, rounds=6)
    model = final = a_model(3)
    for generation in range(1, 7):  # a global model that does not move any more
        coordinator.store.run(*coordinator.models.add(generation, model, coordinator.terms))
        followed = coordinator.models.open(coordinator.models.of(generation)[precision]).arrays()
        error = max(abs(followed[n] - final[n]).max() for n in final)
    assert error < 1e-6


def test_stations_of_mixed_precisions_end_near_the_federation_in_float32(tmp_path):
    exact = expected_model(tmp_path / "float32", rounds=6)
    mixed = expected_model(tmp_path / "mixed", 6, precisions=("float32", "float16", "int8"))
    assert not same(mixed, exact)
    assert max(abs(mixed[n] - exact[n]).max() for n in exact) < 0.01


def test_the_result_is_known_from_plain_numpy(tmp_path):
    coordinator, _ = federation(tmp_path, rounds=1, names=("s1", "s2"))
    start = coordinator.models.open(coordinator.models.of(0)["float32"]).arrays()
    deltas = {"s1": a_model(1, 0.1), "s2": a_model(2, 0.1)}
    for name, examples in (("s1", 30), ("s2", 10)):
        send(coordinator, name, body_of(coordinator, deltas[name], examples=str(examples)))
    coordinator.tick()
    for name, array in final_model(coordinator).items():
        expected = start[name] + 0.75 * deltas["s1"][name] + 0.25 * deltas["s2"][name]
        assert abs(array - expected).max() < 1e-6


def test_a_folder_holds_one_federation(tmp_path):
    federation(tmp_path)
    with pytest.raises(ConfigError, match="holds a federation already"):
        federation(tmp_path)
    with pytest.raises(ConfigError, match="holds no federation yet"):
        Coordinator(tmp_path / "other")


def test_unknown_clients_cannot_fill_the_disk_with_refusals(tmp_path, monkeypatch):
    coordinator, _ = federation(tmp_path)
    monkeypatch.setattr("training.federation.coordinator.rounds.PRUNE_AUDIT", (PRUNE_AUDIT[0], (5,)))
    for number in range(9):
        coordinator.refuse("unknown", number, Problem(401, "no token"))
    rows = coordinator.store.query("SELECT round FROM audit ORDER BY id")
    assert [row["round"] for row in rows] == [4, 5, 6, 7, 8]
