"""The HTTP connection, with limits on how many there are and how slowly a request may begin."""

import asyncio
from collections import Counter
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 10.0  # in which a request's head must be there, counted from the connection or the request before


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
