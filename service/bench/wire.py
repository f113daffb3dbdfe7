"""What goes over the wire, counted by a TCP proxy on loopback: headers, framing and all."""

import socket
import threading
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
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):  # the listener was closed: the measurement is over
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
                for source, sink, way in ((client, server, "up"), (server, client, "down")):
                    threading.Thread(target=self._pass, args=(source, sink, way), daemon=True).start()

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
        """Take no more connections."""
        self._listener.close()
