"""The quantities of radio and the range of each: the one gate for numbers that come from outside.

An option of an address, a field of a request, an entry of metadata and a tag of a stream are held against
these ranges where they enter; after that they are trusted. The ranges are wide: whatever lies beyond is a
mistake or an attack, and would not fit into the history's 64 bits.

>>> RATE_HZ
Range(least=1, most=10000000000.0, unit='S/s')
>>> in_range(433.92e6, FREQ_HZ), in_range(float("nan"), FREQ_HZ)
(True, False)
"""

from streaming.checked import Range

FREQ_HZ = Range(0, 1e12, "Hz")
OFFSET_HZ = Range(-5e9, 5e9, "Hz")  # from a source's centre
RATE_HZ = Range(1, 1e10, "S/s")
BANDWIDTH_HZ = Range(1, 1e10, "Hz")
GAIN_DB = Range(-200, 200, "dB")
SNR_DB = Range(-100, 200, "dB")
PPM = Range(-1e4, 1e4, "ppm")
SECONDS = Range(1e-6, 1e9, "s")  # how long something lasts
START_S = Range(0, 1e9, "s")
PORT = Range(1, 65_535)
CHANNEL = Range(0, 1023)  # of a radio
SEED = Range(0, 2**53)
BYTES = Range(1, 2**50, "bytes")
INDEX = Range(0, 2**62)  # of a sample, lost ones included
UTC_NS = Range(0, 2**62, "ns")  # 1970 to 2116


def in_range(value: float, limits: Range) -> bool:
    """Whether a number is within its range; NaN is not."""
    return limits.least <= value <= limits.most
