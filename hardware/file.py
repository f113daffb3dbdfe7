"""Recordings: SigMF, WAV and raw samples, at real pace or as fast as they can be read.

`file:PATH` with the options

    rate, freq, type    what the user knows better than the file: rate=250k, freq=433.92M, type=cu8
    pace                fast (default) or realtime
    loop                1: restart at the end, endlessly
    start               seconds of the recording to pass over

>>> Path("g001_433.92M_250k.cu8").write_bytes(bytes([127, 128]) * 1000)
2000
>>> from hardware import open_source
>>> with open_source("file:g001_433.92M_250k.cu8") as source:
...     source.inferred
'g001_433.92M_250k.cu8: cu8, 250 kS/s, 433.92 MHz, from its name'
"""

import logging
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from hardware.address import Address
from hardware.file_name import type_prefix
from hardware.pace import Pacer
from hardware.recording import Capture, Recording, read_recording
from hardware.samples import check_plausible, sample_bytes, to_complex
from hardware.source import Counts, Source
from streaming.block import Block, Gap
from streaming.checked import metric
from streaming.errors import ConfigError, FormatError, SourceError
from streaming.quantities import FREQ_HZ, RATE_HZ, SECONDS, START_S

log = logging.getLogger(__name__)

BLOCK = 16_384  # samples; bigger reads are not faster
LATENCY_S = 0.01  # of a block at real pace


def open(address: Address) -> "FileSource":
    """Open a recording."""
    prefix, target = type_prefix(address.target)
    options = address.options
    type_name = options.text("type", prefix)
    rate_hz, freq_hz = options.number("rate", RATE_HZ), options.number("freq", FREQ_HZ)
    realtime = options.choice("pace", ("fast", "realtime"), "fast") == "realtime"
    loop, start_s = options.flag("loop"), options.number("start", START_S, 0.0)
    options.done()
    try:
        recording = read_recording(Path(target), type_name)
        if rate_hz is not None:
            recording = replace(recording, rate_hz=rate_hz)
        if freq_hz is not None:
            captures = [replace(capture, freq_hz=freq_hz) for capture in recording.captures]
            recording = replace(recording, captures=captures)
        given = [name for name in ("type", "rate", "freq") if name in options.values]
        if given:
            recording = replace(recording, origin=f"{recording.origin}, {' and '.join(given)} as given")
        return FileSource(recording, realtime, loop, start_s)
    except OSError as error:
        raise SourceError(f"{target} cannot be read: {error.strerror}") from None


class FileSource(Source):
    """Plays a recording."""

    def __init__(self, recording: Recording, realtime: bool, loop: bool, start_s: float) -> None:
        if recording.rate_hz is None:
            raise ConfigError(f"the rate of {recording.path} is not known; add rate=250k or what it is")
        last = recording.captures[-1]
        if (last.index + last.samples) / recording.rate_hz > SECONDS.most:
            raise FormatError(
                f"{recording.path} would last longer than {metric(SECONDS.most)} s; its gaps lie"
            )
        self.address = f"file:{recording.path}"
        self.rate_hz, self.freq_hz = recording.rate_hz, recording.freq_hz
        self.counts = Counts()
        self.inferred = describe(recording)
        self._datatype, self._path = recording.datatype, recording.path
        self._captures = skip(recording, round(start_s * self.rate_hz))
        self._loop = loop
        self._closed = threading.Event()
        self._pacer = Pacer(self.rate_hz, self._closed) if realtime else None
        self._block = max(1, min(BLOCK, round(self.rate_hz * LATENCY_S))) if realtime else BLOCK
        self._reading = threading.Lock()  # `close` must not take the file away from under a read
        self._file = recording.path.open("rb", buffering=0)
        first = self._captures[0]
        head = self._read(first.first_byte, min(first.samples, 4096))
        try:
            check_plausible(head.data, self._datatype, str(self._path))
        except FormatError:
            self.close()
            raise
        log.info("%s", self.inferred)

    def blocks(self) -> Iterator[Block]:
        """The recording once, or endlessly if it loops."""
        base = 0  # index at which this round begins
        end = 0
        while not self._closed.is_set():
            for capture in self._captures:
                for offset in range(0, capture.samples, self._block):
                    samples = min(self._block, capture.samples - offset)
                    index = base + capture.index + offset
                    if self._pacer:
                        self.counts.lag_s = self._pacer.wait(index, index + samples)
                    raw = self._read(capture.first_byte + offset * sample_bytes(self._datatype), samples)
                    if self._closed.is_set():
                        return
                    gap = Gap(index - end, capture.gap_reason, capture.gap_exact) if index > end else None
                    if gap:
                        self.counts.gap(gap)
                    end = index + samples
                    self.counts.samples += samples
                    self.freq_hz = capture.freq_hz
                    utc_ns = (
                        None
                        if capture.utc_ns is None
                        else capture.utc_ns + round(offset * 1e9 / self.rate_hz)
                    )
                    yield Block(
                        to_complex(raw, self._datatype),
                        index,
                        self.rate_hz,
                        capture.freq_hz,
                        utc_ns,
                        "recording",
                        gap,
                    )
            if not self._loop:
                return
            base = end

    def close(self) -> None:
        """Close the file."""
        self._closed.set()
        with self._reading:
            self._file.close()

    def _read(self, first_byte: int, samples: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
        raw = np.empty(samples * sample_bytes(self._datatype), np.uint8)
        with self._reading:
            if self._closed.is_set():
                return raw
            self._file.seek(first_byte)
            count = self._file.readinto(raw.data)
        if count != len(raw):
            raise FormatError(
                f"{self._path} ended at byte {first_byte + count}; it was longer when it was opened"
            )
        return raw


def skip(recording: Recording, samples: int) -> list[Capture]:
    """The captures after `samples`, lost ones included, counted from the first that is left."""
    kept: list[Capture] = []
    each = sample_bytes(recording.datatype)
    for capture in recording.captures:
        over = max(0, samples - capture.index)
        if over < capture.samples:
            utc_ns = capture.utc_ns
            if utc_ns is not None and recording.rate_hz:
                utc_ns += round(over * 1e9 / recording.rate_hz)
            cut = replace(
                capture,
                first_byte=capture.first_byte + over * each,
                samples=capture.samples - over,
                index=capture.index + over,
                utc_ns=utc_ns,
            )
            kept.append(cut)
    if not kept:
        last = recording.captures[-1]
        length = (last.index + last.samples) / (recording.rate_hz or 1)
        raise ConfigError(f"start lies behind the end of {recording.path}, which is {length:g} s long")
    first = kept[0].index
    return [replace(capture, index=capture.index - first) for capture in kept]


def describe(recording: Recording) -> str:
    """One line for the user: what was assumed and why."""
    rate = "rate unknown" if recording.rate_hz is None else f"{recording.rate_hz / 1e3:.10g} kS/s"
    freq = "frequency unknown" if recording.freq_hz is None else f"{recording.freq_hz / 1e6:.10g} MHz"
    return f"{recording.path.name}: {recording.datatype}, {rate}, {freq}, from {recording.origin}"
