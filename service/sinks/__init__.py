"""Where events go: each sink has its own thread and bounded queue, so that a dead one does not delay others.

The setting `sinks` lists them: `stdout`, `file:PATH`, `mqtt://HOST/PREFIX`, `http://...` or `https://...`;
for alerts alone `ntfy:https://HOST/TOPIC`.
"""

from importlib import import_module

from service.settings import listed
from service.sinks.sink import Sink
from streaming.errors import ConfigError

# how an entry begins -> module; each module has `open(entry: str) -> Sink`.
KINDS = {
    "stdout": "service.sinks.lines",
    "file:": "service.sinks.lines",
    "mqtt:": "service.sinks.mqtt",
    "mqtts:": "service.sinks.mqtt",
    "http:": "service.sinks.webhook",
    "https:": "service.sinks.webhook",
    "ntfy:": "service.sinks.ntfy",
}


def open_sinks(setting: str) -> list[Sink]:
    """The sinks that a setting lists, running."""
    sinks = []
    for entry in listed(setting):
        module = next((module for begin, module in KINDS.items() if entry.startswith(begin)), None)
        if module is None:
            raise ConfigError(f"sink {entry!r} must begin with {', '.join(KINDS)}")
        sink: Sink = import_module(module).open(entry)
        sink.start()
        sinks.append(sink)
    return sinks


__all__ = ["Sink", "open_sinks"]
