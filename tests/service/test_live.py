"""Readers of live answers: both transports carry the same messages, and nobody waits for a deleted stream."""

import asyncio
import json
import re
import time
from socket import SO_RCVBUF, SOL_SOCKET, socket

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from service.live.hub import Hub

TONE = "tone:?rate=48k&snr_db=20"


@pytest.fixture
def tone(service):
    stream = service.stream(TONE)
    service.until(f"/v1/streams/{stream}", lambda s: s["latest"])
    yield stream
    service.http.delete(f"/v1/streams/{stream}")


def sse(answer):
    """The messages of a response."""
    return (json.loads(line[6:]) for line in answer.iter_lines() if line.startswith("data: "))


def read_on(reader):
    while True:
        reader.recv(timeout=10)


def test_the_readers_of_a_deleted_stream_are_let_go(service, tone):
    url = f"ws{service.base[4:]}/v1/streams/{tone}/live"
    with (
        connect(url) as reports,
        connect(f"{url}?hops=true") as hops,
        service.http.stream("GET", f"/v1/streams/{tone}/live", timeout=10) as events,
    ):
        messages = sse(events)
        assert next(messages)["stream"] == tone
        service.http.delete(f"/v1/streams/{tone}")
        for reader in (reports, hops):
            with pytest.raises(ConnectionClosed):
                read_on(reader)
        assert [message for message in messages if message["stream"] != tone] == []


def test_readers_of_other_streams_stay(service, tone):
    other = service.stream(TONE)
    with connect(f"ws{service.base[4:]}/v1/streams/{tone}/live") as reports:
        service.http.delete(f"/v1/streams/{other}")
        for _ in range(5):
            assert json.loads(reports.recv(timeout=10))["stream"] == tone


def test_a_new_reader_gets_the_latest_report_whatever_it_reads_with(service, tone):
    service.http.patch(f"/v1/streams/{tone}", json={"state": "paused"})  # nothing new comes
    latest = service.get(f"/v1/streams/{tone}").json()["latest"]
    with connect(f"ws{service.base[4:]}/v1/streams/{tone}/live") as reports:
        first = json.loads(reports.recv(timeout=10))
    with service.http.stream("GET", f"/v1/streams/{tone}/live", timeout=10) as events:
        assert next(sse(events)) == first
    assert first["run"] == latest["run"]
    assert first["end"] == latest["end"]


def test_a_new_reader_gets_every_report_once_though_some_are_on_their_way():
    async def read():
        hub = Hub()
        hub.publish("s/reports", "before anybody could read", keep=True)
        hub.loop = asyncio.get_running_loop()
        hub.publish("s/reports", "1", keep=True)
        hub.publish("s/reports", "a gap")
        with hub.subscribe("s/reports", "s/hops") as first:
            await asyncio.sleep(0)
            with hub.subscribe("s/reports") as second:
                hub.publish("s/reports", "2", keep=True)
                await asyncio.sleep(0)
                return await first.get(), await second.get()

    first, second = asyncio.run(read())
    assert first == ["before anybody could read", "1", "a gap", "2"]
    assert second == ["1", "2"]


def missed(service):
    return float(
        re.search(r"^wavetell_reader_missed_messages_total (\S+)", service.get("/metrics").text, re.M)[1]
    )


def test_a_slow_reader_of_server_sent_events_learns_how_many_it_missed(level_service):
    service = level_service  # it answers thousands of times per second
    stream = service.stream("tone:?rate=1M&snr_db=20")
    before = missed(service)
    host, port = service.base.removeprefix("http://").split(":")
    with socket() as reader:
        reader.setsockopt(SOL_SOCKET, SO_RCVBUF, 4096)
        reader.connect((host, int(port)))
        request = f"GET /v1/streams/{stream}/live?hops=true HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n"
        reader.sendall(request.encode())
        end = time.monotonic() + 60
        while missed(service) == before:
            assert time.monotonic() < end
            time.sleep(0.1)
        reader.settimeout(10)
        read = b""
        while not (found := re.search(rb'data: ({"type": "missed", "messages": \d+})', read)):
            more = reader.recv(1 << 16)
            assert more, "it ended before"
            read = read[-100:] + more
    assert json.loads(found[1])["messages"] > 0
    service.http.delete(f"/v1/streams/{stream}")


def test_the_document_names_the_states_that_a_stream_can_have(service):
    schemas = service.get("/openapi.json").json()["components"]["schemas"]
    assert set(schemas["StreamState"]["properties"]["state"]["enum"]) == {
        "running",
        "paused",
        "ended",
        "failed",
    }
