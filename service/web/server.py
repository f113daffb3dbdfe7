"""The web server: what the settings allow, and a shutdown that disconnects every reader first."""

import socket
import ssl

import uvicorn

from service.settings import Settings, listed
from service.station import Station
from service.web.app import create_app
from service.web.connections import LimitedServer, server_config
from service.web.middleware import LOOPBACK, Rules, is_loopback
from service.web.security import Tokens
from streaming.errors import ConfigError


class Server(LimitedServer):
    """Ends live connections before it waits for them."""

    def __init__(self, config: uvicorn.Config, station: Station) -> None:
        super().__init__(config)
        self.station = station

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Disconnect the readers, then stop."""
        self.station.hub.close()
        await super().shutdown(sockets)


def read_rules(values: Settings, tokens: Tokens) -> Rules:
    """What the settings allow; an address that other machines can reach needs tokens."""
    loopback = is_loopback(values.host)
    has_tokens = tokens.needed()
    if not loopback and not has_tokens and values.open != "yes":
        raise ConfigError(
            f"host {values.host} is reached by other machines; "
            "make a token first (wavetell token add NAME) or set open to yes"
        )
    if bool(values.tls_cert) != bool(values.tls_key):
        raise ConfigError("tls_cert and tls_key must be set together")
    check_tls(values)
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


def check_tls(values: Settings) -> None:
    """Refuse a certificate that cannot be used, before anything is served."""
    if not values.tls_cert:
        return
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(values.tls_cert, values.tls_key)
    except OSError as error:  # an SSLError is one, too
        raise ConfigError(
            f"tls_cert {values.tls_cert} and tls_key {values.tls_key} cannot be used together: "
            f"{error.strerror or error}"
        ) from None


def own_addresses() -> set[str]:
    """The addresses that this machine's name stands for."""
    try:
        return {str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None)}
    except OSError:  # a machine whose name nobody knows
        return set()


def make_server(station: Station, rules: Rules, log_level: int) -> Server:
    """A server that is ready to run."""
    values = station.values
    config = server_config(
        create_app(station, rules),
        values,
        log_level,
        per_address=max(1, values.max_connections // 2),
        ws="websockets-sansio",
        ws_max_size=1 << 16,
    )
    return Server(config, station)
