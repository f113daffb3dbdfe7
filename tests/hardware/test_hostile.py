"""Whatever an address, a name, a recording or a message holds: sound blocks, or one clear line."""

import json
import math
import struct
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardware import open_source
from hardware.file_name import read_name
from hardware.gr_tags import Tag, write_header
from hardware.zmq_stream import ZmqStream
from service.storage.database import Database
from streaming.errors import FormatError, WavetellError

SAMPLES = (np.random.default_rng(1).standard_normal(2000).astype("<f4") / 8).tobytes()
HUGE = [2**31, 2**32, 2**53, 2**62, 2**63, 2**64, 2**70, 10**400]
UGLY = (
    st.floats()
    | st.integers()
    | st.sampled_from([*HUGE, *(-number for number in HUGE), 1e-6, 1e300, -0.0, True, None])
    | st.text(st.characters(), max_size=8)
    | st.sampled_from(
        ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2024-13-01T00:00:00Z", "\ud800", "a" * 5000]
    )
)
ANYTHING = st.recursive(
    UGLY,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def assert_sound(block):
    """What everything behind the source relies on, told by plain numbers."""
    assert 1 <= block.rate_hz <= 1e10
    assert block.freq_hz is None or 0 <= block.freq_hz <= 1e12
    assert block.utc_ns is None or 0 <= block.utc_ns < 2**63
    assert 0 <= block.index < 2**63
    assert block.gap is None or 0 < block.gap.samples < 2**63
    if block.gap:
        block.gap.reason.encode()


def assert_refused_or_sound(address):
    """The first blocks of a source, or the one line that it is refused with."""
    try:
        with open_source(address) as source:
            for block in islice(source.blocks(), 3):
                assert_sound(block)
    except WavetellError as error:
        line = str(error)
        assert "\n" not in line
        assert len(line) < 3000
        line.encode()


NAMES = st.sampled_from(
    [
        "rate",
        "freq",
        "offset",
        "snr_db",
        "seed",
        "seconds",
        "start",
        "pace",
        "loop",
        "type",
        "ppm",
        "gain",
        "x",
    ]
)
VALUES = (
    st.floats().map(str)
    | st.integers().map(str)
    | st.sampled_from(
        ["1e300", "1e308G", "inf", "-inf", "nan", "1e-6", "9" * 400, "1e99999", "٣k", "4_8k", "fast", "1"]
    )
    | st.text(max_size=6).map(lambda text: text.replace("&", ""))
)


@given(
    st.sampled_from(["tone", "file", "rtltcp", "zmq", "soapy", "x"]),
    st.sampled_from(["", "127.0.0.1:1", "tcp://127.0.0.1:0", "a" * 300, "x.cu8", "driver=null"])
    | st.text(max_size=9),
    st.dictionaries(NAMES, VALUES, max_size=4),
)
@settings(max_examples=300)
def test_any_address_is_opened_within_its_ranges_or_refused_in_one_line(scheme, target, options):
    if scheme in ("soapy", "zmq") or (scheme == "rtltcp" and target.startswith("1")):
        options["none"] = "1"  # parsed to the end, and no connection is made
    paced = {"pace": "fast"} if scheme == "tone" else {}
    query = "&".join(f"{name}={value}" for name, value in (options | paced).items())
    assert_refused_or_sound(f"{scheme}:{target}?{query}")


KEYS = st.sampled_from([
    "core:sample_rate", "core:frequency", "core:datetime", "core:global_index", "core:sample_start",
    "core:header_bytes", "core:trailing_bytes", "core:datatype", "core:dataset", "core:num_channels",
    "core:sha512", "core:sample_count", "wavetell:gap_reason", "wavetell:gap_exact",
])  # fmt: skip
ENTRIES = st.dictionaries(KEYS, ANYTHING, max_size=3)


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    path = tmp_path_factory.mktemp("pair") / "x.sigmf-meta"
    path.with_suffix(".sigmf-data").write_bytes(SAMPLES)
    return path


@given(
    ENTRIES,
    st.lists(ENTRIES, max_size=3) | ANYTHING,
    st.lists(ENTRIES, max_size=2) | ANYTHING,
    st.sampled_from(["", "?loop=1", "?rate=1", "?start=0.001"]),
)
@settings(max_examples=500)
def test_any_metadata_is_played_within_its_ranges_or_refused_in_one_line(
    pair, info, captures, notes, options
):
    content = {"global": {"core:datatype": "cf32_le", "core:sample_rate": 48e3} | info}
    pair.write_text(json.dumps(content | {"captures": captures, "annotations": notes}))
    assert_refused_or_sound(f"file:{pair}{options}")


DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (DEEP, "nested too deeply"),
        (f'{{"global": {DEEP}, "captures": []}}', "nested too deeply"),
        ('{"global": {}, "captures": {}}', "lists of objects captures and annotations"),
        ('{"global": {}, "captures": [], "annotations": [[]]}', "lists of objects captures and annotations"),
        ("\xff", "cut short or of another kind"),
        (f'{{"global": {{"core:sample_rate": {"9" * 5000}}}, "captures": []}}', "another kind"),
    ],
)
def test_metadata_that_are_no_metadata_are_one_line(pair, text, line):
    pair.write_bytes(text.encode("latin-1"))
    with pytest.raises(FormatError, match=line):
        open_source(f"file:{pair}")


