"""The coordinator as a station sees it over HTTP; a request is retried until it is answered.

Downloads go on where they were cut. Uploads are whole or not at all, and the same one again changes nothing.
"""

import logging
import random
import ssl
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import httpx

from streaming.backoff import Backoff
from streaming.errors import WavetellError
from training.federation.codec import sha256_of
from training.federation.errors import Problem
from training.federation.manifest import Precision
from training.federation.media import as_precision, digest_header, media_type, parameters

log = logging.getLogger(__name__)
WAIT_S = 50.0  # of a long poll
TIMEOUT_S = 30.0
# Damaged on the way, too much at once, or not the station's fault.
AGAIN = {400, 408, 429, 500, 502, 503, 504, 507}
BACKOFF_S = (0.1, 30.0)  # first and longest pause between tries


class Exchange(Protocol):
    """What a station asks of a coordinator."""

    def current(self, etag: str) -> tuple[str, dict[str, Any]] | None:
        """The round to work on with its ETag; None where it is still the one that `etag` names."""

    def fetch(self, sha256: str, precision: Precision, held: str, path: Path) -> tuple[Precision, str]:
        """Bring a model, or the step to it from `held`, into a file: its precision, and what to add it to."""

    def send(self, number: int, precision: Precision, path: Path) -> dict[str, Any]:
        """Deliver an update; its receipt. Raises Problem where the coordinator refuses it."""


class HttpExchange:
    """A coordinator behind a URL.

    Parameters
    ----------
    url
        Its address: http://host:port
    run
        The federation's name.
    station, token
        Who this is.
    patience_s
        How long the coordinator may be away.
    tls
        The certificates to trust, and the station's own where the coordinator asks for one.
    """

    def __init__(
        self,
        url: str,
        run: str,
        station: str,
        token: str,
        patience_s: float = 86_400.0,
        tls: ssl.SSLContext | bool = True,
    ) -> None:
        self.run, self.station, self.patience_s = run, station, patience_s
        headers = {"Authorization": f"Bearer {token}"}
        self.http = httpx.Client(
            base_url=url, headers=headers, timeout=TIMEOUT_S, verify=tls, trust_env=False
        )

    def current(self, etag: str) -> tuple[str, dict[str, Any]] | None:
        """See Exchange."""
        path = f"/v1/runs/{self.run}/rounds/current"
        for attempt in self._tries():
            with attempt:
                answer = self.http.get(
                    path,
                    params={"wait": WAIT_S} if etag else None,
                    headers={"If-None-Match": etag} if etag else None,
                    timeout=httpx.Timeout(TIMEOUT_S, read=WAIT_S + TIMEOUT_S),
                )
                if answer.status_code == 304:
                    return None
                check(answer)
                return answer.headers["etag"], answer.json()
        raise AssertionError

    def fetch(self, sha256: str, precision: Precision, held: str, path: Path) -> tuple[Precision, str]:
        """See Exchange; what has come of a download that was cut stays in the file."""
        for attempt in self._tries():
            with attempt:
                return self._fetch(sha256, precision, held, path)
        raise AssertionError

    def _fetch(self, sha256: str, precision: Precision, held: str, path: Path) -> tuple[Precision, str]:
        tag = path.with_suffix(".etag")  # of what the file holds a part of
        have = path.stat().st_size if path.exists() and tag.exists() else 0
        headers = {"Accept": media_type(precision, held)}
        if have:
            headers |= {"Range": f"bytes={have}-", "If-Range": tag.read_text()}
        with self.http.stream("GET", f"/v1/runs/{self.run}/models/{sha256}", headers=headers) as answer:
            if answer.status_code == 416:  # the file is whole, or not what it should be: begin again
                path.unlink()
                raise httpx.ReadError("the part that is here does not fit")
            if answer.status_code >= 300:
                answer.read()
            check(answer)
            tag.write_text(answer.headers["etag"])
            with path.open("ab" if answer.status_code == 206 else "wb") as file:
                for chunk in answer.iter_raw():
                    file.write(chunk)
        tag.unlink()
        if f'"{sha256_of(path.read_bytes())}"' != answer.headers["etag"]:
            path.unlink()
            raise httpx.ReadError("the model was damaged on its way")
        _, found = parameters(answer.headers["content-type"])
        return as_precision(found["precision"]), found.get("from", "")

    def send(self, number: int, precision: Precision, path: Path) -> dict[str, Any]:
        """See Exchange."""
        body = path.read_bytes()
        where = f"/v1/runs/{self.run}/rounds/{number}/updates/{self.station}"
        headers = {"Content-Type": media_type(precision), "Content-Digest": digest_header(sha256_of(body))}
        for attempt in self._tries():
            with attempt:
                answer = self.http.put(where, content=body, headers=headers)
                check(answer)
                return dict(answer.json())
        raise AssertionError

    def _tries(self) -> "Iterator[Attempt]":
        """Attempts until one does not fail, with growing pauses."""
        start, backoff = time.monotonic(), Backoff(*BACKOFF_S)
        for number in count():
            attempt = Attempt()
            yield attempt
            if time.monotonic() - start > self.patience_s:
                raise WavetellError(f"{self.http.base_url} cannot be reached: {attempt.error}")
            if number == 0:
                log.warning("trying again: %s", attempt.error)
            time.sleep(max(attempt.wait_s, backoff.next_s() * random.uniform(0.5, 1.0)))

    def close(self) -> None:
        """Close the connections."""
        self.http.close()


class Attempt:
    """Holds back what another try may mend."""

    error: Exception | None = None
    wait_s = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if isinstance(error, httpx.TransportError):
            self.error = error
        elif isinstance(error, Problem) and error.status in AGAIN:
            self.error, self.wait_s = error, float(error.retry_after_s or 0)
        return self.error is not None


def check(answer: httpx.Response) -> None:
    """Raise the coordinator's refusal, if it is one."""
    if answer.status_code < 300:
        return
    try:
        detail = str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        detail = f"the coordinator answered {answer.status_code}"
    wait = answer.headers.get("retry-after", "")
    raise Problem(answer.status_code, detail, int(wait) if wait.isdecimal() else None)
