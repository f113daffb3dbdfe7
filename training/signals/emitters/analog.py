"""Analogue transmitters: broadcast and air-band AM, SSB voice, hand-held and broadcast FM, FM video.

AM-DSB   1 + depth m        AM-DSB-SC   m        SSB   m + j H(m) or its mirror
FM       exp(2 pi j int deviation m)
"""

from dataclasses import dataclass

import numpy as np
from scipy import fft

from streaming.block import Samples
from training.signals.classes import log_uniform
from training.signals.emitters import sound
from training.signals.emitters.analog_services import SERVICES, Service
from training.signals.emitters.bits import differential, random_bits
from training.signals.emitters.bursts import Range
from training.signals.emitters.emitter import USUAL, Reals, Wave
from training.signals.emitters.waves import filtered, gate, occupied, steps
from training.signals.phasor import phasor


@dataclass(frozen=True)
class Analog:
    """One transmitter."""

    name: str
    service: Service
    content: str
    low_hz: float
    high_hz: float
    deviation_hz: float
    depth: float
    tone_hz: float  # CTCSS, 0 for none
    drive: float  # into the speech limiter
    upper: bool
    symbol_rate_hz: float = np.nan
    oversampling: Range = USUAL

    @property
    def width_hz(self) -> float:
        """Of both sidebands, one, or by Carson's rule."""
        if self.name == "SSB":
            return self.high_hz - self.low_hz
        return 2 * (self.deviation_hz + (57e3 if self.content == "stereo" else self.high_hz))

    @property
    def settings(self) -> str:
        """Title, content, highest sound and deviation."""
        deviation = f", +-{self.deviation_hz:.4g} Hz" if self.deviation_hz else f", depth {self.depth:.2f}"
        tone = f", CTCSS {self.tone_hz:g} Hz" if self.tone_hz else ""
        band = f"{self.low_hz:.0f} to {self.high_hz:.0f} Hz"
        return f"{self.service.title}, {self.content}, {band}{deviation}{tone}"

    def make(self, rng: np.random.Generator, rate_hz: float, samples: int) -> Wave:
        """Modulated carrier."""
        bursts = self.service.bursts.draw(rng, rate_hz, samples)
        m = self.message(rng, rate_hz, samples)
        edges = None
        if self.name == "SSB":
            x = one_sided(m, self.upper, (self.low_hz + self.high_hz) / 2 / rate_hz)
        elif self.deviation_hz:
            if self.tone_hz:
                turns = self.tone_hz / rate_hz * np.arange(samples)
                m = np.float32(0.87) * m + np.float32(0.13) * np.sin(2 * np.pi * turns).astype(np.float32)
            x = phasor(np.cumsum(m, dtype=np.float64) * (self.deviation_hz / rate_hz))
        else:
            x = (self.depth * m + float(self.name == "AM-DSB")).astype(np.complex64)
            edges = occupied(m.astype(np.complex64)) if self.name == "AM-DSB" else None
        if bursts != [(0, samples)]:
            x *= gate(bursts, samples, 2e-3 * rate_hz)
        return Wave(x, bursts, edges)

    def message(self, rng: np.random.Generator, rate_hz: float, samples: int) -> Reals:
        """At the receiver's rate; sound is made at an audio rate and then interpolated by its spectrum."""
        if self.content == "video":
            return video(rng, rate_hz, samples)
        if self.content == "stereo":
            return stereo(rng, rate_hz, samples)
        if self.content == "picture":
            t = np.arange(samples) / rate_hz
            pixels = np.arange(0, samples, rate_hz / 4160)
            luma = steps(pixels, 0.2 + 0.8 * rng.random(len(pixels)), samples)
            return (luma * np.sin(2 * np.pi * 2400 * t)).astype(np.float32)
        band_hz = (self.low_hz, self.high_hz)
        return heard(rng, self.content, band_hz, rate_hz, samples, self.drive)


