"""The Debian package is installed, started by systemd and purged again, in a Debian of its own."""

import json
import re
import shutil
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest

from tests.packaging.debian import Debian
from tests.ports import free_port
from tests.require import ROOT, need_program

pytestmark = pytest.mark.acceptance


@pytest.fixture(scope="module")
def packages():
    """Those of amd64 and arm64."""
    subprocess.run([need_program("make"), "--silent", "deb"], cwd=ROOT, check=True)
    return {path.stem.rsplit("_", 1)[1]: path for path in (ROOT / "dist").glob("wavetell_*.deb")}


@pytest.fixture(scope="module")
def debian(packages, tmp_path_factory):
    """A Debian with the package of this machine's architecture in it."""
    system = Debian(tmp_path_factory.mktemp("deb") / "root")
    shutil.copy(packages["amd64"], system.root / "wavetell.deb")
    system.run("apt-get", "update", "--quiet")
    system.run("apt-get", "install", "--yes", "--no-install-recommends", "/wavetell.deb")
    return system


def ask(url, body=None):
    """A service's answer, once it gives one."""
    request = Request(url, body and json.dumps(body).encode(), {"Content-Type": "application/json"})
    for _ in range(600):
        try:
            return json.load(urlopen(request, timeout=10))
        except (URLError, ConnectionError):
            time.sleep(0.2)
    raise TimeoutError(f"nobody answers at {url}")


def running(root):
    """What the kernel says of the processes of the package's user, which no other system here has."""
    user = re.search(r"^wavetell:x:(\d+)", (root / "etc/passwd").read_text(), re.MULTILINE)[1]
    for path in Path("/proc").glob("[0-9]*/status"):
        with suppress(OSError):  # it has just ended
            status = dict(line.split(":\t", 1) for line in path.read_text().splitlines() if ":\t" in line)
            if status["Uid"].split()[0] == user:
                yield status


def test_both_architectures_have_a_package_without_complaints(packages):
    assert set(packages) == {"amd64", "arm64"}
    checked = subprocess.run(
        [need_program("lintian"), "--allow-root", "--fail-on", "error,warning", *map(str, packages.values())],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (checked.stdout, checked.returncode) == ("", 0)


def test_it_brings_a_user_a_rule_settings_and_a_manual(debian):
    (user,) = re.findall(r"^wavetell:.*", (debian.root / "etc/passwd").read_text(), re.MULTILINE)
    assert user.endswith(":/var/lib/wavetell:/usr/sbin/nologin")
    assert "plugdev" in debian.run("id", "--groups", "--name", "wavetell").stdout
    assert "0bda" in (debian.root / "lib/udev/rules.d/60-wavetell.rules").read_text()
    assert (
        "/etc/wavetell/wavetell.toml"
        in debian.run("dpkg-query", "--show", "-f${Conffiles}", "wavetell").stdout
    )
    for path in ("man/man1/wavetell.1.gz", "bash-completion/completions/wavetell"):
        assert (debian.root / "usr/share" / path).exists()


def test_its_command_names_what_is_in_a_recording(debian):
    heard = debian.run("wavetell", "listen", "demo", "--seconds", "1", user="nobody", folder="/tmp")
    assert {json.loads(line)["state"] for line in heard.stdout.splitlines()} >= {"new"}


def test_systemd_starts_it_confined_and_it_answers(debian):
    port = free_port()
    (debian.root / "etc/wavetell/wavetell.toml").write_text(f"port = {port}\n")
    base = f"http://127.0.0.1:{port}/v1"
    with debian.booted():
        assert ask(f"{base}/health")["status"] == "ok"
        stream = ask(f"{base}/streams", {"source": "demo"})["id"]
        while not ask(f"{base}/streams/{stream}/emissions")["emissions"]:
            time.sleep(0.2)
        (process,) = running(debian.root)
        assert process["NoNewPrivs"] == "1"
        assert process["CapBnd"] == "0" * 16
        assert process["Seccomp"] == "2"
    journal = debian.journal("wavetell")
    assert "Traceback" not in journal
    assert "Failed" not in journal
    assert (debian.root / "var/lib/wavetell").stat().st_mode & 0o777 == 0o700


def test_purged_it_leaves_nothing(debian):
    debian.run("apt-get", "purge", "--yes", "wavetell")
    left = ("usr/lib/wavetell", "etc/wavetell", "var/lib/wavetell", "lib/systemd/system/wavetell.service")
    assert [path for path in left if (debian.root / path).exists()] == []
