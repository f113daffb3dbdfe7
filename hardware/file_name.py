"""What the name of a recording says: rate, frequency, type, time.

Known are the names that rtl_433, gqrx, SDR++ and SDR# give::

    g001_433.92M_250k.cu8                               rtl_433; 0M means unknown
    gqrx_20240131_184500_433920000_1800000_fc.raw       gqrx
    baseband_433920000Hz_18-45-00_31-01-2024.wav        SDR++
    SDRSharp_20240131_184500Z_433920000Hz_IQ.wav        SDR#

>>> read_name("g001_433.92M_250k.cu8").rate_hz
250000.0
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from hardware.samples import datatype
from streaming.checked import Range
from streaming.quantities import FREQ_HZ, RATE_HZ, UTC_NS, in_range

SUFFIXES = {
    **dict.fromkeys((".cfile", ".cf32", ".fc32", ".complex"), "cf32_le"),
    **dict.fromkeys((".cs16", ".sc16", ".c16", ".ci16"), "ci16_le"),
    **dict.fromkeys((".cs8", ".ci8", ".sc8"), "ci8"),
    **dict.fromkeys((".cu8", ".uc8", ".data"), "cu8"),
}
GQRX = re.compile(r"gqrx_(\d{8}_\d{6})_(\d+)_(\d+)_fc")
SDRSHARP = re.compile(r"SDRSharp_(\d{8}_\d{6})Z?_(\d+)(k?)(?:Hz)?_IQ")
# rtl_433's rule: a number between separators, a frequency by its M or Hz, a rate by its k or sps.
FREQ = re.compile(r"(?:^|[_\-. ])(\d+(?:\.\d+)?)(M|Hz|kHz|MHz|GHz)(?=[_\-. ]|$)")
RATE = re.compile(r"(?:^|[_\-. ])(\d+(?:\.\d+)?)(k|sps|ksps|Msps|Gsps)(?=[_\-. ]|$)")
FACTORS = {"k": 1e3, "M": 1e6, "G": 1e9}


@dataclass(frozen=True)
class NameFacts:
    """What a name says; None where it does not."""

    rate_hz: float | None = None
    freq_hz: float | None = None
    datatype: str | None = None
    utc_ns: int | None = None


def read_name(name: str) -> NameFacts:
    """The facts in the name of a file."""
    if match := GQRX.search(name):
        return NameFacts(
            within(float(match[3]), RATE_HZ), within(float(match[2]), FREQ_HZ), "cf32_le", utc(match[1])
        )
    suffix = "." + name.rpartition(".")[2].lower()
    kind = SUFFIXES.get(suffix)
    if match := SDRSHARP.search(name):
        return NameFacts(None, within(number(match[2], match[3]), FREQ_HZ), kind, utc(match[1]))
    rate, freq = RATE.search(name), FREQ.search(name)
    return NameFacts(
        within(number(*rate.groups()), RATE_HZ) if rate else None,
        within(number(*freq.groups()), FREQ_HZ) if freq else None,
        kind,
    )


def type_prefix(target: str) -> tuple[str | None, str]:
    """rtl_433's `cs16:path` as type and path.

    >>> type_prefix("cs16:capture.bin")
    ('ci16_le', 'capture.bin')
    """
    prefix, colon, path = target.partition(":")
    if colon and re.fullmatch(r"[cfsu]{1,2}\d{1,2}(_le)?", prefix.lower()):
        return datatype(prefix.lower(), f"type of {target}"), path
    return None, target


def number(digits: str, unit: str) -> float:
    """433.92 and M as 433920000."""
    return round(float(digits) * FACTORS.get(unit[:1], 1.0), 6)


def within(value: float, limits: Range) -> float | None:
    """The number where it is possible and not 0, which means unknown."""
    return value if value and in_range(value, limits) else None


def utc(stamp: str) -> int | None:
    """20240131_184500 as nanoseconds since 1970; gqrx and SDR# write UTC. None where it is no such time."""
    try:
        moment = datetime.strptime(stamp, "%Y%m%d_%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None
    utc_ns = int(moment.timestamp()) * 10**9
    return utc_ns if in_range(utc_ns, UTC_NS) else None
