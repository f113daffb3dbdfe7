"""Recordings that the sigmf package and our own reader read back, whatever happened while they were made."""

import errno
import json
import subprocess
import sys

import numpy as np
import pytest
import sigmf

from hardware import open_source
from hardware.recorder import RESERVE, Recorder
from hardware.trigger import TriggeredRecorder
from streaming.block import Block, Gap
from streaming.errors import ConfigError, SourceError
from tests.require import ROOT

RATE = 1e6
START = 1_706_726_700_123_456_789
SAMPLES = (np.random.default_rng(1).standard_normal(200_000).astype(np.float32) / 8).view(np.complex64)


def block(start, end, index=None, freq_hz=1e8, gap=None):
    index = start if index is None else index
    return Block(SAMPLES[start:end], index, RATE, freq_hz, START + 1000 * index, "hardware", gap)


def play(path):
    with open_source(f"file:{path}") as source:
        return list(source.blocks())


@pytest.mark.parametrize("name", ["x.sigmf", "x.sigmf-meta", "x"])
def test_what_went_in_comes_out(tmp_path, name):
    with Recorder(tmp_path / name, description="a test") as recorder:
        assert recorder.push(block(0, 30_000))
        assert recorder.push(block(30_000, 40_000, 31_234, gap=Gap(1234, "overflow", False)))
        assert recorder.push(block(40_000, 50_000, 41_234, freq_hz=2e8))
    assert (recorder.samples, recorder.lost) == (50_000, 1234)
    theirs = sigmf.fromfile(recorder.meta)
    theirs.validate()
    np.testing.assert_array_equal(theirs[:], SAMPLES[:50_000])
    captures = theirs.get_captures()
    assert [capture["core:sample_start"] for capture in captures] == [0, 30_000, 40_000]
    assert [capture["core:global_index"] for capture in captures] == [0, 31_234, 41_234]
    assert captures[0]["core:datetime"] == "2024-01-31T18:45:00.123456789Z"
    ours = play(recorder.meta)
    np.testing.assert_array_equal(np.concatenate([one.samples for one in ours]), SAMPLES[:50_000])
    assert [(one.index, one.gap) for one in ours if one.gap] == [(31_234, Gap(1234, "overflow", False))]
    assert {one.freq_hz for one in ours} == {1e8, 2e8}
    assert all(one.utc_ns == START + 1000 * one.index for one in ours)


@pytest.mark.parametrize(
    ("limit", "samples", "reason"),
    [({"max_bytes": 100_000}, 12_500, "size limit"), ({"max_seconds": 0.0123}, 12_300, "time limit")],
)
def test_limits_hold_to_the_sample(tmp_path, limit, samples, reason):
    recorder = Recorder(tmp_path / "x", **limit)
    pushed = [recorder.push(block(start, start + 5000)) for start in range(0, 30_000, 5000)]
    assert pushed == [True, True, False, False, False, False]
    assert (recorder.samples, recorder.ended) == (samples, reason)
    assert sum(len(one.samples) for one in play(recorder.meta)) == samples


def test_lost_samples_count_for_the_time_limit(tmp_path):
    with Recorder(tmp_path / "x", max_seconds=0.01) as recorder:
        assert recorder.push(block(0, 5000))
        assert not recorder.push(block(5000, 8000, 9000))
    assert recorder.samples == 6000


def test_another_rate_ends_the_recording(tmp_path):
    with Recorder(tmp_path / "x") as recorder:
        recorder.push(block(0, 5000))
        assert not recorder.push(Block(SAMPLES[:10], 5000, 2e6))
    assert recorder.samples == 5000


def test_an_existing_recording_is_never_overwritten(tmp_path):
    (tmp_path / "x.sigmf-meta").touch()
    with pytest.raises(ConfigError, match="exists already"):
        Recorder(tmp_path / "x")
    with pytest.raises(SourceError, match="cannot be written"):
        Recorder(tmp_path / "nowhere" / "x")


def test_nothing_recorded_leaves_no_file(tmp_path):
    Recorder(tmp_path / "x.sigmf").close()
    Recorder(tmp_path / "y").close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["x.sigmf", "x.sigmf-meta"])
