"""ZMQ in GNU Radio's framing: detection, tags, gaps, keys, and messages that are wrong."""

import itertools
import struct
import subprocess
import sys
import time

import numpy as np
import pytest
import zmq

from hardware import open_source
from hardware.gr_tags import Tag, parse_header, write_header
from hardware.zmq_sink import ZmqSink
from hardware.zmq_stream import ZmqStream
from streaming.block import Block, Gap
from streaming.errors import ConfigError, DeviceLost, FormatError, SourceError
from tests.require import ROOT

SAMPLES = (np.random.default_rng(1).standard_normal(20_000).astype(np.float32)).view(np.complex64)
# As pmt.serialize_str of GNU Radio 3.10.5 gives them.
PMTS = {
    "00": True,
    "01": False,
    "0200026162": "ab",
    "03fffffff9": -7,
    "0d0000010000000000": 1 << 40,
    "043ff8000000000000": 1.5,
    "053ff00000000000004000000000000000": 1 + 2j,
    "06": None,
    "07030000000106": (1, None),
    "0b0000000000000007": 7,
    "0c000000020b0000000000000001043fe0000000000000": (1, 0.5),
    "08000000020000": (True, True),
    "090702000162044014000000000000090702000161030000000506": (("b", 5.0), (("a", 5), None)),
    "0a00000000030100010203": b"\1\2\3",
    "0a03000000030100000100020003": b"\0\1\0\2\0\3",
    "0a090000000101003ff8000000000000": struct.pack(">d", 1.5),
}


@pytest.mark.parametrize(("text", "value"), PMTS.items())
def test_every_pmt_of_gnuradio_is_read(text, value):
    header = struct.pack("<HBQQ", 0x5FF0, 1, 99, 1) + struct.pack("<Q", 100)
    message = header + bytes.fromhex("020003" + b"key".hex() + text + "01") + bytes(16)
    parsed = parse_header(message)
    assert parsed.tags == [Tag(100, "key", value)]
    assert parsed.size == len(message) - 16


def test_written_tags_are_bytes_of_gnuradio():
    written = write_header(99, [Tag(100, "ab", 1.5), Tag(101, "ab", (1, 0.5))])
    first = "6400000000000000" + "0200026162" + "043ff8000000000000" + "01"
    second = "6500000000000000" + "0200026162" + "0c000000020b0000000000000001043fe0000000000000" + "01"
    assert written.hex() == "f05f01" + "6300000000000000" + "0200000000000000" + first + second


@pytest.mark.parametrize("cut", [20, 30, 40, 45])
def test_a_header_cut_short_is_told(cut):
    with pytest.raises(FormatError, match="header whose tags cannot be read"):
        parse_header(
            write_header(0, [Tag(0, "rx_rate", 1.0), Tag(0, "x", (1, 2.0))])[:cut] + b"\xff" * (cut % 8 == 0)
        )


def test_samples_that_begin_like_a_header_are_samples():
    raw = struct.pack("<HB", 0x5FF0, 1) + b"\x99" * 37
    assert parse_header(raw) is None


def test_nested_pmts_cannot_exhaust_the_stack():
    raw = struct.pack("<HBQQQ", 0x5FF0, 1, 0, 1, 0) + b"\x07" * 100_001
    with pytest.raises(FormatError, match="nested deeper"):
        parse_header(raw)


def stream(rate_hz=None):
    return ZmqStream("here", rate_hz, None)


def message(offset, count, *tags):
    return write_header(offset, list(tags)) + SAMPLES[:count].tobytes()


def test_offsets_tell_the_gap():
    one = stream(1e6)
    assert [(b.index, b.gap) for b in one.push(message(700, 100), 0)] == [(0, None)]
    assert [(b.index, b.gap) for b in one.push(message(800, 100), 0)] == [(100, None)]
    assert [(b.index, b.gap) for b in one.push(message(950, 100), 0)] == [(250, Gap(50, "zmq drop", True))]


