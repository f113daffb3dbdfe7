"""Streams through the band front end, for its tests."""

import numpy as np

from streaming.band.frontend import Band, BandSettings, Piece, Silence
from streaming.block import Block

RATE = 128e3  # 128 bins; a look is a millisecond, a tick 2,048 samples


def run(x, cuts=(), rate=RATE, index=0, **settings):
    """What a band finds in a stream that is cut at these places, and the band."""
    band, out = Band(BandSettings(**settings)), []
    for part in np.split(x, sorted(cuts)):
        out += band.push(Block(part, index, rate))
        index += len(part)
    return out + band.flush(), band


def pieces(out):
    return [item for item in out if isinstance(item, Piece)]


def silences(out):
    return [item for item in out if isinstance(item, Silence)]


def end_of(piece):
    return piece.start + len(piece.samples) * piece.step


def tracks(out):
    """The pieces of each track, from where its channel was last chosen; in the order of their beginnings."""
    found = {}
    for piece in pieces(out):
        if piece.begins:
            found[piece.track] = []
        found[piece.track].append(piece)
    return sorted(found.values(), key=lambda track: track[0].start)


def samples(track):
    return np.concatenate([piece.samples for piece in track])


def assert_same(found, expected):
    """The same pieces and silences, bit for bit."""
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert type(a) is type(b)
        assert (a.start, repr(a)[:60] if isinstance(a, Silence) else a.box) == (
            b.start,
            repr(b)[:60] if isinstance(b, Silence) else b.box,
        )
        if isinstance(a, Piece):
            assert (a.track, a.emission, a.step, a.begins, a.steady, a.ends) == (
                b.track,
                b.emission,
                b.step,
                b.begins,
                b.steady,
                b.ends,
            )
            np.testing.assert_array_equal(a.samples, b.samples)
