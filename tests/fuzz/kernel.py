"""The driver of the native kernel, built with sanitizers; what did not change is not compiled again."""

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
NATIVE, FOLDER = ROOT / "streaming" / "native", ROOT / ".cache" / "fuzz"
FLAGS = ("-std=c++17", "-O1", "-g", "-Wno-psabi", "-fno-omit-frame-pointer", "-pthread")
SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def build():
    """The program; None where there is no compiler with sanitizers."""
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        return None
    FOLDER.mkdir(parents=True, exist_ok=True)
    headers = max(path.stat().st_mtime for path in NATIVE.glob("*.h"))
    sources = [path for path in sorted(NATIVE.glob("*.cpp")) if path.name != "python.cpp"]
    objects = []
    for source in (*sources, Path(__file__).with_name("kernel.cpp")):
        made = FOLDER / f"{source.parent.name}-{source.stem}.o"
        newest = max(headers, source.stat().st_mtime)
        if not made.exists() or made.stat().st_mtime < newest:
            command = [compiler, *FLAGS, *SANITIZE, "-c", source, "-o", made]
            if subprocess.run(command, check=False).returncode:
                return None
        objects.append(made)
    program = FOLDER / "kernel"
    done = subprocess.run([compiler, *SANITIZE, "-pthread", *objects, "-o", program], check=False)
    return program if done.returncode == 0 else None
