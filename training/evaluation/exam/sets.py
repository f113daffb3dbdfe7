"""What both kinds of exam share: recordings of sources, groups of results, running the model over a folder.

Recordings of one source share receiver and device, so a choice that was made on some of them is not judged
on others: `half` keeps every second source, in order of their names.
"""

import math
import multiprocessing as mp
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal, NamedTuple, TypeVar

from hardware import open_source
from streaming.bundle import Bundle, load_bundle
from streaming.engine import Engine, open_engine
from streaming.errors import InputError
from streaming.pipeline import choose_head
from training.evaluation.exam.emissions import FoundEmission, emissions_of

Half = Literal["even", "odd"]
EDGES_DB = (0.0, 10.0, 20.0, 30.0)
NOT_KNOWN = "not known"
RANGES = ("below 0 dB", "0 to 10 dB", "10 to 20 dB", "20 to 30 dB", "from 30 dB", NOT_KNOWN)


@dataclass(frozen=True)
class Recording:
    """A recording of a folder."""

    file: str  # within the folder
    address: str  # as a source
    source: str


class Heard(NamedTuple):
    """What was found in a recording, and the processor time that it took."""

    emissions: list[FoundEmission]
    cpu_s: float


R = TypeVar("R", bound=Recording)
T = TypeVar("T")


def half(recordings: Sequence[R], which: Half) -> list[R]:
    """The recordings of the sources with even or odd numbers, counted from 0 in order of their names."""
    names = sorted({recording.source for recording in recordings})
    kept = set(names[which == "odd" :: 2])
    return [recording for recording in recordings if recording.source in kept]


def snr_range(snr_db: float | None) -> str:
    """The range that an SNR falls into."""
    return NOT_KNOWN if snr_db is None or math.isnan(snr_db) else RANGES[bisect_right(EDGES_DB, snr_db)]


def grouped(items: Sequence[T], key: Callable[[T], str]) -> dict[str, list[T]]:
    """Items by a name, in order of the names; SNR ranges from the lowest."""
    groups: dict[str, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    order = {name: position for position, name in enumerate(RANGES)}
    return dict(sorted(groups.items(), key=lambda group: (order.get(group[0], -1), group[0])))


def listen_to(model: str, recordings: Sequence[Recording], workers: int) -> Iterator[Heard]:
    """What the model finds in each recording, in order, from so many processes."""
    addresses = [recording.address for recording in recordings]
    if workers == 1:
        yield from map(partial(find_in, model), addresses)
        return
    with ProcessPoolExecutor(workers, mp.get_context("spawn")) as pool:
        yield from pool.map(partial(find_in, model), addresses)


def find_in(model: str, address: str) -> Heard:
    """What the model finds in one recording."""
    bundle, engine = opened(model)
    began = time.process_time()
    with open_source(address) as source:
        try:
            emissions = emissions_of(bundle, engine, source.blocks())
        except InputError as error:
            raise InputError(f"{address.removeprefix('file:')}: {error}") from None
    return Heard(emissions, time.process_time() - began)


@cache
def opened(model: str) -> tuple[Bundle, Engine]:
    """The model, once per process."""
    bundle = load_bundle(model)
    return bundle, open_engine(bundle.encoder, hop=choose_head(bundle, "", "live").hop)
