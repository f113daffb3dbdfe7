"""The receiver's faults, each against theory, and what `receive` promises."""

from dataclasses import fields, replace

import numpy as np
import pytest
from scipy.signal import welch
from scipy.special import erfc

from training.signals import faults
from training.signals.classes import CLASSES, NOISE
from training.signals.reception import (
    IDEAL,
    REFERENCE,
    TYPICAL,
    Faults,
    at_level,
    beat,
    draw_neighbours,
    faded,
    receive,
)
from training.signals.wide import draw

FAULTS = [field.name for field in fields(Faults)]


def rng(seed=1):
    return np.random.default_rng(seed)


def noise(n, seed=1):
    return rng(seed).standard_normal(2 * n).astype(np.float32).view(np.complex64) / np.float32(np.sqrt(2))


def tone(n, cycles):
    """With so many cycles in n samples."""
    return np.exp(2j * np.pi * cycles / n * np.arange(n)).astype(np.complex64)


def power(x):
    return float(np.mean(np.abs(x.astype(np.complex128)) ** 2))


@pytest.mark.parametrize("name", ["QPSK", "GMSK", "WBFM", "OFDM"])
def test_the_snr_is_that_within_the_occupied_band(name):
    one = next(
        e
        for s in range(99)
        if len((e := draw(name, rng(s), samples=32_768)).bursts) == 1 and e.bursts[0] == (0, 32_768)
    )
    y = receive(one, rng(5), 12.0, faults=replace(IDEAL))
    width = (one.upper_hz - one.lower_hz) / one.rate_hz
    scale = np.abs(np.vdot(one.samples, y)) / np.vdot(one.samples, one.samples).real
    rest = y - one.samples * (np.vdot(one.samples, y) / np.vdot(one.samples, one.samples))
    measured = scale**2 * power(one.samples) / (power(rest) * max(width, REFERENCE))
    assert 10 * np.log10(measured) == pytest.approx(12, abs=0.3)


def test_without_faults_only_noise_is_added_and_it_is_white():
    y = receive(draw(NOISE, rng(), samples=65_536), rng(), 0.0, faults=IDEAL)
    _, density = welch(y, nperseg=256, return_onesided=False, detrend=False)
    assert density.std() / density.mean() < 0.1
    assert abs(np.mean(y)) < 0.02 * np.sqrt(power(y))


@pytest.mark.parametrize("name", CLASSES)
def test_any_emission_is_received_with_any_faults(name):
    for seed in range(6):
        one = draw(name, rng(seed), samples=3000)
        y = receive(one, rng(seed), float(seed * 8), draw_neighbours(rng(seed), one, CLASSES))
        assert y.shape == (3000,)
        assert y.dtype == np.complex64
        assert np.isfinite(y).all()
        again = receive(one, rng(seed), float(seed * 8), draw_neighbours(rng(seed), one, CLASSES))
        np.testing.assert_array_equal(y, again)


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_changes_what_is_received(fault):
    one = draw("QPSK", rng(3), rate_hz=1e6, samples=8192, offset_hz=250e3)
    plain, faulty = (
        receive(one, rng(7), 20.0, faults=replace(IDEAL, **{fault: share})) for share in (0.0, 1.0)
    )
    scale = np.vdot(plain, faulty) / np.vdot(plain, plain)
    assert power(faulty - scale * plain) > 1e-10 * power(faulty)


def test_a_beat_is_a_steady_carrier_in_the_band_below_the_emission():
    one = draw("QPSK", rng(3), rate_hz=1e6, samples=65_536, offset_hz=250e3)
    plain, with_beat = (receive(one, rng(7), 20.0, faults=replace(IDEAL, beat=share)) for share in (0.0, 1.0))
    only = beat(np.random.default_rng(1), one, 20.0)
    spectrum = np.abs(np.fft.fft(only)) ** 2
    place_hz = np.fft.fftfreq(len(only), 1e-6)[spectrum.argmax()]
    assert one.lower_hz <= place_hz <= one.upper_hz
    assert -30 <= 10 * np.log10(power(only) / power(at_level(one, 20.0))) <= -8
    assert not np.array_equal(plain, with_beat)


