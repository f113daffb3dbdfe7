"""Run a federation of two stations on this machine: a coordinator and two stations, each in its own process.

    python examples/federate.py --rounds 1 --steps 2 --frames 500

Both stations train on the paper's synthetic frames, each on its own share; only updates of the encoder are
exchanged. With `--recordings FOLDER` instead of `--client N` a station learns from its own recordings.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path
from subprocess import PIPE, Popen, check_output


def main() -> None:
    """Start all three, wait for the last round, print where the models are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--folder", type=Path, help="a new one; without it, a temporary one")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--steps", type=int, default=20, help="of training, per station and round")
    parser.add_argument("--frames", type=int, default=2000, help="per station")
    args = parser.parse_args()

    folder = args.folder or Path(tempfile.mkdtemp(prefix="wavetell-"))
    common = ("--folder", folder / "coordinator", "--data", folder / "data")
    names = ("north", "south")
    tokens = [check_output(wavetell("coordinator", "add", name, *common), text=True) for name in names]
    terms = ("--quorum", 2, "--rounds", args.rounds, "--steps", args.steps, "--port", 0)
    with Popen(wavetell("coordinator", *common, *terms), stdout=PIPE, text=True) as coordinator:
        assert coordinator.stdout
        url = coordinator.stdout.readline().split()[1]
        print(f"the coordinator's page is {url}", flush=True)
        stations = []
        for client, (name, token) in enumerate(zip(names, tokens, strict=True), start=1):
            where = ("--station", name, "--folder", folder / name, "--out", folder / f"{name}.safetensors")
            join = wavetell("join", url, *where, "--client", client, "--frames", args.frames)
            stations.append(Popen(join, env=os.environ | {"WAVETELL_STATION_TOKEN": token.strip()}))
        codes = [station.wait() for station in stations]
        coordinator.terminate()
    if any(codes):
        raise SystemExit("a station failed")
    print(
        f"shared convolutions, each with output layers of its own: {folder}/{{{','.join(names)}}}.safetensors"
    )


def wavetell(*arguments: object) -> list[str]:
    """A command line."""
    return [sys.executable, "-m", "service.cli", *map(str, arguments)]


if __name__ == "__main__":
    main()
