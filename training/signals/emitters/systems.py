"""FSK systems: symbol rates, deviations, shaping and packets of standards and devices."""

from dataclasses import dataclass

from training.signals.emitters.bursts import Bursts

CONTINUOUS = Bursts()
HARD = ("none", 0.0)


@dataclass(frozen=True)
class System:
    """A standard: symbol rates, outer deviation, shaping filter; `code` is a line code of bits."""

    title: str
    rates_hz: tuple[float, ...]
    deviation_hz: tuple[float, float]
    shaping: tuple[str, float] = HARD  # "gauss" BT, "rrc" roll-off, "c4fm", "pole" cut-off in symbol rates
    bursts: Bursts = CONTINUOUS
    code: str = "nrz"


DIGITAL_VOICE = Bursts((0.3, 10), (0.05, 2))
PACKET = Bursts((5e-3, 0.1), (5e-3, 1))
SYSTEMS: dict[str, tuple[System, ...]] = {
    "2FSK": (
        System("POCSAG", (512.0, 1200.0, 2400.0), (4000, 4500), ("pole", 3.0), Bursts((0.5, 20), (0.1, 5))),
        System("FLEX", (1600.0, 3200.0), (4800, 4800), ("pole", 1.5), Bursts((1.8, 1.9), (0.01, 2))),
        System("RTTY, SITOR, NAVTEX", (45.45, 50.0, 75.0, 100.0), (42.5, 425)),
        System("balloon telemetry", (50.0, 100.0, 300.0, 600.0), (135, 450)),
        System("tyre pressure sensor", (16e3, 20e3, 38.4e3, 40e3), (17e3, 60e3), HARD, PACKET, "manchester"),
        System(
            "car key",
            (2e3, 4e3, 8e3, 20e3),
            (15e3, 60e3),
            HARD,
            Bursts((0.02, 0.3), (0.02, 0.5)),
            "manchester",
        ),
        System("weather sensor (LaCrosse, Bresser)", (8.2e3, 9.579e3, 17.241e3), (20e3, 90e3), HARD, PACKET),
        System("wireless M-Bus S", (32.768e3,), (40e3, 80e3), ("pole", 2.0), PACKET, "manchester"),
        System(
            "wireless M-Bus T, C", (100e3,), (40e3, 80e3), ("pole", 1.5), Bursts((2e-3, 25e-3), (5e-3, 1))
        ),
        System("KNX-RF", (32.768e3,), (48e3, 60e3), HARD, PACKET, "manchester"),
        System("home automation (HomeMatic, FS20)", (10e3, 20e3), (18e3, 25e3), HARD, PACKET),
        System("Z-Wave R1, R2", (19.2e3, 40e3), (20e3, 25e3), HARD, PACKET, "manchester nrz"),
        System("EnOcean ERP 2", (125e3,), (62.5e3, 62.5e3), HARD, Bursts((1e-3, 3e-3), (5e-3, 0.5))),
        System(
            "ISM chip (CC1101, SX1231, Si4432)",
            (1.2e3, 2.4e3, 4.8e3, 9.6e3, 38.4e3, 100e3),
            (5e3, 150e3),
            HARD,
            PACKET,
        ),
        System(
            "radiosonde M10, DFM", (5e3, 9.6e3, 19.2e3), (3e3, 30e3), ("pole", 1.5), CONTINUOUS, "manchester"
        ),
        System("satellite telemetry", (1.2e3, 2.4e3, 4.8e3, 9.6e3), (2.4e3, 5e3), ("pole", 1.0)),
        System(
            "remote control, FSK",
            (1e3, 2e3, 4e3),
            (10e3, 60e3),
            HARD,
            Bursts((0.02, 0.2), (0.01, 0.5)),
            "width gap position",
        ),
    ),
    "4FSK": (
        System("DMR, base", (4800.0,), (1944, 1944), ("rrc", 0.2)),
        System(
            "DMR, hand-held",
            (4800.0,),
            (1944, 1944),
            ("rrc", 0.2),
            Bursts((27.5e-3, 27.5e-3), (32.5e-3, 32.5e-3)),
        ),
        System("dPMR", (2400.0,), (1050, 1050), ("rrc", 0.2), DIGITAL_VOICE),
        System("NXDN, 6.25 kHz", (2400.0,), (1050, 1050), ("rrc", 0.2), DIGITAL_VOICE),
        System("NXDN, 12.5 kHz", (4800.0,), (2400, 2400), ("rrc", 0.2), DIGITAL_VOICE),
        System("P25 phase 1 C4FM", (4800.0,), (1800, 1800), ("c4fm", 0.2)),
        System("System Fusion", (4800.0,), (2700, 2700), ("rrc", 0.2), DIGITAL_VOICE),
        System("M17", (4800.0,), (2400, 2400), ("rrc", 0.5), DIGITAL_VOICE),
        System("FLEX", (1600.0, 3200.0), (4800, 4800), ("pole", 1.5), Bursts((1.8, 1.9), (0.01, 2))),
        System("ERMES", (3125.0,), (4687.5, 4687.5), ("pole", 1.2)),
        System("Horus balloon", (50.0, 100.0), (300, 405)),
        System("ISM chip, 4(G)FSK", (4.8e3, 25e3, 50e3, 100e3), (5e3, 100e3), ("gauss", 0.5), PACKET),
    ),
    "GFSK": (
        System(
            "Bluetooth LE 1M", (1e6,), (225e3, 275e3), ("gauss", 0.5), Bursts((8e-5, 2.1e-3), (1.5e-4, 1e-2))
        ),
        System(
            "Bluetooth LE 2M", (2e6,), (450e3, 550e3), ("gauss", 0.5), Bursts((5e-5, 1.1e-3), (1.5e-4, 1e-2))
        ),
        System(
            "Bluetooth BR", (1e6,), (140e3, 175e3), ("gauss", 0.5), Bursts((1.2e-4, 2.9e-3), (3e-4, 5e-3))
        ),
        System(
            "nRF24, 2.4 GHz remotes",
            (250e3, 1e6, 2e6),
            (160e3, 320e3),
            ("gauss", 0.5),
            Bursts((1e-4, 1e-3), (2e-4, 2e-2)),
        ),
        System("DECT", (1.152e6,), (259e3, 403e3), ("gauss", 0.5), Bursts((3.6e-4, 3.7e-4), (4e-4, 9.6e-3))),
        System("Z-Wave R3", (100e3,), (29e3, 32e3), ("gauss", 0.6), Bursts((2e-3, 15e-3), (2e-3, 0.3))),
        System(
            "IEEE 802.15.4g MR-FSK",
            (50e3, 100e3, 150e3, 200e3),
            (25e3, 50e3),
            ("gauss", 0.5),
            Bursts((2e-3, 50e-3), (2e-3, 0.3)),
        ),
        System("wireless M-Bus C, N", (2.4e3, 4.8e3, 100e3), (2.4e3, 45e3), ("gauss", 0.5), PACKET),
        System("radiosonde RS41", (4800.0,), (2200, 2600), ("gauss", 0.5)),
        System(
            "satellite (G3RUH, AX.25)",
            (1.2e3, 2.4e3, 4.8e3, 9.6e3, 19.2e3),
            (600, 9000),
            ("gauss", 0.5),
            Bursts((0.1, 5), (0.05, 5)),
        ),
        System("Sigfox downlink", (600.0,), (800, 800), ("gauss", 1.0)),
        System(
            "ISM chip (CC1101, SX1231, Si446x)",
            (1.2e3, 9.6e3, 38.4e3, 100e3, 250e3),
            (5e3, 127e3),
            ("gauss", 1.0),
            PACKET,
        ),
    ),
    "GMSK": (
        System("AIS", (9600.0,), (2400, 2400), ("gauss", 0.4), Bursts((24e-3, 26.7e-3), (0.5e-3, 0.3))),
        System(
            "GSM, one slot",
            (270.833e3,),
            (67.708e3, 67.708e3),
            ("gauss", 0.3),
            Bursts((5.4e-4, 5.6e-4), (2e-5, 4.1e-3)),
        ),
        System("GSM, beacon", (270.833e3,), (67.708e3, 67.708e3), ("gauss", 0.3)),
        System("D-STAR", (4800.0,), (1200, 1200), ("gauss", 0.5), DIGITAL_VOICE),
        System("TETRAPOL", (8000.0,), (2000, 2000), ("gauss", 0.25)),
        System("Mobitex, CDPD", (8000.0, 19.2e3), (2000, 4800), ("gauss", 0.3)),
        System("satellite telemetry", (1.2e3, 2.4e3, 4.8e3, 9.6e3, 19.2e3, 100e3), (1, 1), ("gauss", 0.5)),
    ),
    "MSK": (
        System("DGPS, VLF", (50.0, 100.0, 200.0), (1, 1)),
        System("ISM chip (CC1101, CC2500)", (26e3, 50e3, 100e3, 250e3, 500e3), (1, 1), HARD, PACKET),
        System("JTIDS", (5e6,), (1, 1), HARD, Bursts((6.4e-6, 6.4e-6), (6.6e-6, 6.6e-6))),
    ),
}
