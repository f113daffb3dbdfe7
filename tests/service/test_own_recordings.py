"""`wavetell fit` with recordings of one's own: a head behind the front end, that then runs."""

import json

import pytest

from service.cli import main
from streaming.bundle import load_bundle


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("captures")
    for seed in ("1", "2", "3"):
        flags = ["--classes", "OOK,2FSK", "--seconds", "1", "--seed", seed, "--snr", "20..25"]
        assert main(["generate", str(folder / f"{seed}.sigmf"), *flags]) == 0
    return folder


def test_a_head_of_ones_own_recordings_names_what_it_was_taught(recordings, tmp_path, capsys):
    out = tmp_path / "mine.safetensors"
    assert main(["fit", "radio", "--data", str(recordings), "--head", "mine", "--out", str(out)]) == 0
    heads = load_bundle(out).heads
    assert set(heads) == {"live", "mine"}
    assert heads["mine"].classes == ("2FSK", "OOK")  # where there is only noise, nothing is to be taught
    main(["generate", str(tmp_path / "new.sigmf"), "--classes", "2FSK", "--seconds", "0.5", "--seed", "9"])
    capsys.readouterr()
    flags = ["--model", str(out), "--head", "mine", "--json"]
    assert main(["predict", str(tmp_path / "new.sigmf-meta"), *flags]) == 0
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    labels = [answer["label"] for answer in answers if answer.get("label") != "no signal"]
    assert labels.count("2FSK") > len(labels) / 2


def test_a_model_with_a_front_end_wants_recordings(tmp_path, capsys):
    (tmp_path / "set.pkl").write_bytes(b"")
    flags = ["--data", str(tmp_path / "set.pkl"), "--out", str(tmp_path / "out.safetensors")]
    assert main(["fit", "radio", *flags]) == 2
    assert "not a folder of recordings" in capsys.readouterr().err
