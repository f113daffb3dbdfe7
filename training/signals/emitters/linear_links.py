"""Links of PSK, QAM and APSK: symbol rates, pulses and packets of standards and satellites."""

from dataclasses import dataclass

from training.signals.emitters.bursts import Bursts
from training.signals.emitters.shapes import Pulse

CONTINUOUS = Bursts()


@dataclass(frozen=True)
class Link:
    """A standard: symbol rates in Bd, its pulse, when it is on, and what its symbols carry."""

    title: str
    rates_hz: tuple[float, ...]
    pulse: Pulse
    bursts: Bursts = CONTINUOUS
    code: tuple[int, int] = (0, 0)  # of DSSS with BPSK: sequences, and chips (symbols here) of each
    chips: str = ""  # the first sequence of IEEE 802.15.4; the others are made of it
    split: bool = False  # split-phase (Manchester): two symbols per bit


def rrc(rolloff: float) -> Pulse:
    """Root raised cosine."""
    return Pulse("rrc", rolloff)


LINKS: dict[str, tuple[Link, ...]] = {
    "BPSK": (
        Link("PSK31, PSK63, PSK125", (31.25, 62.5, 125.0), Pulse("cosine")),
        Link("amateur satellites", (1200.0, 2400.0, 4800.0, 9600.0), rrc(0.5)),
        Link("amateur satellites, unfiltered", (400.0, 1200.0, 9600.0, 19200.0), Pulse("rectangle", 0.05)),
        Link("CCSDS telemetry", (1e3, 4e3, 16e3, 64e3, 256e3, 1e6), rrc(0.5)),
        Link("CCSDS telemetry, split-phase", (2e3, 16e3, 64e3, 256e3), Pulse("rectangle", 0.05), split=True),
        Link("NOAA HRPT", (1_330_800.0,), Pulse("rectangle", 0.05), split=True),
        Link(
            "Argos, COSPAS-SARSAT",
            (800.0,),
            Pulse("rectangle", 0.1),
            Bursts((0.36, 0.92), (1, 50)),
            split=True,
        ),
        Link("Sigfox uplink", (100.0, 600.0), Pulse("gauss", 1.0), Bursts((1.0, 2.1), (0.05, 1))),
        Link(
            "IEEE 802.15.4 868 MHz",
            (300e3, 600e3),
            Pulse("rc", 1.0),
            Bursts((1e-3, 30e-3), (1e-3, 0.1)),
            (1, 15),
        ),
        Link("Inmarsat-C, Aero", (600.0, 1200.0), rrc(0.6)),
        Link("GOES LRIT and HRIT", (293_883.0, 927_000.0), rrc(0.3)),
        Link("GPS L1 C/A", (1.023e6,), Pulse("rectangle"), code=(1, 1023)),
        Link("IEEE 802.11b, 1 Mbit/s", (11e6,), rrc(0.5), Bursts((2e-4, 4e-3), (1e-4, 5e-2)), (1, 11)),
    ),
    "QPSK": (
        Link("Meteor LRPT", (72e3, 80e3), rrc(0.6)),
        Link("Metop AHRPT", (2.3333e6,), rrc(0.5)),
        Link("DVB-S and DVB-S2", (250e3, 1e6, 2e6, 4e6, 6.111e6, 10e6), rrc(0.35)),
        Link("DVB-S2X, narrow", (66e3, 125e3, 333e3, 1.5e6), rrc(0.2)),
        Link("Iridium", (25e3,), rrc(0.4), Bursts((6e-3, 20e-3), (5e-3, 0.1))),
        Link("WCDMA", (3.84e6,), rrc(0.22)),
        Link("CubeSat S-band", (50e3, 500e3, 1e6, 3e6), rrc(0.35)),
        Link("satellite radio", (1.64e6, 1.84e6), rrc(0.2)),
        Link("CCSDS telemetry, unfiltered", (2e3, 32e3, 512e3), Pulse("rectangle", 0.05)),
    ),
    "OQPSK": (
        Link(
            "IEEE 802.15.4 2.4 GHz",
            (1e6,),
            Pulse("half"),
            Bursts((3e-4, 4.3e-3), (2e-4, 5e-2)),
            chips="11011001110000110101001000101110",
        ),
        Link(
            "IEEE 802.15.4 868/915 MHz",
            (2e5, 5e5),
            Pulse("half"),
            Bursts((1e-3, 20e-3), (1e-3, 0.1)),
            chips="0011111000100101",
        ),
        Link("Inmarsat Aero", (4200.0, 5250.0), rrc(1.0)),
        Link("CDMA reverse link", (1.2288e6,), rrc(0.2)),
        Link("CCSDS OQPSK", (50e3, 500e3, 2e6), rrc(0.5)),
    ),
    "pi/4-DQPSK": (
        Link("TETRA, continuous", (18e3,), rrc(0.35)),
        Link("TETRA, one slot", (18e3,), rrc(0.35), Bursts((13.5e-3, 14.2e-3), (42.5e-3, 42.6e-3))),
        Link("P25 CQPSK (LSM)", (4800.0,), Pulse("rc", 0.2)),
        Link("P25 phase 2", (6000.0,), rrc(1.0), Bursts((27e-3, 30e-3), (30e-3, 31e-3))),
        Link("IS-136", (24.3e3,), rrc(0.35)),
        Link("PDC", (21e3,), rrc(0.5)),
        Link("PHS", (192e3,), rrc(0.5), Bursts((5.8e-4, 6.3e-4), (4.3e-3, 4.5e-3))),
        Link("Bluetooth EDR", (1e6,), rrc(0.4), Bursts((3e-4, 2.8e-3), (3e-4, 1e-2))),
        Link("VDES", (19.2e3, 38.4e3, 76.8e3), rrc(0.3), Bursts((26e-3, 80e-3), (26e-3, 0.3))),
    ),
    "8PSK": (
        Link("DVB-S2", (1e6, 4e6, 10e6), rrc(0.25)),
        Link("VDL mode 2", (10.5e3,), Pulse("rc", 0.6), Bursts((20e-3, 0.2), (0.05, 1))),
        Link("MIL-STD-188-110", (2400.0,), rrc(0.35)),
        Link("EDGE", (270.833e3,), Pulse("gauss", 0.3), Bursts((5.4e-4, 5.6e-4), (2e-5, 4e-3))),
        Link("Bluetooth EDR 3", (1e6,), rrc(0.4), Bursts((3e-4, 2.8e-3), (3e-4, 1e-2))),
        Link("GOES DCS", (150.0, 600.0), rrc(1.0), Bursts((1.0, 10.0), (1.0, 10.0))),
    ),
    "16QAM": (
        Link("microwave links", (3.5e6, 7e6, 12e6), rrc(0.25)),
        Link("TETRA TEDS", (2400.0, 19.2e3), rrc(0.2)),
        Link("HF data (STANAG 4539)", (2400.0,), rrc(0.35)),
    ),
    "64QAM": (
        Link("DVB-C, J.83B", (5.057e6, 6.875e6, 6.9e6), rrc(0.15)),
        Link("microwave", (7e6, 12e6), rrc(0.2)),
    ),
    "256QAM": (
        Link("DVB-C, J.83B", (5.361e6, 6.9e6), rrc(0.13)),
        Link("microwave", (3.5e6, 12e6), rrc(0.15)),
    ),
    "16APSK": (Link("DVB-S2, DVB-S2X", (1e6, 4e6, 10e6), rrc(0.2)), Link("DVB-S2X", (2e6, 8e6), rrc(0.1))),
    "32APSK": (Link("DVB-S2, DVB-S2X", (1e6, 4e6, 10e6), rrc(0.2)), Link("DVB-S2X", (2e6, 8e6), rrc(0.05))),
    "4PAM": (),
    "4ASK": (),
}
