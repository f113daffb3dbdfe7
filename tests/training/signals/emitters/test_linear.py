"""Pulses against Fourier integrals, and links against matched filters, constellations and liquid-dsp."""

import importlib.util
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import erf

from tests.require import need
from training.signals.constellation import constellation
from training.signals.emitters.bits import draw_data
from training.signals.emitters.linear import Linear, draw_linear, shifted_codes
from training.signals.emitters.linear_links import LINKS, Link
from training.signals.emitters.shapes import Pulse
from training.signals.emitters.waves import gate, occupied, pulses, steps

T = np.linspace(-4, 4, 80_001)  # symbols
SCATTERED = np.random.default_rng(5).uniform(0, 100, 40)
NO_CODE = np.zeros((0, 0), np.int64)


def rng(seed=1):
    return np.random.default_rng(seed)


def link(name, pulse, rate_hz=1000.0, **settings) -> Linear:
    data = replace(draw_data(rng()), kind="random")
    chosen = Link("test", (rate_hz,), pulse)
    return replace(Linear(name, chosen, rate_hz, data, False, NO_CODE, 0.0, 0.0), **settings)


def smooth_rectangle(t, edge):
    """A rectangle of unit length whose edges are cosines of this length."""
    return (1 - np.sin(np.pi * np.clip((np.abs(t) - 0.5) / edge, -0.5, 0.5))) / 2


def gaussian_rectangle(t, bt):
    spread = np.sqrt(2 * np.log(2)) * np.pi * bt / np.log(2)  # of erf, per symbol
    return (erf((t + 0.5) * spread) - erf((t - 0.5) * spread)) / 2


# The pulses as textbooks write them, in time.
WAVES = [
    (Pulse("rectangle", 0.0), (np.abs(T) < 0.5) * 1.0),
    (Pulse("rectangle", 0.6), smooth_rectangle(T, 0.6)),
    (Pulse("half"), np.cos(np.pi * T) * (np.abs(T) < 0.5)),
    (Pulse("cosine"), (1 + np.cos(np.pi * T)) * (np.abs(T) < 1)),
    (Pulse("gauss", 0.5), gaussian_rectangle(T, 0.5)),
    (
        Pulse("pole", 0.8),
        np.where(T > 0, 1 - np.exp(-T * 2 * np.pi * 0.8), 0)
        - np.where(T > 1, 1 - np.exp(-(T - 1) * 2 * np.pi * 0.8), 0),
    ),
]


@pytest.mark.parametrize(("pulse", "wave"), WAVES, ids=lambda x: x.kind if isinstance(x, Pulse) else "")
def test_a_pulse_has_the_spectrum_of_its_wave(pulse, wave):
    f = np.array([0.0, 0.13, 0.37, 0.5, 0.71, 0.95, 1.4, 2.3], np.float32)
    integral = np.trapezoid(wave * np.exp(-2j * np.pi * f[:, None] * T), T, axis=1)
    integral /= np.trapezoid(wave, T)
    np.testing.assert_allclose(np.abs(pulse.response(f)), np.abs(integral), atol=2e-3)


@pytest.mark.parametrize("rolloff", [0.1, 0.35, 1.0])
def test_a_root_raised_cosine_is_nyquist_with_its_matched_filter(rolloff):
    f = np.linspace(-1, 1, 2001, dtype=np.float32)
    squared = np.abs(Pulse("rrc", rolloff).response(f)) ** 2
    np.testing.assert_allclose(squared, Pulse("rc", rolloff).response(f), atol=1e-6)
    inside = f[500:1501]  # -1/2 to 1/2
    folded = sum(np.abs(Pulse("rrc", rolloff).response(inside + shift)) ** 2 for shift in (-1, 0, 1))
    np.testing.assert_allclose(folded, 1, atol=1e-5)


def test_pulses_are_the_convolution_of_symbols_with_the_pulse():
    symbols = (rng().standard_normal(64) + 1j * rng(2).standard_normal(64)).astype(np.complex64)
    pulse = Pulse("cosine")
    x = pulses(symbols, 64 * 16, pulse.response, pulse.reach)
    wave = 1 + np.cos(np.pi * (np.arange(32) - 16) / 16)  # two symbols long, its peak on the symbol
    comb = np.zeros(1024, np.complex64)
    comb[::16] = symbols
    expected = np.fft.ifft(np.fft.fft(comb) * np.fft.fft(np.roll(np.pad(wave, (0, 992)), -16)))
    scale = np.vdot(expected, x) / np.vdot(expected, expected)
    np.testing.assert_allclose(x / scale, expected, atol=2e-3)


