"""What the service takes and how fast it answers, sampled all the time, as curves and as growth an hour."""

import threading
import time
from contextlib import suppress

import httpx
import matplotlib.figure
import numpy as np

NAMES = (
    "resident MB",
    "open files",
    "threads",
    "p99 of /health, ms",
    "lag of the slowest stream, ms",
    "queued",
)
EVERY_S = 0.1
SPAN_S = 10.0  # of one p99
FIRST_S = 600.0  # that no growth is fitted to
FILL_S = 10.0  # in which a service that was started fills its rings


class Curves:
    """A thread that measures."""

    def __init__(self, running):
        self.running = running
        self.rows = []  # (seconds, start of the service, MB, files, threads, p99 in ms, lag in ms, samples)
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
                    self.rows.append((now, self.running.starts, *self.running.sizes, p99, *self._behind()))

    def _behind(self):
        """How late the slowest stream is, and how many samples wait."""
        with suppress(httpx.HTTPError, ValueError, KeyError), self.running.client() as http:
            streams = http.get("/v1/streams", timeout=10).json()
            return max(s["lag_ms"] for s in streams), sum(s["queued"] for s in streams)
        return np.nan, np.nan

    def close(self):
        self._stop.set()
        self._thread.join(30)

    def growth(self):
        """Percent an hour of each size after the first minutes, and its standard error.

        The process is killed and started too often for a slope within one life. So a line is fitted to the
        medians of the lives over the whole run, each from when it had taken in its rings.
        """
        rows = np.array(self.rows)
        medians = []
        for start in np.unique(rows[:, 1]) if len(rows) else ():
            life = rows[rows[:, 1] == start]
            life = life[(life[:, 0] > life[0, 0] + FILL_S) & (life[:, 0] > FIRST_S)]
            if len(life):
                medians.append(np.median(life, axis=0))
        if len(medians) < 6:
            return dict.fromkeys(NAMES[:3])
        hours = np.array(medians)[:, 0] / 3600
        grown = {}
        for name, sizes in zip(NAMES[:3], np.array(medians).T[2:], strict=False):
            (slope, _), covariance = np.polyfit(hours, 100 * sizes / sizes.mean(), 1, cov=True)
            grown[name] = {"percent": round(slope, 2), "error": round(float(covariance[0, 0]) ** 0.5, 2)}
        return grown

    def draw(self, path, faults):
        """The curves, with a line at each kill and a dot at each fault."""
        rows = np.array(self.rows)
        figure = matplotlib.figure.Figure((10, 12), layout="constrained")
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
