"""Sound: speech with its syllables and pauses, music, tones; at an audio rate, within -1 to 1.

Speech is a train of glottal pulses with a gliding pitch behind the formants of its vowels, and noise for its
consonants (Fant's source and filter); the formants are those of Peterson and Barney (1952).
"""

import numpy as np
from scipy import fft

from training.signals.classes import log_uniform
from training.signals.emitters.emitter import Reals

VOWELS = np.array(  # Hz: three formants of i, e, ae, a, o, u, er
    [
        [270, 2290, 3010],
        [530, 1840, 2480],
        [660, 1720, 2410],
        [730, 1090, 2440],
        [570, 840, 2410],
        [300, 870, 2240],
        [490, 1350, 1690],
    ]
)
FORMANT_WIDTH_HZ = np.array([60.0, 90.0, 150.0])


def speech(rng: np.random.Generator, count: int, rate_hz: float) -> Reals:
    """A voice that speaks in phrases with pauses."""
    syllables = phrases(rng, count, rate_hz)
    pitch_hz = log_uniform(rng, 80, 260)
    f = np.linspace(0, rate_hz / 2, count // 2 + 1, dtype=np.float32)
    knots = np.arange(0, count + 1, max(1, int(rate_hz / 8)))
    glide = np.interp(np.arange(count), knots, pitch_hz * (1 + 0.15 * rng.standard_normal(len(knots))))
    pulse_at = np.flatnonzero(np.diff(np.floor(np.cumsum(glide.clip(50, 500)) / rate_hz)))
    spectrum = np.zeros(len(f), np.complex64)
    chosen = rng.integers(0, len(VOWELS), len(syllables))
    track = np.zeros((len(VOWELS), count), np.float32)
    envelope = np.zeros(count, np.float32)
    hiss = np.zeros(count, np.float32)
    for (begin, end, loud), vowel in zip(syllables, chosen, strict=True):
        envelope[begin:end] = (
            loud * np.abs(np.sin(np.linspace(0, np.pi, end - begin, dtype=np.float32))) ** 0.5
        )
        track[vowel, begin:end] = 1
        consonant = min(end, begin + int((end - begin) * rng.uniform(0, 0.5)))
        hiss[begin:consonant] = loud * rng.uniform(0, 0.5)
    voice = np.zeros(count, np.float32)
    voice[pulse_at] = envelope[pulse_at]
    if not voice.any():  # shorter than a period of the voice
        voice[envelope.argmax()] = 1.0
    for vowel in np.unique(chosen):
        spectrum += fft.rfft(voice * track[vowel]) * formants(f, VOWELS[vowel] * 1.0)
    noise = fft.rfft(hiss * rng.standard_normal(count, dtype=np.float32)) * (f / 4000)
    spectrum /= np.sqrt(np.mean(np.abs(spectrum) ** 2)) + 1e-9
    spectrum += 0.25 * noise / (np.sqrt(np.mean(np.abs(noise) ** 2)) + 1e-9) * (hiss.max() > 0)
    return scaled(fft.irfft(spectrum, count), rng.uniform(3, 5))


def phrases(rng: np.random.Generator, count: int, rate_hz: float) -> list[tuple[int, int, float]]:
    """Begin, end and loudness of syllables of 80 to 350 ms, with pauses after some of them."""
    out, at = list[tuple[int, int, float]](), int(-rng.uniform(0, 0.08) * rate_hz)  # amid the first
    while at < count:
        end = at + int(rng.uniform(0.08, 0.35) * rate_hz)
        if end > 4:
            begin = max(0, at)
            if min(end, count) - begin > 2:
                out.append((begin, min(end, count), float(rng.uniform(0.3, 1))))
        at = end + int((rng.uniform(0.2, 0.8) if rng.random() < 0.12 else rng.uniform(0, 0.06)) * rate_hz)
    return out


def formants(
    f: Reals, centre_hz: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> np.ndarray[tuple[int], np.dtype[np.complex64]]:
    """Resonances in series, and the fall of glottal pulses with radiation: 6 dB per octave from 300 Hz on."""
    response = (1 / (1 + 1j * f / 300)).astype(np.complex64)
    for centre, width in zip(centre_hz.tolist(), FORMANT_WIDTH_HZ.tolist(), strict=True):
        response *= (centre**2 / (centre**2 - f**2 + 1j * f * width)).astype(np.complex64)
    return response


def music(rng: np.random.Generator, count: int, rate_hz: float) -> Reals:
    """Chords of harmonic notes that change a few times a second, a beat, and some breath of noise."""
    t = np.arange(count, dtype=np.float32) / np.float32(rate_hz)
    beat_s = rng.uniform(0.15, 0.6)
    out = np.zeros(count, np.float32)
    for begin in np.arange(-rng.uniform(0, beat_s), count / rate_hz, beat_s):
        first, last = max(0, int(begin * rate_hz)), min(count, int((begin + beat_s) * rate_hz))
        if last - first < 2:
            continue
        own = t[first:last] - np.float32(begin)
        envelope = np.exp(-own * np.float32(rng.uniform(0.5, 6)))
        for _ in range(int(rng.integers(1, 4))):
            note = 110 * 2 ** (rng.integers(0, 36) / 12)
            overtones = np.arange(1, max(2, min(9, int(0.4 * rate_hz / note))))
            levels = rng.uniform(0, 1, len(overtones)) / overtones
            angle = np.float32(2 * np.pi * note) * own
            for level, k in zip(levels.tolist(), overtones.tolist(), strict=True):
                out[first:last] += np.float32(level) * np.sin(k * angle) * envelope
    noise = fft.rfft(rng.standard_normal(count, dtype=np.float32))
    noise *= 1 / (
        1
        + np.linspace(0, rate_hz / 2, len(noise), dtype=np.float32) / np.float32(log_uniform(rng, 300, 5000))
    )
    breath = fft.irfft(noise, count)
    level = log_uniform(rng, 0.02, 0.5) * (np.std(out) + 1e-6) / (np.std(breath) + 1e-9)
    return scaled(out + np.float32(level) * breath, rng.uniform(2, 4))


def tones(rng: np.random.Generator, count: int, rate_hz: float, highest_hz: float) -> Reals:
    """One to four steady tones: calibration, selective calling, multiplexed channels."""
    t = np.arange(count) / rate_hz
    out = np.zeros(count)
    for _ in range(int(rng.integers(1, 5))):
        out += rng.uniform(0.3, 1) * np.sin(
            2 * np.pi * (rng.uniform(0.05, 0.95) * highest_hz * t + rng.random())
        )
    return scaled(out.astype(np.float32), 1.5)


def scaled(x: Reals, crest: float) -> Reals:
    """With peaks of `crest` times its own level cut at 1, as the limiter of a transmitter does."""
    level = float(np.sqrt(np.mean(x**2))) + 1e-9
    return np.asarray(np.clip(x / np.float32(level * crest), -1, 1), np.float32)
