"""Names of streams, runs, labels, recordings: unique over all stations, and in the order of their making."""

import secrets
import time


def new_id() -> str:
    """24 hex digits: the time in nanoseconds, then chance."""
    return f"{time.time_ns():016x}{secrets.token_hex(4)}"
