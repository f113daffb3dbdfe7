"""Encoders with input maps, strided stages and deviations: the batch encoder's features for any cut."""

from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streaming.engine import open_engine
from streaming.errors import ConfigError
from streaming.maps import InputMap, channels, expand, longest_lag
from streaming.shape import CHEAP, EncoderShape, StridedStage
from streaming.window import Window
from tests.streaming.reference import (
    EXACT,
    cut,
    encoder_of,
    engine_of,
    error,
    features,
    hops_of,
    interleaved,
    joined,
    mapped,
    noise,
)

MAPS = get_args(InputMap)
LENGTH = 1000
STAGES = (StridedStage(6, 8, 4), StridedStage(9, 2, 2))
SMALL = EncoderShape(
    channels=9,
    depth=2,
    reduced=7,
    outputs=5,
    kernel=2,
    pooling="max+mean+deviation",
    maps=("iq", "level", "delay16"),
    stages=STAGES,
)
SHAPES = [
    CHEAP,
    SMALL,
    EncoderShape(channels=8, depth=1, reduced=8, maps=MAPS, activation="softplus"),
    EncoderShape(channels=40, depth=2, reduced=40, stages=(StridedStage(40, 3, 3),), activation="relu"),
    EncoderShape(channels=5, depth=1, reduced=3, stages=(StridedStage(3, 4, 1), StridedStage(5, 32, 16))),
    EncoderShape(channels=4, depth=1, reduced=4, maps=("level",), stages=STAGES, pooling="mean+deviation"),
]
BACKENDS = EXACT
every_backend = pytest.mark.parametrize("how", BACKENDS)
cuts = st.sets(st.integers(1, LENGTH - 1), max_size=30)


