"""Publish and subscribe: a reader that is too slow loses its own messages and delays nobody else."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

DEPTH = 256  # messages that may wait for one reader


class Subscriber:
    """One reader; when it is too slow the oldest messages go, and `missed` counts them."""

    def __init__(self, topics: frozenset[str]) -> None:
        self.topics = topics
        self.missed = 0
        self.closed = False
        self._waiting: deque[str] = deque()
        self._ready = asyncio.Event()

    def put(self, message: str) -> None:
        """Keep a message for the reader."""
        if len(self._waiting) == DEPTH:
            self._waiting.popleft()
            self.missed += 1
        self._waiting.append(message)
        self._ready.set()

    def close(self) -> None:
        """Let the reader go."""
        self.closed = True
        self._ready.set()

    async def get(self) -> list[str]:
        """All messages that wait, at least one; none once it is closed."""
        while not self._waiting and not self.closed:
            self._ready.clear()
            await self._ready.wait()
        messages = list(self._waiting)
        self._waiting.clear()
        return messages


class Hub:
    """Topics are `STREAM/reports`, `STREAM/hops` and `events`.

    `publish`, `end` and `wanted` may be called from any thread, the rest from the event loop.
    """

    def __init__(self) -> None:
        self.subscribers: set[Subscriber] = set()
        self.missed = 0  # messages that readers were too slow for, of those who have left
        self.loop: asyncio.AbstractEventLoop | None = None
        self._kept: dict[str, str] = {}  # topic -> what a new reader gets first
        self._closing = threading.Event()

    @property
    def closing(self) -> bool:
        """Whether readers are being let go."""
        return self._closing.is_set()

    @contextmanager
    def subscribe(self, *topics: str) -> Iterator[Subscriber]:
        """A reader, as long as it stays; it gets what is kept of its topics, then what is published."""
        subscriber = Subscriber(frozenset(topics))
        for topic in subscriber.topics & self._kept.keys():
            subscriber.put(self._kept[topic])
        self.subscribers.add(subscriber)
        if self._closing.is_set():
            subscriber.close()
        try:
            yield subscriber
        finally:
            self.subscribers.discard(subscriber)
            self.missed += subscriber.missed

    def wanted(self, topic: str) -> bool:
        """Whether anybody reads this topic."""
        return any(topic in subscriber.topics for subscriber in self.subscribers.copy())

    def publish(self, topic: str, message: str, keep: bool = False) -> None:
        """Send to every reader of the topic, and keep it for new readers if it is to be kept."""
        self._call(self._deliver, topic, message, keep)

    def end(self, topic: str) -> None:
        """Let the readers of a topic go once they have what was published before."""
        self._call(self._end, topic)

    def _call(self, function: Callable[..., None], *args: object) -> None:
        if self.loop is None:  # the service is starting: nobody reads yet
            function(*args)
        elif not self._closing.is_set():
            self.loop.call_soon_threadsafe(function, *args)

    def _deliver(self, topic: str, message: str, keep: bool) -> None:
        if keep:
            self._kept[topic] = message
        for subscriber in self.subscribers:
            if topic in subscriber.topics:
                subscriber.put(message)

    def _end(self, topic: str) -> None:
        self._kept.pop(topic, None)
        for subscriber in self.subscribers:
            if topic in subscriber.topics:
                subscriber.close()

    def close(self) -> None:
        """Let every reader go."""
        self._closing.set()
        for subscriber in self.subscribers:
            subscriber.close()
