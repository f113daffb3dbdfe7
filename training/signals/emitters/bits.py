"""Data as devices send it: preambles, sync words, counters, text, zeros, idle patterns, random bits."""

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint8]

IDLE = ("01111110", "01", "0011", "0001", "10100101", "0000000001")


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
        octets = np.full(size, rng.integers(256))
    elif kind == 3:
        octets = rng.integers(256) + np.arange(size)
    else:
        octets = rng.integers(0, 256, size) * (rng.random(size) < 0.2)
    return np.unpackbits((octets % 256).astype(np.uint8))


def frames(rng: np.random.Generator, count: int) -> Bits:
    """A preamble, a sync word, a body and a checksum, again and again; the same frame or ever another."""
    pair = rng.integers(0, 2)
    preamble = np.resize(np.array([1 - pair, pair], np.uint8), int(rng.integers(4, 65)))
    sync = random_bits(rng, int(rng.choice([8, 16, 24, 32])))
    content = body(rng, int(rng.integers(2, 65)))
    frame = np.concatenate([preamble, sync, content, random_bits(rng, 16)])
    number = -(-count // len(frame))
    out = np.tile(frame, (number, 1))
    if rng.random() < 0.6:
        changing = int(rng.integers(8, len(content) + 16))  # the last bits: payload and checksum
        out[:, -changing:] ^= random_bits(rng, number * changing).reshape(number, changing)
    return out.ravel()[:count]


def convolved(bits: Bits) -> Bits:
    """The CCSDS convolutional code, rate 1/2, constraint length 7 (171, 133 octal, the second inverted)."""
    first = np.convolve(bits, [1, 1, 1, 1, 0, 0, 1])[: len(bits)] % 2
    second = 1 - np.convolve(bits, [1, 0, 1, 1, 0, 1, 1])[: len(bits)] % 2
    return np.stack([first, second], 1).ravel().astype(np.uint8)


def draw_bits(rng: np.random.Generator, count: int) -> Bits:
    """A stretch of a link's bits, beginning with what a burst begins with."""
    kind = rng.random()
    if kind < 0.5:
        return random_bits(rng, count)
    if kind < 0.8:
        return frames(rng, count)
    if kind < 0.9:
        return convolved(frames(rng, count // 2 + 1))[:count]
    idle = np.frombuffer(str(rng.choice(IDLE)).encode(), np.uint8) - np.uint8(48)
    quiet = int(rng.uniform(0, 0.5) * count)
    return np.concatenate([np.resize(idle, quiet), frames(rng, count - quiet)])


def differential(bits: Bits) -> Bits:
    """NRZ-M: a 1 changes the level."""
    return (np.cumsum(bits) % 2).astype(np.uint8)
