"""WAV recordings, written by scipy and by the standard library."""

import struct
import wave

import numpy as np
import pytest
from scipy.io import wavfile

from hardware import open_source
from streaming.errors import WavetellError

FLOATS = np.random.default_rng(1).standard_normal((5000, 2)).astype(np.float32) / 8
INTEGERS = (FLOATS * 32767).astype(np.int16)


def read(path):
    with open_source(f"file:{path}") as source:
        return np.concatenate([block.samples for block in source.blocks()]), source


def test_float_and_16_bit(tmp_path):
    path = tmp_path / "SDRSharp_20240131_184500Z_433920000Hz_IQ.wav"
    wavfile.write(path, 250_000, FLOATS)
    got, source = read(path)
    np.testing.assert_array_equal(got, FLOATS.view(np.complex64)[:, 0])
    assert (source.rate_hz, source.freq_hz) == (250e3, 433.92e6)
    wavfile.write(path, 48_000, INTEGERS)
    got, source = read(path)
    np.testing.assert_array_equal(got, (INTEGERS.astype(np.float32) / 32768).view(np.complex64)[:, 0])
    assert source.rate_hz == 48e3


def test_the_frequency_in_the_auxi_chunk(tmp_path):
    path = tmp_path / "x.wav"
    wavfile.write(path, 250_000, INTEGERS)
    raw = path.read_bytes()
    chunk = bytes(32) + struct.pack("<I", 7_074_000) + bytes(28)
    at = raw.index(b"data")
    path.write_bytes(raw[:at] + b"auxi" + struct.pack("<I", len(chunk)) + chunk + raw[at:])
    got, source = read(path)
    assert source.freq_hz == 7_074_000
    assert len(got) == 5000


def test_a_size_that_was_never_filled_in(tmp_path):
    path = tmp_path / "x.wav"
    wavfile.write(path, 250_000, INTEGERS)
    raw = bytearray(path.read_bytes())
    at = raw.index(b"data") + 4
    raw[at : at + 4] = bytes(4)
    path.write_bytes(raw)
    assert len(read(path)[0]) == 5000


@pytest.mark.parametrize("size", [19_999, 0])
def test_a_last_sample_that_is_cut_is_left_out_with_one_warning(tmp_path, caplog, size):
    path = tmp_path / "x.wav"
    wavfile.write(path, 250_000, INTEGERS)
    raw = bytearray(path.read_bytes())
    at = raw.index(b"data") + 4
    raw[at : at + 4] = struct.pack("<I", size)
    path.write_bytes(raw[:-1])
    whole = (INTEGERS.astype(np.float32) / 32768).view(np.complex64)[:-1, 0]
    np.testing.assert_array_equal(read(path)[0], whole)
    assert [record.levelname for record in caplog.records].count("WARNING") == 1


def write_mono(path):
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 48_000, 0, "NONE", ""))
        file.writeframes(bytes(1000))


def write_cut(path):
    wavfile.write(path, 250_000, INTEGERS)
    path.write_bytes(path.read_bytes()[:1000])


@pytest.mark.parametrize(
    ("write", "line"),
    [
        (write_mono, "has 1 channel; I and Q take 2"),
        (write_cut, "says 20000 bytes of samples but has 956; it was cut short"),
        (lambda path: wavfile.write(path, 48_000, FLOATS.astype(np.float64)), "samples of 64 bit, format 3"),
        (lambda path: path.write_bytes(b"RIFF\0\0\0\0WAVE"), "without a fmt or data chunk"),
        (lambda path: path.write_bytes(b"nonsense"), "is not a WAV file"),
    ],
)
def test_a_bad_wav_is_one_clear_line(tmp_path, write, line):
    write(tmp_path / "x.wav")
    with pytest.raises(WavetellError) as error:
        open_source(f"file:{tmp_path}/x.wav")
    assert line in str(error.value)
    assert "\n" not in str(error.value)
