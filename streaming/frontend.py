"""The front end: from a source's samples to one signal at the rate and level that the model was trained for.

    correction -> channel -> detector -> follower: tune, resample to bandwidth / rate = fraction, level

Where there is no signal, a `Silence` comes out. A signal comes out as `Piece`s; where one restarts
(`begins`), the stages behind the front end restart, too. All decisions are made on a fixed grid of blocks, so
the result does not depend on how the stream is cut.

>>> FrontEnd(FrontEndSettings()).push(Block(np.zeros(1024, np.complex64), 0, 250e3))
[Silence(start=0.0, end=1024.0, noise_db=-150.0)]
"""

import math
from dataclasses import dataclass, replace
from typing import Annotated, Literal

import numpy as np

from streaming.block import Block, Samples, check_samples
from streaming.channel import Channel
from streaming.checked import Checked, Range
from streaming.correction import ENOUGH, Correction
from streaming.detector import BINS, Detector, Verdict
from streaming.errors import ConfigError
from streaming.follower import Begins, Follower, Piece

BLOCK_S = 2e-3  # the grid of decisions
AgcSamples = Annotated[float, Range(1, 1e9)]  # time constant of the level


@dataclass(frozen=True)
class FrontEndSettings(Checked):
    """`fraction`, `narrowest` and `agc_samples` belong to the model, the rest to the user."""

    section = "frontend"
    kind: Literal["front end"] = "front end"
    fraction: Annotated[float, Range(0.05, 0.9)] = 0.4  # of the model's rate: the occupied bandwidth
    narrowest: Annotated[float, Range(1 / BINS, 1)] = 1 / 64  # of the channel: resampled as if this wide
    agc_samples: AgcSamples = 4096.0
    hang_s: Annotated[float, Range(1e-6, 3600)] = 0.02  # a pause this long ends a signal
    offset_hz: Annotated[float, Range(-1e12, 1e12)] = 0.0  # the channel's centre
    width_hz: Annotated[float, Range(1, 1e12)] | None = None  # the channel's width; None for the whole band

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.width_hz is None and self.offset_hz:
            raise ConfigError("frontend.offset_hz needs a frontend.width_hz")


@dataclass(frozen=True, slots=True)
class Silence:
    """No signal in [start, end) of the source's count."""

    start: float
    end: float
    noise_db: float  # the channel's mean noise power, dB of full scale


Output = list[Piece | Silence]


