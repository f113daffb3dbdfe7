"""Checkpoints: named arrays and a JSON description in one safetensors file, whole at every moment.

A file is written beside the old one, flushed to the disk and then renamed over it: whoever is killed, at any
time, leaves the old state or the new one. Random generators travel as JSON. Nothing is ever unpickled.

>>> save_checkpoint(Path("run.safetensors"), {"weight": np.zeros(3)}, {"step": 7})
>>> load_checkpoint(Path("run.safetensors"))
({'weight': array([0., 0., 0.])}, {'step': 7})
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from streaming.errors import InputError
from streaming.files import write_whole

KEY = "wavetell-checkpoint"

Arrays = dict[str, NDArray[Any]]


def save_checkpoint(path: Path, arrays: Mapping[str, NDArray[Any]], state: Mapping[str, Any]) -> None:
    """Replace the checkpoint by this one."""
    raw = save(
        {name: np.asarray(array, order="C") for name, array in arrays.items()}, {KEY: json.dumps(state)}
    )
    write_whole(path, raw)


def load_checkpoint(path: Path) -> tuple[Arrays, dict[str, Any]] | None:
    """The arrays and the state, or None where there is no checkpoint yet."""
    if not path.exists():
        return None
    try:
        with safe_open(path, "np") as file:
            state = json.loads((file.metadata() or {})[KEY])
            return {name: file.get_tensor(name) for name in file.keys()}, state  # noqa: SIM118 - no mapping
    except (SafetensorError, KeyError, ValueError) as error:
        raise InputError(f"{path} is not a training checkpoint ({error})") from None


def generator_state(rng: np.random.Generator) -> dict[str, Any]:
    """The generator's state as JSON can hold it."""
    return dict(rng.bit_generator.state)


def restore_generator(state: Mapping[str, Any]) -> np.random.Generator:
    """The generator that goes on where the state was taken."""
    rng = np.random.Generator(np.random.PCG64())
    rng.bit_generator.state = dict(state)
    return rng
