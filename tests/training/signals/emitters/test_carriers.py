"""OFDM and chirps against their definitions."""

from dataclasses import replace

import numpy as np
import pytest

from training.signals.constellation import constellation
from training.signals.emitters.bursts import Bursts
from training.signals.emitters.cellular import cellular_grid
from training.signals.emitters.chirp import Lora, Sweep
from training.signals.emitters.ofdm import Ofdm, draw_ofdm
from training.signals.emitters.ofdm_systems import SYSTEMS, System


def rng(seed=1):
    return np.random.default_rng(seed)


def ofdm(carriers=64, prefix=0.25, load=1.0, **settings) -> Ofdm:
    """With carriers 1,000 Hz apart."""
    system = System("test", 1000.0, (carriers,), (prefix,), ("QPSK",), **settings)
    return Ofdm(system, 1000.0, carriers, prefix, "QPSK", load, (1.05, 6.0))


@pytest.mark.parametrize(("prefix", "rate_hz"), [(0.25, 128e3), (0.125, 100e3), (0.0703, 173e3)])
def test_a_prefix_repeats_the_end_of_its_symbol(prefix, rate_hz):
    x = ofdm(prefix=prefix).make(rng(), rate_hz, 100_000).samples
    useful = rate_hz / 1000
    lags = np.arange(int(0.6 * useful), int(1.5 * useful))
    power = np.mean(np.abs(x) ** 2)
    echo = np.array([np.abs(np.vdot(x[:-lag], x[lag:])) / len(x) / power for lag in lags])
    assert lags[echo.argmax()] == pytest.approx(useful, abs=1)
    assert echo.max() == pytest.approx(prefix / (1 + prefix), rel=0.1)
    product = x[round(useful) :] * x[: -round(useful)].conj()
    lines = np.abs(np.fft.rfft(product.real - product.real.mean()))
    f = np.fft.rfftfreq(len(product), 1 / rate_hz)
    assert f[100 + lines[100:2000].argmax()] == pytest.approx(1000 / (1 + prefix), rel=0.01)


def test_carriers_lie_where_they_are_stated_with_a_hole_amid_them():
    rate_hz, n = 128e3, 128 * 400
    x = ofdm(prefix=1 / 64).make(rng(), rate_hz, n).samples
    density = np.abs(np.fft.fft(x.reshape(-1, 1280) * np.hanning(1280))) ** 2
    khz = np.fft.fftfreq(1280, 1 / 128)
    mean = density.mean(0)
    inside = mean[(np.abs(khz) > 1) & (np.abs(khz) < 32)].mean()
    assert mean[khz == 0] < 0.2 * inside
    assert mean[np.abs(khz) > 44].max() < 0.02 * inside  # skirts of 1 / (pi^2 distance)


def test_without_load_most_resource_blocks_are_empty_but_for_their_pilots():
    def occupied(load):
        x = ofdm(600, 0.0703, load, blocks=12, pilots=(6, 1.0)).make(rng(), 700e3, 140_000).samples
        spectra = np.abs(np.fft.fft(x.reshape(-1, 700))) ** 2
        level = spectra[:, np.r_[20:290, 410:680]]
        return np.mean(level > 0.1 * np.quantile(level, 0.95))

    assert occupied(0.2) < 0.75 * occupied(1.0)


def test_without_a_prefix_nothing_repeats():
    x = ofdm(prefix=0.0).make(rng(), 128e3, 100_000).samples
    assert np.abs(np.vdot(x[128:], x[:-128])) < 0.02 * np.vdot(x, x).real


def test_an_idle_lte_cell_sends_its_references_twice_a_slot_and_synchronisation_each_5_ms():
    """3GPP TS 36.211: symbols 0 and 4 of each slot of 7; the middle 62 carriers, 70 symbols apart."""
    carriers = np.r_[-300:0, 1:301]
    grid = cellular_grid(rng(7), constellation("QPSK"), 0.0, 280, carriers, new=False)
    power = np.square(np.abs(grid))
    by_symbol = power[:, np.abs(carriers) > 40].mean(1)
    strong = np.flatnonzero(by_symbol > 0.2)
    within = np.bincount(strong % 7, minlength=7)
    first = int(within.argmax())
    assert within[first] == 40 or within[(first + 4) % 7] == 40
    full = np.flatnonzero((power[:, np.abs(carriers) <= 31] > 0.5).all(1))
    assert {int(d) for d in np.diff(full)} <= {1, 2, 3, 62, 64, 65, 66, 67, 68, 69, 70}
    assert len(full) >= 8


def test_a_receiver_within_a_wide_emission_sees_its_band_full():
    wide = replace(ofdm(1200), oversampling=(0.08, 1.0))
    for seed in range(5):
        x = wide.make(rng(seed), 192e3, 96_000).samples
        density = np.abs(np.fft.fft(x.reshape(-1, 96))) ** 2
        f = np.abs(np.fft.fftfreq(96))
        assert density.mean(0)[f < 0.4].min() > 0.3 * density.mean()


