"""Play the shipped band through ZMQ, serve it, and print what is heard.

Run by `make demo`; three processes, as a user would start them by hand:

    wavetell replay band/scene-000.sigmf-meta --zmq tcp://127.0.0.1:PORT --loop --tags
    wavetell serve zmq:tcp://127.0.0.1:PORT
    wavetell listen zmq:tcp://127.0.0.1:PORT
"""

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time

import httpx

from service.demo import BAND

WAVETELL = [sys.executable, "-m", "service.cli"]


def free_port(wanted: int = 0) -> int:
    """The wanted port if it is free, else another one."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise OSError("no port is free")


def wait_for_service(address: str, service: subprocess.Popen[bytes]) -> None:
    """Wait until the service answers."""
    for _ in range(900):
        if service.poll() is not None:
            sys.exit(service.returncode)
        try:
            httpx.get(f"{address}/v1/health")
            return
        except httpx.TransportError:
            time.sleep(0.1)
    sys.exit("wavetell: the service did not answer within 90 s")


def main() -> None:
    """Run until Ctrl-C, or for --seconds of the stream."""
    parser = argparse.ArgumentParser(prog="make demo")
    parser.add_argument("--seconds", type=float, help="stop after this much of the stream")
    seconds = parser.parse_args().seconds
    air = f"tcp://127.0.0.1:{free_port()}"
    port = free_port(int(os.environ.get("WAVETELL_PORT", "8433")))
    address = f"http://127.0.0.1:{port}"
    data = tempfile.TemporaryDirectory(prefix="wavetell-demo-")
    children = [
        subprocess.Popen([*WAVETELL, "replay", str(BAND), "--zmq", air, "--loop", "--tags"]),
        subprocess.Popen([*WAVETELL, "serve", f"zmq:{air}", "--port", str(port), "--data", data.name]),
    ]
    try:
        wait_for_service(address, children[1])
        print(
            f"\n  wavetell is listening to a band with several modulations at once.\n  {address}/\n",
            flush=True,
        )
        limit = ["--seconds", str(seconds)] if seconds else []
        children.append(subprocess.Popen([*WAVETELL, "listen", f"zmq:{air}", "--text", "--quiet", *limit]))
        children[2].wait()
    except KeyboardInterrupt:
        print()
    finally:
        for child in reversed(children):
            child.terminate()
        for child in children:
            child.wait(10)
        data.cleanup()


if __name__ == "__main__":
    main()
