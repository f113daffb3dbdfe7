"""Hundreds of stations in one round over real HTTP; the memory does not depend on their number."""

import asyncio
from pathlib import Path

import httpx
import numpy as np
import pytest

from tests.training.federation.support import body_of, federation, serving, until
from training.federation.codec import encode, sha256_of
from training.federation.media import digest_header, media_type

SMALL = {"a": (64, 32), "b": (64,)}
REAL = {f"blocks.{i}": (40, 40, 3) for i in range(18)} | {
    "wide": (160, 160, 3),
    "linear": (320, 160),
}  # 0.86 MB
OPEN = ("--max-connections", "4000", "--max-rate", "1000000")


def memory_mb(process):
    """The most that a process ever had in memory."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024


async def again(request, *args, **more):
    """A request as a station makes it: tried again where the connection fails."""
    for _ in range(20):
        try:
            return await request(*args, **more)
        except httpx.TransportError:
            await asyncio.sleep(0.5)
    raise AssertionError("the coordinator cannot be reached")


async def take_part(http, name, token, base, delta, gate):
    """One station's round: ask, download, upload."""
    headers = {"Authorization": f"Bearer {token}"}
    async with gate:
        described = (await again(http.get, "/v1/runs/main/rounds/current", headers=headers)).json()
        model = await again(http.get, f"/v1/runs/main/models/{base}", headers=headers)
        assert sha256_of(model.content) == described["bases"]["float32"]
        meta = {"round": "1", "base": base, "examples": "100"}
        body = encode({n: a + 0 for n, a in delta.items()}, "float32", meta | {"loss": str(int(name[1:]))})
        headers |= {"Content-Type": media_type("float32"), "Content-Digest": digest_header(sha256_of(body))}
        where = f"/v1/runs/main/rounds/1/updates/{name}"
        answer = await again(http.put, where, content=body, headers=headers)
        assert answer.status_code in (200, 201), answer.text


async def drive(url, tokens, base, delta):
    """All stations, 50 at a time: a connection that is sending takes 0.2 MB, which max_connections bounds."""
    limits, gate = httpx.Limits(max_connections=None), asyncio.Semaphore(50)
    async with httpx.AsyncClient(base_url=url, limits=limits, timeout=300, trust_env=False) as http:
        await asyncio.gather(*(take_part(http, n, t, base, delta, gate) for n, t in tokens.items()))


def one_round(folder, count, shapes, **terms):
    """A round with so many stations; the coordinator's memory in MB."""
    names = [f"s{i:03d}" for i in range(count)]
    terms |= {"deadline_s": 3000.0, "precisions": ("float32",)}
    coordinator, tokens = federation(folder, 1, names, shapes, **terms)
    delta = {n: np.full(s, 0.5, np.float32) for n, s in shapes.items()}
    start = coordinator.models.open(coordinator.models.of(0)["float32"]).arrays()
    with serving(folder, *OPEN) as (process, url):
        asyncio.run(drive(url, tokens, coordinator.models.of(0)["float32"], delta))
        until(lambda: coordinator.finished, 300)
        memory = memory_mb(process)
    end = coordinator.models.open(coordinator.models.of(1)["float32"]).arrays()
    for name, array in end.items():
        np.testing.assert_allclose(array, start[name] + 0.5, atol=1e-6)
    assert (
        coordinator.store.query("SELECT count(*) AS n FROM updates WHERE state = 'aggregated'")[0]["n"]
        == count
    )
    return memory


def test_fifty_stations_in_one_round(tmp_path):
    assert one_round(tmp_path, 50, SMALL) > 0


@pytest.mark.acceptance
@pytest.mark.parametrize("method", ["mean", "median"])
@pytest.mark.parametrize("shapes", [SMALL, REAL], ids=["small", "real"])
def test_the_memory_of_five_hundred_stations_is_that_of_fifty(tmp_path, shapes, method):
    few = one_round(tmp_path / "few", 50, shapes, method=method)
    many = one_round(tmp_path / "many", 500, shapes, method=method)
    print(f"{method}: {few:.0f} MB with 50 stations, {many:.0f} MB with 500")
    assert many < few + 40  # 500 real updates have 430 MB


def test_an_update_of_the_driver_is_what_a_station_sends(tmp_path):
    coordinator, _ = federation(tmp_path, shapes=SMALL)
    delta = {n: np.zeros(s, np.float32) for n, s in SMALL.items()}
    assert len(body_of(coordinator, delta)) <= coordinator.manifest.body_bound("float32")
