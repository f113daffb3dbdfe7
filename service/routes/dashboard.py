"""The dashboard's own files: the page at `/`, the rest under `/static/`."""

from pathlib import Path
from typing import Any

from fastapi import APIRouter
from fastapi.responses import FileResponse
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
FILES = {
    path.relative_to(FOLDER).as_posix(): path for path in FOLDER.rglob("*") if path.suffix in TYPES
}  # all that is ever served: no path of a request reaches the file system
HEADERS = {
    # A browser asks each time whether a file is still the same: after an upgrade nobody runs half of each.
    "Cache-Control": "no-cache",
    # Nothing from elsewhere, nothing inline: a name or label that is HTML can do nothing.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}


def answer(name: str) -> FileResponse:
    """One file."""
    if name not in FILES:
        raise NotFound(f"there is no file {name!r}")
    path = FILES[name]
    return FileResponse(path, headers=HEADERS, media_type=TYPES[path.suffix])


@router.get("/", include_in_schema=False)
async def page() -> FileResponse:
    """The dashboard."""
    return answer("index.html")


@router.get("/static/{name:path}", include_in_schema=False)
async def file(name: str) -> FileResponse:
    """A file of the dashboard."""
    return answer(name)


@router.get("/v1/login", tags=["system"])
async def who_am_i(request: Request) -> dict[str, Any]:
    """Whether a token is needed here, and the role that the request's own gives; null where it gives none."""
    rules = request.app.state.rules
    role = "admin" if rules.open else rules.tokens.role_of(token_in(request.headers))
    return {"needed": not rules.open, "role": role}
