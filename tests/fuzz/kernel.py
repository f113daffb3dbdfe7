"""The drivers of the native kernel, built with sanitizers; what did not change is not compiled again."""

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
NATIVE, HERE, FOLDER = ROOT / "streaming" / "native", Path(__file__).parent, ROOT / ".cache" / "fuzz"
FLAGS = ("-std=c++17", "-O1", "-g", "-w", "-Wno-psabi", "-fno-omit-frame-pointer", "-pthread", f"-I{HERE}")
SANITIZERS = {  # of each driver
    "kernel": ("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
    "threads": ("-fsanitize=thread",),
}


def build(driver="kernel"):
    """The program; None where there is no compiler with its sanitizers."""
    sanitize = SANITIZERS[driver]
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        return None
    folder = FOLDER / driver
    folder.mkdir(parents=True, exist_ok=True)
    headers = max(path.stat().st_mtime for path in (*NATIVE.glob("*.h"), HERE / "driver.h"))
    sources = [path for path in sorted(NATIVE.glob("*.cpp")) if path.name != "python.cpp"]
    objects = []
    for source in (*sources, HERE / f"{driver}.cpp"):
        made = folder / f"{source.parent.name}-{source.stem}.o"
        newest = max(headers, source.stat().st_mtime)
        if not made.exists() or made.stat().st_mtime < newest:
            command = [compiler, *FLAGS, *sanitize, "-c", source, "-o", made]
            if subprocess.run(command, check=False).returncode:
                return None
        objects.append(made)
    program = folder / driver
    done = subprocess.run([compiler, *sanitize, "-pthread", *objects, "-o", program], check=False)
    return program if done.returncode == 0 else None
