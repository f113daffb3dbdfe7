"""`wavetell bench band` measures what it says: a real service, a small band, and no timing asserted."""

import json
import subprocess
import sys

import numpy as np
import pytest
from scipy.signal import welch

from service.bench.band_scene import Band, Truth, make_band
from service.cli import main

FIELDS = [
    "processor",
    "cores",
    "rate_hz",
    "seconds",
    "emissions",
    "pace",
    "dropped",
    "answered",
    "thinned",
    "cpu_share",
    "followed",
    "family_right",
    "latency_p50_ms",
    "latency_p99_ms",
    "stages",
    "highest_rate_hz",
    "samples_per_cpu_s",
]
STAGES = {"front end", "evidence", "judge", "embedding", "head", "reports", "rest"}


def test_a_small_band_goes_through_the_real_service(model):
    options = ["--rate", "240k", "--emissions", "2", "--seconds", "2", "--model", str(model), "--json"]
    command = [sys.executable, "-m", "service.cli", "bench", "band", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert list(found) == FIELDS
    assert found["processor"]
    assert (found["cores"], found["rate_hz"], found["seconds"], found["emissions"]) == (1, 240e3, 2.0, 2)
    assert found["dropped"] >= 0
    assert found["thinned"] >= 0
    assert found["answered"] > 0
    assert found["followed"] == 2
    assert 0 < found["latency_p50_ms"] <= found["latency_p99_ms"]
    assert found["cpu_share"] == pytest.approx(sum(found["stages"].values()), abs=1e-3)
    assert set(found["stages"]) == STAGES
    assert found["highest_rate_hz"] > 0
    assert found["samples_per_cpu_s"] > 0


def test_the_emissions_lie_where_the_scene_says_and_nothing_else_is_as_strong():
    rate = 1_000_000
    band = make_band(rate, 4)
    assert len(band.truth) == 4
    f, density = welch(band.samples, rate, nperseg=4096, return_onesided=False, detrend=False)
    floor = np.median(density)
    for truth in band.truth:
        assert -0.5 * rate < truth.lower_hz < truth.upper_hz < 0.5 * rate
        assert 4e3 < truth.upper_hz - truth.lower_hz < 250e3
        inside = density[(f >= truth.lower_hz) & (f <= truth.upper_hz)]
        assert inside.mean() > 4 * floor


def test_an_emission_is_followed_where_its_box_fits_and_the_one_that_was_on_longest_names_it():
    band = Band(np.empty(0, np.complex64), [Truth(0, 10e3, "FSK"), Truth(50e3, 60e3, "PSK")], 1e6)

    def found(lower, upper, family, duty=1.0, end=10.0):
        box = {"lower_hz": lower, "upper_hz": upper, "bandwidth_hz": upper - lower}
        return box | {"family": family, "duty": duty, "begin": 0.0, "end": end}

    assert band.judge([]) == (0, 0)
    assert band.judge([found(1e3, 9e3, "FSK"), found(30e3, 90e3, "PSK")]) == (1, 1)
    assert band.judge([found(0, 10e3, "FSK", end=1.0), found(0, 10e3, "PSK", duty=0.5)]) == (1, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cores", "0"], "--cores is 0; it must be 1 to"),
        (["--rate", "0"], "--rate is '0'; it must be from 1 to 10G S/s"),
        (["--seconds", "x"], "--seconds is 'x'; it must be"),
        (["--emissions", "500"], "500 emissions; expected 0 to 256"),
    ],
)
def test_a_wrong_option_is_one_line_and_exit_code_2(options, message, capsys):
    assert main(["bench", "band", *options]) == 2
    assert message in capsys.readouterr().err
