"""Strangers: whatever is drawn is a signal, made of known classes only, and each effect does what it says."""

import numpy as np
import pytest

from training.signals.classes import Constant, make_modulator
from training.signals.strange import Bent, Filtered, Hops, Pulses, Together, echo, make_stranger, points

KNOWN = ("OOK", "QPSK", "GMSK", "SSB", "OFDM", "carrier")


def rng(seed=1):
    return np.random.default_rng(seed)


def test_every_draw_is_a_signal_made_of_known_classes():
    parts = set()
    for seed in range(60):
        stranger = make_stranger(KNOWN, rng(seed))
        x = np.concatenate([stranger.make(1_000), stranger.make(3_000)])
        assert x.dtype == np.complex64
        assert np.isfinite(x).all()
        assert np.square(np.abs(x)).mean() > 1e-4
        assert len(stranger.parts) <= 2
        parts |= set(stranger.parts)
        assert np.array_equal(x[:1_000], make_stranger(KNOWN, rng(seed)).make(1_000))
    assert parts == set(KNOWN)


def test_a_sum_is_both_at_their_levels_and_frequencies():
    both = Together("sum", Constant(1.0), Constant(2.0), rng())
    x = np.concatenate([both.make(500), both.make(1_548)])
    expected = 1 + both.level * np.exp(2j * np.pi * both.apart * np.arange(2_048))
    assert np.allclose(x, expected, atol=1e-3)


def test_in_turn_every_sample_is_of_one_or_the_other():
    x = Together("turns", Constant(1.0), make_modulator("GMSK", rng()), rng()).make(4_000)
    ones = np.isclose(x, 1)
    assert 0.1 < ones.mean() < 0.9
    assert np.count_nonzero(np.diff(ones)) < 400  # turns last


def test_what_is_bent_keeps_its_other_half():
    inner = make_modulator("16QAM", rng(3)).make(500)
    for seed in range(12):
        bent = Bent(make_modulator("16QAM", rng(3)), rng(seed))
        x = bent.make(500)
        if bent.lost:
            assert np.allclose(x.real, inner.real, atol=1e-4)
        elif bent.turn > 1:
            assert np.allclose(np.abs(x), np.abs(inner), atol=1e-4)
        else:
            assert np.allclose(np.angle(x * inner.conj()), 0, atol=1e-3)


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
