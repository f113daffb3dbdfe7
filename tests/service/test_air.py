"""A model for the air in the service: silences end emissions, bursts are kept, noise makes no events."""

import json
import threading
import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import service.live.streams
from hardware.source import Counts, Source
from service.cli import main
from service.live.answers import Answers
from service.live.events import Detector
from service.live.hub import Hub
from service.live.runtime import Runtime
from service.live.streams import Limits, Stream
from service.models.live import open_live
from service.models.predictor import Predictor
from streaming.band.frontend import BandSettings
from streaming.band.pipeline import BandPipeline
from streaming.block import Block
from streaming.bundle import Bundle
from streaming.bundle_meta import Meta
from streaming.embedding import Embedder
from streaming.encoder import Encoder
from streaming.engine import open_engine
from streaming.errors import InputError
from streaming.pipeline import open_pipeline
from streaming.prediction import NO_SIGNAL
from streaming.shape import EncoderShape
from tests.models import tiny_head
from tests.service.conftest import small_bundle
from tests.service.journal import Kept

SHAPE = EncoderShape(channels=4, depth=3, reduced=6, outputs=5)
WINDOW, HOP, RATE = 200, 50, 250_000
FRONT = BandSettings(fraction=0.3)


@pytest.fixture(scope="module")
def bundle():
    encoder = Encoder(SHAPE, seed=1)
    heads = {"live": tiny_head(encoder, name="live", mode="live", window=WINDOW, hop=HOP)}
    return Bundle(encoder, heads, Meta(FRONT), "air")


@pytest.fixture
def runtime(bundle):
    runtime = Runtime(open_live(bundle.name, bundle))
    runtime.start()
    yield runtime
    runtime.close()


def noise(length, rng):
    return rng.standard_normal((length, 2)) @ [1, 1j] * 0.02


def tone_bursts(rng, seconds=3.0):
    """Slow FM, one second on, then 30 ms on, in noise."""
    x = noise(round(seconds * RATE), rng)
    for start, end in ((1.0, 2.0), (2.5, 2.53)):
        t = np.arange(round(start * RATE), round(end * RATE))
        x[t] += 0.3 * np.exp(2j * np.pi * 20e3 * t / RATE + 8j * np.sin(2 * np.pi * 500 * t / RATE))
    return x


SPANS = (0.9 * RATE, 2.1 * RATE), (2.4 * RATE, 2.6 * RATE)  # around the two bursts


def skipped(samples):
    """Of so many in a row: looks are of 256 samples at this rate, and each needs half of one behind it."""
    return 128 + (samples - 128) % 256


def store(path, x):
    """As an RTL-SDR would: 8 bits, unsigned."""
    pairs = np.stack([x.real, x.imag], 1)
    path.write_bytes(np.clip(np.rint(pairs * 127.5 + 127.5), 0, 255).astype(np.uint8).tobytes())
    return path


def open_stream(runtime, address, limits):
    """A stream that plays, what is kept of it, and what answers it."""
    stream, journal = Stream(address, "", limits, runtime.work), Kept()
    answers = Answers(
        stream,
        runtime.model.heads["live"],
        "sha",
        hub=Hub(),
        journal=journal,
        detector=Detector("", 3, 200),  # as the settings have it
        report_ms=100,
    )
    runtime.add(stream, answers)
    stream.start()
    return stream, journal, answers


def finished(runtime, stream, seconds=60):
    end = time.monotonic() + seconds
    while stream.state == "running" or stream.queue or stream.over:
        assert time.monotonic() < end
        time.sleep(0.01)
    runtime.call(lambda: None)
    assert stream.state == "ended", stream.error


def play(runtime, path, rate=RATE, seconds=60):
    """A file through the service's own stream, as fast as it goes."""
    found = open_stream(runtime, f"file:{path}?rate={rate}", Limits())
    finished(runtime, found[0], seconds)
    return found


def test_a_silence_ends_an_emission_and_bursts_are_kept_to_the_last(runtime, tmp_path):
    stream, journal, answers = play(
        runtime, store(tmp_path / "a.cu8", tone_bursts(np.random.default_rng(1), 2.53))
    )
    runs = sorted(journal.runs.values(), key=lambda run: run.start_sample)
    assert runs[0].label == NO_SIGNAL
    assert [run.label == NO_SIGNAL for run in runs][-3:] == [False, True, False]
    assert runs[-1].end_sample == pytest.approx(2.53 * RATE, abs=0.01 * RATE)
    for measured in ("snr_db", "bandwidth_hz", "offset_hz", "emission"):
        assert all((getattr(run, measured) is None) == (run.label == NO_SIGNAL) for run in runs)
    heard = [run for run in runs if run.label != NO_SIGNAL]
    long, short = ({run.emission for run in heard if a <= run.start_sample < b} for a, b in SPANS)
    assert (len(long), long) == (1, short)  # the same place and width: the same emitter
    names = [event.label for event in journal.events]
    assert names[0] == names[-1] == NO_SIGNAL
    assert set(names[1:-1])
    assert NO_SIGNAL not in names[1:-1]
    assert {event.emission for event in journal.events[1:-1]} == long
    last = journal.events[-1]
    assert last.start_sample == pytest.approx(2 * RATE, abs=0.01 * RATE)
    assert answers.latest.bandwidth_hz > 1000
    assert answers.latest.offset_hz == pytest.approx(20e3, abs=2e3)
    assert stream.counts.skipped == skipped(round(2.53 * RATE))


