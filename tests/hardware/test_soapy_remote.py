"""A radio behind SoapyRemote: a server on loopback over the replay radio, on a message bus of its own."""

import itertools
import os
import socket
import subprocess
import time

import numpy as np
import pytest

from hardware import open_source
from streaming.block import Gap
from tests.replay_radio import need_replay_radio, numbers
from tests.require import need_program


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


class Server:
    """SoapySDRServer, which exits without a message bus."""

    def __init__(self, folder):
        self.port = free_port()
        self.log = open(folder / "server.log", "ab")  # noqa: SIM115 -- closed in `close`
        bus = f"unix:path={folder}/bus"
        command = [need_program("dbus-daemon"), "--session", "--nofork", f"--address={bus}"]
        self.bus = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        self.environment = os.environ | {"DBUS_SYSTEM_BUS_ADDRESS": bus}
        self._until((folder / "bus").exists)
        self.start()

    def start(self):
        command = [need_program("SoapySDRServer"), f"--bind=tcp://127.0.0.1:{self.port}"]
        self.server = subprocess.Popen(
            command, env=self.environment, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL
        )
        self._until(self._answers)

    def _answers(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 0.2).close()
        except OSError:
            return False
        return True

    @staticmethod
    def _until(condition):
        deadline = time.monotonic() + 15
        while not condition():
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def stop(self):
        self.server.kill()
        self.server.wait()

    def close(self):
        self.stop()
        self.bus.kill()
        self.bus.wait()
        self.log.close()


@pytest.fixture
def server(tmp_path):
    need_replay_radio()
    need_program("SoapySDRServer")
    need_program("dbus-daemon")
    server = Server(tmp_path)
    yield server
    server.close()


def address(server, device, binding, options="rate=1M&stream=remote:prot=tcp"):
    remote = f"driver=remote,remote=tcp://127.0.0.1:{server.port},remote:driver=replay"
    return f"soapy:{remote},{device}?{options}&binding={binding}"


@pytest.mark.parametrize("binding", ["python", "ctypes"])
def test_samples_arrive_over_the_network_with_their_gaps(server, binding):
    device = "count=1,time=1,overflow_every=50000,overflow_times=2,overflow_lose=12345"
    with open_source(address(server, device, binding)) as source:
        blocks = list(itertools.islice(source.blocks(), 20))
    for block in blocks:
        assert np.array_equal(numbers(block.samples), np.arange(block.index, block.end))
    gaps = [block.gap for block in blocks if block.gap]
    # SoapyRemote throws the packet away that it was filling: the gap is larger than what the radio lost.
    assert [(gap.reason, gap.exact) for gap in gaps] == [("overflow", True)] * 2
    assert all(12_345 <= gap.samples < 12_345 + 2_000 for gap in gaps)
    assert source.counts.lost == {"overflow": sum(gap.samples for gap in gaps)}


@pytest.mark.parametrize(("binding", "protocol"), [("python", "tcp"), ("ctypes", "tcp"), ("python", "udp")])
def test_a_server_that_dies_and_comes_back_is_streaming_again(server, binding, protocol):
    # Over UDP a dead server is only silent.
    options = f"rate=1M&stream=remote:prot={protocol}"
    with open_source(address(server, "count=1", binding, options)) as source:
        blocks = source.blocks()
        list(itertools.islice(blocks, 5))
        server.stop()
        server.start()
        after = next(block for block in blocks if block.gap)
        assert isinstance(after.gap, Gap)
        assert (after.gap.reason, after.gap.exact) == ("device lost", False)
        assert numbers(after.samples)[0] < 1_000_000  # of the new server
        assert source.counts.events["reopened"] >= 1
