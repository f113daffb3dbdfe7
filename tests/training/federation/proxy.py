"""A TCP proxy on loopback that counts, cuts and damages what passes."""

import socket
import threading
from contextlib import suppress


class Proxy:
    """Passes bytes on to a port; `cut_up` and `cut_down` end the next connection after so many bytes."""

    def __init__(self, target):
        self.target = target
        self.cut_up = self.cut_down = self.flip_up = None
        self.cuts = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self._sockets = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
            except ConnectionRefusedError:
                client.close()
                continue
            except OSError:
                return
            self._sockets += [client, server]
            threading.Thread(target=self._pass, args=(client, server, "up"), daemon=True).start()
            threading.Thread(target=self._pass, args=(server, client, "down"), daemon=True).start()

    def _pass(self, source, sink, way):
        passed = 0
        try:
            while data := source.recv(65536):
                if way == "up" and self.flip_up is not None and passed + len(data) > self.flip_up >= passed:
                    at = self.flip_up - passed
                    data = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
                    self.flip_up, self.cuts = None, self.cuts + 1
                limit = self.cut_up if way == "up" else self.cut_down
                if limit is not None and passed + len(data) > limit:
                    sink.sendall(data[: limit - passed])
                    setattr(self, f"cut_{way}", None)
                    self.cuts += 1
                    break
                sink.sendall(data)
                passed += len(data)
        except OSError:
            pass  # the other side went away: so does this one
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.listener.close()
        for end in self._sockets:
            end.close()
