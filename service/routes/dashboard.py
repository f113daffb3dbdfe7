"""The pages for people: the dashboard at `/`, the REST interface at `/docs`."""

from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import Response
from starlette.requests import Request

from service.routes.files import Page

router = APIRouter(include_in_schema=False)
HERE = Path(__file__).parent.parent
DASHBOARD = Page(HERE / "dashboard")
# Swagger UI sets styles on its elements, and its style sheet holds its icons.
DOCS = Page(HERE / "swagger", style_src="'self' 'unsafe-inline'", img_src="'self' data:")


@router.get("/")
async def dashboard(request: Request) -> Response:
    """The dashboard."""
    return DASHBOARD.answer(request, "index.html")


@router.get("/static/{name:path}")
async def dashboard_file(request: Request, name: str) -> Response:
    """A file of the dashboard."""
    return DASHBOARD.answer(request, name)


@router.get("/docs")
async def docs(request: Request) -> Response:
    """The REST interface, with examples that can be run."""
    return DOCS.answer(request, "index.html")


@router.get("/docs/{name:path}")
async def docs_file(request: Request, name: str) -> Response:
    """A file of that page."""
    return DOCS.answer(request, name)
