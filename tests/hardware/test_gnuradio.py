"""A real GNU Radio on the other end of the wire, in both directions."""

import json
import os
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

from hardware import open_source
from hardware.zmq_sink import ZmqSink
from streaming.block import Block
from streaming.errors import DeviceLost
from tests.require import ROOT, need

PACKAGES = ROOT / ".cache/gnuradio/usr/lib/python3/dist-packages"
SIDE = Path(__file__).with_name("gnuradio_side.py")
SUBSCRIBED_S = 0.5  # a PUB does not tell when its SUB is there


@contextmanager
def gnuradio(*arguments):
    """The flowgraph in its own process; gives a function that reads its next line."""
    need(PACKAGES.is_dir(), "GNU Radio (tests/setup_gnuradio.sh)")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ.get("HOME", "/"),
        "PYTHONPATH": str(PACKAGES),
    }
    process = subprocess.Popen(
        ["/usr/bin/python3", str(SIDE), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        yield process
        process.stdin.close()
        assert process.wait(20) == 0
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def endpoint_of(process):
    return process.stdout.readline().strip().replace("0.0.0.0", "127.0.0.1")


def start(process, kind):
    if kind == "sub":
        time.sleep(SUBSCRIBED_S)
    process.stdin.write("\n")
    process.stdin.flush()


@pytest.mark.parametrize("key", ["", "band-1"])
@pytest.mark.parametrize("tags", [True, False])
@pytest.mark.parametrize(("theirs", "ours"), [("pub", "sub"), ("push", "pull")])
def test_no_sample_of_a_flowgraph_is_lost_or_changed(tmp_path, theirs, ours, tags, key):
    if key and theirs == "push":
        return  # a PUSH sink has no key
    count = 400_000
    options = ["--samples", count, "--paced"] + ["--tags"] * tags + ["--key", key] * bool(key)
    with gnuradio("send", theirs, "tcp://127.0.0.1:*", tmp_path / "sent", *options) as process:
        rate = "" if tags else "&rate=1M"
        address = f"zmq:{endpoint_of(process)}?type={ours}&timeout=20{rate}"
        with open_source(address) as source:
            start(process, ours)
            blocks = take(source, count)
    got = np.concatenate([block.samples for block in blocks])
    np.testing.assert_array_equal(got, np.fromfile(tmp_path / "sent", np.complex64))
    assert [block.index for block in blocks] == [0, *np.cumsum([len(b.samples) for b in blocks])[:-1]]
    assert not source.counts.lost
    assert not source.counts.lost_estimated
    assert source.rate_hz == 1e6
    if tags:
        assert source.freq_hz == 433.92e6
        assert blocks[0].utc_ns == 1_700_000_000_250_000_000
        assert blocks[0].clock == "hardware"
    assert source.loss == ("exact" if tags or ours == "pull" else "estimated")


def take(source, count):
    blocks = []
    for block in source.blocks():
        blocks.append(block)
        if block.end >= count:
            break
    return blocks


def test_with_tags_every_lost_sample_is_counted(tmp_path):
    count = 4_000_000
    options = ["--samples", count, "--rate", 2e6, "--tags", "--paced", "--hwm", 4]
    with (
        gnuradio("send", "pub", "tcp://127.0.0.1:*", tmp_path / "sent", *options) as process,
        open_source(f"zmq:{endpoint_of(process)}?timeout=20") as source,
    ):
        start(process, "sub")
        blocks = []
        for block in source.blocks():
            blocks.append(block)
            if len(blocks) == 20:
                time.sleep(1.5)
            if block.end >= count:
                break
    sent = np.fromfile(tmp_path / "sent", np.complex64)
    for block in blocks:
        np.testing.assert_array_equal(block.samples, sent[block.index : block.end])
    lost = source.counts.lost["zmq drop"]
    assert lost > 0
    assert lost + source.counts.samples == count
    assert lost == sum(block.gap.samples for block in blocks if block.gap)
    assert source.loss == "exact"


@pytest.mark.acceptance
def test_without_tags_the_loss_is_estimated_and_marked_so(tmp_path):
    count = 8_000_000
    options = ["--samples", count, "--rate", 1e6, "--paced", "--hwm", 4]
    with (
        gnuradio("send", "pub", "tcp://127.0.0.1:*", tmp_path / "sent", *options) as process,
        open_source(f"zmq:{endpoint_of(process)}?rate=1M&timeout=3") as source,
    ):
        start(process, "sub")
        gaps, slept = [], False
        with suppress(DeviceLost):
            for block in source.blocks():
                gaps += [block.gap] if block.gap else []
                if block.index > 2_000_000 and not slept:
                    slept = True
                    time.sleep(3)
    lost = count - source.counts.samples
    assert lost > 500_000
    assert source.counts.lost_estimated["zmq drop"] == pytest.approx(lost, rel=0.05)
    assert not source.counts.lost
    assert all(not gap.exact for gap in gaps)


@pytest.mark.parametrize("tags", [True, False])
@pytest.mark.parametrize(("ours", "theirs"), [("pub", "sub"), ("push", "pull")])
def test_a_flowgraph_reads_what_we_send(tmp_path, ours, theirs, tags):
    start_ns = 1_700_000_000_250_000_000
    samples = np.random.default_rng(1).standard_normal(400_000).astype(np.float32).view(np.complex64)
    with ZmqSink("tcp://127.0.0.1:*", ours, tags) as sink:
        options = ["--samples", len(samples), *["--tags"] * tags]
        with gnuradio("receive", theirs, sink.endpoint, tmp_path / "got", *options) as process:
            assert process.stdout.readline() == "ready\n"
            assert sink.wait_for_reader(20)
            for index in range(0, len(samples), 10_000):
                piece = samples[index : index + 10_000]
                sink.push(Block(piece, index, 1e6, 433.92e6, start_ns + 1000 * index, "recording"))
                time.sleep(0.005)
            process.stdin.write("\n")
            process.stdin.flush()
            seen = json.loads(process.stdout.readline())
    np.testing.assert_array_equal(np.fromfile(tmp_path / "got", np.complex64), samples)
    expected = [(0, "rx_rate", "1e+06"), (0, "rx_freq", "4.3392e+08"), (0, "rx_time", "{1700000000 0.25}")]
    assert [tuple(tag) for tag in seen] == (expected if tags else [])
