"""The web server: uvicorn with our limits, and a shutdown that lets every reader go first."""

import argparse
import socket

import uvicorn

from service.station import Station
from service.web.allowed_sources import listed
from service.web.app import create_app
from service.web.connections import LimitedProtocol
from service.web.middleware import LOOPBACK, Rules, is_loopback
from service.web.security import Tokens
from streaming.errors import ConfigError

UNSENT = 128 << 10  # bytes that may wait in a connection, beside those under way
BACKLOG = 128  # connections that may wait while the service starts
GRACE_S = 1  # for requests that are under way when the service stops


class Server(uvicorn.Server):
    """Ends live connections before it waits for them."""

    def __init__(self, config: uvicorn.Config, station: Station) -> None:
        super().__init__(config)
        self.station = station

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let the readers go, then stop."""
        self.station.hub.close()
        await super().shutdown(sockets)


def read_rules(values: argparse.Namespace, tokens: Tokens) -> Rules:
    """What the settings let in; an address that others reach needs tokens."""
    loopback = is_loopback(values.host)
    has_tokens = bool(tokens.entries())
    if not loopback and not has_tokens and values.open != "yes":
        raise ConfigError(
            f"host {values.host} is reached by other machines; "
            "make a token first (wavetell token add NAME) or set open to yes"
        )
    if bool(values.tls_cert) != bool(values.tls_key):
        raise ConfigError("tls_cert and tls_key must be set together")
    names = {values.host.lower(), *map(str.lower, listed(values.allow_names)), *LOOPBACK}
    if not loopback:
        names |= {socket.gethostname().lower(), *own_addresses()}
    return Rules(
        hosts=frozenset(names),
        plugin_origins=frozenset(listed(values.plugin_origins)),
        tokens=tokens,
        open=not has_tokens or values.open == "yes",
        max_body=values.max_body_mb << 20,
        per_second=values.max_rate,
    )


def own_addresses() -> set[str]:
    """The addresses that this machine's name stands for."""
    try:
        return {str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None)}
    except OSError:  # a machine whose name nobody knows
        return set()


def bind(values: argparse.Namespace) -> socket.socket:
    """The listening socket, so that the port is known (0 chooses one) before anything is said."""
    family = socket.AF_INET6 if ":" in values.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if hasattr(
        socket, "TCP_NOTSENT_LOWAT"
    ):  # else the kernel holds megabytes of old answers for a slow reader
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT)
    try:
        listener.bind((values.host, values.port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise ConfigError(f"{values.host}:{values.port} cannot be listened on: {error.strerror}") from None
    listener.set_inheritable(False)
    return listener


def make_server(station: Station, rules: Rules, log_level: int) -> Server:
    """A server that is ready to run."""
    values = station.values
    LimitedProtocol.limit = values.max_connections
    LimitedProtocol.per_address = max(1, values.max_connections // 2)
    config = uvicorn.Config(
        create_app(station, rules),
        http=LimitedProtocol,
        ws="websockets-sansio",
        ws_max_size=1 << 16,
        log_level=log_level,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
        ssl_certfile=values.tls_cert or None,
        ssl_keyfile=values.tls_key or None,
    )
    return Server(config, station)
