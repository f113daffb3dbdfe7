"""Both ways to reach SoapySDR answer alike."""

import sys

import numpy as np
import pytest

from hardware.abilities import read_abilities
from hardware.soapy_api import OVERFLOW, Range, load
from streaming.errors import InputError, SourceError
from tests.replay_radio import need_replay_radio, numbers
from tests.require import need

BINDINGS = ("python", "ctypes")


@pytest.fixture(params=BINDINGS)
def soapy(request):
    need_replay_radio()
    try:
        return load(request.param)
    except SourceError as error:
        return need(False, f"{error}: tests/link_soapy.py")


def test_both_bindings_see_the_same_radio():
    need_replay_radio()
    seen = []
    for name in BINDINGS:
        soapy = load(name)
        assert soapy.name == name
        found = soapy.enumerate("driver=replay,serial=api")
        radio = soapy.make("driver=replay,serial=api,time=1")
        seen.append((found, radio.driver, radio.hardware, radio.info(), read_abilities(radio, 0, "it")))
        radio.close()
    assert seen[0] == seen[1]
    assert seen[0][0] == [{"driver": "replay", "label": "replay radio", "serial": "api"}]
    abilities = seen[0][-1]
    assert abilities.gain_elements_db == {"LNA": Range(0, 40), "VGA": Range(0, 62)}
    assert abilities.rates_hz == [Range(225e3, 300e3), Range(900e3, 3.2e6), Range(20e6, 20e6)]
    assert (abilities.settings, abilities.channel_settings) == (["biastee"], ["notch"])


def test_what_is_set_is_read_back(soapy):
    radio = soapy.make("driver=replay,serial=api")
    radio.set_rate(0, 1e6)
    radio.set_frequency(0, 433.92e6)
    radio.set_gain(0, 16, "LNA")
    radio.set_gain(0, 20, "VGA")
    radio.set_auto_gain(0, False)
    radio.set_antenna(0, "AUX")
    radio.set_bandwidth(0, 1e6)
    radio.set_ppm(0, -2.5)
    radio.write_setting(None, "biastee", "true")
    radio.write_setting(0, "notch", "fm")
    assert (radio.rate(0), radio.frequency(0)) == (1e6, 433.92e6)
    assert (radio.gain(0), radio.gain(0, "LNA"), radio.gain(0, "VGA")) == (36, 16, 20)
    radio.close()


def test_samples_and_time_arrive(soapy):
    radio = soapy.make("driver=replay,serial=api,count=1,time=1,time0=5000,pace=0")
    radio.set_rate(0, 1e6)
    radio.setup(0, {})
    radio.activate()
    buffer = np.zeros(5000, np.complex64)
    assert radio.read(buffer) == (5000, 5000)
    assert radio.read(buffer) == (5000, 5_005_000)
    assert np.array_equal(numbers(buffer), np.arange(5000, 10_000))
    radio.close()
    radio.close()


def test_before_activation_it_times_out(soapy):
    radio = soapy.make("driver=replay,serial=api")
    radio.setup(0, {})
    assert radio.read(np.zeros(100, np.complex64), timeout_us=1000).got == -1
    radio.close()


@pytest.mark.parametrize(
    "buffer",
    [
        np.zeros(100),
        np.zeros(100, np.complex128),
        np.zeros(200, np.complex64)[::2],
        np.zeros(0, np.complex64),
    ],
)
def test_a_wrong_buffer_never_reaches_the_driver(soapy, buffer):
    radio = soapy.make("driver=replay,serial=api,pace=0")
    radio.setup(0, {})
    radio.activate()
    with pytest.raises(InputError, match="a read needs"):
        radio.read(buffer)
    radio.close()


def test_a_read_without_a_stream_never_reaches_the_driver(soapy):
    radio = soapy.make("driver=replay,serial=api,pace=0")
    with pytest.raises(InputError, match="a read needs a stream"):
        radio.read(np.zeros(100, np.complex64))
    radio.close()
    with pytest.raises(InputError, match="a read needs a stream"):
        radio.read(np.zeros(100, np.complex64))


def test_errors_are_ours(soapy):
    with pytest.raises(SourceError, match="no match"):
        soapy.make("driver=nothing-of-this-name")
    radio = soapy.make("driver=replay,serial=api")
    with pytest.raises(SourceError, match="SoapySDR: "):
        radio.gain(0, "no such element")
    radio.close()
    with pytest.raises(SourceError, match="closed"):
        radio.rate(0)
    assert soapy.error_text(OVERFLOW) == "OVERFLOW"
    assert soapy.arguments("a=b, c=d:e") == {"a": "b", "c": "d:e"}


def test_without_the_binding_the_library_is_used(monkeypatch):
    need_replay_radio()
    monkeypatch.setitem(sys.modules, "SoapySDR", None)
    monkeypatch.delitem(sys.modules, "hardware.soapy_api.binding", raising=False)
    assert load().name == "ctypes"
    with pytest.raises(SourceError, match="cannot be imported"):
        load("python")


def test_without_soapy_the_user_is_told_what_to_install(monkeypatch):
    def nothing(name):
        raise OSError(name)

    monkeypatch.setattr("hardware.soapy_api.library.c.CDLL", nothing)
    monkeypatch.setattr("hardware.soapy_api.library.ctypes.util.find_library", lambda name: None)
    with pytest.raises(
        SourceError, match="SoapySDR is not installed; on Debian: apt install python3-soapysdr"
    ):
        load("ctypes")
