"""The kernel on arm64, compiled for it and run on a processor that qemu imitates."""

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import get_args

import numpy as np
import pytest

from streaming.features import COUNT, describe_in_numpy
from streaming.maps import InputMap, longest_lag
from streaming.shape import Activation, EncoderShape, StridedStage
from streaming.weights import folded, folded_stages
from tests.require import ROOT, need_program
from tests.streaming.reference import cut, encoder_of, error, features, hops_of, noise
from training.heads.machine import sklearn_machine
from training.heads.search import kernel_matrix

NATIVE = ROOT / "streaming/native"
FLAGS = ["-std=c++17", "-O3", "-ffp-contract=fast", "-fno-math-errno", "-Wno-psabi"]  # those of setup.py
SMALL = EncoderShape(channels=8, depth=3, reduced=24)
SHAPES = [
    EncoderShape(),
    SMALL,
    EncoderShape(activation="relu", kernel=2, channels=5, depth=4, reduced=7),
    EncoderShape(activation="softplus", channels=13, depth=2, reduced=9),
    EncoderShape(
        channels=24,
        depth=2,
        reduced=20,
        pooling="max+mean+deviation",
        maps=get_args(InputMap),
        stages=(StridedStage(20, 10, 5), StridedStage(9, 4, 2)),
    ),
]
HOP = 50


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    """The kernel and the test's side of it, compiled for arm64."""
    compiler, folder = need_program("aarch64-linux-gnu-g++"), tmp_path_factory.mktemp("arm64")

    def compiled(source):
        out = folder / f"{source.stem}.o"
        subprocess.run([compiler, *FLAGS, "-c", str(source), "-o", str(out)], check=True)
        return out

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(compiled, [*NATIVE.glob("*.cpp"), ROOT / "tests/streaming/arm64_side.cpp"]))


@pytest.fixture(scope="module")
def arm64(objects):
    """Runs the kernel: what is written to it, and what it writes."""
    emulator, program = need_program("qemu-aarch64"), objects[0].parent / "side"
    command = ["aarch64-linux-gnu-g++", "-static", *map(str, objects), "-o", str(program), "-pthread"]
    subprocess.run(command, check=True)

    def run(what, *parts):
        given = b"".join(np.ascontiguousarray(part).tobytes() for part in parts)
        done = subprocess.run(
            [emulator, str(program), what], input=given, capture_output=True, check=False, timeout=500
        )
        assert done.returncode == 0, done
        return done.stdout

    return run


def whole(*values):
    return np.array(values, np.int64)


