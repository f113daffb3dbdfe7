"""Line codes and frames of simple devices: levels 0 and 1, each held for a number of chips.

nrz           a bit is a chip                     manchester   10 or 01
differential  a change amid a 1 (biphase mark)    rz           a 1 is a pulse of half a bit
width         PWM: a short or a long pulse, all bits of one length
gap           PWM with pauses of one length       position     PPM: a pulse, a short or a long pause
morse         dots and dashes; pauses of 1, 3 and 7 dots
"""

from dataclasses import dataclass

import numpy as np

from training.signals.classes import log_uniform
from training.signals.emitters.bits import Bits, Data, body, draw_data
from training.signals.emitters.bursts import Range
from training.signals.emitters.emitter import Floats

ENDLESS: Range = (np.inf, np.inf)
MOST_FRAMES = 64  # of an excerpt


@dataclass(frozen=True)
class Frame:
    """Levels, and the times of their edges in chips: one more than levels."""

    levels: Floats
    edges: Floats


@dataclass(frozen=True)
class Keying:
    """How a device sends: its code, frame, repeats and pauses; lengths in chips."""

    code: str
    ratio: float  # of the long to the short pulse or pause
    bits: float  # of a frame; infinite for a steady stream
    repeats: int
    gap: float  # between repeats
    pause: float  # between messages
    head: str  # chips before the frame
    jitter: float  # of each duration
    data: Data  # of a steady stream

    def frames(self, rng: np.random.Generator, chips: float) -> list[Frame]:
        """Frames over so many chips, from somewhere amid a message on."""
        out = list[Frame]()
        levels, edges = self.message(rng, chips)
        begin = self.start(rng, edges[-1], chips)
        while begin < chips and len(out) < MOST_FRAMES:
            for _ in range(self.repeats):
                if begin + edges[-1] > 0 and begin < chips:
                    out.append(Frame(levels, begin + edges))
                begin += edges[-1] + self.gap
            begin += self.pause
            levels, edges = self.message(rng, chips)
        return out

    def start(self, rng: np.random.Generator, length: float, chips: float) -> float:
        """Of the message: some of its frames may be over, but the next one is there for at least a half."""
        if np.isinf(self.bits):
            return 0.0
        if rng.random() < 0.5:
            return -float(rng.integers(self.repeats) * (length + self.gap) + rng.uniform(0, 0.5) * length)
        return float(rng.uniform(0, 1) * min(self.pause, max(0.0, chips - length), chips / 2))

    def message(self, rng: np.random.Generator, chips: float) -> tuple[Floats, Floats]:
        """Levels and edges of one frame; a steady stream lasts for the whole excerpt."""
        if np.isinf(self.bits):
            bits = self.data.take(rng, int(chips) + 2, begins=False)
        else:
            bits = body(rng, -(-int(self.bits) // 8))[: int(self.bits)]
            bits[::8] = 1  # start bits: no code leaves the carrier off for long
        levels, durations = encode(self.code, bits, self.ratio, rng)
        if self.jitter:
            durations = durations * (1 + self.jitter * rng.standard_normal(len(durations)).clip(-3, 3))
        levels = np.concatenate([np.array([float(c) for c in self.head]), levels])
        durations = np.concatenate([[0.0], np.ones(len(self.head)), durations])
        return levels, np.cumsum(durations)


def encode(code: str, bits: Bits, ratio: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Levels and durations of bits in a line code."""
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
    ones = np.ones(len(bits))
    on = ones if code == "position" else np.where(bits, ratio, 1.0)
    off = {"width": 1 + ratio - on, "gap": ones, "position": np.where(bits, 2 * ratio, ratio)}[code]
    return np.resize([1.0, 0.0], 2 * len(bits)), np.stack([on, off], 1).ravel()


def draw_keying(
    rng: np.random.Generator,
    codes: str,
    bits: Range,
    repeats: tuple[int, int] = (1, 1),
    gap: Range = (5, 50),
    pause: Range = (50, 5000),
    heads: tuple[str, ...] = (),
) -> Keying:
    """Settings within these ranges; `codes` are separated by blanks."""
    if not heads:  # nothing, a clock, a long pulse
        long = int(rng.integers(3, 13))
        heads = ("", "10" * int(rng.integers(4, 33)), "1" * long + "0" * (long // 2))
    return Keying(
        str(rng.choice(codes.split())),
        ratio=float(rng.choice([2.0, 3.0, rng.uniform(1.5, 4)])),
        bits=bits[0] if np.isinf(bits[0]) else float(round(log_uniform(rng, *bits))),
        repeats=int(rng.integers(repeats[0], repeats[1] + 1)),
        gap=log_uniform(rng, *gap),
        pause=log_uniform(rng, *pause),
        head=str(rng.choice(heads)),
        jitter=rng.uniform(0, 0.03) if rng.random() < 0.5 else 0.0,
        data=draw_data(rng),
    )
