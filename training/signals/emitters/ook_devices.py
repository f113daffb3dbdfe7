"""Devices with on-off keying: their shortest pulse, line code, frame, repeats and pauses."""

from dataclasses import dataclass

from training.signals.emitters.bursts import Range
from training.signals.emitters.keying import ENDLESS


@dataclass(frozen=True)
class Device:
    """What a kind of device sends; `chip_s` is its shortest pulse, other lengths are in chips."""

    title: str
    chip_s: Range
    codes: str
    bits: Range
    repeats: tuple[int, int] = (1, 1)
    gap: Range = (5, 50)
    pause: Range = (50, 5000)
    heads: tuple[str, ...] = ()  # chips before a frame; none: any
    rise: Range = (0.005, 0.2)


CLOCK = "10" * 12
MODE_S = ("1010000101000000",)  # pulses at 0, 1, 3.5 and 4.5 us, data from 8 us on
PULSE = (0.05, 0.3)
DEVICES = (
    Device("remote control (PT2262, EV1527)", (100e-6, 600e-6), "width", (12, 32), (4, 20), (20, 40)),
    Device(
        "rolling code (KeeLoq HCS301)",
        (200e-6, 400e-6),
        "width",
        (66, 69),
        (1, 4),
        (30, 80),
        heads=(CLOCK + "0" * 10,),
    ),
    Device("weather sensor", (250e-6, 1100e-6), "position gap width", (32, 48), (3, 12), (6, 20)),
    Device("weather sensor (Oregon)", (450e-6, 500e-6), "manchester", (64, 200), (1, 2), (10, 40)),
    Device("tyre pressure sensor", (40e-6, 130e-6), "manchester differential", (60, 110), (1, 6), (50, 500)),
    Device("car key", (100e-6, 600e-6), "manchester width", (40, 128), (2, 8), (10, 60), heads=(CLOCK,)),
    Device(
        "blinds (Somfy RTS)",
        (590e-6, 660e-6),
        "manchester",
        (56, 80),
        (2, 7),
        (30, 60),
        heads=("1111000011110000" + "1" * 7 + "0",),
    ),
    Device("switched socket (KlikAanKlikUit, X10)", (200e-6, 600e-6), "position", (32, 64), (2, 8), (10, 80)),
    Device("garage opener (fixed code)", (300e-6, 2000e-6), "width nrz", (8, 25), (3, 20), (10, 40)),
    Device("meter (ERT)", (29e-6, 32e-6), "manchester", (96, 736), (1, 1), (5, 50), (500, 50_000)),
    Device("alarm contact", (50e-6, 150e-6), "manchester width", (40, 80), (3, 10), (20, 200)),
    Device("EnOcean ERP 1", (8e-6, 8e-6), "nrz", (70, 170), (2, 3), (500, 4000), (1000, 50_000)),
    Device("ISM chip (CC1101, SX1231, RFM)", (4e-6, 800e-6), "nrz manchester", (80, 600), (1, 3)),
    Device(
        "Mode S, short", (0.5e-6, 0.5e-6), "manchester", (56, 56), pause=(100, 8000), heads=MODE_S, rise=PULSE
    ),
    Device("ADS-B", (0.5e-6, 0.5e-6), "manchester", (112, 112), pause=(100, 8000), heads=MODE_S, rise=PULSE),
    Device("Mode A/C", (0.45e-6, 0.45e-6), "rz gap", (12, 14), pause=(60, 6000), heads=("1",), rise=PULSE),
    Device(
        "Morse, 5 to 50 words per minute", (24e-3, 240e-3), "morse", ENDLESS, heads=("",), rise=(0.01, 0.3)
    ),
)
ANY = Device(
    "any transmitter",
    (1e-6, 30e-3),
    "nrz nrz manchester differential rz width gap position",
    (12, 600),
    (1, 8),
    rise=(0.005, 1.0),
)
