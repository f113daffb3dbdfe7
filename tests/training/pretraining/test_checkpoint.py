"""Checkpoints: whole at every moment, and nothing in them but arrays and JSON."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from streaming.errors import InputError
from tests.require import ROOT
from training.pretraining.checkpoint import (
    generator_state,
    load_checkpoint,
    restore_generator,
    save_checkpoint,
)

WRITER = """
import sys
from pathlib import Path
import numpy as np
from training.pretraining.checkpoint import save_checkpoint
for i in range(10**9):
    save_checkpoint(Path(sys.argv[1]), {"a": np.full(200_000, i)}, {"i": i})
    if i == 0:
        print("started", flush=True)
"""


def test_arrays_and_state_come_back(tmp_path):
    arrays = {"a": np.arange(6.0).reshape(2, 3), "step": np.array(7, np.float32)}
    save_checkpoint(tmp_path / "c.safetensors", arrays, {"x": [1, 2]})
    found, state = load_checkpoint(tmp_path / "c.safetensors")
    assert state == {"x": [1, 2]}
    assert all(
        np.array_equal(found[name], array) and found[name].dtype == array.dtype
        for name, array in arrays.items()
    )


def test_there_may_be_no_checkpoint_but_not_a_foreign_file(tmp_path):
    assert load_checkpoint(tmp_path / "none.safetensors") is None
    (tmp_path / "bad.safetensors").write_bytes(b"\x80\x04junk" * 10)
    with pytest.raises(InputError, match="is not a training checkpoint"):
        load_checkpoint(tmp_path / "bad.safetensors")


def test_generator_goes_on_where_it_was():
    rng = np.random.default_rng([3, 1])
    rng.standard_normal(7)
    rng.integers(0, 5, dtype=np.uint8)  # leaves half a word behind
    again = restore_generator(generator_state(rng))
    assert np.array_equal(rng.standard_normal(9), again.standard_normal(9))
    assert rng.integers(0, 9, 5, dtype=np.uint8).tolist() == again.integers(0, 9, 5, dtype=np.uint8).tolist()


def test_a_kill_at_any_time_leaves_a_whole_checkpoint(tmp_path):
    path = tmp_path / "c.safetensors"
    rng = np.random.default_rng(0)
    for _ in range(4):
        child = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], cwd=ROOT, stdout=subprocess.PIPE)
        assert child.stdout.readline() == b"started\n"
        time.sleep(rng.uniform(0, 0.1))
        os.kill(child.pid, signal.SIGKILL)
        child.communicate()
        arrays, state = load_checkpoint(path)
        assert (arrays["a"] == state["i"]).all()
