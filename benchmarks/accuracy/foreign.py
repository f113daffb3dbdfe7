"""Signals that wavetell's generator did not make: GNU Radio's modulators, over ZMQ, through a whole pipeline.

    python -m benchmarks.accuracy.foreign make [--out runs/foreign]  once: 27 classes, 6 SNRs, 3 settings each
    OMP_NUM_THREADS=1 python -m benchmarks.accuracy.foreign BUNDLE [--out runs/foreign]

`make` runs tests/hardware/foreign_side.py in GNU Radio's own Python (tests/setup_gnuradio.sh), listens to it
as to any ZMQ source and keeps what was heard as SigMF, with the truth. The evaluation is that of `wavetell
evaluate --recordings`: one decision per recording; one in which nothing was found is wrong, unless there is
nothing. Unknown is wrong, too, and counted separately. Never for fitting.
"""

import argparse
import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from hardware import open_source
from streaming.block import Samples
from streaming.bundle import load_bundle
from streaming.errors import WavetellError
from streaming.pipeline import choose_head
from training.evaluation.exam import report
from training.evaluation.exam.labels import Truth
from training.evaluation.exam.recordings import Decision, LabelledRecording, decide, line, scores, summary
from training.evaluation.exam.run import listened
from training.progress import Progress
from training.signals.classes import FAMILIES, NOISE
from training.signals.recording import write_recording
from training.signals.stream import Label

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ROOT / ".cache/gnuradio/usr/lib/python3/dist-packages"
SIDE = ROOT / "tests/hardware/foreign_side.py"
RATE_HZ = 250e3
SNRS_DB = (0, 5, 10, 15, 20, 30)
SETTINGS = 3  # of each class and SNR
BEFORE, COUNT, AFTER = 50_000, 125_000, 12_500  # samples of noise, of signal, of noise
HEADROOM = 0.25  # of full scale: the strongest peak


def jobs() -> list[dict[str, Any]]:
    """Everything that is made; the seed of each is its own."""
    return [
        {
            "name": name,
            "snr_db": snr_db,
            "seed": 10_000 * (1 + c) + 100 * s + n,
            "rate_hz": RATE_HZ,
            "before": BEFORE,
            "count": COUNT,
            "after": AFTER,
        }
        for c, name in enumerate(FAMILIES)
        for s, snr_db in enumerate(SNRS_DB)
        for n in range(SETTINGS)
    ]


@contextmanager
def gnuradio() -> Iterator[subprocess.Popen[str]]:
    """The maker, in its own process."""
    if not PACKAGES.is_dir():
        raise WavetellError("GNU Radio is not there; tests/setup_gnuradio.sh unpacks it")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ.get("HOME", "/"),
        "PYTHONPATH": str(PACKAGES),
    }
    with subprocess.Popen(
        ["/usr/bin/python3", str(SIDE)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def send(process: subprocess.Popen[str], line: str) -> None:
    """One line to the maker."""
    assert process.stdin
    process.stdin.write(line + "\n")
    process.stdin.flush()


def hear(process: subprocess.Popen[str], job: dict[str, Any]) -> tuple[Samples, dict[str, Any]]:
    """What comes over ZMQ for a job, and the truth."""
    send(process, json.dumps(job))
    assert process.stdout
    line = process.stdout.readline()
    if not line:
        raise WavetellError(f"GNU Radio ended at {job['name']}, seed {job['seed']}")
    truth = json.loads(line)
    count = job["before"] + job["count"] + job["after"]
    heard: list[Samples] = []
    with open_source(f"zmq:{truth['endpoint']}?type=pull&timeout=60&rate={job['rate_hz']:g}") as source:
        send(process, "go")
        for block in source.blocks():
            heard.append(block.samples)
            if block.end >= count:
                break
    send(process, "heard")
    return np.concatenate(heard)[:count], truth


def make(folder: Path) -> None:
    """Make what is not there yet."""
    missing = [job for job in jobs() if not meta_path(folder, job).exists()]
    if not missing:
        return
    with gnuradio() as process, Progress("listening to GNU Radio", len(missing)) as progress:
        for n, job in enumerate(missing):
            samples, truth = hear(process, job)
            label = Label(
                job["name"],
                job["before"],
                job["count"],
                float("nan") if job["name"] == NOISE else job["snr_db"],
                float("nan"),
                truth["offset_hz"] / job["rate_hz"],
                truth["bandwidth_hz"] / job["rate_hz"],
            )
            write_recording(
                meta_path(folder, job),
                [(samples * (HEADROOM / np.abs(samples).max())).astype(np.complex64)],
                [label],
                rate_hz=job["rate_hz"],
                freq_hz=0.0,
                datatype="ci16_le",
                description=f"GNU Radio {job['name']}, {job['snr_db']} dB, seed {job['seed']}",
            )
            progress.to(n + 1)


def meta_path(folder: Path, job: dict[str, Any]) -> Path:
    """Where a job's recording is."""
    name = job["name"].replace("/", "_")
    return folder / f"{name}-{job['snr_db']}dB-{job['seed']}.sigmf-meta"


def recording(folder: Path, job: dict[str, Any]) -> LabelledRecording:
    """A job's recording, as the exam takes it."""
    name, path = job["name"], meta_path(folder, job)
    truth, snr_db = Truth(name, FAMILIES[name]), None if name == NOISE else job["snr_db"]
    return LabelledRecording(path.name, f"file:{path.absolute()}", name, truth, snr_db)


def evaluate(model: str, folder: Path, chosen: Sequence[dict[str, Any]], workers: int) -> list[Decision]:
    """One decision per recording."""
    recordings = [recording(folder, job) for job in chosen]
    return [
        Decision(one, decide(heard.emissions), heard.cpu_s)
        for one, heard in listened(model, recordings, None, workers)
    ]


def as_text(decisions: Sequence[Decision]) -> str:
    """The exam's tables; its sources are the classes here. Last what counts."""
    strong = scores([d for d in decisions if d.recording.snr_db is not None and d.recording.snr_db >= 10])
    last = [
        f"{title} from 10 dB: {report.percent(strong, share)} % of {strong['recordings']} recordings"
        for title, share in (("families", "family_right"), ("classes", "class_right"))
    ]
    return "\n".join([report.recordings_text(summary(decisions, 0)), *last])


def main() -> None:
    """Make the recordings, or evaluate a model on them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", help="make, or a bundle's name or path")
    parser.add_argument("--out", type=Path, default=Path("runs/foreign"))
    parser.add_argument("--snr", type=int, nargs="*", default=SNRS_DB, choices=SNRS_DB, help="only these, dB")
    parser.add_argument("--settings", type=int, default=SETTINGS, help="of each class and SNR, at most")
    parser.add_argument("--workers", type=int, default=2, help="processes that listen to recordings")
    args = parser.parse_args()
    make(args.out)
    if args.what == "make":
        return
    bundle = load_bundle(args.what)
    head = choose_head(bundle, "", "live")
    chosen = [
        job
        for job in jobs()
        if job["name"] in (*head.classes, NOISE)
        and job["snr_db"] in args.snr
        and job["seed"] % 100 < args.settings
    ]
    decisions = evaluate(args.what, args.out, chosen, args.workers)
    print(f"{bundle.name}, head {head.name}, {len(decisions)} recordings of GNU Radio's modulators")
    print(as_text(decisions))
    result = {"sha256": bundle.sha256, "rows": [line(decision) for decision in decisions]}
    (args.out / f"result-{bundle.name}.json").write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
