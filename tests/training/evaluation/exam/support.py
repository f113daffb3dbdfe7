"""Emissions made by hand."""

from training.evaluation.exam.emissions import FoundEmission


def emission(
    begin=0,
    end=1000,
    lower_hz=-50.0,
    upper_hz=50.0,
    label="QPSK",
    family="PSK",
    energy=1.0,
    snr_db=20.0,
    bursts=(),
):
    """An emission that a model might report."""
    return FoundEmission(
        begin,
        end,
        lower_hz,
        upper_hz,
        snr_db,
        label,
        None if label == "unknown" else family,
        0.9,
        {"QPSK": 0.9, "2FSK": 0.1},
        energy,
        bursts or ((begin, end),),
    )
