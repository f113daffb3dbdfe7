"""Every `>>>` line of a docstring runs, and prints what stands below it."""

import doctest
from importlib import import_module

import pytest

from tests.require import ROOT

PACKAGES = ("streaming", "hardware", "training", "service")
FILES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
WITH_EXAMPLES = [path for path in FILES if ">>> " in path.read_text()]


def module_name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=module_name)
def test_the_examples_of_a_module_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written = path.read_text().count(">>> ")
    result = doctest.testmod(import_module(module_name(path)))
    assert result.attempted == written  # none is left out by +SKIP
    assert result.failed == 0
