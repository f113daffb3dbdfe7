"""Events as JSON lines, on standard output or at the end of a file."""

import json
import os
from pathlib import Path
from typing import Any

from service.sinks.sink import Away, Sink

STDOUT = 1


def open(entry: str) -> "Lines":
    """`stdout` or `file:PATH`."""
    return Lines(None if entry == "stdout" else Path(entry.removeprefix("file:")).expanduser())


class Lines(Sink):
    """One line an event; a file may be moved away for rotation, since it is opened for each."""

    def __init__(self, path: Path | None) -> None:
        super().__init__("stdout" if path is None else str(path))
        self.path = path

    def deliver(self, event: dict[str, Any]) -> bool:
        """Write one line in one go."""
        line = (json.dumps(event) + "\n").encode()
        try:
            if self.path is None:
                os.write(STDOUT, line)
            else:
                with self.path.open("ab", buffering=0) as file:
                    file.write(line)
        except OSError as error:
            raise Away(str(error)) from None
        return True
