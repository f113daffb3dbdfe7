"""Outliers: whatever is drawn is a signal, made of known classes only, and each effect does what it says."""

import numpy as np
import pytest

from training.signals.classes import FAMILIES, Constant, make_modulator
from training.signals.constellation import constellation
from training.signals.effects import (
    Alternation,
    Bent,
    Filtered,
    Gated,
    Graft,
    Hops,
    Impulses,
    Loop,
    Product,
    Pulses,
    Remembered,
    Sum,
)
from training.signals.outliers import KINDS, MAKERS, echo, make_outlier, multiplex, points, rings
from training.signals.symbols import Even

KNOWN = ("OOK", "QPSK", "GMSK", "SSB", "OFDM", "carrier")


def rng(seed=1):
    return np.random.default_rng(seed)


def test_every_draw_is_a_signal_and_names_its_families():
    of, like = set(), set()
    for seed in range(160):
        outlier = make_outlier(KNOWN, rng(seed))
        x = np.concatenate([outlier.make(1_000), outlier.make(3_000)])
        assert x.dtype == np.complex64
        assert np.isfinite(x).all()
        assert np.square(np.abs(x)).mean() > 1e-4
        assert outlier.of or outlier.like
        of, like = of | outlier.of, like | outlier.like
        assert np.array_equal(x[:1_000], make_outlier(KNOWN, rng(seed)).make(1_000))
    assert of == {FAMILIES[name] for name in KNOWN}
    assert like == {"ASK", "PSK", "QAM", "FSK", "FM", "chirp", "OFDM"}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_goes_on_and_is_made_again_from_its_seed(kind):
    made = [MAKERS[kind](["QPSK", "16QAM"], rng(3)) for _ in range(2)]
    x, again = (np.concatenate([m.make(4_096), m.make(4_096)]) for m in made)
    assert np.array_equal(x, again)
    assert np.isfinite(x).all()
    assert not np.array_equal(x[:4_096], x[4_096:])


def test_a_sum_is_all_of_them_at_their_levels_and_frequencies():
    both = Sum([Constant(1.0), Constant(2.0)], rng())
    x = np.concatenate([both.make(500), both.make(1_548)])
    waves = np.exp(2j * np.pi * both.places[:, None] * np.arange(2_048))
    assert np.allclose(x, both.levels @ waves, atol=1e-3)


def test_side_by_side_is_even_over_the_width():
    comb = Sum([Constant(1.0)] * 4, rng(), width=0.4)
    assert np.allclose(comb.places, [-0.15, -0.05, 0.05, 0.15])


def test_a_multiplex_fills_its_width_with_narrow_signals():
    power = np.square(np.abs(np.fft.fft(multiplex(["QPSK"], rng(2)).make(32_768))))
    frequency = np.abs(np.fft.fftfreq(len(power)))
    assert power[frequency > 0.32].sum() < 0.01 * power.sum()
    assert not np.isnan(power).any()


def test_a_product_is_one_times_the_other():
    x = Product([make_modulator("GMSK", rng()), Constant(2.0)]).make(300)
    assert np.allclose(x, 2 * make_modulator("GMSK", rng()).make(300), atol=1e-5)


def test_a_graft_has_the_level_of_one_and_the_phase_of_the_other():
    x = Graft([make_modulator("SSB", rng(1)), make_modulator("GMSK", rng(2))]).make(300)
    level, phase = make_modulator("SSB", rng(1)).make(300), make_modulator("GMSK", rng(2)).make(300)
    assert np.allclose(np.abs(x), np.abs(level), atol=1e-5)
    assert np.allclose(x * np.abs(phase), np.abs(level) * phase, atol=1e-5)


def test_alternating_every_sample_is_of_one_or_the_other():
    x = Alternation([Constant(1.0), make_modulator("GMSK", rng())], rng()).make(4_000)
    ones = np.isclose(x, 1)
    assert 0.1 < ones.mean() < 0.9
    assert np.count_nonzero(np.diff(ones)) < 400  # each lasts


