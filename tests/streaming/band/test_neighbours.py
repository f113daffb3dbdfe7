"""Emissions beside each other, on top of each other and one after the other."""

import numpy as np
import pytest

from tests.streaming.band.signals import flat_band, fsk, noise, ook, psk, tone
from tests.streaming.band.streams import RATE, end_of, pieces, run, tracks

LOOK = 128


def places(out, rate=RATE):
    """Centre, width, begin and end of each track; frequencies in cycles per sample."""
    return [
        (track[-1].box.centre / rate, track[-1].box.width / rate, track[0].start, end_of(track[-1]))
        for track in tracks(out)
    ]


@pytest.mark.parametrize("later", [0, 10_000])
def test_two_emissions_a_quarter_of_a_bandwidth_apart_are_two(later):
    width, two = 0.16, 0
    for seed in range(10):
        x = noise(60_000, seed)
        x[12_000:50_000] += flat_band(38_000, width, -0.625 * width, 0.1, seed=seed)
        x[12_000 + later : 50_000] += flat_band(38_000 - later, width, 0.625 * width, 0.1, seed=seed + 20)
        found = sorted(places(run(x)[0]))
        expected = [(-0.1, 0.16, 12_000, 50_000), (0.1, 0.16, 12_000 + later, 50_000)]
        error = np.abs(np.subtract(found, expected)) if len(found) == 2 else np.inf
        two += bool(np.all(error < [0.015, 0.03, 3 * LOOK, 3 * LOOK]))
    assert two >= 9


def test_neighbours_that_were_there_before_the_stream_began_are_two():
    x = (
        noise(60_000)
        + flat_band(60_000, 0.16, -0.11, 0.1, seed=1)
        + flat_band(60_000, 0.16, 0.11, 0.07, seed=2)
    )
    found = tracks(run(x)[0])
    assert [track[0].steady for track in found] == [True, True]
    assert sorted(track[-1].box.centre / RATE for track in found) == pytest.approx([-0.11, 0.11], abs=0.01)


def test_an_emission_in_a_neighbours_pauses_and_beyond_is_not_cut():
    x = noise(100_000)
    for begin in range(12_000, 90_000, 15_000):
        x[begin : begin + 5_000] += psk(5_000, 16, -0.1, 0.1, seed=begin)
    x[20_000:80_000] += psk(60_000, 16, 0.12, 0.1)
    found = places(run(x)[0])
    beside = [one for one in found if one[0] < 0]
    assert [one[2] for one in beside] == [
        pytest.approx(b, abs=3 * LOOK) for b in range(12_000, 90_000, 15_000)
    ]
    ((_, _, begin, end),) = [one for one in found if one[0] > 0]
    assert (begin, end) == (pytest.approx(20_000, abs=3 * LOOK), pytest.approx(80_000, abs=3 * LOOK))


def test_a_much_stronger_emission_at_the_same_place_is_another_track_at_once():
    x = noise(100_000)
    x[20_000:90_000] += psk(70_000, 10, 0.1, 0.05)
    x[50_000:70_000] += psk(20_000, 10, 0.1, 1.0, seed=9)
    first, second = places(run(x)[0])[:2]
    assert first[3] == pytest.approx(50_000, abs=8 * LOOK)
    assert second[2] == pytest.approx(50_000, abs=4 * LOOK)


def test_an_emission_that_becomes_wider_gets_a_channel_that_fits():
    x = noise(150_000)
    x[20_000:50_000] += psk(30_000, 64, 0.1, 0.1)
    x[50_000:140_000] += psk(90_000, 8, 0.1, 0.1, seed=9)
    changed = [piece for piece in pieces(run(x)[0]) if piece.begins == "change"]
    assert changed
    assert changed[-1].box.width / RATE > 0.1


def test_the_tones_of_fsk_are_one_emission_and_one_track():
    x = noise(80_000)
    x[20_000:70_000] += fsk(50_000, 64, 0.2, 0.05, 0.1)
    ((centre, width, begin, end),) = places(run(x)[0])
    assert centre == pytest.approx(0.05, abs=0.01)
    assert width == pytest.approx(0.2, abs=0.04)
    assert (begin, end) == (pytest.approx(20_000, abs=3 * LOOK), pytest.approx(70_000, abs=3 * LOOK))


@pytest.mark.parametrize("frequencies", [(0.1,), (0.1, -0.2, 0.3)], ids=["bursts", "hops"])
def test_who_sends_in_bursts_keeps_its_number_at_each_of_its_frequencies(frequencies):
    x = noise(220_000)
    for i in range(12):
        begin = 15_000 + i * 16_000
        x[begin : begin + 3_000] += psk(3_000, 16, frequencies[i % len(frequencies)], 0.1, seed=i)
    found = tracks(run(x)[0])
    numbers = [track[0].emission for track in found]
    assert numbers == [1 + i % len(frequencies) for i in range(12)]
    assert len({track[0].track for track in found}) == 12


