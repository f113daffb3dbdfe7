"""A trial of a model before it is listed: a process of its own runs it over a reference signal.

    x[n] = exp(8 i sin(2 pi n / 64)) + noise at 30 dB

A model that is read without complaint can still overflow, hang or take all memory: then the process ends by
itself or is ended, the model is refused in one line, and the service has not noticed anything.
"""

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np

from streaming.block import Block, Samples
from streaming.bundle import Bundle, load_bundle
from streaming.engine import open_engine
from streaming.errors import BundleError, InputError, WavetellError
from streaming.head import Head
from streaming.pipeline import open_pipeline
from streaming.prediction import Prediction

LIMIT_S = 60  # that a trial may take, the start of its process included
MEMORY = 2 << 30  # bytes of the process
SHORTEST, LONGEST = 1 << 15, 1 << 21  # samples of the reference
PIECE = 1 << 14  # samples a push
RATE_HZ = 48e3
REFUSED = 3  # exit code


def try_model(path: Path) -> None:
    """Run the model in a file; one line where it cannot be used."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "service.models.trial", str(path)],
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
            cwd=Path(__file__).parents[2],
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
    except subprocess.TimeoutExpired:
        raise BundleError(f"the model was tried and did not answer within {LIMIT_S} s") from None
    if done.returncode == REFUSED:
        raise BundleError(f"the model was tried: {done.stdout.strip()[:500]}")
    if done.returncode:
        raise BundleError(
            "the model was tried and ended the process that runs it; it may need too much memory"
        )


def reference(samples: int) -> Samples:
    """The first samples of the reference signal."""
    noise = np.random.default_rng(0).standard_normal((samples, 2)).astype(np.float32).view(np.complex64)[:, 0]
    phase = 8 * np.sin(2 * np.pi * np.arange(samples) / 64)
    return np.asarray(np.exp(1j * phase) + 10**-1.5 / 2**0.5 * noise, np.complex64)


def check_model(bundle: Bundle) -> None:
    """Refuse a model whose answers to the reference are not finite."""
    if not np.isfinite(bundle.encoder.encode(reference(4096)[None])).all():
        raise InputError("its encoder's outputs are not finite")
    for head in bundle.heads.values():
        answers = list(live_answers(bundle, head) if head.mode == "live" else frame_answers(bundle, head))
        if not all(np.isfinite(row).all() and row.min() >= 0 and row.max() <= 1 for row in answers):
            raise InputError(f"head {head.name} gives probabilities that are not between 0 and 1")
        if not answers:
            raise InputError(f"head {head.name} gives no answer to the reference signal")


def frame_answers(bundle: Bundle, head: Head) -> Iterator[np.ndarray]:
    """The probabilities of one frame."""
    frame = reference(min(head.window, LONGEST))[None]
    yield from head.probabilities(bundle.encoder.encode(frame))


def live_answers(bundle: Bundle, head: Head) -> Iterator[np.ndarray]:
    """The probabilities of every answer to the reference as a stream."""
    samples = reference(min(max(SHORTEST, 4 * head.window), LONGEST))
    engine = open_engine(bundle.encoder, head.hop)
    with closing(open_pipeline(bundle, head, engine)) as pipeline:
        found: list[Prediction] = []
        for start in range(0, len(samples), PIECE):
            found += pipeline.push(Block(samples[start : start + PIECE], start, RATE_HZ))
        found += pipeline.flush()
    yield from (prediction.probabilities for prediction in found)


def main() -> None:
    """Try the model in the file that the command line names."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S))
    os.nice(5)  # the live engine comes first
    try:
        check_model(load_bundle(Path(sys.argv[1])))
    except (WavetellError, MemoryError, ArithmeticError, RuntimeError, ValueError) as error:
        print((str(error) or type(error).__name__).partition("\n")[0])
        sys.exit(REFUSED)


if __name__ == "__main__":
    main()
