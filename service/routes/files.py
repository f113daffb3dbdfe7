"""Files of a page, served from memory: no path of a request ever reaches the file system."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from fastapi.responses import Response
from starlette.requests import Request

from service.errors import NotFound

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
# Nothing from elsewhere, nothing inline: a name or label that is HTML can do nothing.
POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}


@dataclass(frozen=True)
class File:
    """One file of a page."""

    content: bytes
    media_type: str

    @property
    def etag(self) -> str:
        """Changes with the content."""
        return f'"{hashlib.sha256(self.content).hexdigest()[:32]}"'


class Page:
    """The files of a folder under one content policy; `allowed` widens it."""

    def __init__(self, folder: Path, **allowed: str) -> None:
        self.files = {
            path.relative_to(folder).as_posix(): File(path.read_bytes(), TYPES[path.suffix])
            for path in sorted(folder.rglob("*"))
            if path.suffix in TYPES
        }
        policy = POLICY | {name.replace("_", "-"): value for name, value in allowed.items()}
        self.headers = {
            # A browser asks each time whether a file is still the same: nobody runs half of an upgrade.
            "Cache-Control": "no-cache",
            "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        }

    def answer(self, request: Request, name: str) -> Response:
        """One file, or that it has not changed."""
        if name not in self.files:
            raise NotFound(f"there is no file {name!r}")
        found = self.files[name]
        headers = self.headers | {"ETag": found.etag}
        if request.headers.get("if-none-match") == found.etag:
            return Response(status_code=304, headers=headers)
        return Response(found.content, headers=headers, media_type=found.media_type)
