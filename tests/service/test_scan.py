"""`wavetell scan`: more spectrum than the radio sees at once, over a real rtl_tcp connection."""

import json
import signal
import subprocess
import sys
import time

import pytest

from hardware.plan import Plan
from service.cli import main
from tests.wide_radio import WideRadio, spectrum

RATE, WIDE, FREQ = 240_000, 1_200_000, 433.6e6
START, STOP = "433.06M", "434.14M"
# Centre, bandwidth and level. Eight steps lie 127 kHz apart and share 65 kHz: the second lies on an edge of
# one, the fourth is wider than what two of them share.
EMISSIONS = [
    (433.15e6, 10e3, 0.1),
    (433.252e6, 16e3, 0.2),
    (433.414e6, 12e3, 0.1),
    (433.6e6, 100e3, 0.3),
    (433.75e6, 8e3, 0.1),
    (433.85e6, 1, 0.05),
    (434.02e6, 20e3, 0.1),
]
BEYOND = (434.18e6, 10e3, 0.2)


@pytest.fixture(scope="module")
def radio():
    emissions = [(centre - FREQ, width, level) for centre, width, level in [*EMISSIONS, BEYOND]]
    places = Plan(433.06e6, 434.14e6).centres(RATE)
    radio = WideRadio(spectrum(WIDE, emissions), FREQ, RATE, places)
    yield radio
    radio.close()


def scan(radio, model, *options):
    """A run in a process of its own; a busy machine needs long to do what the radio is told."""
    command = [sys.executable, "-m", "service.cli", "scan", radio.address, START, STOP, "--model", str(model)]
    return subprocess.Popen(
        [*command, "--settle", "500ms", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_every_emission_is_listed_once_with_its_place_and_passes(radio, model):
    process = scan(radio, model, "--passes", "2", "--json")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    found = [json.loads(line) for line in out.splitlines()]
    assert len(found) == len(EMISSIONS), out
    for one, (centre, width, _) in zip(found, EMISSIONS, strict=True):
        assert one["centre_hz"] == pytest.approx(centre, abs=max(1e3, 0.1 * width))
        if width > 5e3:  # the carrier is as wide as the analysis' resolution
            assert one["bandwidth_hz"] == pytest.approx(width, rel=0.3)
        assert one["upper_hz"] - one["lower_hz"] == pytest.approx(one["bandwidth_hz"], abs=0.2)
        assert one["passes"] == 2
        assert one["label"] in ("A", "B", "C")
        assert 0 < one["probability"] <= 1
        assert one["first"] < one["last"]
    assert "lost (retune)" in err


def test_ctrl_c_prints_the_table_so_far(radio, model):
    before = len(radio.tuned)
    process = scan(radio, model, "--passes", "0", "--dwell", "30s")
    while len(radio.tuned) < before + 3:  # the ends of the plan are tried, then it begins
        assert process.poll() is None
        time.sleep(0.05)
    time.sleep(2)  # of a first step that takes 30
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert out.splitlines()[-1] == f"{len(out.splitlines()) - 1} emissions in 1 of 8 steps"
    assert float(out.split()[0]) == pytest.approx(433.15, abs=0.001)  # MHz
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["tone:?rate=250k", START, STOP], "cannot be retuned; a plan of frequencies needs a radio"),
        (
            ["tone:?rate=250k", STOP, START],
            "plan.start_hz is 434.14M; it must be below plan.stop_hz, 433.06M",
        ),
        (["tone:?rate=250k", "x", STOP], "START is 'x'; it must be a number from 0 to 1T Hz"),
        (
            ["tone:?rate=250k", START, STOP, "--dwell", "1h"],
            "--dwell is '1h'; it must be from 0.01 to 3.6k s, written such as 100ms or 2s",
        ),
        (["tone:?rate=250k", START, STOP, "--passes", "-1"], "--passes is -1; it must be at least 0"),
    ],
)
def test_a_wrong_option_or_source_is_one_line_and_exit_code_2(argv, message, model, capsys):
    assert main(["scan", *argv, "--model", str(model)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_recording_is_no_radio(tmp_path, model, capsys):
    recording = tmp_path / "x_433.92M_250k.cu8"
    recording.write_bytes(bytes(range(256)) * 64)
    assert main(["scan", str(recording), START, STOP, "--model", str(model)]) == 2
    assert capsys.readouterr().err.endswith("cannot be retuned; a plan of frequencies needs a radio\n")


def test_a_model_that_takes_a_stream_as_one_signal_cannot_scan(level_model, capsys):
    assert main(["scan", "tone:?rate=250k", START, STOP, "--model", str(level_model)]) == 2
    assert "a scan needs one such as radio" in capsys.readouterr().err
