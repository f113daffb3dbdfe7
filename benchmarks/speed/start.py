"""How soon a command is there, and what an installation takes.

    python -m benchmarks.speed.start
    .cache/bare/bin/python benchmarks/speed/start.py     # what `pip install wavetell` gives (make bare)

Each command runs in a process of its own; the least CPU time of some runs counts. `rtl_433 -V`, where it is
installed, stands for a program in C.
"""

import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

RUNS = 7
DEMO = Path(__file__).resolve().parents[2] / "service/demo/demo.sigmf-meta"
COMMANDS = (
    ["--help"],
    ["config"],
    ["devices"],
    ["model", "show", "radio"],
    ["listen", "--help"],
    ["serve", "--help"],
    ["listen", str(DEMO), "--seconds", "1"],
)


def cpu_seconds(command: list[str]) -> float:
    """The least CPU time of a command's process and its children, user and system."""
    least = float("inf")
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return least


def installed(name: str, seen: set[str]) -> Iterator[tuple[str, int]]:
    """A distribution and all it requires without an extra, with the bytes that each takes."""
    if name.lower() in seen:
        return
    seen.add(name.lower())
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:  # for another platform
        return
    files = [Path(str(file.locate())) for file in found.files or []]
    yield found.metadata["Name"], sum(file.stat().st_size for file in files if file.is_file())
    for line in found.requires or []:
        requirement, _, marker = line.partition(";")
        if "extra" not in marker:
            plain = requirement.split("[")[0]
            for mark in "<>=!~ (":
                plain = plain.split(mark)[0]
            yield from installed(plain, seen)


def main() -> None:
    """Print both tables."""
    print("| command | CPU seconds |\n|---|---:|")
    for arguments in COMMANDS:
        took = cpu_seconds([sys.executable, "-m", "service.cli", *arguments])
        print(f"| `wavetell {' '.join(Path(a).name for a in arguments)}` | {took:.3f} |")
    if program := shutil.which("rtl_433"):
        print(f"| `rtl_433 -V` | {cpu_seconds([program, '-V']):.3f} |")
    print("\n| package | MB |\n|---|---:|")
    sizes = sorted(installed("wavetell", set()), key=lambda row: -row[1])
    for name, size in sizes:
        if size > 5e5:
            print(f"| {name} | {size / 1e6:.1f} |")
    small = [size for _, size in sizes if size <= 5e5]
    print(f"| {len(small)} smaller ones | {sum(small) / 1e6:.1f} |")
    print(f"| all | {sum(size for _, size in sizes) / 1e6:.1f} |")


if __name__ == "__main__":
    main()