def test_a_full_disk_ends_the_recording_and_not_the_service(tmp_path, name):
    """The kernel refuses to write beyond a size, in the middle of a block, as a full disk does."""
    script = f"""
import resource, sys
from tests.hardware.test_recorder import Recorder, block
resource.setrlimit(resource.RLIMIT_FSIZE, (700_003, 700_003))
recorder = Recorder({str(tmp_path / name)!r})
for start in range(0, 100_000, 10_000):
    going = recorder.push(block(start, start + 10_000))
recorder.close()
print(going, recorder.failed, recorder.samples, recorder.ended)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    going, failed, samples, reason = done.stdout.split(maxsplit=3)
    assert (going, failed) == ("False", "True")
    assert "cannot be written any further" in reason
    kept = int(samples)
    assert 80_000 - RESERVE // 8 <= kept < 700_003 // 8
    got = np.concatenate([one.samples for one in play(tmp_path / name)])
    np.testing.assert_array_equal(got, SAMPLES[:kept])
    sigmf.fromfile(tmp_path / name).validate()


def test_a_disk_that_is_full_from_the_start(tmp_path, monkeypatch):
    recorder = Recorder(tmp_path / "x")

    def full(raw):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(recorder, "_write", full)
    assert not recorder.push(block(0, 5000))
    assert recorder.failed
    assert "No space left on device" in recorder.ended
    assert list(tmp_path.iterdir()) == []


def test_a_killed_recording_is_still_valid(tmp_path):
    recorder = Recorder(tmp_path / "x")
    recorder.push(block(0, 5000))
    recorder.push(block(5000, 9000))
    assert len(sigmf.fromfile(tmp_path / "x.sigmf-meta")[:]) == 9000
    assert "core:sha512" not in json.loads((tmp_path / "x.sigmf-meta").read_text())["global"]
    recorder.close()


def run_triggers(recorder, triggers, path):
    for start in range(0, 100_000, 3000):
        recorder.push(block(start, min(start + 3000, 100_000)))
        for name, index in triggers:
            if start <= index < start + 3000:
                recorder.trigger(path / name, index)
    recorder.close()


def test_a_trigger_records_before_and_after(tmp_path):
    run_triggers(TriggeredRecorder(0.02, 0.01), [("a", 50_000), ("b", 90_500)], tmp_path)
    a, b = play(tmp_path / "a.sigmf-meta"), play(tmp_path / "b.sigmf-meta")
    np.testing.assert_array_equal(np.concatenate([one.samples for one in a]), SAMPLES[30_000:60_000])
    assert a[0].utc_ns == START + 30_000_000
    # The source ended before the second one was over.
    np.testing.assert_array_equal(np.concatenate([one.samples for one in b]), SAMPLES[70_500:100_000])


def test_a_trigger_during_a_recording_makes_it_longer(tmp_path):
    run_triggers(TriggeredRecorder(0.02, 0.01), [("a", 50_000), ("b", 55_000)], tmp_path)
    got = np.concatenate([one.samples for one in play(tmp_path / "a.sigmf-meta")])
    np.testing.assert_array_equal(got, SAMPLES[30_000:65_000])
    assert not (tmp_path / "b.sigmf-meta").exists()


def test_a_trigger_before_the_first_block_records_nothing(tmp_path):
    assert TriggeredRecorder(1, 1).trigger(tmp_path / "a") is None


def test_the_record_command(tmp_path):
    command = [sys.executable, "-c", "from service.cli import main; raise SystemExit(main())", "record"]
    out = str(tmp_path / "x.sigmf")
    arguments = ["tone:?rate=250k&freq=1M&pace=fast", out, "--seconds", "0.5"]
    done = subprocess.run(
        [*command, *arguments], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert "125000 samples, 0.5 s" in done.stderr
    assert sum(len(one.samples) for one in play(out)) == 125_000
    again = subprocess.run(
        [*command, *arguments], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert again.returncode == 2
    assert again.stderr.count("\n") == 1
    assert "exists already" in again.stderr


def test_the_record_command_takes_only_what_is_loud(tmp_path):
    samples = np.zeros(100_000, np.complex64)
    samples[30_000:31_000] = samples[60_000:60_500] = samples[61_000:61_500] = 0.5
    samples.tofile(tmp_path / "x_100k.cf32")
    command = [sys.executable, "-c", "from service.cli import main; raise SystemExit(main())", "record"]
    arguments = [str(tmp_path / "x_100k.cf32"), str(tmp_path / "burst.sigmf-meta"), "--above", "-10"]
    subprocess.run(
        [*command, *arguments, "--before", "0.05", "--after", "0.02"], cwd=ROOT, check=True, timeout=60
    )
    assert sorted(path.name for path in tmp_path.glob("*-meta")) == [
        "burst-0001.sigmf-meta",
        "burst-0002.sigmf-meta",
    ]
    for number, (burst, length) in enumerate(
        [(samples[30_000:31_000], 8000), (samples[60_000:61_500], 8500)], 1
    ):
        got = np.concatenate([one.samples for one in play(tmp_path / f"burst-{number:04d}.sigmf-meta")])
        assert abs(len(got) - length) <= 200  # it looks at whole milliseconds
        start = np.flatnonzero(got)[0]
        assert abs(start - 5000) <= 100
        np.testing.assert_array_equal(got[start : start + len(burst)], burst)
