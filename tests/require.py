"""What a test needs from outside, and what happens where it is missing.

A user's machine may lack a component: the test skips and says what is missing. CI sets WAVETELL_REQUIRE=all,
and there a missing component is a failure.
"""

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


def need(present: bool, component: str) -> None:
    """Skip (or fail, in CI) unless the component is present."""
    if present:
        return
    if os.environ.get("WAVETELL_REQUIRE") == "all":
        pytest.fail(f"missing component: {component}")
    pytest.skip(f"missing component: {component}")


def need_program(name: str) -> str:
    """The path of a program, or skip."""
    path = shutil.which(name)
    need(path is not None, f"program {name}")
    return str(path)


def need_processor(present: bool, feature: str) -> None:
    """Skip where this processor lacks a feature: that is no missing component."""
    if not present:
        pytest.skip(f"this processor has no {feature}")


def shared(path: str) -> Path:
    """A file of the shared data folder beside the checkout, or skip."""
    found = SHARED / path
    need(found.exists(), f"../shared/{path}")
    return found
