"""Labels in any spelling, as wavetell's classes and families.

A label is compared without case, spaces and punctuation, and a number may stand behind its kind: `16-QAM`,
`qam16` and `16 QAM` are 16QAM. Read in this order:

    a class of the model, exactly as written            that class
    a class of `FAMILIES`, or a name in `ALIASES`       that class
    a family of `FAMILIES`, or a name in `KINDS`        that family, no class: counts for families only
    anything that ends in one of `KINDS`                the same: `32-QAM`, `8ASK`, `DBPSK`, `4GFSK`, `CPFSK`
    anything else                                       a class and family of its own

>>> read_label("pi/4 DQPSK"), read_label("FM"), read_label("32-APSK")
(Truth(label='pi/4-DQPSK', family='PSK'), Truth(label=None, family='FM'), Truth(label='32APSK', family='QAM'))
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from streaming.head import Head
from training.signals.classes import FAMILIES

# class -> other names of it
ALIASES = {
    "BPSK": ("2psk",),
    "QPSK": ("4psk", "4qam"),
    "pi/4-DQPSK": ("pi4qpsk",),
    "2FSK": ("bfsk",),
    "4FSK": ("c4fm",),
    "MFSK": ("8fsk", "16fsk", "32fsk", "64fsk"),
    "GFSK": ("2gfsk",),
    "MSK": ("2msk",),
    "GMSK": ("2gmsk",),
    "OOK": ("morse",),
    "AM-DSB": ("dsb", "amdsbwc"),
    "AM-DSB-SC": ("dsbsc",),
    "SSB": ("usb", "lsb", "amssb", "amssbsc", "amssbwc", "amusb", "amlsb"),
    "NBFM": ("nfm", "fmn"),
    "WBFM": ("wfm", "fmw"),
    "chirp": ("lora", "css", "chirpss", "lfm", "lfmdata", "lfmradar", "fmcw"),
    "carrier": ("cw", "tone"),
}
# family -> how names of its kind end; APSK before PSK
KINDS = {
    "QAM": ("apsk", "qam", "qamcross"),
    "PSK": ("psk",),
    "FSK": ("fsk", "msk"),
    "ASK": ("ask", "pam"),
    "OFDM": ("ofdm",),
}


class Truth(NamedTuple):
    """What is known of a signal; a label that is only a family has no class."""

    label: str | None
    family: str


def squeezed(text: str) -> str:
    """Small letters and digits alone, the number in front.

    >>> squeezed("π/4-DQPSK"), squeezed("QAM-16")
    ('pi4dqpsk', '16qam')
    """
    plain = re.sub(r"[^a-z0-9]", "", text.casefold().replace("π", "pi"))
    kind = re.fullmatch(r"([a-z]+)(\d+)", plain)
    return kind[2] + kind[1] if kind else plain


CLASS_NAMES = {squeezed(name): name for name in FAMILIES} | {
    other: name for name, others in ALIASES.items() for other in others
}
FAMILY_NAMES = {squeezed(family): family for family in FAMILIES.values()}


def read_label(text: str, families: Mapping[str, str] | None = None) -> Truth:
    """The truth that a label means; `families` are those of the model's own classes."""
    if families and text in families:
        return Truth(text, families[text])
    name = squeezed(text)
    if name in CLASS_NAMES:
        label = CLASS_NAMES[name]
        return Truth(label, FAMILIES[label])
    if name in FAMILY_NAMES:
        return Truth(None, FAMILY_NAMES[name])
    for family, endings in KINDS.items():
        if name.endswith(endings):
            return Truth(None, family)
    return Truth(text, text)


def families_of(head: Head) -> dict[str, str]:
    """The family of each class of a model; a class that nobody knows is a family of its own."""
    return {name: head.names.family_of.get(name) or read_label(name).family for name in head.classes}
