"""Every target holds for a few inputs and for all that once failed; `make fuzz` goes on for longer."""

import subprocess
from contextlib import closing

import pytest

from tests.fuzz.__main__ import CORPUS, feed
from tests.fuzz.kernel import build
from tests.fuzz.over_http import OverHttp
from tests.fuzz.targets import targets
from tests.require import need
from tests.service.conftest import serving, small_bundle

HERE = targets()
KEPT = [(path.parent.name, path) for path in sorted(CORPUS.glob("*/*"))]


@pytest.fixture(scope="module")
def every(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz")
    small_bundle().save(folder / "small.safetensors")
    with (
        serving(folder / "data", folder / "small.safetensors", "--max-rate", "1000000") as service,
        closing(OverHttp(service)) as over_http,
    ):
        yield HERE | over_http.targets()
    assert "Traceback" not in (folder / "data.log").read_text()


@pytest.mark.parametrize("name", [*HERE, "websocket", "iqengine", "predict", "json", "http"])
def test_a_target_holds(every, name):
    examples = 200 if name in HERE and name != "rtltcp" else 15
    _, failing, why = feed(every[name], examples, number=1)
    assert failing is None, why


@pytest.mark.parametrize(("name", "path"), KEPT, ids=[f"{name}-{path.name}" for name, path in KEPT])
def test_what_once_failed_holds(every, name, path):
    every[name].check(path.read_bytes())


def test_the_kernel_holds_under_sanitizers():
    program = build()
    need(program is not None, "a C++ compiler with sanitizers")
    done = subprocess.run([program, "1", "3"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "inputs held" in done.stdout
