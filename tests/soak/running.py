"""The service under soak, a process that is killed and started again on one port, and its senders."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from itertools import cycle

import httpx
import numpy as np

from hardware.zmq_sink import ZmqSink
from service.web.security import Tokens
from streaming.block import Block
from tests.ports import free_port
from tests.service.conftest import within
from tests.wide_radio import spectrum

RATE_HZ = 48_000.0
PIECE = 4_800  # samples that are sent at once
BAND_HZ, BAND_PIECE_S = 2_400_000, 0.02
EMISSIONS, WIDTHS_HZ = 20, (5e3, 12.5e3, 25e3, 50e3)
BACK_S = 30.0  # in which it must answer again on an idle machine


class Sender:
    """A radio at real pace over ZMQ: a carrier that is keyed each half second, in noise."""

    def __init__(self, seed):
        self.endpoint = f"tcp://127.0.0.1:{free_port()}"
        self.rate_hz, self.spoil = RATE_HZ, None  # what to do to the next pieces
        self._random = np.random.default_rng(seed)
        self._stop, self._away = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        index = 0
        while not self._stop.is_set():
            with ZmqSink(self.endpoint, tags=True) as sink:
                while not self._stop.is_set() and not self._away.is_set():
                    samples = self._piece(index)
                    if self.spoil:
                        self.spoil(sink, samples)
                    sink.push(Block(samples, index, self.rate_hz, 433.92e6))
                    index += len(samples)
                    time.sleep(PIECE / RATE_HZ)
            while self._away.is_set() and not self._stop.is_set():
                time.sleep(0.05)

    def _piece(self, index):
        noise = self._random.standard_normal((PIECE, 2)).astype(np.float32).view(np.complex64)[:, 0] / 20
        keyed = (index // 24_000) % 2
        phase = 2j * np.pi * 0.1 * np.arange(index % 10, index % 10 + PIECE)
        return (noise + keyed * np.exp(phase)).astype(np.complex64)

    def leave(self, seconds):
        """The sender goes and comes back."""
        self._away.set()
        time.sleep(seconds)
        self._away.clear()

    def close(self):
        self._stop.set()
        self._thread.join(10)


class BandSender:
    """A radio at 2.4 MS/s over ZMQ with many emissions at once, in a loop."""

    def __init__(self, seed):
        self.endpoint = f"tcp://127.0.0.1:{free_port()}"
        self.sent = 0
        places = np.linspace(-0.45, 0.45, EMISSIONS) * BAND_HZ
        emissions = [(place, width, 0.1) for place, width in zip(places, cycle(WIDTHS_HZ))]
        self._band = np.fft.ifft(spectrum(BAND_HZ, emissions, seed=seed)).astype(np.complex64)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        size = round(BAND_HZ * BAND_PIECE_S)
        began = time.monotonic()
        with ZmqSink(self.endpoint, tags=True) as sink:
            while not self._stop.wait(max(0.0, began + self.sent / BAND_HZ - time.monotonic())):
                at = self.sent % len(self._band)
                sink.push(Block(self._band[at : at + size], self.sent, BAND_HZ, 868e6))
                self.sent += size

    def close(self):
        self._stop.set()
        self._thread.join(10)


class Running:
    """`wavetell serve` with an administrator's token."""

    def __init__(self, folder, bundle, *argv):
        folder.mkdir(exist_ok=True)
        self.folder, self.data, self.log = folder, folder / "data", folder / "service.log"
        self.model = folder / "model.safetensors"
        bundle.save(self.model)
        self.port = free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self.tokens = Tokens(self.data / "tokens.json")
        self.token = self.tokens.add("soak", "admin")
        self.argv = argv
        self.starts, self.process, self.environment = 0, None, {}

    def start(self, **environment):
        """Start it and wait until it answers; what is in its environment stays from then on."""
        self.environment |= environment
        command = [
            *(sys.executable, "-m", "service.cli", "serve", "--port", str(self.port), *self.argv),
            *("--data", self.data, "--model", self.model, "--max-rate", "100000"),
            *("--max-streams", "8", "--queue-ms", "2000", "--ring-s", "5"),
        ]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=log, env=os.environ | self.environment
            )
        self.starts += 1
        self.wait()

    def wait(self):
        """Wait until it answers; how long that took."""
        began = time.monotonic()
        while time.monotonic() < began + within(BACK_S):
            with suppress(httpx.HTTPError):
                if httpx.get(f"{self.base}/v1/health", timeout=2).status_code == 200:
                    return time.monotonic() - began
            assert self.process.poll() is None, self.log.read_text()[-2000:]
            time.sleep(0.05)
        raise TimeoutError("the service does not answer")

    def client(self, token=""):
        """A client with its own connections."""
        return httpx.Client(
            base_url=self.base, timeout=120, headers={"Authorization": f"Bearer {token or self.token}"}
        )

    def stop(self, how=signal.SIGKILL):
        self.process.send_signal(how)
        self.process.wait(120)

    @property
    def sizes(self):
        """Resident megabytes, open files and threads."""
        proc = f"/proc/{self.process.pid}"
        with open(f"{proc}/statm") as file:
            rss = int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20
        return rss, len(os.listdir(f"{proc}/fd")), len(os.listdir(f"{proc}/task"))
