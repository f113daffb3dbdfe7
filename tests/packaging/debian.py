"""A Debian of the tests' own, in a folder: what is installed there does not touch this machine.

systemd-nspawn runs programs in it, or boots it, with this machine's network and nothing else of it.
"""

import os
import shutil
import subprocess
from contextlib import contextmanager

from tests.require import ROOT, need, need_program

SUITE = "bookworm"  # its Python is the one that `make deb` packs for
CACHE = ROOT / ".cache/debian"
PACKAGES = "python3,python3-venv,systemd-sysv,dbus"
QUIET = {"DEBIAN_FRONTEND": "noninteractive", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


def mirror():
    """Where this machine's own packages come from."""
    listed = subprocess.run(
        [need_program("apt-get"), "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"],
        capture_output=True,
        text=True,
        check=True,
    )
    need(listed.stdout != "", "a mirror in apt's sources")
    return listed.stdout.splitlines()[0]


def base():
    """The bare system that the others are copies of, made once."""
    need(os.geteuid() == 0, "root, who may make a Debian in a folder")
    if not CACHE.exists():
        made = CACHE.with_suffix(".new")
        shutil.rmtree(made, ignore_errors=True)
        command = [need_program("debootstrap"), "--variant=minbase", f"--include={PACKAGES}", SUITE]
        subprocess.run([*command, str(made), mirror()], check=True, stdout=subprocess.DEVNULL)
        made.rename(CACHE)
    return CACHE


class Debian:
    """A copy of the bare system in a folder."""

    def __init__(self, root):
        self.root = root
        self.spawn = [need_program("systemd-nspawn"), "--quiet", "--register=no", "--keep-unit"]
        self.spawn += ["--resolv-conf=copy-host", f"--directory={root}"]
        subprocess.run(["cp", "-a", "--reflink=auto", str(base()), str(root)], check=True)

    def run(self, *command, user="root", env=None, folder="/", check=True):
        """What a program writes; it must succeed, unless `check` is false."""
        given = [f"--setenv={name}={value}" for name, value in (QUIET | (env or {})).items()]
        done = subprocess.run(
            [*self.spawn, f"--user={user}", f"--chdir={folder}", *given, "--pipe", *command],
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done

    @contextmanager
    def booted(self):
        """While it runs with its own systemd, which writes a journal that stays."""
        (self.root / "var/log/journal").mkdir(exist_ok=True)
        system = subprocess.Popen(
            [*self.spawn, "--boot", "--console=passive"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield system
        finally:
            system.terminate()  # shuts it down in order
            system.wait(120)

    def journal(self, unit):
        """What a service has said."""
        return self.run("journalctl", "--unit", unit, "--output=cat", "--no-pager").stdout


def fetch(machine, folder, *more, extras=""):
    """The wheel for a machine and all that it needs, fetched by this machine's pip; the wheel."""
    subprocess.run([need_program("make"), "--silent", "wheels"], cwd=ROOT, check=True)
    (wheel,) = (ROOT / "dist").glob(f"*_{machine}.whl")
    tags = ["linux", "manylinux2014", *(f"manylinux_2_{minor}" for minor in range(17, 37))]
    command = [str(ROOT / ".venv/bin/pip"), "download", "--quiet", "--constraint", "constraints.txt"]
    command += ["--only-binary=:all:", "--implementation=cp", "--python-version=3.11"]
    command += [f"--platform={tag}_{machine}" for tag in tags]
    wanted = [f"wavetell{extras} @ {wheel.as_uri()}", *more]
    subprocess.run([*command, "--dest", str(folder), *wanted], cwd=ROOT, check=True)
    return wheel
