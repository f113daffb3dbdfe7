"""Records the seconds before and after a trigger.

::

    recorder = TriggeredRecorder(before_s=2, after_s=3)
    for block in source.blocks():
        recorder.push(block)
        if interesting(block):
            recorder.trigger("event-1.sigmf-meta", block.index)
"""

import threading
from pathlib import Path

from hardware.recorder import Recorder
from streaming.block import Block
from streaming.ring import Ring


class TriggeredRecorder:
    """Keeps the last seconds; a trigger, from any thread, writes them and what follows.

    Parameters
    ----------
    before_s, after_s
        Seconds before and after the trigger.
    late_s
        How long after the fact a trigger may come: an answer takes its time.
    max_bytes
        Limit of one recording; a trigger during a recording makes it longer.
    """

    def __init__(
        self, before_s: float, after_s: float, late_s: float = 1.0, max_bytes: float | None = None
    ) -> None:
        self.before_s, self.after_s, self.max_bytes = before_s, after_s, max_bytes
        self.recorder: Recorder | None = None  # while one is being written
        self._ring = Ring(before_s + late_s)
        self._newest: Block | None = None
        self._stop = 0  # index
        self._lock = threading.Lock()

    def push(self, block: Block) -> None:
        """Take the next block."""
        with self._lock:
            self._ring.append(block)
            self._newest = block
            if self.recorder:
                self._write(block)

    def trigger(
        self, path: str | Path, first: int | None = None, last: int | None = None, description: str = ""
    ) -> Recorder | None:
        """Record around the samples `first` to `last`, the newest one by default; None before any block."""
        with self._lock:
            if self._newest is None:
                return None
            rate_hz = self._newest.rate_hz
            at = self._newest.end if first is None else first
            self._stop = max(self._stop, (last or at) + round(self.after_s * rate_hz))
            if self.recorder is None:
                self.recorder = recorder = Recorder(path, self.max_bytes, description=description)
                for block in self._ring.blocks(at - round(self.before_s * rate_hz), self._newest.end):
                    if self.recorder:
                        self._write(block)
                return recorder
            return self.recorder

    def close(self) -> None:
        """End a recording that is being written."""
        with self._lock:
            self._finish()

    def _write(self, block: Block) -> None:
        if not self.recorder:
            return
        block = block.cut(block.index, self._stop)
        if (len(block.samples) and not self.recorder.push(block)) or block.end >= self._stop:
            self._finish()

    def _finish(self) -> None:
        if self.recorder:
            self.recorder.close()
            self.recorder = None
        self._stop = 0
