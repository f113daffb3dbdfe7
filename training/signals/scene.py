"""Scenes: many transmitters at once, through one receiver, with a box for each emission.

    z = receiver(sum_i transmitter_i + noise)

Transmitters overlap in time, lie near each other in frequency but not over each other, differ in strength;
some are there before the scene begins, some send in bursts, some hop. Whatever the length, a segment of each
is made at a time.

The truth is one `Label` per emission and channel, from its first to its last sample, pauses included, with
the bursts within; those of a hopping transmitter share the emission's number. Edges hold 99 % of the power
(ITU-R SM.328; of AM without its carrier). The SNR is that in the occupied band while the emission is on, over
the noise, the converter's steps and what the neighbours leave there. A tone that the receiver itself makes is
labelled `SPUR`.

>>> from training.signals.scene_plan import plan
>>> settings = SceneSettings(rate_hz=1e6, samples=50_000, emissions=3)
>>> scene = Scene(settings, plan(settings, seed=1), seed=1)
>>> scene.next(50_000).dtype, sorted({label.emission for label in scene.labels})
(dtype('complex64'), [0, 1, 2])
"""

from collections.abc import Iterator

import numpy as np

from streaming.block import Samples
from streaming.errors import InputError
from training.signals.emitters.emitter import Spans
from training.signals.scene_emitter import SceneEmitter
from training.signals.scene_plan import NARROWEST, SceneSettings
from training.signals.scene_receiver import LEAD, SceneReceiver
from training.signals.stream import SPUR, Label
from training.signals.wide import SHORTEST

SEGMENT = 1 << 20  # samples made at a time, whatever is asked for: the result does not depend on cuts


class Scene:
    """`next` gives what the receiver hears; `labels` is filled when the last sample has been made."""

    def __init__(self, settings: SceneSettings, emitters: list[SceneEmitter], seed: int) -> None:
        self.settings, self.emitters, self.labels = settings, emitters, list[Label]()
        power = sum(emitter.scale**2 for emitter in emitters)
        self.receiver = SceneReceiver(np.random.default_rng([seed, 1]), power, settings.clean)
        self.sent = 0  # samples on the air
        self.rest = np.empty(0, np.complex64)

    def next(self, count: int) -> Samples:
        """The next samples; fewer where the scene ends."""
        if count < 0:
            raise InputError(f"{count} samples were asked for; it must be at least 0")
        parts = [self.rest]
        while sum(map(len, parts)) < count and self.sent < self.settings.on_air:
            parts.append(self._segment())
        whole = np.concatenate(parts) if len(parts) > 1 else self.rest
        self.rest = whole[count:]
        return whole[:count]

    def _segment(self) -> Samples:
        """Never so little that a transmitter has nothing to send in it."""
        begin, total = self.sent, self.settings.on_air
        end = begin + SEGMENT if total - begin >= SEGMENT + SHORTEST else total
        air = np.zeros(end - begin, np.complex64)
        for emitter in self.emitters:
            first, x = emitter.make(begin, end)
            air[first - begin : first - begin + len(x)] += x
        self.sent = end
        if end == total:
            self.labels += sorted([*self._boxes(), *self._spurs()], key=lambda label: label.start)
        return self.receiver.push(air)

    def _boxes(self) -> Iterator[Label]:
        """One per emission and channel."""
        for number, emitter in enumerate(self.emitters):
            for channel, sent in sorted(emitter.sent.bursts.items()):
                times = np.clip(np.array(sent) - LEAD, 0, self.settings.samples).tolist()
                bursts = [(begin, end) for begin, end in times if begin < end]
                if bursts:
                    yield self._box(number, channel, bursts)

    def _box(self, number: int, channel: int, bursts: Spans) -> Label:
        emitter = self.emitters[number]
        lower, upper = (edge + emitter.channels[channel] for edge in emitter.sent.band)
        begin, end = bursts[0][0], bursts[-1][1]
        return Label(
            name=emitter.name,
            start=begin,
            count=end - begin,
            snr_db=self._snr_db(emitter, lower, upper, (begin, end)),
            symbol_rate=emitter.emitter.symbol_rate_hz * emitter.speed / self.settings.rate_hz,
            offset=(lower + upper) / 2,
            bandwidth=upper - lower,
            emission=number,
            bursts=bursts,
        )

    def _snr_db(self, emitter: SceneEmitter, lower: float, upper: float, time: tuple[int, int]) -> float:
        """Of the signal as it is received, over all that is not it."""
        more = max(0.0, NARROWEST - (upper - lower)) / 2
        band = lower - more, upper + more
        gain = self.receiver.power_gain(*band)
        others = sum(left_by(other, *band, time) for other in self.emitters if other is not emitter)
        signal = emitter.scale**2 * emitter.sent.power
        return float(10 * np.log10(gain * signal / (self._floor(*band) + gain * others)))

    def _floor(self, lower: float, upper: float) -> float:
        """Noise in a band, behind the filter, and the steps of the converter on I and on Q."""
        steps = 2 / 12 / (self.settings.steps * self.receiver.gain) ** 2
        return (upper - lower) * (self.receiver.power_gain(lower, upper) + steps)

    def _spurs(self) -> list[Label]:
        """Of the receiver, from beginning to end."""
        half = NARROWEST / 2
        return [
            Label(
                name=SPUR,
                start=0,
                count=self.settings.samples,
                snr_db=float(10 * np.log10(level**2 / self._floor(place - half, place + half))),
                symbol_rate=np.nan,
                offset=place,
                bandwidth=NARROWEST,
            )
            for place, level in self.receiver.spurs
        ]


def left_by(other: SceneEmitter, lower: float, upper: float, time: tuple[int, int]) -> float:
    """The power that another transmitter leaves within these frequencies while it is on, if it ever is."""
    powers = [
        other.sent.share(lower - other.channels[channel], upper - other.channels[channel])
        for channel, spans in other.sent.bursts.items()
        if any(begin < time[1] and time[0] < end for begin, end in spans)
    ]
    return other.scale**2 * other.sent.power * max(powers, default=0.0)
