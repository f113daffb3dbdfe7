"""The fault campaign: whatever happens, the federation ends, with the right result.

Every expected model comes from the same federation in one process with nothing going wrong.
"""

import os
import subprocess
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import numpy as np
import pytest

from tests.require import need
from tests.training.federation.proxy import Proxy
from tests.training.federation.support import (
    NAMES,
    SHAPES,
    a_model,
    body_of,
    end,
    expected_model,
    federation,
    final_model,
    is_up,
    join,
    kill,
    put,
    same,
    serve,
    serving,
    until,
    wait_for,
)
from training.federation.errors import Problem
from training.federation.station.client import HttpExchange
from training.federation.station.loop import Station


def join_all(folder, url, tokens, precisions=("float32",)):
    return [
        join(folder, url, name, tokens[name], precisions[i % len(precisions)])
        for i, name in enumerate(tokens)
    ]


def port_of(url):
    return urlsplit(url).port


@pytest.mark.parametrize(
    "crash",
    [
        ("COLLECTING", "before"),
        ("COLLECTING", "after"),
        ("AGGREGATING", "before"),
        ("AGGREGATING", "after"),
        ("PUBLISHED", "files"),
        ("PUBLISHED", "before"),
        ("PUBLISHED", "after"),
    ],
    ids="-".join,
)
def test_a_coordinator_killed_in_any_state_goes_on_to_the_same_bits(tmp_path, crash):
    coordinator, tokens = federation(tmp_path / "run", rounds=2)
    process, url = serve(tmp_path / "run", crash=crash)
    stations = join_all(tmp_path, url, tokens, ("float32", "int8"))
    try:
        process.wait(40)
        assert process.returncode == -9
        end(process)
        with serving(tmp_path / "run", port=port_of(url)):
            wait_for(stations)
    finally:
        end(process, *stations)
    assert same(final_model(coordinator), expected_model(tmp_path, 2, precisions=("float32", "int8")))
    counted = coordinator.store.query(
        "SELECT round, count(*) AS n FROM updates WHERE state = 'aggregated' GROUP BY round"
    )
    assert [(row["round"], row["n"]) for row in counted] == [(1, 4), (2, 4)]


def test_a_coordinator_killed_while_abandoning_goes_on(tmp_path):
    coordinator, tokens = federation(tmp_path / "run", rounds=1, deadline_s=0.5)
    process, url = serve(tmp_path / "run", crash=("ABANDONED", "before"))
    process.wait(20)
    end(process)
    with serving(tmp_path / "run", port=port_of(url)):
        until(lambda: coordinator.current()["number"] >= 2)
        assert coordinator.current()["generation"] == 1
        assert tokens


def test_a_station_killed_while_training_is_back_in_time(tmp_path):
    coordinator, tokens = federation(tmp_path / "run", rounds=2)
    with serving(tmp_path / "run") as (_, url):
        others = [join(tmp_path, url, name, tokens[name], "int8") for name in NAMES[:3]]
        victim = join(tmp_path, url, "s4", tokens["s4"], "int8", "30")
        assert victim.stdout.readline() == "training\n"
        kill(victim)
        again = join(tmp_path, url, "s4", tokens["s4"], "int8")
        try:
            wait_for([*others, again])
        finally:
            end(*others, victim, again)
    assert same(final_model(coordinator), expected_model(tmp_path, 2, precisions=("int8",)))


def test_a_station_that_does_not_come_back_is_waited_for_no_longer_than_the_grace(tmp_path):
    coordinator, tokens = federation(tmp_path / "run", rounds=2, quorum=3, grace_s=0.3)
    with serving(tmp_path / "run") as (_, url):
        others = [join(tmp_path, url, name, tokens[name]) for name in NAMES[:3]]
        victim = join(tmp_path, url, "s4", tokens["s4"], "float32", "30")
        try:
            assert victim.stdout.readline() == "training\n"
            kill(victim)
            wait_for(others)
        finally:
            end(*others, victim)
    assert same(final_model(coordinator), expected_model(tmp_path, 2, NAMES[:3]))