def test_steps_are_the_means_over_each_sample():
    times, values = np.sort(SCATTERED), rng(3).uniform(-1, 1, 40)
    fine = np.linspace(0, 100, 1_000_001)[:-1]
    held = np.where(fine < times[0], 0, values[np.searchsorted(times, fine, side="right") - 1])
    expected = held.reshape(100, -1).mean(1)
    np.testing.assert_allclose(steps(times, values, 100), expected, atol=2e-4)


def test_a_gate_rises_and_falls_within_its_bursts():
    level = gate([(0, 50), (100, 200)], 300, 10)
    assert level[0] == 1  # was on before
    assert level[100] < 0.01
    assert level[110] == level[189] == 1
    assert np.all(np.diff(level[100:110]) > 0)
    assert not level[50:100].any()
    assert not level[200:].any()


@pytest.mark.parametrize("name", ["BPSK", "QPSK", "8PSK", "16QAM", "64QAM", "256QAM", "4PAM"])
def test_a_matched_filter_finds_the_points_that_liquid_has(name):
    need(importlib.util.find_spec("liquid") is not None, "Python package liquid-dsp")
    import liquid

    known = {"BPSK": "bpsk", "QPSK": "qpsk", "8PSK": "psk8", "4PAM": "ask4"}
    modem = liquid.modem(known.get(name, f"qam{name[:-3]}"))
    theirs = np.array([modem.modulate(i) for i in range(2**modem.bits_per_symbol)])
    found = matched(link(name, Pulse("rrc", 0.35)).make(rng(), 8000.0, 32_768).samples, 8, 0.35)
    found *= np.sqrt(np.mean(np.abs(theirs) ** 2) / np.mean(np.abs(found) ** 2))
    away = np.abs(found[:, None] - theirs)
    assert away.min(1).max() < 0.05
    assert set(away.argmin(1)) == set(range(len(theirs)))


def matched(x, sps, rolloff):
    """Behind a root raised cosine, one sample per symbol."""
    f = np.abs(np.fft.fftfreq(len(x))) * sps
    cosine = np.cos(np.pi / 2 * np.clip((f - (1 - rolloff) / 2) / rolloff, 0, 1))
    return np.fft.ifft(np.fft.fft(x) * cosine)[::sps]


@pytest.mark.parametrize("rolloff", [0.1, 0.5, 1.0])
def test_the_band_of_shaped_symbols_holds_99_percent(rolloff):
    f = np.linspace(0, 1, 20_001)
    density = np.cos(np.pi / 2 * np.clip((f - (1 - rolloff) / 2) / rolloff, 0, 1)) ** 2
    theory = 2 * np.interp(0.99, np.cumsum(density) / density.sum(), f)
    lower, upper = occupied(link("QPSK", Pulse("rrc", rolloff)).make(rng(), 5300.0, 100_000).samples)
    assert (upper - lower) * 5.3 == pytest.approx(theory, rel=0.02)


def test_hard_switched_bpsk_has_the_skirts_of_a_rectangle():
    f = np.linspace(0, 45, 450_001)  # up to where the receiver's filter cuts
    inside = np.cumsum(np.sinc(f) ** 2)
    x = link("BPSK", Pulse("rectangle")).make(rng(), 100e3, 400_000).samples
    for share in (0.5, 0.8, 0.95):
        lower, upper = occupied(x, share)
        theory = 2 * np.interp(share * inside[-1], inside, f)
        assert (upper - lower) * 100 == pytest.approx(theory, rel=0.05)


def test_oqpsk_with_half_sines_is_msk():
    x = link("OQPSK", Pulse("half")).make(rng(), 16_000.0, 32_768).samples
    level = np.abs(x)
    assert level.std() / level.mean() < 0.02
    turned = np.angle(x[8:] / x[:-8]) / (np.pi / 2)  # half a symbol of 16 samples: a quarter turn, at most
    assert np.abs(turned).max() < 1.05


