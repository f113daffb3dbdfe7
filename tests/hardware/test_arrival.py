"""The arrival clock tells late from lost."""

import pytest

from hardware.arrival import ArrivalClock

RATE = 1000.0


def play(clock, seconds, *, begin=0.0, late_s=0.0, end=0, idle=True, speed=1.0):
    """Reads of 10 ms; the first answer that is a loss, else 0."""
    for step in range(1, round(seconds * 100) + 1):
        now = begin + step * 0.01 + late_s
        lost = clock.arrived(end + round(step * 10 * speed), now, 0.009 if idle else 0.0)
        if lost:
            return lost
    return 0


def test_a_steady_stream_loses_nothing():
    clock = ArrivalClock(RATE)
    assert play(clock, 60) == 0
    assert clock.lag_s == pytest.approx(0, abs=1e-6)
    assert clock.time_of(30_000) == pytest.approx(30.0, abs=1e-6)


def test_lateness_that_stays_is_a_loss():
    clock = ArrivalClock(RATE)
    play(clock, 10)
    assert play(clock, 10, begin=10, late_s=0.5, end=10_000) == pytest.approx(500, abs=10)


def test_lateness_of_a_reader_that_is_behind_is_none():
    clock = ArrivalClock(RATE)
    play(clock, 10)
    assert play(clock, 10, begin=10, late_s=0.5, end=10_000, idle=False) == 0
    assert clock.lag_s == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("ppm", [-100, 100])
def test_a_crystal_that_is_off_is_no_loss(ppm):
    assert play(ArrivalClock(1e6), 3600, speed=1000 * (1 + ppm * 1e-6)) == 0


def test_too_large_an_estimate_is_set_right_by_the_next():
    clock = ArrivalClock(RATE)
    play(clock, 10)
    # 100 samples are lost, and seen 50 ms late: 150 are estimated.
    assert clock.missing(10_000, 10.15) == 150
    assert play(clock, 1, begin=10.1, end=10_150) == 0
    # The next 100 samples are seen in time: 50 bring the index back to the truth.
    assert clock.missing(11_150, 11.2) == 50


def test_before_the_first_read_nothing_is_missing():
    assert ArrivalClock(RATE).missing(0, 99.0) == 0
