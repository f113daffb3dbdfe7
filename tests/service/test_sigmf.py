"""SigMF annotations: an emission has its own edges, and only what was not measured has the band's."""

from dataclasses import replace

import pytest

from service.storage import sigmf
from tests.service.test_history import run


def edges(run):
    note = sigmf.annotation(run, 0).model_dump(by_alias=True, exclude_none=True)
    return note.get("core:freq_lower_edge"), note.get("core:freq_upper_edge")


def test_the_edges_are_those_of_the_emission_where_it_was_measured():
    assert edges(run(0)) == pytest.approx((433.917e6 - 12_500, 433.917e6 + 12_500))


def test_without_a_frequency_the_edges_are_relative_to_baseband():
    assert edges(replace(run(0), freq_hz=None, centre_hz=None)) == pytest.approx((-15_500, 9_500))


def test_what_was_not_measured_lies_somewhere_in_the_band():
    unmeasured = replace(run(0), bandwidth_hz=None, offset_hz=None, centre_hz=None)
    assert edges(unmeasured) == pytest.approx((433.92e6 - 500, 433.92e6 + 500))
    assert edges(replace(unmeasured, freq_hz=None)) == (None, None)


def test_an_annotation_says_which_emission_it_is_of():
    note = sigmf.annotation(run(0, family="AM"), 0).model_dump(by_alias=True, exclude_none=True)
    assert (note["wavetell:emission"], note["wavetell:family"]) == ("s-1", "AM")
