"""A spectrum that is wider than a radio's band, and an rtl_tcp server that hears the part it is tuned to."""

import socket
import time

import numpy as np

from tests.hardware.test_rtltcp import Server

SET_FREQ = 1
CHUNK_S = 0.01


def spectrum(rate, emissions, noise=0.02, seed=1):
    """One second that repeats without a step, in bins of 1 Hz: noise and noise-like emissions.

    Each emission is (offset from the centre, bandwidth, level), with the noise of the whole rate at `noise`.
    """
    rng = np.random.default_rng(seed)
    bins = noise * (rng.standard_normal((rate, 2)) @ [1, 1j]) * np.sqrt(rate / 2)
    f = np.fft.fftfreq(rate, 1 / rate)
    for offset, width, level in emissions:
        inside = np.abs(f - offset) <= width / 2
        values = rng.standard_normal((inside.sum(), 2)) @ [1, 1j]
        bins[inside] += level * rate * values / np.sqrt(np.sum(np.abs(values) ** 2))
    return bins


class WideRadio(Server):
    """Serves clients one at a time, at real pace; `late_s` is how old its samples are when they are sent.

    What it hears at `places` is made beforehand: a radio is retuned within milliseconds.
    """

    def __init__(self, bins, freq, rate, places=(), late_s=0.02):
        self.bins, self.freq, self.rate, self.late_s = bins, freq, rate, late_s
        self.tuned = [(0.0, freq)]  # when, and to what
        self.heard = {}
        for place in (freq, *map(round, places)):
            self.band(place)
        super().__init__()

    @property
    def address(self):
        return f"rtltcp:127.0.0.1:{self.port}?rate={self.rate}"

    def band(self, freq):
        """The bytes of the band around a frequency, one second of them."""
        if freq not in self.heard:
            at = np.arange(-self.rate // 2, self.rate // 2)
            edge = np.clip((0.5 - np.abs(at) / self.rate) / 0.05, 0, 1)  # the filter falls off at the ends
            part = self.bins[(at + round(freq - self.freq)) % len(self.bins)] * edge
            x = np.fft.ifft(np.fft.ifftshift(part)) * self.rate / len(self.bins)
            pairs = np.stack([x.real, x.imag], 1) * 127.5 + 127.5
            self.heard[freq] = np.clip(np.rint(pairs), 0, 255).astype(np.uint8).tobytes() * 2
        return self.heard[freq]

    def _send(self, client):
        client.sendall(self.header)
        count, sent, began = round(self.rate * CHUNK_S), 0, time.monotonic()
        while not self.stop.is_set():
            due = began + (sent + count) / self.rate
            time.sleep(max(0.0, due - time.monotonic()))
            made = due - CHUNK_S - self.late_s
            freq = next(freq for when, freq in reversed(self.tuned) if when <= made)
            at = 2 * (sent % self.rate)
            client.sendall(self.band(freq)[at : at + 2 * count])
            sent += count
        client.shutdown(socket.SHUT_RDWR)

    def _obey(self, code, value):
        if code == SET_FREQ:
            self.tuned.append((time.monotonic(), value))
