"""Emitters: transmitters of each family with settings of standards and devices, in hertz and seconds."""

from collections.abc import Callable

import numpy as np

from training.signals.classes import FAMILIES, NOISE
from training.signals.emitters.analog import draw_analog
from training.signals.emitters.carrier import draw_carrier, draw_nothing
from training.signals.emitters.chirp import draw_chirp
from training.signals.emitters.emitter import Emitter
from training.signals.emitters.fsk import draw_fsk
from training.signals.emitters.linear import draw_linear
from training.signals.emitters.ofdm import draw_ofdm
from training.signals.emitters.ook import draw_ook

BY_FAMILY: dict[str, Callable[[str, np.random.Generator], Emitter]] = {
    "ASK": draw_linear,
    "PSK": draw_linear,
    "QAM": draw_linear,
    "FSK": draw_fsk,
    "AM": draw_analog,
    "FM": draw_analog,
}
BY_NAME: dict[str, Callable[[np.random.Generator], Emitter]] = {
    "OOK": draw_ook,
    "OFDM": draw_ofdm,
    "chirp": draw_chirp,
    "carrier": draw_carrier,
    NOISE: draw_nothing,
}


def draw_emitter(name: str, rng: np.random.Generator) -> Emitter:
    """A transmitter of this class."""
    return BY_NAME[name](rng) if name in BY_NAME else BY_FAMILY[FAMILIES[name]](name, rng)
