"""Line codes, frames and keyed carriers against their definitions; data against an encoder bit by bit."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from training.signals.emitters.bits import IDLE, body, convolved, differential, draw_data, random_bits
from training.signals.emitters.bursts import Bursts, generic
from training.signals.emitters.keying import Keying, draw_keying, encode
from training.signals.emitters.ook import Ook, draw_ook
from training.signals.emitters.ook_devices import DEVICES

BITS = np.array([1, 0, 0, 1, 1, 0, 1, 0], np.uint8)


def rng(seed=1):
    return np.random.default_rng(seed)


def wave(code, ratio=3.0):
    """The levels of BITS, chip by chip."""
    levels, durations = encode(code, BITS, ratio, rng())
    assert np.all(durations == durations.round())
    return "".join(str(int(c)) for c in np.repeat(levels, durations.astype(int)))


# The codes as their data sheets draw them.
@pytest.mark.parametrize(
    ("code", "zero", "one"),
    [
        ("nrz", "0", "1"),
        ("manchester", "01", "10"),
        ("rz", "00", "10"),
        ("width", "1000", "1110"),
        ("gap", "10", "1110"),
        ("position", "1000", "1000000"),
    ],
)
def test_a_line_code_sends_each_bit_as_it_is_defined(code, zero, one):
    assert wave(code) == "".join(one if bit else zero for bit in BITS)


def test_biphase_mark_changes_at_each_bit_and_amid_each_one():
    chips = wave("differential")
    assert len(chips) == 2 * len(BITS)
    for i, bit in enumerate(BITS):
        assert (chips[2 * i] != chips[2 * i + 1]) == bit
        assert i == 0 or chips[2 * i] != chips[2 * i - 1]


def test_morse_has_dots_dashes_and_three_kinds_of_pauses():
    levels, durations = encode("morse", random_bits(rng(), 400), 3.0, rng())
    assert set(durations[levels == 1]) == {1, 3}
    assert set(durations[levels == 0]) == {1, 3, 7}


def keying(code="manchester", bits=32.0, **settings) -> Keying:
    plain = Keying(code, 3.0, bits, 3, 10.0, 100.0, "", 0.0, draw_data(rng()))
    return replace(plain, **settings)


def test_repeats_are_the_same_frame_a_gap_apart_and_messages_a_pause():
    frames = keying().frames(rng(2), 2000)
    begins = np.array([f.edges[0] for f in frames])
    apart = np.diff(begins)
    assert set(apart.round(6)) == {74.0, 174.0}  # 64 chips and a gap of 10; and a pause of 100
    same = [np.array_equal(a.levels, b.levels) for a, b in pairwise(frames)]
    assert same == [x == 74 for x in apart.round(6)]


def test_a_frame_is_visible_wherever_the_excerpt_begins():
    for seed in range(300):
        frames = keying(pause=5000.0).frames(rng(seed), 200)
        assert frames
        assert frames[0].edges[-1] >= 32  # half of 64 chips


def test_a_steady_stream_fills_the_excerpt():
    (frame,) = keying("nrz", np.inf).frames(rng(), 500)
    assert frame.edges[0] == 0
    assert frame.edges[-1] >= 500


def ook(rise=0.0, gentle=False, **settings) -> Ook:
    plain = Ook("test", keying("rz", np.inf, pause=0.0), 1000.0, rise, gentle, 1.0, 0.0, 0.0)
    return replace(plain, **settings)


@pytest.mark.parametrize("gentle", [True, False])
@pytest.mark.parametrize("rise", [0.1, 0.3, 0.8])
def test_the_level_rises_from_10_to_90_percent_in_the_stated_time(rise, gentle):
    one, chip = ook(rise, gentle), 200
    level = np.abs(one.keyed(np.repeat([0, 1], 4000).astype(np.float32), float(chip)))[2000:6000]
    low, high = np.flatnonzero(level > 0.1)[0], np.flatnonzero(level > 0.9)[0]
    assert (high - low) / chip == pytest.approx(rise, rel=0.05)


def test_a_hard_switch_takes_at_most_a_sample():
    x = np.abs(ook().make(rng(), 50e3, 20_000).samples)
    assert np.mean((x > 0.02) & (x < 0.98)) < 0.02


def test_hard_keying_holds_99_percent_in_some_twenty_symbol_rates():
    one = ook(keying=keying("nrz", np.inf, data=replace(draw_data(rng()), kind="random")))
    x = one.make(rng(), 200e3, 400_000).samples
    density = np.abs(np.fft.fft(x)) ** 2
    f = np.abs(np.fft.fftfreq(len(x)) * 200)  # symbol rates
    # Half of the power is the carrier; the rest is sinc^2, whose tail beyond f holds 1 / (pi^2 f).
    for at in (2.0, 5.0, 10.0):
        tail = density[f > at].sum() / density.sum()
        assert tail == pytest.approx(0.5 / (np.pi**2 * at), rel=0.25)


def test_a_leak_is_there_between_pulses_but_not_between_bursts():
    message = keying("rz", 32.0, repeats=1, pause=300.0)
    wave = ook(leak=0.1, keying=message).make(rng(3), 20e3, 20_000)
    level = np.abs(wave.samples)
    inside = np.concatenate([level[b:e] for b, e in wave.bursts])
    assert np.quantile(inside, 0.05) == pytest.approx(0.1, rel=0.01)
    begin, end = wave.bursts[0][1], wave.bursts[1][0]
    assert not level[begin:end].any()


def test_an_oscillator_is_pulled_at_key_on_and_settles():
    one = ook(pull=(0.5, 1.0))
    level = np.concatenate([np.zeros(1000), np.ones(7000)]).astype(np.float32)
    x = one.keyed(level, 100.0)
    turns = np.angle(x[1002:] / x[1001:-1]) / (2 * np.pi) * 100  # symbol rates
    assert turns[0] == pytest.approx(0.5, rel=0.05)
    assert turns[100] == pytest.approx(0.5 / np.e, rel=0.05)  # a chip later
    assert abs(turns[-1]) < 1e-3


def test_mode_s_has_its_preamble_and_lasts_64_or_120_microseconds():
    """RTCA DO-260: pulses of 0.5 us at 0, 1, 3.5 and 4.5 us, data from 8 us on."""
    for title, bits in (("Mode S, short", 56), ("ADS-B", 112)):
        (device,) = (d for d in DEVICES if d.title == title)
        code = draw_keying(rng(), device.codes, device.bits, heads=device.heads)
        frame = replace(code, jitter=0.0).frames(rng(5), 4000)[0]
        edges_us = (frame.edges - frame.edges[0]) / 2
        on = edges_us[:-1][frame.levels > 0]
        assert list(on[:4].round(6)) == [0, 1, 3.5, 4.5]
        assert on[4] > 7.99
        assert edges_us[-1] == pytest.approx(8 + bits)


def test_devices_have_the_chips_of_their_data_sheets():
    for seed in range(200):
        one = draw_ook(rng(seed))
        known = [d for d in DEVICES if d.title == one.title]
        if known:
            low, high = known[0].chip_s
            assert low * 0.999 <= 1 / one.symbol_rate_hz <= high * 1.001
            assert one.keying.code in known[0].codes.split()


def by_register(bits):
    """The CCSDS code by its shift register: taps 171 and 133 octal, the second output inverted."""
    register, out = [0] * 7, []
    for bit in bits:
        register = [int(bit), *register[:6]]
        first = sum(r for r, tap in zip(register, f"{0o171:07b}", strict=True) if tap == "1") % 2
        second = sum(r for r, tap in zip(register, f"{0o133:07b}", strict=True) if tap == "1") % 2
        out += [first, 1 - second]
    return out


def test_the_convolutional_code_is_that_of_a_shift_register():
    bits = random_bits(rng(), 200)
    assert convolved(bits).tolist() == by_register(bits)


def test_differential_bits_change_the_level_at_each_one():
    assert differential(np.array([1, 0, 1, 1, 0], np.uint8)).tolist() == [1, 1, 0, 1, 1]


@pytest.mark.parametrize("kind", ["random", "frames", "coded", "idle"])
def test_data_are_as_many_bits_as_asked_for_and_bursts_begin_with_the_preamble(kind):
    data = replace(draw_data(rng()), kind=kind)
    for count in (1, 7, 64, 3001):
        for begins in (True, False):
            bits = data.take(rng(), count, begins)
            assert len(bits) == count
            assert set(bits) <= {0, 1}
    head = np.concatenate([data.preamble, data.sync])
    np.testing.assert_array_equal(data.take(rng(), 3001, True)[: len(head)], head)


def test_data_are_not_only_random():
    shares = [np.mean(body(rng(seed), 64)) for seed in range(60)]
    assert min(shares) < 0.2
    links = [draw_data(rng(seed)) for seed in range(200)]
    assert {link.kind for link in links} == {"random", "frames", "coded", "idle"}
    assert len({link.idle.tobytes() for link in links}) == len(IDLE)


def test_bursts_are_within_the_excerpt_apart_and_never_none():
    for seed in range(200):
        lengths = generic(rng(seed), 1e-3)
        spans = lengths.draw(rng(seed), 20e3, 8192)
        assert spans
        assert all(0 <= begin < end <= 8192 for begin, end in spans)
        assert all(a[1] <= b[0] for a, b in pairwise(spans))


def test_packets_and_pauses_have_their_lengths():
    spans = Bursts((0.01, 0.01), (0.02, 0.02)).draw(rng(4), 10e3, 100_000)
    lengths = [end - begin for begin, end in spans[1:-1]]
    assert set(lengths) <= {100, 101}
    starts = np.diff([begin for begin, _ in spans[1:-1]])
    assert starts.mean() == pytest.approx(300, rel=0.1)
