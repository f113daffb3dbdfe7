"""What a command imports: it starts at once, and runs where only the core is installed."""

import json
import subprocess
import sys

import numpy as np
import pytest

from tests.require import ROOT, need
from training.heads.fit import Identity, fit_head

BARE = ROOT / ".cache/bare/bin/python"
DEMO = ROOT / "service/demo/demo.sigmf-meta"
EXTRAS = ("torch", "scipy", "sklearn", "h5py", "matplotlib", "tqdm", "psycopg", "onnx")
# Runs a command and says at the end which of some modules it has imported.
PROBE = """
import sys
from service.cli import main
try:
    code = main(sys.argv[2:])
except SystemExit as stop:
    code = stop.code
print("imported", *sorted(set(sys.argv[1].split(",")) & set(sys.modules)), file=sys.stderr)
sys.exit(code)
"""
FIT = """
import json, sys
import numpy as np
from training.heads.fit import Identity, fit_head
given = json.load(sys.stdin)
rows, labels = np.array(given["rows"], np.float32), np.array(given["labels"])
fit = fit_head(rows, labels, Identity("mine", tuple("abc"), "live", 1024, 256, ""))
print(json.dumps({"C": fit.C, "gamma": fit.head.gamma, "found": fit.head.probabilities(rows).tolist()}))
"""


def imported(python, modules, *argv):
    """The result of a command, and what it imported of some modules."""
    command = [str(python), "-c", PROBE, ",".join(modules), *argv]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=ROOT)
    said, _, names = result.stderr.rpartition("imported")
    return result, said, names.split()


@pytest.fixture(scope="session")
def bare():
    """The Python of an environment with the core only."""
    need(BARE.exists(), "an environment without extras (make bare)")
    return BARE


@pytest.mark.parametrize("argv", [["--help"], ["--version"], ["config"], ["devices"]], ids=" ".join)
def test_a_small_command_imports_nothing_big(argv):
    big = (*EXTRAS, "fastapi", "pydantic", "uvicorn", "httpx", "zmq", "sigmf")
    result, _, names = imported(sys.executable, big, *argv)
    assert result.returncode == 0
    assert names == []


@pytest.mark.parametrize("name", ["listen", "predict", "emissions", "serve", "record", "replay", "model"])
def test_what_listens_and_serves_imports_no_torch(name):
    result, _, names = imported(sys.executable, ("torch", "sklearn", "h5py", "matplotlib"), name, "--help")
    assert result.returncode == 0
    assert names == []


def test_listening_imports_no_torch():
    big = ("torch", "sklearn", "h5py", "matplotlib", "fastapi")
    result, _, names = imported(sys.executable, big, "listen", str(DEMO), "--seconds", "1")
    assert result.returncode == 0
    assert names == []


def test_the_core_holds_no_extra(bare):
    listed = subprocess.run(
        [str(bare), "-m", "pip", "list", "--format", "json"], capture_output=True, text=True, check=True
    )
    names = {row["name"].lower() for row in json.loads(listed.stdout)}
    assert not names & {"torch", "scipy", "scikit-learn", "h5py", "matplotlib", "tqdm", "psycopg", "onnx"}
    assert "numpy" in names


def test_the_core_hears_what_a_whole_installation_hears(bare):
    heard = []
    for python in (bare, sys.executable):
        result, _, names = imported(python, EXTRAS if python is bare else (), "listen", str(DEMO))
        assert result.returncode == 0
        assert names == []
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        heard.append([(line["emission"], line["label"]) for line in lines if line["state"] == "end"])
    assert len(heard[0]) > 3
    assert heard[0] == heard[1]


def test_the_core_predicts_frames_as_a_whole_installation_does(bare, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((400, 2)).astype(np.float32)
    (tmp_path / "x_250k.cf32").write_bytes(x.tobytes())
    argv = ["predict", str(tmp_path / "x_250k.cf32"), "--model", "paper-synthetic", "--head", "client-1"]
    found = [imported(python, (), *argv, "--frame", "100", "--json")[0] for python in (bare, sys.executable)]
    assert found[0].returncode == 0
    ours, theirs = ([json.loads(line) for line in one.stdout.splitlines()] for one in found)
    assert [line["label"] for line in ours] == [line["label"] for line in theirs]


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        (["bounds", "radio"], "wavetell bounds needs torch"),
        (["listen", str(DEMO), "--backend", "torch"], "the torch back end needs torch"),
        (["serve", "--history", "postgresql://x/y"], "history in PostgreSQL needs psycopg"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_command_that_needs_an_extra_says_which(bare, argv, line):
    result, said, _ = imported(bare, (), *argv)
    assert result.returncode == 2
    extra = "postgres" if "psycopg" in line else "train"
    assert said == f"wavetell: {line}, which is not installed; pip install 'wavetell[{extra}]'\n"


def test_the_core_fits_the_head_that_scikit_learn_fits(bare):
    rng = np.random.default_rng(1)
    labels = np.arange(90) % 3
    rows = rng.normal(rng.standard_normal((3, 8))[labels], 1.0).astype(np.float32)
    given = json.dumps({"rows": rows.tolist(), "labels": labels.tolist()})
    done = subprocess.run(
        [str(bare), "-c", FIT], input=given, capture_output=True, text=True, check=True, cwd=ROOT, timeout=300
    )
    ours = json.loads(done.stdout)
    theirs = fit_head(rows, labels, Identity("mine", tuple("abc"), "live", 1024, 256, ""))
    assert ours["C"] == theirs.C
    assert ours["gamma"] == pytest.approx(theirs.head.gamma)
    assert np.abs(np.array(ours["found"]) - theirs.head.probabilities(rows)).max() < 0.01