@pytest.mark.parametrize(
    "rate", [12_000, pytest.param(RATE, marks=[pytest.mark.acceptance, pytest.mark.timeout(900)])]
)
def test_noise_alone_for_ten_minutes_is_at_most_one_event(runtime, tmp_path, rate):
    rng, path = np.random.default_rng(2), tmp_path / "noise.cu8"
    with path.open("wb") as file:
        for _ in range(600):
            part = store(tmp_path / "part", noise(rate, rng) + 0.01 - 0.005j)  # and some DC
            file.write(part.read_bytes())
    stream, journal, _ = play(runtime, path, rate, seconds=600)
    assert stream.counts.processed == 600 * rate
    assert [event.label for event in journal.events] == [NO_SIGNAL]
    assert stream.counts.labels.keys() == {NO_SIGNAL}
    (run,) = journal.runs.values()
    assert run.end_sample - run.start_sample > 599 * rate


def test_predict_answers_signals_and_silences_side_by_side(bundle):
    predictor = Predictor(bundle, open_engine(bundle.encoder, HOP), bundle.sha256)
    x = tone_bursts(np.random.default_rng(1)).astype(np.complex64)
    answer = predictor.predict([Block(x[:400_000], 0, RATE), Block(x[400_000:], 400_000, RATE)])
    windows = answer.windows
    assert all(a.end <= b.start for a, b in pairwise(windows))
    assert windows[0].label == windows[-1].label == NO_SIGNAL
    on = [window for window in windows if window.label != NO_SIGNAL]
    assert on[0].start == pytest.approx(1.0 * RATE, abs=0.01 * RATE)  # as the bursts were made
    assert sum(window.end - window.start for window in on) == pytest.approx(1.03 * RATE, rel=0.05)
    assert answer.whole.label != NO_SIGNAL
    assert sum(answer.whole.probabilities.values()) == pytest.approx(1, abs=1e-3)
    for window in windows:
        assert (window.snr_db is None) == (window.label == NO_SIGNAL)
        assert (window.offset_hz is None) == (window.label == NO_SIGNAL)
    nothing = predictor.predict([Block(x[:100_000], 0, 1.0)])  # nobody said the rate
    assert nothing.whole.label == NO_SIGNAL
    assert len(nothing.windows) < 30


def test_the_commands_list_emissions_or_say_no_signal(bundle, tmp_path, capsys):
    model, path = tmp_path / "air.safetensors", tmp_path / "x_250k.cu8"
    bundle.save(model)
    store(path, tone_bursts(np.random.default_rng(1)))
    main(["listen", str(path), "--model", str(model)])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["state"] for line in lines if line["state"] != "update"] == ["new", "end"]
    assert lines[-1]["centre_hz"] == pytest.approx(20e3, abs=2e3)
    assert (lines[-1]["begin"], lines[-1]["end"]) == pytest.approx((1.0, 2.53), abs=0.01)
    assert lines[-1]["bursts"] == 2
    main(["predict", str(path), "--model", str(model)])
    emission, whole = capsys.readouterr().out.splitlines()
    assert "+20." in emission
    assert "2 bursts" in emission
    assert whole.startswith("whole: ")
    assert NO_SIGNAL not in whole
    store(path, noise(RATE, np.random.default_rng(1)))
    main(["predict", str(path), "--model", str(model)])
    assert capsys.readouterr().out == f"whole: {NO_SIGNAL}\n"


def test_a_label_is_embedded_as_it_was_answered(bundle):
    engine, head = open_engine(bundle.encoder, HOP), bundle.heads["live"]
    x = tone_bursts(np.random.default_rng(1)).astype(np.complex64)
    start, end = 240_000, 450_000  # the burst begins at 250,000
    rows = Embedder(bundle, engine, head).embed(x[:end], start, RATE)
    pipeline = open_pipeline(bundle, head, engine)
    live = [p for p in pipeline.push(Block(x[:end], 0, RATE)) + pipeline.flush() if p.start >= start]
    assert len(rows) == min(64, len(live))
    _, probabilities = head.answer(rows)
    np.testing.assert_allclose(probabilities[0], live[0].probabilities, atol=1e-6)
    np.testing.assert_allclose(probabilities[-1], live[-1].probabilities, atol=1e-6)
    with pytest.raises(InputError, match="no signal"):
        Embedder(bundle, engine, head).embed(x[:200_000], 100_000, RATE)


