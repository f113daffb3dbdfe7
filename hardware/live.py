"""What every live device has in common: short reads, faults, gaps, and coming back after it was lost.

A device fills a buffer (`_read`), and the answer is a number of samples or one of SoapySDR's codes. Here the
samples become blocks, and the codes become counts and gaps: exact where the device gives the time of its
samples, else estimated from the clock.
"""

import logging
import threading
import time
from abc import abstractmethod
from collections.abc import Iterator

import numpy as np

from hardware.arrival import ArrivalClock
from hardware.soapy_api import CORRUPTION, OVERFLOW, TIME_ERROR, TIMEOUT, Read
from hardware.source import Counts, Source
from streaming.backoff import Backoff
from streaming.block import Block, Clock, Gap, Samples
from streaming.errors import SourceError

BLOCK = 16_384  # samples; smaller reads cost more, larger ones say no more
BLOCK_S = 0.05  # a slow stream is not held back for longer
SILENCE_S = 1.0
BACKOFF_S = (0.1, 1.0)  # first and longest wait before the device is tried again
UTC_S = 10.0  # a device clock this near ours is set to UTC; any other counts from some start of its own

EVENTS = {OVERFLOW: "overflow", CORRUPTION: "corruption", TIME_ERROR: "time error", TIMEOUT: "timeout"}
log = logging.getLogger("wavetell.hardware")


