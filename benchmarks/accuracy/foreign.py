"""Signals that wavetell's generator did not make: GNU Radio's modulators, over ZMQ, through a whole pipeline.

    python -m benchmarks.accuracy.foreign make [--out runs/foreign]  once: 27 classes, 6 SNRs, 3 settings each
    OMP_NUM_THREADS=1 python -m benchmarks.accuracy.foreign BUNDLE [--out runs/foreign]

`make` runs tests/hardware/foreign_side.py in GNU Radio's own Python (tests/setup_gnuradio.sh), listens to it
as to any ZMQ source and keeps what was heard as SigMF, with the truth. The evaluation plays each recording
through the model's pipeline. A recording is right if its combined answer is; one in which nothing was found
is wrong, unless there is nothing. Unknown is wrong, too, and counted separately. Never for fitting.
"""

import argparse
import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from hardware import open_source
from streaming.block import Samples
from streaming.bundle import Bundle, load_bundle
from streaming.engine import open_engine
from streaming.errors import WavetellError
from streaming.head import Head
from streaming.pipeline import LivePipeline, choose_head
from streaming.prediction import NO_SIGNAL, UNKNOWN, Prediction
from streaming.report import drawn_together
from training.evaluation.accuracy import Accuracy
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
                (samples * (HEADROOM / np.abs(samples).max())).astype(np.complex64),
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


def answered(head: Head, pipeline: LivePipeline, path: Path) -> Prediction:
    """What the pipeline says of the signal in a recording, its answers drawn together."""
    with open_source(f"file:{path}") as source:
        found = [prediction for block in source.blocks() for prediction in pipeline.push(block)]
    found += pipeline.flush()
    during = [p for p in found if p.end > BEFORE and p.start < BEFORE + COUNT]
    return drawn_together(during, head).prediction


def evaluate(bundle: Bundle, folder: Path, chosen: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row per recording."""
    head = choose_head(bundle, "", "live")
    engine, rows = open_engine(bundle.encoder, head.hop), []
    with Progress("answering", len(chosen)) as progress:
        for n, job in enumerate(chosen):
            pipeline = LivePipeline(bundle, head, engine)
            answer = answered(head, pipeline, meta_path(folder, job))
            pipeline.close()
            label = NOISE if job["name"] == NOISE and answer.label == NO_SIGNAL else answer.label
            rows.append(
                {
                    "name": job["name"],
                    "snr_db": job["snr_db"],
                    "seed": job["seed"],
                    "answer": label,
                    "family": answer.family or FAMILIES.get(label, label),
                    "probability": answer.probability,
                    "measured_snr_db": answer.snr_db,
                }
            )
            progress.to(n + 1)
    return rows


def share(rows: Sequence[dict[str, Any]], family: bool) -> Accuracy:
    """Right answers, by class or by family."""
    right = [
        row["family"] == FAMILIES[row["name"]] if family else row["answer"] == row["name"] for row in rows
    ]
    return Accuracy(sum(right), len(right))


def as_text(rows: Sequence[dict[str, Any]]) -> str:
    """Accuracy by class and SNR, by family and SNR."""
    signals = [row for row in rows if row["name"] != NOISE]
    snrs = sorted({row["snr_db"] for row in signals})
    lines = []
    for title, family in (("class", False), ("family", True)):
        lines.append(f"{title:<14}" + "".join(f"{snr:>6} dB" for snr in snrs) + "   most often taken for")
        groups = list(dict.fromkeys(FAMILIES[r["name"]] if family else r["name"] for r in signals))
        for group in groups:
            mine = [r for r in signals if (FAMILIES[r["name"]] if family else r["name"]) == group]
            cells = [share([r for r in mine if r["snr_db"] == snr], family) for snr in snrs]
            wrong = Counter(r["family" if family else "answer"] for r in mine)
            wrong.pop(group, None)
            others = ", ".join(f"{name} {count}" for name, count in wrong.most_common(3))
            lines.append(f"{group:<14}" + "".join(f"{100 * a.share:>8.0f}%" for a in cells) + f"   {others}")
        cells = [share([r for r in signals if r["snr_db"] == snr], family) for snr in snrs]
        lines.append(f"{'all':<14}" + "".join(f"{100 * a.share:>8.1f}%" for a in cells) + "\n")
    for title, family in (("classes", False), ("families", True)):
        strong = share([r for r in signals if r["snr_db"] >= 10], family)
        low, high = strong.interval
        lines.append(
            f"{title} at 10 dB and above: {100 * strong.share:.1f} % "
            f"({100 * low:.1f} to {100 * high:.1f}) of {strong.total} recordings"
        )
    missed = sum(row["answer"] == NO_SIGNAL for row in signals)
    unknown = sum(row["answer"] == UNKNOWN for row in signals)
    silent = share([row for row in rows if row["name"] == NOISE], True)
    lines.append(
        f"no signal found in {missed}, unknown {unknown} of {len(signals)}; "
        f"noise left alone in {round(silent.share * silent.total)} of {silent.total}"
    )
    return "\n".join(lines)


def draw(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Accuracy over SNR, one line per family, and all."""
    from matplotlib.figure import Figure

    signals = [row for row in rows if row["name"] != NOISE]
    snrs = sorted({row["snr_db"] for row in signals})
    figure = Figure(figsize=(11, 4), layout="constrained")
    for axes, family in zip(figure.subplots(1, 2, sharey=True), (False, True), strict=True):
        for group in dict.fromkeys(FAMILIES[row["name"]] for row in signals):
            mine = [row for row in signals if FAMILIES[row["name"]] == group]
            values = [100 * share([r for r in mine if r["snr_db"] == snr], family).share for snr in snrs]
            axes.plot(snrs, values, marker="o", alpha=0.6, label=group)
        values = [100 * share([r for r in signals if r["snr_db"] == snr], family).share for snr in snrs]
        axes.plot(snrs, values, color="black", linewidth=2.5, label="all")
        axes.set(xlabel="SNR, dB", title="families" if family else "classes", ylim=(0, 103))
        axes.grid(alpha=0.3)
    figure.axes[0].set_ylabel("right, %")
    figure.axes[1].legend(fontsize=8)
    figure.savefig(path, dpi=120)


def main() -> None:
    """Make the recordings, or evaluate a model on them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", help="make, or a bundle's name or path")
    parser.add_argument("--out", type=Path, default=Path("runs/foreign"))
    parser.add_argument("--snr", type=int, nargs="*", default=SNRS_DB, choices=SNRS_DB, help="only these, dB")
    parser.add_argument("--settings", type=int, default=SETTINGS, help="of each class and SNR, at most")
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
    rows = evaluate(bundle, args.out, chosen)
    print(f"{bundle.name}, head {head.name}, {len(rows)} recordings of GNU Radio's modulators")
    print(as_text(rows))
    stem = args.out / f"result-{bundle.name}"
    Path(f"{stem}.json").write_text(json.dumps({"sha256": bundle.sha256, "rows": rows}, indent=1))
    draw(rows, Path(f"{stem}.png"))


if __name__ == "__main__":
    main()
