"""Every class of the wide generator: what it promises of any draw, and how wide its draws are."""

import numpy as np
import pytest
from scipy.signal import periodogram

from streaming.errors import ConfigError
from training.signals.classes import CLASSES, FAMILIES, NOISE
from training.signals.emitters import draw_emitter
from training.signals.emitters.fsk import Fsk
from training.signals.wide import Emitted, draw

SENT = [name for name in CLASSES if name != NOISE]


def drawn(name, seed, **asked) -> Emitted:
    return draw(name, np.random.default_rng([seed, 1]), **{"samples": 4096, **asked})


@pytest.mark.parametrize("name", SENT)
@pytest.mark.parametrize("samples", [1024, 4096, 5003])
def test_any_draw_has_unit_power_in_its_bursts_and_nothing_beside_them(name, samples):
    for seed in range(12):
        one = drawn(name, seed, samples=samples)
        assert one.samples.shape == (samples,)
        assert one.samples.dtype == np.complex64
        on = np.zeros(samples, bool)
        for begin, end in one.bursts:
            assert 0 <= begin < end <= samples
            on[begin:end] = True
        power = np.abs(one.samples.astype(np.complex128)) ** 2
        assert power.sum() / sum(e - b for b, e in one.bursts) == pytest.approx(1, rel=1e-3)
        assert power[~on].sum() < 0.02 * power.sum()


@pytest.mark.parametrize("name", [name for name in SENT if name != "AM-DSB"])
def test_the_edges_leave_half_a_percent_of_the_power_on_either_side(name):
    for seed in range(6):
        one = drawn(name, seed)
        f, density = periodogram(one.samples, one.rate_hz, return_onesided=False, detrend=False)
        bin_hz = one.rate_hz / len(one.samples)
        below = density[f < one.lower_hz - bin_hz].sum() / density.sum()
        above = density[f > one.upper_hz + bin_hz].sum() / density.sum()
        inside = density[(f >= one.lower_hz - bin_hz) & (f <= one.upper_hz + bin_hz)].sum() / density.sum()
        assert below <= 0.005
        assert above <= 0.005
        assert inside >= 0.99


@pytest.mark.parametrize("name", CLASSES)
def test_a_seed_gives_the_same_emission_and_another_seed_another(name):
    first, again, other = drawn(name, 1), drawn(name, 1), drawn(name, 2)
    np.testing.assert_array_equal(first.samples, again.samples)
    assert (first.bursts, first.settings, first.rate_hz) == (again.bursts, again.settings, again.rate_hz)
    assert name == NOISE or not np.array_equal(first.samples, other.samples)


@pytest.mark.parametrize("name", SENT)
@pytest.mark.parametrize("rate_hz", [9.6e3, 250e3, 20e6])
def test_any_class_comes_at_any_rate_and_within_its_band(name, rate_hz):
    for seed in range(8):
        one = drawn(name, seed, rate_hz=rate_hz)
        assert one.rate_hz == rate_hz
        assert -0.5 * rate_hz <= one.lower_hz <= one.upper_hz <= 0.5 * rate_hz
        assert one.family == FAMILIES[name]


@pytest.mark.parametrize("name", ["QPSK", "GMSK", "NBFM", "SSB", "carrier"])
def test_an_offset_that_is_asked_for_is_where_the_emission_lies(name):
    for seed in range(6):
        one = drawn(name, seed, rate_hz=1e6, offset_hz=150e3)
        assert one.offset_hz == 150e3
        middle, width = (one.lower_hz + one.upper_hz) / 2, one.upper_hz - one.lower_hz
        assert abs(middle - 150e3) < 0.6 * width + 2e3


def test_a_moved_emission_has_its_spectrum_and_its_truth_elsewhere():
    one = drawn("QPSK", 3, rate_hz=1e6, offset_hz=0.0)
    moved = one.moved(1e6 * 512 / 4096)
    spectra = [np.abs(np.fft.fft(x.samples)) for x in (one, moved)]
    np.testing.assert_allclose(np.roll(spectra[0], 512), spectra[1], atol=1e-2)
    assert moved.lower_hz - one.lower_hz == moved.upper_hz - one.upper_hz == moved.offset_hz == 125e3


def test_samples_per_symbol_reach_from_two_to_hundreds():
    size = 16_384
    for name, least, most in [("OOK", 4, 400), ("2FSK", 6, 300), ("BPSK", 2.1, 200), ("QPSK", 2.1, 100)]:
        each = [drawn(name, seed, samples=size) for seed in range(120)]
        per_symbol = [one.rate_hz / one.symbol_rate_hz for one in each]
        assert min(per_symbol) < least
        assert max(per_symbol) > most


def test_the_index_of_2fsk_is_drawn_apart_from_its_rate():
    emitters = [draw_emitter("2FSK", np.random.default_rng(seed)) for seed in range(400)]
    index = np.array([2 * e.deviation_hz / e.symbol_rate_hz for e in emitters if isinstance(e, Fsk)])
    rate = np.array([e.symbol_rate_hz for e in emitters])
    assert index.min() < 0.9
    assert index.max() > 60
    assert rate.max() / rate.min() > 1e4
    assert abs(np.corrcoef(np.log(index), np.log(rate))[0, 1]) < 0.5


def test_rates_reach_from_9600_to_twenty_million():
    rates = [drawn(name, seed).rate_hz for name in SENT for seed in range(8)]
    assert min(rates) == 9.6e3
    assert max(rates) == 20e6


def test_wide_ofdm_is_also_seen_in_part_only_and_fills_the_band():
    each = [drawn("OFDM", seed, samples=8192) for seed in range(60)]
    filled = [(one.upper_hz - one.lower_hz) / one.rate_hz > 0.85 for one in each]
    assert 0.1 < np.mean(filled) < 0.8


def test_packets_reach_from_a_hundred_microseconds_to_endless():
    each = [drawn("GFSK", seed, samples=32_768) for seed in range(60)]
    lengths_s = [(end - begin) / one.rate_hz for one in each for begin, end in one.bursts]
    assert min(lengths_s) < 2e-4
    assert any(one.bursts == [(0, 32_768)] for one in each)


def test_noise_is_nothing():
    one = drawn(NOISE, 1)
    assert not one.samples.any()
    assert one.bursts == []
    assert one.upper_hz == one.lower_hz


@pytest.mark.parametrize(
    ("name", "asked"), [("5QAM", {}), ("QPSK", {"samples": 1023}), ("QPSK", {"rate_hz": 0.0})]
)
def test_what_cannot_be_drawn_is_refused_in_one_line(name, asked):
    with pytest.raises(
        ConfigError, match=r"there is no class '5QAM'|expected at least 1024 and a positive rate"
    ):
        drawn(name, 1, **asked)
