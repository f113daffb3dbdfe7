"""A new model into the station's running service, through that service's own REST.

It is warmed there from what is kept of the streams, and every stream switches at one hop.
"""

from pathlib import Path

import httpx

from streaming.errors import WavetellError

PUT_S, ACTIVATE_S = 30.0, 300.0  # heads of the service's own labels are fitted again when it switches


def put_to_use(url: str, token: str, path: Path, name: str) -> None:
    """Give a running service this bundle under a name, and switch to it."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with httpx.Client(base_url=url, headers=headers, trust_env=False) as http:
        try:
            known = [model["name"] for model in http.get("/v1/models", timeout=PUT_S).json()["models"]]
            if name not in known:
                check(http.put(f"/v1/models/{name}", content=path.read_bytes(), timeout=PUT_S))
            check(http.post(f"/v1/models/{name}/activate", timeout=ACTIVATE_S))
        except (httpx.TransportError, KeyError, ValueError) as error:
            raise WavetellError(f"the service at {url} cannot be used: {error!r}") from None


def check(answer: httpx.Response) -> None:
    """Raise the service's refusal, if it is one."""
    if answer.status_code >= 300:
        raise WavetellError(f"the service refuses: {answer.text[:300]}")
