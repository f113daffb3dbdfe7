"""The scene of the band's benchmark: emissions of known kind and place that are on all the time, in a loop.

A stream that lasts minutes repeats a few seconds: a transmitter that goes on after a step in its signal is
the same emission, and there is as much to do as if it had gone on without one.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from streaming.block import Samples
from streaming.errors import ConfigError
from training.evaluation.exam.matching import LEAST_IOU
from training.signals.classes import FAMILIES
from training.signals.scene import Scene
from training.signals.scene_emitter import SceneEmitter
from training.signals.scene_plan import NARROWEST, SENT, TRIES, SceneSettings, draw_pilot, free_place, placed
from training.signals.stream import SPUR

LOOP_S = 2.0
WIDTHS_HZ = (5e3, 200e3)
SNR_DB = (10.0, 30.0)


@dataclass(frozen=True)
class Truth:
    """An emission of the scene; frequencies in hertz from the centre."""

    lower_hz: float
    upper_hz: float
    family: str

    def overlap(self, lower_hz: float, upper_hz: float) -> float:
        """Intersection over union with a band."""
        both = min(self.upper_hz, upper_hz) - max(self.lower_hz, lower_hz)
        return max(0.0, both) / (max(self.upper_hz, upper_hz) - min(self.lower_hz, lower_hz))


@dataclass(frozen=True)
class Band:
    """Samples that go on where they end, and what is in them."""

    samples: Samples
    truth: list[Truth]
    rate_hz: float

    def judge(self, found: list[dict[str, Any]]) -> tuple[int, int]:
        """How many emissions were followed, and how many of them have the right family.

        Of those that were found at one place, the one that was on longest counts.
        """
        followed = right = 0
        for truth in self.truth:
            near = [one for one in found if self._overlap(truth, one) >= LEAST_IOU]
            if near:
                best = max(near, key=lambda one: one["duty"] * (one["end"] - one["begin"]))
                followed += 1
                right += best["family"] == truth.family
        return followed, right

    def _overlap(self, truth: Truth, emission: dict[str, Any]) -> float:
        """A bare carrier counts as wide as what an SNR is stated for."""
        more = max(0.0, NARROWEST * self.rate_hz - emission["bandwidth_hz"]) / 2
        return truth.overlap(emission["lower_hz"] - more, emission["upper_hz"] + more)


def make_band(rate_hz: float, emissions: int, seed: int = 1) -> Band:
    """A band of so many emissions."""
    settings = SceneSettings(
        rate_hz=rate_hz,
        samples=round(LOOP_S * rate_hz),
        emissions=emissions,
        snr_db=SNR_DB,
        classes=SENT,
        steps=np.inf,
    )
    scene = Scene(settings, steady(settings, seed), seed)
    samples = scene.next(settings.samples)
    least = NARROWEST * rate_hz
    truth = []
    for label in scene.labels:
        if label.name != SPUR:
            centre, half = label.offset * rate_hz, max(least, label.bandwidth * rate_hz) / 2
            truth.append(Truth(centre - half, centre + half, FAMILIES[label.name]))
    return Band(samples, truth, rate_hz)


def steady(settings: SceneSettings, seed: int) -> list[SceneEmitter]:
    """Transmitters of 5 to 200 kHz, each on from beginning to end."""
    rng = np.random.default_rng([seed, 4])
    taken, emitters = list[tuple[float, float]](), list[SceneEmitter]()
    for number in range(settings.emissions):
        for _ in range(TRIES):
            pilot = draw_pilot(str(rng.choice(list(settings.classes))), settings, rng)
            fits = WIDTHS_HZ[0] <= pilot.width * settings.rate_hz <= WIDTHS_HZ[1]
            lower = free_place(pilot.width, taken, rng) if fits else None
            if lower is not None:
                break
        else:
            raise ConfigError(f"{number} of {settings.emissions} emissions fit into the band; ask for fewer")
        taken.append((lower, lower + pilot.width))
        times = 0, settings.on_air
        emitters.append(placed(pilot, (lower - pilot.lower,), times, settings, rng, [seed, 3, number]))
    return emitters
