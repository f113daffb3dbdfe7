"""What the service takes and how fast it answers, sampled all the time, as curves and as growth an hour."""

import threading
import time
from contextlib import suppress

import httpx
import matplotlib.figure
import numpy as np

NAMES = ("resident MB", "open files", "threads", "p99 of /health, ms")
EVERY_S = 0.1
SPAN_S = 10.0  # of one p99


class Curves:
    """A thread that measures; growth is fitted to each life of the process apart."""

    def __init__(self, running):
        self.running = running
        self.rows = []  # (seconds, start of the service, MB, files, threads, p99 in ms)
        self._began = time.monotonic()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        with httpx.Client(base_url=self.running.base, timeout=10) as http:
            while not self._stop.is_set():
                waits, end = [], time.monotonic() + SPAN_S
                while time.monotonic() < end and not self._stop.is_set():
                    began = time.monotonic()
                    with suppress(httpx.HTTPError):
                        http.get("/v1/health")
                        waits.append(1000 * (time.monotonic() - began))
                    self._stop.wait(EVERY_S)
                if not waits:  # it is starting
                    continue
                with suppress(OSError):
                    now = time.monotonic() - self._began
                    p99 = float(np.percentile(waits, 99))
                    self.rows.append((now, self.running.starts, *self.running.sizes, p99))

    def close(self):
        self._stop.set()
        self._thread.join(30)

    def growth(self):
        """Percent an hour of each size in the longest life but its first minute; None where too short."""
        rows = np.array(self.rows)
        if not len(rows):
            return {}
        lives, counts = np.unique(rows[:, 1], return_counts=True)
        life = rows[rows[:, 1] == lives[counts.argmax()]]
        life = life[life[:, 0] > life[0, 0] + 60]
        if len(life) < 6:
            return dict.fromkeys(NAMES[:3])
        return {
            name: round(
                float(np.polyfit(life[:, 0] / 3600, life[:, 2 + i], 1)[0] / life[:, 2 + i].mean() * 100), 2
            )
            for i, name in enumerate(NAMES[:3])
        }

    def draw(self, path, faults):
        """The curves, with a line at each kill and a dot at each fault."""
        rows = np.array(self.rows)
        figure = matplotlib.figure.Figure((10, 9), layout="constrained")
        axes = figure.subplots(len(NAMES), 1, sharex=True)
        for axis, name, column in zip(axes, NAMES, rows.T[2:], strict=True):
            axis.plot(rows[:, 0] / 60, column, lw=1)
            axis.set_ylabel(name)
            axis.set_ylim(0)
            for at, fault in faults:
                axis.axvline(
                    at / 60, color="tab:red" if fault in ("kill", "restart") else "0.85", lw=0.6, zorder=0
                )
        axes[-1].set_xlabel("minutes; red: the service was killed or restarted, grey: another fault")
        figure.savefig(path, dpi=100)
