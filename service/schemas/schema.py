"""The base of every answer of the REST interface."""

from typing import Any

from pydantic import BaseModel, ConfigDict


class Schema(BaseModel):
    """An object with these fields and no others."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


def returns(schema: Any, status: int = 200, **more: Any) -> dict[str, Any]:  # noqa: ANN401  (whatever a schema can be made of)
    """Arguments of a route that answers in this schema."""
    return {"response_model": None, "status_code": status, "responses": {status: {"model": schema} | more}}
