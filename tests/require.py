"""What a test needs from outside, and what happens where it is missing.

A user's machine may lack a component: the test skips and says what is missing. With WAVETELL_REQUIRE=all a
missing component is a failure; with WAVETELL_REQUIRE=programs, too, except for the recordings beside the
checkout, which are not public. What a processor lacks is not a missing component: the test always skips.
"""

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


REQUIRED = os.environ.get("WAVETELL_REQUIRE", "")


def need(present: bool, component: str, failing: tuple[str, ...] = ("all", "programs")) -> None:
    """Skip unless the component is present, or fail where WAVETELL_REQUIRE says so."""
    if present:
        return
    if REQUIRED in failing:
        pytest.fail(f"missing component: {component}")
    pytest.skip(f"missing component: {component}")


def need_program(name: str) -> str:
    """The path of a program, or skip."""
    path = shutil.which(name)
    need(path is not None, f"program {name}")
    return str(path)


def need_processor(present: bool, feature: str) -> None:
    """Skip where this processor lacks a feature, whatever is required."""
    if not present:
        pytest.skip(f"this processor has no {feature}")


def shared(path: str) -> Path:
    """A file of the shared data folder beside the checkout, or skip."""
    found = SHARED / path
    need(found.exists(), f"../shared/{path}", failing=("all",))
    return found
