"""`wavetell generate`: recordings that other programs read, with the truth in their annotations."""

import json

import numpy as np
import pytest
import sigmf

from service.cli import main


def made(tmp_path, *flags):
    assert main(["generate", str(tmp_path / "out.sigmf"), *flags]) == 0
    recording = sigmf.sigmffile.fromfile(str(tmp_path / "out.sigmf-meta"))
    recording.validate()
    return recording


def test_classes_come_in_turn_with_pauses(tmp_path, capsys):
    recording = made(tmp_path, "--classes", "QPSK,OOK", "--seconds", "0.4", "--rate", "100k")
    labels = [note["core:label"] for note in recording.get_annotations()]
    assert labels == ["noise", "QPSK", "noise", "OOK"]
    assert recording.sample_count == 40_000
    assert recording.get_global_field("core:sample_rate") == 100e3
    assert "40,000 samples, 4 annotations" in capsys.readouterr().out


def test_every_class_fits_into_a_demo_of_two_megabytes(tmp_path):
    recording = made(tmp_path)
    assert 1_990_000 < (tmp_path / "out.sigmf-data").stat().st_size <= 2_000_000
    assert len({note["core:label"] for note in recording.get_annotations()}) == 28


def test_the_seed_is_all_there_is_to_it(tmp_path):
    data = []
    for seed in ("3", "3", "4"):
        made(tmp_path, "--random", "--seconds", "1", "--seed", seed, "--snr", "5..25")
        data.append((tmp_path / "out.sigmf-data").read_bytes())
    assert data[0] == data[1] != data[2]


def test_a_clean_recording_has_its_snr(tmp_path):
    recording = made(
        tmp_path, "--classes", "MSK", "--snr", "10", "--clean", "--type", "cf32", "--seconds", "1"
    )
    notes, x = recording.get_annotations(), recording.read_samples()
    ends = [note["core:sample_start"] + note["core:sample_count"] for note in notes]
    noise, signal = np.mean(np.abs(x[: ends[0]]) ** 2), np.mean(np.abs(x[ends[0] :]) ** 2)
    band = notes[1]["wavetell:bandwidth_hz"] / 200e3
    assert 10 * np.log10((signal - noise) / noise / band) == pytest.approx(10, abs=0.5)


def test_a_scene_has_a_box_for_each_emission_that_the_judge_reads(tmp_path, capsys):
    folder = tmp_path / "scenes"
    flags = ["--scene", "--count", "2", "--seconds", "0.1", "--emissions", "5", "--snr", "10..30"]
    assert main(["generate", str(folder), *flags]) == 0
    assert capsys.readouterr().out.count("240,000 samples") == 2
    boxes = 0
    for number in range(2):
        recording = sigmf.sigmffile.fromfile(str(folder / f"scene-{number:03}.sigmf-meta"))
        recording.validate()
        assert recording.sample_count == 240_000
        assert recording.get_global_field("core:sample_rate") == 2.4e6
        notes = [note for note in recording.get_annotations() if note["core:label"] != "spur"]
        assert {note["wavetell:emission"] for note in notes} <= set("01234")
        for note in notes:
            assert 432.72e6 <= note["core:freq_lower_edge"] < note["core:freq_upper_edge"] <= 435.12e6
            (first, _), (last, count) = note["wavetell:bursts"][0], note["wavetell:bursts"][-1]
            assert first == note["core:sample_start"]
            assert last + count == note["core:sample_start"] + note["core:sample_count"]
        boxes += len(notes)
    assert main(["evaluate", "radio", "--recordings", str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["recordings"], found["truth"], found["left_out"]) == (2, boxes, 0)
    assert found["found"] > 0


def test_a_scene_of_a_seed_is_the_same_however_many_there_are(tmp_path):
    flags = ["--scene", "--seconds", "0.05", "--emissions", "2"]
    for folder, count in (("one", "1"), ("two", "2")):
        assert main(["generate", str(tmp_path / folder), *flags, "--count", count]) == 0
    files = [
        tmp_path / folder / f"scene-000.sigmf-{part}"
        for part in ("data", "meta")
        for folder in ("one", "two")
    ]
    data, same_data, meta, same_meta = (file.read_bytes() for file in files)
    assert (data, meta) == (same_data, same_meta)
    assert data != (tmp_path / "two" / "scene-001.sigmf-data").read_bytes()


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--count", "0"], "--count is 0; it must be 1 to 100,000"),
        (["--emissions", "257"], "257 emissions; expected 0 to 256"),
        (["--seconds", "0.001"], "a scene of 2,400 samples; expected at least 16,384"),
        (["--seconds", "1M"], "expected at most 20,000,000,000"),
        (["--snr", "20..10"], "snr_db is 20.0..10.0; expected the lower one first"),
        (["--type", "cu8"], "type is 'cu8'; generated recordings are cf32_le, ci16_le or ci8"),
        (["--classes", "FOO"], "there is no class 'FOO'"),
    ],
)
def test_a_scene_that_cannot_be_made_is_one_line(tmp_path, capsys, flags, message):
    assert main(["generate", str(tmp_path / "out"), "--scene", *flags]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_scenes_go_into_a_folder(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    for out in ("x.sigmf", "file"):
        assert main(["generate", str(tmp_path / out), "--scene"]) == 2
        assert "with --scene OUT is a folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--classes", "QPSK,FOO"], "there is no class 'FOO'"),
        (["--snr", "loud"], "--snr is 'loud'; it must be a number"),
        (["--snr", "20..10"], "snr_db is 20.0..10.0"),
        (["--seconds", "0"], "--seconds is '0'; it must be from 1e-06 to 1G s"),
        (["--seconds", "0.001"], "expected 100 samples per class or more"),
        (["--type", "cu8"], "type is 'cu8'; generated recordings are cf32_le, ci16_le or ci8"),
        (["--seed", "-1"], "--seed is -1; it must be at least 0"),
    ],
)
def test_a_users_error_is_one_line(tmp_path, capsys, flags, message):
    assert main(["generate", str(tmp_path / "out.sigmf"), *flags]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())
