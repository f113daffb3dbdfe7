"""Refusals of the coordinator, as an HTTP status and one line (RFC 9457).

::

    WavetellError
    └── Problem          the coordinator's answer to a request that it refuses
"""

from http import HTTPStatus
from typing import Any

from streaming.errors import WavetellError


class Problem(WavetellError):
    """A refused request; `retry_after_s` says when it may work."""

    def __init__(self, status: int, detail: str, retry_after_s: int | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.retry_after_s = status, detail, retry_after_s

    def body(self) -> dict[str, Any]:
        """The JSON object of the answer."""
        return {"status": self.status, "title": HTTPStatus(self.status).phrase, "detail": self.detail}

    def headers(self) -> dict[str, str]:
        """The headers of the answer."""
        return {} if self.retry_after_s is None else {"Retry-After": str(self.retry_after_s)}
