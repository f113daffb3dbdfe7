"""The coordinator's web server: its routes behind the same middleware as those of the service."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from fastapi import FastAPI, Request
from starlette.types import ASGIApp

from service.federation.routes import OUTAGE, Rounds, problem_answer, router
from service.settings import Settings, listed
from service.web.connections import LimitedServer, server_config
from service.web.middleware import Guard, Rules, is_loopback, token_in
from service.web.security import Tokens, allows
from streaming.errors import ConfigError
from training.federation.coordinator.rounds import Coordinator
from training.federation.errors import Problem

BACKLOG = 2048  # stations whose connection may wait to be accepted


def create_coordinator(coordinator: Coordinator, rules: Rules) -> ASGIApp:
    """The application of one federation.

    Stations have tokens of their own, which the routes check; the middleware checks hosts, origins, rates
    and sizes. The page needs a token of `wavetell token` as soon as there is one.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.rounds = Rounds(coordinator)
        task = asyncio.create_task(app.state.rounds.run())
        yield
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        coordinator.close()

    app = FastAPI(title="wavetell federation", lifespan=lifespan)
    app.state.may_look = lambda request: may_look(request, rules.tokens)
    app.include_router(router)
    for error in (Problem, *OUTAGE):
        app.add_exception_handler(error, problem_answer)
    return Guard(app, rules)


def may_look(request: Request, tokens: Tokens) -> bool:
    """Whether the page may be shown: to this machine without tokens, to others with one."""
    if tokens.needed():
        return allows(tokens.role_of(token_in(request.headers)), "read")
    return request.client is not None and is_loopback(request.client.host)


def make_coordinator_server(
    coordinator: Coordinator, rules: Rules, values: Settings, tls_clients: str, log_level: int
) -> LimitedServer:
    """A server that is ready to run; other machines are served only with TLS."""
    if not is_loopback(values.host) and not values.tls_cert:
        raise ConfigError(f"host {values.host} is reached by other machines; set tls_cert and tls_key")
    if tls_clients and not values.tls_cert:
        raise ConfigError("tls_clients needs tls_cert and tls_key")
    config = server_config(
        create_coordinator(coordinator, rules),
        values,
        log_level,
        per_address=values.max_connections,  # many stations may be behind one address
        ws="none",
        ssl_ca_certs=tls_clients or None,
        ssl_cert_reqs=ssl.CERT_REQUIRED if tls_clients else ssl.CERT_NONE,
    )
    return LimitedServer(config, BACKLOG)


def coordinator_rules(coordinator: Coordinator, values: Settings, tokens: Tokens) -> Rules:
    """What the middleware allows: our names, and no body far beyond the largest update."""
    names = {values.host.lower(), "localhost", "127.0.0.1", "::1", socket.gethostname().lower()}
    names |= set(map(str.lower, listed(values.allow_names)))
    return Rules(
        hosts=frozenset(names),
        plugin_origins=frozenset(),
        tokens=tokens,
        open=True,
        # The route checks the exact size, and says why it refuses.
        max_body=4 * coordinator.manifest.body_bound("float32"),
        per_second=values.max_rate,
    )
