"""Types of signals that are of none of the model's families: the set for choosing settings.

Written by an author who knew the families, but neither the model's outliers nor its features. Each maker
takes (rng, count) and gives `count` clean samples, one emission, with settings drawn for it. Rates and widths
are in cycles per sample, periods in samples.
"""

from collections.abc import Callable

from numpy.random import Generator

from benchmarks.accuracy.unheard.practice.analogue import (
    am_fm,
    cquam,
    fdm_ssb,
    isb,
    throb,
    vft,
    vsb_data,
    vsb_tv,
)
from benchmarks.accuracy.unheard.practice.links import fbmc, fqam, q2psk, qpr, teds
from benchmarks.accuracy.unheard.practice.machines import (
    comb,
    dcsk,
    gap_noise,
    ikeda,
    inverter,
    noise_keying,
    smps,
)
from benchmarks.accuracy.unheard.practice.radar import barker, costas, loran, mcpc, polytime
from benchmarks.accuracy.unheard.practice.spread import (
    altboc,
    cboc,
    cdma,
    fhss,
    hermite,
    link16,
    pcm_psk_pm,
    pcma,
    th_uwb,
)
from benchmarks.accuracy.unheard.practice.waves import Signal

NEWCOMERS: dict[str, Callable[[Generator, int], Signal]] = {
    "Barker radar": barker,
    "Costas radar": costas,
    "Polytime T2 radar": polytime,
    "MCPC radar": mcpc,
    "Loran-C": loran,
    "8-VSB": vsb_data,
    "Analogue TV": vsb_tv,
    "ISB": isb,
    "C-QUAM": cquam,
    "AM-FM stereo": am_fm,
    "FDM-SSB group": fdm_ssb,
    "VFT": vft,
    "Throb": throb,
    "FHSS": fhss,
    "Link 16": link16,
    "TH-UWB": th_uwb,
    "Hermite PSM": hermite,
    "FBMC-OQAM": fbmc,
    "TEDS": teds,
    "QPR": qpr,
    "Q2PSK": q2psk,
    "FQAM": fqam,
    "CDMA downlink": cdma,
    "CBOC": cboc,
    "AltBOC": altboc,
    "PCM/PSK/PM": pcm_psk_pm,
    "PCMA": pcma,
    "DCSK": dcsk,
    "Ikeda chaos": ikeda,
    "Comb jammer": comb,
    "SMPS": smps,
    "Gap noise": gap_noise,
    "PWM inverter": inverter,
    "Noise keying": noise_keying,
}