def test_a_station_killed_while_uploading_delivers_what_it_spooled(tmp_path):
    coordinator, tokens = federation(tmp_path / "run", rounds=1)
    with serving(tmp_path / "run") as (_, url):
        others = [join(tmp_path, url, name, tokens[name]) for name in NAMES[:3]]
        proxy = Proxy(port_of(url))
        proxy.cut_up = 1000  # the PUT ends in its middle, and every try after it, too
        victim = join(tmp_path, proxy.url, "s4", tokens["s4"])
        try:
            until(lambda: proxy.cuts > 0)
            kill(victim)
            spooled = (tmp_path / "s4" / "update.safetensors").read_bytes()
            again = join(tmp_path, url, "s4", tokens["s4"])
            wait_for([*others, again])
        finally:
            end(*others, victim, again)
            proxy.close()
    assert coordinator.store.query("SELECT bytes FROM updates WHERE station = 's4'")[0]["bytes"] == len(
        spooled
    )
    assert same(final_model(coordinator), expected_model(tmp_path, 1))


class Scripted:
    """Training whose result a test decides: the station's model is the base plus this difference."""

    def __init__(self, delta):
        self.delta, self.calls = delta, 0

    def __call__(self, folder, manifest, generation):
        from training.pretraining.checkpoint import load_checkpoint, save_checkpoint

        self.calls += 1
        base, _ = load_checkpoint(folder / "global.safetensors")
        trained = {f"model/{n}": base[n] + self.delta[n] for n in base}
        save_checkpoint(folder / "trained.safetensors", trained, {"round": generation, "step": 1})
        return 100, {}


WIDE = {"w": (250, 100), "v": (40,)}  # 100 kB: an upload takes more than one packet


@pytest.mark.parametrize("way", ["up", "down"])
def test_a_connection_cut_at_every_tenth_of_its_bytes_changes_nothing(tmp_path, monkeypatch, way):
    monkeypatch.setattr("training.federation.station.client.BACKOFF_S", (0.1, 0.2))
    coordinator, tokens = federation(tmp_path / "run", rounds=12, names=("s1",), shapes=WIDE)
    rng = np.random.default_rng(0)
    delta = {n: np.asarray(0.01 * rng.standard_normal(s), np.float32) for n, s in WIDE.items()}
    train = Scripted(delta)
    with serving(tmp_path / "run") as (_, url):
        proxy = Proxy(port_of(url))
        station = Station(HttpExchange(proxy.url, "main", "s1", tokens["s1"], 30), tmp_path / "s1", train)
        station.step()
        for tenth in range(11):
            station.exchange.http.close()  # each round begins on a new connection, so that bytes count from 0
            station.exchange = HttpExchange(proxy.url, "main", "s1", tokens["s1"], 30)
            setattr(proxy, f"cut_{way}", 200 + tenth * 9_900)
            station.step()
        assert proxy.cuts == 11
        assert station.step()
        station.exchange.close()
        proxy.close()
    assert (train.calls, coordinator.current()["generation"]) == (12, 12)
    start = coordinator.models.open(coordinator.models.of(2)["float32"]).arrays()
    for name, array in final_model(coordinator).items():
        np.testing.assert_allclose(array, start[name] + 10 * delta[name], rtol=1e-5, atol=1e-5)


def test_a_cut_download_goes_on_where_it_ended(tmp_path):
    _, tokens = federation(tmp_path / "run", names=("s1",), shapes=WIDE)
    with serving(tmp_path / "run") as (_, url):
        proxy = Proxy(port_of(url))
        exchange = HttpExchange(proxy.url, "main", "s1", tokens["s1"], 30)
        _, described = exchange.current("")
        exchange.close()
        exchange = HttpExchange(proxy.url, "main", "s1", tokens["s1"], 30)
        proxy.cut_down, asked = 60_000, []
        exchange.http.event_hooks = {"request": [lambda request: asked.append(request.headers.get("range"))]}
        exchange.fetch(described["bases"]["float32"], "float32", "", tmp_path / "model")
        assert asked[0] is None
        assert 50_000 < int(asked[1].removeprefix("bytes=").rstrip("-")) < 60_000
        exchange.close()
        proxy.close()


