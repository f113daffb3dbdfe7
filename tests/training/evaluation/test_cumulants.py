"""Cumulants against the values in the textbooks."""

import numpy as np
import pytest

from training.datasets.synthetic import Band, Signal, make_frames
from training.evaluation.cumulants import cumulants

# Swami and Sadler, table I, for unit power: C40, C42, C63 (PSK from angle 0)
THEORY = {
    "BPSK": (-2.0, -2.0, 16.0),
    "QPSK": (1.0, -1.0, 4.0),
    "8PSK": (0.0, -1.0, 4.0),
    "16QAM": (-0.68, -0.68, 2.08),
}


@pytest.mark.parametrize("label", range(4))
def test_cumulants_of_a_long_clean_frame(label):
    signal = Signal(samples=20_000, snr_db=(80.0, 80.0), phase=(0.0, 0.0), cfo=(Band(1.0, 0.0, 0.0),))
    counts = [3 * (i == label) for i in range(4)]
    features = cumulants(make_frames(signal, counts, seed=1).iq)
    c40, c42, c63 = THEORY[signal.classes[label]]
    assert features[:, 1] == pytest.approx(c40, abs=0.1)
    assert features[:, 12] == pytest.approx(c42, abs=0.1)
    assert features[:, 13] == pytest.approx(c63, abs=0.4)


def test_noise_has_no_higher_cumulants():
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((4, 400_000)).astype(np.float32).view(np.complex64)
    features = cumulants(noise)
    assert features[:, [0, 1, 2, 6, 7, 8]] == pytest.approx(0, abs=0.05)
    assert features[:, [12, 13]] == pytest.approx(0, abs=0.3)


def test_level_does_not_matter():
    frames = make_frames(Signal(), (3, 3, 3, 3), seed=2).iq
    assert cumulants(7 * frames) == pytest.approx(cumulants(frames), rel=1e-3, abs=1e-4)
