"""The replay radio, built when it is first needed: `driver=replay`, see replay.cpp for what it can do.

module = build()          # a folder for SOAPY_SDR_PLUGIN_PATH, or None without g++ or SoapySDR's headers
"""

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.require import need

SOURCE = Path(__file__).with_name("replay.cpp")


def cache() -> Path:
    """Where it is built: a folder named after the source, so that a change is rebuilt."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "wavetell" / f"replay-{hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]}"


def build() -> Path | None:
    """The folder with the module."""
    folder = cache()
    module = folder / "libreplay.so"
    if module.exists():
        return folder
    if not shutil.which("g++"):
        return None
    folder.mkdir(parents=True, exist_ok=True)
    # Built aside and moved: two test runs may build at once.
    with tempfile.TemporaryDirectory(dir=folder.parent) as aside:
        built = Path(aside) / module.name
        command = ["g++", "-std=c++17", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-o", built, SOURCE]
        result = subprocess.run([*command, "-lSoapySDR"], capture_output=True, text=True, check=False)
        if result.returncode != 0:
            if "SoapySDR/Device.hpp: No such file" in result.stderr:
                return None
            raise RuntimeError(f"the replay radio does not build:\n{result.stderr}")
        built.replace(module)
    return folder


def load() -> bool:
    """Make `driver=replay` known in this process and its children; False where it cannot be built."""
    folder = build()
    if folder is None:
        return False
    others = [path for path in os.environ.get("SOAPY_SDR_PLUGIN_PATH", "").split(":") if path]
    if str(folder) not in others:
        os.environ["SOAPY_SDR_PLUGIN_PATH"] = ":".join([str(folder), *others])
    # By itself SoapySDR looks there only once, and a test before may have made it look.
    ctypes.CDLL("libSoapySDR.so.0.8").SoapySDR_loadModules()
    return True


def need_replay_radio() -> None:
    """Skip (or fail, in CI) where the replay radio cannot be built."""
    need(load(), "g++, libsoapysdr-dev (the replay radio)")


def numbers(samples: NDArray[np.complex64]) -> NDArray[np.int64]:
    """The number of each sample of `driver=replay,count=1`: what was truly lost, whatever the source says."""
    scaled = samples.astype(np.complex128) * 65536
    return (scaled.real + 65536 * scaled.imag).astype(np.int64)
