"""Listening: each demodulation gives the tone that was sent, for any cut, and over a real socket."""

import json

import numpy as np
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from service.live.audio import Demodulator
from tests.service.conftest import serving, within
from tests.service.scenes import RATE, band, write

TONE, CENTRE = 700.0, 40e3
T = np.arange(RATE) / RATE


def sent(mode):
    """A second of a 700 Hz tone on a carrier at 40 kHz, or its upper or lower sideband alone."""
    tone = {
        "am": (1 + 0.6 * np.cos(2 * np.pi * TONE * T)).astype(complex),
        "fm": np.exp(1j * 3.0 * np.sin(2 * np.pi * TONE * T)),
        "usb": np.exp(2j * np.pi * TONE * T),
        "lsb": np.exp(-2j * np.pi * TONE * T),
    }[mode]
    noise = np.random.default_rng(1).standard_normal((RATE, 2)) @ [0.01, 0.01j]
    return (0.1 * tone * np.exp(2j * np.pi * CENTRE * T) + noise).astype(np.complex64)


EDGES = {
    "am": (CENTRE - 4e3, CENTRE + 4e3),
    "fm": (CENTRE - 5e3, CENTRE + 5e3),
    "usb": (CENTRE, CENTRE + 2.7e3),
    "lsb": (CENTRE - 2.7e3, CENTRE),
}


def strongest(sound, rate):
    power = np.abs(np.fft.rfft(sound * np.hanning(len(sound)))) ** 2
    power[: round(100 * len(sound) / rate)] = 0  # where the level settles
    share = power[np.abs(np.fft.rfftfreq(len(sound), 1 / rate) - TONE) < 20].sum() / power.sum()
    return np.fft.rfftfreq(len(sound), 1 / rate)[power.argmax()], share


@pytest.mark.parametrize("mode", ["am", "fm", "usb", "lsb"])
def test_the_tone_that_was_sent_is_heard(mode):
    demodulator = Demodulator(RATE, EDGES[mode], mode)
    sound = demodulator.push(sent(mode))
    assert 11e3 < demodulator.rate_hz < 40e3
    assert len(sound) == pytest.approx(demodulator.rate_hz, rel=0.05)
    frequency, share = strongest(sound[len(sound) // 4 :], demodulator.rate_hz)
    assert frequency == pytest.approx(TONE, abs=5)
    assert share > 0.9
    assert 0.05 < np.sqrt(np.mean(sound[len(sound) // 2 :] ** 2)) < 0.4


@pytest.mark.parametrize("mode", ["am", "fm", "usb", "lsb"])
def test_however_it_is_cut_the_sound_is_the_same(mode):
    x, rng = sent(mode)[:60_000], np.random.default_rng(2)
    whole = Demodulator(RATE, EDGES[mode], mode).push(x)
    cuts = np.sort(rng.integers(0, len(x), 200))
    parts = Demodulator(RATE, EDGES[mode], mode)
    pieces = np.concatenate([parts.push(piece) for piece in np.split(x, cuts)])
    np.testing.assert_allclose(pieces, whole, atol=2e-3)


def test_a_neighbour_is_not_heard():
    x = sent("fm") + (
        0.1 * np.exp(2j * np.pi * (CENTRE + 25e3) * T + 2j * np.sin(2 * np.pi * 300 * T))
    ).astype(np.complex64)
    demodulator = Demodulator(RATE, EDGES["fm"], "fm")
    sound = demodulator.push(x)
    frequency, share = strongest(sound[len(sound) // 4 :], demodulator.rate_hz)
    assert frequency == pytest.approx(TONE, abs=5)
    assert share > 0.85


def test_an_emission_is_heard_over_a_socket_until_somebody_leaves(tmp_path, model):
    x = band(4.0, emissions=()) + np.tile(sent("am"), 4)
    source = write(tmp_path, x.astype(np.complex64))
    with serving(tmp_path / "data", model, f"file:{source}?pace=realtime&loop=1") as service:
        (stream,) = (each["id"] for each in service.get("/v1/streams").json())
        url = f"/v1/streams/{stream}/emissions?state=now&min_snr_db=10"
        page = service.until(url, lambda page: page["emissions"], seconds=within(20))
        emission = page["emissions"][0]["emission"]
        base = service.base.replace("http", "ws") + f"/v1/streams/{stream}/emissions"
        with connect(f"{base}/{emission}/audio?mode=am") as socket:
            about = json.loads(socket.recv(timeout=within(20)))
            assert about["mode"] == "am"
            heard = b""
            while len(heard) < 2 * 2 * about["rate_hz"]:
                heard += socket.recv(timeout=within(20))
        sound = np.frombuffer(heard, "<i2") / 32_768
        frequency, _ = strongest(sound[len(sound) // 4 :], about["rate_hz"])
        assert frequency == pytest.approx(TONE, abs=10)
        for path in ("nobody/audio?mode=am", f"{emission}/audio?mode=morse"):
            with pytest.raises(InvalidStatus), connect(f"{base}/{path}"):
                pass
