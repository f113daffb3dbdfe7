"""The SoapySDR source on the replay radio: every fault counted, and a stream that goes on."""

import importlib.util
import itertools
import threading
import time

import numpy as np
import pytest

from hardware import open_source
from hardware.soapy_api import load
from streaming.block import Gap
from streaming.errors import ConfigError, SourceError
from tests.replay_radio import need_replay_radio, numbers
from tests.require import need

serials = itertools.count(100)  # one each: a lost radio is remembered by its serial


@pytest.fixture(params=["python", "ctypes"])
def radio(request):
    """Opens the replay radio through one binding: radio(device arguments, options)."""
    need_replay_radio()
    try:
        load(request.param)
    except SourceError as error:
        need(False, f"{error}: tests/link_soapy.py")

    def open_radio(device="count=1", options="rate=2.4M"):
        if "buffer" not in device:
            device += ",buffer=60"  # a busy machine may stop this process for a while
        return open_source(
            f"soapy:driver=replay,serial={next(serials)},{device}?{options}&binding={request.param}"
        )

    return open_radio


def take(source, samples):
    """Blocks of at least so many samples, each behind the other."""
    blocks = []
    for block in source.blocks():
        blocks.append(block)
        if sum(len(one.samples) for one in blocks) >= samples:
            break
    for before, after in itertools.pairwise(blocks):
        assert after.index == before.end + (after.gap.samples if after.gap else 0)
    return blocks


def assert_true_index(blocks):
    """What the block says of its place is where its samples come from."""
    for block in blocks:
        assert np.array_equal(numbers(block.samples), np.arange(block.index, block.end))


def test_short_reads_become_blocks_and_nothing_is_lost(radio):
    with radio("count=1,short=500") as source:
        blocks = take(source, 1_200_000)
    assert_true_index(blocks)
    assert {len(block.samples) for block in blocks} == {16_384}
    assert blocks[0].index == 0
    assert source.counts.samples == sum(len(block.samples) for block in blocks)
    assert not source.counts.lost
    assert not source.counts.events


def test_a_slow_stream_is_cut_into_shorter_blocks(radio):
    with radio(options="rate=250k") as source:
        assert len(next(source.blocks()).samples) == 12_500


@pytest.mark.parametrize("fault", ["overflow", "corruption"])
def test_a_fault_with_hardware_time_leaves_an_exact_gap(radio, fault):
    with radio(f"count=1,time=1,{fault}_every=50000,{fault}_times=3,{fault}_lose=12345") as source:
        blocks = take(source, 200_000)
    assert_true_index(blocks)
    assert [block.gap for block in blocks if block.gap] == [Gap(12_345, fault, exact=True)] * 3
    assert [block.index for block in blocks if block.gap] == [62_345, 124_690, 187_035]
    assert source.counts.lost == {fault: 3 * 12_345}
    assert source.counts.events == {fault: 3}
    assert source.loss == "exact"


def test_a_fault_without_hardware_time_leaves_an_estimated_gap(radio):
    lose = 480_000  # 0.2 s: well above what a busy machine adds
    with radio(f"count=1,overflow_every=100000,overflow_lose={lose}") as source:
        blocks = take(source, 300_000)
    (gap,) = [block.gap for block in blocks if block.gap]
    assert (gap.reason, gap.exact) == ("overflow", False)
    assert source.counts.lost_estimated == {"overflow": gap.samples}
    assert source.counts.events["overflow"] == 1
    assert source.loss == "estimated"
    # What was lost, and what the clock adds while this process was not running.
    assert 0.9 * lose < gap.samples < lose + 2_400_000


def test_timeouts_and_time_errors_are_counted_and_lose_nothing(radio):
    faults = "timeout_every=20000,timeout_times=4,timeerror_every=30000,timeerror_times=2"
    with radio(f"count=1,{faults}") as source:
        blocks = take(source, 200_000)
    assert_true_index(blocks)
    assert source.counts.events == {"timeout": 4, "time error": 2}
    assert not any(block.gap for block in blocks)


def test_a_reader_that_is_too_slow_loses_samples_exactly_counted(radio):
    with radio("count=1,time=1,buffer=0.05") as source:
        blocks = source.blocks()
        first = next(blocks)
        time.sleep(0.3)
        rest = list(itertools.islice(blocks, 5))
    assert_true_index([first, *rest])
    assert source.counts.events["overflow"] >= 1
    assert source.counts.lost["overflow"] > 0.1 * 2.4e6