def check(hops, shape, samples, hop):
    """The hops that an engine found are those of the whole signal."""
    maximum, total, scatter = hops_of(features(encoder_of(shape), samples), hop // shape.stride)
    found = joined(hops)
    assert error(found[:, 0], maximum) <= 1e-6
    assert error(found[:, 1], total) <= 1e-6
    assert found.shape[1] == (3 if "deviation" in shape.pooling else 2)
    if found.shape[1] == 3:
        squares = scatter + total**2 * shape.stride / hop
        assert np.abs(found[:, 2] - scatter).max() <= 1e-6 * squares.max()


@pytest.mark.parametrize("name", MAPS)
def test_a_map_is_what_polar_form_says(name):
    x = noise(50)
    x[[3, 20]] = 0
    found = expand(x, (name,)).T
    expected = mapped(x.view(np.float32).reshape(1, -1, 2).transpose(0, 2, 1), (name,))[0]
    assert len(found) == channels((name,))
    np.testing.assert_allclose(found, expected, atol=2e-6)


@pytest.mark.parametrize("name", MAPS)
def test_a_map_sees_nothing_beyond_its_lag(name):
    x, y = noise(60, seed=1), noise(60, seed=2)
    y[-1 - longest_lag((name,)) :] = x[-1 - longest_lag((name,)) :]
    np.testing.assert_array_equal(expand(x, (name,))[-1], expand(y, (name,))[-1])


@every_backend
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_engine_equals_encoder_for_every_shape(how, shape):
    x, hop = noise(LENGTH), 3 * shape.stride
    stream = engine_of(how, shape, hop).stream()
    check([stream.push(piece) for piece in cut(x, [1, 2, 7, 300, 301, 777])], shape, x, hop)


@every_backend
@settings(max_examples=15, deadline=None)
@given(cuts=cuts, hop=st.sampled_from([8, 56, 104, 1000, 1008]))
def test_engine_equals_encoder_for_any_cut(how, cuts, hop):
    stream = engine_of(how, SMALL, hop).stream()
    x = noise(LENGTH)
    hops = [stream.push(piece) for piece in cut(x, cuts)]
    assert stream.position == LENGTH
    if hop > LENGTH:
        assert joined(hops).shape == (0, 3, 7)
    else:
        check(hops, SMALL, x, hop)


@every_backend
@pytest.mark.parametrize("shape", [CHEAP, SMALL], ids=["cheap", "small"])
def test_single_samples_give_what_one_chunk_gives(how, shape):
    stream = engine_of(how, shape, 48).stream()
    x = noise(300)
    check([stream.push(x[i : i + 1]) for i in range(300)], shape, x, 48)


@every_backend
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_sixteen_interleaved_streams_do_not_touch_each_other(how, data):
    engine = engine_of(how, SMALL, 40)
    streams = [engine.stream() for _ in range(16)]
    signals = [noise(LENGTH, seed) for seed in range(16)]
    pieces = [iter(cut(signal, data.draw(cuts))) for signal in signals]
    for signal, found in zip(signals, interleaved(engine, streams, pieces), strict=True):
        check(found, SMALL, signal, 40)
    for stream in streams:
        stream.close()


@every_backend
@settings(max_examples=15, deadline=None)
@given(at=st.integers(0, LENGTH - 1))
def test_a_restored_stream_goes_on_as_if_nothing_had_happened(how, at):
    engine = engine_of(how, SMALL, 40)
    stream, other = engine.stream(), engine.stream()
    x = noise(LENGTH)
    other.push(noise(123, seed=9))
    hops = [stream.push(x[:at])] if at else []
    state = stream.save()
    other.restore(state)
    assert other.position == at
    assert other.save() == state
    check([*hops, other.push(x[at:])], SMALL, x, 40)
    stream.close()
    other.close()


@every_backend
def test_reset_forgets_everything(how):
    stream = engine_of(how, SMALL, 40).stream()
    stream.push(noise(777, seed=1))
    stream.reset()
    x = noise(LENGTH)
    check([stream.push(x)], SMALL, x, 40)


@every_backend
@pytest.mark.parametrize("shape", [CHEAP, SMALL], ids=["cheap", "small"])
@pytest.mark.parametrize("window", [None, 480])
def test_engine_and_window_equal_the_encoder_over_the_whole_history(how, shape, window):
    encoder, x = encoder_of(shape), noise(LENGTH)
    stream, ours = engine_of(how, shape, 48).stream(), Window(encoder, 48, window)
    found = np.concatenate([ours.push(stream.push(piece)) for piece in cut(x, [5, 333])])[-1]
    end = LENGTH // 48 * 48
    seen = features(encoder, x[:end])[-(window or end) // shape.stride :].astype(np.float64)
    pooled = np.concatenate([seen.max(0), seen.mean(0), np.sqrt(seen.var(0) + 1e-6)])
    weight, bias = (p.detach().numpy() for p in (encoder.linear.weight, encoder.linear.bias))
    assert error(found, pooled @ weight.T + bias) < 1e-6


def test_a_deviation_is_right_where_the_mean_is_a_thousand_times_as_large():
    encoder = encoder_of(SMALL)
    f = (1000 + np.random.default_rng(0).standard_normal((60, 7))).astype(np.float32)
    hops = type(engine_of("torch", SMALL, 40).none)(*map(np.float32, hops_of(f, 5)))
    found, weight = Window(encoder, 40, 480).push(hops)[-1], encoder.linear.weight.detach().numpy()
    pooled = np.concatenate([f.max(0), f.mean(0, dtype=np.float64), f.std(0, dtype=np.float64)])
    assert error(found, pooled @ weight.T + encoder.linear.bias.detach().numpy()) < 1e-6


def test_a_hop_that_is_no_multiple_of_the_stride_is_refused():
    for opened in (open_engine, lambda encoder, hop: Window(encoder, hop, None)):
        with pytest.raises(ConfigError, match="hop is 100; it must be a multiple of the encoder's stride, 8"):
            opened(encoder_of(SMALL), 100)
