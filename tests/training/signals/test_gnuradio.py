"""Our modulators against GNU Radio's, wave against wave, for the same symbols."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.require import ROOT, need
from training.signals.analog import FrequencyModulation
from training.signals.digital import ContinuousPhase, Linear
from training.signals.pulse import table

PACKAGES = ROOT / ".cache/gnuradio/usr/lib/python3/dist-packages"
SIDE = Path(__file__).with_name("gnuradio_side.py")
RNG = np.random.default_rng(1)
SYMBOLS = np.exp(0.5j * np.pi * RNG.integers(0, 4, 500)).astype(np.complex64)
BITS = (2 * RNG.integers(0, 2, 500) - 1).astype(np.int8)
MESSAGE = np.clip(RNG.standard_normal(2000) / 3, -1, 1).astype(np.float32)


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """What GNU Radio makes of the symbols, the bits and the message."""
    need(PACKAGES.is_dir(), "GNU Radio (tests/setup_gnuradio.sh)")
    folder = tmp_path_factory.mktemp("gnuradio")
    SYMBOLS.tofile(folder / "symbols.c64")
    BITS.tofile(folder / "bits.i8")
    MESSAGE.tofile(folder / "message.f32")
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(PACKAGES)}
    subprocess.run(["/usr/bin/python3", str(SIDE), str(folder)], check=True, env=environment, timeout=60)
    return {path.stem: np.fromfile(path, np.complex64) for path in folder.glob("*.c64")}


class Given:
    """Known symbols after some zeros, and zeros after them."""

    def __init__(self, symbols, zeros):
        self.rest = np.concatenate([np.zeros(zeros), symbols, np.zeros(100)]).astype(np.complex64)

    def take(self, count):
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken


class Message:
    def make(self, count):
        return MESSAGE[:count].astype(float)


def difference(a, b):
    """The largest difference at the best delay and complex gain, the ends left out."""
    found = []
    for delay in range(-80, 81):
        x, y = (a[delay:], b) if delay >= 0 else (a, b[-delay:])
        n = min(len(x), len(y)) - 100
        x, y = x[100:n], y[100:n]
        gain = np.vdot(y, x) / np.vdot(y, y)
        found.append(np.abs(x / gain - y).max())
    return min(found)


def test_shaped_symbols(theirs):
    ours = Linear(Given(SYMBOLS, 9), table("rrc", 0.35, 8), 8, 0.0).make(4000)
    assert difference(theirs["rrc"], ours) < 0.01


# GNU Radio samples the Gaussian in the middle between two samples, and cuts it to four symbols.
@pytest.mark.parametrize(
    ("name", "index", "bt", "timing", "tolerance"),
    [("msk", 0.5, np.inf, 0, 1e-3), ("fsk", 1.4, np.inf, 0, 1e-3), ("gmsk", 0.5, 0.3, 1 / 16, 0.01)],
)
def test_continuous_phase(theirs, name, index, bt, timing, tolerance):
    ours = ContinuousPhase(Given(BITS, 4), index, table("phase", bt, 4), 8, timing).make(4000)
    assert difference(theirs[name], ours) < tolerance


def test_frequency_modulation(theirs):
    assert difference(theirs["fm"], FrequencyModulation(Message(), 0.3 / (2 * np.pi)).make(2000)) < 1e-4
