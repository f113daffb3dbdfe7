"""OFDM systems: spacing, carriers, prefix, points, pilots and packets of standards."""

from dataclasses import dataclass

from training.signals.emitters.bursts import Bursts

CONTINUOUS = Bursts()
WIFI = Bursts((5e-5, 3e-3), (3e-5, 1e-2))


@dataclass(frozen=True)
class System:
    """A standard's numbers: spacing in Hz, carriers, prefix as a part of the useful symbol, what is empty."""

    title: str
    spacing_hz: float
    carriers: tuple[int, ...]
    prefixes: tuple[float, ...]
    points: tuple[str, ...] = ("QPSK", "16QAM", "64QAM")
    bursts: Bursts = CONTINUOUS
    blocks: int = 0  # carriers of a resource block: whole blocks are empty for some symbols; 0 for none
    hole: bool = True  # nothing at the centre
    pilots: tuple[int, float] = (0, 1.0)  # each so many carriers, at this level
    training: bool = False  # a burst begins with two short and two long training symbols
    cellular: bool = False  # resource blocks, references and synchronisation of 3GPP


SYSTEMS = (
    System("LTE", 15e3, (72, 180, 300, 600, 900, 1200), (0.0703, 0.25), blocks=12, cellular=True),
    System("NB-IoT", 15e3, (12,), (0.0703,), ("QPSK",), hole=False, pilots=(6, 1.0)),
    System("NR", 30e3, (132, 288, 612), (0.0703,), blocks=12, hole=False, cellular=True),
    System("NR, 15 kHz", 15e3, (300, 624, 1272), (0.0703,), blocks=12, hole=False, cellular=True),
    System(
        "NR synchronisation block",
        30e3,
        (240,),
        (0.0703,),
        ("QPSK",),
        Bursts((1.4e-4, 1.5e-4), (1e-4, 1e-2)),
        hole=False,
    ),
    System(
        "Wi-Fi 802.11a/g",
        312.5e3,
        (52,),
        (0.25,),
        ("BPSK", "QPSK", "16QAM", "64QAM"),
        WIFI,
        pilots=(14, 1.0),
        training=True,
    ),
    System(
        "Wi-Fi 802.11n/ac",
        312.5e3,
        (56,),
        (0.25, 0.125),
        ("BPSK", "QPSK", "64QAM", "256QAM"),
        WIFI,
        pilots=(14, 1.0),
        training=True,
    ),
    System(
        "Wi-Fi 802.11p",
        156.25e3,
        (52,),
        (0.25,),
        ("BPSK", "QPSK", "16QAM"),
        Bursts((1e-4, 2e-3), (5e-4, 5e-2)),
        pilots=(14, 1.0),
        training=True,
    ),
    System(
        "Wi-Fi 802.11ah",
        31.25e3,
        (26, 56),
        (0.25, 0.125),
        ("BPSK", "QPSK", "16QAM"),
        Bursts((1e-3, 2e-2), (1e-3, 0.1)),
        pilots=(14, 1.0),
        training=True,
    ),
    System(
        "IEEE 802.15.4g OFDM",
        10.4167e3,
        (14, 26, 52, 104),
        (0.25,),
        ("BPSK", "QPSK", "16QAM"),
        Bursts((1e-3, 2e-2), (1e-3, 0.1)),
        training=True,
    ),
    System("DVB-T 2K", 4464.29, (1704,), (0.25, 0.125, 0.0625, 0.03125), hole=False, pilots=(12, 1.33)),
    System("DVB-T 8K", 1116.07, (6816,), (0.25, 0.125, 0.0625), hole=False, pilots=(12, 1.33)),
    System(
        "DVB-T2, ATSC 3", 558.0, (6800,), (0.0625, 0.03), ("64QAM", "256QAM"), hole=False, pilots=(12, 1.33)
    ),
    System("ISDB-T, one segment", 992.06, (432,), (0.125, 0.25), ("QPSK",), hole=False, pilots=(12, 1.33)),
    System("DAB", 1000.0, (1536,), (0.246,), ("QPSK",), Bursts((94.7e-3, 94.7e-3), (1.3e-3, 1.3e-3))),
    System("DRM", 41.67, (88, 103, 206), (0.111, 0.25), ("16QAM", "64QAM"), pilots=(20, 1.41)),
    System("WiMAX", 10.94e3, (420, 840), (0.125,), bursts=Bursts((2e-3, 3.5e-3), (1.5e-3, 3e-3)), blocks=14),
    System(
        "drone link", 15e3, (600, 1200), (0.0703,), ("QPSK", "16QAM"), Bursts((5e-4, 4e-3), (2e-4, 5e-3)), 12
    ),
)
CELLULAR = tuple(system for system in SYSTEMS if system.cellular)
