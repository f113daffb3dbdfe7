"""Pulses by their spectra G(f), f in symbol rates, G(0) = 1.

rrc, rc    (root) raised cosine with this roll-off
rectangle  sin(pi f)/(pi f), its edges smoothed over a part `value` of a symbol (cosine): 0 is a hard switch
gauss      a rectangle behind a Gaussian filter of this BT
half       half a sine wave of one symbol (IEEE 802.15.4 O-QPSK)
cosine     a raised cosine in time, two symbols long (PSK31)
pole       a rectangle behind a one-pole low-pass of this cut-off
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from training.signals.emitters.emitter import Reals


@dataclass(frozen=True)
class Pulse:
    """A pulse's kind and its one setting."""

    kind: str
    value: float = 0.0

    @property
    def reach(self) -> float:
        """Frequency beyond which nothing is left."""
        return {"rrc": 0.5 + 0.5 * self.value, "rc": 0.5 + 0.5 * self.value, "gauss": 3 * self.value + 1}.get(
            self.kind, np.inf
        )

    @property
    def width(self) -> float:
        """Rough width in symbol rates that holds the most of the power, skirts left out."""
        if self.kind in ("rrc", "rc"):
            return 1 + self.value
        return {"gauss": 1.5, "half": 1.6, "cosine": 1.3}.get(self.kind, 2.0)

    def response(self, f: Reals) -> NDArray[np.float32] | NDArray[np.complex64]:
        """G(f)."""
        if self.kind in ("rrc", "rc"):
            x = np.clip((np.abs(f) - (1 - self.value) / 2) / self.value, 0, 1)
            cosine = np.cos(np.pi / 2 * x)
            return np.asarray(cosine if self.kind == "rrc" else cosine**2, np.float32)
        if self.kind == "half":
            return half_cosine(f)
        if self.kind == "cosine":
            near = np.abs(np.abs(f) - 0.5) < 1e-4
            return np.where(near, 0.5, np.sinc(2 * f) / np.where(near, 1, 1 - 4 * f**2)).astype(np.float32)
        flat = np.sinc(f)
        if self.kind == "gauss":
            return np.asarray(flat * np.exp(-(np.log(2) / 2) * (f / self.value) ** 2), np.float32)
        if self.kind == "pole":
            return np.asarray(flat / (1 + 1j * f / self.value), np.complex64)
        return np.asarray(flat * half_cosine(f * self.value), np.float32)


def half_cosine(f: Reals) -> Reals:
    """Spectrum of a half cosine wave of unit length."""
    near = np.abs(np.abs(f) - 0.5) < 1e-3
    safe = np.where(near, 0.25, f)
    return np.where(near, np.pi / 4, np.cos(np.pi * safe) / (1 - 4 * safe**2)).astype(np.float32)
