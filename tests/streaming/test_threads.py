"""The kernel under the thread sanitizer, as the service's threads use it."""

import subprocess

from tests.fuzz.kernel import build
from tests.require import need


def test_the_kernels_threads_share_nothing_without_order():
    program = build("threads")
    need(program is not None, "a C++ compiler with the thread sanitizer")
    done = subprocess.run([program, "1", "5"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "visits held" in done.stdout
