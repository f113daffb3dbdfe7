"""`wavetell devices`: what is there, what it can do, and what to do when nothing is."""

import json

import pytest

from hardware import open_source
from hardware.devices import find_devices
from service.cli import main
from streaming.errors import SourceError
from tests.replay_radio import need_replay_radio


def test_a_radio_is_listed_with_what_it_can_do(capsys):
    need_replay_radio()
    assert main(["devices", "driver=replay,serial=7,time=1"]) == 0
    out = capsys.readouterr().out
    for line in (
        "replay radio",
        "  address     soapy:driver=replay,serial=7,time=1",
        "  rate        225k to 300k, 900k to 3.2M, 20M",
        "  freq        24M to 1.766G",
        "  gain        0 to 102 dB, or auto",
        "  elements    LNA 0 to 40, VGA 0 to 62",
        "  antenna     RX, AUX",
        "  formats     CF32",
        "  clock       hardware time",
    ):
        assert line in out.splitlines()


def test_json_holds_the_same(capsys):
    need_replay_radio()
    assert main(["devices", "driver=replay,serial=7", "--json"]) == 0
    (device,) = json.loads(capsys.readouterr().out)
    assert device["arguments"]["serial"] == "7"
    assert device["abilities"]["freqs_hz"] == [[24e6, 1766e6]]
    assert device["abilities"]["gain_elements_db"] == {"LNA": [0, 40], "VGA": [0, 62]}


def test_the_address_that_is_listed_opens_the_radio():
    need_replay_radio()
    (device,) = find_devices("driver=replay,serial=7")
    with open_source(device.address) as source:
        assert len(next(source.blocks()).samples)


@pytest.mark.parametrize("binding", ["python", "ctypes"])
def test_a_radio_that_cannot_be_opened_is_listed_all_the_same(binding, tmp_path):
    need_replay_radio()
    (device,) = find_devices(f"driver=replay,file={tmp_path}/none.cu8", binding)
    assert device.abilities is None
    assert "cannot read" in device.error


def test_none_found_is_said_plainly(capsys):
    need_replay_radio()
    assert main(["devices", "driver=nothing-of-this-name"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("No radio found.")
    assert "apt install soapysdr-module-rtlsdr" in out
    assert main(["devices", "driver=nothing-of-this-name", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_without_soapy_it_is_one_line(capsys, monkeypatch):
    def missing(binding):
        raise SourceError("SoapySDR is not installed; on Debian: apt install python3-soapysdr")

    monkeypatch.setattr("hardware.devices.load", missing)
    assert main(["devices"]) == 2
    assert capsys.readouterr().err == (
        "wavetell: SoapySDR is not installed; on Debian: apt install python3-soapysdr\n"
    )
