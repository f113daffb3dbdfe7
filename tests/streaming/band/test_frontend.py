"""The front end as a whole: what it finds is where it is, no cut shows, and every sample is accounted for."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streaming.band.frontend import Band, BandSettings
from streaming.block import Block
from streaming.errors import ConfigError
from tests.streaming.band.signals import noise, psk, tone
from tests.streaming.band.streams import (
    RATE,
    assert_same,
    end_of,
    pieces,
    run,
    samples,
    silences,
    tracks,
)

LOOK, TICK = 128, 2048


def scene():
    """A burst of 25.6 kHz at 12.8 kHz, 0.23 s long."""
    x = noise(100_000)
    x[30_000:60_000] += psk(30_000, 10, 0.1, 0.1)
    return x


SCENE = scene()
WHOLE, BAND = run(SCENE)


def test_a_burst_is_found_where_it_is_and_everything_is_accounted_for():
    (track,) = tracks(WHOLE)
    first, last = track[0], track[-1]
    assert [piece.begins for piece in track] == ["signal"] + [None] * (len(track) - 1)
    assert [piece.ends for piece in track] == [False] * (len(track) - 1) + [True]
    assert first.start == pytest.approx(30_000, abs=2 * LOOK)
    assert end_of(last) == pytest.approx(60_000, abs=2 * LOOK)
    for before, after in pairwise(track):
        assert after.start == pytest.approx(end_of(before), abs=1e-6)
    spans = [(s.start, s.end) for s in silences(WHOLE)]
    spans = sorted([*spans, (first.start, end_of(last))])
    assert spans[0][0] == 0
    assert spans[-1][1] + BAND.skipped == 100_000
    for before, after in pairwise(spans):
        assert after[0] == pytest.approx(before[1], abs=2 * LOOK)
    assert silences(WHOLE)[0].noise_db == pytest.approx(20 * np.log10(0.02), abs=0.5)


@pytest.mark.parametrize("fraction", [0.25, 0.4, 0.5])
def test_an_emission_comes_at_the_models_fraction_and_as_loud_as_it_is(fraction):
    (track,) = tracks(run(SCENE, fraction=fraction)[0])
    box, x = track[-1].box, samples(track)
    assert box.centre == pytest.approx(0.1 * RATE, abs=500)
    assert box.width / (RATE / track[0].step) == pytest.approx(fraction, rel=0.12)
    assert np.mean(np.abs(x) ** 2) == pytest.approx(0.1**2, rel=0.15)
    assert box.level_db == pytest.approx(-20, abs=0.5)
    spectrum = np.abs(np.fft.fft(x)) ** 2
    assert abs(np.angle(spectrum @ np.exp(2j * np.pi * np.arange(len(x)) / len(x)))) / (2 * np.pi) < 0.02


def test_snr_is_that_of_the_occupied_band():
    box = pieces(WHOLE)[-1].box
    expected = 20 * np.log10(0.1 / 0.02) - 10 * np.log10(box.width / RATE)
    assert box.snr_db == pytest.approx(expected, abs=0.7)


@settings(max_examples=15)
@given(st.lists(st.integers(0, len(SCENE)), max_size=12))
def test_no_cut_of_the_stream_shows_in_a_bit(cuts):
    assert_same(run(SCENE, cuts)[0], WHOLE)


def test_a_stream_sample_by_sample_is_the_same():
    x = SCENE[28_000:41_000]
    assert_same(run(x, range(1, len(x)))[0], run(x)[0])


def test_every_second_sample_of_an_array_is_a_stream_too():
    assert_same(run(np.repeat(SCENE, 2)[::2])[0], WHOLE)


@pytest.mark.parametrize("length", [0, 1, 100, 128, 191, 192, 300, 2047, 2048, 2100, 3000, 8192, 9001])
def test_a_stream_of_any_length_ends_with_all_of_it_accounted_for(length):
    out, band = run(noise(length), index=7)
    spans = [(s.start, s.end) for s in silences(out)]
    assert not pieces(out)
    assert not spans or spans[0][0] == 7
    assert band.skipped == length - (spans[-1][1] - 7 if spans else 0)
    assert band.skipped < 2.5 * LOOK
    assert all(before[1] == after[0] for before, after in pairwise(spans))
    assert band.flush() == []


def test_after_the_end_a_stream_begins_again():
    band = Band(BandSettings())
    band.push(Block(SCENE, 0, RATE))
    band.flush()
    again = [*band.push(Block(SCENE, 100_000, RATE)), *band.flush()]
    fresh, _ = run(SCENE, index=100_000)
    assert [(p.start, len(p.samples)) for p in pieces(again)] == [
        (p.start, len(p.samples)) for p in pieces(fresh)
    ]
    assert silences(again)[-1].end == pytest.approx(200_000, abs=3 * LOOK)


def test_a_gap_ends_the_emission_and_begins_it_again():
    band = Band(BandSettings())
    out = band.push(Block(SCENE[:50_000], 0, RATE))
    out += band.push(Block(SCENE[55_000:], 55_000, RATE))
    out += band.flush()
    before, after = tracks(out)
    assert (before[0].begins, after[0].begins) == ("signal", "gap")
    assert before[-1].ends
    assert end_of(before[-1]) <= 50_001
    assert after[0].start == 55_000
    assert end_of(after[-1]) == pytest.approx(60_000, abs=2 * LOOK)
    assert after[0].emission == before[0].emission
    assert after[0].track != before[0].track


def test_what_is_elsewhere_after_a_gap_is_another_emission():
    x = noise(60_000)
    x[20_000:30_000] += psk(10_000, 10, 0.2, 0.1)
    x[40_000:50_000] += psk(10_000, 10, -0.2, 0.1)
    band = Band(BandSettings())
    out = band.push(Block(x[:32_000], 0, RATE)) + band.push(Block(x[36_000:], 36_000, RATE)) + band.flush()
    assert [track[0].emission for track in tracks(out)] == [1, 2]


def test_another_frequency_is_a_gap_and_nobody_is_known_there():
    band = Band(BandSettings())
    out = band.push(Block(SCENE[:50_000], 0, RATE)) + band.retune()
    assert pieces(out)[-1].ends
    out += band.push(Block(SCENE[50_000:], 50_000, RATE)) + band.flush()
    before, after = tracks(out)
    assert (after[0].begins, after[0].start) == ("gap", 50_000)
    assert before[0].emission != after[0].emission


def test_another_rate_begins_the_stream_again():
    band = Band(BandSettings())
    out = band.push(Block(SCENE[:50_000], 0, RATE))
    out += band.push(Block(SCENE[30_000:60_000], 50_000, 2 * RATE)) + band.flush()
    before, after = tracks(out)
    assert (before[-1].ends, after[0].begins, after[0].start) == (True, "cold", 50_000)
    assert after[0].box.centre == pytest.approx(0.2 * RATE, abs=1000)
    assert before[0].emission != after[0].emission


def test_nothing_of_a_stream_is_left_after_a_reset():
    band = Band(BandSettings())
    band.push(Block(SCENE[:50_000], 0, RATE))
    band.reset()
    assert_same([*band.push(Block(SCENE, 0, RATE)), *band.flush()], WHOLE)


@pytest.mark.parametrize("wrong", [{"fraction": 1.0}, {"fraction": "x"}, {"hang_s": 0.0}, {"hang_s": np.nan}])
def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ConfigError, match=f"frontend.{next(iter(wrong))}"):
        BandSettings(**wrong)


def test_a_receivers_direct_current_and_image_are_learnt_from_its_noise_and_taken_away():
    dc, image = 0.01 - 0.005j, 0.05
    x = noise(1_000_000)
    x[-40_000:] += tone(40_000, 0.2, 0.5)
    x = (x + image * x.conj() + dc).astype(np.complex64)
    out, band = run(x)
    assert band.correction.dc == pytest.approx(dc, abs=5e-4)
    assert band.correction.image == pytest.approx(image, abs=0.005)
    (track,) = tracks(out)
    assert track[0].box.centre == pytest.approx(0.2 * RATE, abs=RATE / LOOK)


@pytest.mark.parametrize("hang_s", [0.025, 2.0, 3600.0])
def test_a_short_burst_is_reported_with_its_samples_however_long_a_pause_may_be(hang_s):
    x = noise(200_000)
    x[30_000:30_500] += psk(500, 10, 0.1, 0.3)
    band = Band(BandSettings(hang_s=hang_s))
    (track,) = tracks(band.push(Block(x, 0, RATE)))
    assert track[0].start == pytest.approx(30_000, abs=3 * LOOK)
    assert end_of(track[-1]) == pytest.approx(30_500, abs=3 * LOOK)
    heard = np.sum(np.abs(samples(track)) ** 2) * track[0].step
    assert heard == pytest.approx(500 * 0.3**2, rel=0.15)
