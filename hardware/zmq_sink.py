"""Sends blocks over ZMQ as GNU Radio does, so that its SUB and PULL sources read them.

::

    with ZmqSink("tcp://*:5555", tags=True) as sink:
        for block in source.blocks():
            sink.push(block)
"""

import time

import numpy as np
import zmq

from hardware.closing import Closing
from hardware.gr_tags import Pmt, Tag, write_header
from streaming.block import Block
from streaming.errors import ConfigError, SourceError

MESSAGE = 4096  # samples, what GNU Radio sends in most messages
REPEAT_S = 1.0  # tags are sent again after this many seconds of samples: a SUB may join late


class ZmqSink(Closing):
    """A publisher (PUB: drops for a slow reader) or a pusher (PUSH: waits for it).

    Parameters
    ----------
    endpoint
        A ZMQ endpoint such as ``tcp://*:5555``; it is bound, as GNU Radio's sinks are.
    kind
        "pub" or "push".
    tags
        Send GNU Radio's header with offsets, so that the reader can count what it lost, and the tags
        rx_rate, rx_freq and rx_time.
    key
        Sent as a frame of its own before each message.
    """

    def __init__(self, endpoint: str, kind: str = "pub", tags: bool = False, key: str | None = None) -> None:
        self._tags = tags
        self._key = None if key is None else key.encode()
        self._told: tuple[float, float | None] | None = None  # rate and frequency as last sent
        self._told_at = 0  # index
        self._end = 0
        self._context = zmq.Context()
        # XPUB is a PUB that reports subscriptions.
        self._socket = self._context.socket(zmq.XPUB if kind == "pub" else zmq.PUSH)
        self._readers = 0
        try:
            self._socket.bind(endpoint)
        except zmq.ZMQError as error:
            self._context.destroy(0)
            kind_of_error = SourceError if error.errno == zmq.EADDRINUSE else ConfigError
            raise kind_of_error(f"{endpoint} cannot be bound: {error.strerror}") from None
        self.endpoint = self._socket.getsockopt_string(zmq.LAST_ENDPOINT)

    def wait_for_reader(self, timeout_s: float) -> bool:
        """Wait until somebody subscribes; a PUSH waits by itself when it sends."""
        if self._socket.type == zmq.PUSH:
            return True
        deadline = time.monotonic() + timeout_s
        while not self._readers and (left := deadline - time.monotonic()) > 0:
            if self._socket.poll(round(1000 * left)):
                self._count_readers()
        return self._readers > 0

    def push(self, block: Block) -> None:
        """Send a block; returns when ZMQ has taken it."""
        if self._socket.type == zmq.XPUB:
            self._count_readers()
        if block.index != self._end or self._told != (block.rate_hz, block.freq_hz):
            self._told = None
        self._end = block.end
        data = np.ascontiguousarray(block.samples, "<c8")
        for start in range(0, len(data), MESSAGE):
            index = block.index + start
            payload = data[start : start + MESSAGE].tobytes()
            if self._tags:
                payload = write_header(index, self._due_tags(block, index)) + payload
            self._socket.send_multipart([payload] if self._key is None else [self._key, payload])

    def close(self, linger_s: float = 1.0) -> None:
        """Send what is still queued, for at most `linger_s`, and close."""
        self._context.destroy(round(1000 * linger_s))

    def _due_tags(self, block: Block, index: int) -> list[Tag]:
        if self._told and index - self._told_at < REPEAT_S * block.rate_hz:
            return []
        self._told, self._told_at = (block.rate_hz, block.freq_hz), index
        tags: list[tuple[str, Pmt]] = [("rx_rate", block.rate_hz)]
        if block.freq_hz is not None:
            tags.append(("rx_freq", block.freq_hz))
        # The host's clock jitters: the reader would take that for lost samples.
        utc_ns = block.utc_at(index)
        if utc_ns is not None and block.clock != "host":
            tags.append(("rx_time", (utc_ns // 10**9, utc_ns % 10**9 / 1e9)))
        return [Tag(index, key, value) for key, value in tags]

    def _count_readers(self) -> None:
        while self._socket.poll(0):
            if self._socket.recv()[:1] == b"\x01":
                self._readers += 1
                self._told = None  # a new reader does not know the rate yet
            else:
                self._readers -= 1
