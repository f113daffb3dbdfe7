"""What an engine refuses: in one clear line, and with every state unharmed."""

import hashlib
import json

import numpy as np
import pytest

from streaming.encoder import Encoder
from streaming.engine import open_engine
from streaming.errors import InputError
from streaming.shape import EncoderShape
from tests.streaming.reference import encoder_of, engine_of, noise

SHAPE = EncoderShape(channels=8, depth=2, reduced=16)
BAD = [
    (noise(5).real, "samples have dtype float32; expected complex64"),
    (noise(5).astype(np.complex128), "samples have dtype complex128; expected complex64"),
    (noise(5).astype(">c8"), "samples have dtype >c8; expected complex64"),
    (noise(6).reshape(2, 3), "samples have shape (2, 3); expected (T,)"),
    (noise(6)[0:0], "samples are empty; expected at least one"),
    ([1 + 1j], "samples are a list; expected a numpy array of complex64"),
    (np.array([1, np.nan], np.complex64), "sample 1 is (nan+0j); expected finite samples"),
    (np.array([1, 1, 1j * np.inf], np.complex64), "sample 2 is (nan+infj); expected finite samples"),
    (np.array([-np.inf], np.complex64), "sample 0 is (-inf+0j); expected finite samples"),
]


@pytest.fixture(params=["torch", "portable", "avx512", "avx512bf16"])
def engine(request):
    return engine_of(request.param, SHAPE, hop=10)


@pytest.mark.parametrize(("samples", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_samples_are_refused_and_harm_nothing(engine, samples, message):
    stream, good = engine.stream(), engine.stream()
    for each in (stream, good):
        each.push(noise(25))
    before = stream.save()
    with pytest.raises(InputError) as caught:
        stream.push(samples)
    assert str(caught.value) == message
    with pytest.raises(InputError) as caught:
        engine.push([(good, noise(7)), (stream, samples)])
    assert str(caught.value) == message
    assert stream.save() == before
    assert good.save() == before
    assert stream.position == good.position == 25


def test_large_finite_samples_are_not_mistaken_for_infinite_ones(engine):
    engine.stream().push(np.full(10, 1e30, np.complex64))


@pytest.mark.parametrize("change", ["model", "hop", "backend"])
def test_a_foreign_state_is_refused_and_harms_nothing(engine, change):
    stream = engine.stream()
    stream.push(noise(33))
    before = stream.save()
    other = {
        "model": lambda: open_engine(Encoder(SHAPE, seed=1), 10, engine.name),
        "hop": lambda: open_engine(encoder_of(SHAPE), 11, engine.name),
        "backend": lambda: open_engine(
            encoder_of(SHAPE), 10, "native" if engine.name == "torch" else "torch"
        ),
    }[change]().stream()
    other.push(noise(33))
    with pytest.raises(InputError, match=f"the state belongs to another {change} "):
        stream.restore(other.save())
    assert stream.save() == before


def test_a_damaged_state_is_refused_and_harms_nothing(engine):
    stream = engine.stream()
    stream.push(noise(33))
    before = stream.save()
    for state in (
        b"",
        b"something else",
        before[:30],
        before[:-1],
        before + b"x",
        before[:-1] + bytes([before[-1] ^ 1]),
        before.replace(b'"position": 33', b'"position": -3'),
        before.replace(b'"position": 33', b'"position": 1' + b"0" * 30),
        forged(before),
        before.replace(b'"position"', b'"positron"'),
    ):
        with pytest.raises(InputError, match=r"the state is (not a saved stream state|damaged: .+)"):
            stream.restore(state)
        assert stream.save() == before


def forged(state):
    """A state that is too short, with the right checksum."""
    head, payload = state[:-4].split(b"}\n", 1)
    old = json.loads(head.split(b"\n", 1)[1] + b"}")["payload"]
    return head.replace(old.encode(), hashlib.sha256(payload).hexdigest().encode()) + b"}\n" + payload


def test_a_stream_that_cannot_be_pushed_is_refused(engine):
    stream, closed = engine.stream(), engine.stream()
    closed.close()
    foreign = open_engine(encoder_of(SHAPE), 10, engine.name).stream()
    with pytest.raises(InputError, match="the stream is closed"):
        closed.push(noise(1))
    for use in (closed.save, closed.reset, lambda: closed.restore(b"")):
        with pytest.raises(InputError, match="the stream is closed"):
            use()
    for work, message in (
        ([(stream, noise(3)), (closed, noise(3))], "the stream is closed"),
        ([(stream, noise(3)), (foreign, noise(3))], "the stream belongs to another engine"),
        ([(stream, noise(3)), (stream, noise(3))], "a stream appears twice in one push"),
    ):
        with pytest.raises(InputError, match=message):
            engine.push(work)
    assert stream.position == 0


def test_a_push_of_nothing_gives_nothing(engine):
    assert engine.push([]) == []
