"""What every float32 back end promises: the batch encoder's features, however the stream is cut."""

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streaming.engine import open_engine
from streaming.errors import BackendError, ConfigError
from streaming.shape import EncoderShape
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
    noise,
)

PAPER = EncoderShape()
SMALL = EncoderShape(depth=3)
LENGTH = 1000
SHAPES = [
    PAPER,
    EncoderShape(activation="relu", channels=16, depth=3, reduced=32),
    EncoderShape(activation="softplus", channels=40, depth=2, reduced=80),
    EncoderShape(kernel=1, depth=2),
    EncoderShape(kernel=2, channels=5, depth=4, reduced=7),
    EncoderShape(kernel=5, channels=48, depth=2, reduced=48),
    EncoderShape(channels=2, depth=1, reduced=2),
    EncoderShape(channels=300, depth=1, reduced=20, kernel=2),
]
cuts = st.sets(st.integers(1, LENGTH - 1), max_size=30)
every_backend = pytest.mark.parametrize("how", EXACT)


def check(hops, expected_features, hop):
    maximum, total, _ = hops_of(expected_features, hop)
    found = joined(hops)
    assert error(found[:, 0], maximum) <= 1e-6
    assert error(found[:, 1], total) <= 1e-6


@every_backend
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_engine_equals_encoder_for_every_shape(how, shape):
    stream = engine_of(how, shape, hop=50).stream()
    x = noise(LENGTH)
    check(
        [stream.push(piece) for piece in cut(x, [1, 2, 7, 300, 301, 777])], features(encoder_of(shape), x), 50
    )


@every_backend
@settings(max_examples=15, deadline=None)
@given(cuts=cuts, hop=st.sampled_from([1, 7, 100, 999, 1000, 1001]))
def test_engine_equals_encoder_for_any_cut(how, cuts, hop):
    stream = engine_of(how, SMALL, hop).stream()
    x = noise(LENGTH)
    hops = [stream.push(piece) for piece in cut(x, cuts)]
    assert stream.position == LENGTH
    if hop > LENGTH:
        assert joined(hops).shape == (0, 2, 160)
    else:
        check(hops, features(encoder_of(SMALL), x), hop)


@every_backend
def test_single_samples_give_what_one_chunk_gives(how):
    stream = engine_of(how, SMALL).stream()
    x = noise(300)
    check([stream.push(x[i : i + 1]) for i in range(300)], features(encoder_of(SMALL), x), 100)


@every_backend
def test_reset_forgets_everything(how):
    stream = engine_of(how, SMALL).stream()
    stream.push(noise(777, seed=1))
    stream.reset()
    assert stream.position == 0
    x = noise(LENGTH)
    check([stream.push(x)], features(encoder_of(SMALL), x), 100)


@every_backend
def test_after_a_gap_and_a_reset_the_rest_is_a_stream_of_its_own(how):
    stream = engine_of(how, SMALL).stream()
    x = noise(LENGTH)
    before, after = x[:333], x[500:]
    check([stream.push(before)], features(encoder_of(SMALL), before), 100)
    stream.reset()
    check([stream.push(after)], features(encoder_of(SMALL), after), 100)


@every_backend
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_sixteen_interleaved_streams_do_not_touch_each_other(how, data):
    engine = engine_of(how, SMALL)
    streams = [engine.stream() for _ in range(16)]
    signals = [noise(LENGTH, seed) for seed in range(16)]
    pieces = [iter(cut(signal, data.draw(cuts))) for signal in signals]
    for signal, found in zip(signals, interleaved(engine, streams, pieces), strict=True):
        check(found, features(encoder_of(SMALL), signal), 100)
    for stream in streams:
        stream.close()


@every_backend
def test_a_closed_streams_place_holds_nothing_for_the_next_one(how):
    engine = engine_of(how, SMALL)
    first = engine.stream()
    first.push(noise(LENGTH, seed=5))
    first.close()
    first.close()
    x = noise(LENGTH)
    check([engine.stream().push(x)], features(encoder_of(SMALL), x), 100)


