"""A radio that follows a plan: right frequencies, whole visits, every sample given or counted."""

import threading
from dataclasses import replace
from itertools import groupby, pairwise

import numpy as np
import pytest

from hardware import open_source
from hardware.plan import Plan
from hardware.sweep import Sweep
from streaming.errors import ConfigError
from tests.replay_radio import need_replay_radio, numbers
from tests.wide_radio import WideRadio, spectrum

RATE = 250_000
PLAN = Plan(433e6, 433.4e6, dwell_s=0.06)  # three steps of 250 kS/s


def visits_of(source, plan, passes):
    """The blocks of each visit, by its number."""
    with source, Sweep(source, plan, passes) as sweep:
        got = [(sweep.visit, block) for block in sweep.blocks()]
    return sweep, [[block for _, block in group] for _, group in groupby(got, key=lambda pair: pair[0])]


@pytest.mark.parametrize("options", ["", ",time=1", ",short=3000", ",pace=0"])
def test_every_visit_has_its_frequency_and_whole_dwell_and_all_else_is_counted(options):
    need_replay_radio()
    source = open_source(f"soapy:driver=replay,count=1{options}?rate={RATE}")
    sweep, visits = visits_of(source, PLAN, 2)
    centres = PLAN.centres(RATE)
    assert [blocks[0].freq_hz for blocks in visits] == pytest.approx(centres * 2)
    for blocks in visits:
        assert {block.freq_hz for block in blocks} == {blocks[0].freq_hz}
        assert all(after.follows(before) and after.gap is None for before, after in pairwise(blocks))
        assert sum(len(block.samples) for block in blocks) == round(PLAN.dwell_s * RATE)
    given = [block for blocks in visits for block in blocks]
    for block in given:  # the radio counts its samples itself
        assert np.array_equal(numbers(block.samples), np.arange(block.index, block.end))
    first = [blocks[0] for blocks in visits]
    ends = [0, *(blocks[-1].end for blocks in visits)]
    assert [block.gap.samples for block in first] == [
        block.index - end for block, end in zip(first, ends, strict=False)
    ]
    assert {block.gap.reason for block in first} == {"retune"}
    assert sweep.counts.samples == sum(len(block.samples) for block in given)
    assert sweep.counts.lost["retune"] >= given[-1].end - sweep.counts.samples


def test_samples_that_were_under_way_are_never_given_at_the_new_frequency():
    """A carrier 20 kHz above the first centre alone; a receiver whose samples are 300 ms old."""
    plan = replace(PLAN, settle_s=0.6)
    centres = [round(centre) for centre in PLAN.centres(RATE)]
    bins = spectrum(1_000_000, [(centres[0] + 20e3 - 433.2e6, 1, 0.3)], noise=0.01)
    radio = WideRadio(bins, 433.2e6, RATE, centres, late_s=0.3)
    try:
        _, visits = visits_of(open_source(radio.address), plan, 3)
    finally:
        radio.close()
    for number, blocks in enumerate(visits):
        x = np.concatenate([block.samples for block in blocks])
        shifted = x * np.exp(-2j * np.pi * 20e3 / RATE * np.arange(len(x)))
        levels = np.abs(shifted.reshape(-1, RATE // 200).mean(1))  # of each 5 ms
        if number % 3 == 0:
            assert levels == pytest.approx(0.3, abs=0.02)
        else:
            assert levels.max() < 0.02


def test_a_plan_that_the_radio_sees_at_once_has_visits_without_a_gap():
    need_replay_radio()
    source = open_source(f"soapy:driver=replay,count=1?rate={RATE}")
    _, visits = visits_of(source, Plan(433e6, 433.1e6, dwell_s=0.1), 3)
    assert len(visits) == 3
    blocks = [block for blocks in visits for block in blocks]
    assert all(after.follows(before) for before, after in pairwise(blocks))


def test_the_frequency_is_the_plans_and_the_gain_the_users():
    need_replay_radio()
    with open_source(f"soapy:driver=replay?rate={RATE}") as source:
        sweep = Sweep(source, PLAN)
        with pytest.raises(ConfigError, match="follows a plan of frequencies; only its gain can be set"):
            sweep.retune(433e6)
        sweep.retune(gain=20.0)


def test_a_radio_that_cannot_go_there_and_a_source_that_is_no_radio_say_so_at_once():
    need_replay_radio()
    with open_source(f"soapy:driver=replay?rate={RATE}") as source, pytest.raises(ConfigError, match="freq"):
        Sweep(source, Plan(1.7659e9, 1.7664e9))
    with open_source("tone:?rate=250k") as source, pytest.raises(ConfigError) as error:
        Sweep(source, PLAN)
    assert str(error.value) == "source tone:?rate=250k cannot be retuned; a plan of frequencies needs a radio"


@pytest.mark.parametrize("how", ["error", "silence"])
def test_a_radio_that_was_away_goes_on_with_the_plan(how):
    need_replay_radio()
    lost = f"serial={how},lose_after=60000,back_after=0.3,lose_how={how}"
    source = open_source(f"soapy:driver=replay,{lost}?rate={RATE}&silence=0.2")
    sweep, visits = visits_of(source, PLAN, 3)
    centres = PLAN.centres(RATE)
    assert sweep.counts.events["reopened"] == 1
    for number, blocks in enumerate(visits):
        assert {block.freq_hz for block in blocks} == {centres[number % 3]}


def test_closing_ends_the_blocks_in_another_thread():
    need_replay_radio()
    sweep = Sweep(open_source(f"soapy:driver=replay?rate={RATE}"), PLAN)
    reader = threading.Thread(target=lambda: list(sweep.blocks()))
    reader.start()
    sweep.close()
    reader.join(30)
    assert not reader.is_alive()
