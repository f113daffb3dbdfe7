"""Faults of the radio that sends over ZMQ."""

import time

import numpy as np


def corrupted_messages(soak):
    """Messages of the radio that are no messages."""

    def spoil(sink, samples):
        raw = bytearray(samples.tobytes()[:997])
        raw[:3] = b"\xf0\x5f\x01"
        sink._socket.send(bytes(raw))

    spoiled(soak, spoil)


def not_finite(soak):
    """Samples that are NaN or infinite."""

    def spoil(_, samples):
        samples[soak.chance.randrange(len(samples))] = soak.chance.choice([np.nan, np.inf, -np.inf])

    spoiled(soak, spoil)


def huge_samples(soak):
    """Samples at the edge of float32."""
    spoiled(soak, lambda _, samples: np.multiply(samples, np.float32(1e38), out=samples))


def rate_change(soak):
    """The radio's rate changes and changes back."""
    soak.sender.rate_hz = soak.chance.choice([24e3, 250e3, 1e3])
    time.sleep(1)
    soak.sender.rate_hz = 48e3


def flapping_radio(soak):
    """The sender goes and comes back."""
    soak.sender.leave(soak.chance.uniform(0.2, 2))


def spoiled(soak, spoil):
    soak.sender.spoil = spoil
    time.sleep(1)
    soak.sender.spoil = None