def test_a_burst_with_training_begins_with_a_quarter_of_the_carriers():
    one = ofdm(52, 0.25, training=True, bursts=Bursts((0.02, 0.02), (0.02, 0.02)))
    wave = one.make(rng(3), 128e3, 64_000)
    begin, _ = next(b for b in wave.bursts if b[0] > 0)
    head = wave.samples[begin + 10 : begin + 10 + 128]
    shifted = wave.samples[begin + 10 + 32 : begin + 10 + 160]
    alike = np.abs(np.vdot(head, shifted)) / np.vdot(head, head).real
    assert alike > 0.9  # each fourth carrier only: it repeats four times per symbol


# Spacing and occupied width: 3GPP TS 36.101, IEEE 802.11, EN 300 744, EN 300 401.
@pytest.mark.parametrize(
    ("title", "spacing_hz", "width_hz"),
    [
        ("LTE", 15e3, 18e6),
        ("Wi-Fi 802.11a/g", 312.5e3, 16.25e6),
        ("DVB-T 8K", 1116, 7.61e6),
        ("DAB", 1e3, 1.536e6),
    ],
)
def test_standards_have_their_numbers(title, spacing_hz, width_hz):
    (system,) = (s for s in SYSTEMS if s.title == title)
    assert system.spacing_hz == pytest.approx(spacing_hz, rel=1e-3)
    assert max(system.carriers) * system.spacing_hz == pytest.approx(width_hz, rel=1e-2)


def test_any_ofdm_drawn_is_finite_and_there():
    for seed in range(60):
        one = draw_ofdm(rng(seed))
        wave = one.make(rng(seed), max(9.6e3, one.oversampling[0] * one.width_hz), 4096)
        assert np.isfinite(wave.samples).all()
        assert wave.samples.any()


@pytest.mark.parametrize("spreading", [5, 7, 10])
@pytest.mark.parametrize("inverted", [False, True])
def test_a_lora_symbol_is_one_tone_behind_a_chirp_of_the_other_slope(spreading, inverted):
    chips = 2**spreading
    one = Lora(spreading, 125e3, inverted, preamble=8, payload=20)
    over = 4
    times = np.arange((8 + 4.25 + 20) * chips * over) / (chips * over)
    frequency = one.frame(rng(2), times) * (-1 if inverted else 1) / over
    x = np.exp(2j * np.pi * np.cumsum(frequency))
    if inverted:
        x = x.conj()
    u = np.arange(chips * over) / over
    down = np.exp(-2j * np.pi * (u**2 / (2 * chips) - u / 2))

    def tone(symbol):
        part = x[round(symbol * chips * over) :][: chips * over] * down
        power = np.abs(np.fft.fft(part)) ** 2
        folded = power[:chips] + power[-chips:]  # a chirp wraps once within its symbol
        return folded.argmax(), folded.max() / power.sum()

    preamble = [tone(i)[0] for i in range(8)]
    assert len(set(preamble)) == 1
    sync = [(tone(8 + i)[0] - preamble[0]) % chips for i in range(2)]
    assert sync == [8, 16 % chips]
    shares = [tone(12.25 + i)[1] for i in range(20)]
    assert min(shares) > 0.4
    assert len({tone(12.25 + i)[0] for i in range(20)}) > 5


def test_lora_sweeps_its_whole_bandwidth_in_a_symbol():
    one = Lora(9, 125e3, False, 8, 20)
    assert one.symbol_rate_hz == pytest.approx(244.14, rel=1e-4)  # SX1276 data sheet: 125 kHz / 512
    wave = one.make(rng(4), 500e3, 32_768)
    begin, end = wave.bursts[0]
    x = wave.samples[begin + 100 : end - 100]
    hz = np.angle(x[1:] / x[:-1]) * 500e3 / (2 * np.pi)
    assert hz.min() == pytest.approx(-62.5e3, rel=0.02)
    assert hz.max() == pytest.approx(62.5e3, rel=0.02)
    rise = np.median(np.diff(hz))
    assert rise == pytest.approx(125e3 * 244.14 / 500e3, rel=0.01)


@pytest.mark.parametrize("triangle", [False, True])
def test_a_sweep_has_its_slope_width_and_period(triangle):
    one = Sweep("test", 100e3, 50.0, triangle, False, 1.0)
    x = one.make(rng(), 400e3, 80_000).samples
    hz = np.angle(x[1:] / x[:-1]) * 400e3 / (2 * np.pi)
    assert np.ptp(hz) == pytest.approx(100e3, rel=0.01)
    slope = np.median(np.abs(np.diff(hz))) * 400e3  # Hz per second
    assert slope == pytest.approx(100e3 * 50 * (2 if triangle else 1), rel=0.01)
    np.testing.assert_allclose(hz[:8000], hz[8000:16_000], atol=200)  # a period of 20 ms


def test_radar_pulses_are_bursts_of_their_duty():
    wave = Sweep("test", 100e3, 50.0, False, False, 0.25).make(rng(), 400e3, 80_000)
    assert len(wave.bursts) == pytest.approx(10, abs=1)
    assert {end - begin for begin, end in wave.bursts[1:-1]} <= {1999, 2000, 2001}
    assert np.mean(np.abs(wave.samples) > 0) == pytest.approx(0.25, abs=0.03)