@every_backend
@settings(max_examples=10, deadline=None)
@given(at=st.integers(0, LENGTH - 1))
def test_a_restored_stream_goes_on_as_if_nothing_had_happened(how, at):
    engine = engine_of(how, SMALL)
    stream, other = engine.stream(), engine.stream()
    x = noise(LENGTH)
    other.push(noise(123, seed=9))
    hops = [stream.push(x[:at])] if at else []
    state = stream.save()
    other.restore(state)
    assert other.position == at
    assert other.save() == state
    check([*hops, other.push(x[at:])], features(encoder_of(SMALL), x), 100)
    stream.close()
    other.close()


@every_backend
def test_growing_and_sliding_windows_are_made_from_hops(how):
    stream = engine_of(how, SMALL).stream()
    x = noise(LENGTH)
    f = features(encoder_of(SMALL), x)
    hops = stream.push(x)
    assert error(hops.maximum.max(0), f.max(0)) <= 1e-6
    assert error(hops.maximum[-4:].max(0), f[-400:].max(0)) <= 1e-6
    assert error(hops.total[-4:].sum(0) / 400, f[-400:].mean(0)) <= 1e-6


@pytest.mark.parametrize("how", ["torch", "avx512"])
def test_a_million_samples_bring_no_drift(how):
    """The last hops see only the last 8,188 samples before them, so a batch over those is the reference."""
    stream = engine_of(how, PAPER).stream()
    x = noise(100_000)
    for _ in range(10):
        hops = stream.push(x)
    assert stream.position == 1_000_000
    past = PAPER.receptive_field - 1
    expected = features(encoder_of(PAPER), x[-past - 500 :])[past:]
    check([type(hops)(hops.maximum[-5:], hops.total[-5:])], expected, 100)


@every_backend
def test_threads_that_share_an_engine_take_turns(how):
    engine = engine_of(how, SMALL)
    x = noise(LENGTH)
    found = [[] for _ in range(4)]

    def work(hops):
        stream = engine.stream()
        hops += [stream.push(piece) for piece in cut(x, range(0, LENGTH, 33))]

    workers = [threading.Thread(target=work, args=(hops,)) for hops in found]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for hops in found:
        check(hops, features(encoder_of(SMALL), x), 100)


@every_backend
def test_an_array_that_is_not_contiguous_is_taken_as_it_reads(how):
    x = noise(2 * LENGTH)
    check([engine_of(how, SMALL).stream().push(x[::-2])], features(encoder_of(SMALL), x[::-2].copy()), 100)


@every_backend
def test_the_engine_keeps_its_own_copy_of_the_weights(how):
    encoder = type(encoder_of(SMALL))(SMALL, seed=2)
    expected = features(encoder, noise(LENGTH))
    engine = open_engine(encoder, 100, "torch" if how == "torch" else "native")
    for parameter in encoder.parameters():
        parameter.data.zero_()
    check([engine.stream().push(noise(LENGTH))], expected, 100)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hop": 0}, "engine.hop is 0; it must be a whole number of at least 1"),
        ({"threads": 1.5}, "engine.threads is 1.5; it must be a whole number of at least 1"),
        ({"backend": "cuda"}, "engine.backend is 'cuda'; it must be auto or torch or native or native-bf16"),
    ],
)
def test_impossible_settings_are_refused(settings, message):
    with pytest.raises(ConfigError) as caught:
        open_engine(encoder_of(SMALL), **settings)
    assert str(caught.value) == message


def test_auto_falls_back_to_torch_and_says_so_once(monkeypatch, caplog):
    def missing():
        raise BackendError("the native kernel is not built")

    monkeypatch.setattr("streaming.native_library.library_path", missing)
    monkeypatch.setattr("streaming.native_backend.choose_isa", lambda bf16: missing())
    monkeypatch.setattr("streaming.engine._told", threading.Event())
    for _ in range(2):
        assert open_engine(encoder_of(SMALL)).name == "torch"
    assert [record.message for record in caplog.records] == [
        "using torch, which is slower: the native kernel is not built"
    ]
    with pytest.raises(BackendError, match="not built"):
        open_engine(encoder_of(SMALL), backend="native")
