"""Scenes: the annotations against what numpy measures on the samples."""

import tracemalloc
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from streaming.errors import ConfigError
from training.signals.classes import FAMILIES
from training.signals.scene import SEGMENT, Scene
from training.signals.scene_plan import GUARD, SceneSettings, plan
from training.signals.scene_receiver import LEAD, SceneReceiver
from training.signals.stream import SPUR

FLOAT = np.inf  # steps of a file of floating point
ALONE = SceneSettings(rate_hz=1e6, samples=262_144, emissions=1, clean=True, steps=FLOAT)


def made(settings, seed):
    scene = Scene(settings, plan(settings, seed), seed)
    x = scene.next(settings.samples)
    assert len(x) == settings.samples
    return x, scene


def spectrum(x):
    """Power by frequency and the frequencies, in cycles per sample."""
    return np.fft.fftshift(np.abs(np.fft.fft(x)) ** 2) / len(x) ** 2, np.fft.fftshift(np.fft.fftfreq(len(x)))


@pytest.mark.parametrize("name", ["QPSK", "GMSK", "OOK", "OFDM", "2FSK", "chirp", "SSB", "WBFM"])
def test_edges_leave_half_a_percent_of_the_power_on_either_side(name):
    settings = replace(ALONE, classes=(name,), snr_db=(90.0, 90.0))
    for seed in range(4):
        x, scene = made(settings, seed)
        if len(scene.emitters[0].channels) > 1:
            continue
        (label,) = scene.labels
        power, f = spectrum(x)
        resolution = 0.03 * label.bandwidth + 4 / 65_536
        lower, upper = label.offset - label.bandwidth / 2, label.offset + label.bandwidth / 2
        for outside, nearly in [
            (f < lower - resolution, f < lower + resolution),
            (f > upper + resolution, f > upper - resolution),
        ]:
            assert power[outside].sum() < 0.0055 * power.sum(), (seed, label)
            assert power[nearly].sum() > 0.0045 * power.sum(), (seed, label)


def in_band(x, label):
    power, f = spectrum(x)
    return power[np.abs(f - label.offset) <= label.bandwidth / 2].sum()


@pytest.mark.parametrize("clean", [True, False])
def test_the_snr_is_that_measured_in_the_box(clean):
    settings = replace(ALONE, samples=400_000, clean=clean, steps=128.0, classes=("QPSK", "GMSK", "WBFM"))
    judged = 0
    for seed in range(24):
        x, scene = made(settings, seed)
        label = next(label for label in scene.labels if label.name != SPUR)
        spurs = [other for other in scene.labels if other.name == SPUR]
        if label.start < 40_000 or len(label.bursts) > 1 or any(near(label, spur) for spur in spurs):
            continue
        x = x - x.mean()  # the receiver's direct current
        noise = in_band(x[: label.start - 500], label)
        both = in_band(x[label.start : label.start + label.count], label)
        measured = 10 * np.log10((both - noise) / noise)
        assert measured == pytest.approx(label.snr_db, abs=0.8), (seed, label)
        judged += 1
    assert judged >= 3


def near(label, spur):
    return abs(label.offset - spur.offset) < label.bandwidth / 2 + 0.001


def test_an_emission_is_where_and_when_its_box_is():
    settings = replace(ALONE, samples=400_000, snr_db=(70.0, 70.0), classes=("OOK", "GFSK", "QPSK", "chirp"))
    for seed in range(12):
        x, scene = made(settings, seed)
        power = np.abs(x) ** 2
        inside = np.zeros(len(x), bool)
        for label in scene.labels:
            assert label.start == label.bursts[0][0]
            assert label.start + label.count == label.bursts[-1][1]
            for begin, end in label.bursts:
                inside[max(0, begin - 200) : end + 200] = True
        if not inside.all():
            assert power[~inside].mean() < 0.02 * power[inside].mean(), seed


def test_emissions_do_not_lie_over_each_other_and_some_are_a_quarter_of_a_bandwidth_apart():
    gaps = []
    for seed in range(12):
        emitters = plan(SceneSettings(emissions=12), seed)
        bands = sorted(
            (e.channels[0] - e.width / 2, e.channels[-1] + e.width / 2)
            for e in emitters
            if e.width > 1 / 1024
        )
        assert all(-0.5 < lower < upper < 0.5 for lower, upper in bands)
        for (lower, upper), (next_lower, next_upper) in pairwise(bands):
            gaps.append((next_lower - upper) / max(upper - lower, next_upper - next_lower))
    near = np.mean(np.abs(np.array(gaps) - GUARD) < 0.15)
    assert min(gaps) > -0.6  # a single sideband lies beside its carrier
    assert near > 0.15


def test_scenes_have_all_that_is_on_the_air():
    settings = SceneSettings(samples=480_000, emissions=10)
    labels, emitters, spurs = [], [], 0
    for seed in range(8):
        _, scene = made(settings, seed)
        labels += [label for label in scene.labels if label.name != SPUR]
        spurs += sum(label.name == SPUR for label in scene.labels)
        emitters += scene.emitters
    assert {FAMILIES[label.name] for label in labels} >= {"ASK", "PSK", "QAM", "FSK", "AM", "FM", "OFDM"}
    assert 0 < spurs < 24
    assert sum(label.start == 0 for label in labels) > 10  # there before it began
    assert sum(label.start > 0 and label.start + label.count < 480_000 for label in labels) > 5
    assert sum(len(label.bursts) > 2 for label in labels) > 5
    assert any(len(emitter.channels) > 1 for emitter in emitters)  # one that hops
    snr_db = np.array([label.snr_db for label in labels])
    assert np.ptp(snr_db) > 20
    widths_hz = np.array([label.bandwidth for label in labels]) * 2.4e6
    assert widths_hz.max() > 100e3
    assert np.sum((widths_hz > 1e3) & (widths_hz < 10e3)) > 5


