"""The AGC against a recursion written out in plain Python, and frames against their root mean square."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streaming.agc import FLOOR, PIECE, Agc, normalise
from streaming.errors import ConfigError, InputError

RNG = np.random.default_rng(1)


def signal(length, level=1.0):
    x = RNG.standard_normal((length, 2)) * level
    return x.astype(np.float32).view(np.complex64)[:, 0]


def plainly(x, tau):
    """The equation, one sample after the other."""
    a, power, weight, out = math.exp(-1 / tau), 0.0, 0.0, []
    for sample in x.tolist():
        power = a * power + sample.real**2 + sample.imag**2 + FLOOR
        weight = a * weight + 1
        out.append(sample / math.sqrt(power / weight))
    return np.array(out)


@pytest.mark.parametrize("tau", [1, 7.5, 300, 1e6])
def test_agc_equals_the_plain_recursion(tau):
    x = np.concatenate([signal(3000), signal(3000, 1e-3), np.zeros(500, np.complex64), signal(3000, 50)])
    np.testing.assert_allclose(Agc(tau).push(x), plainly(x, tau), rtol=3e-7, atol=1e-12)


@settings(deadline=None)
@given(st.lists(st.integers(0, 300), max_size=12))
def test_no_cut_of_the_stream_shows_in_a_bit(cuts):
    x = signal(2000)
    whole, agc = Agc(20).push(x), Agc(20)  # 40 time constants pass at sample 800
    pieces = [agc.push(piece) for piece in np.split(x, np.minimum(np.cumsum(cuts), len(x)).astype(int))]
    np.testing.assert_array_equal(np.concatenate(pieces).view(np.uint32), whole.view(np.uint32))


def test_no_cut_shows_across_the_inner_pieces_and_sample_by_sample():
    x = signal(2 * PIECE + 100)
    whole, agc = Agc(500).push(x), Agc(500)
    cut = np.concatenate([agc.push(x[: PIECE - 3]), agc.push(x[PIECE - 3 :])])
    np.testing.assert_array_equal(cut, whole)
    agc.reset()
    np.testing.assert_array_equal(np.concatenate([agc.push(x[i : i + 1]) for i in range(200)]), whole[:200])


@pytest.mark.parametrize("level", [1e-4, 1.0, 1e4])
def test_noise_of_any_level_comes_out_at_unit_power(level):
    out = Agc(1000).push(signal(50_000, level))[5000:]
    assert np.mean(np.abs(out) ** 2) == pytest.approx(1, rel=0.01)


def test_silence_stays_silent_for_ever_and_the_burst_after_it_is_bounded():
    agc = Agc(10)
    agc.push(signal(100))
    assert not agc.push(np.zeros(100_000, np.complex64)).any()
    assert np.abs(agc.push(signal(1000))).max() <= math.sqrt(11)  # p[n] >= (1 - a) |x[n]|^2


def test_extreme_samples_stay_finite():
    largest = np.array([complex(3.4e38, -3.4e38), 0, 1e-45], np.complex64)
    assert np.isfinite(Agc(100).push(largest)).all()


def test_nothing_in_is_nothing_out():
    agc = Agc(100)
    assert agc.push(np.empty(0, np.complex64)).shape == (0,)
    assert agc.save() == Agc(100).save()


def test_a_saved_level_goes_on_where_it_was():
    x, agc, other = signal(4000), Agc(300), Agc(300)
    whole = Agc(300).push(x)
    agc.push(x[:1234])
    other.restore(agc.save())
    np.testing.assert_array_equal(other.push(x[1234:]), whole[1234:])


@pytest.mark.parametrize("state", [b"", b"x" * 36, Agc(200).save(), Agc(300, floor=1e-6).save()])
def test_a_foreign_state_is_refused(state):
    agc = Agc(300)
    agc.push(signal(100))
    before = agc.save()
    with pytest.raises(InputError):
        agc.restore(state)
    assert agc.save() == before


@pytest.mark.parametrize("settings", [{"samples": 0.5}, {"samples": math.nan}, {"samples": 9, "floor": 0}])
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(ConfigError, match=r"agc\.(samples|floor) is"):
        Agc(**settings)


def test_a_frame_is_divided_by_its_root_mean_square():
    frames = np.stack([signal(64), signal(64, 1e-20), signal(64, 1e18), np.zeros(64, np.complex64)])
    out = normalise(frames)
    assert out.dtype == np.complex64
    exact = frames.astype(complex)
    rms = [math.sqrt(sum(abs(v) ** 2 for v in frame) / 64) for frame in exact[:3].tolist()]
    np.testing.assert_allclose(out[:3], exact[:3] / np.array(rms)[:, None], rtol=1e-6)
    assert not out[3].any()


@pytest.mark.parametrize(
    "bad", [np.zeros((2, 0), np.complex64), np.zeros((2, 8)), np.array([[1, np.nan]], np.complex64)]
)
def test_bad_frames_are_refused(bad):
    with pytest.raises(InputError, match="frames"):
        normalise(bad)
