"""Events as JSON lines, on standard output or at the end of a file."""

import os
from pathlib import Path

from service.sinks.sink import Message, Sink, Unavailable

STDOUT = 1


def open(entry: str) -> "Lines":
    """`stdout` or `file:PATH`."""
    return Lines(None if entry == "stdout" else Path(entry.removeprefix("file:")).expanduser())


class Lines(Sink):
    """One line per event; a file is opened for each, so that it can be rotated."""

    def __init__(self, path: Path | None) -> None:
        super().__init__("stdout" if path is None else str(path))
        self.path = path

    def deliver(self, event: Message) -> bool:
        """Write one line in one call."""
        line = (event.model_dump_json() + "\n").encode()
        try:
            if self.path is None:
                os.write(STDOUT, line)
            else:
                with self.path.open("ab", buffering=0) as file:
                    file.write(line)
        except OSError as error:
            raise Unavailable(str(error)) from None
        return True
