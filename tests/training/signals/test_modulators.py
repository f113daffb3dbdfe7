"""Modulators against theory, and against liquid-dsp where its wheel is installed."""

import importlib.util

import numpy as np
import pytest
from scipy.integrate import cumulative_trapezoid
from scipy.special import jv

from streaming.errors import ConfigError
from tests.require import need
from training.signals.analog import DoubleSideband, FrequencyModulation, SingleSideband, Sound
from training.signals.chirp import Chirp
from training.signals.classes import CLASSES, FAMILIES, make_modulator
from training.signals.constellation import constellation
from training.signals.digital import ContinuousPhase, Linear
from training.signals.measure import occupied, power
from training.signals.ofdm import Ofdm
from training.signals.pulse import table
from training.signals.symbols import Coded, Even, QuarterShifted

POINTS = ["BPSK", "QPSK", "8PSK", "16QAM", "64QAM", "256QAM", "16APSK", "32APSK", "4PAM", "4ASK", "OOK"]
SHARED_WITH_LIQUID = ["BPSK", "QPSK", "8PSK", "16QAM", "64QAM", "256QAM", "4PAM", "OOK"]
LIQUID_NAMES = ["bpsk", "qpsk", "psk8", "qam16", "qam64", "qam256", "ask4", "ook"]


def rng(seed=1):
    return np.random.default_rng(seed)


def bandwidth(x):
    low, high = occupied(x)
    return high - low


def raised_cosine_spectrum(f, rolloff):
    """|G|^2 of the root raised cosine, f in symbol rates."""
    x = np.clip((np.abs(f) - (1 - rolloff) / 2) / rolloff, 0, 1)
    return (1 + np.cos(np.pi * x)) / 2


def matched(x, sps, rolloff):
    """Filtered with a root raised cosine made in the frequency domain, then one sample per symbol."""
    f = np.fft.fftfreq(len(x)) * sps
    return np.fft.ifft(np.fft.fft(x) * np.sqrt(raised_cosine_spectrum(f, rolloff)))[::sps][20:-20]


@pytest.mark.parametrize("name", POINTS)
def test_points_have_unit_power_and_differ(name):
    points = constellation(name)
    assert np.mean(np.abs(points) ** 2) == pytest.approx(1, rel=1e-6)
    assert len(np.unique(points.round(4))) == len(points)


@pytest.mark.parametrize(("name", "liquid_name"), [*zip(SHARED_WITH_LIQUID, LIQUID_NAMES, strict=True)])
def test_points_are_those_of_liquid(name, liquid_name):
    need(importlib.util.find_spec("liquid") is not None, "Python package liquid-dsp")
    import liquid

    modem = liquid.modem(liquid_name)
    theirs = np.array([modem.modulate(i) for i in range(2**modem.bits_per_symbol)])
    ours = constellation(name)
    assert len(ours) == len(theirs)
    assert np.abs(ours[:, None] - theirs).min(1).max() < 1e-5
    assert np.abs(ours[:, None] - theirs).min(0).max() < 1e-5


@pytest.mark.parametrize(
    ("name", "rings"), [("16APSK", {1: 4, 2.85: 12}), ("32APSK", {1: 4, 2.84: 12, 5.27: 16})]
)
def test_apsk_has_the_rings_of_dvb_s2(name, rings):
    radius = np.abs(constellation(name)) / np.abs(constellation(name)).min()
    assert {r: int(np.sum(np.abs(radius - r) < 1e-4)) for r in rings} == rings


def test_an_unknown_constellation_is_refused():
    with pytest.raises(ConfigError, match="there is no constellation '5QAM'; there are BPSK"):
        constellation("5QAM")


@pytest.mark.parametrize("name", ["QPSK", "16QAM", "32APSK", "4PAM"])
def test_a_matched_filter_finds_the_symbols_again(name):
    points = constellation(name)
    x = Linear(Even(points, rng()), table("rrc", 0.35, 8), 8, 0.0).make(4096)
    assert np.abs(matched(x, 8, 0.35)[:, None] - points).min(1).max() < 0.02


def test_fractional_timing_is_a_delay():
    late, early = (
        Linear(Even(constellation("QPSK"), rng()), table("rrc", 0.35, 8), 8, t).make(2048) for t in (0, 0.25)
    )
    np.testing.assert_allclose(late[2:], early[:-2], atol=1e-5)


def test_any_number_of_samples_a_symbol_is_the_same_wave():
    points, time = constellation("QPSK"), np.arange(3000)
    fine = Linear(Even(points, rng()), table("rrc", 0.35, 8), 16, 0.0).make(16_000)
    coarse = Linear(Even(points, rng()), table("rrc", 0.35, 8), 3.7, 0.0).make(3000)
    expected = np.interp(time * 16 / 3.7, np.arange(16_000), fine)
    assert np.abs(coarse - expected).max() < 0.02


