"""ASGI middleware: host, origin, rate, authentication and body limits, before any route.

Host and Origin are checked because a web page anywhere can make a browser call a service on loopback: the
Host shows a rebound name, the Origin a foreign page. Then come the rate, the role, and the size and pace of
the body.
"""

import asyncio
import ipaddress
import time
from collections import OrderedDict
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.web.security import COOKIE, Role, Tokens, allows, required_role

BODY_S = 30.0  # in which a body must be complete
LOOPBACK = {"localhost", "127.0.0.1", "::1"}
CLIENTS = 10_000  # whose rate is kept


@dataclass(frozen=True)
class Rules:
    """What the middleware lets pass."""

    hosts: frozenset[str]
    plugin_origins: frozenset[str]
    tokens: Tokens
    open: bool  # no token is needed
    max_body: int = 64 << 20
    per_second: int = 200


class Refusal(Exception):
    """The answer to a request that does not reach a route."""

    def __init__(self, status: int, detail: str, headers: dict[str, str] | None = None) -> None:
        self.status, self.detail, self.headers = status, detail, headers or {}


class Begun:
    """Sends messages, and knows whether the answer has begun."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.yet = False

    async def __call__(self, message: Message) -> None:
        self.yet = True
        await self._send(message)


class Guard:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self.app, self.rules = app, rules
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # client -> tokens left, when

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            cors = self._check(scope, headers)
        except Refusal as refusal:
            answer = JSONResponse({"detail": refusal.detail}, refusal.status, refusal.headers)
            await refuse(answer, scope, receive, send)
            return
        if cors is not None and scope.get("method") == "OPTIONS":
            await Response(status_code=204, headers=cors)(scope, receive, send)
            return
        if scope["type"] == "http":
            receive, send = self._bounded(receive), with_headers(send, cors or {})
        begun = Begun(send)
        try:
            await self.app(scope, receive, begun)
        except asyncio.CancelledError:  # the service stops, and this request is still under way
            if scope["type"] == "http" and not begun.yet:
                await JSONResponse({"detail": "the service is stopping"}, 503)(scope, receive, send)
        except ClientDisconnect:  # in the middle of its body: nobody waits for an answer
            return

    def _check(self, scope: Scope, headers: Headers) -> dict[str, str] | None:
        """Refuse, or give the CORS headers of a plug-in request from an allowed page."""
        host = split_host(headers.get("host", ""))
        if host not in self.rules.hosts:
            raise Refusal(400, f"this service does not answer to the host {host!r} (setting allow_names)")
        self._count(scope["client"][0] if scope.get("client") else "")
        origin, cors = headers.get("origin"), None
        if origin is not None and not same_origin(origin, headers.get("host", "")):
            if not scope["path"].startswith("/plugins") or origin not in self.rules.plugin_origins:
                raise Refusal(403, f"pages of {origin} may not call this service")
            cors = {
                "Access-Control-Allow-Origin": origin,
                "Access-Control-Allow-Methods": "GET, POST",
                "Access-Control-Allow-Headers": "Authorization, Content-Type",
                "Vary": "Origin",
            }
            if scope.get("method") == "OPTIONS":
                return cors  # a preflight carries no token
        needed = required_role(scope.get("method", "GET"), scope["path"])
        if not self.rules.open and needed is not None:
            self._authorise(headers, needed)
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length) > self.rules.max_body:
            raise Refusal(
                413, f"the body may have at most {self.rules.max_body:,} bytes", {"Connection": "close"}
            )
        return cors

    def _authorise(self, headers: Headers, needed: Role) -> None:
        token = token_in(headers)
        role = self.rules.tokens.role_of(token) if token else None
        if role is None:
            raise Refusal(401, "a valid token is needed", {"WWW-Authenticate": "Bearer"})
        if not allows(role, needed):
            raise Refusal(403, f"this token's role is {role}; {needed} is needed")

    def _count(self, client: str) -> None:
        """A leaky bucket per client, which holds a second's requests."""
        rate, now = self.rules.per_second, time.monotonic()
        left, then = self._buckets.pop(client, (float(rate), now))
        left = min(float(rate), left + (now - then) * rate)
        self._buckets[client] = (max(0.0, left - 1), now)
        if len(self._buckets) > CLIENTS:
            self._buckets.popitem(last=False)
        if left < 1:
            raise Refusal(429, f"more than {rate} requests per second", {"Retry-After": "1"})

    def _bounded(self, receive: Receive) -> Receive:
        """Receive a body within its limits of size and time."""
        until, size, complete = time.monotonic() + BODY_S, 0, False

        async def bounded() -> Message:
            nonlocal size, complete
            if complete:  # only the end of the connection can come now, and that may take as long as it likes
                return await receive()
            try:
                async with asyncio.timeout(until - time.monotonic()):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, "the body came too slowly", {"Connection": "close"}) from None
            size += len(message.get("body", b""))
            complete = message["type"] != "http.request" or not message.get("more_body", False)
            if size > self.rules.max_body:
                raise HTTPException(
                    413, f"the body may have at most {self.rules.max_body:,} bytes", {"Connection": "close"}
                )
            return message

        return bounded


def token_in(headers: Headers) -> str:
    """The token of a request: a bearer's, or the cookie that the login set."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return cookie.value if cookie else ""


def split_host(host: str) -> str:
    """The name in a Host header, without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def same_origin(origin: str, host: str) -> bool:
    """Whether a page was served under the name that it calls."""
    try:
        return bool(host) and urlsplit(origin).netloc.lower() == host.lower()
    except ValueError:  # such as http://[x, which no browser sends
        return False


def is_loopback(host: str) -> bool:
    """Whether an address to listen on is reached from this machine only."""
    if host in LOOPBACK:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def refuse(answer: Response, scope: Scope, receive: Receive, send: Send) -> None:
    """Send an answer instead of the route's, to a WebSocket as the response to its handshake."""
    if scope["type"] == "websocket":
        await receive()
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008})
            return
        await send(
            {
                "type": "websocket.http.response.start",
                "status": answer.status_code,
                "headers": answer.raw_headers,
            }
        )
        await send({"type": "websocket.http.response.body", "body": answer.body})
        return
    await answer(scope, receive, send)


def with_headers(send: Send, extra: dict[str, str]) -> Send:
    """Add security headers to every response: no framing, no sniffing of types, no referrer."""
    fixed = {
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
    }
    added = [(name.lower().encode(), value.encode()) for name, value in (fixed | extra).items()]

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *added]
        await send(message)

    return sending