@pytest.mark.parametrize(
    ("info", "capture", "line"),
    [
        ({"core:sample_rate": 1e-6}, {}, "core:sample_rate is 1e-06; it must be a number from 1 to 10G S/s"),
        ({"core:sample_rate": 1e300}, {}, "it must be a number from 1 to 10G S/s"),
        ({"core:sample_rate": math.nan}, {}, "it must be a number from 1 to 10G S/s"),
        ({"core:sample_rate": True}, {}, "it must be a number from 1 to 10G S/s"),
        ({}, {"core:frequency": 1e300}, "core:frequency is 1e[+]300; it must be a number from 0 to 1T Hz"),
        ({}, {"core:frequency": 10**400}, "it must be a number from 0 to 1T Hz"),
        ({}, {"core:datetime": "0001-01-01T00:00:00Z"}, "core:datetime is .* from 1970 to 2116"),
        ({}, {"core:datetime": "9999-12-31T23:59:59Z"}, "core:datetime is .* from 1970 to 2116"),
        ({}, {"core:datetime": 5}, "core:datetime is 5"),
        ({}, {"core:global_index": 2**70}, "core:global_index is"),
        ({}, {"core:global_index": math.inf}, "core:global_index is inf"),
        ({}, {"core:header_bytes": -8}, "core:header_bytes is -8"),
        ({"core:trailing_bytes": -8}, {}, "core:trailing_bytes is -8"),
        ({"core:dataset": ""}, {}, "core:dataset ''"),
        ({"core:dataset": "\ud800"}, {}, "core:dataset"),
        ({"core:datatype": ["cf32_le"]}, {}, "core:datatype a list"),
    ],
)  # fmt: skip
def test_a_number_of_the_metadata_out_of_its_range_is_named(pair, info, capture, line):
    content = {"global": {"core:datatype": "cf32_le", "core:sample_rate": 48e3} | info, "captures": [capture]}
    pair.write_text(json.dumps(content))
    with pytest.raises(FormatError, match=line):
        open_source(f"file:{pair}")


def test_a_recording_whose_gaps_last_longer_than_anything_is_refused(pair):
    captures = [{"core:sample_start": 0}, {"core:sample_start": 500, "core:global_index": 2**60}]
    content = {"global": {"core:datatype": "cf32_le", "core:sample_rate": 48e3}, "captures": captures}
    pair.write_text(json.dumps(content))
    with pytest.raises(FormatError, match="would last longer than 1G s"):
        open_source(f"file:{pair}")


@given(
    st.sampled_from(
        ["gqrx_{}_{}_{}_fc.raw", "SDRSharp_{}Z_{}Hz_{}_IQ.wav", "g_{}_{}M_{}k.cu8", "b_{}_{}GHz_{}Gsps.cs8"]
    ),
    st.from_regex(r"[0-9]{8}_[0-9]{6}", fullmatch=True),
    st.from_regex(r"[0-9]{1,40}", fullmatch=True) | st.just("9" * 400),
    st.from_regex(r"[0-9]{1,40}", fullmatch=True) | st.just("9" * 400),
)
def test_a_name_says_what_is_possible_or_nothing(form, stamp, freq, rate):
    facts = read_name(form.format(stamp, freq, rate))
    assert facts.rate_hz is None or 1 <= facts.rate_hz <= 1e10
    assert facts.freq_hz is None or 0 < facts.freq_hz <= 1e12
    assert facts.utc_ns is None or 0 <= facts.utc_ns < 2**63


WAV = (
    b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0" + struct.pack("<HHIIHH", 3, 2, 48_000, 0, 8, 32)
    + b"auxi" + struct.pack("<I", 36) + bytes(36) + b"data" + struct.pack("<I", len(SAMPLES)) + SAMPLES
)  # fmt: skip


@given(
    st.dictionaries(st.integers(0, 100), st.integers(0, 255), max_size=6),
    st.integers(0, len(WAV)) | st.none(),
)
@settings(max_examples=300)
def test_any_wav_header_is_played_within_its_ranges_or_refused_in_one_line(tmp_path_factory, changes, cut):
    raw = bytearray(WAV)
    for at, value in changes.items():
        raw[at] = value
    path = tmp_path_factory.getbasetemp() / "any.wav"
    path.write_bytes(raw[:cut])
    assert_refused_or_sound(f"file:{path}")


TAGS = st.builds(
    Tag,
    st.integers(0, 2**64 - 1),
    st.sampled_from(["rx_rate", "rx_freq", "rx_time", "x"]),
    st.floats() | st.integers(0, 2**64 - 1) | st.none() | st.booleans() | st.text(max_size=5)
    | st.tuples(st.integers(0, 2**64 - 1) | st.floats(), st.floats() | st.integers(0, 9)),
)  # fmt: skip
MESSAGES = st.builds(
    lambda offset, tags, payload: write_header(offset, tags) + payload,
    st.integers(0, 2**64 - 1),
    st.lists(TAGS, max_size=4),
    st.sampled_from([b"", SAMPLES[:80], SAMPLES[:81]]),
) | st.binary(max_size=200)


@given(st.lists(MESSAGES, max_size=6), st.sampled_from([None, 48e3]))
@settings(max_examples=500)
def test_any_messages_become_blocks_within_their_ranges_or_one_line(messages, rate_hz):
    stream = ZmqStream("zmq:x", rate_hz, None)
    line = ""
    try:
        for now, message in enumerate(messages):
            for block in stream.push(message, float(now)):
                assert_sound(block)
    except FormatError as error:
        line = str(error)
    assert "\n" not in line


def test_what_a_source_gives_fits_into_the_historys_columns(tmp_path):
    """The bound of `INDEX` and `UTC_NS` is SQLite's own, with room for what is added."""
    database = Database(tmp_path / "x.sqlite")
    database.run([("CREATE TABLE t (n BIGINT)", [()]), ("INSERT INTO t VALUES (?)", [(2**63 - 1,)])])
    with pytest.raises(OverflowError):
        database.run([("INSERT INTO t VALUES (?)", [(2**63,)])])