def test_oqpsk_switches_q_half_a_symbol_after_i():
    x = Linear(Even(constellation("OQPSK"), rng()), table("rrc", 0.35, 8), 8, 0.0, 0.5).make(4096)
    aligned = x.real[:-4] + 1j * x.imag[4:]
    assert np.abs(np.abs(matched(aligned, 8, 0.35)) - 1).max() < 0.02
    assert np.abs(x).min() > 0.2  # never through the origin


def test_dqpsk_turns_by_odd_multiples_of_an_eighth():
    symbols = matched(Linear(QuarterShifted(rng()), table("rrc", 0.35, 8), 8, 0.0).make(4096), 8, 0.35)
    eighths = np.angle(symbols[1:] / symbols[:-1]) / (np.pi / 4)
    assert np.abs(np.abs(eighths) % 2 - 1).max() < 0.05
    assert set(eighths.round().astype(int)) == {-3, -1, 1, 3}


@pytest.mark.parametrize(
    ("code", "duty"), [("nrz", 1 / 2), ("manchester", 1 / 2), ("width", 1 / 2), ("position", 1 / 3)]
)
def test_line_codes_have_their_duty(code, duty):
    coded = Coded(np.array([0, 1], np.complex64), code, rng())
    chips = np.concatenate([coded.take(n) for n in (1, 5, 3000, 7, 20_000)]).real
    assert chips.mean() == pytest.approx(duty, abs=0.015)
    longest = max(map(len, "".join(str(int(c)) for c in chips).split("0")))
    assert code == "nrz" or longest <= 2


@pytest.mark.parametrize("rolloff", [0.2, 0.35, 0.5])
def test_occupied_bandwidth_of_shaped_symbols(rolloff):
    f = np.linspace(0, 1, 20_001)
    inside = cumulative_trapezoid(raised_cosine_spectrum(f, rolloff), f, initial=0)
    theory = 2 * np.interp(0.99 * inside[-1], inside, f)
    x = Linear(Even(constellation("QPSK"), rng()), table("rrc", rolloff, 8), 5.3, 0.1).make(200_000)
    assert bandwidth(x) * 5.3 == pytest.approx(theory, rel=0.02)


# Murota and Hirade 1981, 99 % of the power; BT infinite is MSK.
@pytest.mark.parametrize(("bt", "theory"), [(np.inf, 1.20), (0.5, 1.04), (0.25, 0.86), (0.2, 0.79)])
def test_occupied_bandwidth_of_msk_and_gmsk(bt, theory):
    levels = np.array([-1, 1], np.complex64)
    x = ContinuousPhase(Even(levels, rng()), 0.5, table("phase", bt, 4), 6.0, 0.0).make(200_000)
    assert bandwidth(x) * 6 == pytest.approx(theory, rel=0.03)


def test_msk_turns_a_quarter_each_symbol_without_a_jump():
    levels = np.array([-1, 1], np.complex64)
    modulator = ContinuousPhase(Even(levels, rng()), 0.5, table("phase", np.inf, 4), 10.0, 0.0)
    x = np.concatenate([modulator.make(n) for n in (1000, 4096, 777)])
    np.testing.assert_allclose(np.abs(x), 1, atol=1e-6)
    steps = np.angle(x[1:] / x[:-1])
    assert np.abs(np.abs(steps) - np.pi / 20).max() < 2e-3
    quarters = np.angle(x[10::10] / x[:-10:10]) / (np.pi / 2)
    assert np.abs(np.abs(quarters) - 1).max() < 1e-2


@pytest.mark.parametrize("levels", [[-1, 1], [-3, -1, 1, 3]])
def test_fsk_deviates_by_half_its_index(levels):
    modulator = ContinuousPhase(
        Even(np.array(levels, np.complex64), rng()), 1.4, table("phase", np.inf, 4), 12, 0
    )
    x = modulator.make(20_000)
    frequency = np.angle(x[1:] / x[:-1]) / (2 * np.pi) * 12 / 0.7  # in units of h / 2 symbol rates
    assert np.mean(np.abs(frequency - frequency.round()) < 0.01) > 0.9  # but for samples across an edge
    assert set(frequency.round().astype(int)) >= set(levels)


