"""FSK systems: symbol rates, deviations, shaping and packets of standards and devices."""

from dataclasses import dataclass

from training.signals.emitters.bursts import Bursts, Range

CONTINUOUS = Bursts()
VOICE = Bursts((0.3, 10), (0.05, 2))
PACKET = Bursts((5e-3, 0.1), (5e-3, 1))
SHORT = Bursts((1e-3, 20e-3), (2e-3, 0.3))
MESSAGE = Bursts((0.02, 0.3), (0.01, 0.5))


@dataclass(frozen=True)
class Shaping:
    """The filter before the oscillator: of the field's kinds, with its one setting.

    "gauss" has a BT, "rrc" and "c4fm" a roll-off, "pole" (two poles) and "loop" (a resonant PLL) a corner in
    symbol rates, "none" nothing.
    """

    kind: str = "none"
    value: float = 0.0


HARD = Shaping()


def gauss(bt: float) -> Shaping:
    """A Gaussian filter."""
    return Shaping("gauss", bt)


@dataclass(frozen=True)
class System:
    """A standard or device; either the deviation of the outer tones or the index is stated.

    `codes` are line codes, separated by blanks; the symbol rate is that of their chips.
    """

    title: str
    rates_hz: tuple[float, ...]
    deviation_hz: Range = (0, 0)
    shaping: Shaping = HARD
    bursts: Bursts = CONTINUOUS
    codes: str = "nrz"
    index: Range = (0, 0)
    tones: tuple[int, ...] = (8, 16)  # of MFSK


