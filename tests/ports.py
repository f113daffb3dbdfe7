"""Ports for tests that run side by side."""

import itertools
import os
import random
import socket

# Below the ports that the kernel hands out, and apart for every process of pytest-xdist: nobody takes a port
# between the look at it and its use.
SPAN = 1000
FIRST = 20_000 + SPAN * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
PORTS = itertools.cycle(random.sample(range(FIRST, FIRST + SPAN), SPAN))


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    for port in itertools.islice(PORTS, SPAN):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError("no port is free")
