"""Samples over ZMQ, as GNU Radio's PUB and PUSH sinks and `wavetell replay` send them.

`zmq:ENDPOINT` (`zmq:tcp://127.0.0.1:5555?rate=250k`) with the options

    rate, freq      where the sender does not say them in tags, or says them wrong
    type            sub (default) or pull
    bind            1: wait for the sender to connect
    key             only messages with this key
    timeout         seconds of silence after which the sender is taken for lost; without it, wait indefinitely

Whether messages carry tags or a key is detected. With tags every dropped sample is counted. Without, drops
are estimated from the clock; only PULL, whose sender waits, cannot lose any.
"""

import logging
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import zmq

from hardware.address import Address, parse_host, parse_port
from hardware.clock_loss import ClockLoss
from hardware.source import Counts, Source
from hardware.zmq_stream import ZmqStream
from streaming.block import Block, Gap
from streaming.errors import ConfigError, DeviceLost, FormatError, SourceError
from streaming.quantities import FREQ_HZ, RATE_HZ, SECONDS

log = logging.getLogger(__name__)

BLOCK = 16_384  # samples up to which messages that are there already are joined
QUEUE = 64  # messages; ZMQ's 1000 hide seconds of lag
LARGEST = 64 << 20  # bytes of a message; ZMQ hangs up on a sender of larger ones
POLL_MS = 50  # how long `close` may have to wait
SILENCE_S = 5.0  # before the first message, after which we say that nothing comes
CLOCK_SLACK_S = 0.5  # how far the host's clock and the count of samples may drift apart


def open(address: Address) -> "ZmqSource":
    """Open a subscriber or a puller."""
    options = address.options
    bind, (host, _, port) = options.flag("bind"), address.target.rpartition(":")
    if address.target.startswith("tcp://"):  # ZMQ itself takes any number, and resolves names later
        parse_host(host.removeprefix("tcp://").rpartition(";")[2], f"the host of {options.where}")
        if not (bind and port == "*"):
            parse_port(port, f"the port of {options.where}")
    source = ZmqSource(
        address.target,
        kind=options.choice("type", ("sub", "pull"), "sub"),
        bind=bind,
        key=options.text("key"),
        rate_hz=options.number("rate", RATE_HZ),
        freq_hz=options.number("freq", FREQ_HZ),
        timeout_s=options.number("timeout", SECONDS),
    )
    try:
        options.done()
    except ConfigError:
        source.close()
        raise
    return source


