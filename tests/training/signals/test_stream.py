"""Streams: the air and the receiver against theory, truth against measurement, and no cut that shows."""

import numpy as np
import pytest
import sigmf
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from streaming.errors import ConfigError, InputError
from training.signals.classes import CLASSES
from training.signals.conditions import CLEAN, Conditions
from training.signals.emission import SEGMENT, Emission
from training.signals.fading import Fading
from training.signals.measure import occupied, power
from training.signals.receiver import Receiver
from training.signals.recording import write_recording
from training.signals.stream import Stream, at_random, in_turn
from training.signals.stretches import make_stretches

ALL = Conditions()


def rng(seed=1):
    return np.random.default_rng(seed)


def random_stream(seed=1):
    return Stream(at_random(CLASSES, (1_000, 20_000), ALL, seed), ALL, seed)


WHOLE = random_stream().next(40_000)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 6_000), max_size=8))
def test_how_a_stream_is_asked_for_never_shows(counts):
    stream = random_stream()
    out = np.concatenate([stream.next(n) for n in [*counts, 100]])[: len(WHOLE)]
    np.testing.assert_array_equal(out, WHOLE[: len(out)])


def test_a_seed_gives_one_stream_and_another_seed_another():
    np.testing.assert_array_equal(random_stream().next(9_000), WHOLE[:9_000])
    assert not np.array_equal(random_stream(2).next(9_000), WHOLE[:9_000])


def test_labels_cover_the_stream_without_a_gap():
    stream = random_stream()
    stream.next(300_000)
    ends = [label.start + label.count for label in stream.labels]
    assert [label.start for label in stream.labels] == [0, *ends[:-1]]
    assert ends[-1] >= 300_000
    assert len({label.name for label in stream.labels}) > 5


def test_a_stream_ends_with_its_plan():
    stream = Stream(in_turn(["QPSK", "noise"], 3_000, CLEAN, 1), CLEAN, 1)
    assert len(stream.next(10_000)) == 6_000
    assert len(stream.next(10)) == 0
    with pytest.raises(InputError, match="-1 samples were asked for"):
        stream.next(-1)


@pytest.mark.parametrize("name", [name for name in CLASSES if name != "noise"])
def test_measured_snr_bandwidth_and_offset_are_the_label(name):
    conditions = Conditions(
        snr_db=(12, 12), offset=0.05, multipath=0, imbalance_db=0, imbalance_deg=0, dc=0, bits=0
    )
    whole = Stream(in_turn([name, "noise"], 100_000, conditions, 3), conditions, 3)
    x = whole.next(200_000)
    label = whole.labels[0]
    on, off = x[SEGMENT:90_000], x[110_000:]
    band = max(label.bandwidth, 1 / 64)
    measured = (power(on) - power(off)) / (power(off) * band)
    # The label is the first segment's, and speech varies in loudness.
    slack = 3 if name in ("AM-DSB", "AM-DSB-SC", "SSB") else 0.4
    assert 10 * np.log10(measured) == pytest.approx(12, abs=slack)
    spectrum = np.abs(np.fft.fft(on)) ** 2
    f = np.fft.fftfreq(len(on))
    inside = np.abs((f - label.offset + 0.5) % 1 - 0.5) <= max(label.bandwidth, 0.004) / 2
    noise = power(off) * len(on) ** 2 / len(on)
    share = (spectrum[inside].sum() - noise * inside.sum()) / (spectrum.sum() - noise * len(on))
    assert share > 0.94


def test_phase_noise_has_its_linewidth():
    conditions = Conditions(snr_db=(0, 0), linewidth=1e-4, offset=0, multipath=0)
    emission = Emission("carrier", conditions, rng())
    x = emission.next(400_001)
    steps = np.angle(x[1:] * x[:-1].conj())
    assert steps.var() == pytest.approx(2 * np.pi * emission.linewidth, rel=0.02)


@pytest.mark.parametrize(("rician", "law"), [(0.0, stats.rayleigh), (4.0, stats.rice)])
def test_a_path_fades_by_its_law(rician, law):
    gains = [abs(Fading(1, 3, rician, 1e-5, rng(i)).push(np.ones(1, np.complex64))[0]) for i in range(1500)]
    scale = np.sqrt(1 / (2 * (1 + rician)))
    expected = law(scale=scale) if rician == 0 else law(np.sqrt(2 * rician), scale=scale)
    assert stats.kstest(gains, expected.cdf).pvalue > 0.01