def test_a_typical_receiver_has_some_faults_and_none_always():
    assert all(0 < getattr(TYPICAL, fault) < 1 for fault in FAULTS)
    assert all(getattr(IDEAL, fault) == 0 for fault in FAULTS)


@pytest.mark.parametrize("image_db", [-25.0, -40.0])
def test_the_image_has_its_ratio_at_the_mirrored_frequency(image_db):
    spectrum = np.abs(np.fft.fft(faults.imaged(tone(4096, 300), image_db, 0.3))) ** 2
    assert 10 * np.log10(spectrum[-300] / spectrum[300]) == pytest.approx(image_db, abs=0.1)


@pytest.mark.parametrize("headroom_db", [-3.0, 3.0, 9.0])
def test_the_share_that_clips_is_that_of_gaussian_noise(headroom_db):
    x = faults.levelled(noise(200_000), headroom_db)
    assert 10 * np.log10(power(x)) == pytest.approx(-headroom_db, abs=0.05)
    y = faults.converted(x, 8)
    share = np.mean(np.abs(y.real) > 0.995)
    sigma = np.sqrt(10 ** (-headroom_db / 10) / 2)  # of I alone
    assert share == pytest.approx(erfc(0.992 / sigma / np.sqrt(2)), rel=0.1, abs=1e-4)


@pytest.mark.parametrize("bits", [8, 12])
def test_a_converter_adds_a_twelfth_of_a_squared_step_and_has_no_zero(bits):
    x = faults.levelled(noise(100_000), 20.0)
    y = faults.converted(x, bits)
    step = 2.0 ** (1 - bits)
    assert power(y - x) == pytest.approx(2 * step**2 / 12, rel=0.05)  # on I and on Q
    assert np.abs(y.real).min() == pytest.approx(step / 2)
    assert len(np.unique(y.real)) <= 2**bits


def test_the_floor_falls_towards_the_edges_and_is_flat_amid():
    for seed in range(40):
        shape = np.fft.fftshift(faults.floor_shape(rng(seed), 4096))
        shape_db = 20 * np.log10(shape)
        assert shape_db[0] - shape_db[2048 - 400] < -1
        amid = shape_db[np.r_[1500:1800, 2300:2600]]  # beside any hump at zero
        assert np.ptp(amid) < 10
        np.testing.assert_allclose(shape[1:2048][::-1], shape[2049:], rtol=1e-4)
    falls = [20 * np.log10(faults.floor_shape(rng(seed), 4096)[2048]) for seed in range(200)]
    assert min(falls) < -40
    assert max(falls) > -6


def test_noise_behind_the_floor_has_its_shape():
    shape = faults.floor_shape(rng(3), 65_536)
    f, density = welch(
        faults.through(noise(65_536), shape), nperseg=128, return_onesided=False, detrend=False
    )
    expected = np.interp(np.abs(f), np.arange(32_768) / 65_536, shape[:32_768] ** 2)
    inside = np.abs(f) < 0.25
    np.testing.assert_allclose(density[inside], expected[inside], rtol=0.35)


def test_spurs_are_steady_tones():
    for seed in range(20):
        spectrum = np.abs(np.fft.fft(faults.spurs(rng(seed), 16_384) * np.hanning(16_384))) ** 2
        order = np.sort(spectrum)[::-1]
        assert order[:40].sum() > 0.999 * order.sum()


def test_clicks_are_few_and_strong():
    for seed in range(20):
        x = faults.impulses(rng(seed), 16_384)
        assert 0 < np.count_nonzero(x) < 0.02 * 16_384
        assert np.abs(x).max() > 3


