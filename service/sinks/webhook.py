"""Events to a web hook: POSTed as JSON, tried again until the other side takes or refuses them."""

from typing import Any

import httpx

from service.sinks.sink import Away, Sink

TIMEOUT_S = 5.0
LATER = (408, 425, 429)  # what a server says that wants the same again


def open(entry: str) -> "Webhook":
    """`http://...` or `https://...`."""
    return Webhook(entry)


class Webhook(Sink):
    """One POST an event; its id is the idempotency key, since an answer may get lost."""

    def __init__(self, url: str) -> None:
        super().__init__(str(httpx.URL(url).copy_with(userinfo=b"", query=None)))
        self._url = url
        self._client = httpx.Client(timeout=TIMEOUT_S)

    def deliver(self, event: dict[str, Any]) -> bool:
        """POST one event."""
        try:
            answer = self._client.post(self._url, json=event, headers={"Idempotency-Key": event["id"]})
        except httpx.HTTPError as error:
            raise Away(f"{type(error).__name__}: {error}") from None
        if answer.status_code >= 500 or answer.status_code in LATER:
            raise Away(f"it answered {answer.status_code}")
        return answer.is_success

    def release(self) -> None:
        """Close the connection."""
        self._client.close()
