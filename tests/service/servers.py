"""Private servers for tests: a database and a broker, on loopback, with folders of their own."""

import os
import pwd
import shutil
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.ports import free_port
from tests.require import need, need_program

POSTGRES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


def ended(process):
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def postgres(folder):
    """A PostgreSQL of our own; the URL of an empty database, and a function that stops and starts it."""
    need(bool(POSTGRES), "PostgreSQL's server")
    binaries = POSTGRES[-1]
    data, port = folder / "postgres", free_port()
    data.mkdir()
    more = {}
    if os.geteuid() == 0:  # it refuses to run as root
        user = pwd.getpwnam("nobody")
        os.chown(data, user.pw_uid, user.pw_gid)
        for parent in data.parents:
            if parent.stat().st_uid == 0 and not parent.stat().st_mode & 0o001:
                parent.chmod(parent.stat().st_mode | 0o011)
        more = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": "/", "env": {"LC_ALL": "C"}}
    subprocess.run(
        [binaries / "initdb", "-D", data, "-U", "wavetell", "-A", "trust"], check=True, **quiet, **more
    )
    options = ["-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={data}", "-c", "fsync=off"]

    url = f"postgresql://wavetell@127.0.0.1:{port}/postgres"

    def start():
        process = subprocess.Popen(
            [binaries / "postgres", "-D", data, "-p", str(port), *options], **quiet, **more
        )
        for _ in range(1200):
            try:
                psycopg.connect(url).close()
                return process
            except psycopg.OperationalError:
                time.sleep(0.05)
        ended(process)
        raise TimeoutError("PostgreSQL did not start")

    running = [start()]

    def stop():
        ended(running.pop())

    try:
        yield url, stop, lambda: running.append(start())
    finally:
        for process in running:
            ended(process)


@contextmanager
def mosquitto(folder, port):
    """A broker that lets anybody in, on loopback."""
    program = need_program("mosquitto") if shutil.which("mosquitto") else "/usr/sbin/mosquitto"
    need(Path(program).exists(), "program mosquitto")
    config = folder / "mosquitto.conf"
    config.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\nuser root\n")
    process = subprocess.Popen([program, "-c", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        ended(process)
