"""The catalogue of a sweep: one entry per emission, whole boxes, passes counted."""

import pytest

from streaming.band.box import Box
from streaming.band.emissions import Emission
from streaming.catalogue import Catalogue, Visit
from streaming.naming import Name

RATE = 1_000_000
SECOND_NS = 10**9


def visit(number, centre, steps=2):
    return Visit(number, number // steps, centre - 400e3, centre + 400e3)


def emission(lower, upper, *, at, number=1, name=("2FSK", "FSK", 0.9), begin_s=0.0, lasted_s=0.1):
    """Heard at a centre; edges are absolute."""
    start = round(begin_s * RATE)
    return Emission(
        number=number,
        state="end",
        start=start,
        end=start + round(lasted_s * RATE),
        box=Box(lower - at, upper - at, 20.0, -30.0),
        name=Name(*name),
        nearest=(),
        bursts=1,
        duty=1.0,
        rate_hz=RATE,
        freq_hz=at,
        utc_ns=round(begin_s * SECOND_NS),
        clock="host",
    )


def listed(*seen):
    """The entries of what was seen: pairs of an emission and its visit."""
    catalogue = Catalogue()
    for one, where in seen:
        catalogue.add(one, where)
    return catalogue.listed()


A, B = 100e6, 100.6e6  # the centres of two steps that share 200 kHz around 100.3 MHz


def test_what_two_steps_saw_is_one_with_both_times_and_in_one_pass():
    one = emission(100.28e6, 100.32e6, at=A)
    two = emission(100.281e6, 100.321e6, at=B, begin_s=2.0)
    (entry,) = listed((one, visit(0, A)), (two, visit(1, B)))
    assert entry.box.centre == pytest.approx(100.3e6, abs=2e3)
    assert (entry.first_ns, entry.last_ns) == (0, 2.1 * SECOND_NS)
    assert entry.sweeps == {0}
    assert entry.bursts == 2


def test_what_lies_beyond_the_usable_band_is_left_to_the_neighbour():
    assert listed((emission(100.42e6, 100.46e6, at=A), visit(0, A))) == []


def test_an_emission_cut_by_the_edge_of_a_step_has_the_box_of_the_step_that_saw_it_whole():
    cut, whole = emission(100.3e6, 100.48e6, at=A), emission(100.3e6, 100.6e6, at=B)
    for order in ([(cut, visit(0, A)), (whole, visit(1, B))], [(whole, visit(0, B)), (cut, visit(1, A))]):
        (entry,) = listed(*order)
        assert (entry.box.lower, entry.box.upper) == pytest.approx((100.3e6, 100.6e6))


def test_an_emission_wider_than_what_two_steps_share_spans_both():
    left, right = emission(100.1e6, 100.47e6, at=A), emission(100.15e6, 100.55e6, at=B)
    (entry,) = listed((left, visit(0, A)), (right, visit(1, B)))
    assert (entry.box.lower, entry.box.upper) == pytest.approx((100.1e6, 100.55e6))
    assert entry.whole


def test_two_of_one_visit_are_two_even_where_a_later_pass_sees_one_of_them():
    near = [emission(100e6, 100.02e6, at=A, number=1), emission(100.005e6, 100.025e6, at=A, number=2)]
    entries = listed(*((one, visit(0, A)) for one in near), (near[1], visit(2, A)))
    assert [entry.box.lower for entry in entries] == [100e6, 100.005e6]
    assert [entry.sweeps for entry in entries] == [{0}, {0, 1}]


def test_one_that_came_back_within_a_visit_is_the_same_wherever_it_drifted():
    (entry,) = listed(
        (emission(100e6, 100.02e6, at=A, number=7), visit(0, A)),
        (emission(100.03e6, 100.05e6, at=A, number=7, begin_s=1.0), visit(0, A)),
    )
    assert entry.bursts == 2


def test_carriers_a_bin_apart_are_one_and_widths_that_differ_are_two():
    carriers = emission(100e6, 100.0005e6, at=A), emission(100.001e6, 100.0015e6, at=A)
    assert len(listed((carriers[0], visit(0, A)), (carriers[1], visit(2, A)))) == 1
    wide = emission(99.9e6, 100.1e6, at=A)
    assert len(listed((carriers[0], visit(0, A)), (wide, visit(2, A)))) == 2


def test_the_name_is_the_one_with_the_largest_sum_of_probabilities():
    names = [("unknown", None, 0.5), ("2FSK", "FSK", 0.8), ("2FSK", "FSK", 0.6), ("OOK", "ASK", 0.9)]
    seen = [(emission(100e6, 100.02e6, at=A, name=name), visit(2 * i, A)) for i, name in enumerate(names)]
    (entry,) = listed(*seen)
    assert entry.name == ("2FSK", "FSK", pytest.approx(0.7))
