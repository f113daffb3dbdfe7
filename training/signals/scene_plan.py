"""The plan of a scene: which transmitters there are, when, where in the band, and how strong.

A transmitter has settings that fit into the band: 2 kHz to a quarter of the rate wide, with enough symbols.
Where a class has none after some draws, one is scaled in frequency. No two lie over each other: what is
between two bands is at least a quarter of the wider one; half of the transmitters are put as near as that.
"""

from dataclasses import dataclass

import numpy as np

from streaming.errors import ConfigError
from training.signals.classes import CLASSES, NOISE, check_class, log_uniform
from training.signals.emitters import draw_emitter
from training.signals.emitters.emitter import Emitter
from training.signals.fading import Fading
from training.signals.scene_emitter import Dwell, SceneEmitter, Sent
from training.signals.scene_receiver import LEAD
from training.signals.wide import FEWEST

NARROWEST = 1 / 2048  # of the rate: narrowest band that an SNR is stated for
USABLE = 0.46  # of the rate, on either side of its centre
LEAST_HZ, WIDEST = 2e3, 0.25  # bandwidths, in hertz and as a part of the rate
GUARD = 0.25  # of the wider one's bandwidth, between two emissions
NEAR = 0.5  # share of transmitters that are put beside another one, with no more than the guard between
STEADY = 0.4  # ... that are there from beginning to end
HOPPING = 0.1  # ... that hop, of the narrow ones with symbols
FADING = 0.4  # ... with fading
PILOT = 1 << 18  # samples that level and band are measured on
BURSTS = 48  # at most in them: an emitter makes up to 256 in a segment, which is four times as long
TRIES = 40
SHORTEST_SCENE, MOST = 16_384, 256  # samples, emissions


SENT = tuple(name for name in CLASSES if name != NOISE)


@dataclass(frozen=True)
class SceneSettings:
    """What a scene is to be."""

    rate_hz: float = 2.4e6
    samples: int = 2_400_000
    emissions: int = 8
    snr_db: tuple[float, float] = (5.0, 30.0)
    classes: tuple[str, ...] = SENT
    clean: bool = False  # no fading, and a receiver without faults
    steps: float = 128.0  # of full scale in the file; infinite for floating point

    def __post_init__(self) -> None:
        if self.samples < SHORTEST_SCENE:
            raise ConfigError(f"a scene of {self.samples:,} samples; expected at least {SHORTEST_SCENE:,}")
        if not 0 <= self.emissions <= MOST:
            raise ConfigError(f"{self.emissions} emissions; expected 0 to {MOST}")
        if self.snr_db[0] > self.snr_db[1]:
            raise ConfigError(f"snr_db is {self.snr_db[0]}..{self.snr_db[1]}; expected the lower one first")
        for name in self.classes:
            check_class(name)

    @property
    def on_air(self) -> int:
        """Samples that must be sent, so that the receiver's filter is filled."""
        return self.samples + 2 * LEAD


@dataclass(frozen=True)
class Pilot:
    """A transmitter and the first look at it."""

    name: str
    emitter: Emitter
    speed: float
    level: float
    lower: float  # edges of its band around its carrier, in cycles per sample
    upper: float
    bursts: int

    @property
    def width(self) -> float:
        """Between its edges."""
        return self.upper - self.lower


def plan(settings: SceneSettings, seed: int) -> list[SceneEmitter]:
    """The transmitters of a scene."""
    rng = np.random.default_rng([seed, 2])
    taken, emitters = list[tuple[float, float]](), list[SceneEmitter]()
    for number in range(settings.emissions):
        for _ in range(TRIES):
            pilot = draw_pilot(str(rng.choice(list(settings.classes))), settings, rng)
            channels = draw_channels(pilot, rng)
            width = channels[-1] + pilot.width
            lower = free_place(width, taken, rng)
            if lower is not None:
                break
        else:
            raise ConfigError(f"{number} of {settings.emissions} emissions fit into the band; ask for fewer")
        taken.append((lower, lower + width))
        carriers = tuple(lower - pilot.lower + channel for channel in channels)
        times = draw_times(settings, rng)
        emitters.append(placed(pilot, carriers, times, settings, rng, [seed, 3, number]))
    return emitters


def draw_pilot(name: str, settings: SceneSettings, rng: np.random.Generator) -> Pilot:
    """A transmitter that suits the band."""
    rate_hz, length = settings.rate_hz, min(settings.samples, PILOT)
    for attempt in range(TRIES):
        emitter = draw_emitter(name, rng)
        least_hz = max(LEAST_HZ, 8 * rate_hz / length)
        few = emitter.symbol_rate_hz < 2 * FEWEST * rate_hz / length
        speed = 1.0
        if not least_hz < emitter.width_hz < WIDEST * rate_hz or few:
            if attempt < TRIES // 2:
                continue
            speed = log_uniform(rng, 2 * least_hz, WIDEST * rate_hz / 2) / emitter.width_hz
        pilot = look_at(name, emitter, speed, rate_hz, length, rng)
        if pilot.level and pilot.bursts <= BURSTS and pilot.width < WIDEST:
            return pilot
    raise ConfigError(f"no {name} fits into a band of {rate_hz:g} Hz")


