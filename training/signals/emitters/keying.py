"""Line codes and frames of simple devices: levels 0 and 1, each held for a number of chips.

nrz          a bit is a chip                    manchester   10 or 01
differential a change amid a 1 (biphase mark)   rz           a 1 is a pulse of half a bit
width        PWM: a short or a long pulse, all bits of one length
gap          PWM with pauses of one length      position     PPM: a pulse, then a short or a long pause
morse        dots and dashes; pauses of 1, 3 and 7 dots
"""

from dataclasses import dataclass

import numpy as np

from training.signals.classes import log_uniform
from training.signals.emitters.bits import Bits, body, draw_bits
from training.signals.emitters.bursts import Range
from training.signals.emitters.emitter import Floats

ENDLESS = np.inf
MOST_FRAMES = 64  # of an excerpt


@dataclass(frozen=True)
class Frame:
    """Levels from `begin` on, each held until the next edge; times in chips."""

    begin: float
    levels: Floats
    durations: Floats

    @property
    def end(self) -> float:
        """Where the last level ends."""
        return self.begin + float(self.durations.sum())


@dataclass(frozen=True)
class Keying:
    """How a device sends: its code, frame, repeats and pauses; lengths in chips."""

    code: str
    ratio: float  # of the long to the short pulse or pause
    bits: float  # of a frame; ENDLESS for a steady stream
    repeats: int
    gap: float  # between repeats
    pause: float  # between messages
    preamble: int  # alternating bits or pulses before the frame
    sync: float  # a long pulse before the frame, 0 for none
    jitter: float  # of each edge

    def frames(self, rng: np.random.Generator, chips: float) -> list[Frame]:
        """Frames over so many chips, from somewhere amid a message on."""
        out, begin = list[Frame](), 0.0
        first = True
        while begin < chips and len(out) < MOST_FRAMES:
            levels, durations = self.message(rng, chips)
            length = float(durations.sum())
            if first:
                begin = self.start(rng, length, chips)
                first = False
            for _ in range(self.repeats):
                if begin + length > 0 and begin < chips and len(out) < MOST_FRAMES:
                    out.append(Frame(begin, levels, durations))
                begin += length + self.gap
            begin += self.pause
        return out

    def start(self, rng: np.random.Generator, length: float, chips: float) -> float:
        """Of the first frame: amid a message, or after a pause that leaves most of the excerpt."""
        if np.isinf(self.bits):
            return 0.0
        if rng.random() < 0.5:
            return -rng.uniform(0, 1) * (length + self.gap) * max(self.repeats - 1, 0.8)
        return rng.uniform(0, 1) * min(self.pause, max(0.0, chips - length), chips / 2)

    def message(self, rng: np.random.Generator, chips: float) -> tuple[Floats, Floats]:
        """Levels and durations of one frame; a steady stream lasts for the whole excerpt."""
        if np.isinf(self.bits):
            bits = draw_bits(rng, int(chips) + 2)
        else:
            bits = body(rng, -(-int(self.bits) // 8))[: int(self.bits)]
        levels, durations = encode(self.code, bits, self.ratio, rng)
        head = np.resize([1.0, 0.0], 2 * (self.preamble // 2))
        parts = [(head, np.ones(len(head)))] if self.preamble else []
        if self.sync:
            parts.append((np.array([1.0, 0.0]), np.array([self.sync, max(1.0, self.sync / 2)])))
        parts.append((levels, durations))
        levels, durations = (np.concatenate(x) for x in zip(*parts, strict=True))
        if self.jitter:
            durations = durations * (1 + self.jitter * rng.standard_normal(len(durations)).clip(-3, 3))
        return levels, durations


def encode(code: str, bits: Bits, ratio: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Bits in a line code."""
    if code == "nrz":
        return bits.astype(np.float64), np.ones(len(bits))
    if code == "morse":
        on = np.where(bits, 3.0, 1.0)
        off = rng.choice([1.0, 3.0, 7.0], len(bits), p=[0.65, 0.27, 0.08])
        return np.resize([1.0, 0.0], 2 * len(bits)), np.stack([on, off], 1).ravel()
    if code == "differential":
        changes = np.stack([np.ones(len(bits), np.int64), bits], 1).ravel()
        return np.cumsum(changes) % 2.0, np.ones(len(changes))
    if code in ("manchester", "rz"):
        second = 1 - bits if code == "manchester" else 0 * bits
        return np.stack([bits, second], 1).ravel().astype(np.float64), np.ones(2 * len(bits))
    on = np.ones(len(bits)) if code == "position" else np.where(bits, ratio, 1.0)
    off = {"width": 1 + ratio - on, "gap": np.ones(len(bits)), "position": np.where(bits, 2.0, 1.0) * ratio}[
        code
    ]
    return np.resize([1.0, 0.0], 2 * len(bits)), np.stack([on, off], 1).ravel()


def draw_keying(
    rng: np.random.Generator,
    codes: str,
    bits: Range,
    repeats: tuple[int, int] = (1, 1),
    gap: Range = (5, 50),
    pause: Range = (50, 5000),
) -> Keying:
    """Settings within these ranges; `codes` are separated by blanks."""
    code = str(rng.choice(codes.split()))
    return Keying(
        code,
        ratio=float(rng.choice([2.0, 3.0, rng.uniform(1.5, 4)])),
        bits=bits[0] if np.isinf(bits[0]) else float(int(log_uniform(rng, *bits))),
        repeats=int(rng.integers(repeats[0], repeats[1] + 1)),
        gap=log_uniform(rng, *gap),
        pause=log_uniform(rng, *pause),
        preamble=int(rng.integers(8, 65)) if rng.random() < 0.5 else 0,
        sync=log_uniform(rng, 3, 12) if rng.random() < 0.25 else 0.0,
        jitter=rng.uniform(0, 0.03) if rng.random() < 0.5 else 0.0,
    )
