"""A tone, for trying things out without a radio.

    x[n] = exp(2 pi i offset n / rate) + noise,      noise power = 10^(-snr_db / 10)

`tone:?rate=250k` with the options

    rate        samples per second (default 250k)
    offset      of the tone from the centre, in Hz (default rate / 25)
    freq        centre frequency
    snr_db      without it, no noise
    seed        of the noise
    seconds     how long; without it, endless
    pace        realtime (default) or fast
"""

import threading
import time
from collections.abc import Iterator

import numpy as np

from hardware.address import Address
from hardware.pace import Pacer
from hardware.source import Counts, Source
from streaming.block import Block, Samples
from streaming.errors import ConfigError
from streaming.quantities import FREQ_HZ, OFFSET_HZ, RATE_HZ, SECONDS, SEED, SNR_DB

BLOCK = 16_384  # samples
LATENCY_S = 0.01  # of a block at real pace


def open(address: Address) -> "ToneSource":
    """Make a tone."""
    options = address.options
    if address.target:
        raise ConfigError(f"{options.where} takes nothing before its options; write tone:?rate=250k")
    rate_hz = options.number("rate", RATE_HZ, 250e3)
    offset_hz, freq_hz = options.number("offset", OFFSET_HZ, rate_hz / 25), options.number("freq", FREQ_HZ)
    snr_db, seed = options.number("snr_db", SNR_DB), options.whole("seed", SEED, 0)
    seconds = options.number("seconds", SECONDS)
    realtime = options.choice("pace", ("realtime", "fast"), "realtime") == "realtime"
    options.done()
    if abs(offset_hz) > rate_hz / 2:
        raise ConfigError(
            f"option offset of {options.where} is {offset_hz:g}; it must be within half the rate"
        )
    end = None if seconds is None else round(seconds * rate_hz)
    return ToneSource(
        rate_hz=rate_hz,
        offset_hz=offset_hz,
        freq_hz=freq_hz,
        snr_db=snr_db,
        seed=seed,
        end=end,
        realtime=realtime,
    )


class ToneSource(Source):
    """Plays a tone; the same seed gives the same samples for any cut into blocks."""

    def __init__(
        self,
        *,
        rate_hz: float,
        offset_hz: float,
        freq_hz: float | None,
        snr_db: float | None,
        seed: int,
        end: int | None,
        realtime: bool,
    ) -> None:
        self.address = "tone:"
        self.rate_hz, self.freq_hz = rate_hz, freq_hz
        self.counts = Counts()
        self._turns = offset_hz / rate_hz  # a sample
        self._noise = None if snr_db is None else 10 ** (-snr_db / 20) / 2**0.5  # of I and of Q
        self._random = np.random.default_rng(seed)
        self._end = end
        self._closed = threading.Event()
        self._pacer = Pacer(rate_hz, self._closed) if realtime else None
        self._block = max(1, min(BLOCK, round(rate_hz * LATENCY_S))) if realtime else BLOCK

    def blocks(self) -> Iterator[Block]:
        """The tone, until its end."""
        start_ns = time.time_ns()
        while not self._closed.is_set():
            index = self.counts.samples
            count = self._block if self._end is None else min(self._block, self._end - index)
            if count <= 0:
                return
            samples = self._samples(index, count)
            if self._pacer:
                self.counts.lag_s = self._pacer.wait(index, index + count)
                if self._closed.is_set():
                    return
            self.counts.samples += count
            utc_ns = start_ns + round(index * 1e9 / self.rate_hz)
            yield Block(samples, index, self.rate_hz, self.freq_hz, utc_ns, "host")

    def close(self) -> None:
        """End the tone."""
        self._closed.set()

    def _samples(self, index: int, count: int) -> Samples:
        turns = np.arange(index, index + count) * self._turns % 1.0
        tone = np.exp(2j * np.pi * turns)
        if self._noise is not None:
            tone += self._noise * self._random.standard_normal(2 * count).view(np.complex128)
        samples: Samples = tone.astype(np.complex64)
        return samples
