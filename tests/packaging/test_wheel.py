"""What the wheel for this machine installs where there is nothing else."""

import subprocess

import pytest

from tests.require import ROOT, need_program

pytestmark = pytest.mark.acceptance

# Listens, and says which packages are in the process at the end.
PROBE = """
import sys
from service.cli import main
code = main(["listen", "demo", "--seconds", "1", "--quiet"])
print(*{name.partition(".")[0] for name in sys.modules}, file=sys.stderr)
sys.exit(code)
"""


@pytest.fixture(scope="module")
def tried():
    """The environment that `make wheels` tries the wheel in."""
    subprocess.run([need_program("make"), "--silent", "wheels"], cwd=ROOT, check=True)
    return ROOT / ".cache/wheels/tried"


def test_it_listens_and_nothing_heavy_is_in_the_process(tried):
    done = subprocess.run(
        [str(tried / "bin/python"), "-c", PROBE], cwd=tried, capture_output=True, text=True, check=True
    )
    assert '"label"' in done.stdout
    heavy = {"torch", "scipy", "sklearn", "h5py", "matplotlib", "psycopg", "onnx"}
    assert not heavy & set(done.stderr.split())
