"""A log that does not flood: what repeats is written a few times and then counted."""

import logging
import time

TIMES = 10  # that one message is written in a period
PERIOD_S = 60.0
MESSAGES = 1000  # that are told apart
# uvicorn's own, which any client can cause: the first is written after each refused WebSocket, though it got
# its answer, and the second with a traceback.
SPURIOUS = "ASGI callable returned without completing handshake."
NOT_UTF8 = "Invalid UTF-8 sequence received from client."


class Quiet(logging.Filter):
    """Lets each message pass a few times a period; the next period says how many were left out."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[tuple[str, str], tuple[float, int]] = {}  # message -> begin of its period, times

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write it."""
        if record.msg == SPURIOUS:
            return False
        if record.msg == NOT_UTF8:
            record.exc_info = None
        key, now = (record.name, str(record.msg)), time.monotonic()
        if len(self._seen) > MESSAGES:
            self._seen.clear()
        began, times = self._seen.get(key, (now, 0))
        if now - began > PERIOD_S:
            if times > TIMES:
                record.msg = f"{record.msg} (and {times - TIMES} more like this before)"
            began, times = now, 0
        self._seen[key] = began, times + 1
        return times < TIMES


def quieten() -> None:
    """Filter everything that is logged."""
    for name in ("", "uvicorn", "uvicorn.error"):
        for handler in logging.getLogger(name).handlers:
            handler.addFilter(Quiet())
