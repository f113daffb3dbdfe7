"""Where samples come from: SoapySDR, ZMQ, rtl_tcp, files; and the recorder."""

from importlib import import_module

from hardware.address import parse_address, source_address
from hardware.source import Counts, Source
from streaming.errors import ConfigError

# scheme -> module; each module has `open(address: Address) -> Source`.
SCHEMES = {
    "soapy": "hardware.soapy",
    "rtltcp": "hardware.rtltcp",
    "file": "hardware.file",
    "tone": "hardware.tone",
    "zmq": "hardware.zmq_source",
}


def open_source(address: str) -> Source:
    """Open the source that an address names.

    >>> with open_source("tone:?rate=250k&freq=433.92M") as source:
    ...     next(source.blocks()).freq_hz
    433920000.0
    """
    parsed = parse_address(address)
    if parsed.scheme not in SCHEMES:
        raise ConfigError(
            f"source {address!r} has scheme {parsed.scheme!r}; it must be one of {', '.join(SCHEMES)}"
        )
    source: Source = import_module(SCHEMES[parsed.scheme]).open(parsed)
    source.address = address
    return source


__all__ = ["SCHEMES", "Counts", "Source", "open_source", "source_address"]