def test_echoes_are_delayed_copies_and_fades_are_as_fast_as_the_doppler():
    fading = Fading(4, 8, 0.0, 0.0, rng())
    pulse = np.zeros(4096, np.complex64)
    pulse[100] = 1
    heard = np.flatnonzero(fading.push(pulse)) - 100
    np.testing.assert_array_equal(heard, fading.delays)
    faded = np.concatenate(
        [(f := Fading(1, 3, 0.0, 1e-3, rng(5))).push(np.ones(4096, np.complex64)), f.push(pulse * 0 + 1)]
    )
    low, high = occupied(faded)
    assert high - low < 2 * 1e-3 + 3 / 512


def test_a_receivers_image_and_direct_current_are_what_it_was_given():
    conditions = Conditions(imbalance_db=1.0, imbalance_deg=5.0, dc=0.02, bits=0)
    receiver = Receiver(conditions, 1e6, rng(4))  # noise 60 dB below
    n = 65_536
    y = receiver.push((1e3 * np.exp(2j * np.pi * 0.125 * np.arange(n))).astype(np.complex64)).astype(complex)
    spectrum = np.fft.fft(y) / n
    image = 20 * np.log10(abs(spectrum[-n // 8] / spectrum[n // 8]))
    turned = 2 * receiver.straight - 1
    ratio = abs(turned)
    theory = 10 * np.log10(
        (1 + ratio**2 - 2 * ratio * np.cos(np.angle(turned)))
        / (1 + ratio**2 + 2 * ratio * np.cos(np.angle(turned)))
    )
    assert image == pytest.approx(theory, abs=0.1)
    assert abs(spectrum[0] - receiver.dc) < 1e-3


def test_eight_bits_are_steps_of_a_128th():
    x = random_stream().next(20_000)
    steps = x.view(np.float32) * 128
    np.testing.assert_array_equal(steps, steps.round())
    assert steps.min() >= -128
    assert steps.max() <= 127
    assert steps.std() > 0.5


def test_a_recording_keeps_samples_and_truth_and_is_the_same_each_time(tmp_path):
    files = []
    for name in ("a", "b"):
        stream = Stream(in_turn(["QPSK", "noise", "OOK"], 4_000, ALL, 7), ALL, 7)
        x = stream.next(12_000)
        path = tmp_path / name / "demo.sigmf"
        write_recording(
            path, [x], stream.labels, rate_hz=250e3, freq_hz=433.92e6, datatype="ci8", description="seed 7"
        )
        files.append(
            path.with_name("demo.sigmf-data").read_bytes() + path.with_name("demo.sigmf-meta").read_bytes()
        )
    assert files[0] == files[1]
    recording = sigmf.sigmffile.fromfile(str(tmp_path / "a" / "demo.sigmf-meta"))
    recording.validate()
    np.testing.assert_array_equal(recording.read_samples(), x)
    marks = recording.get_annotations()
    assert [(m["core:label"], m["core:sample_start"], m["core:sample_count"]) for m in marks] == [
        ("QPSK", 0, 4_000),
        ("noise", 4_000, 4_000),
        ("OOK", 8_000, 4_000),
    ]
    width = marks[0]["core:freq_upper_edge"] - marks[0]["core:freq_lower_edge"]
    assert width == pytest.approx(stream.labels[0].bandwidth * 250e3)
    assert "core:freq_lower_edge" not in marks[1]


def test_stretches_are_seeded_and_end_with_their_class():
    made = [
        make_stretches(["QPSK", "noise"], [5, 4], samples=100, past=6_000, conditions=ALL, seed=2, change=0.5)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(made[0].iq, made[1].iq)
    assert made[0].iq.shape == (9, 6_100)
    np.testing.assert_array_equal(made[0].counts(), [5, 4])
    assert np.isnan(made[0].snr_db[made[0].label == 1]).all()
    assert 0 < np.count_nonzero(made[0].since) < 9
    assert made[0].take(slice(2)).bandwidth.shape == (2,)


@pytest.mark.parametrize(
    "bad",
    [{"snr_db": (3, 2)}, {"offset": 0.6}, {"multipath": 2}, {"dc": -1}, {"bits": 1}],
)
def test_conditions_that_make_no_sense_are_refused(bad):
    with pytest.raises(ConfigError, match=next(iter(bad))):
        Conditions(**bad)


def test_bad_counts_and_classes_are_refused():
    with pytest.raises(ConfigError, match="counts are"):
        make_stretches(["QPSK"], [1, 2], samples=10, past=0, conditions=ALL, seed=1)
    with pytest.raises(ConfigError, match="there is no class 'X'"):
        in_turn(["X"], 10, ALL, 1)
    with pytest.raises(ConfigError, match="samples is 0"):
        in_turn(["QPSK"], 0, ALL, 1)