def test_ofdm_repeats_its_end_and_fills_its_carriers():
    x = Ofdm(100, 250, 50, constellation("16QAM"), rng()).make(90_000)
    assert power(x) == pytest.approx(1, rel=0.02)
    assert bandwidth(x) == pytest.approx(100 / 250, rel=0.03)
    lagged = (x[:-250].conj() * x[250:])[: 300 * 298].reshape(-1, 300)
    correlation = lagged.sum(0) / 298
    np.testing.assert_allclose(correlation[:50].real, 1, atol=0.25)
    assert np.abs(lagged[:, :50] - np.abs(x[: 300 * 298].reshape(-1, 300)[:, :50]) ** 2).max() < 1e-5
    assert np.abs(correlation[50:]).max() < 0.25


def test_a_chirp_has_loras_slope_and_bandwidth():
    x = Chirp(7, 0.25, 0.0, rng()).make(200_000)
    np.testing.assert_allclose(np.abs(x), 1, atol=1e-6)
    frequency = np.angle(x[1:] / x[:-1]) / (2 * np.pi)
    slope = np.median(np.diff(frequency[: 8 * 512]))  # preamble: plain up-chirps of 2^7 / 0.25 samples
    assert slope == pytest.approx(0.25**2 / 2**7, rel=1e-3)
    assert np.median(np.diff(frequency[8 * 512 + 5 : 10 * 512 - 5])) == pytest.approx(-slope, rel=1e-3)
    assert frequency.min() >= -0.1251
    assert frequency.max() <= 0.1251
    assert bandwidth(x) == pytest.approx(0.25, rel=0.06)


class Tone:
    def __init__(self, frequency):
        self.frequency, self.n = frequency, 0

    def make(self, count):
        self.n += count
        return np.cos(2 * np.pi * self.frequency * np.arange(self.n - count, self.n))


def lines(x, frequency):
    """Amplitudes at multiples -8..8 of a frequency that fits the length."""
    spectrum = np.fft.fft(x) / len(x)
    return np.abs(spectrum[[round(k * frequency * len(x)) for k in range(-8, 9)]])


def test_fm_of_a_tone_has_bessels_sidebands():
    x = FrequencyModulation(Tone(1 / 64), 3.0 / 64).make(64 * 512)
    np.testing.assert_allclose(lines(x, 1 / 64), np.abs(jv(np.arange(-8, 9), 3.0)), atol=4e-3)


def test_am_of_a_tone_has_a_carrier_and_two_sidebands():
    expected = np.zeros(17)
    expected[[7, 8, 9]] = 0.3, 1.0, 0.3
    np.testing.assert_allclose(
        lines(DoubleSideband(Tone(1 / 64), 0.6, True).make(6400), 1 / 64), expected, atol=1e-5
    )
    expected[8] = 0
    np.testing.assert_allclose(
        lines(DoubleSideband(Tone(1 / 64), 0.6, False).make(6400), 1 / 64), expected, atol=1e-5
    )


@pytest.mark.parametrize("upper", [True, False])
def test_ssb_of_a_tone_has_one_sideband(upper):
    levels = lines(SingleSideband(Tone(1 / 32), 0.1, upper).make(6400), 1 / 32)
    kept, gone = (levels[9], levels[7]) if upper else (levels[7], levels[9])
    assert kept == pytest.approx(1, abs=0.01)
    assert 20 * np.log10(gone / kept) < -50


def test_speech_stays_in_its_band_and_its_bounds():
    speech = Sound(0.1, rng()).make(200_000)
    assert np.abs(speech).max() <= 1
    # The filter's skirts are part of the 99 %.
    assert bandwidth(speech.astype(np.complex64)) == pytest.approx(0.23, rel=0.15)


def test_families_are_those_of_the_service():
    assert set(FAMILIES.values()) == {
        "ASK", "FSK", "PSK", "QAM", "AM", "FM", "OFDM", "chirp", "carrier", "noise",
    }  # fmt: skip
    assert len(CLASSES) == 28


@pytest.mark.parametrize("name", CLASSES)
def test_every_class_runs_on_with_settings_within_their_bounds(name):
    for seed in range(8):
        modulator = make_modulator(name, rng(seed))
        x = np.concatenate([modulator.make(4096) for _ in range(2)])
        assert x.dtype == np.complex64
        assert np.isfinite(x).all()
        assert abs(x[4096] - x[4095]) < 4  # no tear between segments
        if FAMILIES[name] in ("ASK", "PSK", "QAM", "FSK"):
            assert 2 <= 1 / modulator.symbol_rate <= 16.0001
        if name != "noise":
            assert 0.005 < power(x) < 3


def test_an_unknown_class_is_refused():
    with pytest.raises(ConfigError, match="there is no class 'FOO'; there are OOK"):
        make_modulator("FOO", rng())
