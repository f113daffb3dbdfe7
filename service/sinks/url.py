"""The URL of a sink, checked where it enters; what it holds of a password is never shown."""

from urllib.parse import SplitResult, urlsplit

from hardware.address import parse_host
from streaming.errors import ConfigError


def parse_url(entry: str, example: str) -> SplitResult:
    """A URL with a host that can be named and a port that can be, or one line."""
    kind = entry.partition(":")[0]
    if not entry.isascii() or not entry.isprintable():
        raise ConfigError(f"the URL of a sink must be printable ASCII characters; write {example}")
    try:
        url = urlsplit(entry)
        port = url.port
    except ValueError as error:  # Python's own words, which repeat nothing of the URL
        raise ConfigError(f"the URL of an {kind} sink cannot be used: {error}; write {example}") from None
    parse_host(url.hostname or "", f"the host of an {kind} sink")
    if port == 0:
        raise ConfigError(f"the port of an {kind} sink is 0; write {example}")
    return url
