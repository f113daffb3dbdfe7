"""What the native kernel promises beyond the other back ends: equal bits, any threads, bfloat16, no crash."""

import importlib.util
import itertools
import math
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from streaming import native_library
from streaming.bundle import load_bundle
from streaming.encoder import Encoder
from streaming.engine import open_engine
from streaming.errors import BackendError
from streaming.shape import CHEAP, EncoderShape, StridedStage
from streaming.weights import folded
from tests.require import ROOT, need
from tests.streaming.reference import (
    EXACT,
    cut,
    encoder_of,
    engine_of,
    engine_with,
    error,
    features,
    hops_of,
    joined,
    noise,
)
from training.pretraining.canonical import round_weights

PAPER = EncoderShape()
SMALL = EncoderShape(depth=3)
ODD = EncoderShape(channels=11, depth=2, reduced=19, kernel=2, activation="softplus")
STRIDED = EncoderShape(  # no stage has whole groups of eight channels
    channels=9,
    depth=1,
    reduced=21,
    pooling="max+mean+deviation",
    maps=("iq", "level", "increment", "fourth", "delay16"),
    stages=(StridedStage(20, 4, 2), StridedStage(9, 10, 5)),
)
LENGTH = 1500
NATIVE = ["portable", "avx2", "avx512", "avx512bf16", "amx-emulated", "amx"]
cuts = st.sets(st.integers(1, LENGTH - 1), max_size=20)


@pytest.mark.parametrize("how", NATIVE)
@pytest.mark.parametrize("shape", [SMALL, ODD, STRIDED, CHEAP], ids=str)
@settings(max_examples=8, deadline=None)
@given(cuts=cuts)
def test_every_cut_gives_the_same_bits(how, shape, cuts):
    engine = engine_of(how, shape, math.lcm(100, shape.stride))
    x = noise(LENGTH)
    whole, pieces = engine.stream(), engine.stream()
    assert np.array_equal(joined([whole.push(x)]), joined([pieces.push(piece) for piece in cut(x, cuts)]))
    assert whole.save() == pieces.save()


@pytest.mark.parametrize("how", NATIVE)
@pytest.mark.parametrize("shape", [ODD, STRIDED], ids=str)
@settings(max_examples=8, deadline=None)
@given(at=st.integers(1, LENGTH - 1))
def test_a_restored_stream_gives_the_same_bits(how, shape, at):
    engine = engine_of(how, shape)
    x = noise(LENGTH)
    whole, first, second = engine.stream(), engine.stream(), engine.stream()
    second.push(noise(321, seed=4))
    hops = [first.push(x[:at])]
    second.restore(first.save())
    assert second.save() == first.save()
    assert np.array_equal(joined([whole.push(x)]), joined([*hops, second.push(x[at:])]))
    assert whole.save() == second.save()


