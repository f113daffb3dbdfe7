"""Faults of the machine below the service: its clock, its disk, its memory, its certificates."""

import os
import shutil
import signal
import ssl
import struct
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.service.conftest import serving

MEMORY = Path("/sys/fs/cgroup/memory")
MORE_MB = 40
WRITES = "fsync,fdatasync,pwrite64,ftruncate"


class Clock:
    """The time of day of processes that are started with `environment`."""

    def __init__(self, folder):
        library = folder / "clock.so"
        source = Path(__file__).with_name("clock.c")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        self.path = folder / "clock"
        self.set(0)
        self.environment = {"LD_PRELOAD": str(library), "WAVETELL_CLOCK": str(self.path)}

    def set(self, offset_s):
        """So many seconds from the true time."""
        with self.path.open("r+b" if self.path.exists() else "wb") as file:
            file.write(struct.pack("=q", offset_s))


def clock_jump(soak):
    """The clock jumps hours ahead, days back and home while labels and recordings are made."""
    hours = 3600 * soak.chance.randrange(1, 48)
    for offset_s in (hours, -hours, 0):
        soak.clock.set(offset_s)
        soak.ledger.label(soak.stream, "OOK")
        soak.ledger.record(soak.stream)
        soak.ledger.see_events()
        time.sleep(0.5)


@contextmanager
def injected(soak, calls, what):
    """System calls of the service fail or are late."""
    pid = str(soak.running.process.pid)
    command = ["strace", "-f", "-q", "-o", os.devnull, "-p", pid, "-e", f"trace={calls}"]
    tracer = subprocess.Popen([*command, "-e", f"inject={calls}:{what}"], stderr=subprocess.DEVNULL)
    try:
        time.sleep(0.5)  # it attaches to one thread after the other
        yield
    finally:
        tracer.send_signal(signal.SIGINT)  # it detaches
        tracer.wait(30)


def slow_disk(soak):
    """Every write takes 50 ms."""
    with injected(soak, WRITES, "delay_enter=50000"):
        soak.ledger.label(soak.stream, "OOK")
        soak.ledger.record(soak.stream)


def failing_disk(soak):
    """What is written to the disk does not arrive there."""
    with injected(soak, WRITES, "error=EIO"):
        soak.ledger.label(soak.stream, "OOK")
        soak.ledger.record(soak.stream)
        time.sleep(1)


def read_only(soak):
    """Nothing may be made in the folders of labels, recordings and models."""
    folders = [soak.running.data / name for name in ("labels", "recordings", "models")]
    subprocess.run(["chattr", "+i", *folders], check=True)
    try:
        soak.ledger.label(soak.stream, "OOK")
        soak.ledger.record(soak.stream)
        soak.ledger.upload("readonly", soak.model)
    finally:
        subprocess.run(["chattr", "-i", *folders], check=True)


def little_memory(soak):
    """A little more memory than it has: where that is not enough, the kernel kills it."""
    group = MEMORY / f"wavetell-soak-{os.getpid()}"
    group.mkdir()
    pid = soak.running.process.pid
    try:
        (group / "memory.limit_in_bytes").write_text(str(MORE_MB * 2**20))
        (group / "cgroup.procs").write_text(str(pid))
        for name in ("OOK", "2FSK"):
            soak.ledger.label(soak.stream, name)
        soak.ledger.record(soak.stream)
        time.sleep(1)
    finally:
        if soak.running.process.poll() is not None:
            soak.running.start()
        else:
            (MEMORY / "cgroup.procs").write_text(str(pid))
        for child in (group / "cgroup.procs").read_text().split():
            (MEMORY / "cgroup.procs").write_text(child)
        group.rmdir()


def expired_certificate(soak):
    """A service over TLS whose certificate is of yesterday: who verifies refuses it, and it goes on."""
    folder = soak.running.folder / f"tls-{soak.count}"
    folder.mkdir()
    cert, key = folder / "cert.pem", folder / "key.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"]
    command = [*make, "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert, "-days", "1"]
    soak.clock.set(-3 * 86_400)
    subprocess.run(command, check=True, capture_output=True, env=os.environ | soak.clock.environment)
    soak.clock.set(0)
    argv = ("--tls-cert", str(cert), "--tls-key", str(key))
    with serving(folder / "data", soak.second.model, *argv, verify=False) as service:
        try:
            httpx.get(f"{service.base}/v1/health", verify=ssl.create_default_context(cafile=str(cert)))
            raise AssertionError("an expired certificate was taken")
        except httpx.ConnectError:
            assert service.get("/v1/health").status_code == 200
    assert "Traceback" not in (folder / "data.log").read_text()
    shutil.rmtree(folder)


def page(soak):
    """A browser shows the dashboard while the service is restarted; the page finds it again."""
    command = [sys.executable, "-m", "tests.soak.page", soak.running.base, soak.running.token]
    shown = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert shown.stdout.readline() == "shown\n"
        soak.running.stop(signal.SIGTERM)
        soak.running.start()
        said, _ = shown.communicate("go on\n", timeout=300)
        assert (said, shown.returncode) == ("shown again\n", 0), said
    finally:
        shown.kill()
