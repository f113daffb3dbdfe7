"""What a live source makes of what its device answers, one scripted read after the other."""

import numpy as np
import pytest

from hardware.live import LiveSource
from hardware.soapy_api import CORRUPTION, OVERFLOW, TIME_ERROR, TIMEOUT, Read
from streaming.block import Gap
from streaming.errors import SourceError

RATE = 1e6  # a sample is 1000 ns


class Scripted(LiveSource):
    """Gives what the script says, and closes at its end."""

    def __init__(self, *script):
        super().__init__("scripted", RATE)
        self.script = list(script)
        self.given = 0

    def _read(self, buffer):
        if not self.script:
            self._closed.set()
            return Read(TIMEOUT, None)
        step = self.script.pop(0)
        if isinstance(step, Exception):
            raise step
        if step.got > 0:
            buffer[: step.got] = np.arange(self.given, self.given + step.got)
            self.given += step.got
        return step

    def _connect(self):
        step = self.script.pop(0)
        if isinstance(step, Exception):
            raise step

    def _release(self):
        pass


def played(*script):
    source = Scripted(*script)
    blocks = list(source.blocks())
    source.counts.events["timeout"] -= 1  # the end of the script
    samples = np.concatenate([block.samples for block in blocks])
    assert np.array_equal(samples, np.arange(source.given))
    assert source.counts.samples == source.given
    return source, blocks


def events(source):
    return {name: times for name, times in source.counts.events.items() if times}


def test_reads_that_follow_each_other_are_one_block():
    source, blocks = played(Read(100, 0), Read(50, 100_000), Read(10, None), Read(10, 160_000))
    assert [(block.index, len(block.samples)) for block in blocks] == [(0, 170)]
    assert events(source) == {}


def test_a_jump_of_the_hardware_clock_is_a_gap_even_unannounced():
    source, blocks = played(Read(100, 0), Read(50, 107_000), Read(10, 157_000))
    assert [(block.index, len(block.samples)) for block in blocks] == [(0, 100), (107, 60)]
    assert blocks[1].gap == Gap(7, "time jump", exact=True)
    assert events(source) == {"time jump": 1}
    assert source.counts.lost == {"time jump": 7}


def test_an_overflow_that_lost_nothing_is_no_gap():
    source, blocks = played(Read(100, 0), Read(OVERFLOW, None), Read(50, 100_000))
    assert [block.gap for block in blocks] == [None, None]
    assert events(source) == {"overflow": 1}


@pytest.mark.parametrize("after", [-5_000_000_000, 10**18])
def test_a_hardware_clock_that_is_set_is_no_gap(after):
    source, blocks = played(Read(100, 10**10), Read(50, 10**10 + after), Read(50, 10**10 + after + 50_000))
    assert [(block.index, block.end) for block in blocks] == [(0, 200)]
    assert events(source) == {"time error": 1}
    assert not source.counts.lost


def test_the_first_cause_names_the_gap():
    source, blocks = played(Read(100, 0), Read(CORRUPTION, None), Read(OVERFLOW, None), Read(50, 200_000))
    assert blocks[1].gap == Gap(100, "corruption", exact=True)
    assert events(source) == {"corruption": 1, "overflow": 1}


def test_without_timestamps_a_gap_has_at_least_one_sample():
    source, blocks = played(Read(100, None), Read(OVERFLOW, None), Read(50, None))
    assert blocks[1].gap.samples >= 1
    assert not blocks[1].gap.exact
    assert blocks[1].index == 100 + blocks[1].gap.samples
    assert source.counts.lost_estimated == {"overflow": blocks[1].gap.samples}


def test_faults_without_loss_only_cut_the_block():
    source, blocks = played(Read(100, 0), Read(TIMEOUT, None), Read(TIME_ERROR, None), Read(50, 100_000))
    assert [(block.index, block.gap) for block in blocks] == [(0, None), (100, None)]
    assert events(source) == {"timeout": 1, "time error": 1}


def test_a_device_that_stays_away_is_tried_again_and_again():
    away = SourceError("away")
    source, blocks = played(Read(100, None), away, away, away, None, Read(50, None))
    assert blocks[1].gap.reason == "device lost"
    assert blocks[1].gap.samples > 0.5 * RATE  # 0.1 + 0.2 + 0.4 s of waiting
    assert events(source) == {"device lost": 1, "reopened": 1}


def test_a_full_buffer_is_a_block():
    _, blocks = played(*(Read(8192, None) for _ in range(5)))
    assert [len(block.samples) for block in blocks] == [16_384, 16_384, 8192]
    assert not np.shares_memory(blocks[0].samples, blocks[1].samples)
