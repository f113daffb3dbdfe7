"""The front end as a whole: bursts are found, placed, tuned and resampled; and no cut shows."""

import csv
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streaming.block import Block
from streaming.correction import ENOUGH
from streaming.errors import ConfigError
from streaming.frontend import FrontEnd, FrontEndSettings, Piece, Silence
from tests.require import shared

RATE = 250e3


def noise(length, seed=1, level=0.02):
    x = np.random.default_rng(seed).standard_normal((length, 2)) * level / np.sqrt(2)
    return x.astype(np.float32).view(np.complex64)[:, 0]


def psk(length, sps, offset, level, seed=2):
    """QPSK with Hann pulses of two symbols, plain numpy."""
    rng = np.random.default_rng(seed)
    impulses = np.zeros(length, complex)
    impulses[::sps] = np.exp(0.5j * np.pi * rng.integers(0, 4, len(impulses[::sps])))
    symbols = np.convolve(impulses, np.hanning(2 * sps + 1))[:length]
    symbols /= np.sqrt(np.mean(np.abs(symbols) ** 2))
    return (level * symbols * np.exp(2j * np.pi * offset * np.arange(length))).astype(np.complex64)


def scene():
    x = noise(100_000)
    x[30_000:60_000] += psk(30_000, 20, 0.1, 0.2)
    return x


def run(x, cuts=(), settings=None, rate=RATE, index=0):
    front = FrontEnd(settings or FrontEndSettings())
    out, at = [], index
    for piece in np.split(x, np.minimum(np.cumsum([0, *cuts]), len(x)).astype(int)):
        out += front.push(Block(piece, at, rate))
        at += len(piece)
    return out + front.flush(), front


def pieces(out):
    return [item for item in out if isinstance(item, Piece)]


def samples(out):
    return np.concatenate([np.empty(0, np.complex64), *(p.samples for p in pieces(out))])


def test_a_burst_is_found_where_it_is_and_everything_is_accounted_for():
    out, front = run(scene())
    first, last = pieces(out)[0], pieces(out)[-1]
    assert first.begins == "signal"
    assert all(p.begins is None for p in pieces(out)[1:])
    assert first.start == pytest.approx(30_000, abs=512)
    assert last.start + len(last.samples) * last.step == pytest.approx(60_000, abs=600)
    spans = [(s.start, s.end) for s in out if isinstance(s, Silence)]
    spans += [(p.start, p.start + len(p.samples) * p.step) for p in pieces(out)]
    spans.sort()
    assert spans[0][0] == 0
    assert spans[-1][1] + front.skipped == 100_000
    for before, after in pairwise(spans):
        assert after[0] == pytest.approx(before[1], abs=first.step)
    noise_db = next(s.noise_db for s in out if isinstance(s, Silence))
    assert noise_db == pytest.approx(20 * np.log10(0.02), abs=0.5)


def test_the_signal_comes_at_the_models_fraction_level_and_centre():
    for fraction in (0.25, 0.5):
        out, _ = run(scene(), settings=FrontEndSettings(fraction=fraction))
        first = pieces(out)[0]
        assert first.estimate.offset == pytest.approx(0.1 * RATE, abs=1500)
        assert first.estimate.bandwidth / (RATE / first.step) == pytest.approx(fraction, rel=0.12)
        y = samples(out)
        assert np.mean(np.abs(y[200:]) ** 2) == pytest.approx(1, rel=0.1)
        spectrum = np.abs(np.fft.fft(y)) ** 2
        centre = np.angle(np.sum(spectrum * np.exp(2j * np.pi * np.fft.fftfreq(len(y))))) / (2 * np.pi)
        assert abs(centre) < 0.02


def test_snr_is_that_of_the_occupied_band():
    out, _ = run(scene())
    found = pieces(out)[-1].estimate
    expected = 20 * np.log10(0.2 / 0.02) - 10 * np.log10(found.bandwidth / RATE)
    assert found.snr_db == pytest.approx(expected, abs=0.7)


WHOLE = run(scene())[0]


@settings(deadline=None, max_examples=15)
@given(st.lists(st.integers(0, 30_000), max_size=8))
def test_no_cut_of_the_stream_shows_in_a_bit(cuts):
    out, _ = run(scene(), cuts)
    np.testing.assert_array_equal(samples(out), samples(WHOLE))
    starts = [(p.start, p.step, p.begins) for p in pieces(out) if p.begins]
    assert starts == [(p.start, p.step, p.begins) for p in pieces(WHOLE) if p.begins]


def test_every_second_sample_of_an_array_is_a_stream_too():
    x = scene()
    out, _ = run(np.repeat(x, 2)[::2])
    np.testing.assert_array_equal(samples(out), samples(WHOLE))