def test_hardware_time_is_utc(radio):
    with radio("count=1,time=1,time0=77") as source:
        blocks = take(source, 100_000)
    assert {block.clock for block in blocks} == {"hardware"}
    steps = np.diff([block.utc_ns for block in blocks])
    assert np.all(np.abs(steps - 16_384 / 2.4e6 * 1e9) <= 1)
    assert abs(blocks[-1].utc_ns - time.time_ns()) < 5e9


def test_a_clock_that_is_set_to_utc_is_taken_as_it_is(radio):
    start = time.time_ns()
    with radio(f"count=1,time=1,time0={start}") as source:
        assert next(source.blocks()).utc_ns == start


def test_without_hardware_time_the_host_tells_the_time(radio):
    with radio() as source:
        blocks = take(source, 100_000)
    assert {block.clock for block in blocks} == {"host"}
    assert abs(blocks[-1].utc_ns - time.time_ns()) < 5e9


@pytest.mark.parametrize(
    ("how", "within_s"),
    [
        *(pytest.param(how, 20, id=how) for how in ("error", "throw", "silence")),
        *(
            pytest.param(how, 2, id=f"{how}-2s", marks=pytest.mark.acceptance)
            for how in ("error", "throw", "silence")
        ),
    ],
)
def test_a_lost_radio_that_comes_back_is_streaming_again(radio, how, within_s, tmp_path):
    plug = tmp_path / "plug"
    plug.touch()
    with radio(f"count=1,lose_how={how},present={plug}") as source:
        blocks = source.blocks()
        before = [next(blocks) for _ in range(5)]
        back = threading.Timer(0.7, plug.touch)
        plug.unlink()
        back.start()
        after = next(block for block in blocks if block.gap)
        came_back = plug.stat().st_mtime_ns
        late_s = (time.time_ns() - came_back) / 1e9
        more = list(itertools.islice(blocks, 5))
    assert late_s < within_s
    assert (after.gap.reason, after.gap.exact) == ("device lost", False)
    assert after.gap.samples > 0.6 * 2.4e6
    assert after.index >= before[-1].end + after.gap.samples
    assert numbers(after.samples)[0] == 0  # it is truly a new one
    assert [block.gap for block in more] == [None] * 5
    assert source.counts.events["device lost"] == source.counts.events["reopened"] == 1
    assert source.counts.lost_estimated == {"device lost": after.gap.samples}


def test_a_radio_comes_back_as_it_was_tuned(radio):
    with radio("count=1,lose_after=50000,back_after=0.2", "rate=2.4M&freq=100M") as source:
        blocks = source.blocks()
        next(blocks)
        source.retune(freq_hz=200e6, gain="LNA:8,VGA:10")
        after = next(block for block in blocks if block.gap)
        assert after.freq_hz == 200e6
        assert source._radio.gain(0) == 18


def test_retuning_from_another_thread_shows_in_the_blocks(radio):
    with radio(options="rate=2.4M&freq=100M&gain=20") as source:
        threading.Timer(0.1, source.retune, [433.92e6, "auto"]).start()
        tuned = []
        for block in source.blocks():
            tuned.append(block.freq_hz)
            if block.freq_hz == 433.92e6:
                break
        assert set(tuned) == {100e6, 433.92e6}
        with pytest.raises(ConfigError, match=r"is 9G; this radio can do 24M to 1.766G"):
            source.retune(freq_hz=9e9)


def test_close_ends_a_reader_in_another_thread(radio, tmp_path):
    plug = tmp_path / "plug"
    plug.touch()
    source = radio(f"count=1,present={plug},lose_how=silence")
    ended = threading.Event()

    def read():
        for _ in source.blocks():
            pass
        ended.set()

    threading.Thread(target=read).start()
    time.sleep(0.2)
    plug.unlink()
    time.sleep(0.2)
    source.close()
    assert ended.wait(5)
    source.close()
    assert list(source.blocks()) == []


def test_close_ends_a_reader_that_waits_for_a_lost_radio(radio, tmp_path):
    plug = tmp_path / "plug"
    plug.touch()
    source = radio(f"count=1,present={plug}")
    ended = threading.Event()

    def read():
        for _ in source.blocks():
            pass
        ended.set()

    threading.Thread(target=read).start()
    plug.unlink()
    time.sleep(1.0)
    source.close()
    assert ended.wait(5)


