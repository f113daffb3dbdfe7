"""The kernel's part of the band gives what numpy gives, on every instruction set."""

import numpy as np
import pytest
from scipy.ndimage import median_filter

from streaming import changes
from streaming.band import bank, evidence, floor, regions, tracker
from streaming.band.bank import Bank, Channel
from streaming.band.evidence import MOMENTS, moments_in_numpy
from streaming.band.floor import QUANTILE
from streaming.band.regions import Standout
from streaming.changes import Changes
from streaming.native_library import EXACT, works
from streaming.native_signals import SignalKernel
from tests.require import need_processor
from tests.streaming.band.signals import flat_band, fsk, noise, ook, psk, tone
from tests.streaming.band.streams import pieces, run

USERS = (bank, changes, evidence, floor, regions, tracker)


@pytest.fixture(params=["portable", "avx2"])
def kernel(request):
    need_processor(request.param in EXACT and works(request.param), request.param)
    return SignalKernel(request.param)


def looks_with_emissions(bins, rng):
    """Looks (16, bins) at noise and a few emissions of any width, over its floor."""
    level = rng.uniform(0.5, 2, bins)
    looks = rng.gamma(1.8, 1 / 1.8, (16, bins)) * level
    for _ in range(rng.integers(0, 8)):
        first, width = rng.integers(0, bins), int(np.exp(rng.uniform(0, np.log(bins))))
        looks[rng.integers(0, 16) :, first : first + width] *= 10 ** rng.uniform(0, 2)
    return looks, level


@pytest.mark.parametrize("bins", [128, 256, 2048])
def test_the_same_bins_stand_out(kernel, bins):
    rng, standout = np.random.default_rng(bins), Standout(bins)
    for _ in range(30):
        looks, level = looks_with_emissions(bins, rng)
        expected = standout.find_in_numpy(looks, level)
        np.testing.assert_array_equal(kernel.standout(looks, level, standout._limits), expected)


# Of lengths with small factors, with 19, 23 and 599, and of more bins than a block has.
@pytest.mark.parametrize(
    ("offset", "width"), [(0.1, 0.002), (0.49, 0.05), (-0.5, 5e-4), (0, 0.33), (0.2, 0.9)]
)
def test_a_channels_samples_are_those_of_numpy(kernel, offset, width):
    whole = Bank(1 << 16, 2)
    for seed in range(3):
        whole.push(noise(whole.hop, seed))
    channel = Channel(whole, offset, width, 0.4)
    found = kernel.channel(whole.block(1), channel.bin, channel._response, -1.0, channel.kept)
    expected = channel.read_in_numpy(whole.block(1), -1.0)
    assert np.abs(found - expected).max() < 1e-6 * np.abs(expected).max()


def test_moments_are_those_of_numpy(kernel):
    x = np.concatenate(
        [noise(10 * 512), psk(10 * 512, 8), fsk(10 * 512, 16, 0.05), np.zeros(512, np.complex64)]
    )
    hops = x.reshape(-1, 512)
    np.testing.assert_allclose(kernel.moments(hops, MOMENTS), moments_in_numpy(hops), rtol=1e-5, atol=1e-5)


def test_moments_are_as_far_apart_as_in_numpy(kernel):
    rows, compared = np.random.default_rng(1).standard_normal((40, 5)), Changes(512)
    found = kernel.apart(rows, compared.earlier, compared.recent)
    np.testing.assert_allclose(found, compared.apart_in_numpy(rows), rtol=1e-12)


def test_columns_stay_in_order_whatever_comes_and_goes(kernel):
    rng = np.random.default_rng(1)
    values = rng.integers(0, 9, (40, 130)).astype(float)  # many are equal
    ordered = np.full((8, 130), np.inf)
    for i, fresh in enumerate(values):
        kernel.reorder(ordered, values[i - 8] if i >= 8 else None, fresh)
        kept = values[max(0, i - 7) : i + 1]
        np.testing.assert_array_equal(ordered[: len(kept)], np.sort(kept, axis=0))


def test_a_floor_of_few_and_of_many_averages_is_their_quantile():
    one, rng = floor.Floor(256), np.random.default_rng(1)
    one.start(rng.gamma(1.8, 1, (64, 256)))
    for _ in range(80):
        for look in rng.gamma(1.8, 1, (16, 256)):
            one.add(look, np.zeros(256, bool))
            one.count(1)
        usual = np.quantile(np.array(one._averages), QUANTILE, axis=0)
        np.testing.assert_array_equal(one.level, median_filter(usual / one._bias, 3, mode="nearest"))


def busy_band():
    """What was there before, what comes and goes, beside, on top of and after each other."""
    length = 400_000
    x = noise(length) + psk(length, 40, -0.3, 0.05) + tone(length, 0.41, 0.03)
    bursts = [
        (60, fsk(90_000, 64, 0.03, 0.1)),
        (110, ook(40_000, 300, -0.1)),
        (115, psk(30_000, 16, 0.25, 0.05)),
    ]
    bursts += [(180 + 15 * i, tone(6_000, 0.2 - 0.05 * i, 0.05)) for i in range(6)]
    bursts += [(300, flat_band(50_000, 0.3, 0.1, 0.2)), (310, psk(40_000, 20, -0.3, 0.4, seed=9))]
    for at, burst in bursts:
        x[at * 1000 : at * 1000 + len(burst)] += burst
    return x


def test_a_busy_band_has_the_same_tracks_boxes_and_samples_as_in_numpy(kernel, monkeypatch):
    decided = list[int]()
    decide = tracker.Tracker._push_one
    monkeypatch.setattr(tracker.Tracker, "_push_one", lambda *args: decided.append(1) or decide(*args))
    found, expected = [], []
    for code, out in ((kernel, found), (None, expected)):
        for module in USERS:
            monkeypatch.setattr(module, "signal_kernel", lambda code=code: code)
        decided.clear()
        out.extend(pieces(run(busy_band())[0]))
        looks = 400_000 // 128
        assert len(decided) < looks / 4 if code else len(decided) >= looks - 1
    assert len({piece.track for piece in expected}) >= 8
    assert len(found) == len(expected)
    loudest = max(np.abs(piece.samples).max(initial=0) for piece in expected)
    for a, b in zip(found, expected, strict=True):
        assert (a.track, a.emission, a.start, a.step, a.begins, a.box, a.steady, a.ends) == (
            b.track,
            b.emission,
            b.start,
            b.step,
            b.begins,
            b.box,
            b.steady,
            b.ends,
        )
        np.testing.assert_allclose(a.samples, b.samples, rtol=0, atol=1e-6 * loudest)