def test_the_channels_of_a_hopping_transmitter_share_its_number():
    settings = replace(ALONE, samples=1_000_000, snr_db=(40.0, 40.0), classes=("GFSK", "2FSK"))
    hopping = (seed for seed in range(200) if len(plan(settings, seed)[0].channels) > 1)
    x, scene = made(settings, next(hopping))
    assert len(scene.labels) > 1
    assert {label.emission for label in scene.labels} == {0}
    for label in scene.labels:
        begin, end = max(label.bursts, key=lambda span: span[1] - span[0])
        power, f = spectrum(x[begin:end])
        assert power[np.abs(f - label.offset) < label.bandwidth].sum() > 0.9 * power.sum()


@pytest.mark.parametrize("cut", [1000, 65_537, SEGMENT, SEGMENT + 1])
def test_how_much_is_asked_for_does_not_show(cut):
    settings = SceneSettings(samples=SEGMENT + 150_000, emissions=3)
    whole, _ = made(settings, 5)
    scene = Scene(settings, plan(settings, 5), 5)
    parts = []
    while len(part := scene.next(cut)):
        parts.append(part)
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_the_seed_decides_all():
    settings = SceneSettings(samples=100_000, emissions=4)
    (x, one), (y, other), (z, _) = (made(settings, seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(x, y)
    assert repr(one.labels) == repr(other.labels)  # NaN is not NaN
    assert not np.array_equal(x, z)


def test_one_segment_goes_over_into_the_next_without_a_click():
    settings = replace(ALONE, samples=2 * SEGMENT, snr_db=(40.0, 40.0), classes=("QPSK", "NBFM", "MSK"))
    judged = 0
    for seed in range(40):
        x, scene = made(settings, seed) if steady(plan(settings, seed)[0]) else (None, None)
        if x is None:
            continue
        (label,) = scene.labels
        seam = SEGMENT - LEAD
        powers = []
        for at in [seam, *range(100_000, 900_000, 40_000)]:
            power, f = spectrum(x[at - 2048 : at + 2048] * np.hanning(4096))
            far = np.abs(f - label.offset) > 3 * label.bandwidth + 0.02
            powers.append(power[far].mean())
        assert powers[0] < 2 * max(powers[1:]), (seed, label)
        judged += 1
        if judged == 4:
            return
    pytest.fail("no steady one")


def steady(emitter):
    alone = len(emitter.channels) == 1
    return alone and emitter.begin == 0 and emitter.end >= 2 * SEGMENT and emitter.width < 0.05


def test_memory_does_not_grow_with_the_length():
    peaks = []
    for segments in (2, 8):
        settings = SceneSettings(samples=segments * SEGMENT, emissions=3, classes=("QPSK", "GMSK", "carrier"))
        scene = Scene(settings, plan(settings, 2), 2)
        tracemalloc.start()
        while len(scene.next(100_000)):
            pass
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0]


def test_a_spur_is_a_tone_of_its_strength():
    seeds = (seed for seed in range(50) if SceneReceiver(np.random.default_rng([seed, 1]), 0.0, False).spurs)
    settings = SceneSettings(samples=262_144, emissions=0, steps=FLOAT)
    for _ in range(3):
        x, scene = made(settings, next(seeds))
        power, f = spectrum(x * np.hanning(len(x)))
        for label in scene.labels:
            assert label.name == SPUR
            peak = power[np.abs(f - label.offset) < 4 / len(x)].sum()
            beside = np.abs(f - label.offset)
            noise = power[(beside > 40 / len(x)) & (beside < 0.004)].mean() * len(x) * label.bandwidth
            if label.snr_db > 10 and abs(label.offset) > 0.01:
                assert 10 * np.log10(peak / noise) == pytest.approx(label.snr_db, abs=1.0)


def test_a_receivers_cuts_do_not_show():
    air = np.random.default_rng(1).standard_normal(40_000).astype(np.float32).view(np.complex64)
    whole = SceneReceiver(np.random.default_rng(2), 1.0, False).push(air)
    receiver = SceneReceiver(np.random.default_rng(2), 1.0, False)
    parts = np.concatenate([receiver.push(air[i : i + 300]) for i in range(0, len(air), 300)])
    assert len(whole) == len(air) - 2 * LEAD
    np.testing.assert_allclose(parts, whole, atol=1e-6)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"samples": 1000}, "expected at least 16,384"),
        ({"emissions": -1}, "expected 0 to 256"),
        ({"emissions": 200}, "emissions fit into the band; ask for fewer"),
        ({"snr_db": (20.0, 10.0)}, "expected the lower one first"),
        ({"classes": ("FOO",)}, "there is no class 'FOO'"),
    ],
)
def test_what_cannot_be_made_is_refused_in_one_line(changes, message):
    with pytest.raises(ConfigError, match=message):
        made(SceneSettings(**({"samples": 50_000} | changes)), 1)
