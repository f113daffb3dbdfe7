"""Services with analogue modulation: the band of their sound, deviation, and when they are on."""

from dataclasses import dataclass

from training.signals.emitters.bursts import Bursts

CONTINUOUS = Bursts()
PUSH_TO_TALK = Bursts((0.3, 10), (0.1, 5))


@dataclass(frozen=True)
class Service:
    """A use of the spectrum: band of its sound, deviation, and when it is on."""

    title: str
    band_hz: tuple[float, float]
    deviation_hz: tuple[float, float] = (0, 0)
    bursts: Bursts = CONTINUOUS
    content: str = (
        "speech music tones"  # or noise: what scrambled speech, crowds and many channels sound like
    )


SERVICES: dict[str, tuple[Service, ...]] = {
    "AM-DSB": (
        Service("medium and short wave broadcast", (50, 4500), content="speech music"),
        Service("broadcast, wide", (50, 9000), content="speech music"),
        Service("air band, 25 kHz", (300, 3400), (0, 0), PUSH_TO_TALK, "speech"),
        Service("air band, 8.33 kHz", (300, 2500), (0, 0), PUSH_TO_TALK, "speech"),
        Service("citizens' band", (300, 3000), (0, 0), PUSH_TO_TALK, "speech"),
        Service("tones (VOR, ILS, NDB)", (30, 3000), content="tones"),
        Service("scrambled or many channels", (20, 4000), content="noise"),
    ),
    "AM-DSB-SC": (
        Service("suppressed carrier voice", (200, 3400), (0, 0), PUSH_TO_TALK, "speech"),
        Service("suppressed carrier sound", (50, 8000), content="speech music"),
        Service("suppressed carrier tones", (50, 15_000), content="tones"),
        Service("scrambled or many channels", (20, 4000), content="noise"),
    ),
    "SSB": (
        Service("amateur voice", (200, 2800), (0, 0), PUSH_TO_TALK, "speech"),
        Service("maritime and aeronautical voice", (350, 2700), (0, 0), PUSH_TO_TALK, "speech"),
        Service("wide voice", (80, 4000), (0, 0), PUSH_TO_TALK, "speech music"),
    ),
    "NBFM": (
        Service("hand-held, 12.5 kHz", (300, 3000), (1500, 2500), PUSH_TO_TALK, "speech"),
        Service("hand-held, 25 kHz", (300, 3400), (3000, 5000), PUSH_TO_TALK, "speech"),
        Service("amateur repeater", (300, 3400), (2500, 5000), PUSH_TO_TALK, "speech tones"),
        Service("marine VHF, taxi", (300, 3000), (3000, 5000), PUSH_TO_TALK, "speech"),
        Service("baby phone, headset", (50, 8000), (3000, 10_000), CONTINUOUS, "speech music"),
        Service("scrambled or many channels", (100, 4000), (3000, 8000), CONTINUOUS, "noise"),
    ),
    "WBFM": (
        Service("broadcast, stereo", (30, 15_000), (50e3, 75e3), CONTINUOUS, "stereo"),
        Service("broadcast, mono", (30, 15_000), (50e3, 75e3), CONTINUOUS, "speech music"),
        Service("wireless microphone", (50, 15_000), (20e3, 50e3), CONTINUOUS, "speech music"),
        Service("television sound", (30, 15_000), (25e3, 50e3), CONTINUOUS, "speech music"),
        Service("weather satellite (APT)", (1, 4200), (15e3, 17e3), CONTINUOUS, "picture"),
        Service("video link", (1, 4.5e6), (2e6, 5e6), CONTINUOUS, "video"),
        Service("scrambled or many channels", (100, 4000), (10e3, 50e3), CONTINUOUS, "noise"),
    ),
}
