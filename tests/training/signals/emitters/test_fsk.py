"""FSK against theory: tones, shaping filters, eyes without interference, occupied bandwidths."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import lti, step
from scipy.special import erf

from training.signals.emitters.bits import draw_data
from training.signals.emitters.bursts import Bursts
from training.signals.emitters.fsk import Fsk, draw_fsk, shaped
from training.signals.emitters.fsk_systems import HARD, SYSTEMS, Shaping, gauss
from training.signals.emitters.waves import occupied


def rng(seed=1):
    return np.random.default_rng(seed)


def sender(name, index, shaping=HARD, **settings) -> Fsk:
    """At 1,000 Bd, always on, with random data."""
    tones = {"4FSK": 4, "MFSK": 8}.get(name, 2)
    data = replace(draw_data(rng()), kind="random")
    deviation_hz = (tones - 1) * index * 500.0
    one = Fsk(name, "test", 1000.0, deviation_hz, shaping, Bursts(), None, data, 0.5, 0.0, tones)
    return replace(one, **settings)


def frequency(x, rate_hz):
    """Hz between neighbouring samples."""
    return np.angle(x[1:] / x[:-1]) * rate_hz / (2 * np.pi)


@pytest.mark.parametrize(
    ("name", "index"), [("2FSK", 0.7), ("2FSK", 20.0), ("4FSK", 0.3), ("4FSK", 4.0), ("MFSK", 1.0)]
)
def test_tones_lie_an_index_apart_and_the_level_is_constant(name, index):
    rate_hz = 64_000.0
    x = sender(name, index).make(rng(), rate_hz, 65_536).samples
    np.testing.assert_allclose(np.abs(x), 1, atol=1e-5)
    hz = frequency(x, rate_hz).round(0)
    tones, counts = np.unique(hz, return_counts=True)
    tones = tones[counts > 0.02 * len(hz)]
    expected = {"2FSK": [-0.5, 0.5], "4FSK": [-1.5, -0.5, 0.5, 1.5], "MFSK": np.arange(-3.5, 4)}[name]
    np.testing.assert_allclose(tones, np.array(expected) * index * 1000, atol=1.5)


# Murota and Hirade 1981, 99 % of the power; no shaping is MSK.
@pytest.mark.parametrize(("bt", "theory"), [(0, 1.20), (0.5, 1.04), (0.25, 0.86), (0.2, 0.79)])
def test_occupied_bandwidth_of_msk_and_gmsk(bt, theory):
    x = sender("GMSK", 0.5, gauss(bt) if bt else HARD).make(rng(), 6000.0, 200_000).samples
    lower, upper = occupied(x)
    assert (upper - lower) * 6 == pytest.approx(theory, rel=0.03)


def test_the_symbol_clock_is_that_which_is_stated():
    x = sender("2FSK", 3.0).make(rng(), 20e3, 65_536).samples
    edges = np.flatnonzero(np.abs(np.diff(frequency(x, 20e3))) > 500)
    gaps = np.diff(edges)
    gaps = gaps[gaps > 5] / 20  # symbols
    assert np.abs(gaps - gaps.round()).max() <= 0.11
    assert 1 in gaps.round()


# Filters against their step responses: formulas, or scipy's.
def test_a_gaussian_filter_has_the_step_of_an_error_function():
    t = (np.arange(4000) - 2000 + 0.5) / 100
    spread = np.pi * 0.3 * np.sqrt(2 / np.log(2))  # BT 0.3
    found = shaped(np.repeat([-1, 1], 2000).astype(np.float32), gauss(0.3), 100.0)
    np.testing.assert_allclose(found[1000:3000], erf(spread * t[1000:3000]), atol=2e-3)


@pytest.mark.parametrize(
    ("shaping", "system"),
    [
        (Shaping("pole", 1.5), lti([], [-2 * np.pi * 1.5] * 2, (2 * np.pi * 1.5) ** 2)),
        (Shaping("loop", 0.8), lti([(2 * np.pi * 0.8) ** 2], [1, 2 * np.pi * 0.8, (2 * np.pi * 0.8) ** 2])),
    ],
    ids=["pole", "loop"],
)
def test_an_analogue_filter_has_the_step_that_scipy_gives(shaping, system):
    _, expected = step(system, T=np.arange(1500) / 100)
    found = shaped(np.repeat([0, 1], 2000).astype(np.float32), shaping, 100.0)[2000:3500]
    np.testing.assert_allclose(found, expected, atol=0.04)
    assert (found.max() > 1.1) == (shaping.kind == "loop")


@pytest.mark.parametrize("kind", ["rrc", "c4fm"])
def test_digital_voice_has_an_open_eye_behind_its_receiver(kind):
    """DMR and NXDN: a matched root raised cosine. P25: integrate over a symbol (TIA-102.BAAA)."""
    rate_hz, rolloff = 48_000.0, 0.2
    one = sender("4FSK", 0.27, Shaping(kind, rolloff))
    x = one.make(rng(), rate_hz, 96_000).samples
    hz = np.append(frequency(x, rate_hz), 0)
    f = np.abs(np.fft.fftfreq(len(hz))) * 48  # symbol rates
    matched = np.cos(np.pi / 2 * np.clip((f - (1 - rolloff) / 2) / rolloff, 0, 1))
    eye = np.fft.ifft(np.fft.fft(hz) * (matched if kind == "rrc" else np.sinc(f))).real
    levels = np.array([-1, -1 / 3, 1 / 3, 1]) * one.deviation_hz
    errors = [np.abs(eye[phase::48][20:-20, None] - levels).min(1).mean() for phase in range(48)]
    assert min(errors) < 0.03 * one.deviation_hz
    assert max(errors) > 0.1 * one.deviation_hz


# Outer deviations in Hz as generally known; DMR's is that of ETSI TS 102 361-1, 10.2.2.1 (h = 0.27).
@pytest.mark.parametrize(
    ("name", "title", "rate_hz", "deviation_hz"),
    [
        ("4FSK", "DMR, base", 4800, 1944),
        ("4FSK", "dPMR", 2400, 1050),
        ("4FSK", "NXDN, 12.5 kHz", 4800, 2400),
        ("4FSK", "P25 phase 1 C4FM", 4800, 1800),
        ("GMSK", "AIS", 9600, 2400),
        ("GMSK", "GSM, beacon", 270_833, 67_708),
        ("2FSK", "FLEX", 1600, 4800),
    ],
)
def test_standards_have_their_numbers(name, title, rate_hz, deviation_hz):
    (system,) = (s for s in SYSTEMS[name] if s.title == title)
    deviation = system.deviation_hz[0] or system.index[0] * rate_hz / 2
    assert system.rates_hz[0] == rate_hz
    assert deviation == pytest.approx(deviation_hz, rel=1e-4)


def test_a_tilt_makes_one_tone_stronger():
    x = sender("2FSK", 10.0, tilt=0.2).make(rng(), 64e3, 32_768).samples
    up = np.append(frequency(x, 64e3) > 0, False)
    assert np.median(np.abs(x[up])) == pytest.approx(1.2, rel=1e-3)
    assert np.median(np.abs(x[~up])) == pytest.approx(0.8, rel=1e-3)


def test_a_burst_begins_with_its_preamble():
    bursts = Bursts((0.5, 0.5), (0.3, 0.3))
    one = sender("2FSK", 4.0, bursts=bursts)
    wave = one.make(rng(7), 32e3, 65_536)
    begin, end = next(b for b in wave.bursts if b[0] > 0)
    hz = frequency(wave.samples[begin:end], 32e3)
    symbols = np.sign(hz[16::32][: len(one.data.preamble)])
    expected = 2.0 * one.data.preamble - 1
    np.testing.assert_array_equal(symbols[2:], expected[2 : len(symbols)])
    assert not wave.samples[end:][: int(0.2 * 32e3)].any()


@pytest.mark.parametrize("name", SYSTEMS)
def test_drawn_settings_stay_within_the_class(name):
    for seed in range(150):
        one = draw_fsk(name, rng(seed))
        index = 2 * one.deviation_hz / one.symbol_rate_hz / (one.tones - 1)
        if name in ("MSK", "GMSK"):
            assert index == pytest.approx(0.5)
        assert (one.shaping.kind == "gauss") == (name in ("GFSK", "GMSK")) or name in ("4FSK", "MFSK")
        assert 0.2 <= index <= 120
