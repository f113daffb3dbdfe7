"""Behind the front end the pipeline answers at the model's rate and reports silences, whatever the cut."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streaming.block import Block
from streaming.bundle import Bundle, load_bundle
from streaming.bundle_meta import Meta
from streaming.encoder import Encoder, EncoderShape, iq
from streaming.engine import open_engine
from streaming.frontend import FrontEnd, FrontEndSettings, Piece
from streaming.pipeline import LivePipeline, push_all
from streaming.prediction import NO_SIGNAL
from streaming.report import open_reporter
from tests.models import tiny_head

SHAPE = EncoderShape(channels=4, depth=2, reduced=6, outputs=5)  # sees 29 samples
WINDOW, HOP, RATE = 200, 50, 250e3
FRONT = FrontEndSettings(fraction=0.4, narrowest=1 / 32, agc_samples=300.0)


@pytest.fixture(scope="module")
def bundle():
    encoder = Encoder(SHAPE, seed=1)
    heads = {"live": tiny_head(encoder, name="live", mode="live", window=WINDOW, hop=HOP)}
    return Bundle(encoder, heads, Meta(FRONT), "tiny")


@pytest.fixture(scope="module")
def engine(bundle):
    return open_engine(bundle.encoder, hop=HOP)


def live(bundle, engine):
    return LivePipeline(bundle, bundle.heads["live"], engine)


def noise(length, seed=1):
    x = np.random.default_rng(seed).standard_normal((length, 2)) * 0.02 / np.sqrt(2)
    return x.astype(np.float32).view(np.complex64)[:, 0]


def psk(length, sps, offset=0.1, seed=2):
    """QPSK with Hann pulses of two symbols, 20 dB over the noise, plain numpy."""
    impulses = np.zeros(length, complex)
    turns = np.random.default_rng(seed).integers(0, 4, len(impulses[::sps]))
    impulses[::sps] = np.exp(0.5j * np.pi * turns)
    symbols = np.convolve(impulses, np.hanning(2 * sps + 1))[:length]
    symbols /= np.sqrt(np.mean(np.abs(symbols) ** 2))
    return (0.2 * symbols * np.exp(2j * np.pi * offset * np.arange(length))).astype(np.complex64)


def scene():
    """Noise, a long burst, a short one (0.4 windows), a wide one."""
    x = noise(150_000)
    x[20_000:50_000] += psk(30_000, 20)
    x[80_000:82_000] += psk(2_000, 50, seed=3)
    x[109_568:139_568] += psk(30_000, 5, seed=4)
    return x


SCENE = scene()


def blocks(x, cuts=(), first=0, freq_hz=None):
    edges = [0, *sorted(cuts), len(x)]
    return [
        Block(x[a:b], first + a, RATE, freq_hz, utc_ns=10**9 + (first + a) * 4000)
        for a, b in pairwise(edges)
        if b > a
    ]


def push(pipeline, pieces):
    found = [prediction for block in pieces for prediction in pipeline.push(block)]
    return found + pipeline.flush()


def emissions(predictions):
    """Predictions with a signal, by where it began."""
    found = {}
    for prediction in predictions:
        if prediction.label != NO_SIGNAL:
            found.setdefault(prediction.begin, []).append(prediction)
    return list(found.values())


def same(a, b):
    fields = (
        *("start", "end", "label", "past", "begin", "utc_ns"),
        *("emission", "snr_db", "bandwidth_hz", "offset_hz", "centre_hz"),
    )
    assert [[getattr(p, f) for f in fields] for p in a] == [[getattr(p, f) for f in fields] for p in b]
    np.testing.assert_allclose([p.probabilities for p in a], [p.probabilities for p in b], atol=1e-9)


def test_an_answer_is_the_heads_over_the_batch_features_of_the_signal_so_far(bundle, engine):
    front = FrontEnd(FRONT)
    pieces = [p for p in [*front.push(blocks(SCENE)[0]), *front.flush()] if isinstance(p, Piece)]
    signals = []
    for piece in pieces:
        if piece.begins:
            signals.append((piece.start, piece.step, []))
        signals[-1][2].append(piece.samples)
    found = emissions(push(live(bundle, engine), blocks(SCENE)))
    assert len(found) == len(signals) == 3
    for predictions, (start, step, parts) in zip(found, signals, strict=True):
        samples = np.concatenate(parts)
        ends = range(WINDOW, len(samples) + 1, HOP) or [len(samples) // HOP * HOP]
        features = bundle.encoder.features(iq(samples[None]))[0].detach()
        rows = [
            bundle.encoder.linear(bundle.encoder.pool(features[None, max(0, end - WINDOW) : end]))[0]
            for end in ends
        ]
        _, expected = bundle.heads["live"].answer(np.array([row.detach().numpy() for row in rows]))
        np.testing.assert_allclose([p.probabilities for p in predictions], expected, atol=1e-4)
        assert [p.end for p in predictions] == [round(start + end * step) for end in ends]
        assert predictions[0].start == round(start)


@given(st.lists(st.integers(1, len(SCENE) - 1), max_size=12, unique=True))
@settings(max_examples=15, deadline=None)
def test_how_the_stream_is_cut_never_shows(bundle, engine, cuts):
    same(push(live(bundle, engine), blocks(SCENE)), push(live(bundle, engine), blocks(SCENE, cuts)))


def test_many_streams_in_one_push_answer_as_each_would_alone(bundle, engine):
    scenes = [SCENE, np.roll(SCENE, 25_000), SCENE[60_000:], noise(90_000, seed=5)]
    pipelines = [live(bundle, engine) for _ in scenes]
    together = [[] for _ in scenes]
    cut = [blocks(x, range(16_384, len(x), 16_384)) for x in scenes]
    for turn in range(max(map(len, cut))):
        present = [n for n in range(len(scenes)) if turn < len(cut[n])]
        work = [(pipelines[n], cut[n][turn], pipelines[n].level(cut[n][turn])) for n in present]
        for n, found in zip(present, push_all(engine, work), strict=True):
            together[n] += found
    for pipeline, found, x in zip(pipelines, together, scenes, strict=True):
        alone = push(live(bundle, engine), blocks(x))
        same(found + pipeline.flush(), alone)


def test_every_answer_says_which_emission_it_is_of_and_where_that_is(bundle, engine):
    tuned = [replace(block, freq_hz=433.92e6) for block in blocks(SCENE)]
    found = push(live(bundle, engine), tuned)
    assert [{p.emission for p in signal} for signal in emissions(found)] == [{1}, {2}, {3}]
    assert {p.emission for p in found if p.label == NO_SIGNAL} == {None}
    for answer in found:
        if answer.label == NO_SIGNAL:
            assert answer.centre_hz is None
        else:  # the scene's signals are a tenth of the rate above the middle
            assert answer.centre_hz == pytest.approx(433.92e6 + 0.1 * RATE, abs=3000)
    assert {p.centre_hz for p in push(live(bundle, engine), blocks(SCENE))} == {None}


def test_silences_and_signals_cover_the_stream_and_silences_are_told_slowly(bundle, engine):
    found = push(live(bundle, engine), blocks(SCENE))
    assert found[0].start == 0
    assert found[0].label == NO_SIGNAL
    silences = [p for p in found if p.label == NO_SIGNAL]
    first = [p for p in silences if p.begin == 0]
    assert [p.end - p.start for p in first[:-1]] == [5_000]  # 20 ms, then the rest of it at the signal
    assert abs(first[-1].end - 20_000) <= 512
    for before, after in pairwise(found):
        assert before.start <= after.start
    for signal in emissions(found):
        assert any(p.end == signal[0].start for p in silences)
    assert all(p.probability == 0 and not p.probabilities.any() for p in silences)
    ten = push(live(bundle, engine), blocks(noise(250_000)))
    assert [p.end - p.start for p in ten] == [5_000] + [25_000] * 9 + [
        249_856 - 230_000
    ]  # whole blocks of 512
    assert {p.label for p in ten} == {NO_SIGNAL}
    assert len({p.begin for p in ten}) == 1


def test_a_burst_shorter_than_the_window_is_answered_once_from_what_there_is(bundle, engine):
    short = emissions(push(live(bundle, engine), blocks(SCENE)))[1]
    assert len(short) == 1
    assert abs(short[0].start - 80_000) <= 512
    assert 1_000 < short[0].end - short[0].start <= 3_000
    assert short[0].past == "signal"


def test_a_burst_that_begins_near_the_end_of_a_block_is_one_signal(bundle, engine):
    x = noise(60_000)
    x[20_480 - 100 : 50_000] += 4 * psk(29_620, 50)
    (found,) = emissions(push(live(bundle, engine), blocks(x)))
    assert found[0].past == "change"


def test_an_answer_says_what_was_measured_and_what_its_past_was(bundle, engine):
    long = emissions(push(live(bundle, engine), blocks(SCENE)))[0]
    assert {p.past for p in long} == {"signal", "warm"}
    for prediction in long:
        assert abs(prediction.offset_hz - 25_000) < 1_000
        assert 12_500 * 0.8 < prediction.bandwidth_hz < 2 * 12_500 * 1.2
        assert prediction.snr_db > 15
        assert prediction.utc_ns == 10**9 + prediction.start * 4000


def test_a_wider_signal_straight_after_another_is_a_change(bundle, engine):
    x = noise(120_000)
    x[20_000:60_000] += psk(40_000, 40)
    x[60_000:110_000] += psk(50_000, 8)
    first, second = emissions(push(live(bundle, engine), blocks(x)))
    assert second[0].past == "change"
    assert second[-1].past == "warm"
    assert second[-1].bandwidth_hz > 2 * first[0].bandwidth_hz


def test_a_gap_ends_the_signal_and_is_marked(bundle, engine):
    pipeline = live(bundle, engine)
    found = [p for block in blocks(SCENE[:40_000]) for p in pipeline.push(block)]
    found += push(pipeline, blocks(SCENE[41_000:60_000], first=41_000))
    before, after = emissions(found)
    assert before[-1].end <= 40_000
    assert after[0].start == 41_000
    assert after[0].past == "gap"
    assert pipeline.skipped == 40_000 % 512 + 19_000 % 512


def test_another_frequency_restarts_with_its_own_noise(bundle, engine):
    pipeline = live(bundle, engine)
    found = [p for block in blocks(SCENE[:40_000], freq_hz=433e6) for p in pipeline.push(block)]
    found += push(pipeline, blocks(30 * noise(60_000, seed=9), first=40_000, freq_hz=868e6))
    assert len(emissions(found)) == 1
    assert found[-1].label == NO_SIGNAL
    assert found[-1].begin == 40_000


def test_a_report_ends_where_a_silence_or_another_signal_begins(bundle, engine):
    reporter = open_reporter(bundle.heads["live"], RATE, 1000)
    found = push(live(bundle, engine), blocks(SCENE))
    reports = [report.prediction for report in reporter.push(found) + reporter.flush()]
    spells = [reports[0]]
    for report in reports[1:]:
        if report.begin != spells[-1].begin:
            spells.append(report)
    assert [p.label == NO_SIGNAL for p in spells] == [True, False] * 3 + [True]
    assert [p.snr_db is None for p in spells] == [True, False] * 3 + [True]


def gaussian(length, sps, offset=0.1, seed=4):
    """As `psk`, but of symbols that look like noise."""
    impulses = np.zeros(length, complex)
    impulses[::sps] = np.random.default_rng(seed).standard_normal((len(impulses[::sps]), 2)) @ [1, 1j]
    symbols = np.convolve(impulses, np.hanning(2 * sps + 1))[:length]
    symbols /= np.sqrt(np.mean(np.abs(symbols) ** 2))
    return (0.2 * symbols * np.exp(2j * np.pi * offset * np.arange(length))).astype(np.complex64)


def test_a_window_forgets_a_signal_that_another_like_it_has_followed():
    radio, change = load_bundle("radio"), 20_000 + 60_000
    engine = open_engine(radio.encoder, hop=radio.heads["live"].hop)
    x = noise(150_000)
    x[20_000:change] += psk(60_000, 8)
    x[change:140_000] += gaussian(60_000, 8)
    found = push(live(radio, engine), blocks(x))
    heard = [p for p in found if p.label != NO_SIGNAL]
    assert {p.begin for p in heard} == {heard[0].begin}  # to the front end it is one signal
    (first, *_) = short = [p for p in heard if p.past == "change"]
    long = max(p.end - p.start for p in heard)
    assert change < first.end < change + long
    assert first.start > change - long / 2
    assert [p.end - p.start < long for p in short] == [True] * len(short)
    assert heard[-1].past == "warm"
    cut = push(live(radio, engine), blocks(x, [777, 81_003, 81_004, 99_999, 120_000]))
    same(found, cut)
