"""What can go wrong in the service only.

::

    WavetellError
    ├── NotFound     there is no such stream, label, model, ...
    ├── Conflict     not now: something else is under way, or a limit is reached
    └── Refused      not allowed here
"""

from streaming.errors import WavetellError


class NotFound(WavetellError):
    """There is no such stream, label, model, ..."""


class Conflict(WavetellError):
    """Not now: something else is under way, or a limit is reached."""


class Refused(WavetellError):
    """Not allowed here."""
