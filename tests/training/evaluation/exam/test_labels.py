"""Labels as other people spell them."""

import pytest

from training.datasets.radioml2018 import CLASSES as RADIOML
from training.evaluation.exam.labels import ALIASES, KINDS, read_label
from training.signals.classes import FAMILIES


def test_every_class_is_read_as_itself():
    for name, family in FAMILIES.items():
        assert read_label(name) == read_label(name.lower()) == (name, family)


@pytest.mark.parametrize(
    ("text", "label", "family"),
    [
        ("16-QAM", "16QAM", "QAM"),
        ("QAM16", "16QAM", "QAM"),
        ("pi/4 DQPSK", "pi/4-DQPSK", "PSK"),
        ("π/4-dqpsk", "pi/4-DQPSK", "PSK"),
        ("bfsk", "2FSK", "FSK"),
        ("FSK-4", "4FSK", "FSK"),
        ("am_dsb_sc", "AM-DSB-SC", "AM"),
        ("AM-SSB", "SSB", "AM"),
        ("LoRa", "chirp", "chirp"),
        ("ofdm-64", None, "OFDM"),
        ("32QAM", None, "QAM"),
        ("32qam_cross", None, "QAM"),
        ("64-APSK", None, "QAM"),
        ("16psk", None, "PSK"),
        ("8ASK", None, "ASK"),
        ("CPFSK", None, "FSK"),
        ("4gmsk", None, "FSK"),
        ("FM", None, "FM"),
        ("am", None, "AM"),
        ("ASK", None, "ASK"),
        ("psk", None, "PSK"),
        ("Noise", "noise", "noise"),
        ("doorbell", "doorbell", "doorbell"),
    ],
)
def test_a_spelling_means(text, label, family):
    assert read_label(text) == (label, family)


def test_radioml_names_all_have_a_family():
    assert {read_label(name).family for name in RADIOML} <= set(FAMILIES.values())


def test_the_models_own_class_comes_first():
    assert read_label("my FSK", {"my FSK": "meters"}) == ("my FSK", "meters")


def test_the_tables_name_only_what_there_is():
    assert ALIASES.keys() <= FAMILIES.keys()
    assert KINDS.keys() <= set(FAMILIES.values())