def test_an_emission_drifts_within_its_track():
    length = 120_000
    x = noise(length + 20_000)
    drift = np.exp(1j * np.pi * 0.02 / length * np.arange(length) ** 2)
    x[15_000 : 15_000 + length] += (psk(length, 16, 0.1, 0.1) * drift).astype(np.complex64)
    assert {track[0].emission for track in tracks(run(x)[0])} == {1}


def test_the_image_of_a_strong_emission_is_not_an_emission():
    x = noise(120_000)
    x[60_000:100_000] += psk(40_000, 16, 0.2, 0.5)
    x += 0.03 * x.conj()
    assert [round(one[0], 1) for one in places(run(x)[0])] == [0.2]


def test_a_carrier_beside_a_burst_is_steady_and_not_a_part_of_it():
    x = noise(80_000) + tone(80_000, -0.3, 0.05)
    x[20_000:60_000] += psk(40_000, 16, 0.2, 0.1)
    carrier, burst = tracks(run(x)[0])
    assert (carrier[0].steady, carrier[0].begins, burst[0].steady) == (True, "cold", False)
    assert carrier[-1].box.centre / RATE == pytest.approx(-0.3, abs=0.01)
    assert end_of(carrier[-1]) == pytest.approx(80_000, abs=4 * LOOK)


def test_fsk_that_begins_with_a_carrier_is_one_emission_with_both_tones():
    x = noise(80_000)
    x[12_000:24_000] += tone(12_000, -0.1, 0.2)
    x[24_000:60_000] += fsk(36_000, 200, 0.2, 0.0, level=0.2)
    found = max(tracks(run(x)[0]), key=lambda track: track[-1].box.level_db)
    assert found[-1].box.lower / RATE < -0.09
    assert found[-1].box.upper / RATE > 0.09


def test_a_steady_emission_ends_when_it_ends():
    x = noise(120_000)
    x[:60_000] += psk(60_000, 16, 0.12, 0.1)
    (found,) = tracks(run(x)[0])
    assert found[0].steady
    assert end_of(found[-1]) == pytest.approx(60_000, abs=8 * LOOK)


def test_the_pauses_of_a_steady_emission_are_not_the_begin_of_another_one():
    x, on = noise(120_000), np.resize(np.repeat([1.0, 0.0], 800), 120_000).astype(np.float32)
    x += on * tone(120_000, 0.1, 0.2)
    assert len(tracks(run(x)[0])) == 1


def test_emissions_on_noise_that_a_filter_shaped_are_found():
    x = noise(120_000)
    spectrum = np.fft.fft(x)
    spectrum[np.abs(np.fft.fftfreq(len(x))) > 0.36] *= 0.03
    x = np.fft.ifft(spectrum).astype(np.complex64)
    x += tone(120_000, 0.2, 0.02)
    x[60_000:90_000] += psk(30_000, 16, -0.15, 0.06)
    found = places(run(x)[0])
    assert any(abs(centre - 0.2) < 0.01 and width < 0.03 for centre, width, *_ in found)
    assert any(abs(centre + 0.15) < 0.02 and abs(begin - 60_000) < 4 * LOOK for centre, _, begin, _ in found)


def test_noise_that_a_filter_shaped_is_no_emission():
    spectrum, f = np.fft.fft(noise(400_000)), np.abs(np.fft.fftfreq(400_000))
    shaped = np.fft.ifft(spectrum * 10 ** -np.clip(10 * (f - 0.3), 0, 1.5)).astype(np.complex64)
    assert not pieces(run(shaped)[0])


def test_a_transmitter_that_hops_without_a_pause_has_a_track_on_each_channel():
    x, hops = noise(100_000), [-0.1, 0.0, 0.1, -0.05, 0.05]
    for i, place in enumerate(hops):
        begin = 15_000 + 12_000 * i
        x[begin : begin + 12_000] += psk(12_000, 64, place, 0.1, seed=i)
    found = sorted(places(run(x)[0]), key=lambda one: one[2])
    assert [one[0] for one in found] == pytest.approx(hops, abs=0.01)
    assert max(one[1] for one in found) < 0.08


def test_the_side_lobes_of_hard_keying_are_no_emissions():
    x = noise(200_000)
    for begin in range(20_000, 180_000, 40_000):
        x[begin : begin + 15_000] += ook(15_000, 100, 0.05, 0.5, seed=begin)
    assert {round(one[0], 2) for one in places(run(x)[0])} == {0.05}


def test_a_weak_transmitter_that_goes_to_another_channel_is_on_one_at_a_time():
    x = noise(120_000)
    for hop, begin in enumerate(range(12_300, 108_000, 6_050)):
        x[begin : begin + 6_050] += psk(6_050, 32, (-0.2, 0.05, 0.25)[hop % 3], 0.02, seed=hop)
    found = places(run(x)[0])
    assert max(width for _, width, _, _ in found) < 0.1