def test_a_sender_that_starts_again_leaves_an_estimated_gap():
    one = stream(1e6)
    list(one.push(message(700, 100), 10.0))
    (block,) = one.push(message(0, 100), 12.0)
    assert (block.index, block.gap) == (2_000_100, Gap(2_000_000, "sender restarted", False))
    (block,) = one.push(message(100, 100), 12.0)
    assert (block.index, block.gap) == (2_000_200, None)


def test_a_late_rx_time_is_an_overflow_of_the_radio():
    one = stream(1e6)
    list(one.push(message(0, 1000, Tag(0, "rx_time", (1_700_000_000, 0.5))), 0))
    late = Tag(1500, "rx_time", (1_700_000_000, 0.5015 + 0.000321))
    first, second = one.push(message(1000, 1000, late), 0)
    assert (first.index, first.end, first.gap) == (1000, 1500, None)
    assert (second.index, second.gap) == (1821, Gap(321, "overflow", True))
    assert abs(second.utc_ns - 1_700_000_000_501_821_000) <= 1
    (third,) = one.push(message(2000, 10), 0)
    assert (third.index, third.gap) == (2321, None)


def test_a_change_of_frequency_cuts_the_block():
    one = stream()
    tags = [Tag(0, "rx_rate", 1e6), Tag(0, "rx_freq", 1e8), Tag(40, "rx_freq", 2e8), Tag(60, "other", "x")]
    assert [(b.index, len(b.samples), b.freq_hz) for b in one.push(message(0, 100, *tags), 0)] == [
        (0, 40, 1e8),
        (40, 60, 2e8),
    ]


def test_the_user_knows_the_rate_better_than_a_tag():
    one = stream(250e3)
    (block,) = one.push(message(0, 100, Tag(0, "rx_rate", 1e6)), 0)
    assert block.rate_hz == 250e3


def test_without_a_rate_there_is_no_stream():
    with pytest.raises(FormatError, match=r"did not say its rate \(a tag rx_rate\); add rate="):
        list(stream().push(SAMPLES.tobytes(), 0))


def test_who_joins_late_begins_where_the_rate_is_said_again():
    one = stream()
    assert list(one.push(message(1000, 100), 0.0)) == []
    (block,) = one.push(message(1100, 100, Tag(1160, "rx_rate", 1e6)), 0.1)
    assert (block.index, len(block.samples), block.gap) == (0, 40, None)
    (block,) = one.push(message(1200, 100), 0.2)
    assert (block.index, block.gap) == (40, None)


def test_a_sender_with_tags_that_never_says_its_rate_is_named():
    one = stream()
    assert list(one.push(message(0, 100), 0.0)) == []
    with pytest.raises(FormatError, match="did not say its rate"):
        list(one.push(message(100, 100), 5.0))


@pytest.mark.parametrize("raw", [bytes(13), message(0, 10) + b"abc"])
def test_a_length_that_is_no_multiple_of_8_is_named(raw):
    with pytest.raises(FormatError, match=r"a message with (13|83) bytes .*no multiple of 8"):
        list(stream(1e6).push(raw, 0))


@pytest.fixture
def push():
    """A PUSH socket: it waits for its reader, so nothing depends on time."""
    with zmq.Context() as context, context.socket(zmq.PUSH) as socket:
        socket.linger = 0
        socket.bind("tcp://127.0.0.1:*")
        yield socket


def address_of(socket, options="rate=1M"):
    return f"zmq:{socket.getsockopt_string(zmq.LAST_ENDPOINT)}?type=pull&timeout=10&{options}"


def collect(source, count):
    blocks = []
    for block in source.blocks():
        blocks.append(block)
        if block.end >= count:
            return blocks
    raise AssertionError("it ended")


def test_any_length_of_messages_gives_the_same_samples(push):
    with open_source(address_of(push)) as source:
        cuts = [0, 1, 3, 8, 4104, 9000, 10_000]
        for start, end in itertools.pairwise(cuts):
            push.send(SAMPLES[start:end].tobytes())
        blocks = collect(source, 10_000)
    np.testing.assert_array_equal(np.concatenate([block.samples for block in blocks]), SAMPLES)
    assert blocks[0].clock == "host"
    assert abs(blocks[0].utc_ns - time.time_ns()) < 60e9


