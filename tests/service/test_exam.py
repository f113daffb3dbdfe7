"""`wavetell evaluate MODEL --recordings FOLDER`, as a user runs it."""

import json
import shutil

import numpy as np
import pytest

from service.cli import main
from tests.require import ROOT, shared
from training.evaluation.exam.report import recordings_text

HEADER = "file,modulation,family,source,snr_db,sample_rate_hz\n"
KEYS = {"family_right", "class_right", "unknown", "nothing_found"}


@pytest.fixture(scope="module")
def labelled(tmp_path_factory):
    """Four generated signals, as SigMF and raw, one recording of noise, one without a label."""
    folder = tmp_path_factory.mktemp("labelled")
    for seed, name in enumerate(("GMSK", "OOK", "2FSK", "WBFM")):
        flags = ["--classes", name, "--seconds", "0.4", "--snr", "25", "--type", "cf32", "--seed", str(seed)]
        assert main(["generate", str(folder / f"{name}.sigmf"), *flags]) == 0
    shutil.move(folder / "2FSK.sigmf-data", folder / "raw.cf32")
    noise = np.random.default_rng(1).normal(0, 0.01, 160_000).astype(np.float32)
    noise.tofile(folder / "noise_200k.cf32")
    rows = [
        "GMSK.sigmf-meta,GMSK,,b,25,",
        "OOK.sigmf-data,ook,,a,25,",
        "raw.cf32,FSK,,a,25,200e3",
        "WBFM.sigmf-meta,FM,FM,c,25,",
        "noise_200k.cf32,noise,,d,,",
        "other.cu8,,,,,",
    ]
    (folder / "labels.csv").write_text(HEADER + "\n".join(rows) + "\n")
    return folder


def evaluate(capsys, folder, *flags):
    assert main(["evaluate", "radio", "--recordings", str(folder), *flags]) == 0
    return capsys.readouterr().out


def test_there_is_a_line_per_recording_and_last_the_summary_of_these_lines(labelled, capsys):
    *lines, summary = map(json.loads, evaluate(capsys, labelled, "--json").splitlines())
    assert [line["file"] for line in lines] == [
        "GMSK.sigmf-meta",
        "OOK.sigmf-data",
        "raw.cf32",
        "WBFM.sigmf-meta",
        "noise_200k.cf32",
    ]
    assert [(line["truth"], line["family"]) for line in lines] == [
        ("GMSK", "FSK"),
        ("OOK", "ASK"),
        ("FSK", "FSK"),
        ("FM", "FM"),
        ("noise", "noise"),
    ]
    signals = lines[:4]
    assert all(line["bandwidth_hz"] > 0 and line["snr_db"] > 10 for line in signals)
    assert (lines[4]["label"], lines[4]["snr_db"]) == ("nothing found", None)
    right = sum(line["family"] == line["answered_family"] for line in signals)
    assert summary["family_right"] == pytest.approx((right + 1) / 5)  # and the noise that was left alone
    exact = sum(line["truth"] == line["label"] for line in signals[:2])
    assert summary["class_right"] == pytest.approx((exact + 1) / 3)
    assert summary["unknown"] == pytest.approx(sum(line["label"] == "unknown" for line in lines) / 5)
    assert (summary["recordings"], summary["unlabelled"], summary["nothing_found"]) == (5, 1, 0.0)
    for key in KEYS:
        low, high = summary[f"{key}_interval"]
        assert 0 <= low <= summary[key] <= high <= 1
    assert set(summary["by_source"]) == {"a", "b", "c", "d"}
    assert summary["by_family"]["FSK"]["recordings"] == 2
    assert summary["by_snr"]["20 to 30 dB"]["recordings"] == 4


def test_two_processes_give_the_same_answers_in_the_same_order(labelled, capsys):
    def answers(*flags):
        lines = [json.loads(line) for line in evaluate(capsys, labelled, "--json", *flags).splitlines()]
        return [{key: line[key] for key in line if key != "cpu_seconds"} for line in lines]

    assert answers("--workers", "2") == answers()


def test_the_halves_of_the_sources_are_judged_apart(labelled, capsys):
    def files(half):
        lines = map(json.loads, evaluate(capsys, labelled, "--json", "--sources", half).splitlines())
        return {line["file"] for line in lines if "file" in line}

    assert files("even") == {"OOK.sigmf-data", "raw.cf32", "WBFM.sigmf-meta"}
    assert files("odd") == {"GMSK.sigmf-meta", "noise_200k.cf32"}


def test_people_get_a_table(labelled, capsys):
    text = evaluate(capsys, labelled)
    assert text.startswith("5 recordings; 1 more have no label\n")
    assert "right family, %" in text
    assert "family FSK " in text
    assert "a 0/2" in text or "a 1/2" in text or "a 2/2" in text