def look_at(
    name: str, emitter: Emitter, speed: float, rate_hz: float, samples: int, rng: np.random.Generator
) -> Pilot:
    """Its level and its band, from so many samples."""
    wave, sent = emitter.make(rng, rate_hz / speed, samples), Sent()
    sent.add(wave.samples, wave.edges)
    for begin, end in wave.bursts:
        sent.add_burst(0, begin, end)
    return Pilot(name, emitter, speed, float(np.sqrt(sent.power)), *sent.band, len(wave.bursts))


def draw_channels(pilot: Pilot, rng: np.random.Generator) -> list[float]:
    """Zero, or the places of one that hops, from the lowest."""
    if rng.random() > HOPPING or pilot.width > 1 / 40 or np.isnan(pilot.emitter.symbol_rate_hz):
        return [0.0]
    spacing = rng.uniform(1.5, 4) * max(pilot.width, NARROWEST)
    return [spacing * channel for channel in range(int(rng.integers(3, 9)))]


def free_place(width: float, taken: list[tuple[float, float]], rng: np.random.Generator) -> float | None:
    """A lower edge that keeps the guard to all others; None where there is no room."""
    room = sorted(taken)
    guards = [GUARD * max(width, upper - lower) for lower, upper in room]
    begins = [-USABLE, *(upper + guard for (_, upper), guard in zip(room, guards, strict=True))]
    ends = [*(lower - guard for (lower, _), guard in zip(room, guards, strict=True)), USABLE]
    free = [(b, e - width) for b, e in zip(begins, ends, strict=True) if e - width >= b]
    if not free:
        return None
    begin, end = free[int(rng.integers(len(free)))]
    beside = [edge for edge, border in ((begin, -USABLE), (end, USABLE - width)) if edge != border]
    if beside and rng.random() < NEAR:
        return float(rng.choice(beside))
    return float(rng.uniform(begin, end))


def draw_times(settings: SceneSettings, rng: np.random.Generator) -> tuple[int, int]:
    """From beginning to end, or a tenth to all of the time, anywhere, cut at both ends."""
    if rng.random() < STEADY:
        return 0, settings.on_air
    length = round(log_uniform(rng, 0.1, 1) * settings.on_air)
    begin = round(rng.uniform(-0.5 * length, settings.on_air - 0.5 * length))
    return max(0, begin), min(settings.on_air, begin + length)


def placed(
    pilot: Pilot,
    carriers: tuple[float, ...],
    times: tuple[int, int],
    settings: SceneSettings,
    rng: np.random.Generator,
    seed: list[int],
) -> SceneEmitter:
    """At its place, time and strength."""
    width, snr_db = max(pilot.width, NARROWEST), float(rng.uniform(*settings.snr_db))
    fading = None if settings.clean or rng.random() > FADING else draw_fading(width, settings.rate_hz, rng)
    return SceneEmitter(
        name=pilot.name,
        emitter=pilot.emitter,
        speed=pilot.speed,
        rate_hz=settings.rate_hz,
        seed=seed,
        begin=times[0],
        end=times[1],
        level=pilot.level,
        width=width,
        channels=carriers,
        dwells=draw_dwells(len(carriers), rng, settings.rate_hz, *times),
        scale=float(np.sqrt(10 ** (snr_db / 10) * width)),
        fading=fading,
    )


def draw_fading(width: float, rate_hz: float, rng: np.random.Generator) -> Fading:
    """One to three paths, up to 0.6 inverse bandwidths apart, with fades of 20 ms to 10 s."""
    spread = int(np.clip(rng.uniform(0, 0.6) / width, 1, 4096))
    rician = 10 ** rng.uniform(0.3, 2) if rng.random() < 0.7 else 0.0
    return Fading(int(rng.integers(1, 4)), spread, rician, log_uniform(rng, 0.1, 50) / rate_hz, rng)


def draw_dwells(channels: int, rng: np.random.Generator, rate_hz: float, begin: int, end: int) -> list[Dwell]:
    """On one channel all the time, or 5 to 100 ms on each in any order, 2 % of it off."""
    if channels == 1:
        return [Dwell(begin, end, 0)]
    step = max(1024, int(min(log_uniform(rng, 0.005, 0.1) * rate_hz, (end - begin) / (2 * channels))))
    starts = range(begin, end, step)
    places = rng.integers(channels, size=len(starts)).tolist()
    return [
        Dwell(start, min(end, start + round(0.98 * step)), place)
        for start, place in zip(starts, places, strict=True)
    ]
