"""The coordinator's routes: a round, its models, its updates; three requests per station and round.

`app.state.rounds` holds the coordinator; `app.state.may_look` says who may see the page and the counters.
"""

import asyncio
import hashlib
import logging
import sqlite3
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, PlainTextResponse
from starlette.requests import ClientDisconnect

from service.federation.page import metrics, page
from service.schemas.federation import Audited, CoordinatorHealth, Receipt
from training.federation.coordinator import intake
from training.federation.coordinator.rounds import Coordinator
from training.federation.errors import Problem
from training.federation.manifest import Precision
from training.federation.media import MEDIA_TYPE, as_precision, digest_in, media_type, parameters

log = logging.getLogger(__name__)
router = APIRouter()
TICK_S = 0.25
CHECKS = 2  # updates that are checked at once: what a check needs of memory is then bounded, too
OUTAGE = (OSError, sqlite3.OperationalError)  # the disk is full, most likely: it may pass


class Rounds:
    """Moves the rounds on, and wakes those who wait for the next."""

    def __init__(self, coordinator: Coordinator) -> None:
        self.coordinator = coordinator
        self.checks = asyncio.Semaphore(CHECKS)
        self.uploading: set[str] = set()
        self._due, self._changed = asyncio.Event(), asyncio.Event()

    async def run(self) -> None:
        """Do what is due, in an endless loop."""
        while True:
            try:
                changed = await run_in_threadpool(self.coordinator.tick)
            except OUTAGE as error:
                log.error("the round cannot go on, trying again: %s", error)
                changed = False
            if changed:
                self.say_spent()
                self._changed.set()
                self._changed = asyncio.Event()
                continue
            with suppress(TimeoutError):
                await asyncio.wait_for(self._due.wait(), TICK_S)
            self._due.clear()

    def say_spent(self) -> None:
        """After a round with differential privacy: print what it has spent."""
        row = self.coordinator.store.query(
            "SELECT number, note FROM rounds WHERE state = 'PUBLISHED' ORDER BY number DESC LIMIT 1"
        )
        if row and self.coordinator.terms.noise:
            print(f"wavetell: round {row[0]['number']}: {row[0]['note']}", flush=True)

    @contextmanager
    def upload(self, caller: str, station: str) -> Iterator[None]:
        """A station may write its own update, one at a time."""
        if caller != station:
            raise Problem(403, f"the token belongs to {caller}, not to {station[:64]!r}")
        if caller in self.uploading:
            raise Problem(429, f"{caller} is uploading already", retry_after_s=1)
        self.uploading.add(caller)
        try:
            yield
        finally:
            self.uploading.discard(caller)

    def nudge(self) -> None:
        """Something has happened: look at once."""
        self._due.set()

    async def until_changed(self, etag: str, seconds: float) -> str:
        """The ETag of what there is to do, once it is another one or the time is over."""
        end = asyncio.get_running_loop().time() + seconds
        while True:
            changed = self._changed
            now = self.coordinator.etag()
            left = end - asyncio.get_running_loop().time()
            if now != etag or left <= 0:
                return now
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), left)


def the_rounds(request: Request, run: str = "") -> Rounds:
    """The rounds of the run that the path names."""
    rounds: Rounds = request.app.state.rounds
    if run and run != rounds.coordinator.manifest.run:
        raise Problem(404, f"there is no run {run[:64]!r}")
    return rounds


TheRounds = Annotated[Rounds, Depends(the_rounds)]


def the_caller(request: Request, rounds: TheRounds) -> str:
    """The station whose token came with the request."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    caller = rounds.coordinator.stations.who(token.strip()) if scheme.lower() == "bearer" else None
    if caller is None:
        raise Problem(401, "a station's valid token is needed")
    return caller


Caller = Annotated[str, Depends(the_caller)]


@router.get("/v1/runs/{run}/rounds/current", response_model=None)
async def current(
    rounds: TheRounds,
    caller: Caller,
    wait: Annotated[float, Query(ge=0, le=300)] = 0,
    if_none_match: Annotated[str, Header()] = "",
) -> Response:
    """The round to work on; with If-None-Match the answer waits until there is another."""
    etag = await rounds.until_changed(if_none_match, wait)
    if etag == if_none_match:
        await run_in_threadpool(rounds.coordinator.stations.count, caller)  # one that waits is seen, too
        return Response(status_code=304, headers={"ETag": etag})
    return JSONResponse(
        rounds.coordinator.describe(caller, newcomer=not if_none_match),
        headers={"ETag": etag, "Cache-Control": "no-cache"},
    )


@router.get("/v1/runs/{run}/models/{sha256}", response_model=None)
async def model(request: Request, rounds: TheRounds, caller: Caller, sha256: str) -> Response:
    """A model, or the difference from the one that `Accept: ...; precision=int8; from=SHA256` names."""
    _, wanted = parameters(request.headers.get("accept", ""))
    precision = as_precision(wanted.get("precision", "float32"))
    held = wanted.get("from", "")
    if len(sha256) != 64 or not sha256.isalnum():
        raise Problem(404, f"there is no model {sha256[:16]!r}")
    path, kind, source = rounds.coordinator.models.find(sha256, precision, held)
    etag = f'"{path.stem}"'
    headers = {"ETag": etag, "Vary": "Accept", "Cache-Control": "private, max-age=31536000, immutable"}
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers=headers)
    first = request.headers.get("range", "").removeprefix("bytes=").partition("-")[0]
    size = path.stat().st_size - (int(first) if first.isdecimal() else 0)
    await run_in_threadpool(rounds.coordinator.stations.count, caller, down=max(0, size))
    return FileResponse(path, headers=headers, media_type=media_type(kind, source))


@router.put("/v1/runs/{run}/rounds/{number}/updates/{station}", response_model=None)
async def put_update(request: Request, rounds: TheRounds, number: int, station: str) -> Response:
    """A station's update; the same again is the same answer."""
    coordinator = rounds.coordinator
    path, chunks = coordinator.store.temporary(), request.stream()
    try:
        with rounds.upload(the_caller(request, rounds), station):
            precision, digest = check_head(request, coordinator)
            await receive(chunks, path, coordinator.manifest.body_bound(precision), digest)
            async with rounds.checks:
                status, receipt = await run_in_threadpool(
                    intake.accept, coordinator, station, number, precision, path, digest
                )
            await run_in_threadpool(coordinator.stations.count, station, up=receipt["bytes"])
    except Problem as problem:
        await run_in_threadpool(coordinator.refuse, station[:64], number, problem)
        await drain(chunks)
        return refusal(problem)
    finally:
        path.unlink(missing_ok=True)
    rounds.nudge()
    return JSONResponse(receipt, status)


