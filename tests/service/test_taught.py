"""A taught head keeps what the model's own head knows: families, and that some signals are of no class."""

from dataclasses import replace

import numpy as np
import pytest

from service.models.taught import Lesson, Teacher
from streaming.bundle import load_bundle
from streaming.head import Head
from streaming.prediction import UNKNOWN
from tests.service.conftest import SHAPE, SHORT_HOP, SHORT_WINDOW, level_bundle, serving, small_bundle
from training.heads.fit import Identity

LIMIT = 0.0  # of the log odds of an outlier, the last entry of an embedding
BUNDLE = small_bundle()
FITTED = BUNDLE.entries - 1  # entries that a head is fitted to


def own_head() -> Head:
    """A model's own head, with families and a detector."""
    return replace(
        BUNDLE.heads["live"],
        classes=("BPSK", "QPSK", "2FSK"),
        families=("PSK", "PSK", "FSK"),
        certain=0.5,
        outlier_limit=LIMIT,
    )


def lesson(*kinds, labels=4, each=30, spread=0.2):
    """Windows (class, centre, log odds of an outlier) of some labels, each a little off the centre."""
    rng = np.random.default_rng(0)
    rows, truth, groups = [], [], []
    for c, (_, centre, odds) in enumerate(kinds):
        for label in range(labels):
            middle = np.array(centre) + spread * rng.standard_normal(2)
            rows.append(rng.standard_normal((each, FITTED + 1)) * np.repeat([0.1, 0.05], [FITTED, 1]))
            rows[-1][:, SHAPE.outputs : SHAPE.outputs + 2] += middle  # in the projection's outputs
            rows[-1][:, -1] += odds
            truth += [c] * each
            groups += [c * labels + label] * each
    classes = tuple(name for name, _, _ in kinds)
    return Lesson(classes, np.concatenate(rows).astype(np.float32), np.array(truth), np.array(groups))


def teach(given, base=None):
    identity = Identity("mine", given.classes, "live", SHORT_WINDOW, SHORT_HOP, "0" * 64)
    return Teacher(BUNDLE, base or own_head(), identity).teach(given)


KINDS = (("QPSK", (-1, 0), -0.5), ("2FSK", (1, 0), -0.5), ("siren", (0, 1), 0.5))


def test_known_classes_keep_their_family_and_a_new_one_is_its_own():
    head, _ = teach(lesson(*KINDS))
    assert head.families == ("PSK", "FSK", "siren")
    assert head.certain == 0.5


def test_an_outlier_stays_unknown_and_a_taught_class_does_not():
    given = lesson(*KINDS)
    head, after = teach(given)
    answers = np.array([name.label for name in head.name_all(given.rows)[0]])
    for c, name in enumerate(given.classes):  # the detector was never trained on the third
        assert np.mean(answers[given.truth == c] == name) > 0.95
        assert after[name].get(name, 0) > 0.9 * 120
    outliers = lesson(("QPSK", (-1, 0), 0.4), ("2FSK", (1, 0), 0.4)).rows
    assert np.mean([name.label == UNKNOWN for name in head.name_all(outliers)[0]]) > 0.95


def test_the_threshold_is_chosen_on_labels_that_the_head_has_not_seen():
    """Labels of one class lie far apart, so that windows of a label say little about those of another."""
    head, after = teach(lesson(*KINDS, labels=6, spread=0.7), replace(own_head(), outlier_limit=100.0))
    unknown = sum(row.get(UNKNOWN, 0) for row in after.values())
    assert 0 < head.threshold < 0.75
    assert unknown <= 0.02 * 3 * 6 * 30


def test_a_head_of_a_model_without_families_has_none():
    head, _ = teach(lesson(*KINDS), replace(own_head(), families=(), certain=0.0))
    assert head.families == ()
    assert head.threshold > 0


def test_a_head_of_a_model_without_a_projection_has_no_detector():
    bundle, given = level_bundle(), lesson(*KINDS)
    given = replace(given, rows=given.rows[:, SHAPE.outputs :])
    identity = Identity("mine", given.classes, "live", 1000, 100, "0" * 64)
    head, _ = Teacher(bundle, bundle.heads["live"], identity).teach(given)
    assert (head.outlier_limit, head.outlier_margin) == (None, None)
    assert head.threshold > 0


def test_a_bundle_keeps_the_margins_of_its_classes(tmp_path):
    head = replace(BUNDLE.heads["live"], outlier_margin=np.array([0.0, 0.5, 2.0]))
    replace(BUNDLE, heads={"live": head}).save(tmp_path / "m.safetensors")
    kept = load_bundle(tmp_path / "m.safetensors").heads["live"]
    np.testing.assert_array_equal(kept.outlier_margin, [0.0, 0.5, 2.0])
    with pytest.raises(Exception, match="outlier_margin has shape"):
        replace(head, outlier_margin=np.zeros(2))


def test_the_service_fits_heads_with_families_and_a_detector(tmp_path):
    live = replace(BUNDLE.heads["live"], families=("AM", "AM", "FM"), certain=0.4, outlier_limit=LIMIT)
    replace(BUNDLE, heads={"live": live}).save(tmp_path / "own.safetensors")
    with serving(tmp_path / "data", tmp_path / "own.safetensors") as service:
        streams = {"A": "tone:?rate=48k&snr_db=40", "hum": "tone:?rate=48k&snr_db=10&offset=-3k"}
        for label, source in streams.items():
            streams[label] = stream = service.stream(source)
            end = service.until(f"/v1/streams/{stream}", lambda s: s["kept"]["end"] > 80_000)["kept"]["end"]
            for i in range(3):
                span = {"start": end - 20_000 * (i + 1), "end": end - 20_000 * i}
                answer = service.post("/v1/labels", json={"stream": stream, "label": label} | span)
                assert answer.is_success, answer.text
        fitted = service.post("/v1/heads/mine/fit", json={}).json()
        for stream in streams.values():
            service.until(f"/v1/streams/{stream}", lambda s: s["head"] == "mine")
    head = load_bundle(next((tmp_path / "data").rglob(f"{fitted['model']}.safetensors"))).heads["mine"]
    assert head.names.family_of == {"A": "AM", "hum": "hum"}
    assert (head.certain, head.outlier_limit) == (0.4, LIMIT)
    assert (head.outlier_margin >= 0).all()
    assert head.threshold > 0
