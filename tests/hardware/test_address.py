"""Addresses: one string, and one clear line where it is wrong."""

import pytest

from hardware import open_source
from hardware.address import parse_address, parse_number, source_address
from streaming.checked import Range
from streaming.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "number"), [("250k", 250e3), ("433.92M", 433_920_000), ("2.4G", 2.4e9), ("-10k", -1e4), ("7", 7)]
)
def test_numbers_take_metric_suffixes(text, number):
    assert parse_number(text, Range(-1e12, 1e12), "it") == number


@pytest.mark.parametrize(
    "text", ["", "k", "1kk", "1m", "nan", "inf", "1e400", "1_0", "٣", " 1", "1e99999", "1T1"]
)
def test_what_is_no_number_is_refused(text):
    with pytest.raises(ConfigError, match="must be"):
        parse_number(text, Range(-1e12, 1e12), "it")


def test_the_parts_of_an_address():
    address = parse_address("zmq:tcp://127.0.0.1:5555?rate=250k&key=a%26b")
    assert (address.scheme, address.target) == ("zmq", "tcp://127.0.0.1:5555")
    assert address.options.values == {"rate": "250k", "key": "a&b"}


@pytest.mark.parametrize(
    ("address", "line"),
    [
        ("", "has no scheme"),
        ("capture.cu8", "has no scheme; write for example file:capture.cu8"),
        ("fiel:capture.cu8", "has scheme 'fiel'; it must be one of"),
        ("file:capture.cu8?rate", "must be written name=value"),
        ("file:capture.cu8?rate=1k&rate=2k", "given twice"),
        (
            "file:capture.cu8?rate=-1",
            "option rate of source file:capture.cu8 is '-1'; it must be from 1 to 10G",
        ),
        ("file:capture.cu8?start=1e300", "it must be from 0 to 1G s"),
        ("file:a\x00b", "it must be at most 2,000 printable characters"),
        ("zmq:tcp://127.0.0.1:5555?key=%00", "must be printable characters"),
        ("tone:?freq=1e300", "option freq of source tone: is '1e300'; it must be from 0 to 1T Hz"),
        ("tone:?freq=1e308G", "it must be from 0 to 1T Hz"),
        ("tone:?rate=1e308G", "it must be from 1 to 10G S/s"),
        ("tone:?rate=1e-6", "it must be from 1 to 10G S/s"),
        ("tone:?seconds=inf", "it must be a number from 1e-06 to 1G s"),
        ("tone:?snr_db=-1e6", "option snr_db of source tone: is '-1e6'; it must be from -100 to 200 dB"),
        ("tone:?seed=1e300", "it must be from 0 to 9.00719925474e+15"),
        ("rtltcp:127.0.0.1:1?ppm=1e300", "it must be from -10k to 10k ppm"),
        ("rtltcp:127.0.0.1:99999", "it must be a port from 1 to 65535"),
        (f"rtltcp:127.0.0.1:{'9' * 100}", "it must be a port from 1 to 65535"),
        ("rtltcp:.", "the host of source rtltcp:. is '.'; it must be a host such as 127.0.0.1"),
        ("rtltcp:a..b:1234", "it must be a host such as 127.0.0.1"),
        (f"rtltcp:{'a' * 64}", "it must be a host such as 127.0.0.1"),
        ("zmq:tcp://a..b:5555", "the host of source zmq:tcp://a..b:5555 is 'a..b'; it must be a host"),
        (f"zmq:tcp://{'a' * 300}:5555", "it must be a host such as 127.0.0.1"),
        ("zmq:tcp://127.0.0.1:0", "the port of source zmq:tcp://127.0.0.1:0 is '0'; it must be a port"),
        ("zmq:tcp://127.0.0.1:99999", "it must be a port from 1 to 65535"),
        (f"zmq:tcp://127.0.0.1:{'9' * 100}", "it must be a port from 1 to 65535"),
        ("soapy:driver=null?channel=1e30", "it must be from 0 to 1023"),
        ("soapy:driver=null?channel=1.5", "it must be a whole number from 0 to 1023"),
        ("soapy:driver=null?ppm=inf", "it must be a number from -10k to 10k ppm"),
        ("file:capture.cu8?pace=slow", "it must be fast or realtime"),
        ("file:capture.cu8?lop=1", "did you mean loop?"),
        ("zmq:tcp:/127.0.0.1:5555", "not an endpoint that ZMQ can use"),
        ("zmq:tcp://127.0.0.1:5555?type=pub", "it must be sub or pull"),
        ("tone:?offset=200k&rate=250k", "within half the rate"),
        ("tone:?seed=1.5", "whole number"),
    ],
)
def test_a_wrong_address_is_one_clear_line(address, line):
    with pytest.raises(ConfigError) as error:
        open_source(address)
    assert line in str(error.value)
    assert "\n" not in str(error.value)


def test_a_path_stands_for_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "odd:name.cu8").touch()
    assert source_address("odd:name.cu8?rate=1k") == "file:odd:name.cu8?rate=1k"
    assert source_address("/a/b.wav") == "file:/a/b.wav"
    assert source_address("cs16:b.bin") == "file:cs16:b.bin"
    assert source_address("soapy:driver=rtlsdr?rate=1M") == "soapy:driver=rtlsdr?rate=1M"
    assert source_address("fiel:b.bin") == "fiel:b.bin"