def test_a_channel_hears_its_own_signal_and_not_its_neighbour():
    rate, length = 2.4e6, 1_200_000
    x = noise(length)
    x[400_000:800_000] += psk(400_000, 96, 300e3 / rate, 0.1)  # 25 kbaud
    x += psk(length, 96, -700e3 / rate, 0.3)
    out, _ = run(x, settings=FrontEndSettings(offset_hz=300e3, width_hz=250e3), rate=rate)
    found = [p for p in pieces(out) if p.begins]
    assert len(found) == 1
    assert found[0].start == pytest.approx(400_000, abs=6_000)
    assert found[0].estimate.offset == pytest.approx(300e3, abs=3e3)
    assert pieces(out)[-1].start == pytest.approx(800_000, abs=15_000)


def test_another_bandwidth_and_centre_is_a_change():
    x = noise(200_000)
    x[30_000:80_000] += psk(50_000, 25, 0.1, 0.2)
    x[80_000:150_000] += psk(70_000, 6, -0.1, 0.2)
    found = [p for p in pieces(run(x)[0]) if p.begins]
    assert [p.begins for p in found] == ["signal", "change"]
    assert 80_000 <= found[1].start < 110_000
    assert found[1].step < 0.5 * found[0].step
    assert found[1].estimate.offset == pytest.approx(-0.1 * RATE, abs=3e3)


def test_a_much_stronger_signal_is_a_change_at_once():
    x = noise(150_000)
    x[20_000:] += psk(130_000, 50, 0.3, 0.03)  # a weak neighbour, always there
    x[80_000:120_000] += psk(40_000, 10, -0.1, 0.5)
    found = [p for p in pieces(run(x)[0]) if p.begins]
    assert [p.begins for p in found[:2]] == ["signal", "change"]
    assert found[1].start == pytest.approx(80_000, abs=600)
    assert found[1].estimate.offset == pytest.approx(-0.1 * RATE, abs=3e3)


def test_a_gap_ends_the_signal_and_restarts():
    front, x = FrontEnd(FrontEndSettings()), scene()
    out = front.push(Block(x[:50_000], 0, RATE))
    out += front.push(Block(x[55_000:], 55_000, RATE))
    out += front.flush()
    begins = [(p.begins, p.start) for p in pieces(out) if p.begins]
    assert [b for b, _ in begins] == ["signal", "gap"]
    assert begins[1][1] == 55_000
    assert max(p.start + len(p.samples) * p.step for p in pieces(out) if p.start < 50_000) <= 50_001


def test_a_signal_from_the_first_sample_on_is_cold_and_another_rate_restarts():
    front, x = FrontEnd(FrontEndSettings()), psk(60_000, 12, 0.0, 0.2) + noise(60_000)
    first = pieces(front.push(Block(x, 0, RATE)))[0]
    assert (first.begins, first.start) == ("cold", 0)
    other = pieces(front.push(Block(x, 60_000, 2 * RATE)))
    assert [p.begins for p in other if p.begins] == ["cold"]


def test_a_pause_belongs_to_the_signal_and_a_long_one_ends_it():
    x = noise(120_000)
    for begin in (20_000, 32_000, 80_000):  # pauses of 8 ms and of 152 ms
        x[begin : begin + 10_000] += psk(10_000, 20, 0.1, 0.2)
    found = [p.start for p in pieces(run(x)[0]) if p.begins]
    assert found == [pytest.approx(20_000, abs=512), pytest.approx(80_000, abs=512)]


def test_a_direct_current_from_the_first_sample_on_is_no_signal():
    assert not pieces(run(noise(200_000) + np.complex64(0.05 - 0.03j))[0])


def test_a_narrow_signal_on_the_receivers_centre_is_found_all_the_same():
    found = pieces(run(noise(200_000) + psk(200_000, 200, 0.0, 0.1))[0])
    assert found[0].start <= 2 * ENOUGH  # as soon as a direct current would be known
    assert abs(found[0].estimate.offset) < 500


@pytest.mark.parametrize(
    "wrong", [{"fraction": 1.0}, {"narrowest": 0.0}, {"hang_s": 0.0}, {"offset_hz": 1e3}]
)
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ConfigError, match=f"frontend.{next(iter(wrong))}"):
        FrontEndSettings(**wrong)


def test_bursts_from_the_air_begin_where_rtl_433_found_them():
    folder = shared("data/ota433/labels.csv").parent
    with open(folder / "labels.csv") as file:
        rows = [row for row in csv.DictReader(file) if row["modulation"]][::4]
    found = 0
    for row in rows:
        raw = np.fromfile(folder / row["file"], np.uint8).astype(np.float32)
        rate = float(row["sample_rate_hz"])
        out, _ = run(((raw - 127.5) / 127.5).view(np.complex64), rate=rate)
        starts = np.array([p.start for p in pieces(out) if p.begins]) / rate
        found += bool(np.any(np.abs(starts - float(row["first_burst_s"])) < 5e-3))
    assert len(rows) == 27
    assert found >= 26
