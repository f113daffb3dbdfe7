"""Strangers: whatever is drawn is a signal, made of known classes only, and each effect does what it says."""

import numpy as np
import pytest

from training.signals.classes import FAMILIES, Constant, make_modulator
from training.signals.strange import (
    Bent,
    Filtered,
    Graft,
    Hops,
    Product,
    Pulses,
    Sum,
    Turns,
    echo,
    make_stranger,
    points,
)

KNOWN = ("OOK", "QPSK", "GMSK", "SSB", "OFDM", "carrier")


def rng(seed=1):
    return np.random.default_rng(seed)


def test_every_draw_is_a_signal_and_names_its_kin():
    of, like = set(), set()
    for seed in range(80):
        stranger = make_stranger(KNOWN, rng(seed))
        x = np.concatenate([stranger.make(1_000), stranger.make(3_000)])
        assert x.dtype == np.complex64
        assert np.isfinite(x).all()
        assert np.square(np.abs(x)).mean() > 1e-4
        assert stranger.of or stranger.like
        of, like = of | stranger.of, like | stranger.like
        assert np.array_equal(x[:1_000], make_stranger(KNOWN, rng(seed)).make(1_000))
    assert of == {FAMILIES[name] for name in KNOWN}
    assert like == {"ASK", "PSK", "QAM", "FSK", "FM", "chirp", "OFDM"}


def test_a_sum_is_all_of_them_at_their_levels_and_frequencies():
    both = Sum([Constant(1.0), Constant(2.0)], rng())
    x = np.concatenate([both.make(500), both.make(1_548)])
    waves = np.exp(2j * np.pi * both.places[:, None] * np.arange(2_048))
    assert np.allclose(x, both.levels @ waves, atol=1e-3)


def test_a_product_is_one_times_the_other():
    x = Product([make_modulator("GMSK", rng()), Constant(2.0)]).make(300)
    assert np.allclose(x, 2 * make_modulator("GMSK", rng()).make(300), atol=1e-5)


def test_a_graft_has_the_level_of_one_and_the_phase_of_the_other():
    x = Graft([make_modulator("SSB", rng(1)), make_modulator("GMSK", rng(2))]).make(300)
    level, phase = make_modulator("SSB", rng(1)).make(300), make_modulator("GMSK", rng(2)).make(300)
    assert np.allclose(np.abs(x), np.abs(level), atol=1e-5)
    assert np.allclose(x * np.abs(phase), np.abs(level) * phase, atol=1e-5)


def test_in_turn_every_sample_is_of_one_or_the_other():
    x = Turns([Constant(1.0), make_modulator("GMSK", rng())], rng()).make(4_000)
    ones = np.isclose(x, 1)
    assert 0.1 < ones.mean() < 0.9
    assert np.count_nonzero(np.diff(ones)) < 400  # turns last


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


def test_a_hopping_tone_stays_on_its_places_unless_it_slides():
    hops = next(h for h in (Hops(rng(seed)) for seed in range(20)) if not h.slide)
    x = np.concatenate([hops.make(700), hops.make(3_300)])
    assert np.allclose(np.abs(x), 1, atol=1e-5)
    turn = np.angle(x[1:] * x[:-1].conj()) / (2 * np.pi)
    assert np.abs(turn[:, None] - hops.places).min(1).max() < 1e-3


@pytest.mark.parametrize("seed", range(6))
def test_points_have_unit_power(seed):
    assert np.square(np.abs(points(rng(seed)))).mean() == pytest.approx(1, abs=1e-5)


def test_pulses_are_on_for_their_share():
    pulses = next(p for p in (Pulses(rng(seed)) for seed in range(20)) if p.duty < 1)
    x = np.concatenate([pulses.make(1_000), pulses.make(39_000)])
    assert np.mean(x != 0) == pytest.approx(pulses.duty, abs=0.05)
