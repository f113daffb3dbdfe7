"""The detector and the estimates: on noise of every kind, and on signals whose truth is known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import firwin, lfilter, welch

from streaming.detector import BINS, Detector
from streaming.errors import ConfigError
from streaming.estimate import estimate

RNG = np.random.default_rng(4)
BEGINNING = RNG.bit_generator.state


@pytest.fixture(autouse=True)
def _same_noise_for_each_test():
    RNG.bit_generator.state = BEGINNING


def noise(length, level=0.1, seed=None):
    rng = RNG if seed is None else np.random.default_rng(seed)
    return (rng.standard_normal((length, 2)) * level / np.sqrt(2)).astype(np.float32).view(np.complex64)[:, 0]


def band(length, width, centre, snr_db, level=0.1):
    """Noise in a band only, so that its bandwidth and SNR are exact."""
    wide = lfilter(firwin(513, width, fs=2.0), 1, noise(length + 513).astype(complex))[513:]
    wide *= np.sqrt(level**2 * width * 10 ** (snr_db / 10) / np.mean(np.abs(wide) ** 2))
    return (wide * np.exp(2j * np.pi * centre * np.arange(length))).astype(np.complex64)


def test_a_spectrum_is_that_of_scipy():
    x = noise(2048)
    theirs = welch(
        x, window=np.hanning(BINS), noverlap=BINS // 2, nperseg=BINS, return_onesided=False, detrend=False
    )
    np.testing.assert_allclose(Detector(2048).spectrum(x), np.fft.fftshift(theirs[1]), rtol=1e-4)


@pytest.mark.parametrize("block", [256, 512, 4096])
def test_noise_raises_no_alarm(block):
    detector = Detector(block)
    assert not any(v.active for _ in range(5) for v in detector.push(noise(block * 200)))
    np.testing.assert_allclose(detector.push(noise(block))[0].floor.mean(), 0.01, rtol=0.05)


def test_noise_that_falls_off_at_the_edges_raises_no_alarm_for_long():
    shaped = lfilter(firwin(31, 0.88), 1, noise(512 * 2000).astype(complex)).astype(np.complex64)
    assert sum(v.active for v in Detector(512).push(shaped)[200:]) == 0


def test_a_receiver_turned_up_or_down_is_no_signal_for_ever():
    detector = Detector(512, settle=20)
    detector.push(noise(512 * 200))
    up = [v.active for v in detector.push(noise(512 * 3_000, 0.2))]
    assert up[0]
    assert not any(up[2_500:])
    down = [v.active for v in detector.push(noise(512 * 400, 0.1))]
    assert not any(down)


@pytest.mark.parametrize(("width", "snr_db"), [(0.02, 13), (0.1, 8), (0.5, 5)])
def test_a_burst_is_found_to_the_block_and_ends_after_the_hang(width, snr_db):
    detector = Detector(512, hang=5)
    x = noise(512 * 400)
    x[512 * 200 : 512 * 300] += band(512 * 100, width, 0.1, snr_db)
    active = [v.active for v in detector.push(x)]
    assert not any(active[:200])
    assert any(active[200:203])
    assert np.mean(active[203:300]) > 0.95
    assert not any(active[306:])


@pytest.mark.parametrize("snr_db", [5, 10, 20, 30])
@pytest.mark.parametrize(("width", "centre"), [(0.1, 0.2), (0.4, -0.1), (0.6, 0.0)])
def test_estimates_are_near_the_truth(width, centre, snr_db):
    detector = Detector(512)
    floor = detector.push(noise(512 * 200))[-1].floor
    x = noise(512 * 16) + band(512 * 16, width, centre, snr_db)
    spectrum = np.mean([detector.spectrum(b) for b in x.reshape(-1, 512)], axis=0)
    found = estimate(spectrum, floor, averages=16 * 1.7)
    assert found.bandwidth == pytest.approx(width, rel=0.12)
    assert found.offset == pytest.approx(centre, abs=0.02)
    assert found.snr_db == pytest.approx(snr_db, abs=1.0)


def test_estimates_are_scaled_to_hertz():
    spectrum = np.ones(BINS)
    spectrum[160:164] = 100
    found = estimate(spectrum, np.ones(BINS), 1e6).scaled(256e3, 10e3)
    assert found.offset == pytest.approx(10e3 + 33.5e3, abs=100)
    assert found.bandwidth == pytest.approx(4e3, rel=0.02)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(0, 2000), max_size=12))
def test_no_cut_of_the_stream_shows(cuts):
    x = noise(12_000, seed=5)
    x[4000:7000] *= 5
    whole, detector = Detector(256).push(x), Detector(256)
    at = np.minimum(np.cumsum([0, *cuts]), len(x)).astype(int)
    pieces = [verdict for piece in np.split(x, at) for verdict in detector.push(piece)]
    assert [v.active for v in pieces] == [v.active for v in whole]
    for a, b in zip(pieces, whole, strict=True):
        np.testing.assert_array_equal(a.floor, b.floor)
        np.testing.assert_array_equal(a.samples, b.samples)


def test_digital_silence_is_quiet_and_what_follows_it_is_heard():
    detector = Detector(256)
    assert not any(v.active for v in detector.push(np.zeros(25_600, np.complex64)))
    assert detector.push(noise(256))[0].active


@pytest.mark.parametrize(
    "wrong", [{"block": 100}, {"block": 512, "hang": 0}, {"block": 512, "false_alarm": 1}]
)
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ConfigError, match=r"detector\."):
        Detector(**wrong)