class ZmqSource(Source):
    """Reads messages and joins them to blocks."""

    def __init__(
        self,
        endpoint: str,
        *,
        kind: str = "sub",
        bind: bool = False,
        key: str | None = None,
        rate_hz: float | None = None,
        freq_hz: float | None = None,
        timeout_s: float | None = None,
    ) -> None:
        self.address = f"zmq:{endpoint}"
        self.rate_hz, self.freq_hz = rate_hz or 0.0, freq_hz
        self.loss = "estimated" if kind == "sub" else "exact"
        self.counts = Counts()
        self._stream = ZmqStream(endpoint, rate_hz, freq_hz)
        self._key = None if key is None else key.encode()
        self._seen_key: bytes | None = None
        self._timeout_s = timeout_s
        self._warned = False
        self._drops = kind == "sub"  # a PUSH waits for its reader instead
        self._clock: ClockLoss | None = None
        self._utc: tuple[int, int] | None = None  # index and host time it belongs to
        self._closed = threading.Event()
        self._using = threading.Lock()  # a ZMQ socket must not be closed while another thread uses it
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.SUB if kind == "sub" else zmq.PULL)
        self._socket.rcvhwm = QUEUE
        self._socket.maxmsgsize = LARGEST
        if kind == "sub":
            self._socket.subscribe(self._key or b"")
        try:
            (self._socket.bind if bind else self._socket.connect)(endpoint)
        except zmq.ZMQError as error:
            self.close()
            busy = SourceError if error.errno == zmq.EADDRINUSE else ConfigError
            raise busy(f"{endpoint} is not an endpoint that ZMQ can use: {error.strerror}") from None

    def blocks(self) -> Iterator[Block]:
        """Blocks without end; a sender that stops may resume later."""
        pending: list[Block] = []
        while True:
            message = self._receive(wait=not pending)
            if self._closed.is_set():
                return
            for piece in self._stream.push(message, time.monotonic()) if message is not None else ():
                if pending and not joins(pending[-1], piece):
                    yield self._join(pending)
                    pending = []
                pending.append(piece)
            if pending and (message is None or sum(len(piece.samples) for piece in pending) >= BLOCK):
                yield self._join(pending)
                pending = []

    def close(self) -> None:
        """Close the socket; `blocks` ends within `POLL_MS`."""
        self._closed.set()
        with self._using:
            self._context.destroy(0)

    def _receive(self, wait: bool) -> bytes | None:
        """The next message; None if there is none yet (`wait` false) or the source was closed."""
        waited = False
        start = time.monotonic()
        while True:
            with self._using:
                if self._closed.is_set():
                    return None
                if self._socket.poll(POLL_MS if waited else 0):
                    frames = self._socket.recv_multipart()
                    if (message := self._payload(frames)) is not None:
                        self._watch(message, waited)
                        return message
                    continue
            now = time.monotonic()
            if not waited:
                if self._clock:
                    self._lose(self._clock.empty(now))
                if not wait:
                    return None
                waited = True
            elif self._timeout_s and now - start > self._timeout_s:
                raise DeviceLost(f"{self.address} has been silent for {self._timeout_s:g} s")
            elif not self._warned and not self.counts.samples and now - start > SILENCE_S:
                self._warned = True
                log.warning("%s: nothing has come for %g s", self.address, SILENCE_S)

    def _payload(self, frames: list[bytes]) -> bytes | None:
        """The last frame; before it there may be a key."""
        if len(frames) == 1:
            return frames[0]
        key = frames[0]
        if self._key is not None and key != self._key:
            return None  # ZMQ compares only how keys begin
        if self._seen_key not in (None, key):
            raise FormatError(
                f"{self.address} sends the keys {self._seen_key!r} and {key!r}; choose one with key="
            )
        self._seen_key = key
        return frames[-1]

    def _watch(self, message: bytes, waited: bool) -> None:
        """Count the message against the clock."""
        now = time.monotonic()
        if self._clock is None:
            if not self._stream.rate_hz:
                return  # known from the first message
            self._clock = ClockLoss(self._stream.rate_hz, QUEUE)
        self._clock.rate_hz = self._stream.rate_hz or self._clock.rate_hz
        self._lose(self._clock.arrived(now, len(message) // 8, waited))
        self.counts.lag_s = self._clock.lag_s(now)

    def _lose(self, samples: int) -> None:
        """Mark an estimated loss, unless offsets give it exactly or the sender waits for us."""
        if samples and self.loss == "estimated":
            self._stream.lose(Gap(samples, "zmq drop", False))

    def _join(self, pieces: list[Block]) -> Block:
        """One block of its own memory, with the host's time where the sender gives none."""
        first = pieces[0]
        samples = np.concatenate([piece.samples for piece in pieces])
        block = replace(first, samples=samples)
        if self._drops:
            self.loss = "exact" if self._stream.tagged else "estimated"
        self.rate_hz, self.freq_hz = block.rate_hz, block.freq_hz
        self.counts.samples += len(samples)
        if block.gap:
            self.counts.gap(block.gap)
            self.counts.events[block.gap.reason] += 1
            if self._clock and block.gap.exact:
                self._clock.skip(block.gap.samples)
        return block if block.utc_ns is not None else self._host_time(block)

    def _host_time(self, block: Block) -> Block:
        """Time by the host's clock, smooth from block to block."""
        now = time.time_ns() - round(len(block.samples) * 1e9 / block.rate_hz)
        if self._utc is not None:
            index, utc_ns = self._utc
            utc_ns += round((block.index - index) * 1e9 / block.rate_hz)
            if abs(utc_ns - now) < CLOCK_SLACK_S * 1e9:
                return replace(block, utc_ns=utc_ns, clock="host")
        self._utc = (block.index, now)
        return replace(block, utc_ns=now, clock="host")


def joins(last: Block, piece: Block) -> bool:
    """Whether a piece continues the last one, and both or neither have a time."""
    timed = (piece.utc_ns is None) == (last.utc_ns is None)
    return piece.gap is None and piece.follows(last) and timed
