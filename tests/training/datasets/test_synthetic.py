"""The synthetic set against its own equations."""

import numpy as np
import pytest
from scipy import stats

from streaming.errors import ConfigError
from training.datasets.synthetic import Band, Signal, constellation, make_frames, paper_clients, scaled

CLEAN = Signal(snr_db=(200.0, 200.0))


def test_same_seed_same_frames_and_another_seed_other_frames():
    first, again, other = (make_frames(Signal(), (50,) * 4, seed) for seed in (3, 3, 4))
    assert np.array_equal(first.iq, again.iq)
    assert np.array_equal(first.label, again.label)
    assert not np.array_equal(first.iq, other.iq)


def test_class_counts_are_exact_and_shuffled():
    frames = make_frames(Signal(), (40, 30, 20, 10), seed=1)
    assert frames.counts().tolist() == [40, 30, 20, 10]
    assert not np.array_equal(frames.label, np.sort(frames.label))
    assert frames.iq.dtype == np.complex64


@pytest.mark.parametrize("unit_power", [True, False])
def test_measured_snr_is_the_drawn_one(unit_power):
    noisy = make_frames(Signal(unit_power=unit_power), (500,) * 4, seed=5)
    n = np.arange(100)
    for label, name in enumerate(noisy.classes):
        mine = noisy.label == label
        carrier = noisy.gain[:, None] * np.exp(1j * (noisy.phase[:, None] + 2 * np.pi * 0.01 * n / 100))
        power = 10.0 if name == "16QAM" and not unit_power else 1.0
        snr = 10 ** (noisy.snr_db / 10)
        # E|r|^2 = A^2 P (1 + 1/SNR), and the frame's mean of |r|^2 has a relative error of about 0.1
        ratio = (np.abs(noisy.iq) ** 2).mean(1) / (np.abs(carrier[:, 0]) ** 2 * power * (1 + 1 / snr))
        assert ratio[mine].mean() == pytest.approx(1.0, abs=0.02)


def test_snr_of_the_equation_with_the_same_symbols():
    quiet = Signal(snr_db=(60.0, 60.0))
    frames = make_frames(quiet, (300,) * 4, seed=2)
    n = np.arange(100)
    carrier = frames.gain[:, None] * np.exp(1j * (frames.phase[:, None] + 2 * np.pi * 0.01 * n / 100))
    symbols = np.empty_like(frames.iq)
    for label, name in enumerate(frames.classes):
        rows = frames.label == label
        points = constellation(name)
        nearest = np.abs((frames.iq / carrier)[rows, :, None] - points).argmin(-1)
        symbols[rows] = points[nearest]
    clean = carrier * symbols
    noise = frames.iq - clean
    snr_db = 10 * np.log10((np.abs(clean) ** 2).sum(1) / (np.abs(noise) ** 2).sum(1))
    assert snr_db.mean() == pytest.approx(60.0, abs=0.1)
    assert snr_db.std() < 0.8
    # circular: I and Q have the same power and are uncorrelated, neighbours too
    unit = noise / noise.std(1, keepdims=True)
    assert np.mean(unit**2) == pytest.approx(0, abs=0.02)
    assert np.mean(unit[:, 1:] * unit[:, :-1].conj()) == pytest.approx(0, abs=0.02)
    assert stats.kurtosis(unit.real.ravel()) == pytest.approx(0, abs=0.05)


def test_noise_has_a_flat_spectrum():
    frames = make_frames(Signal(snr_db=(-60.0, -60.0)), (500,) * 4, seed=8)
    spectrum = np.abs(np.fft.fft(frames.iq, axis=1)) ** 2
    spectrum = (spectrum / spectrum.mean(1, keepdims=True)).mean(0)
    assert spectrum.min() > 0.85
    assert spectrum.max() < 1.15


@pytest.mark.parametrize(("name", "order", "moment"), [("BPSK", 2, 2), ("QPSK", 4, 4), ("8PSK", 8, 8)])
def test_psk_symbols_are_roots_of_unity(name, order, moment):
    points = constellation(name)
    assert len(points) == order
    assert points**moment == pytest.approx(np.ones(order))