def test_a_label_in_the_middle_of_a_long_emission_rests_on_its_own_samples(bundle):
    """Live answers get rare with time, so there may be none within the stretch."""
    embedder = Embedder(bundle, open_engine(bundle.encoder, HOP), bundle.heads["live"])
    x = tone_bursts(np.random.default_rng(1)).astype(np.complex64)
    rows = embedder.embed(x[:360_000], 320_000, RATE)
    assert len(rows) > 3
    np.testing.assert_array_equal(rows, embedder.embed(x[:360_000], 320_000, RATE))
    assert not np.allclose(rows[0], embedder.embed(x[:360_000], 250_000, RATE)[0])


def test_a_label_is_of_one_emission_of_the_band():
    bundle = small_bundle()
    embedder = Embedder(bundle, open_engine(bundle.encoder, HOP), bundle.heads["live"])
    t = np.arange(2 * RATE)
    x = noise(len(t), np.random.default_rng(1))
    x += (t > RATE) * 0.3 * np.exp(2j * np.pi * 60e3 * t / RATE + 1.3j * np.sin(2 * np.pi * 3e3 * t / RATE))
    alone = embedder.embed(x.astype(np.complex64), RATE, RATE)
    x += (t > RATE) * np.exp(-2j * np.pi * 60e3 * t / RATE) * (1 + 0.9 * np.sin(2 * np.pi * 3e3 * t / RATE))
    both = x.astype(np.complex64)
    weak, strong = (embedder.embed(both, RATE, RATE, near_hz=(at - 4e3, at + 4e3)) for at in (60e3, -60e3))
    np.testing.assert_array_equal(strong, embedder.embed(both, RATE, RATE))
    features = np.s_[-1, SHAPE.outputs :]  # of all the evidence; what the encoder sees depends on its phase
    far = np.abs(strong[features] - alone[features]).max()
    assert np.abs(weak[features] - alone[features]).max() < 0.3 * far
    with pytest.raises(InputError, match="no signal"):
        embedder.embed(both, RATE, RATE, near_hz=(-5e3, 5e3))


class Halves(Source):
    """Plays the first part, waits until it may go on, plays the rest."""

    def __init__(self, samples, at):
        self.samples, self.at, self.on = samples, at, threading.Event()
        self.rate_hz, self.counts, self.address = float(RATE), Counts(), "halves:"

    def blocks(self):
        for start in range(0, len(self.samples), 10_000):
            if start >= self.at:
                assert self.on.wait(60)
            yield Block(self.samples[start : start + 10_000], start, self.rate_hz)

    def close(self):
        self.on.set()


def test_another_model_takes_over_in_the_middle_of_an_emission(runtime, bundle, monkeypatch):
    """The new one's front end is warmed from the ring: it does not take the signal for noise."""
    x = noise(3 * RATE, np.random.default_rng(1)).astype(np.complex64)
    at = np.arange(RATE, 3 * RATE)
    x[at] += (0.3 * np.exp(2j * np.pi * at / 12.5 + 8j * np.sin(at / 80))).astype(np.complex64)
    source = Halves(x, 2 * RATE)
    monkeypatch.setattr(service.live.streams, "open_source", lambda _: source)
    stream, journal, answers = open_stream(runtime, "halves:", Limits(queue_ms=60_000))
    while runtime.pipelines[stream.id].next != 2 * RATE:
        time.sleep(0.01)
    new = replace(open_live("new", bundle), sha256="new")
    runtime.swap(new, {stream.id: bundle.heads["live"]})
    source.on.set()
    finished(runtime, stream)
    after = sorted(
        (run for run in journal.runs.values() if run.sha256 == "new"), key=lambda r: r.start_sample
    )
    assert after[0].start_sample < 2 * RATE + 10_000
    assert after[-1].end_sample > 3 * RATE - 10_000
    assert all(run.label != NO_SIGNAL for run in after)
    assert len({run.emission for run in journal.runs.values()} - {None}) == 1
    assert answers.latest.offset_hz == pytest.approx(RATE / 12.5, abs=2e3)


class Retuned(Halves):
    """Plays the rest at another frequency."""

    freqs = (100e6, 101e6)

    def blocks(self):
        for block in super().blocks():
            yield replace(block, freq_hz=self.freqs[block.index >= self.at])


