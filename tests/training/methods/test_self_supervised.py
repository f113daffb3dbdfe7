"""Losses of the self-supervised methods against their equations in numpy."""

import numpy as np
import torch

from streaming.encoder import Encoder
from streaming.shape import EncoderShape
from tests.training.methods.small import BUDGET, two_clients
from training.methods.cssl_amc import CsslFrozen, ResNet, follow, high_snr, info_nce, noisy
from training.methods.dae import Autoencoder, Dae, polar
from training.methods.semiamc import RecurrentEncoder, SemiAmc, nt_xent
from training.methods.simcse import SimCse
from training.methods.track import Track


def test_nt_xent_by_its_double_sum():
    rng = np.random.default_rng(1)
    u, v = rng.standard_normal((2, 5, 7))
    z = np.concatenate([u, v])
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    total = 0.0
    for i in range(10):
        j = (i + 5) % 10
        below = sum(np.exp(z[i] @ z[k] / 0.1) for k in range(10) if k != i)
        total -= np.log(np.exp(z[i] @ z[j] / 0.1) / below)
    found = nt_xent(torch.tensor(u), torch.tensor(v), 0.1)
    assert abs(float(found) - total / 10) < 1e-9


def test_info_nce_by_its_sum():
    rng = np.random.default_rng(2)
    q, k = rng.standard_normal((2, 6, 4))
    a, b = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (q, k))
    s = np.exp(a @ b.T / 0.07)
    expected = -np.mean(np.log(np.diagonal(s) / s.sum(1)))
    assert abs(float(info_nce(torch.tensor(q), torch.tensor(k), 0.07)) - expected) < 1e-9


def test_the_slow_copy_follows_by_a_thousandth():
    slow, fast = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
    before = slow.weight.detach().numpy().copy()
    follow(slow, fast)
    expected = 0.999 * before + 0.001 * fast.weight.detach().numpy()
    np.testing.assert_allclose(slow.weight.detach().numpy(), expected, rtol=1e-6)


def test_pairs_of_cssl_are_clear_frames_and_the_same_at_five_db():
    frames = np.ones((4, 20_000), np.complex64)
    assert len(high_snr(frames, np.array([-3, 4.9, 5, 9], np.float32))) == 2
    noise = noisy(frames, np.random.default_rng(0)) - frames
    assert abs(10 * np.log10(1 / np.mean(np.abs(noise) ** 2)) - 5) < 0.05


def test_dae_sees_amplitude_over_the_norm_and_phase_over_pi():
    frame = np.array([[3, 4j, -1 + 0j]], np.complex64)
    amplitude = np.array([3, 4, 1]) / np.sqrt(26)
    np.testing.assert_allclose(polar(frame)[0], np.stack([amplitude, [0, 0.5, 1]], 1), rtol=1e-6)


def test_dae_weighs_reconstruction_and_classes_nine_to_one():
    method, clients = Dae(), two_clients()
    method.fit(clients, BUDGET, 0, Track())
    rows = torch.arange(8)
    method.network.eval()
    torch.manual_seed(5)
    found = method.loss(0, rows).item()
    torch.manual_seed(5)
    x = method.x[0][rows].numpy()
    kept = torch.rand(x.shape[:2]).numpy() >= 0.1
    masked = torch.from_numpy((x * kept[..., None]).astype(np.float32))
    with torch.no_grad():
        states = method.autoencoder.lstm(masked)[0]
        rebuilt = method.autoencoder.decoder(states).numpy()
        scores = method.autoencoder.classifier(states[:, -1]).numpy().astype(float)
    p = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    entropy = -np.mean(np.log(p[np.arange(8), method.y[0][:8].numpy()]))
    assert abs(found - (0.9 * np.mean((rebuilt - x) ** 2) + 0.1 * entropy)) < 1e-5


def test_simcse_without_dropout_is_the_encoder_and_with_it_is_not():
    encoder, x = Encoder(EncoderShape(depth=2), 0), torch.randn(5, 20, 2)
    with torch.no_grad():
        assert torch.allclose(SimCse(p=0.0).encode(encoder, x), encoder(x), atol=1e-6)
        twice = [SimCse(p=0.1).encode(encoder, x) for _ in range(2)]
    assert not torch.allclose(*twice)


def test_semiamc_turns_a_batch_by_two_different_quarters(monkeypatch):
    seen = []

    def spy(u, v, temperature):
        seen.append((u, v))
        return nt_xent(u, v, temperature)

    monkeypatch.setattr("training.methods.semiamc.nt_xent", spy)
    SemiAmc().fit(two_clients(), BUDGET, 0, Track())
    assert len(seen) == BUDGET.pretrain_steps * 2
    assert all(not torch.allclose(u, v) for u, v in seen)


def test_a_frozen_encoder_stays_and_its_features_are_what_the_classifier_sees():
    method, clients = CsslFrozen(), two_clients()
    method.fit(clients, BUDGET, 0, Track())
    assert {name.split(".")[0] for name in method.personal(0)} == {"weight", "bias"}
    with torch.no_grad():
        expected = method.body(method.prepared(clients[0].labelled.iq))
    assert torch.allclose(method.x[0], expected, atol=1e-5)


def test_networks_have_the_sizes_of_their_sources():
    def weights(network):
        return sum(p.numel() for p in network.parameters())

    lstm = 4 * 128 * (32 + 128 + 2) + 4 * 128 * (128 + 128 + 2)
    assert weights(RecurrentEncoder()) == (2 * 24 * 32 + 32) + lstm + (128 * 128 * 8 + 128)
    lstm = 4 * 32 * (2 + 32 + 2) + 4 * 32 * (32 + 32 + 2)
    classifier = 32 * 32 + 32 + 64 + 32 * 16 + 16 + 32 + 16 * 4 + 4
    assert weights(Autoencoder(4)) == lstm + 32 * 2 + 2 + classifier
    for stages, widest in ((2, 128), (4, 512)):  # the public code's, and ResNet-18's
        network = ResNet(100, stages)
        assert network(torch.zeros(2, 100, 2)).shape == (2, 128)
        convolutions = [m for m in network.stages.modules() if isinstance(m, torch.nn.Conv1d)]
        assert max(c.out_channels for c in convolutions) == widest
        assert sum(c.kernel_size == (3,) for c in convolutions) == 4 * stages


def test_semiamcs_classifier_learns_from_features_that_hardly_vary():
    """Its frozen features lie within hundredths of each other."""
    method = SemiAmc()
    method.build(32, 2)
    label = torch.arange(64) % 2
    x = 0.05 + 0.002 * torch.randn(64, 128, generator=torch.Generator().manual_seed(0))
    x[:, :8] += 0.004 * label[:, None]
    adam = torch.optim.Adam(method.head.parameters(), 1e-3)
    for _ in range(40):
        adam.zero_grad()
        torch.nn.functional.cross_entropy(method.head(x), label).backward()
        adam.step()
    assert (method.head.eval()(x).argmax(1) == label).float().mean() > 0.9
