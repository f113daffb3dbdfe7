"""`wavetell generate`: recordings that other programs read, with the truth in their annotations."""

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
    assert len({note["core:label"] for note in recording.get_annotations()}) == 27


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


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--classes", "QPSK,FOO"], "there is no class 'FOO'"),
        (["--snr", "loud"], "--snr is 'loud'; it must be a number"),
        (["--snr", "20..10"], "snr_db is 20.0..10.0"),
        (["--seconds", "0"], "expected 100 samples per class or more"),
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
