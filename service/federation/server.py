"""The coordinator's web server: its routes behind the same door as those of the service."""

import argparse
import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import uvicorn
from fastapi import FastAPI, Request
from starlette.types import ASGIApp

from service.federation.routes import OUTAGE, Rounds, problem_answer, router
from service.web.connections import LimitedProtocol
from service.web.middleware import Guard, Rules, is_loopback, token_in
from service.web.security import Tokens, allows
from streaming.errors import ConfigError
from training.federation.coordinator.rounds import Coordinator
from training.federation.errors import Problem

BACKLOG = 2048  # stations that may knock at once
GRACE_S = 1  # for requests that are under way when the coordinator stops


def create_coordinator(coordinator: Coordinator, rules: Rules) -> ASGIApp:
    """The application of one federation.

    Stations have tokens of their own, which the routes check; the door sees to hosts, origins, rates and
    sizes. The page needs a token of `wavetell token` as soon as there is one.
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
    if tokens.entries():
        return allows(tokens.role_of(token_in(request.headers)), "read")
    return request.client is not None and is_loopback(request.client.host)


def make_coordinator_server(
    coordinator: Coordinator, rules: Rules, values: argparse.Namespace, log_level: int
) -> uvicorn.Server:
    """A server that is ready to run; beyond this machine only with TLS."""
    if not is_loopback(values.host) and not values.tls_cert:
        raise ConfigError(f"host {values.host} is reached by other machines; set tls_cert and tls_key")
    if values.tls_clients and not values.tls_cert:
        raise ConfigError("tls_clients needs tls_cert and tls_key")
    LimitedProtocol.limit = values.max_connections
    LimitedProtocol.per_address = values.max_connections  # many stations may be behind one address
    config = uvicorn.Config(
        create_coordinator(coordinator, rules),
        http=LimitedProtocol,
        ws="none",
        log_level=log_level,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
        ssl_certfile=values.tls_cert or None,
        ssl_keyfile=values.tls_key or None,
        ssl_ca_certs=values.tls_clients or None,
        ssl_cert_reqs=ssl.CERT_REQUIRED if values.tls_clients else ssl.CERT_NONE,
        backlog=BACKLOG,
    )
    return uvicorn.Server(config)


def listen(values: argparse.Namespace) -> socket.socket:
    """The listening socket, so that the port is known (0 chooses one) before anything is said."""
    family = socket.AF_INET6 if ":" in values.host else socket.AF_INET
    try:
        return socket.create_server((values.host, values.port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise ConfigError(f"{values.host}:{values.port} cannot be listened on: {error.strerror}") from None


def coordinator_rules(coordinator: Coordinator, values: argparse.Namespace, tokens: Tokens) -> Rules:
    """What the door lets in: our names, and no body far beyond the largest update."""
    names = {values.host.lower(), "localhost", "127.0.0.1", "::1", socket.gethostname().lower()}
    names |= {name.strip().lower() for name in values.allow_names.split(",") if name.strip()}
    return Rules(
        hosts=frozenset(names),
        plugin_origins=frozenset(),
        tokens=tokens,
        open=True,
        max_body=4
        * coordinator.manifest.body_bound("float32"),  # the route refuses more exactly, and says why
        per_second=values.max_rate,
    )