def heard(
    rng: np.random.Generator,
    content: str,
    band_hz: Range,
    rate_hz: float,
    samples: int,
    drive: float,
) -> Reals:
    """Sound behind a limiter and then a band filter, at the receiver's rate."""
    low_hz, high_hz = band_hz
    audio_hz = min(2.5 * high_hz, rate_hz)
    count = max(16, fft.next_fast_len(int(np.ceil(samples * audio_hz / rate_hz)), real=True))
    audio_hz = count * rate_hz / samples
    if content == "tones":
        m = sound.tones(rng, count, audio_hz, high_hz)
    elif content == "noise":
        m = rng.standard_normal(count, dtype=np.float32)
    else:
        m = (sound.speech if content == "speech" else sound.music)(rng, count, audio_hz)
        m = np.tanh(np.float32(drive) * m)
    spectrum = fft.rfft(m)
    f = np.arange(len(spectrum)) * (rate_hz / samples)
    spectrum *= ((f >= low_hz) & (f <= high_hz)).astype(np.float32)
    kept = np.zeros(samples // 2 + 1, np.complex64)
    size = min(len(kept), len(spectrum))
    kept[:size] = spectrum[:size]
    out = fft.irfft(kept, samples)
    return np.asarray(out / (np.abs(out).max() + 1e-9), np.float32)


def stereo(rng: np.random.Generator, rate_hz: float, samples: int) -> Reals:
    """The multiplex of ITU-R BS.450: L + R, the pilot, L - R around 38 kHz, and RDS around 57 kHz."""
    contents = rng.choice(["speech", "music"], 2)
    drive = log_uniform(rng, 0.5, 5)
    middle, side = (heard(rng, str(c), (30, 15e3), rate_hz, samples, drive) for c in contents)
    pilot = 2 * np.pi * 19e3 / rate_hz * np.arange(samples)
    m = 0.5 * middle + 0.09 * np.sin(pilot) + rng.uniform(0, 0.35) * side * np.sin(2 * pilot)
    if rng.random() < 0.8:
        bits = differential(random_bits(rng, int(samples / rate_hz * 1187.5) + 2))
        split = np.stack([2.0 * bits - 1, 1 - 2.0 * bits], 1).ravel()
        wave = steps(np.arange(len(split)) * rate_hz / 2375, split, samples).astype(np.float32)
        scale = np.float32(rate_hz / 2400)  # the cosine of IEC 62106 ends at 2,400 Hz
        m += 0.05 * filtered(wave, lambda f: np.cos(np.pi / 2 * np.minimum(f * scale, 1))) * np.sin(3 * pilot)
    return np.asarray(m, np.float32)


def video(rng: np.random.Generator, rate_hz: float, samples: int) -> Reals:
    """Composite video: line sync, a picture that hardly changes from line to line, a colour subcarrier."""
    line = rate_hz / float(rng.choice([15_625.0, 15_734.0]))
    t = np.arange(samples)
    phase = t % line / line
    count = int(rng.integers(8, 200))
    picture = np.cumsum(rng.standard_normal(count))
    picture = (picture - picture.min()) / (np.ptp(picture) + 1e-9)
    luma = 0.35 + 0.6 * picture[(phase * count).astype(np.int64)]
    colour = rng.uniform(0, 0.2) * np.sin(2 * np.pi * 4.433619e6 / rate_hz * t) * (phase > 0.15)
    m = np.where(phase < 0.075, 0.0, np.where(phase < 0.15, 0.3, luma + colour))
    scale = np.float32(rate_hz / 5e6)
    soft = filtered(m.astype(np.float32), lambda f: 1 / (1 + (f * scale) ** 4))
    return 2 * soft - 1


def one_sided(m: Reals, upper: bool, middle: float) -> Samples:
    """The upper sideband of a message or its mirror, moved down by its middle in cycles per sample."""
    spectrum = fft.fft(m.astype(np.complex64))
    spectrum[len(m) // 2 :] = 0
    out = fft.ifft(np.roll(spectrum, -round(middle * len(m))), overwrite_x=True)
    return np.asarray(out if upper else out.conj(), np.complex64)


def draw_analog(name: str, rng: np.random.Generator) -> Analog:
    """A service of this kind, its sound's band and deviation stretched a little, both ways."""
    services = SERVICES[name]
    service = services[int(rng.integers(len(services)))]
    any_scale = log_uniform(rng, 1, 12) if service.content == "noise" else 1.0
    stretch = log_uniform(rng, 0.8, 1.25) if service.content not in ("stereo", "video", "picture") else 1.0
    fm = name in ("NBFM", "WBFM")
    return Analog(
        name,
        service,
        str(rng.choice(service.content.split())),
        any_scale * service.band_hz[0] * stretch,
        any_scale * service.band_hz[1] * stretch,
        any_scale * log_uniform(rng, *service.deviation_hz) if fm else 0.0,
        depth=log_uniform(rng, 0.5, 8) if service.content == "noise" else rng.uniform(0.5, 1.0),
        tone_hz=float(rng.uniform(67, 254)) if name == "NBFM" and rng.random() < 0.4 else 0.0,
        drive=log_uniform(rng, 0.5, 5),
        upper=bool(rng.integers(2)),
    )
