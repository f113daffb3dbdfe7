"""HTTP connections: the listening socket, and limits on their number and on how slowly a request may come."""

import asyncio
import logging
import resource
import socket
from collections import Counter
from typing import Any, ClassVar

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from service.settings import Settings
from streaming.errors import ConfigError

log = logging.getLogger(__name__)
HEAD_S = 10.0  # in which a request's head must be complete, since the connection or the request before
UNSENT = 128 << 10  # bytes that may wait in a connection, beside those under way
BACKLOG = 128  # connections that may wait
ACCEPTED = 32  # connections that asyncio accepts in one turn
TURNS = 4  # until a connection that was accepted too much is closed
RESERVE = 128  # open files for databases, sinks, recordings, child processes
PER_STREAM = 8  # open files
GRACE_S = 1  # for requests that are under way when the server stops


class LimitedProtocol(H11Protocol):
    """uvicorn's connection; `limit` and `per_address` are set once, when the service starts."""

    limit = 256
    per_address = 128
    open_by_address: ClassVar[Counter[str]] = Counter()
    refused = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection unless there are too many."""
        super().connection_made(transport)
        self._address = str((transport.get_extra_info("peername") or ("",))[0])
        self.open_by_address[self._address] += 1
        self._head_timer = self.loop.call_later(HEAD_S, self._too_slow)
        if (
            self.open_by_address.total() > self.limit
            or self.open_by_address[self._address] > self.per_address
        ):
            LimitedProtocol.refused += 1
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Count it off."""
        self._head_timer.cancel()
        self._leave()
        super().connection_lost(exc)

    def _leave(self) -> None:
        self.open_by_address[self._address] -= 1
        if not self.open_by_address[self._address]:
            del self.open_by_address[self._address]

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """The connection becomes a WebSocket: another protocol takes it over, and still counts."""
        self._head_timer.cancel()
        super().handle_websocket_upgrade(event)
        upgraded: Any = self.transport.get_protocol()
        lost = upgraded.connection_lost

        def connection_lost(exc: Exception | None) -> None:
            self._leave()
            lost(exc)

        upgraded.connection_lost = connection_lost

    def handle_events(self) -> None:
        """Stop the clock when a head is complete."""
        super().handle_events()
        if self.cycle is not None and not self.cycle.response_complete:
            self._head_timer.cancel()

    def on_response_complete(self) -> None:
        """Start the clock for the next request's head."""
        self._head_timer.cancel()
        self._head_timer = self.loop.call_later(HEAD_S, self._too_slow)
        super().on_response_complete()  # which may find the next head complete already

    def _too_slow(self) -> None:
        if not self.transport.is_closing():
            self.transport.abort()


def connection_limit(values: Settings) -> int:
    """Connections that the limit of open files leaves room for; that limit is raised as far as it may be."""
    others = TURNS * ACCEPTED + RESERVE + PER_STREAM * values.max_streams
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files < values.max_connections + others:
        files = min(most, values.max_connections + others)
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
    if files <= others:
        raise ConfigError(f"this process may open {files} files; it needs more than {others} (see ulimit -n)")
    if files - others < values.max_connections:
        log.warning(
            "max_connections is %d; %d open files leave room for %d",
            values.max_connections,
            files,
            files - others,
        )
    return min(values.max_connections, files - others)


def bind(values: Settings, backlog: int) -> socket.socket:
    """The listening socket; opened first, so that the port can be printed where 0 chose one."""
    family = socket.AF_INET6 if ":" in values.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Without it the kernel holds megabytes of old answers for a slow reader.
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT)
    try:
        listener.bind((values.host, values.port))
        listener.listen(backlog)
    except OSError as error:
        listener.close()
        raise ConfigError(f"{values.host}:{values.port} cannot be listened on: {error.strerror}") from None
    listener.set_inheritable(False)
    return listener


class LimitedServer(uvicorn.Server):
    """Accepts few connections at once, so that it can refuse them in time; more may wait."""

    def __init__(self, config: uvicorn.Config, backlog: int = BACKLOG) -> None:
        super().__init__(config)
        self.backlog = backlog

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen; asyncio has one number for what waits and what is accepted at once."""
        await super().startup(sockets)
        for each in sockets or []:
            each.listen(self.backlog)


def server_config(
    app: ASGIApp,
    values: Settings,
    log_level: int,
    *,
    per_address: int,
    **more: Any,  # noqa: ANN401  (uvicorn's own)
) -> uvicorn.Config:
    """uvicorn with our limits; at most so many connections are of one address."""
    LimitedProtocol.limit = connection_limit(values)
    LimitedProtocol.per_address = min(per_address, LimitedProtocol.limit)
    return uvicorn.Config(
        app,
        http=LimitedProtocol,
        backlog=ACCEPTED,
        log_level=log_level,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
        ssl_certfile=values.tls_cert or None,
        ssl_keyfile=values.tls_key or None,
        **more,
    )
