"""The window against plain torch: the encoder over the whole history, pooled over the last W outputs."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from streaming.encoder import Encoder, iq
from streaming.engine import Hops, open_engine
from streaming.errors import ConfigError, InputError
from streaming.shape import EncoderShape
from streaming.window import Window

HOP = 10
POOLINGS = ["max", "mean", "max+mean"]
WINDOWS = [None, 10, 50, 200]


def make(pooling="max", reduced=12):
    return Encoder(EncoderShape(channels=6, depth=3, reduced=reduced, outputs=9, pooling=pooling), seed=3)


def features(encoder, length=600):
    x = np.random.default_rng(2).standard_normal((1, length, 2)).astype(np.float32).view(np.complex64)[..., 0]
    with torch.no_grad():
        return encoder.features(iq(x))[0].numpy()  # (T, reduced)


def hops_of(features, hop=HOP):
    by_hop = features.reshape(-1, hop, features.shape[1])
    return Hops(by_hop.max(1), by_hop.sum(1))


def cut(hops, start, stop):
    return Hops(hops.maximum[start:stop], hops.total[start:stop])


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("window", WINDOWS)
def test_each_row_is_the_whole_history_pooled_over_the_window(pooling, window):
    encoder = make(pooling)
    whole = torch.from_numpy(features(encoder))
    ours = Window(encoder, HOP, window)
    out = ours.push(hops_of(whole.numpy()))
    assert out.dtype == np.float32
    for i, row in enumerate(out):
        end = (i + 1) * HOP
        last = whole[max(0, end - (window or end)) : end]
        with torch.no_grad():
            expected = encoder.linear(encoder.pool(last[None]))[0].numpy()
        np.testing.assert_allclose(row, expected, rtol=0, atol=1e-6 * np.abs(expected).max())
    ends = HOP * np.arange(1, len(out) + 1)
    np.testing.assert_array_equal(ours.seen, ends)
    np.testing.assert_array_equal(ours.warm, ends >= (window or 0))


@settings(deadline=None)
@given(
    pooling=st.sampled_from(POOLINGS),
    window=st.sampled_from(WINDOWS),
    reduced=st.sampled_from([1, 2, 12]),
    cuts=st.lists(st.integers(0, 60), max_size=8),
)
def test_no_cut_of_the_hops_shows_in_a_bit(pooling, window, reduced, cuts):
    encoder = make(pooling, reduced)
    hops = hops_of(np.random.default_rng(5).standard_normal((600, reduced)).astype(np.float32))
    whole = Window(encoder, HOP, window).push(hops)
    ours, edges = Window(encoder, HOP, window), [0, *sorted(cuts), 60]
    pieces = [ours.push(cut(hops, a, b)) for a, b in pairwise(edges)]
    np.testing.assert_array_equal(np.concatenate(pieces).view(np.uint32), whole.view(np.uint32))


@pytest.mark.parametrize("window", [None, 50])
def test_engine_and_window_equal_the_encoder_over_the_whole_history(window):
    encoder = make("max+mean")
    x = np.random.default_rng(6).standard_normal(1200).astype(np.float32).view(np.complex64)
    stream, ours = open_engine(encoder, HOP, "torch").stream(), Window(encoder, HOP, window)
    out = np.concatenate([ours.push(stream.push(piece)) for piece in np.split(x, [3, 77, 300])])
    with torch.no_grad():
        last = encoder.features(iq(x[None]))[:, -(window or len(x)) :]
        expected = encoder.linear(encoder.pool(last))[0].numpy()
    assert len(out) == len(x) // HOP
    np.testing.assert_allclose(out[-1], expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_no_cut_shows_in_the_papers_shape():
    encoder = Encoder(EncoderShape())
    rows = np.random.default_rng(0).standard_normal((2, 33, 160)).astype(np.float32)
    hops = Hops(rows[0], rows[1])
    whole, ours = Window(encoder, 100, 1000).push(hops), Window(encoder, 100, 1000)
    one_by_one = np.concatenate([ours.push(cut(hops, i, i + 1)) for i in range(33)])
    np.testing.assert_array_equal(one_by_one, whole)


@pytest.mark.parametrize("window", WINDOWS)
def test_a_reset_forgets_everything(window):
    encoder = make("max+mean")
    hops, ours = hops_of(features(encoder)), Window(encoder, HOP, window)
    first = ours.push(hops)
    ours.reset()
    assert ours.samples == 0
    np.testing.assert_array_equal(ours.push(hops), first)


@pytest.mark.parametrize("window", WINDOWS)
def test_a_saved_window_goes_on_where_it_was(window):
    encoder = make("max+mean")
    hops = hops_of(features(encoder))
    whole = Window(encoder, HOP, window).push(hops)
    first, second = Window(encoder, HOP, window), Window(encoder, HOP, window)
    first.push(cut(hops, 0, 23))
    second.restore(first.save())
    np.testing.assert_array_equal(second.push(cut(hops, 23, 60)), whole[23:])
    assert second.samples == 600


def test_the_mean_of_a_growing_window_does_not_drift_and_its_memory_does_not_grow():
    encoder = make("mean")
    ours, sizes = Window(encoder, HOP, None), set()
    rows = np.full((10_000, 12), np.float32(0.1 * HOP))
    for _ in range(10):  # a million samples, each 0.1
        last = ours.push(Hops(rows, rows))[-1]
        sizes.add(len(ours.save()))
    with torch.no_grad():
        expected = encoder.linear(torch.full((12,), 0.1)).numpy()
    np.testing.assert_allclose(last, expected, rtol=0, atol=1e-6 * np.abs(expected).max())
    assert len(sizes) == 1


def test_a_foreign_state_is_refused_and_the_window_kept():
    encoder = make()
    hops, ours = hops_of(features(encoder)), Window(encoder, HOP, 50)
    ours.push(cut(hops, 0, 20))
    before = ours.save()
    other_model = Encoder(encoder.shape, seed=4)
    others = [Window(encoder, HOP, 60), Window(encoder, HOP, None), Window(other_model, HOP, 50)]
    for state in [b"", before[:-1], before + b"x", *[other.save() for other in others]]:
        with pytest.raises(InputError, match="the state is not one that a window of 50 samples, hop 10"):
            ours.restore(state)
    assert ours.save() == before


def test_hops_of_another_encoder_are_refused_and_the_window_kept():
    ours = Window(make(), HOP, 50)
    before = ours.save()
    with pytest.raises(InputError, match=r"expected \(hops, 12\) for each part"):
        ours.push(Hops(np.zeros((3, 5), np.float32), np.zeros((3, 5), np.float32)))
    assert ours.save() == before


@pytest.mark.parametrize(("hop", "window"), [(0, 10), (10, 15), (10, 0), (10, 5), (10, -10)])
def test_a_window_that_is_no_multiple_of_the_hop_is_refused(hop, window):
    with pytest.raises(ConfigError, match=r"hop is 0|must be a multiple of the hop, 10"):
        Window(make(), hop, window)
