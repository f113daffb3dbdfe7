"""What every source promises, whatever stands behind it. A new source adds one rig here."""

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pytest
import sigmf
import zmq

from hardware import SCHEMES, open_source
from hardware.zmq_sink import ZmqSink
from streaming.block import Block
from streaming.errors import ConfigError, WavetellError
from tests.hardware.test_rtltcp import RATE as RTL_RATE
from tests.hardware.test_rtltcp import Server
from tests.replay_radio import need_replay_radio

HANGS_S = 30.0  # a reader that has not ended by then waits for samples that never come
serials = itertools.count(900)


@dataclass
class Rig:
    """Addresses of one kind of source."""

    address: str  # delivers for as long as the test wants
    silent: str  # `blocks` waits for long
    bad: str  # nothing is there, or it is written wrong
    ends: str | None = None  # ends after 50,000 samples
    gap: str | None = None  # loses 1234 samples and says so exactly


@contextmanager
def file_rig(folder) -> Iterator[Rig]:
    samples = np.zeros(50_000, np.complex64)
    samples.tofile(folder / "x_433.92M_1000k.cf32")
    meta = sigmf.SigMFFile(global_info={"core:datatype": "cf32_le", "core:sample_rate": 1e6})
    meta.add_capture(0, {"core:global_index": 0})
    meta.add_capture(20_000, {"core:global_index": 21_234})
    samples.tofile(folder / "gap.sigmf-data")
    (folder / "gap.sigmf-meta").write_text(meta.dumps())
    path = f"file:{folder}/x_433.92M_1000k.cf32"
    yield Rig(
        f"{path}?loop=1",
        f"{path}?pace=realtime&rate=1",
        "file:/nowhere.cu8",
        path,
        f"file:{folder}/gap.sigmf-meta",
    )


@contextmanager
def tone_rig(folder) -> Iterator[Rig]:
    ends = "tone:?rate=1M&pace=fast&seconds=0.05"
    yield Rig("tone:?rate=1M&snr_db=20", "tone:?rate=1", "tone:somewhere?rate=1M", ends)


def zmq_rig(kind: str, tags: bool) -> Callable[[object], object]:
    @contextmanager
    def rig(folder) -> Iterator[Rig]:
        stop = threading.Event()
        sinks = [ZmqSink("tcp://127.0.0.1:*", kind, tags) for _ in range(2)]
        quiet = ZmqSink("tcp://127.0.0.1:*", kind, tags)

        def send(sink: ZmqSink, lose: int) -> None:
            # A PUSH that waits for its reader could not be stopped.
            sink._socket.sndtimeo = 100
            index = 0
            while not stop.wait(0.002):
                index += lose if index == 20_000 else 0
                try:
                    sink.push(Block(np.zeros(2000, np.complex64), index, 1e6))
                    index += 2000
                except zmq.Again:  # the reader is not there: the same block again
                    continue

        threads = [threading.Thread(target=send, args=pair) for pair in zip(sinks, (0, 1234), strict=True)]
        options = f"?type={ {'pub': 'sub', 'push': 'pull'}[kind] }&rate=1M"
        for thread in threads:
            thread.start()
        try:
            addresses = [f"zmq:{sink.endpoint}{options}" for sink in (*sinks, quiet)]
            gap = addresses[1] if tags and kind == "push" else None
            yield Rig(addresses[0], addresses[2], "zmq:tcp//127.0.0.1:1?rate=1M", gap=gap)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
            for sink in (*sinks, quiet):
                sink.close(0)

    return rig


def soapy_rig(binding: str) -> Callable[[object], object]:
    @contextmanager
    def rig(folder) -> Iterator[Rig]:
        need_replay_radio()

        def address(device: str) -> str:
            device = f"driver=replay,serial={next(serials)},buffer=60{device}"
            return f"soapy:{device}?rate=1M&binding={binding}"

        yield Rig(
            address(""),
            address(",lose_after=1,lose_how=silence") + "&silence=60",
            "soapy:driver=nosuch?rate=1M",
            gap=address(",time=1,overflow_every=20000,overflow_lose=1234"),
        )

    return rig


@contextmanager
def rtltcp_rig(folder) -> Iterator[Rig]:
    server, stalled = Server(), Server()
    stalled.stalled.set()
    addresses = [f"rtltcp:127.0.0.1:{one.port}?rate={RTL_RATE}" for one in (server, stalled)]
    try:
        yield Rig(addresses[0], addresses[1] + "&silence=60", "rtltcp:127.0.0.1:nonsense")
    finally:
        server.close()
        stalled.close()