@router.get("/v1/runs/{run}/rounds/{number}/updates/{station}")
async def get_receipt(rounds: TheRounds, caller: Caller, number: int, station: str) -> Receipt:
    """What became of the caller's own update."""
    if caller != station:
        raise Problem(403, f"the token belongs to {caller}, not to {station[:64]!r}")
    return Receipt(**await run_in_threadpool(intake.receipt, rounds.coordinator, station, number))


@router.get("/healthz")
async def healthz(rounds: TheRounds) -> CoordinatorHealth:
    """Whether the coordinator is up, and where it is."""
    row = rounds.coordinator.current()
    return CoordinatorHealth(status="ok", round=row["number"], state=row["state"])


def operator(request: Request) -> None:
    """Refuse whoever may not look."""
    if not request.app.state.may_look(request):
        raise Problem(401, "a token of the coordinator's operator is needed (wavetell token add)")


@router.get("/metrics", dependencies=[Depends(operator)])
async def get_metrics(rounds: TheRounds) -> PlainTextResponse:
    """Counters for Prometheus."""
    return PlainTextResponse(await run_in_threadpool(metrics, rounds.coordinator))


@router.get("/v1/audit", dependencies=[Depends(operator)])
async def audit(rounds: TheRounds, limit: Annotated[int, Query(ge=1, le=10_000)] = 100) -> list[Audited]:
    """The newest updates that were taken or refused, and why."""
    rows = rounds.coordinator.store.query("SELECT * FROM audit ORDER BY id DESC LIMIT ?", (limit,))
    return [Audited(**row) for row in rows]


@router.get("/", dependencies=[Depends(operator)])
async def home(rounds: TheRounds) -> HTMLResponse:
    """The page: stations, rounds, loss, accuracy, bytes, who was late."""
    return HTMLResponse(await run_in_threadpool(page, rounds.coordinator))


async def problem_answer(_: Request, error: Exception) -> Response:
    """The handler of refused requests, and of those that fail because the disk is full."""
    if isinstance(error, Problem):
        return refusal(error)
    log.error("a request could not be served: %s", error)
    return refusal(Problem(507, "the coordinator cannot store anything now", retry_after_s=2))


def refusal(problem: Problem) -> Response:
    """The answer to a refused request (RFC 9457)."""
    return JSONResponse(
        problem.body(),
        problem.status,
        problem.headers(),
        media_type="application/problem+json",
    )


def check_head(request: Request, coordinator: Coordinator) -> tuple[Precision, str]:
    """The precision and the digest that an upload announces, where it may come at all."""
    kind, wanted = parameters(request.headers.get("content-type", ""))
    precision = as_precision(wanted.get("precision", "float32"))
    if kind != MEDIA_TYPE or precision not in coordinator.terms.precisions:
        allowed = ", ".join(coordinator.terms.precisions)
        raise Problem(415, f"expected Content-Type {MEDIA_TYPE} with precision={allowed}")
    length, most = request.headers.get("content-length", ""), coordinator.manifest.body_bound(precision)
    if not length.isdecimal():
        raise Problem(411, "a Content-Length is needed")
    if int(length) > most:
        raise Problem(413, f"the body has {int(length):,} bytes; at most {most:,} are allowed")
    return precision, digest_in(request.headers.get("content-digest", ""))


async def drain(chunks: AsyncGenerator[bytes]) -> None:
    """Read the rest of a refused body, within the limits: a client that is cut off misses the answer."""
    with suppress(ClientDisconnect):
        async for _ in chunks:
            pass


async def receive(chunks: AsyncGenerator[bytes], path: Path, most: int, digest: str) -> None:
    """Write the body to a file and check its digest."""
    size, hashed = 0, hashlib.sha256()
    with path.open("wb") as file:
        try:
            async for chunk in chunks:
                size += len(chunk)
                if size > most:
                    raise Problem(413, f"the body has more than {most:,} bytes")
                hashed.update(chunk)
                file.write(chunk)
        except ClientDisconnect:
            raise Problem(400, "the connection ended before the body did") from None
    if hashed.hexdigest() != digest:
        raise Problem(400, "the body does not match its Content-Digest; it was damaged on its way")
