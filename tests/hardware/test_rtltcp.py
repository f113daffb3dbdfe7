"""The rtl_tcp client against a server that answers byte for byte as rtl_tcp does."""

import contextlib
import itertools
import socket
import struct
import threading
import time

import numpy as np
import pytest

from hardware import open_source
from streaming.errors import ConfigError, FormatError, SourceError

RATE = 1_024_000
BYTES = np.random.default_rng(3).integers(0, 256, 2 * 65_536, np.uint8)
HEADER = b"RTL0" + struct.pack(">II", 5, 29)
CHUNK = 20_001  # an odd number of bytes: samples are cut in half
EXPECTED = ((BYTES.astype(np.float32) - 127.5) / 127.5).view(np.complex64)


class Server:
    """Serves one client at a time: header, then the same bytes over and over, at real pace."""

    def __init__(self, header=HEADER):
        self.header = header
        self.commands: list[tuple[int, int]] = []
        self.clients = 0
        self.drops = False
        self.stalled = threading.Event()
        self.hang_up = threading.Event()
        self.stop = threading.Event()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.socket.settimeout(0.05)
        self.port = self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self._serve)
        self.thread.start()

    def _serve(self):
        while not self.stop.is_set():
            if self.hang_up.is_set():
                time.sleep(0.02)
                continue
            try:
                client, _ = self.socket.accept()
            except TimeoutError:
                continue
            self.clients += 1
            with client:
                client.settimeout(1)
                listener = threading.Thread(target=self._listen, args=[client])
                listener.start()
                with contextlib.suppress(OSError):
                    self._send(client)
                client.close()
                listener.join()

    def _send(self, client):
        client.sendall(self.header)
        data, sent, began = bytes(BYTES) * 2, 0, time.monotonic()
        while not self.stop.is_set() and not self.hang_up.is_set():
            if self.stalled.is_set():
                began += self.drops * 0.02  # what is dropped is not owed
                time.sleep(0.02)
                continue
            at = sent % len(BYTES)
            client.sendall(data[at : at + CHUNK])
            sent += CHUNK
            time.sleep(max(0.0, began + sent / 2 / RATE - time.monotonic()))
        client.shutdown(socket.SHUT_RDWR)

    def _listen(self, client):
        with contextlib.suppress(OSError):
            while len(command := client.recv(5, socket.MSG_WAITALL)) == 5:
                self._obey(*struct.unpack(">BI", command))

    def _obey(self, code, value):
        self.commands.append((code, value))

    def close(self):
        self.stop.set()
        self.thread.join()
        self.socket.close()


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


def open_client(server, options=f"rate={RATE}"):
    return open_source(f"rtltcp:127.0.0.1:{server.port}?{options}")


def test_bytes_become_the_right_samples_whatever_the_packets(server):
    with open_client(server) as source:
        blocks = source.blocks()
        got = [next(blocks) for _ in range(10)]
    samples = np.concatenate([block.samples for block in got])
    assert np.array_equal(samples, np.resize(EXPECTED, len(samples)))
    assert got[0].index == 0
    assert all(before.end == after.index for before, after in itertools.pairwise(got))
    assert source.loss == "estimated"


def test_the_server_is_told_everything(server):
    options = f"rate={RATE}&freq=433.92M&gain=29.7&ppm=-3&agc=1"
    with open_client(server, options) as source:
        next(source.blocks())
        assert server.commands == [
            (2, RATE),
            (5, 2**32 - 3),
            (8, 1),
            (1, 433_920_000),
            (3, 1),
            (4, 297),
        ]
        server.commands.clear()
        source.retune(freq_hz=100e6, gain="auto")
        assert next(block.freq_hz for block in source.blocks() if block.freq_hz != 433.92e6) == 100e6
        assert server.commands == [(1, 100_000_000), (3, 0)]


@pytest.mark.parametrize("how", ["hang up", "stall"])
def test_a_lost_server_is_connected_again_as_it_was_tuned(server, how):
    with open_client(server, f"rate={RATE}&freq=100M") as source:
        blocks = source.blocks()
        next(blocks)
        source.retune(freq_hz=200e6)
        fault = server.hang_up if how == "hang up" else server.stalled
        fault.set()
        threading.Timer(1.3, fault.clear).start()
        after = next(block for block in blocks if block.gap)
        assert (after.gap.reason, after.gap.exact) == ("device lost", False)
        assert after.gap.samples > 0.5 * RATE
        assert after.freq_hz == 200e6
    assert source.counts.events["device lost"] == source.counts.events["reopened"] >= 1
    assert server.clients >= 2
    assert server.commands[-1] == (3, 0)
    assert (1, 200_000_000) in server.commands[-5:]


@pytest.mark.parametrize("drops", [True, False])
def test_samples_dropped_unseen_are_estimated_and_late_ones_are_not(server, drops):
    server.drops = drops
    with open_client(server, f"rate={RATE}&silence=9") as source:
        blocks = source.blocks()
        next(blocks)
        began = time.monotonic()
        threading.Timer(0.5, server.stalled.set).start()
        threading.Timer(1.3, server.stalled.clear).start()
        gaps = []
        while time.monotonic() - began < 6 and not gaps:
            gaps = [block.gap for block in [next(blocks)] if block.gap]
    assert [(gap.reason, gap.exact) for gap in gaps] == [("unreported loss", False)] * drops
    assert source.counts.events["unreported loss"] == drops


def test_close_ends_a_reader_that_waits(server):
    source = open_client(server, f"rate={RATE}&silence=60")
    server.stalled.set()
    ended = threading.Event()

    def read():
        for _ in source.blocks():
            pass
        ended.set()

    threading.Thread(target=read).start()
    time.sleep(0.3)
    source.close()
    assert ended.wait(5)
    source.close()
    assert list(source.blocks()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("rate=500k", "is 500k; this radio can do 225.001k to 300k, 900.001k to 3.2M"),
        ("freq=5G", "is 5G; this radio can do"),
        ("gain=LNA:3", "rtl_tcp has one gain"),
        ("gain=99", "is 99; this radio can do -10 to 60"),
        ("gain=loud", "to 200 dB, auto or"),
        ("frq=3", "no option 'frq'; did you mean freq"),
    ],
)
def test_a_bad_option_is_one_clear_line(options, message):
    with pytest.raises(ConfigError, match=message):
        open_source(f"rtltcp:127.0.0.1:9?{options}")


@pytest.mark.parametrize(
    ("target", "line"),
    [
        ("", "the host of source rtltcp: is ''; it must be a host such as 127.0.0.1"),
        (":1234", "the host of source rtltcp::1234 is ''; it must be a host such as 127.0.0.1"),
        ("host:", "is ''; it must be a port from 1 to 65535"),
        ("host:abc", "is 'abc'; it must be a port from 1 to 65535"),
        ("host:99999", "is '99999'; it must be a port from 1 to 65535"),
    ],
)
def test_a_bad_address_is_one_clear_line(target, line):
    with pytest.raises(ConfigError, match=line):
        open_source(f"rtltcp:{target}")


def test_who_is_no_rtl_tcp_server_is_named():
    server = Server(header=b"HTTP/1.1 400 Bad Request\r\n")
    try:
        with pytest.raises(FormatError, match="is not an rtl_tcp server: it begins with b'HTTP'"):
            open_client(server)
    finally:
        server.close()


def test_nobody_there_is_one_clear_line():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(SourceError, match=r"no connection \(Connection refused\)"):
        open_source(f"rtltcp:127.0.0.1:{port}")
