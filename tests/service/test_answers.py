"""Answers as people and programs read them."""

import numpy as np

from service.schemas.answers import Answer
from streaming.prediction import NO_SIGNAL, Prediction

CLASSES = ("OOK", "2FSK")
HEARD = Prediction(
    start=1000,
    end=2000,
    label="OOK",
    probability=0.912345,
    probabilities=np.array([0.912345, 0.087655]),
    past="cold",
    utc_ns=1_000_000_000,
    clock="recording",
    emission=3,
    snr_db=12.345,
    bandwidth_hz=25_301.4,
    offset_hz=-3862.2,
    centre_hz=433_916_137.8,
    family="ASK",
)


def test_an_answer_has_what_a_reader_needs_in_as_many_digits_as_mean_something():
    assert Answer.of(HEARD, CLASSES, HEARD.snr_db, "stream-").model_dump() == {
        "time": "1970-01-01T00:00:01.000000Z",
        "clock": "recording",
        "start": 1000,
        "end": 2000,
        "label": "OOK",
        "probability": 0.9123,
        "family": "ASK",
        "emission": "stream-3",
        "snr_db": 12.3,
        "bandwidth_hz": 25_301.0,
        "offset_hz": -3862.0,
        "centre_hz": 433_916_138.0,
        "probabilities": {"OOK": 0.9123, "2FSK": 0.0877},
        "past": "cold",
    }


def test_what_is_not_known_is_null_in_rest_and_left_out_on_the_command_line():
    silence = Prediction(0, 100, NO_SIGNAL, 0.0, np.zeros(2), "warm")
    answer = Answer.of(silence, CLASSES, None)
    known = {"start", "end", "label", "probability", "probabilities", "past"}
    assert {name for name, value in answer if value is not None} == known
    assert answer.model_dump(exclude_none=True).keys() == known
