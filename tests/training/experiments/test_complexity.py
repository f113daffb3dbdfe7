"""Costs against what the sources say, and the appendix's relation."""

import doctest

import pytest
import torch
from torch import nn

from streaming.errors import ConfigError
from training.experiments import mobility
from training.experiments.complexity import costs, multiply_adds, write
from training.methods.cnn import Cnn

BY_NAME = {cost.method: cost for cost in costs()}


def test_weights_and_operations_are_the_papers():
    ours, cnn = BY_NAME["FedSSL-AMC"], BY_NAME["FedAvg-CNN"]
    assert ours.weights == 246_760
    assert cnn.weights == 1_775_812
    assert ours.counted_mflop == pytest.approx(ours.paper_mflop, rel=0.005)
    assert cnn.counted_mflop == pytest.approx(cnn.paper_mflop, rel=0.01)
    assert ours.needed_mflop == pytest.approx(2 * 193_920 * 100 / 1e6, rel=0.003)


def test_bytes_are_four_a_tensor_element_down_and_up():
    assert BY_NAME["FedSSL-AMC"].round_bytes == 2 * 4 * 247_880  # with the gains of weight norm
    assert BY_NAME["FedSSL-AMC"].total_bytes == 10 * BY_NAME["FedSSL-AMC"].round_bytes
    assert BY_NAME["FedRep-CNN"].round_bytes == BY_NAME["FedAvg-CNN"].round_bytes - 2 * 4 * (128 * 4 + 4)


def test_projection_heads_travel_too():
    heads = 320 * 256 + 256 + 256 * 128 + 128  # of the recipe `wavetell`, two linear layers
    assert BY_NAME["wavetell"].weights == 246_760
    assert BY_NAME["wavetell"].round_bytes == 2 * 4 * (247_880 + heads) == 2_903_616
    semi = BY_NAME["SemiAMC"]
    projection = 128 * 128 + 128 + 4 * 128 + 128 * 64 + 64 + 4 * 64  # with the statistics of two BNs
    assert semi.round_bytes == 2 * 4 * (semi.weights + projection) + 2 * 8 * 2  # and their two counters


def test_multiply_adds_of_layers_by_hand():
    assert multiply_adds(Cnn(100, 4), 100) == (
        2 * 128 * 16 * 101 + 128 * 64 * 8 * 102 + 64 * 102 * 256 + 256 * 128 + 128 * 4
    )

    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = nn.LSTM(2, 3, batch_first=True)

        def forward(self, x):
            return self.lstm(x)[0]

    assert multiply_adds(Recurrent(), 7) == 7 * 4 * 3 * (2 + 3)


def test_the_table_is_written(tmp_path):
    paths = write(tmp_path)
    assert "| FedSSL-AMC | 246,760 | 473.56 | 471.37 | 38.89 | 10 |" in paths[1].read_text()


def test_the_mobility_relation():
    assert doctest.testmod(mobility).failed == 0
    # 300 km/h on 28 GHz at 1 MS/s, by hand: 28e9 * 83.333 / (1e6 * 299792458)
    assert mobility.cycles_per_sample(300 / 3.6, 28e9, 1e6) == pytest.approx(7.7832e-3, rel=1e-4)
    assert mobility.cycles_per_sample(-10.0, 1e9, 1e6) < 0
    offset = mobility.frame_offset(mobility.cycles_per_sample(50.0, 2.4e9, 1e6), 100)
    assert mobility.speed_of(offset, 2.4e9, 1e6, 100) == pytest.approx(50.0)
    assert mobility.regime(0.5) == (0.1, 1.0)
    assert mobility.regime(25.0) is None
    with pytest.raises(ConfigError, match="below that of light"):
        mobility.cycles_per_sample(3e8, 1e9, 1e6)


def test_motion_turns_a_signal_as_the_relation_says():
    """A tone of a moving transmitter, made from its distance alone."""
    speed, carrier, rate = 40.0, 2.4e9, 1e6
    t = torch.arange(2_000, dtype=torch.float64) / rate
    delay = (1_000.0 - speed * t) / mobility.LIGHT
    baseband = torch.exp(-2j * torch.pi * carrier * delay)
    turned = torch.angle(baseband[1:] * baseband[:-1].conj()).mean() / (2 * torch.pi)
    assert float(turned) == pytest.approx(mobility.cycles_per_sample(speed, carrier, rate), rel=1e-6)