def test_pi_4_dqpsk_turns_by_odd_multiples_of_an_eighth():
    found = matched(link("pi/4-DQPSK", Pulse("rrc", 0.35)).make(rng(), 8000.0, 32_768).samples, 8, 0.35)
    eighths = np.angle(found[1:] / found[:-1]) / (np.pi / 4)
    assert np.abs(np.abs(eighths) % 2 - 1).max() < 0.05
    assert set(eighths.round().astype(int)) == {-3, -1, 1, 3}


def test_the_symbol_clock_is_that_which_is_stated():
    one = link("BPSK", Pulse("rectangle", 0.3), 1234.0)
    x = one.make(rng(), 20e3, 65_536).samples
    f, line = np.fft.rfftfreq(65_536, 1 / 20e3), np.abs(np.fft.rfft(np.abs(np.diff(x)) ** 2))
    found = f[1000 + line[1000:8000].argmax()]
    assert found == pytest.approx(1234, rel=1e-3)


def test_an_overdriven_amplifier_flattens_the_peaks_and_widens_the_spectrum():
    ways = (
        link("QPSK", Pulse("rrc", 0.2), drive=drive).make(rng(), 8000.0, 32_768).samples for drive in (0, 1.5)
    )
    linear, driven = ways
    crest = [np.abs(x).max() / np.sqrt(np.mean(np.abs(x) ** 2)) for x in (linear, driven)]
    assert crest[1] < 0.8 * crest[0]
    outside = np.abs(np.fft.fftfreq(32_768)) > 0.09
    shares = [
        np.sum(np.abs(np.fft.fft(x)[outside]) ** 2) / np.sum(np.abs(np.fft.fft(x)) ** 2)
        for x in (linear, driven)
    ]
    assert shares[1] > 1e-3 > shares[0]


def test_split_phase_with_little_swing_leaves_a_carrier():
    one = link("BPSK", Pulse("rectangle"), swing=1.1)
    one = replace(one, link=replace(one.link, split=True))
    x = one.make(rng(), 16e3, 65_536).samples
    share = np.abs(np.mean(x)) ** 2 / np.mean(np.abs(x) ** 2)
    assert share == pytest.approx(np.cos(1.1) ** 2, abs=0.03)  # of a phase modulation by +-1.1


def test_spread_spectrum_repeats_its_sequence():
    one = replace(link("BPSK", Pulse("rrc", 0.5)), codes=rng(4).integers(0, 2, (1, 63)))
    signs = np.sign(matched(one.make(rng(), 4000.0, 63 * 4 * 50).samples, 4, 0.5).real)
    same = signs.reshape(50, 63) * signs[:63]
    assert np.all(np.abs(same.sum(1)) == 63)  # the same chips, as they are or all turned


@pytest.mark.parametrize("name", LINKS)
def test_links_of_a_class_stay_in_bursts_as_their_standard_says(name):
    for standard in LINKS[name]:
        one = replace(draw_linear(name, rng()), link=standard, symbol_rate_hz=standard.rates_hz[0])
        rate_hz = 4 * one.symbol_rate_hz
        wave = one.make(rng(2), rate_hz, 32_768)
        longest = max(end - begin for begin, end in wave.bursts) / rate_hz
        assert longest <= standard.bursts.packet_s[1] + 4 / one.symbol_rate_hz


def test_the_sequences_of_802_15_4_are_those_of_the_standard():
    """IEEE 802.15.4, table "symbol-to-chip mapping" of the O-QPSK PHY in the 2450 MHz band."""
    (link,) = (one for one in LINKS["OQPSK"] if one.title == "IEEE 802.15.4 2.4 GHz")
    points = constellation("OQPSK")[shifted_codes(link.chips)]
    chips = np.stack([points.real > 0, points.imag > 0], -1).reshape(16, 32).astype(int)
    for number, sequence in {
        0: "11011001110000110101001000101110",
        1: "11101101100111000011010100100010",
        7: "10011100001101010010001011101101",
        8: "10001100100101100000011101111011",
        15: "11001001011000000111011110111000",
    }.items():
        assert "".join(map(str, chips[number])) == sequence