class FrontEnd:
    """Blocks of one source in; silences and pieces of signals, in the source's count and in hertz, out."""

    def __init__(self, settings: FrontEndSettings) -> None:
        self.settings = settings
        self.correction = Correction()
        self.reset()

    def reset(self) -> None:
        """Forget everything, the receiver too."""
        self.next: int | None = None  # index of the sample that should come next
        self.rate_hz = 0.0
        self.freq_hz: float | None = None
        self.skipped = 0  # samples before gaps and ends that were too few for a block
        self._held = np.empty(0, np.complex64)
        self._follower: Follower | None = None

    def push(self, block: Block) -> Output:
        """What this block completes."""
        check_samples(block.samples)
        out: Output = []
        if block.rate_hz != self.rate_hz:
            out += self.flush()
            self._open(block.rate_hz)
        retuned = self.next is not None and block.freq_hz != self.freq_hz
        if retuned or block.index != self.next:
            out += self.flush()
            if retuned:
                self.detector.reset()  # there is another noise
            self._begin(block.index, "cold" if self.next is None else "gap")
        self.next, self.freq_hz = block.end, block.freq_hz
        held = np.concatenate([self._held, block.samples])
        whole = len(held) // self.grid * self.grid
        self._held = held[whole:].copy()
        for i in range(0, whole, self.grid):
            out += self._grid(held[i : i + self.grid])
        return joined(out)

    def flush(self) -> Output:
        """The rest of a signal, as the stream ends or samples are lost; less than a block is only counted."""
        self.skipped += len(self._held)
        self._held = self._held[:0]
        return self._end()

    def _open(self, rate_hz: float) -> None:
        """Stages for a source of this rate."""
        settings = self.settings
        self.channel = (
            Channel(rate_hz, settings.offset_hz, settings.width_hz) if settings.width_hz is not None else None
        )
        self.rate_hz, self.next = rate_hz, None
        self.channel_hz = self.channel.rate_hz if self.channel else rate_hz
        self.channel_step = self.channel.step if self.channel else 1.0
        self.block = int(2 ** np.clip(round(math.log2(BLOCK_S * self.channel_hz)), 8, 12))
        self.grid = round(self.block * self.channel_step)
        self.detector = Detector(
            self.block, hang=max(1, round(settings.hang_s * self.channel_hz / self.block))
        )
        self.correction.reset()
        self._heard = 0  # samples since

    def _begin(self, index: int, beginning: Begins) -> None:
        """Restart at this sample: the noise and the receiver are still known, the past is not."""
        self.begin, self.beginning = index, beginning
        self._at = 0  # channel samples judged since
        self.detector.restart()
        if self.channel:
            self.channel.reset()

    def _grid(self, samples: Samples) -> Output:
        # At first the receiver's direct current is not known and looks like a carrier.
        blind = self._heard < 2 * ENOUGH and not self.correction.known
        blind = blind and (self.channel is None or self.channel.offset_hz == 0)
        self._heard += len(samples)
        corrected = self.correction.push(samples)
        verdicts = self.detector.push(self.channel.push(corrected) if self.channel else corrected, blind)
        out = [item for verdict in verdicts for item in self._block(verdict)]
        if verdicts and not any(verdict.active or verdict.loud for verdict in verdicts):
            self.correction.learn(samples)
        return out

    def _block(self, verdict: Verdict) -> Output:
        """One block of the channel."""
        at, self._at = self._at, self._at + self.block
        out: Output = []
        begins: Begins = self.beginning if at == 0 else "signal"
        if self._follower and self._follower.outgrown(verdict):
            out, begins = self._end(), "change"
        if verdict.active:
            if self._follower is None:
                s = self.settings
                self._follower = Follower(
                    at, begins, fraction=s.fraction, narrowest=s.narrowest, agc_samples=s.agc_samples
                )
            out += [self._placed(piece) for piece in self._follower.push(verdict)]
        if not verdict.active:
            out += self._silent(at, verdict)
        elif self._follower and self._follower.quiet >= self.detector.hang:  # what is left is another signal
            out += self._silent(self._at, verdict)
        return out

    def _silent(self, at: int, verdict: Verdict) -> Output:
        """The end of a signal, if there was one, and silence since its last loud block before `at`."""
        quiet = self._follower.quiet * self.block if self._follower else 0
        noise_db = 10 * math.log10(float(verdict.floor.mean()))
        silence = Silence(self._place(at - quiet), self._place(self._at), round(noise_db, 2))
        return [*self._end(), silence]

    def _end(self) -> Output:
        follower, self._follower = self._follower, None
        return [self._placed(piece) for piece in follower.end()] if follower else []

    def _place(self, at: float) -> float:
        """A place in the channel's samples, in the source's count."""
        return self.begin + at * self.channel_step

    def _placed(self, piece: Piece) -> Piece:
        offset_hz = self.channel.offset_hz if self.channel else 0.0
        return replace(
            piece,
            start=self._place(piece.start),
            step=piece.step * self.channel_step,
            estimate=piece.estimate.scaled(self.channel_hz, offset_hz),
        )


def joined(items: Output) -> Output:
    """Silences side by side become one, with the newest noise."""
    out: Output = []
    for item in items:
        before = out[-1] if out else None
        if isinstance(item, Silence) and isinstance(before, Silence) and before.end == item.start:
            out[-1] = replace(item, start=before.start)
        else:
            out.append(item)
    return out