def test_a_bit_that_flips_on_its_way_is_noticed_and_the_update_sent_again(tmp_path):
    coordinator, tokens = federation(tmp_path / "run", rounds=1, names=("s1",), shapes=WIDE)
    delta = {n: np.full(s, 0.5, np.float32) for n, s in WIDE.items()}
    with serving(tmp_path / "run") as (_, url):
        proxy = Proxy(port_of(url))
        station = Station(
            HttpExchange(proxy.url, "main", "s1", tokens["s1"], 30), tmp_path / "s1", Scripted(delta)
        )
        proxy.flip_up = 30_000
        station.step()
        until(lambda: coordinator.finished)
        station.exchange.close()
        assert proxy.cuts == 1
        proxy.close()
    reasons = [
        row["reason"] for row in coordinator.store.query("SELECT reason FROM audit WHERE status = 400")
    ]
    assert len(reasons) == 1
    assert "damaged" in reasons[0]


def test_duplicated_late_replayed_and_forged_updates_change_nothing(tmp_path):
    coordinator, tokens = federation(tmp_path / "run", rounds=2)
    with (
        serving(tmp_path / "run") as (_, url),
        httpx.Client(base_url=url, trust_env=False, timeout=20) as http,
    ):
        first = body_of(coordinator, a_model(7))
        late_tokens = dict(tokens)
        stations = join_all(tmp_path, url, tokens)
        try:
            wait_for(stations)
        finally:
            end(*stations)
        old = next((tmp_path / "run" / "updates").glob("1.s1.*")).read_bytes()
        assert put(http, "s1", late_tokens["s1"], old, 1).status_code == 200  # a duplicate, late
        assert put(http, "s1", late_tokens["s1"], first, 1).status_code == 409  # another one, late
        assert put(http, "s1", late_tokens["s1"], old, 2).status_code == 409  # a replay in another round
        assert put(http, "s2", late_tokens["s1"], old, 2).status_code == 403  # in another's name
        assert put(http, "s1", "forged", old, 2).status_code == 401
        assert put(http, "s1", late_tokens["s1"], old, 3).status_code == 404
    assert same(final_model(coordinator), expected_model(tmp_path, 2))


def test_a_replay_while_the_next_round_is_open_is_refused(tmp_path):
    coordinator, tokens = federation(tmp_path / "run", rounds=2, names=("s1",))
    with (
        serving(tmp_path / "run") as (_, url),
        httpx.Client(base_url=url, trust_env=False, timeout=20) as http,
    ):
        old = body_of(coordinator)
        assert put(http, "s1", tokens["s1"], old, 1).status_code == 201
        until(lambda: coordinator.current()["number"] == 2)
        answer = put(http, "s1", tokens["s1"], old, 2)
        assert (answer.status_code, "another round or base" in answer.json()["detail"]) == (409, True)


def test_a_station_goes_on_after_its_update_was_refused(tmp_path):
    coordinator, tokens = federation(tmp_path / "run", rounds=2, quorum=3, grace_s=0.2)
    bad = {n: np.full(s, np.nan, np.float32) for n, s in SHAPES.items()}
    with serving(tmp_path / "run") as (_, url):
        others = [join(tmp_path, url, name, tokens[name]) for name in NAMES[:3]]
        exchange = HttpExchange(url, "main", "s4", tokens["s4"], 30)
        station = Station(exchange, tmp_path / "s4", Scripted(bad))
        try:
            station.work()
            wait_for(others)
        finally:
            exchange.close()
            end(*others)
    refused = coordinator.store.query(
        "SELECT round, reason FROM audit WHERE station = 's4' AND outcome = 'refused'"
    )
    assert [row["round"] for row in refused] == [1, 2]
    assert "finite" in refused[0]["reason"]
    assert same(final_model(coordinator), expected_model(tmp_path, 2, NAMES[:3]))


