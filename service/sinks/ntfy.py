"""Alerts as notifications: `ntfy:https://HOST/TOPIC`, a POST as ntfy and what speaks like it take it.

The body is the spectrogram, which becomes an attachment; title, text and tag are headers
(docs.ntfy.sh/publish). Without a picture the body is the text. Events are not sent.
"""

from email.header import Header

import httpx

from service.sinks.sink import Message, Notice, Sink
from service.sinks.url import parse_url
from service.sinks.webhook import TIMEOUT_S, taken
from streaming.errors import ConfigError

EXAMPLE = "ntfy:https://ntfy.sh/topic"


def open(entry: str) -> "Ntfy":
    """`ntfy:http://...` or `ntfy:https://...`; a user and password of the URL are sent as such."""
    url = entry.removeprefix("ntfy:")
    if not url.startswith(("http://", "https://")):
        raise ConfigError(f"the sink {entry.partition('?')[0]!r} is not a URL; write {EXAMPLE}")
    parse_url(url, EXAMPLE)
    try:
        return Ntfy(url)
    except httpx.InvalidURL as error:
        raise ConfigError(f"the URL of an ntfy sink cannot be used: {error}; write {EXAMPLE}") from None


class Ntfy(Sink):
    """One POST per alert."""

    def __init__(self, url: str) -> None:
        super().__init__("ntfy:" + str(httpx.URL(url).copy_with(userinfo=b"", query=None)))
        self._url = url
        self._client = httpx.Client(timeout=TIMEOUT_S)

    def put(self, event: Message) -> None:
        """Deliver an alert; nobody wants every event on a phone."""
        if isinstance(event, Notice):
            super().put(event)

    def deliver(self, event: Message) -> bool:
        """POST one alert."""
        assert isinstance(event, Notice)
        headers = {"Title": encoded(event.alert.name), "Tags": "satellite", "Idempotency-Key": event.id}
        if event.picture is None:
            return taken(self._client, self._url, event.alert.message.encode(), headers)
        more = {"Message": encoded(event.alert.message), "Filename": f"{event.id}.png"}
        return taken(self._client, self._url, event.picture, headers | more)

    def release(self) -> None:
        """Close the connection."""
        self._client.close()


def encoded(text: str) -> str:
    """A header's value: as it is, or by RFC 2047 where it is not ASCII.

    >>> encoded("gate"), encoded("Türe")
    ('gate', '=?utf-8?b?VMO8cmU=?=')
    """
    return text if text.isascii() else Header(text, "utf-8", maxlinelen=10_000).encode()
