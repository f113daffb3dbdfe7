"""When a transmitter is on: always, or in packets of a length with pauses between them, in seconds."""

from dataclasses import dataclass

import numpy as np

from training.signals.classes import log_uniform
from training.signals.emitters.emitter import Spans

Range = tuple[float, float]


@dataclass(frozen=True)
class Bursts:
    """Ranges of the packets' and the pauses' lengths; an endless packet is continuous."""

    packet_s: Range = (np.inf, np.inf)
    pause_s: Range = (0.0, 0.0)

    def draw(self, rng: np.random.Generator, rate_hz: float, samples: int) -> Spans:
        """Bursts within these samples, at least one of them; a packet may be cut at both ends."""
        if np.isinf(self.packet_s[0]):
            return [(0, samples)]
        packet, spans = log_uniform(rng, *self.packet_s) * rate_hz, Spans()
        even = rng.random() < 0.7  # packets of one length, as most protocols have
        pause = log_uniform(rng, *self.pause_s) * rate_hz
        begin = (
            -rng.uniform(0, 0.8) * packet if rng.random() < 0.4 else rng.uniform(0, min(pause, samples / 2))
        )
        while begin < samples - 2 and len(spans) < 256:
            end = begin + packet
            if end >= 2:
                spans.append((max(0, int(begin)), min(samples, int(np.ceil(end)))))
            begin = end + pause * (1.0 if even else rng.uniform(0.5, 1.5))
            if not even:
                packet = log_uniform(rng, *self.packet_s) * rate_hz
        return spans


def generic(rng: np.random.Generator, symbol_s: float) -> Bursts:
    """Continuous in half of the cases, otherwise packets of 20 to 5,000 symbols."""
    if rng.random() < 0.5:
        return Bursts()
    length = log_uniform(rng, 20, 5000) * symbol_s
    pause = length * log_uniform(rng, 0.1, 10)
    return Bursts((length, length * rng.uniform(1, 3)), (pause, pause))