def test_a_station_whose_model_is_gone_waits_for_the_next_round(tmp_path):
    coordinator, tokens = federation(tmp_path / "run", names=("s1",))
    coordinator.store.model(coordinator.models.of(0)["float32"]).rename(tmp_path / "model")
    with serving(tmp_path / "run") as (_, url):
        exchange = HttpExchange(url, "main", "s1", tokens["s1"], 30)
        station = Station(exchange, tmp_path / "s1", Scripted({}))
        assert station.step() is False
        assert station.etag == coordinator.etag()
        exchange.close()


def test_a_revoked_station_stops_with_one_clear_line(tmp_path):
    coordinator, tokens = federation(tmp_path / "run")
    coordinator.stations.revoke("s1")
    with serving(tmp_path / "run") as (_, url):
        exchange = HttpExchange(url, "main", "s1", tokens["s1"], 30)
        with pytest.raises(Problem, match="a station's valid token is needed"):
            Station(exchange, tmp_path / "s1", Scripted({})).step()
        exchange.close()


def test_stations_outlive_a_coordinator_that_is_away(tmp_path):
    coordinator, tokens = federation(tmp_path / "run", rounds=1)
    with serving(tmp_path / "run") as (process, url):
        port = port_of(url)
        kill(process)
        stations = join_all(tmp_path, url, tokens)
        time.sleep(1.0)
        assert not is_up(url)
        assert all(station.poll() is None for station in stations)
        try:
            with serving(tmp_path / "run", port=port):
                wait_for(stations)
        finally:
            end(*stations)
    assert same(final_model(coordinator), expected_model(tmp_path, 1))


def test_a_full_disk_is_told_and_outlived(tmp_path):
    """The coordinator's disk has no room while updates come in, and while the round is aggregated."""
    coordinator, tokens = federation(tmp_path / "run", rounds=1, names=("s1", "s2"))
    full = tmp_path / "full"
    with (
        serving(tmp_path / "run", crash=("FULL", str(full))) as (_, url),
        httpx.Client(base_url=url, trust_env=False, timeout=20) as http,
    ):
        full.touch()
        answer = put(http, "s1", tokens["s1"], body_of(coordinator))
        assert (answer.status_code, answer.headers["retry-after"]) == (507, "2")
        full.unlink()
        assert put(http, "s1", tokens["s1"], body_of(coordinator)).status_code == 201
        full.touch()
        coordinator.store.run(("UPDATE rounds SET state = 'AGGREGATING'", ()))  # it closes on the full disk
        until(lambda: "trying again" in (tmp_path / "run" / "log").read_text())
        full.unlink()
        until(lambda: coordinator.finished)
    assert not list((tmp_path / "run" / "temporary").iterdir())


@pytest.mark.acceptance
def test_a_disk_that_is_really_full_is_outlived(tmp_path):
    """The same on a file system of 1 MB, where this user may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    need(
        os.geteuid() == 0 and subprocess.run(mount, check=False).returncode == 0,
        "the right to mount a file system",
    )
    try:
        coordinator, tokens = federation(
            folder / "run", rounds=2, names=("s1", "s2"), shapes=WIDE, precisions=("float32",)
        )
        with serving(folder / "run", "--data", str(tmp_path)) as (_, url):
            ballast = folder / "ballast"
            with pytest.raises(OSError, match="No space"):
                ballast.write_bytes(bytes(2 << 20))
            stations = [join(tmp_path, url, name, tokens[name]) for name in ("s1", "s2")]
            try:
                until(
                    lambda: (
                        "cannot store" in "".join(Path(tmp_path / f"s{i}.log").read_text() for i in (1, 2))
                    )
                )
                ballast.unlink()
                wait_for(stations)
            finally:
                end(*stations)
        assert same(
            final_model(coordinator),
            expected_model(tmp_path, 2, ("s1", "s2"), shapes=WIDE, precisions=("float32",)),
        )
    finally:
        coordinator.close()
        subprocess.run(["umount", str(folder)], check=True)
