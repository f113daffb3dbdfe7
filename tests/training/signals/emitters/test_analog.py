"""Analogue transmitters against theory: sidebands, carriers, deviation, stereo; and their sound."""

from dataclasses import replace

import numpy as np
import pytest

from training.signals.emitters import sound
from training.signals.emitters.analog import Analog, draw_analog
from training.signals.emitters.analog_services import SERVICES
from training.signals.emitters.bursts import Bursts
from training.signals.emitters.carrier import Carrier

RATE_HZ = 32e3


def rng(seed=1):
    return np.random.default_rng(seed)


def sender(name, content="speech", **settings) -> Analog:
    """With sound from 300 to 3,000 Hz, always on."""
    service = replace(SERVICES[name][0], bursts=Bursts())
    deviation_hz = {"NBFM": 2500.0, "WBFM": 75e3}.get(name, 0.0)
    plain = Analog(name, service, content, 300.0, 3000.0, deviation_hz, 0.8, 0.0, 2.0, True)
    return replace(plain, **settings)


def spectrum(x, rate_hz=RATE_HZ):
    """Frequencies in Hz, and power at each as a share of all."""
    power = np.abs(np.fft.fft(x)) ** 2
    return np.fft.fftfreq(len(x), 1 / rate_hz), power / power.sum()


def frequency(x, rate_hz):
    return np.angle(x[1:] / x[:-1]) * rate_hz / (2 * np.pi)


def test_am_is_a_carrier_with_equal_sidebands_within_its_depth():
    x = sender("AM-DSB").make(rng(), RATE_HZ, 65_536).samples
    assert np.abs(x.imag).max() == 0
    assert x.real.max() == pytest.approx(1.8, abs=0.3)
    assert x.real.min() >= 0.2 - 1e-4
    f, share = spectrum(x)
    assert share[0] > 0.6
    upper, lower = share[(f >= 299) & (f <= 3001)].sum(), share[(f <= -299) & (f >= -3001)].sum()
    assert upper == pytest.approx(lower, rel=1e-3)
    assert upper + lower + share[0] > 0.999


def test_the_edges_of_am_are_those_of_its_sound_not_of_its_carrier():
    wave = sender("AM-DSB").make(rng(), RATE_HZ, 65_536)
    lower, upper = (edge * RATE_HZ for edge in wave.edges)
    assert upper == pytest.approx(-lower, abs=2)
    f, share = spectrum(wave.samples - 1)
    assert share[np.abs(f) > upper].sum() == pytest.approx(0.01, abs=2e-3)


def test_suppressed_carrier_has_sidebands_only():
    f, share = spectrum(sender("AM-DSB-SC").make(rng(), RATE_HZ, 65_536).samples)
    assert share[np.abs(f) < 290].sum() < 1e-6


@pytest.mark.parametrize("upper", [True, False])
def test_ssb_has_one_sideband_around_its_middle(upper):
    f, share = spectrum(sender("SSB", upper=upper).make(rng(), RATE_HZ, 65_536).samples)
    assert share[np.abs(f) < 1355].sum() > 0.999  # 300 to 3,000 Hz around their middle
    strong = f[share > 1e-4]
    low_sound_at = strong.min() if upper else strong.max()  # a voice is strongest below
    assert abs(low_sound_at) > 500
    assert share[f * (1 if upper else -1) < 0].sum() > share[f * (1 if upper else -1) > 0].sum()


def test_fm_swings_as_far_as_its_deviation_and_its_level_is_constant():
    x = sender("NBFM").make(rng(), RATE_HZ, 65_536).samples
    np.testing.assert_allclose(np.abs(x), 1, atol=1e-5)
    assert np.abs(frequency(x, RATE_HZ)).max() == pytest.approx(2500, rel=0.01)


def test_ctcss_is_a_tone_below_the_speech():
    x = sender("NBFM", tone_hz=100.0).make(rng(), RATE_HZ, 65_536).samples
    f, share = spectrum(np.append(frequency(x, RATE_HZ), 0))
    low = (f > 20) & (f < 280)
    assert f[low][share[low].argmax()] == pytest.approx(100, abs=1)
    found = np.abs(np.fft.fft(np.append(frequency(x, RATE_HZ), 0)))[low].max() * 2 / len(x)
    assert found == pytest.approx(0.13 * 2500, rel=0.1)


