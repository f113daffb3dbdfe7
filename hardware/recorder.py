"""Records blocks as SigMF, with lost samples as new captures.

::

    with open_source(address) as source, Recorder("capture.sigmf-meta", max_seconds=10) as recorder:
        for block in source.blocks():
            if not recorder.push(block):
                break

`NAME.sigmf` makes an archive, any other name the pair NAME.sigmf-data and NAME.sigmf-meta. The pair is valid
from its first block on, whatever happens to the process; an archive once it is closed.
"""

import hashlib
import io
import logging
import tarfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import sigmf

from hardware.closing import Closing
from streaming.block import Block
from streaming.errors import ConfigError, SourceError

log = logging.getLogger(__name__)

SAMPLE = 8  # bytes, cf32_le
META_EVERY_S = 1.0
RESERVE = 1 << 16  # bytes of samples given up on a full disk, to have room for the metadata
SUFFIXES = (".sigmf", ".sigmf-meta", ".sigmf-data")


class Recorder(Closing):
    """Writes the blocks of one source.

    Parameters
    ----------
    path
        Where to write to; it must not exist yet.
    max_bytes, max_seconds
        Limits, in bytes of samples and in seconds of the source with what it lost.
    description
        Free text for the metadata.
    """

    def __init__(
        self,
        path: str | Path,
        max_bytes: float | None = None,
        max_seconds: float | None = None,
        description: str = "",
    ) -> None:
        path = Path(path)
        stem = path.with_suffix("") if path.suffix in SUFFIXES else path
        self.archive = path.suffix == ".sigmf"
        self.meta = path if self.archive else stem.with_name(stem.name + ".sigmf-meta")
        self.data = path if self.archive else stem.with_name(stem.name + ".sigmf-data")
        self.samples = self.lost = 0
        self.ended: str | None = None  # why no more is written
        self.failed = False  # the disk was full or broke
        self._name = stem.name
        self._max_bytes, self._max_seconds = max_bytes, max_seconds
        self._description = description
        self._captures: list[dict[str, Any]] = []
        self._unsaved, self._saved_s = False, float("-inf")
        self.rate_hz = 0.0
        self._first = self._next = 0  # index in the source
        self._digest = hashlib.sha512()
        self._head = b""  # of the archive
        for file in (self.meta, self.data):
            if file.exists():
                raise ConfigError(f"{file} exists already; choose another name")
        try:
            self._file: io.FileIO = io.FileIO(self.data, "xb")
        except OSError as error:
            raise SourceError(f"{self.data} cannot be written: {error.strerror}") from None

    def push(self, block: Block) -> bool:
        """Write a block; False once the recording has ended, and `ended` says why."""
        if self.ended:
            return False
        if not self._captures:
            self.rate_hz, self._first, self._next = block.rate_hz, block.index, block.index
        if block.rate_hz != self.rate_hz:
            return self._end("the rate of the source changed")  # SigMF has one rate for a recording
        room, reason = self._room(block)
        try:
            if room:
                if not self._captures:
                    self._write(self._tar_head())
                self._begin_capture(block)
                # A source that loses samples all the time must not make us write metadata all the time.
                if self._unsaved and time.monotonic() - self._saved_s > META_EVERY_S:
                    self._write_meta()
                raw = np.ascontiguousarray(block.samples[:room], "<c8").view(np.uint8).data
                self._write(raw)
                self._digest.update(raw)
                self.samples += room
                self._next = block.index + room
        except OSError as error:
            return self._end(f"{self.data} cannot be written any further: {error.strerror}", broken=True)
        return self._end(reason) if room < len(block.samples) else True

    def close(self) -> None:
        """End the recording; a recording without a sample leaves no file."""
        if not self.ended:
            self._end("closed")

    def _room(self, block: Block) -> tuple[int, str]:
        """How many samples of the block are within the limits, and which limit it is."""
        limits = [(len(block.samples), "")]
        if self._max_bytes is not None:
            limits.append((int(self._max_bytes) // SAMPLE - self.samples, "size limit"))
        if self._max_seconds is not None:
            last = self._first + round(self._max_seconds * self.rate_hz)
            limits.append((max(0, last - block.index), "time limit"))
        return min(limits, key=lambda limit: limit[0])

    def _begin_capture(self, block: Block) -> None:
        """A new capture where samples were lost or the frequency changed."""
        info: dict[str, Any] = {sigmf.GLOBAL_INDEX_KEY: block.index - self._first}
        if block.freq_hz is not None:
            info[sigmf.FREQUENCY_KEY] = block.freq_hz
        if self._captures and block.index == self._next:
            before = self._captures[-1]
            if before.get(sigmf.FREQUENCY_KEY) == info.get(sigmf.FREQUENCY_KEY) and block.gap is None:
                return
        if block.utc_ns is not None:
            info[sigmf.DATETIME_KEY] = rfc3339(block.utc_ns)
        if self._captures and block.index != self._next:
            self.lost += block.index - self._next
            if block.gap:
                info["wavetell:gap_reason"], info["wavetell:gap_exact"] = block.gap.reason, block.gap.exact
        self._captures.append({sigmf.SAMPLE_START_KEY: self.samples, **info})
        self._unsaved = not self.archive

    def _write(self, raw: bytes | memoryview) -> None:
        """Write all of it; the file is unbuffered, so a full disk shows here and not in `close`."""
        raw = memoryview(raw)
        while raw:
            raw = raw[self._file.write(raw) :]

    def _end(self, reason: str, broken: bool = False) -> bool:
        """Finish the files; never raises, since the service continues without the recording."""
        self.ended = reason
        try:
            sha512 = None if broken else self._digest.hexdigest()
            if broken:
                self.failed = True
                log.warning("%s; the recording ends", reason)
                self._give_up_reserve()
            if not self.samples:
                self._file.close()
                self.data.unlink()
                self.meta.unlink(missing_ok=True)
            elif self.archive:
                self._finish_archive(sha512)
            else:
                self._write_meta(sha512)
        except OSError as error:
            log.error("%s could not be finished: %s", self.meta, error.strerror)
        finally:
            self._file.close()
        return False

    def _give_up_reserve(self) -> None:
        whole = (self._file.tell() - len(self._head)) // SAMPLE
        self.samples = max(0, min(whole, self.samples) - RESERVE // SAMPLE)
        self._file.truncate(len(self._head) + self.samples * SAMPLE)
        self._captures = [info for info in self._captures if info[sigmf.SAMPLE_START_KEY] < self.samples]

    def _metadata(self, sha512: str | None) -> bytes:
        info = {
            sigmf.DATATYPE_KEY: "cf32_le",
            sigmf.SAMPLE_RATE_KEY: self.rate_hz,
            sigmf.RECORDER_KEY: "wavetell",
            sigmf.EXTENSIONS_KEY: [{"name": "wavetell", "version": "1.0.0", "optional": True}],
        }
        if self._description:
            info[sigmf.DESCRIPTION_KEY] = self._description
        if sha512:
            info[sigmf.SHA512_KEY] = sha512
        meta = sigmf.SigMFFile({"global": info, "captures": self._captures, "annotations": []})
        return str(meta.dumps()).encode()

    def _write_meta(self, sha512: str | None = None) -> None:
        """Replace the metadata at once: a reader sees the old ones or the new ones."""
        self._unsaved, self._saved_s = False, time.monotonic()
        new = self.meta.with_name(self.meta.name + ".new")
        try:
            new.write_bytes(self._metadata(sha512))
            new.replace(self.meta)
        except OSError:
            new.unlink(missing_ok=True)
            raise

    def _tar_head(self) -> bytes:
        if self.archive:
            self._head = tar_header(f"{self._name}/{self._name}.sigmf-data", self.samples * SAMPLE)
        return self._head

    def _finish_archive(self, sha512: str | None) -> None:
        """Only now is the size known that stands before the samples."""
        size = self.samples * SAMPLE
        self._file.seek(len(self._head) + size)
        self._file.truncate()
        text = self._metadata(sha512)
        self._write(padding(size) + tar_header(f"{self._name}/{self._name}.sigmf-meta", len(text)))
        self._write(text + padding(len(text)) + bytes(2 * tarfile.BLOCKSIZE))
        self._file.seek(0)
        self._write(self._tar_head())


def tar_header(name: str, size: int) -> bytes:
    """The header of a member; GNU's form takes any size without growing."""
    info = tarfile.TarInfo(name)
    info.size = size
    info.mode = 0o644
    return info.tobuf(tarfile.GNU_FORMAT)


def padding(size: int) -> bytes:
    """Zeros that fill the last block of a member."""
    return bytes(-size % tarfile.BLOCKSIZE)


def rfc3339(utc_ns: int) -> str:
    """Nanoseconds since 1970 as SigMF writes them."""
    seconds, fraction = divmod(utc_ns, 10**9)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{fraction:09d}Z"
