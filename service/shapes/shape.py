"""An object of a documented answer, and the routes that answer with one."""

from typing import Any

from pydantic import BaseModel, ConfigDict


class Shape(BaseModel):
    """An object with these fields and no others."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


def returns(shape: Any, status: int = 200, **more: Any) -> dict[str, Any]:  # noqa: ANN401  (whatever a schema can be made of)
    """Arguments of a route that answers in this shape."""
    return {"response_model": None, "status_code": status, "responses": {status: {"model": shape} | more}}
