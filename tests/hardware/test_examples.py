"""The examples in the docstrings are true."""

import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize("name", ["address", "file_name", "gr_tags", "samples"])
def test_examples(name):
    result = doctest.testmod(import_module(f"hardware.{name}"))
    assert result.attempted > 0
    assert result.failed == 0
