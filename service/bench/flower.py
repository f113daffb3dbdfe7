"""The same exchange on Flower, with real SuperLink and SuperNode processes in an environment of its own."""

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from service.bench.wire import Wire
from streaming.errors import WavetellError
from training.federation.coordinator.rounds import Coordinator

ROOT = Path(__file__).resolve().parents[2]
FLOWER = ROOT / ".cache" / "flower" / "bin"
APP = ROOT / "training" / "federation" / "flower_app"
PATIENCE_S = 600.0


class Fleet:
    """A SuperLink and one SuperNode per station, as processes."""

    def __init__(self, folder: Path, env: dict[str, str], control: int, wire: Wire) -> None:
        self.folder, self.env, self.control, self.wire = folder, env, control, wire
        self.nodes: dict[str, subprocess.Popen[bytes]] = {}

    def run(self, coordinator: Coordinator, **settings: str | bool) -> None:
        """Run a federation to its end."""
        self.start(coordinator, **settings)
        end = time.monotonic() + PATIENCE_S
        while not coordinator.finished:
            if time.monotonic() > end:
                raise WavetellError(f"the federation on Flower did not end; see {self.folder}")
            time.sleep(0.05)

    def start(self, coordinator: Coordinator, **settings: str | bool) -> None:
        """Start a federation, with settings of its run."""
        every = {"folder": str(coordinator.store.folder)} | settings
        words = " ".join(f"{name}={json.dumps(value)}" for name, value in every.items())
        start = [str(FLOWER / "flwr"), "run", str(APP), "here", "--run-config", words]
        wait_for_port(self.control)
        done = subprocess.run(
            start, env=self.env, cwd=self.folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise WavetellError(f"flwr run failed: {done.stdout[-300:]}{done.stderr[-300:]}")


def run_flower(
    coordinator: Coordinator, nodes: dict[str, str], folder: Path, train: str = "", precision: str = "float32"
) -> Wire:
    """Run a federation on Flower to its end; what went over the wire.

    ``nodes`` has for every station the further words of its node configuration.
    """
    with flower_fleet(nodes, folder) as fleet:
        fleet.run(coordinator, precision=precision, train=train)
    return fleet.wire


@contextmanager
def flower_fleet(nodes: dict[str, str], folder: Path, *link_options: str) -> Iterator[Fleet]:
    """Flower's processes, ended with the block."""
    fleet, control, app_io = free_ports(3)
    (folder / "home").mkdir(parents=True, exist_ok=True)
    (folder / "home" / "config.toml").write_text(
        f'[superlink]\ndefault = "here"\n[superlink.here]\naddress = "127.0.0.1:{control}"\ninsecure = true\n'
    )
    env = os.environ | {
        "FLWR_HOME": str(folder / "home"),
        "FLWR_TELEMETRY_ENABLED": "0",
        "PYTHONPATH": str(ROOT),
        "PATH": f"{FLOWER}{os.pathsep}{os.environ.get('PATH', '')}",
    }
    with ExitStack() as stack:
        link = ["flower-superlink", "--insecure", "--disable-runtime-dependency-installation", *link_options]
        link += ["--fleet-api-address", f"127.0.0.1:{fleet}", "--control-api-address", f"127.0.0.1:{control}"]
        link += ["--serverappio-api-address", f"127.0.0.1:{app_io}"]
        stack.enter_context(running(link, env, folder / "superlink.log"))
        wait_for_port(fleet)
        wire = Wire(fleet)
        stack.callback(wire.close)
        started = Fleet(folder, env, control, wire)
        for (station, words), port in zip(nodes.items(), free_ports(len(nodes)), strict=True):
            config = f'station="{station}" folder="{folder / station}" {words}'
            node = ["flower-supernode", "--insecure", "--superlink", f"127.0.0.1:{wire.port}"]
            node += ["--clientappio-api-address", f"127.0.0.1:{port}", "--node-config", config]
            log = folder / f"{station}.log"
            started.nodes[station] = stack.enter_context(running(node, env, log))
        yield started


@contextmanager
def running(command: list[str], env: dict[str, str], log: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A process of Flower's and its children, ended with the block."""
    with log.open("wb") as file:
        process = subprocess.Popen(
            [str(FLOWER / command[0]), *command[1:]],
            env=env,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        end_group(process)


def end_group(process: "subprocess.Popen[bytes]") -> None:
    """End a process and what it started: Flower starts one for every message."""
    if process.poll() is not None:
        return
    os.killpg(process.pid, 15)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait(10)


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on."""
    with ExitStack() as stack:
        listeners = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [int(listener.getsockname()[1]) for listener in listeners]


def wait_for_port(port: int) -> None:
    """Wait until somebody listens."""
    end = time.monotonic() + PATIENCE_S / 5
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.2)
    raise WavetellError("Flower's SuperLink did not start")