def test_stereo_has_pilot_difference_and_data_where_bs_450_puts_them():
    rate_hz, n = 480e3, 1 << 17
    levels = []
    for seed in range(8):
        one = sender("WBFM", "stereo")
        hz = np.append(frequency(one.make(rng(seed), rate_hz, n).samples, rate_hz), 0) / 75e3
        spectrum_ = np.abs(np.fft.rfft(hz * np.hanning(n))) * 4 / n
        f = np.fft.rfftfreq(n, 1 / rate_hz)
        assert np.abs(hz).max() < 1.05
        near = (f > 18.5e3) & (f < 19.5e3)
        assert f[near][spectrum_[near].argmax()] == pytest.approx(19e3, abs=5)
        assert spectrum_[near].max() == pytest.approx(0.09, rel=0.1)
        power = [
            np.sum(spectrum_[(f > a) & (f < b)] ** 2)
            for a, b in ((15.5e3, 18e3), (23e3, 53e3), (54.5e3, 59.5e3))
        ]
        levels.append(power)
    gap, difference, data = np.array(levels).T
    assert gap.max() < 1e-3 * difference.max()
    assert data.max() > 1e-5
    assert data.min() < 1e-3 * data.max()  # some stations send none


def test_video_has_lines_at_the_line_frequency():
    rate_hz = 20e6
    x = replace(sender("WBFM", "video"), deviation_hz=4e6).make(rng(), rate_hz, 1 << 17).samples
    hz = frequency(x, rate_hz)
    lines = np.abs(np.fft.rfft(hz - hz.mean()))
    f = np.fft.rfftfreq(len(hz), 1 / rate_hz)
    near = (f > 10e3) & (f < 20e3)
    assert f[near][lines[near].argmax()] == pytest.approx(15_650, abs=200)  # 15,625 or 15,734 Hz


def test_speech_has_a_pitch_syllables_and_pauses():
    voice = sound.speech(rng(3), 16_000 * 8, 16_000)
    assert np.abs(voice).max() <= 1
    loud = np.sqrt(np.mean(voice.reshape(-1, 320) ** 2, 1))  # each 20 ms
    assert np.mean(loud < 0.1 * loud.max()) > 0.05
    rise = np.flatnonzero((loud[1:] > 0.3 * loud.max()) & (loud[:-1] <= 0.3 * loud.max()))
    assert 8 < len(rise) < 80  # one to ten syllables per second
    part = voice[320 * loud.argmax() - 800 : 320 * loud.argmax() + 800]
    echo = np.correlate(part, part, "full")[len(part) - 1 :]
    lag = 40 + echo[40:320].argmax()  # 50 to 400 Hz
    assert echo[lag] > 0.3 * echo[0]


def test_speech_falls_above_its_formants():
    f, share = spectrum(sound.speech(rng(3), 16_000 * 8, 16_000), 16_000)
    assert share[np.abs(f) < 3500].sum() > 0.8


@pytest.mark.parametrize("make", [sound.speech, sound.music])
@pytest.mark.parametrize("count", [16, 333, 20_000])
def test_sound_of_any_length_is_finite_and_within_its_range(make, count):
    for seed in range(10):
        out = make(rng(seed), count, 8000.0)
        assert out.shape == (count,)
        assert np.isfinite(out).all()
        assert np.abs(out).max() <= 1


def test_hum_is_small_and_at_the_mains_frequency():
    one = Carrier(1.0, 200.0, 50.0, 0.02, 1.0)
    x = one.make(rng(), 10e3, 20_000).samples
    assert np.abs(x).max() == pytest.approx(1.02, abs=1e-3)
    f, share = spectrum(x, 10e3)
    side = share * (np.abs(f) > 1)
    assert abs(f[side.argmax()]) == 50


@pytest.mark.parametrize("name", SERVICES)
def test_drawn_transmitters_have_the_deviation_of_their_service(name):
    for seed in range(60):
        one = draw_analog(name, rng(seed))
        low, high = one.service.deviation_hz
        if one.content != "noise":  # that comes at any scale
            assert low * 0.999 <= one.deviation_hz <= high * 1.001
        assert one.content in one.service.content.split()


def test_a_satellites_picture_may_end_with_a_whole_pixel():
    x = sender("WBFM", "picture", deviation_hz=17e3).make(rng(), 41.6e3, 10_000).samples
    assert x.shape == (10_000,)
