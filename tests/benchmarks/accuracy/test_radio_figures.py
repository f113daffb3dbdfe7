"""The figures of radio: unseen devices stay unseen, and the table and the picture come out."""

import json

import numpy as np

from benchmarks.accuracy.devices import Recording, decide, report
from benchmarks.accuracy.radio import ALARMS, as_evaluation, as_text, draw, percent
from streaming.bundle import Bundle
from streaming.checked import as_json
from streaming.encoder import Encoder, EncoderShape
from streaming.features import COUNT


def recordings(rng):
    """Three devices per class with two recordings each; one device is labelled wrongly on purpose."""
    for device in range(6):
        label = device % 2
        for _ in range(2):
            windows = rng.standard_normal((5, 4 + COUNT)) + 6 * label
            yield Recording(f"device {device}", label if device != 5 else 0, windows.astype(np.float32))


def test_only_devices_without_a_label_are_judged_and_one_decision_is_made_for_each_recording():
    found = list(recordings(np.random.default_rng(0)))
    judged = decide(found, np.array(["device 0", "device 1", "device 2", "device 3"]))
    assert [i for i, _ in judged] == [8, 9, 10, 11]  # the recordings of devices 4 and 5
    assert [right for _, right in judged] == [True, True, False, False]


def test_the_devices_report_is_printed_written_and_drawn(tmp_path, capsys):
    rows = [{"file": f"g{i}.cu8", "device": f"device {i}"} for i in range(4)]
    bundle = Bundle(Encoder(EncoderShape(channels=2, depth=1, reduced=2, outputs=2)))
    report(tmp_path / "devices", bundle, [[0.9, 1.0], [0.8, 0.8]], np.array([0, 0.5, 0, 0]), rows)
    printed = capsys.readouterr().out
    assert "95.0 %" in printed
    assert "device 1 (50 %)" in printed
    written = json.loads((tmp_path / "devices.json").read_text())
    assert np.isclose(written["three features"]["percent"], 80)
    assert (tmp_path / "devices.png").stat().st_size > 1_000


def test_the_accuracy_table_and_picture(tmp_path):
    share = {"percent": 75.0, "low": 70.0, "high": 79.0}
    both = {"class": share, "family": share}
    result = {
        "summary": {
            **{name: share for name in ("class", "family", "class_high", "family_high", "refused")},
            "signals": 100,
            "ece_class": 0.05,
            "ece_family": 0.04,
            "by_snr": [{"from_db": 10.0, "to_db": 15.0, **both}],
            "by_class_high": {"QPSK": both},
        },
        "unseen": {"QPSK": dict(zip(ALARMS, (10.0, 5.0, 12.5, 4.0, 14.0), strict=True))},
        "unseen_like_kept": {"QPSK": dict(zip(ALARMS, (20.0, 5.0, 22.5, 4.0, 24.0), strict=True))},
        "few": [{"method": "radio", "labels": n, "class_high": share, "family_high": share} for n in (5, 10)],
    }
    text = as_text(result)
    assert percent(share) == " 75.0 % (70.0-79.0)"
    assert "ECE of the class 5.0 points" in text
    assert "10.0 % (false alarms 5.0 %), from 10 dB 12.5 % (4.0 %), 14.0 % where that is 5 %" in text
    assert "not what resembles it: 20.0 %" in text
    assert any(line.startswith("QPSK") and line.endswith("12.5") for line in text.splitlines())
    draw(result, tmp_path / "accuracy.png")
    assert (tmp_path / "accuracy.png").stat().st_size > 1_000
    kept = as_evaluation(result["summary"]["by_snr"])
    assert as_json(kept["model, families"]) == {"by_snr": [{"snr_db": 12.5, "accuracy": 0.75}]}
