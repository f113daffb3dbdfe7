"""Messages of GNU Radio's ZMQ blocks as one stream, numbered, timed and with its gaps found."""

import logging
from collections.abc import Iterator

import numpy as np

from hardware.gr_tags import Header, Pmt, Tag, parse_header
from streaming.block import Block, Gap
from streaming.checked import Range, shown
from streaming.errors import FormatError
from streaming.quantities import FREQ_HZ, INDEX, RATE_HZ, UTC_NS, in_range

log = logging.getLogger(__name__)

SAMPLE = 8  # bytes, complex64
UTC_FROM_S = 1e9  # a device whose clock was never set counts from 0
RATE_WITHIN_S = 3.0  # a late reader waits this long for a sender with tags to repeat its rate
OVERFLOW_UP_TO_S = 60.0  # a bigger jump of rx_time is a clock that was set, not a loss


class ZmqStream:
    """Numbers the samples of messages and finds what was lost between them.

    A sender with `pass_tags` names the offset of each message: a jump is what ZMQ dropped. Its radio sends
    rx_time again after an overflow: what that is late by, the radio lost.
    """

    def __init__(self, name: str, rate_hz: float | None, freq_hz: float | None) -> None:
        self.name = name
        self.rate_hz, self.freq_hz = rate_hz, freq_hz
        self.given = {"rx_rate": rate_hz, "rx_freq": freq_hz}  # the user knows better than a tag
        self.index = 0  # of the next sample
        self.tagged = False
        self._shift: int | None = None  # index = offset of the sender + shift
        self._gap: Gap | None = None
        self._time: tuple[int, int, float] | None = None  # index, seconds, fraction
        self._last_s = 0.0
        self._first_s: float | None = None

    def lose(self, gap: Gap) -> None:
        """Mark samples as lost before the next one."""
        if self.index + gap.samples > INDEX.most:
            raise FormatError(f"{self.name} says that {gap.samples:,} samples were lost; that many cannot be")
        self.index += gap.samples
        self._shift = None if self._shift is None else self._shift + gap.samples
        if self._gap:  # two causes before one sample
            gap = Gap(
                self._gap.samples + gap.samples,
                f"{self._gap.reason}, {gap.reason}",
                self._gap.exact and gap.exact,
            )
        self._gap = gap

    def push(self, message: bytes, now: float) -> Iterator[Block]:
        """The samples of a message, cut where a tag changes something. `now` is the host's monotonic time."""
        header = parse_header(message)
        payload = len(message) - (header.size if header else 0)
        if payload % SAMPLE:
            framing = "behind its tags " if header else ""
            raise FormatError(
                f"{self.name} sent a message with {payload} bytes {framing}- no multiple of 8 (complex64)"
            )
        samples = np.frombuffer(message, "<c8", offset=len(message) - payload)
        tags: list[Tag] = []
        if header:
            self._place(header, now)
            tags = sorted(header.tags, key=lambda tag: tag.offset)
        self.tagged = header is not None
        self._last_s = now
        self._first_s = now if self._first_s is None else self._first_s
        done = 0
        for tag in tags:
            at = min(max(tag.offset - (header.offset if header else 0), done), len(samples))
            if self._changes(tag):
                yield from self._cut(samples[done:at])
                done = at
                self._apply(tag)
        yield from self._cut(samples[done:])

    def _place(self, header: Header, now: float) -> None:
        expected = header.offset if self._shift is None else self.index - self._shift
        if header.offset > expected:
            self.lose(Gap(header.offset - expected, "zmq drop", True))
        elif header.offset < expected:
            away = max(1, round((now - self._last_s) * (self.rate_hz or 0)))
            self.lose(Gap(away, "sender restarted", False))
            self._time = None
        self._shift = self.index - header.offset

    def _changes(self, tag: Tag) -> bool:
        if tag.key == "rx_time":
            return True
        known = {"rx_rate": self.rate_hz, "rx_freq": self.freq_hz}
        return tag.key in known and number(tag.value) not in (None, known[tag.key])

    def _apply(self, tag: Tag) -> None:
        if tag.key == "rx_time":
            self._set_time(tag.value)
        elif self.given[tag.key] is not None:
            log.info(
                "%s says %s %s; it stays at %s as given", self.name, tag.key, tag.value, self.given[tag.key]
            )
        elif tag.key == "rx_rate":
            self.rate_hz, self._time = self._within(tag, RATE_HZ), None
        else:
            self.freq_hz = self._within(tag, FREQ_HZ)

    def _within(self, tag: Tag, limits: Range) -> float:
        """The number of a tag."""
        value = number(tag.value)
        if value is None or not in_range(value, limits):
            raise FormatError(f"{self.name} says {tag.key} {shown(tag.value)}; it must be {limits}")
        return value

    def _set_time(self, value: Pmt) -> None:
        if not (isinstance(value, tuple) and len(value) == 2):
            return
        seconds, fraction = number(value[0]), number(value[1])
        if seconds is None or fraction is None or not in_range(1e9 * (seconds + fraction), UTC_NS):
            return
        if self._time and self.rate_hz:
            index, old_s, old_fraction = self._time
            late_s = (seconds - old_s) + (fraction - old_fraction) - (self.index - index) / self.rate_hz
            lost = round(late_s * self.rate_hz)
            if lost > 0 and late_s < OVERFLOW_UP_TO_S:
                self.lose(Gap(lost, "overflow", True))
        self._time = (self.index, int(seconds), fraction)

    def _cut(self, samples: np.ndarray[tuple[int], np.dtype[np.complex64]]) -> Iterator[Block]:
        if not len(samples):
            return
        if self.rate_hz is None:
            if self._shift is not None and self._last_s - (self._first_s or 0) < RATE_WITHIN_S:
                self._shift -= len(samples)  # the stream begins where its rate is known
                return
            raise FormatError(
                f"{self.name} did not say its rate (a tag rx_rate); add rate=250k or what it is"
            )
        utc_ns = None
        if self._time and self._time[1] > UTC_FROM_S:
            index, seconds, fraction = self._time
            utc_ns = seconds * 10**9 + round(fraction * 1e9 + (self.index - index) * 1e9 / self.rate_hz)
        block = Block(samples, self.index, self.rate_hz, self.freq_hz, utc_ns, "hardware", self._gap)
        self.index += len(samples)
        self._gap = None
        yield block


def number(value: Pmt) -> float | None:
    """A PMT as a number, None if it is none."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
