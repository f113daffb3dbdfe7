"""Data as devices send it: preambles, sync words, counters, text, zeros, idle patterns, random bits."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint8]

IDLE = ("01111110", "01", "0011", "0001", "10100101", "0000000001")  # HDLC flags, clocks, fill frames


@dataclass(frozen=True)
class Data:
    """What one link sends: `kind` is "random" (scrambled), "frames", "coded" (convolutional) or "idle"."""

    kind: str
    preamble: Bits
    sync: Bits
    content: Bits  # of a frame that is repeated
    changing: int  # last bits of a frame that are ever others
    idle: Bits

    def take(self, rng: np.random.Generator, count: int, begins: bool) -> Bits:
        """So many bits, from a burst's first on or from amid the link."""
        if begins:
            head = np.concatenate([self.preamble, self.sync])[:count]
            return np.concatenate([head, self.body(rng, count - len(head))])
        return self.body(rng, count)

    def body(self, rng: np.random.Generator, count: int) -> Bits:
        """Bits of this kind."""
        if self.kind == "random":
            return random_bits(rng, count)
        if self.kind == "coded":
            return convolved(self.frames(rng, count // 2 + 1))[:count]
        quiet = int(rng.uniform(0, 0.5) * count) if self.kind == "idle" else 0
        return np.concatenate([np.resize(self.idle, quiet), self.frames(rng, count - quiet)])

    def frames(self, rng: np.random.Generator, count: int) -> Bits:
        """Preamble, sync word and content, again and again."""
        frame = np.concatenate([self.preamble, self.sync, self.content])
        number = -(-count // len(frame))
        out = np.tile(frame, (number, 1))
        if self.changing:
            fresh = random_bits(rng, number * self.changing)
            out[:, -self.changing :] ^= fresh.reshape(number, self.changing)
        return out.ravel()[:count]


def draw_data(rng: np.random.Generator, random: float = 0.5) -> Data:
    """The habits of a link; a share `random` is scrambled."""
    kind = "random"
    if rng.random() >= random:
        kind = str(rng.choice(["frames", "frames", "coded", "idle"]))
    pair = rng.integers(0, 2)
    content = body(rng, int(rng.integers(2, 65)))
    return Data(
        kind,
        np.resize(np.array([1 - pair, pair], np.uint8), int(rng.integers(8, 129))),
        random_bits(rng, int(rng.choice([8, 16, 24, 32]))),
        np.concatenate([content, random_bits(rng, 16)]),
        int(rng.integers(8, len(content) + 16)) if rng.random() < 0.7 else 0,
        np.frombuffer(str(rng.choice(IDLE)).encode(), np.uint8) - np.uint8(48),
    )


def random_bits(rng: np.random.Generator, count: int) -> Bits:
    """Scrambled or enciphered data."""
    return np.unpackbits(np.frombuffer(rng.bytes(-(-count // 8)), np.uint8), count=count)


def body(rng: np.random.Generator, size: int) -> Bits:
    """The bits of `size` bytes: random, text, one repeated byte, a counter, or mostly zeros."""
    kind = rng.integers(5)
    if kind == 0:
        octets = rng.integers(0, 256, size)
    elif kind == 1:
        octets = rng.integers(32, 123, size)
    elif kind == 2:
        octets = np.full(size, rng.integers(1, 255))
    elif kind == 3:
        octets = rng.integers(256) + np.arange(size)
    else:
        octets = rng.integers(0, 256, size) * (rng.random(size) < 0.2)
    return np.unpackbits((octets % 256).astype(np.uint8))


def convolved(bits: Bits) -> Bits:
    """The CCSDS convolutional code, rate 1/2, constraint length 7 (171, 133 octal, the second inverted)."""
    first = np.convolve(bits, [1, 1, 1, 1, 0, 0, 1])[: len(bits)] % 2
    second = 1 - np.convolve(bits, [1, 0, 1, 1, 0, 1, 1])[: len(bits)] % 2
    return np.stack([first, second], 1).ravel().astype(np.uint8)


def differential(bits: Bits) -> Bits:
    """NRZ-M: a 1 changes the level."""
    return (np.cumsum(bits) % 2).astype(np.uint8)
