"""What goes over the wire, counted by a TCP proxy on loopback: headers, framing and all."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEADERS = 1  # the type of the frame that begins a request


class Http2Requests:
    """Counts the requests in what a client of HTTP/2 sends; other protocols have none."""

    def __init__(self) -> None:
        self._begun, self._rest, self._skip = False, b"", 0

    def push(self, data: bytes) -> int:
        """How many requests begin here."""
        count, self._rest = 0, self._rest + data
        if not self._begun:
            if not self._rest.startswith(PREFACE):
                self._rest = self._rest[: len(PREFACE)]
                return 0
            self._begun, self._rest = True, self._rest[len(PREFACE) :]
        while True:
            skipped = min(self._skip, len(self._rest))
            self._skip, self._rest = self._skip - skipped, self._rest[skipped:]
            if self._skip or len(self._rest) < 9:
                return count
            count += self._rest[3] == HEADERS
            self._skip, self._rest = int.from_bytes(self._rest[:3], "big"), self._rest[9:]


class Wire:
    """Passes bytes on to a port of this machine, and counts them by way."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.up = self.down = self.requests = 0  # requests of HTTP/2 only
        self._lock = threading.Lock()
        self._sockets = [socket.create_server(("127.0.0.1", 0), backlog=256)]
        self.port: int = self._sockets[0].getsockname()[1]
        self._threads: list[threading.Thread] = []
        self._begin(self._accept)

    def _begin(self, work: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=work, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):  # `close` was called, or the other side is gone: the measurement is over
            while True:
                client, _ = self._sockets[0].accept()
                self._sockets.append(client)
                server = socket.create_connection(("127.0.0.1", self.target))
                self._sockets.append(server)
                self._begin(self._pass, client, server, "up")
                self._begin(self._pass, server, client, "down")

    def _pass(self, source: socket.socket, sink: socket.socket, way: str) -> None:
        requests = Http2Requests()
        with suppress(OSError):  # one side went away, and the other is told below
            while data := source.recv(1 << 18):
                with self._lock:
                    setattr(self, way, getattr(self, way) + len(data))
                    if way == "up":
                        self.requests += requests.push(data)
                sink.sendall(data)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """End every connection."""
        for end in self._sockets:
            with suppress(OSError):  # it has ended already
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)
        for end in self._sockets:
            end.close()