def test_gain_steps_are_of_at_most_six_decibels_each():
    for seed in range(20):
        gain_db = 20 * np.log10(faults.gain_steps(rng(seed), 4096))
        changes = np.diff(gain_db)
        changes = changes[np.abs(changes) > 1e-3]
        assert len(changes) <= 3
        assert np.all(np.abs(changes) <= 12)


def test_an_agc_lets_the_noise_rise_after_a_burst():
    x = noise(32_768) * 0.01
    x[4096:8192] += 1
    gains = [faults.pumping(rng(seed), x) for seed in range(20)]
    for gain in gains:
        assert gain[6000] < 0.6 * gain[2000]
        assert np.all(np.diff(gain[9000:]) >= -0.05 * gain[9000:-1])
        assert gain[-1] > gain[8300]


@pytest.mark.parametrize(("lower", "upper"), [(-0.1, 0.1), (0.2, 0.25)])
def test_a_channel_filter_keeps_the_emission_or_most_of_it_and_leaves_a_false_floor(lower, upper):
    f, kept = np.fft.fftfreq(8192), 0
    for seed in range(30):
        response = faults.channel(rng(seed), 8192, lower, upper)
        kept += response[(f >= lower) & (f <= upper)].min() > 0.999
        assert response[np.abs(f - (lower + upper) / 2) < 0.3 * (upper - lower)].min() > 0.999
        assert 10**-5 * 0.99 <= response.min() <= 10**-1.5 * 1.01
        width = upper - lower
        far = (f < lower - 2.1 * width - 0.03) | (f > upper + 2.1 * width + 0.03)
        assert not far.any() or response[far].max() <= 10**-1.5 * 1.01
    assert 15 <= kept < 28  # one of three is narrower


def test_audio_is_one_sided_or_real_and_keeps_what_is_heard():
    x = (tone(8192, 900) + tone(8192, -900) + 0.1 * noise(8192)).astype(np.complex64)
    kinds = set()
    for seed in range(30):
        y = faults.audio(rng(seed), x, 850 / 8192, 950 / 8192)
        spectrum = np.abs(np.fft.fft(y)) ** 2
        assert spectrum[900] > 0.9 * spectrum.max()
        kinds.add("real" if not y.imag.any() else "one-sided")
        if y.imag.any():
            assert spectrum[4096:].sum() < 1e-6 * spectrum.sum()
    assert kinds == {"real", "one-sided"}


def test_fading_keeps_the_power_and_bends_the_spectrum():
    one = next(e for s in range(99) if (e := draw("QPSK", rng(s), samples=16_384)).bursts == [(0, 16_384)])
    for seed in range(10):
        y = faded(rng(seed), one.samples, one)
        assert power(y) == pytest.approx(power(one.samples), rel=1e-3)


def test_neighbours_lie_beside_the_emission_within_the_band():
    for seed in range(60):
        one = draw(str(rng(seed).choice(CLASSES)), rng(seed), samples=2048)
        for other, snr_db in draw_neighbours(rng(seed), one, CLASSES):
            assert other.upper_hz <= one.lower_hz + 1e-3 or other.lower_hz >= one.upper_hz - 1e-3
            assert -0.5 * one.rate_hz < other.lower_hz <= other.upper_hz < 0.5 * one.rate_hz
            assert -5 <= snr_db <= 45
            assert other.rate_hz == one.rate_hz


def test_a_neighbour_is_as_strong_as_it_is_said_to_be():
    one = draw("QPSK", rng(1), rate_hz=1e6, samples=16_384, offset_hz=-250e3)
    other = draw("carrier", rng(2), rate_hz=1e6, samples=16_384, offset_hz=300e3)
    y = receive(one, rng(3), 10.0, [(other, 30.0)], IDEAL)
    own, others = (np.abs(np.vdot(x.samples, y) / np.vdot(x.samples, x.samples)) ** 2 for x in (one, other))
    width = (one.upper_hz - one.lower_hz) / 1e6
    assert 10 * np.log10(others / own) == pytest.approx(30 - 10 + 10 * np.log10(REFERENCE / width), abs=0.5)
