"""Weights of few bits."""

import numpy as np
import torch
from torch import nn

from training.methods.precision import hold


def test_float16_is_numpys_rounding():
    weight = nn.Parameter(torch.randn(100))
    expected = weight.detach().numpy().astype(np.float16).astype(np.float32)
    hold([weight], "float16")
    assert (weight.detach().numpy() == expected).all()


def test_int8_has_at_most_255_levels_and_errs_by_less_than_one():
    weight = nn.Parameter(torch.randn(5_000))
    before = weight.detach().numpy().copy()
    hold([weight], "int8")
    after = weight.detach().numpy()
    scale = np.abs(before).max() / 127
    assert len(np.unique(after)) <= 255
    assert np.abs(after / scale - np.rint(after / scale)).max() < 1e-3
    assert np.abs(after - before).max() < scale * (1 + 1e-5)


def test_int8_rounding_is_right_on_average():
    weight = nn.Parameter(torch.full((40_000,), 0.3))
    weight.data[0] = 127.0  # the scale is 1
    hold([weight], "int8")
    assert abs(weight.detach()[1:].mean().item() - 0.3) < 0.01


def test_float32_and_zeros_stay():
    weight = nn.Parameter(torch.zeros(3))
    for precision in ("float32", "float16", "int8"):
        hold([weight], precision)
        assert not weight.detach().any()
