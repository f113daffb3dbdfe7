"""Types of signals that are of none of the model's families: the set for the final evaluation.

Written under the same rules as `benchmarks.accuracy.unheard.practice`, and in the same form.
"""

from collections.abc import Callable

from numpy.random import Generator

from benchmarks.accuracy.unheard.exam.antennas import (
    burst_pwm,
    ifdma,
    index_modulation,
    outphasing,
    phase_overlay,
    soliton,
    spatial,
    time_modulated,
)
from benchmarks.accuracy.unheard.exam.links import bmocz, fractal, hell, otfs, psk_lfm, spiral, tdcs
from benchmarks.accuracy.unheard.exam.machines import (
    display,
    intermodulation,
    magnetron,
    mri,
    rotor,
    superregenerative,
)
from benchmarks.accuracy.unheard.exam.waves import Signal

NEWCOMERS: dict[str, Callable[[Generator, int], Signal]] = {
    "magnetron pulse radar": magnetron,
    "super-regenerative receiver": superregenerative,
    "Shannon-Kotelnikov spiral": spiral,
    "OTFS": otfs,
    "TDCS": tdcs,
    "fractal modulation": fractal,
    "concurrent MT-Hell": hell,
    "display leakage": display,
    "intermodulation (PIM)": intermodulation,
    "PSK-LFM": psk_lfm,
    "MRI pulses": mri,
    "rotor micro-Doppler": rotor,
    "BMOCZ": bmocz,
    "spatial modulation": spatial,
    "index modulation (SC-IM)": index_modulation,
    "IFDMA": ifdma,
    "soliton NFDM": soliton,
    "LINC branch": outphasing,
    "time-modulated array": time_modulated,
    "burst-mode PWM": burst_pwm,
    "ADS-B phase overlay": phase_overlay,
}
