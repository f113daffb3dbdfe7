"""The batch encoder against torch's own nn.Conv1d."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from streaming.encoder import Encoder, iq
from streaming.errors import ConfigError, InputError
from streaming.plain_encoder import PlainEncoder
from streaming.shape import EncoderShape
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


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("samples", [1, 2, 100, 700])
def test_features_equal_conv1d_with_left_padding(shape, samples):
    encoder = Encoder(shape)
    x = noise(samples)
    with torch.no_grad():
        found = encoder.features(iq(x[None]))[0].numpy()
    assert error(found, features(encoder, x)) < 1e-6


@pytest.mark.parametrize("shape", SHAPES[1:], ids=str)
def test_gradients_equal_those_of_conv1d(shape):
    encoder = Encoder(shape)
    reference = Reference(encoder)
    x = iq(noise(2 * 90).reshape(2, 90))
    weights = torch.randn(2, 90, shape.reduced)
    (encoder.features(x) * weights).sum().backward()
    (reference(x.transpose(1, 2)) * weights.transpose(1, 2)).sum().backward()
    for ours, theirs in zip(encoder.blocks, reference.blocks, strict=True):
        for name in ("conv1", "conv2"):
            conv, taps = getattr(ours, name), theirs[name].parametrizations.weight
            pairs = [
                (conv.bias.grad, theirs[name].bias.grad),
                (conv.g.grad, taps.original0.grad.flatten()),
                (conv.v.grad, taps.original1.grad),
            ]
            for found, expected in pairs:
                assert torch.allclose(found, expected, rtol=1e-3, atol=1e-5 * float(expected.abs().max() + 1))


@pytest.mark.parametrize("pooling", ["max", "mean", "max+mean"])
def test_embedding_is_the_linear_map_of_the_pooled_features(pooling):
    encoder = Encoder(EncoderShape(channels=6, depth=2, reduced=9, outputs=5, pooling=pooling))
    x = noise(3 * 50).reshape(3, 50)
    rows = []
    for frame in x:
        f = features(encoder, frame)
        rows.append(np.concatenate([f.max(0)] * ("max" in pooling) + [f.mean(0)] * ("mean" in pooling)))
    weight, bias = encoder.linear.weight.detach().numpy(), encoder.linear.bias.detach().numpy()
    assert error(encoder.encode(x, batch=2), np.stack(rows) @ weight.T + bias) < 1e-6


@pytest.mark.parametrize("pooling", ["max", "mean", "max+mean"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("samples", [1, 2, 100, 700])
def test_plain_arrays_encode_as_torch_does(shape, samples, pooling):
    encoder = Encoder(replace(shape, pooling=pooling))
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
        ({"activation": "tanh"}, "encoder.activation is 'tanh'; it must be leaky_relu or relu or softplus"),
    ],
)
def test_impossible_shapes_are_refused(settings, message):
    with pytest.raises(ConfigError) as caught:
        EncoderShape(**settings)
    assert str(caught.value) == message


def test_frames_without_samples_are_refused():
    encoder = Encoder(EncoderShape(channels=2, depth=1, reduced=2))
    for frames in (np.zeros((2, 0), np.complex64), np.zeros(5, np.complex64)):
        with pytest.raises(InputError, match="frames have shape"):
            encoder.encode(frames)
