"""Likeness of emissions, by the embeddings that both databases keep: the nearest, and groups of one name."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cosine

from service.errors import NotFound
from service.storage.likeness import ALIKE, Likeness, pack
from streaming.encoder import Encoder
from streaming.shape import EncoderShape
from tests.models import tiny_head
from tests.service.test_history import SECOND, emission, history, server  # noqa: F401

OUTPUTS = 24
ENCODER = Encoder(EncoderShape(channels=4, depth=2, reduced=6, outputs=OUTPUTS), seed=1)
RNG = np.random.default_rng(5)
HEAD = replace(
    tiny_head(ENCODER, name="live", mode="live"),
    mean=RNG.standard_normal(OUTPUTS),
    scale=RNG.uniform(0.5, 2, OUTPUTS),
)


def embeddings(kinds, each, spread=0.2, seed=3):
    """Embeddings around random centres, one per kind."""
    rng = np.random.default_rng(seed)
    centres = np.repeat(rng.standard_normal((kinds, OUTPUTS)), each, 0)
    return (HEAD.mean + HEAD.scale * (centres + spread * rng.standard_normal(centres.shape))).astype("f4")


def standardised(vector):
    return (vector - HEAD.mean) / HEAD.scale


@pytest.fixture
def kept(history):  # noqa: F811
    """A history of four kinds of emissions, five of each, the later the more certain."""
    vectors = embeddings(4, 5)
    for i, vector in enumerate(vectors):
        history.follow(replace(emission(i), probability=0.3 + 0.03 * i), pack(HEAD, vector))
    history.follow(emission(50, stream="other"), pack(HEAD, vectors[0]))
    history.flush()
    return history, vectors


def test_the_nearest_are_those_with_the_smallest_cosine_distance(kept):
    history, vectors = kept  # noqa: F811
    found = Likeness(history.database, HEAD).find_alike("s", "s-7", 19)
    z = standardised(vectors)
    expected = sorted(((1 - cosine(z[7], z[i]), f"s-{i}") for i in range(20) if i != 7), reverse=True)
    assert [value for _, value in found] == pytest.approx([max(0, v) for v, _ in expected], abs=2e-3)
    assert {row.id for row, _ in found[:4]} == {"s-5", "s-6", "s-8", "s-9"}


def test_what_another_encoder_made_is_not_compared(kept):
    history, vectors = kept  # noqa: F811
    other = replace(HEAD, encoder_sha256="ff" * 32)
    history.follow(emission(30), pack(other, vectors[0]))
    history.flush()
    compared = Likeness(history.database, HEAD)
    assert "s-30" not in {row.id for row, _ in compared.find_alike("s", "s-0", 100)}
    with pytest.raises(NotFound, match="no embedding of emission s-30 that this model can compare"):
        compared.find_alike("s", "s-30", 10)
    assert Likeness(history.database, other).find_alike("s", "s-30", 10) == []


def test_groups_are_the_kinds_and_the_least_certain_comes_first(kept):
    history, vectors = kept  # noqa: F811
    z = standardised(vectors)
    alike = np.array([[1 - cosine(a, b) for a in z] for b in z]) >= ALIKE
    assert (alike == (np.arange(20)[:, None] // 5 == np.arange(20) // 5)).all()  # as this test is made
    history.follow(replace(emission(12, "unknown", family=None), probability=0.9), pack(HEAD, vectors[12]))
    history.flush()
    groups = Likeness(history.database, HEAD).find_uncertain("s", 0, {"s-3"}, 10)
    assert [[row.id for row in group] for group in groups] == [
        ["s-12", "s-10", "s-11", "s-13", "s-14"],  # of which one was refused
        ["s-0", "s-1", "s-2", "s-4"],
        ["s-5", "s-6", "s-7", "s-8", "s-9"],
        ["s-15", "s-16", "s-17", "s-18", "s-19"],
    ]
    assert len(Likeness(history.database, HEAD).find_uncertain("s", 0, set(), 2)) == 2
    assert Likeness(history.database, HEAD).find_uncertain("nobody", 0, set(), 2) == []


def test_embeddings_grow_old_with_their_emissions(kept):
    history, vectors = kept  # noqa: F811
    old = replace(emission(60), to_ns=SECOND)
    history.follow(old, pack(HEAD, vectors[0]))
    history.flush()
    assert history.database.query("SELECT count(*) FROM embeddings WHERE id = ?", ["s-60"]) == [(1,)]
    history.retain()
    assert history.database.query("SELECT count(*) FROM embeddings WHERE id = ?", ["s-60"]) == [(0,)]
