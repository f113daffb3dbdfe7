"""What a model finds in wideband scenes: boxes, names, and close neighbours kept apart.

    OMP_NUM_THREADS=1 python -m benchmarks.accuracy.scenes [MODEL] [--scenes 40] [--pairs 60]

Scenes of `wavetell generate --scene` with seeds that nothing else uses: 2.4 MS/s, 0.5 s, 8 transmitters of 5
to 30 dB, and pairs: two emissions of one bandwidth, 5 to 200 kHz, of 10 to 30 dB and at most 10 dB apart,
with a quarter of the bandwidth between them. A pair is kept apart where both are found. They are made once,
in the folder --work. Prints one JSON object: the judge's figures of the scenes, and of the pairs how many
were two.
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from streaming.pipeline import choose_head
from training.evaluation.accuracy import Accuracy, with_intervals
from training.evaluation.exam import run as exam
from training.evaluation.exam.box_scores import outcomes
from training.evaluation.exam.boxes import read_boxes
from training.evaluation.exam.labels import families_of
from training.evaluation.exam.sets import listen_to, opened
from training.progress import Progress
from training.signals.classes import log_uniform
from training.signals.recording import write_recording
from training.signals.scene import Scene
from training.signals.scene_emitter import SceneEmitter
from training.signals.scene_plan import PILOT, SENT, Pilot, SceneSettings, draw_pilot, look_at, placed, plan

SEED = 7_000_000_000  # held out: `wavetell generate` reaches it with --seed 70000 at the earliest
SETTINGS = SceneSettings(samples=1_200_000)
APART = 0.25  # bandwidths between the two of a pair
# A bare carrier has no bandwidth.
PAIRED = tuple(name for name in SENT if name != "carrier")


def main() -> None:
    """Make both sets, judge, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", nargs="?", default="radio")
    parser.add_argument("--scenes", type=int, default=40)
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--work", type=Path, default=Path("runs/scenes"))
    parser.add_argument("--workers", type=int, default=1)
    args = parser.parse_args()
    scenes, pairs = args.work / f"scenes-{args.scenes}", args.work / f"pairs-{args.pairs}"
    make(scenes, args.scenes, lambda seed: Scene(SETTINGS, plan(SETTINGS, seed), seed))
    make(pairs, args.pairs, lambda seed: Scene(SETTINGS, pair(seed), seed))
    *_, summary = exam.judge_boxes(args.model, scenes, None, args.workers, as_json=True)
    print(json.dumps(json.loads(summary) | {"pairs": two_of(args.model, pairs, args.workers)}))


def make(folder: Path, count: int, scene_of: Callable[[int], Scene]) -> None:
    """So many scenes in a folder, where they are not there yet."""
    with Progress(f"making {folder.name}", count) as progress:
        for number in range(count):
            path = folder / f"{number:03}.sigmf"
            if not path.with_name(f"{number:03}.sigmf-meta").exists():
                scene = scene_of(SEED + number)
                write_recording(
                    path,
                    [scene.next(SETTINGS.samples)],
                    scene.labels,
                    rate_hz=SETTINGS.rate_hz,
                    freq_hz=0.0,
                    datatype="ci8",
                    description=f"{folder.name}, seed {SEED + number}",
                )
            progress.to(number + 1)


def pair(seed: int) -> list[SceneEmitter]:
    """Two transmitters of one bandwidth side by side, on all the time or in bursts."""
    rng = np.random.default_rng([seed, 4])
    width = log_uniform(rng, 5e3, 200e3) / SETTINGS.rate_hz
    lower = rng.uniform(-0.4, 0.4 - (2 + APART) * width)
    snr_db = rng.uniform(10, 30)
    levels = snr_db, np.clip(snr_db + rng.uniform(-10, 10), 10, 30)
    out = list[SceneEmitter]()
    for number, level in enumerate(levels):
        one = as_wide(str(rng.choice(PAIRED)), width, rng)
        settings = replace(SETTINGS, snr_db=(level, level))
        out.append(placed(one, (lower - one.lower,), (0, settings.on_air), settings, rng, [seed, 5, number]))
        lower += one.width + APART * width
    return out


def as_wide(name: str, width: float, rng: np.random.Generator) -> Pilot:
    """A transmitter of this class, scaled to this bandwidth."""
    one = draw_pilot(name, SETTINGS, rng)
    for _ in range(3):  # what is measured depends on what is sent
        one = look_at(name, one.emitter, one.speed * width / one.width, SETTINGS.rate_hz, PILOT, rng)
    return one


def two_of(model: str, folder: Path, workers: int) -> dict[str, Any]:
    """In how many of the pairs both were found."""
    recordings = read_boxes(folder, families_of(choose_head(opened(model)[0], "", "live")))
    two = 0
    with Progress("listening to pairs", len(recordings)) as progress:
        heard = listen_to(model, recordings, workers)
        for number, (recording, what) in enumerate(zip(recordings, heard, strict=True), 1):
            results = outcomes(recording.boxes, what.emissions, recording.narrowest_hz)
            two += all(result.emission for result in results if result.box)
            progress.to(number)
    return {"pairs": len(recordings)} | with_intervals({"two": Accuracy(two, len(recordings))})


if __name__ == "__main__":
    main()
