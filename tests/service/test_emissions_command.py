"""`wavetell emissions`: every emission of a recording, with its place, its bursts and its SNR."""

import json

import numpy as np
import pytest

from service.cli import main

RATE = 250_000


def recording(folder):
    """Noise, a steady carrier at +60 kHz, three bursts of BPSK at -30 kHz; 8 bits, as of an RTL-SDR."""
    rng = np.random.default_rng(1)
    t = np.arange(RATE)
    x = rng.standard_normal((RATE, 2)) @ [1, 1j] * 0.02
    x += 0.02 * np.exp(2j * np.pi * 60e3 / RATE * t)
    bits = np.repeat(rng.choice([-1.0, 1.0], RATE // 25 + 1), 25)[:RATE]  # 10 kBd
    bits = np.convolve(bits, np.hanning(25) / np.hanning(25).sum(), "same")
    on = np.zeros(RATE, bool)
    for begin in (0.2, 0.5, 0.8):
        on[round(begin * RATE) : round((begin + 0.1) * RATE)] = True
    x += 0.3 * on * bits * np.exp(-2j * np.pi * 30e3 / RATE * t)
    pairs = np.clip(np.rint(np.stack([x.real, x.imag], 1) * 127.5 + 127.5), 0, 255).astype(np.uint8)
    path = folder / "x_433.92M_250k.cu8"
    path.write_bytes(pairs.tobytes())
    return path


def test_every_emission_is_listed_once_with_its_place_and_bursts(tmp_path, capsys):
    main(["emissions", str(recording(tmp_path)), "--json"])
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    carrier, bursts = sorted(found, key=lambda one: -one["centre_hz"])
    assert carrier["centre_hz"] == pytest.approx(433.98e6, abs=1e3)
    assert carrier["bandwidth_hz"] < 4e3
    assert carrier["end_s"] - carrier["begin_s"] == pytest.approx(1.0, abs=0.01)
    assert bursts["centre_hz"] == pytest.approx(433.89e6, abs=3e3)
    assert 8e3 < bursts["bandwidth_hz"] < 25e3  # the main lobe has 20 kHz
    assert (bursts["begin_s"], bursts["end_s"]) == pytest.approx((0.2, 0.9), abs=0.005)
    assert (carrier["bursts"], bursts["bursts"]) == (1, 3)


def test_the_table_is_for_people(tmp_path, capsys):
    main(["emissions", str(recording(tmp_path)), "--seconds", "0.4"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "2 emissions"
    assert any("433.9" in line and "MHz" in line for line in lines)


def test_a_length_that_makes_no_sense_is_one_line(tmp_path, capsys):
    assert main(["emissions", str(recording(tmp_path)), "--seconds", "0"]) == 2
    assert capsys.readouterr().err.splitlines()[-1].endswith("--seconds is 0; it must be above 0")