def test_what_was_heard_before_a_retune_was_heard_at_the_old_frequency(runtime, monkeypatch):
    x = noise(300_000, np.random.default_rng(1)).astype(np.complex64)
    at = np.arange(100_000, 300_000)
    x[at] += (0.3 * np.exp(2j * np.pi * at / 12.5 + 8j * np.sin(at / 80))).astype(np.complex64)
    source = Retuned(x, 200_000)
    source.on.set()
    monkeypatch.setattr(service.live.streams, "open_source", lambda _: source)
    stream, journal, _ = open_stream(runtime, "halves:", Limits(queue_ms=60_000))
    finished(runtime, stream)
    runs = [run for run in journal.runs.values() if run.emission is not None]
    assert {run.freq_hz for run in runs} == set(Retuned.freqs)
    for run in runs:
        assert run.freq_hz == Retuned.freqs[run.start_sample >= 200_000]
        assert run.centre_hz == pytest.approx(run.freq_hz + RATE / 12.5, abs=2e3)
    assert len({run.emission for run in runs}) == 2


class Gapped(Halves):
    """Loses samples 10,000 to 20,000."""

    def blocks(self):
        for block in super().blocks():
            if block.index != 10_000:
                yield block


def test_samples_that_were_skipped_stay_counted_when_another_model_takes_over(runtime, bundle, monkeypatch):
    """Before the gap and before the end, the samples that do not fill a block of the front end."""
    source = Gapped(noise(100_000, np.random.default_rng(1)).astype(np.complex64), 60_000)
    monkeypatch.setattr(service.live.streams, "open_source", lambda _: source)
    stream, _, _ = open_stream(runtime, "halves:", Limits(queue_ms=60_000))
    while runtime.pipelines[stream.id].next != 60_000:
        time.sleep(0.01)
    assert stream.counts.skipped == skipped(10_000)
    runtime.swap(open_live("new", bundle), {stream.id: bundle.heads["live"]})
    source.on.set()
    finished(runtime, stream)
    assert stream.counts.skipped == skipped(10_000) + skipped(80_000)


SLOW_S = 0.03  # that a slow engine takes for one answer


class Bursts(Source):
    """Two bursty emitters at a radio's pace."""

    def __init__(self):
        rng, t = np.random.default_rng(1), np.arange(2 * RATE)
        on = t % (RATE // 25) < RATE // 100
        sent = [
            np.exp(2j * np.pi * f * t / RATE + 8j * np.sin(2 * np.pi * sound * t / RATE))
            for f, sound in ((-60e3, 500), (60e3, 730))
        ]
        self.samples = (noise(len(t), rng) + 0.3 * on * sum(sent)).astype(np.complex64)
        self.rate_hz, self.counts, self.address = float(RATE), Counts(), "bursts:"

    def blocks(self):
        began = time.monotonic()
        for start in range(0, len(self.samples), 2500):
            time.sleep(max(0.0, began + start / RATE - time.monotonic()))
            yield Block(self.samples[start : start + 2500], start, self.rate_hz)

    def close(self):
        pass


def test_an_engine_that_is_too_slow_thins_answers_and_drops_no_sample(runtime, bundle, monkeypatch):
    source, engine = Bursts(), runtime.model.engine

    def slow(work, push=engine.push):
        until = time.thread_time() + SLOW_S * len(work)
        while time.thread_time() < until:
            pass
        return push(work)

    monkeypatch.setattr(engine, "push", slow)
    monkeypatch.setattr(service.live.streams, "open_source", lambda _: source)
    stream, journal = Stream("bursts:", "", Limits(queue_ms=1000), runtime.work), Kept()
    answers = Answers(
        stream,
        bundle.heads["live"],
        "sha",
        hub=Hub(),
        journal=journal,
        detector=Detector("", 3, 200),
        report_ms=100,
    )
    runtime.add(stream, answers)
    attention = runtime.pipelines[stream.id].attention
    stream.start()
    finished(runtime, stream)
    assert attention.thinned > 0
    assert stream.counts.dropped == {}
    assert stream.counts.processed == 2 * RATE
    alone = open_pipeline(bundle, bundle.heads["live"], open_engine(bundle.encoder, HOP))
    alone.push(Block(source.samples, 0, RATE))
    alone.flush()
    assert alone.attention.thinned == 0
    assert SLOW_S * alone.attention.answered > 2  # it could not have answered all
    assert attention.answered + attention.thinned == alone.attention.answered
    ended = {row.id: row for row in journal.emissions if row.state == "end"}
    assert len(ended) == 2
    assert all(row.bursts == 50 for row in ended.values())


def test_the_front_end_of_a_bundle_is_the_one_it_names(bundle):
    pipeline = open_pipeline(bundle, bundle.heads["live"], open_engine(bundle.encoder, HOP))
    assert isinstance(pipeline, BandPipeline)
    assert pipeline.band.settings == BandSettings(fraction=0.3)
