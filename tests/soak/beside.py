"""What runs beside the service and comes and goes: a broker, a web hook, a database, a remote radio."""

import os
import signal
import socket
import threading
import time
from contextlib import ExitStack, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.hardware.test_soapy_remote import Server as SoapyRemote
from tests.hardware.test_soapy_remote import address as remote_address
from tests.ports import free_port
from tests.replay_radio import need_replay_radio
from tests.service.servers import ended, mosquitto, postgres


class Broker:
    """mosquitto behind a proxy."""

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        self.start()
        self.proxy = Proxy(self.port)

    def start(self):
        self._context = mosquitto(self.folder, self.port)
        self.process = self._context.__enter__()

    def stop(self):
        ended(self.process)


class Proxy:
    """Passes connections of one port on to another, late or not at all."""

    def __init__(self, target):
        self.target, self.port = target, free_port()
        self.delay_s = 0.0
        self.connections = []
        self._listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        while True:
            try:
                inside, _ = self._listener.accept()
            except OSError:
                return
            try:
                outside = socket.create_connection(("127.0.0.1", self.target), 5)
            except OSError:
                inside.close()
                continue
            outside.settimeout(None)
            self.connections = [*self.connections[-20:], inside, outside]
            for one, other in ((inside, outside), (outside, inside)):
                threading.Thread(target=self._pass, args=(one, other), daemon=True).start()

    def _pass(self, one, other):
        with suppress(OSError):
            while raw := one.recv(65_536):
                time.sleep(self.delay_s)
                other.sendall(raw)
        for each in (one, other):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def cut(self):
        """Break off every connection."""
        for each in self.connections:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def close(self):
        self._listener.close()
        self.cut()


class Hook:
    """A web hook that may be slow or broken; `taken` are the events that it said yes to."""

    def __init__(self):
        self.slow_s, self.status, self.taken = 0.0, 200, set()
        hook = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                time.sleep(hook.slow_s)
                if hook.status == 200:
                    hook.taken.add(self.headers["Idempotency-Key"])
                with suppress(OSError):
                    self.send_response(hook.status)
                    self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", free_port()), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class Beside:
    """All of them."""

    def __init__(self, folder):
        self._open = ExitStack()
        self.broker, self.hook = Broker(folder), Hook()
        self.sinks = f"mqtt://127.0.0.1:{self.broker.proxy.port}/soak,{self.hook.url}"
        self.database, self.stop_database, self.start_database = self._open.enter_context(postgres(folder))
        need_replay_radio()
        self.remote = SoapyRemote(folder)
        self.radio = remote_address(self.remote, "count=1", "ctypes", "rate=250k&stream=remote:prot=tcp")

    def signal_database(self, number):
        """Stop or continue every process of the database."""
        parents = {os.getpid()}
        mine = {}
        for entry in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError), open(f"/proc/{entry}/stat") as file:
                name, _, rest = file.read().partition(") ")
                mine[int(entry)] = (name.partition("(")[2], int(rest.split()[1]))
        for _ in range(2):  # the server, and its children
            parents |= {
                pid for pid, (name, parent) in mine.items() if name == "postgres" and parent in parents
            }
        for pid in parents - {os.getpid()}:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def close(self):
        self.signal_database(signal.SIGCONT)
        self.remote.close()
        self.hook.server.shutdown()
        self.broker.proxy.close()
        self.broker.stop()
        self._open.close()