class LiveSource(Source):
    """Blocks from a device that can stumble, go away and come back."""

    loss = "estimated"

    def __init__(self, where: str, rate_hz: float, silence_s: float = SILENCE_S) -> None:
        self.address = where
        self.rate_hz = rate_hz
        self.counts = Counts()
        self._silence_s = silence_s
        self._closed = threading.Event()
        self._reading = threading.Lock()  # held while a block is made, never while one is used
        self._clock = ArrivalClock(rate_hz)
        self._buffer: Samples = np.empty(int(min(BLOCK, max(1024, rate_hz * BLOCK_S))), np.complex64)
        self._fill = 0
        self._index = 0  # of the buffer's first sample
        self._freq_hz: float | None = None  # of the samples in the buffer
        self._utc_ns: int | None = None  # of the buffer's first sample, where the device has a clock
        self._utc_offset_ns: int | None = None  # from the device's clock to UTC
        self._stamp: tuple[int, int] | None = None  # the device's time at an index
        self._gap: Gap | None = None  # before the buffer
        self._cause: str | None = None  # why samples may be missing before the next read
        self._present = True
        self._backoff = Backoff(*BACKOFF_S)
        self._quiet_since: float | None = None

    @abstractmethod
    def _read(self, buffer: Samples) -> Read:
        """Read, waiting 0.1 s at most: samples, a code of EVENTS, or `SourceError` where it is gone."""

    @abstractmethod
    def _connect(self) -> None:
        """Open the device again, as it was set."""

    @abstractmethod
    def _release(self) -> None:
        """Give the device back."""

    def blocks(self) -> Iterator[Block]:
        while True:
            with self._reading:
                if self._closed.is_set():
                    return
                made = self._step()
            for block in made:
                self.counts.samples += len(block.samples)
                yield block

    def close(self) -> None:
        self._closed.set()  # a thread that reads stops at this and releases the lock
        with self._reading:
            self._release()

    def made_at(self, index: int) -> float:
        """When a sample was made, on the monotonic clock, as far as arrivals tell."""
        return self._clock.time_of(index)

    def _step(self) -> list[Block]:
        """One read, or one attempt to get the device back; the blocks that it completed."""
        if not self._present:
            self._return()
            return []
        if self._fill and self._freq_hz != self.freq_hz:
            return self._cut()
        began = time.monotonic()
        try:
            read = self._read(self._buffer[self._fill :])
        except SourceError as error:
            return self._lose(str(error))
        now = time.monotonic()
        if read.got > 0:
            self._quiet_since = None
            self._backoff.reset()
            return self._take(read, now, waited_s=now - began)
        return self._fault(read.got or TIMEOUT, began, now)

    def _fault(self, code: int, began: float, now: float) -> list[Block]:
        self.counts.events[EVENTS[code]] += 1
        if code in (OVERFLOW, CORRUPTION):
            self._cause = self._cause or EVENTS[code]
        elif code == TIMEOUT:
            self._quiet_since = self._quiet_since or began
            if now - self._quiet_since > self._silence_s:
                return self._lose(f"no samples for {self._silence_s:g} s")
        return self._cut()

    def _take(self, read: Read, now: float, waited_s: float) -> list[Block]:
        """Put what was read behind the buffer's samples, or behind a gap."""
        done: list[Block] = []
        gap = self._missing(read, now)
        if gap:
            fresh = self._buffer[self._fill : self._fill + read.got].copy()
            done = self._cut()
            self._buffer[: read.got] = fresh
            self.counts.gap(gap)
            self._gap = gap
            self._index += gap.samples
        if self._fill == 0:
            self._freq_hz, self._utc_ns = self.freq_hz, self._utc(read)
        if read.time_ns is not None:
            self._stamp = (read.time_ns, self._index + self._fill)
        self._fill += read.got
        unreported = self._clock.arrived(self._index + self._fill, now, waited_s)
        self.counts.lag_s = self._clock.lag_s
        if unreported and self._stamp is None:
            self.counts.events["unreported loss"] += 1
            self._cause = "unreported loss"
        return done + (self._cut() if self._fill == len(self._buffer) else [])

    def _missing(self, read: Read, now: float) -> Gap | None:
        """What was lost before the samples of this read."""
        at = self._index + self._fill
        cause, self._cause = self._cause, None
        if read.time_ns is not None:
            self.loss = "exact"
            if self._stamp is not None:
                stamp_ns, index = self._stamp
                lost = round((read.time_ns - stamp_ns) * self.rate_hz / 1e9) - (at - index)
                # One from the future has another clock than the one before.
                if 0 <= lost <= self._clock.beyond(at + read.got, now) + self.rate_hz:
                    if lost and not cause:
                        self.counts.events["time jump"] += 1
                    return Gap(lost, cause or "time jump", exact=True) if lost else None
                # The device's clock was set, or it was restarted: its time is good again from here on.
                self.counts.events["time error"] += 1
                self._utc_offset_ns = None
        if cause is None:
            return None
        # At least one: that something was lost is known, and the index must show it.
        return Gap(max(1, self._clock.missing(at + read.got, now)), cause, exact=False)

    def _utc(self, read: Read) -> int | None:
        """The device's time as UTC."""
        if read.time_ns is None:
            return None
        if self._utc_offset_ns is None:
            offset = time.time_ns() - (read.time_ns + round(read.got * 1e9 / self.rate_hz))
            self._utc_offset_ns = 0 if abs(offset) < UTC_S * 1e9 else offset
        return read.time_ns + self._utc_offset_ns

    def _cut(self) -> list[Block]:
        """The samples in the buffer as a block."""
        if self._fill == 0:
            return []
        samples = self._buffer
        if self._fill < len(samples):
            samples = samples[: self._fill].copy()
        else:
            self._buffer = np.empty_like(samples)
        utc_ns = self._utc_ns
        clock: Clock = "host" if utc_ns is None else "hardware"
        if utc_ns is None:
            utc_ns = time.time_ns() - round((time.monotonic() - self._clock.time_of(self._index)) * 1e9)
        block = Block(
            samples=samples,
            index=self._index,
            rate_hz=self.rate_hz,
            freq_hz=self._freq_hz,
            utc_ns=utc_ns,
            clock=clock,
            gap=self._gap,
        )
        self._index, self._fill, self._gap = block.end, 0, None
        return [block]

    def _lose(self, why: str) -> list[Block]:
        log.warning("%s lost: %s", self.address, why)
        self.counts.events["device lost"] += 1
        self._present = False
        try:
            self._release()
        except SourceError as error:  # it cannot be closed in order any more
            log.info("%s: %s", self.address, error)
        return self._cut()

    def _return(self) -> None:
        """Wait, then try to open the device again."""
        self._closed.wait(self._backoff.next_s())
        if self._closed.is_set():
            return
        try:
            self._connect()
        except SourceError as error:
            log.info("%s is still away: %s", self.address, error)
            return
        log.warning("%s is back", self.address)
        self.counts.events["reopened"] += 1
        self._present, self._quiet_since = True, None
        self._cause, self._stamp, self._utc_offset_ns = "device lost", None, None
