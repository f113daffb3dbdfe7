"""Events and alerts to a web hook: POSTed as JSON, tried again until the receiver takes or refuses them."""

import httpx

from service.sinks.sink import Message, Sink, Unavailable
from service.sinks.url import parse_url
from streaming.errors import ConfigError

EXAMPLE = "https://example.org/hook"
TIMEOUT_S = 5.0
LATER = (408, 425, 429)  # a server that wants the same request again


def open(entry: str) -> "Webhook":
    """`http://...` or `https://...`."""
    parse_url(entry, EXAMPLE)
    try:
        return Webhook(entry)
    except httpx.InvalidURL as error:
        raise ConfigError(f"the URL of a web hook cannot be used: {error}; write {EXAMPLE}") from None


class Webhook(Sink):
    """One POST per event; its id is the idempotency key, since an answer may get lost."""

    def __init__(self, url: str) -> None:
        super().__init__(str(httpx.URL(url).copy_with(userinfo=b"", query=None)))
        self._url = url
        self._client = httpx.Client(timeout=TIMEOUT_S)

    def deliver(self, event: Message) -> bool:
        """POST one event or alert."""
        headers = {"Content-Type": "application/json", "Idempotency-Key": event.id}
        return taken(self._client, self._url, event.model_dump_json().encode(), headers)

    def release(self) -> None:
        """Close the connection."""
        self._client.close()


def taken(client: httpx.Client, url: str, content: bytes, headers: dict[str, str]) -> bool:
    """POST something; False where it will never be taken. `Unavailable`: try again later."""
    try:
        answer = client.post(url, content=content, headers=headers)
    except httpx.HTTPError as error:
        raise Unavailable(f"{type(error).__name__}: {error}") from None
    if answer.status_code >= 500 or answer.status_code in LATER:
        raise Unavailable(f"it answered {answer.status_code}")
    return answer.is_success
