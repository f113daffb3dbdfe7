"""The figures of radio: what was labelled is never judged, and the tables and the picture come out."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.accuracy.devices import Heard, as_row, choose, right, split, taught
from benchmarks.accuracy.radio import as_evaluation, as_text, draw, few_labels, percent
from streaming.band.frontend import BandSettings
from streaming.bundle import Bundle, encoder_sha256
from streaming.bundle_meta import Meta
from streaming.checked import as_json
from streaming.encoder import Encoder
from streaming.shape import EncoderShape
from training.datasets.emissions import HEARD
from training.evaluation.exam.labels import Truth
from training.evaluation.radio_evaluate import Embedded
from training.heads.fit import Identity, fit_head
from training.heads.search import Search

CLASSES, CORNERS = ("OOK", "2FSK"), 5 * np.eye(2, 4)
ENCODER = Encoder(EncoderShape(channels=2, depth=1, reduced=2, outputs=4))


class Plain:
    """A projection that adds nothing to the encoder's outputs."""

    outputs = 0


@pytest.fixture
def bundle():
    return Bundle(ENCODER, {}, Meta(BandSettings()), projection=Plain())


@pytest.fixture
def head():
    """Fitted where simulated OOK and 2FSK lie."""
    rng = np.random.default_rng(1)
    label = np.arange(40) % 2
    rows = (CORNERS[label] + rng.standard_normal((40, 4))).astype(np.float32)
    identity = Identity("live", CLASSES, "live", 512, 128, encoder_sha256(ENCODER))
    fitted = fit_head(rows, label, identity, Search(C=(10.0,), gamma=(1.0,), refuse=0.0)).head
    return replace(fitted, families=("ASK", "FSK"), outlier_limit=3.0)


def recordings(corners=CORNERS):
    """Six devices per class with two recordings each, around these corners."""
    rng = np.random.default_rng(2)
    for device in range(12):
        label = device % 2
        for _ in range(2):
            row = np.append(corners[label] + 0.3 * rng.standard_normal(4), -2.0).astype(np.float32)
            yield Heard(f"device {device}", Truth(CLASSES[label], ("ASK", "FSK")[label]), row)


def test_few_labels_move_a_head_to_where_the_real_recordings_are(bundle, head):
    assert all(right(head, one) for one in recordings())
    away = list(recordings(np.add(CORNERS[::-1], [0, 0, 2, 0])))  # each nearer to the other in simulation
    assert sum(right(head, one) for one in away) < 6
    assert split(bundle, head, away, 5, seed=1).sum() > 20


def test_what_is_taught_knows_all_that_the_head_knew(bundle, head):
    more = [Heard("x", Truth("QPSK", "PSK"), np.array([0, 0, 9, 9, -2], np.float32) + i) for i in range(3)]
    fitted = taught(bundle, head, more)
    assert fitted.classes == (*CLASSES, "QPSK")
    assert fitted.families == ("ASK", "FSK", "PSK")
    assert all(right(fitted, one) for one in [*recordings(), *more])


def test_unknown_and_nothing_found_are_wrong(head):
    one = next(recordings())
    assert right(head, one)
    assert not right(head, replace(one, row=np.append(one.row[:-1], 4.0).astype(np.float32)))
    assert not right(head, replace(one, row=None))


def test_labels_are_of_recordings_in_which_something_was_found():
    heard = [*recordings(), Heard("x", Truth("OOK", "ASK"), None)]
    chosen = choose([*heard, Heard("y", Truth(None, "PSK"), heard[0].row)], 3, np.random.default_rng(1))
    assert Counter(one.truth.label for one in chosen) == {"OOK": 3, "2FSK": 3}


def test_the_share_of_all_splits_counts_every_recording_once():
    row = as_row(5, [np.array([True, True, True, False]), np.array([True, False, True, False])])
    assert row["percent"] == pytest.approx(62.5)
    assert row["splits"] == [75.0, 50.0]
    assert row["low"] < 50 < row["high"]


def test_few_labels_are_judged_on_other_emissions_of_every_class(bundle):
    rng = np.random.default_rng(3)
    encoder = Encoder(EncoderShape(channels=2, depth=1, reduced=2, outputs=len(HEARD)))
    identity = Identity("live", ("A", "B"), "live", 512, 128, encoder_sha256(encoder))
    like = fit_head(rng.standard_normal((10, 4)).astype(np.float32), np.arange(10) % 2, identity).head

    def emissions(count):
        number = np.arange(count * len(HEARD))
        near = 6 * np.eye(len(HEARD))[number % len(HEARD)] + rng.standard_normal((len(number), len(HEARD)))
        rows = np.pad(near, ((0, 0), (0, 1))).astype(np.float32)
        return Embedded(rows, number, np.full(len(number), 20.0), np.empty(0))

    known = replace(bundle, encoder=encoder, heads={"live": like})
    (row,) = few_labels(known, emissions(6), {"wide": emissions(2)}, 5)
    assert (row["labels"], row["set"]) == (5, "wide")
    assert row["family_high"]["percent"] >= row["class_high"]["percent"] > 80


def test_the_accuracy_tables_and_picture(tmp_path):
    share = {"percent": 75.0, "low": 70.0, "high": 79.0}
    both = {"class": share, "family": share}
    shares = ("class_high", "family_high", "named_high", "unknown", "unknown_high", "missed", "missed_high")
    one = {
        **dict.fromkeys(shares, share),
        "emissions": 100,
        "ece_class": 0.05,
        "ece_family": 0.04,
        "by_snr": [{"from_db": 10.0, "to_db": 15.0, **both}],
        "by_class_high": {"QPSK": both},
        "confusion_high": {"QPSK": {"QPSK": 3, "unknown": 1}},
    }
    few = [{"labels": n, "set": "wide", "class_high": share, "family_high": share} for n in (5, 10)]
    result = {"sets": {"narrow": one, "wide": one}, "few": few}
    text = as_text(result)
    assert percent(share) == " 75.0 % (70.0-79.0)"
    assert "ECE of the class 5.0 points" in text
    assert any(line.startswith("QPSK") and line.endswith("QPSK 3, unknown 1") for line in text.splitlines())
    draw(result, tmp_path / "accuracy.png")
    assert (tmp_path / "accuracy.png").stat().st_size > 1_000
    kept = as_evaluation(one["by_snr"])
    assert as_json(kept["model, families"]) == {"by_snr": [{"snr_db": 12.5, "accuracy": 0.75}]}
