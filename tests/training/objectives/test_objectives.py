"""Objectives against independent numpy: losses, where stretches are cut, and what augmentations do."""

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.special import expit, log_softmax

from streaming.encoder import Encoder
from streaming.errors import ConfigError
from streaming.shape import EncoderShape
from training.datasets.augment import Augment, at_level
from training.objectives.halves import Halves, HalvesSettings, nce
from training.objectives.objective import make_objective
from training.objectives.statistics import COUNT, HARMONICS, RADII, WIDTH, statistics
from training.objectives.triplet import Triplet, TripletSettings, cut, draw_cuts, triplet_loss

SMALL = EncoderShape(channels=4, depth=2, reduced=6, outputs=8)


def noise(shape, seed=0):
    rng = np.random.default_rng(seed)
    return ((rng.standard_normal(shape) + 1j * rng.standard_normal(shape)) / np.sqrt(2)).astype(np.complex64)


@pytest.mark.parametrize("mean_negatives", [False, True])
def test_triplet_loss_is_equation_one(mean_negatives):
    rng = np.random.default_rng(0)
    ref, pos, neg = rng.normal(size=(3, 4)), rng.normal(size=(3, 4)), rng.normal(size=(3, 5, 4))
    expected = 0.0
    for b in range(3):
        expected -= np.log(expit(ref[b] @ pos[b]))
        for k in range(5):
            expected -= np.log(expit(-ref[b] @ neg[b, k])) / (5 if mean_negatives else 1)
    found = triplet_loss(*map(torch.from_numpy, (ref, pos, neg)), mean_negatives)
    assert found.item() == pytest.approx(expected / 3, rel=1e-9)


def test_cuts_are_drawn_as_in_the_paper():
    rng, N = np.random.default_rng(1), 20
    lengths, references = [], []
    for _ in range(4_000):
        c = draw_cuts(count=30, samples=N, batch=3, negatives=2, rng=rng)
        lengths.append(c.length)
        references.append((c.length, c.reference_length))
        assert 1 <= c.length <= c.reference_length <= N
        assert (c.reference >= 0).all()
        assert (c.reference + c.reference_length <= N).all()
        assert (c.positive >= c.reference).all()  # inside the reference
        assert (c.positive + c.length <= c.reference + c.reference_length).all()
        assert (c.negative + c.length <= N).all()
        assert c.negative_rows.shape == c.negative.shape == (6,)
    assert stats.chisquare(np.bincount(lengths, minlength=N + 1)[1:]).pvalue > 1e-3  # uniform on 1..N
    longer = [a for length, a in references if length == 16]
    assert stats.chisquare(np.bincount(longer, minlength=N + 1)[16:]).pvalue > 1e-3  # uniform on l..N


def test_stretches_are_what_the_cuts_say():
    frames = noise((5, 10))
    found = cut(frames, np.array([3, 0]), np.array([2, 6]), 4).numpy()
    assert np.array_equal(found[0, :, 0] + 1j * found[0, :, 1], frames[3, 2:6])
    assert np.array_equal(found[1, :, 0] + 1j * found[1, :, 1], frames[0, 6:10])


def test_triplet_objective_encodes_every_stretch_by_itself():
    encoder, frames = Encoder(SMALL, seed=3), noise((9, 12))
    found = Triplet(TripletSettings(negatives=3)).loss(encoder, frames, 4, np.random.default_rng(5))
    c = draw_cuts(9, 12, 4, 3, np.random.default_rng(5))

    def embed(rows, offsets, length):
        return np.stack(
            [encoder.encode(frames[r, o : o + length][None])[0] for r, o in zip(rows, offsets, strict=True)]
        )

    ref, pos = embed(c.rows, c.reference, c.reference_length), embed(c.rows, c.positive, c.length)
    neg = embed(c.negative_rows, c.negative, c.length).reshape(4, 3, -1)
    expected = -np.log(expit((ref * pos).sum(1))) - np.log(expit(-np.einsum("be,bke->bk", ref, neg))).sum(1)
    assert found.item() == pytest.approx(expected.mean(), rel=1e-5)


