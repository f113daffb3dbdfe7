"""A spectrum that is wider than a radio's band, and an rtl_tcp server that hears the part it is tuned to."""

import contextlib
import socket
import struct
import threading
import time

import numpy as np

HEADER = b"RTL0" + struct.pack(">II", 5, 29)
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


class WideRadio:
    """Serves clients one at a time, at real pace; `late_s` is how old its samples are when they are sent.

    What it hears at `places` is made beforehand: a radio is retuned within milliseconds.
    """

    def __init__(self, bins, freq, rate, places=(), late_s=0.02):
        self.bins, self.freq, self.rate, self.late_s = bins, freq, rate, late_s
        self.tuned = [(0.0, freq)]  # when, and to what
        self.heard = {}
        for place in (freq, *map(round, places)):
            self.band(place)
        self.stop = threading.Event()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.socket.settimeout(0.05)
        self.port = self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self._serve)
        self.thread.start()

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

    def _serve(self):
        while not self.stop.is_set():
            try:
                client, _ = self.socket.accept()
            except TimeoutError:
                continue
            with client:
                client.settimeout(1)
                listener = threading.Thread(target=self._listen, args=[client])
                listener.start()
                with contextlib.suppress(OSError):
                    self._send(client)
                    client.shutdown(socket.SHUT_RDWR)
                client.close()
                listener.join()

    def _send(self, client):
        client.sendall(HEADER)
        count, sent, began = round(self.rate * CHUNK_S), 0, time.monotonic()
        while not self.stop.is_set():
            due = began + (sent + count) / self.rate
            time.sleep(max(0.0, due - time.monotonic()))
            made = due - CHUNK_S - self.late_s
            freq = next(freq for when, freq in reversed(self.tuned) if when <= made)
            at = 2 * (sent % self.rate)
            client.sendall(self.band(freq)[at : at + 2 * count])
            sent += count

    def _listen(self, client):
        with contextlib.suppress(OSError):
            while len(command := client.recv(5, socket.MSG_WAITALL)) == 5:
                code, value = struct.unpack(">BI", command)
                if code == SET_FREQ:
                    self.tuned.append((time.monotonic(), value))

    def close(self):
        self.stop.set()
        self.thread.join()
        self.socket.close()