def test_qam_is_the_odd_grid_at_unit_power_or_as_it_is():
    raw = constellation("16QAM", unit_power=False)
    assert sorted(set(raw.real)) == [-3, -1, 1, 3]
    assert np.mean(np.abs(raw) ** 2) == pytest.approx(10)
    assert np.mean(np.abs(constellation("16QAM")) ** 2) == pytest.approx(1)


def test_every_point_is_equally_likely():
    frames = make_frames(CLEAN, (0, 0, 0, 400), seed=4)
    n = np.arange(100)
    symbols = frames.iq / frames.gain[:, None]
    symbols = symbols * np.exp(-1j * (frames.phase[:, None] + 2 * np.pi * 0.01 * n / 100))
    used = np.abs(symbols[..., None] - constellation("16QAM")).argmin(-1)
    assert stats.chisquare(np.bincount(used.ravel(), minlength=16)).pvalue > 1e-4


def test_gain_is_a_rayleigh_cut_at_one():
    gain = make_frames(Signal(samples=1), (20_000, 0, 0, 0), seed=6).gain
    assert gain.max() == 1
    assert np.mean(gain == 1) == pytest.approx(np.exp(-0.5), abs=0.01)
    cut = stats.rayleigh.cdf(0.5)
    assert np.mean(gain < 0.5) == pytest.approx(cut, abs=0.01)


def test_cfo_turns_bpsk_by_its_cycles_per_frame():
    signal = Signal(snr_db=(200.0, 200.0), cfo=(Band(1.0, 3.0, 3.0),), phase=(0.0, 0.0))
    frames = make_frames(signal, (20, 0, 0, 0), seed=1)
    line = np.abs(np.fft.fft(frames.iq**2, axis=1)).argmax(1)  # squaring removes BPSK: a line at 2 df
    assert (line == 6).all()


def test_cfo_mixture_has_its_weights():
    signal = paper_clients(heterogeneity="cfo")[3].signal
    cfo = make_frames(signal, (10_000,) * 4, seed=1).cfo
    shares = np.histogram(cfo, [0, 0.01, 0.1, 1.0, 20.0])[0] / len(cfo)
    assert shares == pytest.approx([0.1, 0.1, 0.4, 0.4], abs=0.01)


def test_past_carries_on_the_same_emission():
    signal = Signal(snr_db=(200.0, 200.0), cfo=(Band(1.0, 0.5, 2.0),))
    frames = make_frames(signal, (30, 0, 0, 0), seed=2, past=250)
    assert frames.iq.shape == (30, 350)
    n = np.arange(-250, 100)
    angle = frames.phase[:, None] + 2 * np.pi * frames.cfo[:, None] * n / 100
    symbols = frames.iq * np.exp(-1j * angle) / frames.gain[:, None]
    assert symbols**2 == pytest.approx(np.ones((30, 350)), abs=2e-3)


def test_paper_clients_have_the_papers_counts():
    one, two, three, four = paper_clients()
    assert one.unlabelled == (60_000, 60_000, 10_000, 10_000)
    assert two.labelled == (200, 1_200, 1_200, 200)
    assert three.test == (20, 20, 120, 120)
    assert four.signal == Signal()
    assert paper_clients(heterogeneity="snr")[2].signal.snr_db == (0.0, 5.0)
    assert sum(paper_clients(labels=140)[1].labelled) == 140
    assert scaled((1, 1, 1), 10) == (4, 3, 3)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"samples": 0}, "signal.samples is 0; it must be at least 1"),
        ({"classes": ("FM",)}, "there is no modulation 'FM'"),
        ({"snr_db": (3.0, 1.0)}, "signal.snr_db is 3.0..1.0"),
        ({"cfo": ()}, "signal.cfo"),
    ],
)
def test_impossible_settings_are_refused(wrong, message):
    with pytest.raises(ConfigError, match=message):
        Signal(**wrong)