@pytest.mark.parametrize("seed", range(4))
def test_what_is_bent_keeps_its_other_half(seed):
    inner = make_modulator("16QAM", rng(3)).make(500)
    hows = ("level", "shrink", "grow", "loss")
    level, shrink, grow, loss = (
        Bent(make_modulator("16QAM", rng(3)), how, rng(seed)).make(500) for how in hows
    )
    assert np.allclose(np.angle(level * inner.conj()), 0, atol=1e-3)
    assert np.allclose(np.abs(shrink), np.abs(inner), atol=1e-4)
    assert np.allclose(np.abs(grow), np.abs(inner), atol=1e-4)
    assert np.allclose(loss.real, inner.real, atol=1e-4)
    for x in (level, shrink, grow, loss):
        assert not np.allclose(x, inner, atol=0.1)


def test_an_echo_comes_once_and_later():
    taps = echo(rng(5))
    assert np.count_nonzero(taps) == 2
    x = Filtered(Constant(1.0), taps).make(200)
    assert np.allclose(x[: len(taps) - 1], 1)
    assert np.allclose(x[len(taps) :], taps.sum())


@pytest.mark.parametrize("seed", range(4))
def test_what_is_gated_is_on_for_its_share_and_then_itself(seed):
    gated = Gated(Constant(1.0), rng(seed))
    x = np.concatenate([gated.make(777), gated.make(39_223)])
    assert np.mean(np.abs(x) > 0) == pytest.approx(gated.duty, abs=0.06)
    assert np.abs(x).max() == pytest.approx(1, abs=0.01)
    period = round(gated.period * 100)
    assert np.mean(np.abs(x[:-period] - x[period:])) < 0.15


@pytest.mark.parametrize("seed", range(4))
def test_a_loop_comes_again_but_for_its_sign(seed):
    loop = Loop(make_modulator("GMSK", rng(9)), rng(seed))
    size = len(loop.piece)
    x = np.concatenate([loop.make(333), loop.make(size), loop.make(3_000)])
    rounds = x[: len(x) // size * size].reshape(-1, size) / loop.piece
    assert np.allclose(np.abs(rounds), 1, atol=1e-3)
    assert np.allclose(rounds, rounds[:, :1], atol=1e-3)
    assert (len(set(np.sign(rounds[:, 0].real))) == 2) == loop.signed


@pytest.mark.parametrize("seed", range(4))
def test_impulses_come_as_often_as_they_should(seed):
    impulses = Impulses(rng(seed))
    x = np.concatenate([impulses.make(1_000) for _ in range(40)])
    assert np.count_nonzero(x) == pytest.approx(40_000 / impulses.period, rel=0.2)
    assert np.isfinite(Filtered(impulses, rings(rng(seed))).make(1_000)).all()


def test_remembered_symbols_hold_those_before():
    memory = Remembered(Even(constellation("QPSK"), rng(1)), rng(2))
    taken = np.concatenate([memory.take(10), memory.take(90)])
    plain = Even(constellation("QPSK"), rng(1))
    symbols = np.concatenate([plain.take(10), plain.take(90)])
    assert np.allclose(taken, np.convolve(symbols, memory.taps)[:100], atol=1e-5)
    assert not np.allclose(taken, symbols)


def test_a_hopping_tone_stays_on_its_places_unless_it_slides():
    hops = next(h for h in (Hops(rng(seed)) for seed in range(20)) if not h.slide)
    x = np.concatenate([hops.make(700), hops.make(3_300)])
    assert np.allclose(np.abs(x), 1, atol=1e-5)
    increment = np.angle(x[1:] * x[:-1].conj()) / (2 * np.pi)
    assert np.abs(increment[:, None] - hops.places).min(1).max() < 1e-3


@pytest.mark.parametrize("seed", range(6))
def test_points_have_unit_power(seed):
    assert np.square(np.abs(points(rng(seed)))).mean() == pytest.approx(1, abs=1e-5)


def test_pulses_are_on_for_their_share():
    pulses = next(p for p in (Pulses(rng(seed)) for seed in range(20)) if p.duty < 1)
    x = np.concatenate([pulses.make(1_000), pulses.make(39_000)])
    assert np.mean(x != 0) == pytest.approx(pulses.duty, abs=0.05)