def test_nce_is_the_mean_log_share_of_the_partner():
    rng = np.random.default_rng(2)
    u, v = rng.normal(size=(6, 3)), rng.normal(size=(6, 3))
    un, vn = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (u, v))
    s = un @ vn.T / 0.3
    expected = -(np.diag(log_softmax(s, 1)).mean() + np.diag(log_softmax(s, 0)).mean()) / 2
    assert nce(torch.from_numpy(u), torch.from_numpy(v), 0.3).item() == pytest.approx(expected, rel=1e-9)


def test_statistics_are_phase_harmonics_by_radius():
    x = noise((1, 40), seed=4)
    x /= np.sqrt((np.abs(x) ** 2).mean())
    found = statistics(torch.view_as_real(torch.from_numpy(x)))[0].numpy()
    assert found.shape == (COUNT,)
    big = noise((200_000,), seed=5)  # what white noise shows, by simulation

    def row(y):
        bump = np.exp(-((np.abs(y)[:, None] - np.array(RADII)) ** 2) / (2 * WIDTH**2))
        turn = (y / np.abs(y))[:, None] ** np.array(HARMONICS)
        wave = np.concatenate([np.ones((len(y), 1)), turn.real, turn.imag], 1)
        return (bump[:, :, None] * wave[:, None, :]).reshape(len(y), -1)

    expected = (row(x[0]).mean(0) - row(big).mean(0)) / row(big).std(0) * np.sqrt(40)
    assert np.abs(found - expected).max() < 0.1


def test_every_setting_of_halves_gives_gradients_to_the_encoder():
    frames = noise((64, 20))
    every = Augment(rotation=3.0, cfo=0.01, level_db=3.0, noise=0.5, shift=3, shuffle=True)
    for settings in (
        HalvesSettings(),
        HalvesSettings(contrast=0, other=1.0),
        HalvesSettings(contrast=0, own=1.0, augment=every),
    ):
        encoder = Encoder(SMALL)
        objective = make_objective(settings, SMALL.outputs, seed=0)
        objective.loss(encoder, frames, 16, np.random.default_rng(0)).backward()
        assert all(p.grad is not None and p.grad.isfinite().all() for p in encoder.parameters())
        assert all(p.grad is not None for p in objective.extra.parameters())


def test_settings_that_mean_nothing_are_refused():
    with pytest.raises(ConfigError, match="negatives is 0; it must be at least 1"):
        TripletSettings(negatives=0)
    with pytest.raises(ConfigError, match="one of them above"):
        HalvesSettings(contrast=0)
    with pytest.raises(ConfigError, match=r"augment.cfo is -1.0; it must be at least 0"):
        Augment(cfo=-1.0)


@pytest.mark.parametrize(
    ("augment", "kept"),
    [
        (Augment(rotation=np.pi), np.abs),
        (Augment(cfo=0.1), np.abs),
        (Augment(shift=5), lambda y: np.sort(np.abs(y))),
        (Augment(shuffle=True), lambda y: np.sort(np.abs(y))),
        (Augment(level_db=6), lambda y: y / np.sqrt((np.abs(y) ** 2).mean(1, keepdims=True))),
        (Augment(noise=1.0), lambda y: (np.abs(y) ** 2).mean(1)),
    ],
)
def test_augmentations_change_the_signal_and_keep_what_they_should(augment, kept):
    x = at_level(noise((8, 30)), "rms")
    y = augment.apply(torch.view_as_real(torch.from_numpy(x)), np.random.default_rng(0)).numpy()
    y = y[..., 0] + 1j * y[..., 1]
    assert not np.allclose(x, y)
    assert np.allclose(kept(x), kept(y), rtol=1e-4, atol=1e-5)


def test_halves_see_only_their_own_half():
    encoder, objective = Encoder(SMALL), Halves(HalvesSettings(contrast=0, own=1.0), SMALL.outputs)
    frames = noise((1, 20))
    louder = np.concatenate([frames[:, :10], 7 * frames[:, 10:]], 1)  # each half is brought to unit power
    losses = [objective.loss(encoder, f, 2, np.random.default_rng(0)).item() for f in (frames, louder)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
