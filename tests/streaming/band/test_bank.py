"""Channels against direct sums, scipy's resampler and tones; a channel is the same in any band."""

import numpy as np
import pytest
from scipy.signal import firwin, resample
from scipy.signal.windows import tukey

from streaming.band.bank import Bank, Channel, kept_bins, response
from tests.streaming.band.signals import noise, psk, tone

SIZE = 4096
HOPS = 12


def run(x, offset, width, fraction=0.4, size=SIZE):
    """The samples of a channel, and the channel."""
    bank, out = Bank(size, 40), []
    channel = Channel(bank, offset, width, fraction)
    for i in range(0, len(x) - size // 2 + 1, size // 2):
        bank.push(x[i : i + size // 2])
        if bank.count > len(out):
            out.append(channel.read(bank.count - 1))
    return np.concatenate(out), channel


def filtered(x, channel, size=SIZE):
    """x turned to the channel's centre and filtered in float64, by definition."""
    rate = min(1.0, channel.kept / size)
    taps = min(size // 2, int(np.ceil((60 - 7.95) / (14.36 * 0.06 * rate)))) | 1
    window = ("kaiser", 0.1102 * (60 - 8.7))
    h = firwin(taps, 0.47 * rate, window=window, fs=1.0)
    turned = x.astype(complex) * np.exp(-2j * np.pi * channel.offset * np.arange(len(x)))
    return np.convolve(turned, h)[taps // 2 :][: len(x)]


@pytest.mark.parametrize("offset", [0.0, 0.11, -0.3, 0.49])
@pytest.mark.parametrize("step", [2, 4, 16])
def test_whole_steps_equal_a_direct_sum(step, offset):
    x = noise(HOPS * SIZE // 2, level=1.0)
    found, channel = run(x, offset, 0.4 / step)
    assert channel.step == step
    expected = filtered(x, channel)[::step][: len(found)]
    assert len(found) == (HOPS - 1) * SIZE // 2 // step
    # What the filter leaves beyond half the rate folds back: 60 dB down
    assert np.abs(found - expected).max() < 3e-3 * np.abs(expected).max()


@pytest.mark.parametrize("width", [0.4 * 0.87, 0.13, 0.06])
def test_other_steps_equal_scipys_resampler(width):
    x = psk(HOPS * SIZE // 2, 64, 0.2, 1.0)
    found, channel = run(x, 0.2, width)
    assert channel.step != round(channel.step)
    expected = resample(filtered(x, channel), HOPS * channel.kept // 2)
    middle = slice(len(found) // 8, len(found) * 7 // 8)
    assert np.abs(found[middle] - expected[middle]).max() < 2e-3 * np.abs(expected).max()


@pytest.mark.parametrize("width", [0.9, 0.25, 0.1, 0.02, 0.007])
@pytest.mark.parametrize("offset", [0.0, 0.1003, -0.3001, 0.2002])
def test_a_tone_keeps_its_amplitude_and_its_phase_from_block_to_block(width, offset):
    length = HOPS * SIZE // 2
    _, channel = run(np.zeros(SIZE, np.complex64), offset, width)
    f = 0.3 * min(1, 1 / channel.step)
    found, _ = run(tone(length, channel.offset + f), offset, width)
    expected = np.exp(2j * np.pi * f * channel.step * np.arange(len(found)))
    began = channel.kept // 2  # the filter must have heard the tone
    assert np.abs(found - expected)[began:].max() < 2e-3


@pytest.mark.parametrize("width", [0.2, 0.05, 0.02])
def test_what_would_fold_is_sixty_decibels_down(width):
    _, channel = run(np.zeros(SIZE, np.complex64), 0.1, width)
    found, _ = run(tone(HOPS * SIZE // 2, channel.offset + 0.51 / channel.step), 0.1, width)
    assert 20 * np.log10(np.abs(found[channel.kept :]).max()) < -57


def test_the_filter_passes_44_percent_of_the_rate():
    flat = response(SIZE, 1024)[512 - 450 : 512 + 450]
    assert np.abs(20 * np.log10(flat)).max() < 0.02


@pytest.mark.parametrize("rate", np.geomspace(0.016, 2.0, 40))
def test_a_rate_is_met_within_an_eighth_of_an_octave(rate):
    kept = kept_bins(65_536, rate)
    assert kept % 4 == 0
    assert abs(np.log2(kept / 65_536 / rate)) < 0.14


def test_a_channel_is_neither_narrower_nor_wider_than_can_be_transformed():
    assert kept_bins(4096, 1e-6) >= 64
    assert kept_bins(4096, 100.0) <= 4 * 4096 * 1.02


@pytest.mark.parametrize(("neighbour_db", "error"), [(None, 1e-3), (30, 0.01)])
def test_a_narrow_signal_in_a_wide_band_is_the_same_as_alone(neighbour_db, error):
    rate, alone_rate, offset_hz = 2.4e6, 50e3, 300e3
    within = firwin(255, 0.06, window=("kaiser", 10.0), fs=1.0)  # 5 kHz, and nothing else
    alone = np.pad(np.convolve(psk(7_746, 16, 0.0, 0.1) * tukey(7_746, 0.2), within), 1_000).astype(
        np.complex64
    )
    wide = resample(alone.astype(complex), 48 * len(alone)) * tone(48 * len(alone), offset_hz / rate)
    if neighbour_db is not None:
        wide += tone(len(wide), 400e3 / rate, 0.1 * 10 ** (neighbour_db / 20))
    found, channel = run(wide.astype(np.complex64), offset_hz / rate, 5e3 / rate, size=65_536)
    reference, narrow = run(alone, 0.0, 5e3 / alone_rate, size=1024)
    # Both at the instants of `found`: an oscillator takes away what f, a whole number of bins, leaves.
    at = np.arange(len(found)) * channel.step / rate  # seconds
    left_hz = offset_hz - channel.offset * rate
    found = found * np.exp(-2j * np.pi * left_hz * at)
    count = len(reference)
    position = at * alone_rate / narrow.step
    frequencies = np.fft.fftfreq(count)
    expected = np.exp(2j * np.pi * np.outer(position, frequencies)) @ np.fft.fft(reference) / count
    inside = (at > 0.02) & (at < 0.15)
    assert np.abs(found - expected)[inside].max() < error * np.abs(expected).max()


def test_old_blocks_are_dropped_and_a_reset_forgets():
    bank = Bank(256, kept=3)
    for _ in range(10):
        bank.push(noise(128))
    assert (bank.oldest, bank.count) == (6, 9)
    bank.reset()
    assert (bank.oldest, bank.count) == (0, 0)
    x, again = noise(1280), Bank(256, kept=3)
    for i in range(0, 1280, 128):
        bank.push(x[i : i + 128])
        again.push(x[i : i + 128])
    np.testing.assert_array_equal(bank.block(8), again.block(8))
