"""What is fed with anything: each takes bytes, and either what comes of them is sound or they are refused.

A target has seeds, good inputs that the edits begin with, and a check, which raises whatever is not the one
line of a `WavetellError`.
"""

import hashlib
import json
import socket
import struct
import tempfile
import threading
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
from safetensors import deserialize

from hardware import open_source
from hardware.address import parse_address, source_address
from hardware.gr_tags import Tag, parse_header, write_header
from hardware.recorder import padding, tar_header
from hardware.zmq_stream import ZmqStream
from service.settings import check, read_toml
from service.sinks import webhook
from service.sinks.mqtt import open as open_mqtt
from streaming.bundle import parse_bundle
from streaming.errors import WavetellError
from tests.hardware.test_hostile import WAV, assert_refused_or_sound, assert_sound
from tests.service.conftest import level_bundle, small_bundle
from tests.training.federation.support import SHAPES, a_model
from training.federation.codec import Body, encode
from training.federation.manifest import PRECISIONS, Manifest

SAMPLES = (np.random.default_rng(1).standard_normal(2000).astype("<f4") / 8).tobytes()
META = json.dumps(
    {
        "global": {"core:datatype": "cf32_le", "core:sample_rate": 48e3, "core:trailing_bytes": 0},
        "captures": [
            {"core:sample_start": 0, "core:frequency": 433.92e6, "core:datetime": "2024-01-31T18:45:00.5Z"},
            {"core:sample_start": 500, "core:global_index": 900, "wavetell:gap_reason": "overflow"},
        ],
        "annotations": [{"core:sample_start": 10, "core:sample_count": 100, "core:label": "a"}],
    }
).encode()


@dataclass(frozen=True)
class Target:
    """Good inputs, and what must hold for any."""

    seeds: list[bytes]
    check: object  # called with bytes


def refused_in_one_line(act):
    """Run it; the only error is one line that can be shown."""
    try:
        act()
    except WavetellError as error:
        line = str(error)
        assert "\n" not in line
        line.encode()


@cache
def folder():
    """Where files are put, for this process."""
    return Path(tempfile.mkdtemp(prefix="wavetell-fuzz-"))


def put(name, raw):
    path = folder() / name
    path.write_bytes(raw)
    return path


@cache
def bundles():
    made = []
    for bundle in (small_bundle(), level_bundle()):
        bundle.save(folder() / "seed.safetensors")
        made.append((folder() / "seed.safetensors").read_bytes())
    return made


def description(raw):
    length = int.from_bytes(raw[:8], "little")
    return json.loads(raw[8 : 8 + length])["__metadata__"]["wavetell"].encode()


def check_bundle(raw):
    refused_in_one_line(lambda: parse_bundle(raw, "x"))


def check_description(raw):
    """A description that is anything, with hashes that fit."""
    whole = bundles()[1]
    length = int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8 : 8 + length])
    text = raw.decode(errors="replace")
    with suppress(ValueError, RecursionError, TypeError, AttributeError):
        about = json.loads(text)
        about.pop("description_sha256", None)
        plain = json.dumps(about, sort_keys=True, separators=(",", ":"))
        about["description_sha256"] = hashlib.sha256(plain.encode()).hexdigest()
        text = json.dumps(about)
    header["__metadata__"]["wavetell"] = text
    written = json.dumps(header).encode()
    check_bundle(struct.pack("<Q", len(written)) + written + whole[8 + length :])


def check_sigmf(raw):
    put("x.sigmf-data", SAMPLES)
    for options in ("", "?loop=1", "?start=0.001"):
        assert_refused_or_sound(f"file:{put('x.sigmf-meta', raw)}{options}")


def sigmf_archive():
    parts = [(f"x/x.{kind}", raw) for kind, raw in (("sigmf-data", SAMPLES), ("sigmf-meta", META))]
    return b"".join(tar_header(n, len(r)) + r + padding(len(r)) for n, r in parts) + bytes(1024)


def check_archive(raw):
    assert_refused_or_sound(f"file:{put('x.sigmf', raw)}")


def check_wav(raw):
    assert_refused_or_sound(f"file:{put('x.wav', raw)}")


TAGGED = write_header(7, [Tag(7, "rx_rate", 48e3), Tag(7, "rx_freq", 1e8), Tag(9, "rx_time", (3, 0.5))])


