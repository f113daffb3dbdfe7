"""An emission: one transmitter of one class, through the air, at the power that its SNR asks for.

    y[n] = scale exp(2 pi j (offset n + walk[n])) fade(modulator[n])

The walk is the oscillator's phase noise, a Wiener process of this linewidth. The receiver adds noise of unit
power in the whole band.
"""

import numpy as np

from streaming.block import Samples
from training.signals.classes import NOISE, Modulator, make_modulator
from training.signals.conditions import Conditions
from training.signals.fading import Fading
from training.signals.measure import occupied, power
from training.signals.phasor import phasor

SEGMENT = 4096  # samples made at a time, whatever is asked for: the result does not depend on cuts
REFERENCE = 1 / 64  # narrowest band, as a part of the rate, that an SNR is stated for


class Emission:
    """An endless signal; its settings are drawn from the generator's first numbers."""

    def __init__(
        self, name: str, conditions: Conditions, rng: np.random.Generator, modulator: Modulator | None = None
    ) -> None:
        """Of this class, or with a modulator of its own."""
        self.name, self.rng = name, rng
        self.modulator = modulator or make_modulator(name, rng)
        self.symbol_rate = self.modulator.symbol_rate
        self.snr_db = np.nan if name == NOISE else float(rng.uniform(*conditions.snr_db))
        self.linewidth = rng.uniform(0, conditions.linewidth)
        self.fading = draw_fading(conditions, rng)
        self.walk = rng.uniform(0, 1)  # turns
        self.made = 0
        self.offset = 0.0
        self.rest = self._faded()
        self._set_level(conditions)
        self.rest = self._moved(self.rest)

    def _set_level(self, conditions: Conditions) -> None:
        """Bandwidth, power and offset from the first segment: what it is, not what it should have been."""
        low, high = occupied(self.rest)
        self.bandwidth = 0.0 if self.name == NOISE else high - low
        noise = max(self.bandwidth, REFERENCE)
        self.power = 0.0 if self.name == NOISE else 10 ** (self.snr_db / 10) * noise
        self.scale = np.sqrt(self.power / max(power(self.rest), 1e-30))
        farthest = max(0.0, min(conditions.offset, 0.48 - self.bandwidth / 2 - abs(self.modulator.centre)))
        self.carrier = float(self.rng.uniform(-farthest, farthest))
        self.offset = self.carrier + self.modulator.centre

    def _faded(self) -> Samples:
        made = self.modulator.make(SEGMENT)
        return self.fading.push(made) if self.fading else made

    def _moved(self, x: Samples) -> Samples:
        """Scaled and shifted to its offset."""
        if self.name == NOISE:
            return x
        turns = self.walk + self.carrier * np.arange(self.made, self.made + len(x), dtype=np.float64)
        if self.linewidth:
            steps = self.rng.standard_normal(len(x)) * np.sqrt(self.linewidth / (2 * np.pi))
            turns += np.cumsum(steps)
            self.walk += float(steps.sum())
        self.made += len(x)
        return x * (np.float32(self.scale) * phasor(turns))

    def next(self, count: int) -> Samples:
        """The next samples."""
        parts, have = [self.rest], len(self.rest)
        while have < count:
            parts.append(self._moved(self._faded()))
            have += SEGMENT
        whole = np.concatenate(parts) if len(parts) > 1 else parts[0]
        self.rest = whole[count:]
        return whole[:count]


def draw_fading(conditions: Conditions, rng: np.random.Generator) -> Fading | None:
    """No fading, or a channel of one to four paths, Rayleigh or Rician with K from 3 to 15 dB."""
    if rng.random() >= conditions.multipath:
        return None
    rician = 10 ** rng.uniform(0.3, 1.5) if rng.random() < 0.5 else 0.0
    return Fading(
        int(rng.integers(1, 5)), int(rng.integers(3, 9)), rician, rng.uniform(0, conditions.doppler), rng
    )