RIGS = {
    "file": file_rig,
    "tone": tone_rig,
    "zmq sub": zmq_rig("pub", False),
    "zmq sub with tags": zmq_rig("pub", True),
    "zmq pull": zmq_rig("push", False),
    "zmq pull with tags": zmq_rig("push", True),
    "soapy by its binding": soapy_rig("python"),
    "soapy by ctypes": soapy_rig("ctypes"),
    "rtltcp": rtltcp_rig,
}


@pytest.fixture(params=RIGS)
def rig(request, tmp_path):
    with RIGS[request.param](tmp_path) as made:
        yield made


def take(source, samples) -> list[Block]:
    blocks = []
    for block in source.blocks():
        blocks.append(block)
        if block.end >= samples:
            break
    return blocks


def test_every_scheme_has_a_rig():
    assert {name.split()[0] for name in RIGS} == set(SCHEMES)


def test_indices_are_contiguous_and_everything_is_counted(rig):
    with open_source(rig.address) as source:
        blocks = take(source, 60_000)
        assert source.rate_hz == blocks[-1].rate_hz > 0
        assert source.loss in ("exact", "estimated", "undetectable")
        assert source.counts.samples == sum(len(block.samples) for block in blocks)
    assert blocks[0].index == 0
    for before, after in itertools.pairwise(blocks):
        assert after.index == before.end + (after.gap.samples if after.gap else 0)
    for block in blocks:
        assert block.samples.dtype == np.complex64
        assert block.samples.ndim == 1
        assert len(block.samples) > 0
        assert block.samples.flags.aligned


def test_blocks_do_not_share_memory(rig):
    with open_source(rig.address) as source:
        first, second = itertools.islice(source.blocks(), 2)
        assert not np.shares_memory(first.samples, second.samples)


@pytest.mark.parametrize(
    "rig", ["file", "zmq pull with tags", "soapy by its binding", "soapy by ctypes"], indirect=True
)
def test_a_gap_is_where_the_index_jumps_and_is_counted(rig):
    with open_source(rig.gap) as source:
        blocks = take(source, 50_000)
    gaps = [(before.end, after) for before, after in itertools.pairwise(blocks) if after.gap]
    assert [(end, after.index, after.gap.samples, after.gap.exact) for end, after in gaps][:1] == [
        (20_000, 21_234, 1234, True)
    ]
    assert sum(source.counts.lost.values()) == sum(after.gap.samples for _, after in gaps)
    assert source.loss == "exact"


@pytest.mark.parametrize("rig", ["file", "tone"], indirect=True)
def test_the_end_is_the_end(rig):
    with open_source(rig.ends) as source:
        assert sum(len(block.samples) for block in source.blocks()) == 50_000
        assert source.counts.samples == 50_000
        assert not source.counts.lost


def test_close_ends_blocks_that_wait(rig):
    source = open_source(rig.silent)
    reader = threading.Thread(target=lambda: list(itertools.islice(source.blocks(), 10**6)))
    reader.start()
    time.sleep(0.2)
    source.close()
    reader.join(HANGS_S)
    assert not reader.is_alive()


def test_close_ends_blocks_that_flow(rig):
    source = open_source(rig.address)
    seen = []
    reader = threading.Thread(target=lambda: seen.extend(len(block.samples) for block in source.blocks()))
    reader.start()
    while not seen and reader.is_alive():
        time.sleep(0.01)
    source.close()
    reader.join(HANGS_S)
    assert not reader.is_alive()
    assert seen


def test_close_twice_and_blocks_after_it(rig):
    source = open_source(rig.address)
    source.close()
    source.close()
    assert list(source.blocks()) == []


def test_it_opens_again(rig):
    for _ in range(2):
        with open_source(rig.address) as source:
            assert next(source.blocks()).index == 0
            assert source.address == rig.address


def test_a_bad_address_is_one_line(rig):
    with pytest.raises(WavetellError) as error:
        open_source(rig.bad)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) > 10


def test_an_option_with_a_typo_is_named(rig):
    with pytest.raises(ConfigError, match=r"no option 'raet'; did you mean rate\?"):
        open_source(rig.address + "&raet=1M")


def test_an_option_that_is_no_number_is_named(rig):
    address = rig.address.partition("?")[0]
    with pytest.raises(ConfigError, match=r"option rate of .* is 'fast'; it must be a number"):
        open_source(f"{address}?rate=fast")
