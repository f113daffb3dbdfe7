"""The dashboard's own files: the page at `/`, the rest under `/static/`."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response
from starlette.requests import Request

from service.errors import NotFound
from service.guard import token_in

router = APIRouter()
FOLDER = Path(__file__).parent.parent / "dashboard"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
HEADERS = {
    # A browser asks each time whether a file is still the same: after an upgrade nobody runs half of each.
    "Cache-Control": "no-cache",
    # Nothing from elsewhere, nothing inline: a name or label that is HTML can do nothing.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}


@dataclass(frozen=True)
class File:
    """A file of the page, in memory: no path of a request ever reaches the file system."""

    content: bytes
    media_type: str

    @property
    def etag(self) -> str:
        """Changes with the content."""
        return f'"{hashlib.sha256(self.content).hexdigest()[:32]}"'


FILES = {
    path.relative_to(FOLDER).as_posix(): File(path.read_bytes(), TYPES[path.suffix])
    for path in sorted(FOLDER.rglob("*"))
    if path.suffix in TYPES
}


@router.get("/", include_in_schema=False)
async def page(request: Request) -> Response:
    """The dashboard."""
    return answer(request, "index.html")


@router.get("/static/{name:path}", include_in_schema=False)
async def file(request: Request, name: str) -> Response:
    """A file of the dashboard."""
    return answer(request, name)


def answer(request: Request, name: str) -> Response:
    """One file, or that it has not changed."""
    if name not in FILES:
        raise NotFound(f"there is no file {name!r}")
    found = FILES[name]
    headers = HEADERS | {"ETag": found.etag}
    if request.headers.get("if-none-match") == found.etag:
        return Response(status_code=304, headers=headers)
    return Response(found.content, headers=headers, media_type=found.media_type)


@router.get("/v1/login", tags=["system"])
async def who_am_i(request: Request) -> dict[str, Any]:
    """Whether a token is needed here, and the role that the request's own gives; null where it gives none."""
    rules = request.app.state.rules
    role = "admin" if rules.open else rules.tokens.role_of(token_in(request.headers))
    return {"needed": not rules.open, "role": role}