DIGITAL_VOICE = Shaping("rrc", 0.2)
SYSTEMS: dict[str, tuple[System, ...]] = {
    "2FSK": (
        System("POCSAG", (512, 1200, 2400), (4000, 4500), Shaping("pole", 3), Bursts((0.5, 20), (0.1, 5))),
        System("FLEX", (1600, 3200), (4800, 4800), Shaping("pole", 1.5), Bursts((1.8, 1.9), (0.01, 2))),
        System("RTTY, SITOR, NAVTEX", (45.45, 50, 75, 100), (42.5, 425)),
        System("balloon telemetry", (50, 100, 300, 600), (135, 450)),
        System("tyre pressure sensor", (16e3, 20e3, 38.4e3, 40e3), (17e3, 60e3), HARD, PACKET, "manchester"),
        System("car key", (2e3, 4e3, 8e3, 20e3), (15e3, 60e3), HARD, MESSAGE, "manchester"),
        System("weather sensor (LaCrosse, Bresser)", (8.2e3, 9.579e3, 17.241e3), (20e3, 90e3), HARD, PACKET),
        System("wireless M-Bus S", (32.768e3,), (40e3, 80e3), Shaping("pole", 2), PACKET, "manchester"),
        System("wireless M-Bus T, C", (100e3,), (40e3, 80e3), Shaping("pole", 1.5), SHORT),
        System("KNX-RF", (32.768e3,), (48e3, 60e3), HARD, PACKET, "manchester"),
        System("home automation (HomeMatic, FS20)", (10e3, 20e3), (18e3, 25e3), HARD, PACKET),
        System("Z-Wave R1", (19.2e3,), (20e3, 20e3), HARD, PACKET, "manchester"),
        System("Z-Wave R2", (40e3,), (20e3, 20e3), HARD, PACKET),
        System("EnOcean ERP 2", (125e3,), (62.5e3, 62.5e3), HARD, SHORT),
        System("ISM chip (CC1101, SX1231, Si4432)", (1.2e3, 2.4e3, 4.8e3, 9.6e3), (5e3, 60e3), HARD, PACKET),
        System("ISM chip, fast", (38.4e3, 57.6e3, 100e3, 250e3), (20e3, 150e3), HARD, SHORT),
        System("radiosonde DFM", (5e3,), (2.5e3, 5e3), Shaping("pole", 1.5), codes="manchester"),
        System("radiosonde M10", (19.2e3,), (10e3, 20e3), Shaping("pole", 1.5), codes="manchester"),
        System("satellite telemetry", (1.2e3, 2.4e3, 4.8e3, 9.6e3), (2.4e3, 5e3), Shaping("pole", 1)),
        System("remote control", (1e3, 2e3, 4e3), (10e3, 60e3), HARD, MESSAGE, "width gap position"),
    ),
    "4FSK": (
        System("DMR, base", (4800,), (1944, 1944), DIGITAL_VOICE),
        System("DMR, hand-held", (4800,), (1944, 1944), DIGITAL_VOICE, Bursts((0.0275,) * 2, (0.0325,) * 2)),
        System("dPMR", (2400,), (1050, 1050), DIGITAL_VOICE, VOICE),
        System("NXDN, 6.25 kHz", (2400,), (1050, 1050), DIGITAL_VOICE, VOICE),
        System("NXDN, 12.5 kHz", (4800,), (2400, 2400), DIGITAL_VOICE, VOICE),
        System("P25 phase 1 C4FM", (4800,), (1800, 1800), Shaping("c4fm", 0.2)),
        System("System Fusion", (4800,), (2700, 2700), DIGITAL_VOICE, VOICE),
        System("M17", (4800,), (2400, 2400), Shaping("rrc", 0.5), VOICE),
        System("FLEX", (1600, 3200), (4800, 4800), Shaping("pole", 1.5), Bursts((1.8, 1.9), (0.01, 2))),
        System("ERMES", (3125,), (4687.5, 4687.5), Shaping("pole", 1.2)),
        System("Horus balloon", (50, 100), (300, 405)),
        System("ISM chip, 4(G)FSK", (4.8e3, 25e3, 50e3, 100e3), (0, 0), gauss(0.5), SHORT, index=(0.33, 1)),
    ),
    "MFSK": (
        System("automatic link establishment, 8 tones", (125,), (875, 875), tones=(8,)),
        System("MFSK16, MFSK32", (15.625, 31.25), index=(1, 1), tones=(16,)),
        System("Olivia, Contestia", (31.25, 62.5), index=(1, 1), tones=(8, 16, 32)),
        System("FT8", (6.25,), shaping=gauss(2.0), index=(1, 1), tones=(8,)),
        System("meter reading, 8 and 16 tones", (1200, 4800, 9600), index=(0.5, 1), tones=(8, 16)),
    ),
    "GFSK": (
        System("Bluetooth LE 1M", (1e6,), (225e3, 275e3), gauss(0.5), Bursts((8e-5, 2.1e-3), (1.5e-4, 1e-2))),
        System("Bluetooth LE 2M", (2e6,), (450e3, 550e3), gauss(0.5), Bursts((5e-5, 1.1e-3), (1.5e-4, 1e-2))),
        System("Bluetooth BR", (1e6,), (140e3, 175e3), gauss(0.5), Bursts((1.2e-4, 2.9e-3), (3e-4, 5e-3))),
        System("nRF24, 1 and 2 Mbit/s", (1e6, 2e6), index=(0.32, 0.34), shaping=gauss(0.5), bursts=SHORT),
        System("nRF24, 250 kbit/s", (250e3,), (160e3, 160e3), gauss(0.5), SHORT),
        System("DECT", (1.152e6,), (202e3, 403e3), gauss(0.5), Bursts((3.6e-4, 3.7e-4), (4e-4, 9.6e-3))),
        System("Z-Wave R3", (100e3,), (29e3, 32e3), gauss(0.6), SHORT),
        System(
            "IEEE 802.15.4g", (50e3, 100e3, 150e3, 200e3), index=(0.5, 1), shaping=gauss(0.5), bursts=SHORT
        ),
        System("wireless M-Bus C", (100e3,), (34e3, 56e3), gauss(0.5), SHORT),
        System("wireless M-Bus N", (2.4e3, 4.8e3), (1.7e3, 3.1e3), gauss(0.5), PACKET),
        System("radiosonde RS41", (4800,), (2200, 2600), gauss(0.5)),
        System(
            "satellite (G3RUH, AX.25, CSP)",
            (1.2e3, 2.4e3, 4.8e3, 9.6e3, 19.2e3, 38.4e3),
            shaping=gauss(0.5),
            bursts=Bursts((0.1, 5), (0.05, 5)),
            index=(0.5, 1.0),
        ),
        System("Sigfox downlink", (600,), (800, 800), gauss(1.0)),
        System("ISM chip, slow", (1.2e3, 2.4e3, 9.6e3), (4e3, 30e3), gauss(0.5), PACKET),
        System("ISM chip, fast", (38.4e3, 100e3, 250e3), (0, 0), gauss(1.0), SHORT, index=(0.5, 2)),
    ),
    "GMSK": (
        System(
            "AIS", (9600,), index=(0.5, 0.5), shaping=gauss(0.4), bursts=Bursts((0.024, 0.0267), (5e-4, 0.3))
        ),
        System(
            "GSM, one slot",
            (270.833e3,),
            index=(0.5, 0.5),
            shaping=gauss(0.3),
            bursts=Bursts((5.4e-4, 5.6e-4), (2e-5, 4.1e-3)),
        ),
        System("GSM, beacon", (270.833e3,), index=(0.5, 0.5), shaping=gauss(0.3)),
        System("D-STAR", (4800,), index=(0.5, 0.5), shaping=gauss(0.5), bursts=VOICE),
        System("TETRAPOL", (8000,), index=(0.5, 0.5), shaping=gauss(0.25)),
        System("Mobitex", (8000,), index=(0.5, 0.5), shaping=gauss(0.3)),
        System("CDPD", (19.2e3,), index=(0.5, 0.5), shaping=gauss(0.5)),
        System("CCSDS telemetry", (8e3, 64e3, 1e6), index=(0.5, 0.5), shaping=gauss(0.25)),
        System("satellite telemetry", (1.2e3, 4.8e3, 9.6e3, 100e3), index=(0.5, 0.5), shaping=gauss(0.5)),
    ),
    "MSK": (
        System("DGPS, VLF", (50, 100, 200), index=(0.5, 0.5)),
        System("ISM chip (CC1101, CC2500)", (26e3, 100e3, 250e3, 500e3), index=(0.5, 0.5), bursts=SHORT),
        System("JTIDS", (5e6,), index=(0.5, 0.5), bursts=Bursts((6.4e-6, 6.4e-6), (6.6e-6, 6.6e-6))),
    ),
}