@pytest.fixture
def boxed(tmp_path):
    """The shipped recording: ten signals, each with an annotated box, and a recording with nothing in it."""
    for file in (ROOT / "service/demo").glob("demo.sigmf-*"):
        shutil.copy(file, tmp_path)
    np.random.default_rng(1).integers(-3, 3, 200_000, np.int8).tofile(tmp_path / "noise.sigmf-data")
    meta = {"global": {"core:datatype": "ci8", "core:sample_rate": 2e5}, "captures": [], "annotations": []}
    (tmp_path / "noise.sigmf-meta").write_text(json.dumps(meta))
    return tmp_path


def test_annotated_boxes_give_one_object(boxed, capsys):
    (line,) = evaluate(capsys, boxed, "--json").splitlines()
    found = json.loads(line)
    assert (found["recordings"], found["truth"]) == (2, 10)
    assert found["recall"] == found["found"] / 10
    assert found["found"] >= 8
    assert found["precision"] >= 0.8
    assert 0.5 < found["iou_median"] <= 1
    assert found["centre_error"] <= found["centre_error_p90"]
    assert found["bandwidth_error"] <= found["bandwidth_error_p90"]
    assert {"family_right", "class_right", "unknown"} <= found.keys()
    assert found["by_snr"]["20 to 30 dB"]["truth"] == 10
    assert found["by_label"]["OOK"]["truth"] == 1


def test_people_get_a_table_of_boxes(boxed, capsys):
    text = evaluate(capsys, boxed)
    assert text.startswith("2 recordings, 10 boxes; 0 annotations have no box in the band\n")
    assert "recall, %" in text
    assert "fit of the boxes found" in text


def test_a_folder_of_neither_kind_is_one_line(tmp_path, capsys):
    refuse(capsys, tmp_path, "has no labels.csv, and none of its 0 SigMF recordings has an annotated box")
    refuse(capsys, tmp_path / "gone", "there is no folder")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("odd_250k.cs16", bytes(3), "has 3 bytes of samples; a sample of ci16_le takes 4"),
        ("nothing_250k.cu8", b"", "has 0 bytes of samples"),
        ("rate.cu8", bytes(1000), "the rate of"),
        ("kind_250k.bin", bytes(1000), "add type=cf32, ci16, ci8 or cu8"),
        ("nan_250k.cf32", np.full(20_000, np.nan, np.float32).tobytes(), "give its type, such as type=cu8"),
        ("cut.sigmf-meta", b"{", "holds no SigMF metadata"),
    ],
)
def test_a_bad_recording_is_one_line_that_names_it(tmp_path, capsys, name, content, message):
    (tmp_path / name).write_bytes(content)
    (tmp_path / "labels.csv").write_text(f"file,modulation\n{name},OOK\n")
    assert name in refuse(capsys, tmp_path, message)


def test_a_sample_that_is_not_finite_is_one_line_that_names_the_recording(tmp_path, capsys):
    samples = np.random.default_rng(1).standard_normal(400_000).astype(np.float32)
    samples[300_000] = np.nan
    samples.tofile(tmp_path / "x_250k.cf32")
    (tmp_path / "labels.csv").write_text("file,modulation\nx_250k.cf32,OOK\n")
    assert "x_250k.cf32" in refuse(capsys, tmp_path, "samples contain NaN or infinity")


def test_wrong_flags_are_one_line(labelled, tmp_path, capsys):
    refuse(capsys, labelled, "--workers is 0; it must be at least 1", "--workers", "0")
    shutil.copy(labelled / "noise_200k.cf32", tmp_path)
    (tmp_path / "labels.csv").write_text("file,modulation\nnoise_200k.cf32,noise\n")
    refuse(capsys, tmp_path, "there is one source; --sources odd leaves nothing", "--sources", "odd")


def refuse(capsys, folder, message, *flags):
    """The one line on stderr that ends the command."""
    assert main(["evaluate", "radio", "--recordings", str(folder), *flags]) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.count("\n") == 1
    assert message in error
    return error


@pytest.mark.acceptance
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(("name", "recordings"), [("ota433", 107), ("air", 71)])
def test_the_shipped_model_on_real_recordings(name, recordings, capsys):
    folder = shared(f"data/{name}")
    *_, summary = map(json.loads, evaluate(capsys, folder, "--json", "--workers", "2").splitlines())
    with capsys.disabled():
        print(f"\n{name}, zero-shot, one decision per recording\n{recordings_text(summary)}")
    assert summary["recordings"] == recordings
    assert len(summary["by_source"]) >= 15
