"""The batch encoder against torch's own nn.Conv1d."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
import torch

from streaming.encoder import Encoder, iq
from streaming.errors import ConfigError, InputError
from streaming.maps import InputMap
from streaming.plain_encoder import PlainEncoder
from streaming.shape import CHEAP, EncoderShape, Pooling, StridedStage
from tests.streaming.reference import Reference, error, features, noise

SHAPES = [
    EncoderShape(),
    EncoderShape(activation="relu", channels=8, depth=3, reduced=12),
    EncoderShape(activation="softplus", channels=8, depth=3, reduced=12),
    EncoderShape(kernel=1, depth=2),
    EncoderShape(kernel=2, channels=5, depth=4, reduced=7),
    EncoderShape(kernel=5, channels=3, depth=2, reduced=3),
    EncoderShape(channels=2, depth=1, reduced=2),
]
STRIDED = [
    CHEAP,
    EncoderShape(channels=5, depth=2, reduced=7, stages=(StridedStage(6, 6, 3), StridedStage(4, 2, 1))),
    EncoderShape(channels=6, depth=1, reduced=6, maps=get_args(InputMap), kernel=2),
]


@pytest.mark.parametrize("shape", SHAPES + STRIDED, ids=str)
@pytest.mark.parametrize("samples", [1, 2, 100, 700])
def test_features_equal_conv1d_with_left_padding(shape, samples):
    encoder = Encoder(shape)
    x = noise(max(samples, shape.stride))
    with torch.no_grad():
        found = encoder.features(iq(x[None]))[0].numpy()
    assert error(found, features(encoder, x)) < 1e-6


@pytest.mark.parametrize("shape", SHAPES[1:] + STRIDED, ids=str)
def test_gradients_equal_those_of_conv1d(shape):
    encoder = Encoder(shape)
    reference = Reference(encoder)
    x = iq(noise(2 * 90).reshape(2, 90))
    weights = torch.randn(2, 90 // shape.stride, shape.reduced)
    (encoder.features(x) * weights).sum().backward()
    (reference(x.transpose(1, 2)) * weights.transpose(1, 2)).sum().backward()
    convs = list(zip(encoder.stages, reference.stages, strict=True))
    for ours, theirs in zip(encoder.blocks, reference.blocks, strict=True):
        convs += [(getattr(ours, name), theirs[name]) for name in ("conv1", "conv2")]
    for ours, theirs in convs:
        taps = theirs.parametrizations.weight
        pairs = [
            (ours.bias.grad, theirs.bias.grad),
            (ours.g.grad, taps.original0.grad.flatten()),
            (ours.v.grad, taps.original1.grad),
        ]
        for found, expected in pairs:
            assert torch.allclose(found, expected, rtol=1e-3, atol=1e-5 * float(expected.abs().max() + 1))


@pytest.mark.parametrize("pooling", get_args(Pooling))
def test_embedding_is_the_linear_map_of_the_pooled_features(pooling):
    encoder = Encoder(EncoderShape(channels=6, depth=2, reduced=9, outputs=5, pooling=pooling))
    x = noise(3 * 50).reshape(3, 50)
    rows = []
    for frame in x:
        f = features(encoder, frame)
        parts = {"max": f.max(0), "mean": f.mean(0), "deviation": np.sqrt(f.var(0) + 1e-6)}
        rows.append(np.concatenate([parts[name] for name in pooling.split("+")]))
    weight, bias = encoder.linear.weight.detach().numpy(), encoder.linear.bias.detach().numpy()
    assert error(encoder.encode(x, batch=2), np.stack(rows) @ weight.T + bias) < 1e-6


@pytest.mark.parametrize("pooling", ["max", "mean", "max+mean", "max+mean+deviation"])
@pytest.mark.parametrize("shape", SHAPES + STRIDED, ids=str)
@pytest.mark.parametrize("samples", [1, 2, 100, 700])
def test_plain_arrays_encode_as_torch_does(shape, samples, pooling):
    encoder, samples = Encoder(replace(shape, pooling=pooling)), max(samples, shape.stride)
    x = noise(3 * samples).reshape(3, samples)
    plain = PlainEncoder(encoder.shape, encoder.arrays())
    assert error(plain.encode(x, batch=2), encoder.encode(x)) < 1e-6


def test_paper_shape_has_the_papers_numbers():
    encoder = Encoder(EncoderShape())
    gains = sum(p.numel() for name, p in encoder.named_parameters() if name.endswith(".g"))
    assert sum(p.numel() for p in encoder.parameters()) - gains == 246_760
    assert gains == 247_880 - 246_760
    assert encoder.shape.receptive_field == 8_189
    assert encoder.shape.multiply_adds() == 193_920


def test_the_cheap_shape_costs_what_its_convolutions_do():
    """Counted from the weights: each is used once for every output of its convolution."""
    encoder, rates = Encoder(CHEAP), [4, 8, 16]
    used = sum(stage.v.numel() / rate for stage, rate in zip(encoder.stages, rates, strict=True))
    used += sum(p.numel() / 16 for name, p in encoder.blocks.named_parameters() if name.endswith(".v"))
    assert CHEAP.multiply_adds() == used == 5_824
    assert CHEAP.stride == 16


@pytest.mark.parametrize("shape", SHAPES + STRIDED, ids=str)
def test_a_feature_sees_its_receptive_field_and_nothing_before(shape):
    encoder = Encoder(replace(shape, activation="leaky_relu"))  # which no input leaves without a slope
    end = -(-(shape.receptive_field + 20) // shape.stride) * shape.stride
    x = iq(noise(end)[None]).requires_grad_()
    encoder.features(x)[0, -1].sum().backward()
    assert end - int(torch.nonzero(x.grad[0].abs().sum(-1))[0]) == shape.receptive_field


def test_same_seed_gives_same_weights_and_leaves_torchs_generator_alone():
    before = torch.random.get_rng_state()
    first, second, other = (Encoder(EncoderShape(depth=1), seed).arrays() for seed in (3, 3, 4))
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert not np.array_equal(first["linear.weight"], other["linear.weight"])
    assert torch.equal(before, torch.random.get_rng_state())


def test_arrays_make_the_same_encoder_again():
    shape = EncoderShape(channels=4, depth=2, reduced=6, outputs=3)
    encoder = Encoder(shape, seed=1)
    again = Encoder.from_arrays(shape, encoder.arrays())
    x = noise(40)[None]
    assert np.array_equal(encoder.encode(x), again.encode(x))


def test_arrays_of_another_shape_are_refused():
    arrays = Encoder(EncoderShape(channels=4, depth=1)).arrays()
    with pytest.raises(InputError, match=r"encoder tensor \S+ has shape .*; expected"):
        Encoder.from_arrays(EncoderShape(channels=5, depth=1), arrays)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"depth": 0}, "encoder.depth is 0; it must be a whole number of at least 1"),
        ({"depth": 21}, "encoder.depth is 21; it must be at most 20"),
        ({"channels": 2.5}, "encoder.channels is 2.5; it must be a whole number of at least 1"),
        ({"maps": ("iq", "iq")}, "encoder.maps names one of them twice; each may be there once"),
        ({"maps": ("cube",)}, "encoder.maps[0] is 'cube'; it must be " + " or ".join(get_args(InputMap))),
        (
            {"stages": [{"channels": 8, "kernel": 6, "stride": 4}]},
            "encoder.stages: kernel is 6; it must be a multiple of the stride, 4",
        ),
        (
            {"stages": [{"channels": 8, "kernel": 32, "stride": 32}]},
            "encoder.stages[0].stride is 32; it must be at most 16",
        ),
        ({"stages": [StridedStage(8, 16, 16)] * 2}, "encoder.stages have stride 256 in all; at most 64"),
        ({"stages": [StridedStage(8, 1, 1)] * 5}, "encoder.stages has 5 entries; at most 4 may be"),
        (
            {"depth": 20, "kernel": 64},
            "encoder: a stream would cache 18,496,873,206 values; at most 16,777,216",
        ),
        ({"activation": "tanh"}, "encoder.activation is 'tanh'; it must be leaky_relu or relu or softplus"),
    ],
)
def test_impossible_shapes_are_refused(settings, message):
    with pytest.raises(ConfigError) as caught:
        EncoderShape(**settings)
    assert str(caught.value) == message


def test_frames_that_are_shorter_than_the_stride_are_refused():
    with pytest.raises(InputError, match=r"frames have shape \(2, 15\); expected .* at least 16 samples"):
        Encoder(CHEAP).encode(np.zeros((2, 15), np.complex64))


def test_frames_without_samples_are_refused():
    encoder = Encoder(EncoderShape(channels=2, depth=1, reduced=2))
    for frames in (np.zeros((2, 0), np.complex64), np.zeros(5, np.complex64)):
        with pytest.raises(InputError, match="frames have shape"):
            encoder.encode(frames)