def test_a_file_is_played_as_it_is(radio, tmp_path):
    raw = np.random.default_rng(1).integers(0, 256, 20_000, np.uint8)
    path = tmp_path / "some.cu8"
    raw.tofile(path)
    with radio(f"file={path},pace=0") as source:
        block = next(source.blocks())
    expected = ((raw.astype(np.float32) - 127.5) / 127.5).view(np.complex64)  # (10,000,)
    assert np.array_equal(block.samples, np.resize(expected, len(block.samples)))


def test_everything_is_set_before_the_stream_starts(radio):
    need(importlib.util.find_spec("SoapySDR") is not None, "SoapySDR's Python binding: tests/link_soapy.py")
    options = (
        "rate=1M&freq=433.92M&gain=LNA:16,VGA:20&antenna=AUX&bandwidth=2M&ppm=-3&channel=1"
        "&settings=biastee=true,notch=fm&stream=some=thing"
    )
    with radio(options=options) as source:
        assert (source.rate_hz, source.freq_hz) == (1e6, 433.92e6)
        # SoapySDR gives the same device to whoever names it in the same words: look at it from the side.
        binding = importlib.import_module("SoapySDR")
        device = binding.Device(source._device)
        assert device.getSampleRate(1, 1) == 1e6
        assert device.getFrequency(1, 1) == 433.92e6
        assert (device.getGain(1, 1, "LNA"), device.getGain(1, 1, "VGA")) == (16, 20)
        assert device.getGainMode(1, 1) is False
        assert device.getAntenna(1, 1) == "AUX"
        assert device.getBandwidth(1, 1) == 2e6
        assert device.getFrequencyCorrection(1, 1) == -3
        assert device.readSetting("biastee") == "true"
        assert device.readSetting(1, 1, "notch") == "fm"
        source.retune(gain="auto")
        assert device.getGainMode(1, 1) is True
        device.close()
        assert next(source.blocks()).freq_hz == 433.92e6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("rate=5M", "option rate of soapy:.* is 5M; this radio can do 225k to 300k, 900k to 3.2M, 20M"),
        ("freq=5G", "is 5G; this radio can do 24M to 1.766G"),
        ("gain=200", "is 200; this radio can do 0 to 102"),
        ("gain=LNA:50", "option gain LNA of .* is 50; this radio can do 0 to 40"),
        ("gain=MIX:1", "is 'MIX'; this radio has LNA, VGA"),
        ("gain=high", "is 'high'; it must be from -200 to 200 dB, auto or elements as in LNA:20,VGA:10"),
        ("antenna=TX", "is 'TX'; this radio has RX, AUX"),
        ("bandwidth=1k", "is 1k; this radio can do 200k to 8M"),
        ("channel=2", "is 2; this radio has 0 to 1"),
        ("channel=0.5", "it must be a whole number from 0 to 1023"),
        ("settings=bias=1", "is 'bias'; this radio has biastee, notch"),
        ("gian=3", "no option 'gian'; did you mean gain"),
    ],
)
def test_a_bad_option_is_one_clear_line(radio, options, message):
    with pytest.raises(ConfigError, match=message):
        radio(options=options)


def test_a_bad_address_is_one_clear_line():
    need_replay_radio()
    with pytest.raises(ConfigError, match="names no radio"):
        open_source("soapy:")
    with pytest.raises(SourceError, match="no such radio; `wavetell devices`"):
        open_source("soapy:driver=nothing-of-this-name")
    with pytest.raises(ConfigError, match="this radio has no receive channel"):
        open_source("soapy:driver=null")
    with pytest.raises(SourceError, match="cannot read /nowhere"):
        open_source("soapy:driver=replay,file=/nowhere")


@pytest.mark.acceptance
def test_a_minute_at_2400_kilosamples_loses_nothing_and_costs_less_than_twelve_transforms(radio):
    """A tenth of a core that transforms a second of this signal in 8 ms, and in proportion on others."""
    with radio("count=1,time=1,buffer=0.5") as source:
        blocks = source.blocks()
        samples = next(blocks).samples
        began, cpu = time.monotonic(), time.process_time()
        while time.monotonic() - began < 60:
            next(blocks)
        used_s = time.process_time() - cpu
    cpu = time.process_time()
    for _ in range(source.counts.samples // len(samples)):
        np.fft.fft(samples.reshape(-1, 1024))
    assert not source.counts.lost
    assert not source.counts.events
    assert source.counts.samples > 59 * 2.4e6
    assert used_s < 12 * (time.process_time() - cpu)