def push(arm64, shape, groups, threads=1, streams=1):
    """The hops (n, 2 or 3, reduced) of every stream, and their states; a group of pushes is one call."""
    encoder = encoder_of(shape)
    stages, blocks, maps = folded_stages(encoder), folded(encoder), shape.maps or ("iq",)
    cached = sum(conv.cached for conv in [*stages, *(c for b in blocks for c in (b.conv1, b.conv2))])
    per_hop = 3 if "deviation" in shape.pooling else 2
    state = 8 * longest_lag(shape.maps) + 4 * cached + (8 * per_hop - 4) * shape.reduced
    activation = get_args(Activation).index(shape.activation)
    about = (activation, shape.kernel, HOP, per_hop, threads, shape.reduced)
    parts = [whole(*about, len(maps), len(stages), len(blocks), streams, state)]
    parts.append(whole(*map(get_args(InputMap).index, maps)))
    for conv, stage, c_in in zip(stages, shape.stages, shape.inputs, strict=False):
        parts += [whole(c_in, stage.channels, stage.kernel, stage.stride), conv.taps, conv.bias]
    for block, (c_in, c_out, dilation) in zip(blocks, shape.blocks, strict=True):
        parts += [whole(c_in, c_out, dilation, block.residual is not None)]
        parts += [
            block.conv1.taps,
            block.conv1.bias,
            block.conv2.taps,
            block.conv2.bias,
            *(block.residual or ()),
        ]
    for group in groups:
        parts.append(whole(len(group)))
        for stream, samples in group:
            parts += [whole(stream, len(samples)), samples]
    out = arm64("engine", *parts, whole(0))
    found, seen, place = [[] for _ in range(streams)], [0] * streams, 0
    for stream, samples in (each for group in groups for each in group):
        count = (seen[stream] % HOP + len(samples)) // HOP
        seen[stream] += len(samples)
        values = np.frombuffer(out, np.float32, per_hop * count * shape.reduced, place)
        found[stream].append(values.reshape(count, per_hop, shape.reduced))
        place += values.nbytes
    assert len(out) == place + streams * state
    return [np.concatenate(hops) for hops in found], out[place:]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_encoder_on_arm64_is_conv1d(arm64, shape):
    x = noise(400)
    (found,), _ = push(arm64, shape, [[(0, x)]])
    maximum, total, scatter = hops_of(features(encoder_of(shape), x), HOP // shape.stride)
    assert error(found[:, 0], maximum) < 1e-6
    assert error(found[:, 1], total) < 1e-6
    if "deviation" in shape.pooling:
        assert error(found[:, 2], scatter) < 1e-5


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_cut_has_the_same_bits_on_arm64(arm64, shape):
    x = noise(330)
    expected = push(arm64, shape, [[(0, x)]])
    for pieces in (np.split(x, 330), cut(x, [1, 2, 7, 60, 61, 200]), np.split(x, 2)):
        (found,), state = push(arm64, shape, [[(0, piece)] for piece in pieces])
        assert np.array_equal(found, expected[0][0])
        assert state == expected[1]


@pytest.mark.parametrize("threads", [1, 3])
def test_streams_do_not_disturb_each_other_on_arm64(arm64, threads):
    signals = [noise(200 + 70 * i, seed=i) for i in range(5)]
    alone = [push(arm64, SMALL, [[(0, x)]])[0][0] for x in signals]
    first = [(i, x[: 40 + 30 * i]) for i, x in enumerate(signals)]
    second = [(i, x[40 + 30 * i :]) for i, x in enumerate(signals)]
    together, _ = push(arm64, SMALL, [first, second], threads, streams=5)
    for ours, expected in zip(together, alone, strict=True):
        assert np.array_equal(ours, expected)


@pytest.mark.parametrize("length", [48, 777, 2_048, 20_480])
def test_features_on_arm64_are_those_of_numpy(arm64, length):
    x = noise(length) * 0.1 + np.exp(0.3j * np.arange(length) ** 1.1).astype(np.complex64)
    out = arm64("describe", whole(length, COUNT), np.float32(12.0), x)
    expected = describe_in_numpy(x, 12.0)
    apart = np.abs(np.frombuffer(out, np.float32) - expected) / np.maximum(np.abs(expected), 0.3)
    assert np.quantile(apart, 0.99) < 1e-4
    assert apart.max() < 5e-3


def test_a_support_vector_machine_on_arm64_is_scikit_learns(arm64):
    rng = np.random.default_rng(0)
    labels = np.arange(80) % 2
    x = rng.normal(labels[:, None], 1.0, (80, 4))
    gram = kernel_matrix(x @ x.T, "rbf", 0.25)
    out = arm64("machine", whole(80, 10**6), np.float64(1.0), gram, np.where(labels == 1, 1.0, -1.0))
    found = np.frombuffer(out, np.float64)
    decisions = gram @ found[:-1] + found[-1]
    assert np.abs(decisions - sklearn_machine(gram, labels, 1.0, 10**6).decide(gram)[:, 0]).max() < 1e-2


def test_products_are_made_of_neons_vectors(objects):
    program = need_program("aarch64-linux-gnu-objdump")
    (path,) = [path for path in objects if path.stem == "isa_portable"]
    listing = subprocess.run([program, "-d", str(path)], capture_output=True, text=True, check=True).stdout
    vectors, scalars = (len(re.findall(rf"\tfmla\t{form}", listing)) for form in (r"v\d+\.4s", r"s\d+"))
    assert vectors > 100
    assert scalars == 0