@pytest.mark.parametrize("kept", [None, "blocks.1.conv2.v", "residual.weight"])
@pytest.mark.parametrize("how", EXACT[1:])
@pytest.mark.parametrize("shape", [SMALL, ODD, STRIDED, EncoderShape(channels=33, depth=2)], ids=str)
def test_weights_read_as_bfloat16_give_the_bits_of_float32(shape, how, kept):
    """A push of one sample reads them so, a longer one does not; other weights are never rounded."""
    encoder = Encoder(shape)
    before = {name: tensor.clone() for name, tensor in encoder.state_dict().items()}
    round_weights(encoder)
    if kept:
        encoder.load_state_dict({n: t for n, t in before.items() if n.endswith(kept)}, strict=False)
    engine = engine_with(how, encoder)
    x = noise(400)
    whole, singly, pairs = (engine.stream() for _ in range(3))
    found = joined([whole.push(x)])
    assert np.array_equal(found, joined([singly.push(x[i : i + 1]) for i in range(400)]))
    assert np.array_equal(found, joined([pairs.push(x[i : i + 2]) for i in range(0, 400, 2)]))
    assert whole.save() == singly.save() == pairs.save()
    assert error(found[:, 0], hops_of(features(encoder, x), 100 // shape.stride)[0]) < 1e-6


def test_the_shipped_models_weights_are_bfloat16():
    """Or one sample would take half as long again; rounding them once more changes nothing."""
    for path in sorted((ROOT / "streaming/bundles").glob("*.safetensors")):
        for block in folded(load_bundle(path).encoder):
            for array in (block.conv1.taps, block.conv2.taps, *(block.residual or ())[:1]):
                assert np.array_equal(torch.from_numpy(array).bfloat16().float().numpy(), array), path


def need_direct_call():
    need(importlib.util.find_spec("streaming._kernel") is not None, "the native kernel")
    need(native_library.push_one() is not native_library.library().wavetell_push_one, "Python's headers")


def test_a_push_through_ctypes_gives_the_same_bits(monkeypatch):
    need_direct_call()
    direct = open_engine(encoder_of(SMALL), backend="native")
    monkeypatch.setitem(sys.modules, native_library.MODULE, None)  # as if built without Python's headers
    through_ctypes = open_engine(encoder_of(SMALL), backend="native")
    assert direct.push_one is not through_ctypes.push_one
    x = noise(LENGTH)
    found = [joined([engine.stream().push(x)]) for engine in (direct, through_ctypes)]
    assert np.array_equal(*found)


def test_a_push_of_wrong_arguments_is_refused():
    need_direct_call()
    push_one = native_library.push_one()
    with pytest.raises(TypeError, match="push_one takes 5 arguments, not 1"):
        push_one(1)
    with pytest.raises(TypeError, match="expected bytes"):
        push_one(0, 0, None, 1, 0)


@pytest.mark.parametrize(
    "shape", [PAPER, ODD, STRIDED, EncoderShape(channels=33, depth=2, activation="relu")], ids=str
)
def test_avx2_and_avx512_give_the_same_bits(shape):
    x = noise(LENGTH)
    streams = [engine_of(how, shape).stream() for how in ("avx2", "avx512")]
    first, second = (joined([stream.push(x)]) for stream in streams)
    assert np.array_equal(first, second)
    assert streams[0].save() == streams[1].save()


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("how", ["avx512", "avx512bf16", "portable"])
@pytest.mark.parametrize("shape", [SMALL, STRIDED], ids=str)
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_a_stream_among_others_has_the_bits_it_has_alone(how, shape, threads, data):
    alone, together = engine_of(how, shape), engine_of(how, shape, threads=threads)
    signals = [noise(LENGTH, seed) for seed in range(data.draw(st.integers(1, 7)))]
    streams = [together.stream() for _ in signals]
    pieces = [cut(signal, data.draw(cuts)) for signal in signals]
    hops = [[] for _ in signals]
    for round_ in itertools.zip_longest(*pieces):
        taking = [i for i, piece in enumerate(round_) if piece is not None]
        for i, found in zip(taking, together.push([(streams[i], round_[i]) for i in taking]), strict=True):
            hops[i].append(found)
    for signal, found in zip(signals, hops, strict=True):
        assert np.array_equal(joined(found), joined([alone.stream().push(signal)]))


@pytest.mark.parametrize("how", ["avx512", "avx512bf16"])
@pytest.mark.parametrize("shape", [PAPER, CHEAP], ids=["paper", "cheap"])
def test_a_stream_split_over_two_threads_has_the_same_bits(how, shape):
    one, two = (engine_of(how, shape, 400, threads=threads).stream() for threads in (1, 2))
    x = noise(20_000)
    pieces = cut(x, [1, 101, 140, 165, 1189, 5285])
    for piece in pieces:
        assert np.array_equal(joined([one.push(piece)]), joined([two.push(piece)]))
    assert one.save() == two.save()


@pytest.mark.parametrize("how", ["avx512bf16", "amx-emulated", "amx"])
@pytest.mark.parametrize("shape", [PAPER, CHEAP], ids=["paper", "cheap"])
def test_bfloat16_stays_near_float32(how, shape):
    x = noise(LENGTH)
    maximum, total, _ = hops_of(features(encoder_of(shape), x), 400 // shape.stride)
    found = joined([engine_of(how, shape, 400).stream().push(x)])
    assert error(found[:, 0], maximum) < 1e-2
    assert error(found[:, 1], total) < 1e-2


def test_emulated_tiles_agree_with_avx512bf16():
    """Two packings and two orders of summation of the same rounded numbers."""
    x = noise(LENGTH)
    first, second = (
        joined([engine_of(how, SMALL).stream().push(x)]) for how in ("avx512bf16", "amx-emulated")
    )
    assert error(first, second) < 5e-3


def test_softplus_is_within_a_millionth_of_torch():
    """One block that lets its input through: conv1 scales, conv2 passes on, and the residual is nothing."""
    shape = EncoderShape(channels=1, depth=1, reduced=1, kernel=1, activation="softplus")
    encoder = Encoder(shape)
    x = np.concatenate([np.linspace(-80, 80, 4001), np.linspace(-1, 1, 1001)]).astype(np.float32)
    with torch.no_grad():
        for block in encoder.blocks:
            for conv in (block.conv1, block.conv2):
                conv.bias.zero_()
                conv.v.copy_(torch.tensor([1.0, 0.0])[: conv.v.shape[1]].view(1, -1, 1))
                conv.g.fill_(1)
        encoder.blocks[0].residual.weight.zero_()
        encoder.blocks[0].residual.bias.fill_(-math.log(2))
    hops = engine_of_encoder(encoder).stream().push(x.astype(np.complex64))
    y = functional.softplus(functional.softplus(torch.from_numpy(x).double())) - math.log(2)
    expected = (functional.softplus(functional.softplus(y)) + y).numpy()
    assert np.abs(hops.maximum[:, 0] / expected - 1).max() < 1e-6


def engine_of_encoder(encoder):
    need(importlib.util.find_spec("streaming._kernel") is not None, "the native kernel")
    return open_engine(encoder, hop=1, backend="native")


def test_auto_is_the_exact_kernel_and_never_bfloat16():
    need(importlib.util.find_spec("streaming._kernel") is not None, "the native kernel")
    engine = open_engine(encoder_of(SMALL), threads=2)
    assert engine.name == "native"
    assert engine.detail.startswith("native (")
    assert engine.detail.endswith(", 2 threads)")


@pytest.mark.parametrize("program", ["import os; os.abort()", "print(0.5)", "print('inf')"])
def test_an_instruction_set_that_fails_in_the_child_is_not_used(monkeypatch, program):
    need(importlib.util.find_spec("streaming._kernel") is not None, "the native kernel")
    monkeypatch.setattr(native_library, "PROBE", program)
    native_library.works.cache_clear()
    try:
        with pytest.raises(BackendError, match="cannot run avx512 or avx2 or neon or portable on"):
            native_library.choose_isa(bf16=False)
        with pytest.raises(
            BackendError, match="needs a processor with AMX or AVX512-BF16; this one has neither"
        ):
            native_library.choose_isa(bf16=True)
    finally:
        native_library.works.cache_clear()


def test_the_probe_is_quick_and_imports_no_torch():
    need(importlib.util.find_spec("streaming._kernel") is not None, "the native kernel")
    script = native_library.PROBE + "print('torch' in sys.modules)"
    command = [sys.executable, "-I", "-S", "-c", script, native_library.library_path(), "portable"]
    error_, torch_there = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert float(error_) == 0
    assert torch_there == "False"