def check_zmq(raw):
    """Messages one after the other, each with its length before it."""
    stream, now = ZmqStream("zmq:x", None if raw[:1] == b"\0" else 48e3, None), 0.0
    position = 1

    def push():
        nonlocal position, now
        while position < len(raw):
            size = int.from_bytes(raw[position : position + 2], "little")
            for block in stream.push(raw[position + 2 : position + 2 + size], now):
                assert_sound(block)
            position, now = position + 2 + size, now + 1

    refused_in_one_line(push)


def messages(*each):
    return b"\1" + b"".join(struct.pack("<H", len(message)) + message for message in each)


def check_pmt(raw):
    refused_in_one_line(lambda: parse_header(raw))


def check_rtltcp(raw):
    """A server that greets with this, sends the rest, and hangs up."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        port = listener.getsockname()[1]

        def serve():
            with suppress(OSError):
                connection, _ = listener.accept()
                with connection:
                    connection.sendall(raw)
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(4096):
                        pass

        server = threading.Thread(target=serve, daemon=True)
        server.start()

        def read():
            with open_source(f"rtltcp:127.0.0.1:{port}?rate=250k") as source:
                for block in islice(source.blocks(), 1 if len(raw) > 14 else 0):
                    assert_sound(block)

        refused_in_one_line(read)
        server.join(10)


ADDRESSES = [
    b"soapy:driver=rtlsdr?freq=433.92M&rate=1.024M&gain=LNA:20,VGA:10&ppm=-3&channel=1&settings=a=b",
    b"zmq:tcp://127.0.0.1:5555?rate=250k&type=pull&bind=1&key=a%26b&timeout=3",
    b"rtltcp:[::1]:1234?freq=1G&agc=1&silence=2",
    b"file:cs16:capture_433.92M_250k.cs16?pace=realtime&loop=1&start=0.5",
    b"tone:?offset=10k&rate=250k&snr_db=10&seed=3&seconds=1e-3&pace=fast",
]


def check_address(raw):
    text = raw.decode(errors="surrogateescape")
    refused_in_one_line(lambda: parse_address(source_address(text)) if "\0" not in text else None)
    # One option that no source has: it is parsed to the end, and nothing is opened.
    address = text if text.startswith("tone:") and "pace=fast" in text else f"{text}&none=1"
    if not text.startswith("file:/"):
        assert_refused_or_sound(address)


def check_settings(raw):
    path = put("wavetell.toml", raw)

    def read():
        for name, value in read_toml(path).items():
            check(name, value, "here")

    refused_in_one_line(read)


def check_sinks(raw):
    text = raw.decode(errors="surrogateescape")
    for open_sink in (open_mqtt, webhook.open):
        refused_in_one_line(lambda opened=open_sink: opened(text).release())


def check_federation(raw):
    precision = PRECISIONS[raw[0] % len(PRECISIONS)] if raw else "float32"
    body = put("body", raw[1:])
    refused_in_one_line(lambda: Body.open(body, Manifest("main", SHAPES), precision).check_values())


def bodies():
    return [
        bytes([i]) + encode(a_model(), precision, {"base": "x"}) for i, precision in enumerate(PRECISIONS)
    ]


def targets():
    """Every target of one process."""
    deserialize(bundles()[0])  # the seeds are what others read, too
    return {
        "bundle": Target(bundles(), check_bundle),
        "description": Target([description(raw) for raw in bundles()], check_description),
        "sigmf": Target([META], check_sigmf),
        "archive": Target([sigmf_archive()], check_archive),
        "wav": Target([WAV], check_wav),
        "zmq": Target([messages(TAGGED + SAMPLES[:80], SAMPLES[:160], TAGGED)], check_zmq),
        "pmt": Target([TAGGED, write_header(1, [Tag(1, "x", (True, None, "a", 2**64 - 1))])], check_pmt),
        "rtltcp": Target([b"RTL0\0\0\0\5\0\0\0\x1d" + SAMPLES[:4000]], check_rtltcp),
        "address": Target(ADDRESSES, check_address),
        "settings": Target(
            [b'port = 8433\nmodel = "radio"\nsinks = "stdout"\nring_s = 30\n'], check_settings
        ),
        "sinks": Target([b"mqtt://a:b@127.0.0.1:1883/p?discovery=x", b"https://x.org:1/y?z=1"], check_sinks),
        "federation": Target(bodies(), check_federation),
    }
