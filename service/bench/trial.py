"""A trial of the engine's speed: a signal that all take, checked against the batch encoder, then timed."""

import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module

import numpy as np
import torch
from tqdm import tqdm

from service.bench.contestant import Contestant, Features, Refused, hop_of
from service.bench.peak import peak_runners, read_runners
from service.bench.race import Runner, race
from streaming.encoder import Encoder, iq
from streaming.errors import BackendError
from streaming.shape import CHEAP, EncoderShape
from training.pretraining.canonical import round_weights

SIGNAL = 12_288  # samples of each stream: more than the 8,188 of the encoder's past, and a multiple of 4096
SHAPES = {"paper": EncoderShape(), "cheap": CHEAP}
CHECK_S = 0.2  # CPU time after which the check ends, if not at the signal's end


@dataclass(frozen=True)
class Line:
    """A line of the result; no number where the contestant refused, no fraction where there is no peak."""

    backend: str
    chunk: int
    streams: int
    samples_per_s: float | None = None
    p50_us: float | None = None
    p99_us: float | None = None
    max_error: float | None = None
    peak_fraction: float | None = None
    limit_samples_per_s: float | None = None  # of any float32 kernel: multiply-adds, or 16-bit weights read


class Heat:
    """A contestant on its way through the signal, again and again."""

    def __init__(self, contestant: Contestant, trial: "Trial", streams: int, chunk: int) -> None:
        self.contestant, self.chunk, self.stride = contestant, chunk, trial.encoder.shape.stride
        usable = trial.signal.shape[1] // chunk * chunk
        self.pieces = [trial.signal[:streams, i : i + chunk] for i in range(0, usable, chunk)]
        self.next = 0
        self.pushes = max(1, trial.hop // chunk)  # that make about a hop
        self.error = self.check(trial.features[:streams])
        self.runner = Runner(self.unit)

    def push(self) -> object:
        """The next chunk."""
        output = self.contestant.push(self.pieces[self.next])
        self.next = (self.next + 1) % len(self.pieces)
        return output

    def unit(self) -> float:
        """About a hop, or the least number of chunks above; the samples of one stream."""
        for _ in range(self.pushes):
            self.push()
        return self.pushes * self.chunk

    def check(self, features: Features) -> float:
        """The largest relative error of the maxima; this warms it up, too."""
        step, width = self.contestant.step, self.contestant.width
        found: list[Features] = []
        begin = time.process_time()
        while len(found) * self.chunk < step or (self.next and time.process_time() < begin + CHECK_S):
            found.append(self.contestant.maxima(self.push()).copy())
        ours = np.concatenate(found, 1)  # (streams, n, reduced)
        ends = step * np.arange(1, ours.shape[1] + 1)
        spans = [(max(0, end - width) // self.stride, end // self.stride) for end in ends]
        exact = np.stack([features[:, first:last].max(1) for first, last in spans], 1)
        return float(np.abs(ours - exact).max() / np.abs(exact).max())


class Trial:
    """An encoder, its weights rounded as those of shipped models, and its features of noise."""

    def __init__(self, streams: int, chunk: int, shape: EncoderShape) -> None:
        self.encoder, self.hop = Encoder(shape), hop_of(shape)
        round_weights(self.encoder)
        length = max(SIGNAL, chunk)
        noise = np.random.default_rng(0).standard_normal((streams, 2 * length), np.float32)
        self.signal = (noise * np.float32(0.5**0.5)).view(np.complex64)  # (streams, length)
        with torch.inference_mode():
            features = [self.encoder.features(iq(stream[None])).numpy()[0] for stream in self.signal]
        self.features = np.stack(features)  # (streams, length / stride, reduced)
        self.classes: dict[str, type[Contestant]] = {}
        self.said: set[str] = set()
        if not peak_runners():
            self.say("the native kernel is not built: the core's peak is not measured")

    def say(self, message: str) -> None:
        """Tell the user, once."""
        if message not in self.said:
            tqdm.write(message, file=sys.stderr)
        self.said.add(message)

    def admits(self, name: str, where: str) -> bool:
        """Whether this contestant can run here; where not, one line says why."""
        module, _, member = where.partition(":")
        try:
            kind = getattr(import_module(f"service.bench.{module}"), member)
            with suppress(Refused):
                kind(self.encoder, 1, self.hop)
        except (ImportError, BackendError) as error:
            self.say(f"{name} is left out: {error}")
            return False
        self.classes[name] = kind
        return True

    def measure(self, backends: list[str], chunk: int, streams: int, seconds: float) -> list[Line]:
        """A line for each back end, measured in turns together with the peak."""
        heats: dict[str, Heat] = {}
        for name in backends:
            try:
                heats[name] = Heat(self.classes[name](self.encoder, streams, chunk), self, streams, chunk)
            except Refused as refusal:
                self.say(f"{name} refuses lines: it {refusal}")
        arrays = self.encoder.arrays().items()
        weights = sum(array.size for name, array in arrays if name.endswith((".v", "residual.weight")))
        peaks, reads = peak_runners(), read_runners(weights // 2)
        race([heat.runner for heat in heats.values()] + peaks + reads, seconds)
        peak = max((runner.per_s for runner in peaks), default=None)
        passes = max((runner.per_s for runner in reads), default=None)
        return [self.line(name, chunk, streams, heats.get(name), peak, passes) for name in backends]

    def line(
        self,
        name: str,
        chunk: int,
        streams: int,
        heat: Heat | None,
        peak: float | None,
        passes: float | None,
    ) -> Line:
        """What was found."""
        if heat is None:
            return Line(name, chunk, streams)
        rate = heat.runner.per_s * streams
        to_hop = self.hop / (heat.pushes * chunk)
        least = max(chunk * streams, self.encoder.shape.stride)  # samples for which the weights are read once
        most = peak and peak / self.encoder.shape.multiply_adds()
        return Line(
            name,
            chunk,
            streams,
            samples_per_s=round(rate, 1),
            p50_us=round(heat.runner.unit_us(50) * to_hop, 2),
            p99_us=round(heat.runner.unit_us(99) * to_hop, 2),
            max_error=float(f"{heat.error:.3g}"),
            peak_fraction=most and round(rate / most, 4),
            limit_samples_per_s=most and passes and round(min(most, passes * least), 1),
        )