def test_tags_may_begin_and_end_while_it_runs(push):
    with open_source(address_of(push)) as source:
        for part in (SAMPLES[:100].tobytes(), message(100, 100), SAMPLES[:100].tobytes()):
            push.send(part)
        assert collect(source, 300)[-1].end == 300


def test_two_streams_with_different_keys_are_not_mixed(push):
    with open_source(address_of(push)) as source:
        push.send_multipart([b"a", SAMPLES.tobytes()])
        push.send_multipart([b"b", SAMPLES.tobytes()])
        with pytest.raises(FormatError, match="sends the keys b'a' and b'b'; choose one with key="):
            collect(source, 20_000)


def test_only_messages_with_the_key_are_taken(push):
    with open_source(address_of(push, "rate=1M&key=b")) as source:
        for key in (b"a", b"b", b"bb", b"b"):
            push.send_multipart([key, SAMPLES.tobytes()])
        collect(source, 20_000)
        assert source.counts.samples == 20_000


def test_silence_is_told_after_the_timeout(push):
    address = address_of(push).replace("timeout=10", "timeout=0.2")
    with open_source(address) as source, pytest.raises(DeviceLost, match=r"silent for 0\.2 s"):
        next(source.blocks())


def test_a_sub_may_bind_and_a_port_in_use_is_told():
    with open_source("zmq:tcp://127.0.0.1:*?bind=1&rate=1M") as source:
        endpoint = source._socket.getsockopt_string(zmq.LAST_ENDPOINT)
        with pytest.raises(SourceError, match="in use"):
            open_source(f"zmq:{endpoint}?bind=1&rate=1M")
        with zmq.Context() as context, context.socket(zmq.XPUB) as pub:
            pub.connect(endpoint)
            while not pub.poll(20):
                source._socket.poll(20)  # a SUB subscribes only while it is used
            assert pub.recv() == b"\x01"
            pub.send(SAMPLES.tobytes())
            np.testing.assert_array_equal(next(source.blocks()).samples, SAMPLES)


def test_a_sink_that_cannot_bind_says_so():
    with pytest.raises(ConfigError, match="cannot be bound"):
        ZmqSink("tcp:/nonsense")


def test_gaps_and_retuning_go_over_the_wire():
    with (
        ZmqSink("tcp://127.0.0.1:*", "push", tags=True) as sink,
        open_source(f"zmq:{sink.endpoint}?type=pull&timeout=10") as source,
    ):
        sink.push(Block(SAMPLES[:100], 0, 250e3, 1e8))
        sink.push(Block(SAMPLES[100:200], 150, 250e3, 1e8))
        sink.push(Block(SAMPLES[200:300], 250, 250e3, 2e8))
        blocks = collect(source, 350)
    assert [(block.index, block.freq_hz, block.gap) for block in blocks] == [
        (0, 1e8, None),
        (150, 1e8, Gap(50, "zmq drop", True)),
        (250, 2e8, None),
    ]
    assert source.counts.lost == {"zmq drop": 50}


@pytest.mark.parametrize("options", [[], ["--tags"], ["--push"], ["--push", "--tags", "--key", "k"]])
def test_the_replay_command_sends_a_recording(tmp_path, options):
    SAMPLES.tofile(tmp_path / "x_433.92M_250k.cf32")
    command = [sys.executable, "-c", "from service.cli import main; raise SystemExit(main())", "replay"]
    with subprocess.Popen(
        [*command, str(tmp_path / "x_433.92M_250k.cf32"), "--zmq", "tcp://127.0.0.1:*", *options],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        said = process.stderr.readline()
        assert "433.92 MHz" in said
        kind = "pull" if "--push" in options else "sub"
        with open_source(f"zmq:{said.split()[-1]}?type={kind}&rate=250k&timeout=20") as source:
            blocks = collect(source, 10_000)
        assert process.wait(20) == 0
    np.testing.assert_array_equal(np.concatenate([block.samples for block in blocks]), SAMPLES)
    assert source.freq_hz == (433.92e6 if "--tags" in options else None)
