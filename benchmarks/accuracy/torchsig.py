"""A model judged on signals that nobody here made: TorchSig's builders, alone and in wideband scenes.

    OMP_NUM_THREADS=1 python -m benchmarks.accuracy.torchsig [MODEL] --environment .cache/torchsig

Nothing may be trained on these signals; seed 0 was looked at while the generator was widened, so judge with
another one. TorchSig lives in an environment of its own, since it wants
packages that wavetell has no use for:

    python -m venv .cache/torchsig && .cache/torchsig/bin/pip install torch==2.13.0
    .cache/torchsig/bin/pip install --no-deps torchsig==2.2.0
    .cache/torchsig/bin/pip install numpy scipy numba h5py PyYAML tqdm soundfile opencv-python-headless \\
        matplotlib

and empty modules `torchaudio` and `pytorch_lightning` (with a class `LightningDataModule`) in its
site-packages, which TorchSig imports but the builders do not use. `torchsig_side.py` says what is made. The
sets are made once, in the folder --work. Two tables are printed, then one JSON object.
"""

import argparse
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from streaming.errors import ConfigError
from training.evaluation.exam import run as exam
from training.evaluation.exam.report import boxes_text, recordings_text

SIDE = Path(__file__).with_name("torchsig_side.py")


def main() -> None:
    """Make both sets, judge, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", nargs="?", default="radio")
    parser.add_argument("--environment", type=Path, default=Path(".cache/torchsig"))
    parser.add_argument("--work", type=Path, default=Path("runs/torchsig"))
    parser.add_argument("--count", type=int, default=8, help="recordings of each of the 72 kinds")
    parser.add_argument("--scenes", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    args = parser.parse_args()
    narrow = made(args, "narrow", args.count)
    scenes = made(args, "scenes", args.scenes)
    figures = {
        "narrow": last(exam.judge_labels(args.model, narrow, None, args.workers, as_json=True)),
        "scenes": last(exam.judge_boxes(args.model, scenes, None, args.workers, as_json=True)),
    }
    print(recordings_text(figures["narrow"]), "", boxes_text(figures["scenes"]), sep="\n")
    print(json.dumps(figures))


def made(args: argparse.Namespace, name: str, count: int) -> Path:
    """The folder of a set, made where it is not there yet."""
    folder = Path(args.work) / f"{name}-{count}-{args.seed}"
    python = args.environment / "bin" / "python"
    if not folder.exists():
        if not python.exists():
            raise ConfigError(f"there is no {python}; how to make the environment is at the top of this file")
        part = folder.with_suffix(".part")
        # -P: this folder has a torchsig.py, too
        command = [python, "-P", SIDE, name, part, "--count", str(count), "--seed", str(args.seed)]
        subprocess.run(command, check=True)
        part.rename(folder)
    return folder


def last(lines: Iterator[str]) -> dict[str, Any]:
    """The summary, which is the last line."""
    *_, summary = lines
    return dict(json.loads(summary))


if __name__ == "__main__":
    main()
