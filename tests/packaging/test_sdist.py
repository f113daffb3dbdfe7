"""The source package builds where there is no compiler; the workflow that releases it is sound."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.require import ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel of the source package, made without a compiler."""
    folder = tmp_path_factory.mktemp("sdist")
    make = [sys.executable, "setup.py", "--quiet", "egg_info", "--egg-base", str(folder)]
    subprocess.run([*make, "sdist", "--dist-dir", str(folder)], cwd=ROOT, check=True, capture_output=True)
    (source,) = folder.glob("wavetell-*.tar.gz")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run(
        [*build, "--wheel-dir", str(folder), str(source)],
        check=True,
        capture_output=True,
        env=os.environ | {"CC": "/bin/false", "CXX": "/bin/false"},
    )
    (built,) = folder.glob("*.whl")
    return built


@pytest.mark.acceptance
def test_without_a_compiler_there_is_a_wheel_without_the_kernel(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert not [name for name in names if name.endswith(".so")]
    assert "streaming/bundles/radio.safetensors" in names
    assert "service/demo/demo.sigmf-data" in names


def test_workflows_are_what_github_takes():
    check = [
        Path(sys.executable).with_name("check-jsonschema"),
        "--builtin-schema",
        "vendor.github-workflows",
    ]
    workflows = sorted((ROOT / ".github/workflows").glob("*.yml"))
    done = subprocess.run([*check, *workflows], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
