"""Raw recordings: samples as numpy reads them, facts from their names, and clear errors."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

from hardware import open_source
from hardware.file_name import read_name
from hardware.samples import DATATYPES, to_complex
from streaming.errors import ConfigError, FormatError, WavetellError
from tests.require import shared

# How numpy alone would read them.
NUMPY = {
    "cf32": lambda raw: np.frombuffer(raw, "<c8"),
    "cs16": lambda raw: (np.frombuffer(raw, "<i2").astype(np.float32) / 32768).view(np.complex64),
    "cs8": lambda raw: (np.frombuffer(raw, "i1").astype(np.float32) / 128).view(np.complex64),
    "cu8": lambda raw: ((np.frombuffer(raw, "u1").astype(np.float32) - 127.5) / 127.5).view(np.complex64),
}


def read(address):
    with open_source(address) as source:
        return np.concatenate([block.samples for block in source.blocks()])


def noise(count, seed=1):
    return np.random.default_rng(seed).standard_normal(2 * count).astype(np.float32) / 8


def raw_bytes(suffix, count):
    floats = noise(count)
    whole = {
        "cf32": lambda: floats,
        "cs16": lambda: (floats * 32767).clip(-32768, 32767).astype("<i2"),
        "cs8": lambda: (floats * 127).clip(-128, 127).astype("i1"),
        "cu8": lambda: (floats * 127 + 127.5).clip(0, 255).astype("u1"),
    }
    return whole[suffix]().tobytes()


@pytest.mark.parametrize("suffix", NUMPY)
def test_every_type_reads_as_numpy_does(tmp_path, suffix):
    raw = raw_bytes(suffix, 40_001)
    (tmp_path / f"x_250k.{suffix}").write_bytes(raw)
    np.testing.assert_array_equal(read(f"file:{tmp_path}/x_250k.{suffix}"), NUMPY[suffix](raw))


def test_full_scale_is_one():
    assert to_complex(bytes([0, 255]), "cu8")[0] == -1 + 1j
    assert to_complex(np.array([-32768, 16384], "<i2").tobytes(), "ci16_le")[0] == -1 + 0.5j
    assert to_complex(np.array([-128, 64], "i1").tobytes(), "ci8")[0] == -1 + 0.5j


def test_every_recording_from_the_air_opens_with_the_rate_and_frequency_of_its_label():
    folder = shared("data/ota433")
    paths = sorted(folder.glob("*.cu8"))
    assert len(paths) == 127
    for path in paths:
        _, freq, rate = path.stem.split("_")
        with open_source(f"file:{path}") as source:
            assert source.rate_hz == float(rate.removesuffix("k")) * 1000
            expected = float(freq.removesuffix("M"))
            assert source.freq_hz == (pytest.approx(expected * 1e6, abs=1e-3) if expected else None)
            assert path.name in source.inferred
            got = np.concatenate([block.samples for block in source.blocks()])
        np.testing.assert_array_equal(got, NUMPY["cu8"](path.read_bytes()))


UTC = 1_706_726_700 * 10**9  # 2024-01-31 18:45:00


@pytest.mark.parametrize(
    ("name", "rate_hz", "freq_hz", "datatype", "utc_ns"),
    [
        ("g001_433.92M_250k.cu8", 250e3, 433.92e6, "cu8", None),
        ("g126_0M_1024k.cu8", 1024e3, None, "cu8", None),
        ("x_868MHz_2.4Msps.cs16", 2.4e6, 868e6, "ci16_le", None),
        ("gqrx_20240131_184500_433920000_1800000_fc.raw", 1.8e6, 433.92e6, "cf32_le", UTC),
        ("baseband_433920000Hz_18-45-00_31-01-2024.wav", None, 433.92e6, None, None),
        ("SDRSharp_20240131_184500Z_433920000Hz_IQ.wav", None, 433.92e6, None, UTC),
        ("SDRSharp_20240131_184500Z_433920kHz_IQ.wav", None, 433.92e6, None, UTC),
        ("SDRSharp_20240131_184500Z_433920000_IQ.wav", None, 433.92e6, None, UTC),
        ("capture.iq", None, None, None, None),
        ("my10kitchens_5Mice.cfile", None, None, "cf32_le", None),
    ],
)
def test_names_tell(name, rate_hz, freq_hz, datatype, utc_ns):
    facts = read_name(name)
    assert (facts.rate_hz, facts.freq_hz, facts.datatype, facts.utc_ns) == (
        rate_hz,
        freq_hz,
        datatype,
        utc_ns,
    )


def test_options_win_over_the_name(tmp_path):
    (tmp_path / "x_433.92M_250k.cu8").write_bytes(raw_bytes("cs16", 5000))
    with open_source(f"file:{tmp_path}/x_433.92M_250k.cu8?rate=1M&freq=100M&type=ci16") as source:
        assert (source.rate_hz, source.freq_hz) == (1e6, 100e6)
        assert "type and rate and freq as given" in source.inferred
        assert sum(len(block.samples) for block in source.blocks()) == 5000


def test_the_prefix_of_rtl_433_is_the_type(tmp_path):
    raw = raw_bytes("cs16", 5000)
    (tmp_path / "x.bin").write_bytes(raw)
    got = read(f"file:cs16:{tmp_path}/x.bin?rate=250k")
    np.testing.assert_array_equal(got, NUMPY["cs16"](raw))


def test_start_passes_over_and_loop_goes_round(tmp_path):
    samples = noise(1000).view(np.complex64)
    samples.tofile(tmp_path / "x_1k.cf32")
    np.testing.assert_array_equal(read(f"file:{tmp_path}/x_1k.cf32?start=0.25"), samples[250:])
    with open_source(f"file:{tmp_path}/x_1k.cf32?start=0.25&loop=1") as source:
        blocks = source.blocks()
        got = [next(blocks) for _ in range(3)]
    assert [block.index for block in got] == [0, 750, 1500]
    for block in got:
        np.testing.assert_array_equal(block.samples, samples[250:])


def test_real_pace_is_not_faster_than_the_air(tmp_path):
    noise(30_000).tofile(tmp_path / "x_100k.cf32")
    began = time.monotonic()
    assert len(read(f"file:{tmp_path}/x_100k.cf32?pace=realtime")) == 30_000
    assert time.monotonic() - began >= 0.29


@pytest.mark.parametrize(
    ("name", "raw", "options", "line"),
    [
        ("a_250k.cu8", b"a", "", "has 1 bytes of samples; a sample of cu8 takes 2"),
        ("a_250k.cu8", b"", "", "has 0 bytes of samples"),
        ("a_250k.iq", b"abcd", "", "does not say its type; add type="),
        ("a.cu8", b"abcd", "", "the rate of"),
        ("a_250k.cu8", b"abcd", "?type=ci32", "is 'ci32'; it must be cf32, ci16, ci8 or cu8"),
        ("a_250k.cu8", b"abcd", "?start=1", "start lies behind the end"),
        ("a_250k.cf32", bytes(range(120, 136)) * 64, "", "says cf32_le, but its bytes are not such floats"),
        ("a_250k.cu8", noise(4096).tobytes(), "", "says cu8, but its bytes look like cf32"),
    ],
)
def test_bad_input_is_one_clear_line(tmp_path, name, raw, options, line):
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(WavetellError) as error:
        open_source(f"file:{tmp_path}/{name}{options}")
    assert line in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("name", "raw"), [("x_250k.cu8", bytes(range(101))), ("x_250k.cf32", bytes(803))])
def test_a_last_sample_that_is_cut_is_left_out_with_one_warning(tmp_path, caplog, name, raw):
    whole = tmp_path / f"whole-{name}"
    whole.write_bytes(raw[: {"cu8": 100, "cf32": 800}[name.partition(".")[2]]])
    (tmp_path / name).write_bytes(raw)
    np.testing.assert_array_equal(read(f"file:{tmp_path}/{name}"), read(f"file:{whole}"))
    (record,) = [record for record in caplog.records if record.levelname == "WARNING"]
    assert name in record.getMessage()
    assert "ends within a sample" in record.getMessage()


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"there is no file .*gone\.cu8"):
        open_source(f"file:{tmp_path}/gone.cu8")


def test_a_file_that_shrinks_is_told(tmp_path):
    path = tmp_path / "x_1k.cf32"
    noise(100_000).tofile(path)
    with open_source(f"file:{path}") as source:
        blocks = source.blocks()
        next(blocks)
        os.truncate(path, 200_000)
        with pytest.raises(FormatError, match="ended at byte"):
            list(blocks)


def test_memory_stays_flat_on_a_big_file(tmp_path):
    path = tmp_path / "big_2400k.cf32"
    with path.open("wb") as file:
        file.truncate(512 << 20)  # sparse: it takes no disk
    script = (
        "import resource, sys; from hardware import open_source\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "source = open_source(sys.argv[1]); total = 0\n"
        "for block in source.blocks(): total += len(block.samples)\n"
        "print(total, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, f"file:{path}"], capture_output=True, text=True, check=True, timeout=60
    )
    total, grown_kb = map(int, done.stdout.split())
    assert total == (512 << 20) // 8
    assert grown_kb < 16_000


def test_the_types_are_those_of_the_conventions():
    assert set(DATATYPES) == {"cf32_le", "ci16_le", "ci8", "cu8"}
