"""How alike emissions are, by the embeddings that history keeps of them.

    likeness(a, b) = a.b / (|a| |b|), at least 0

where a and b are standardised as the model's own head does it. Embeddings are kept as float16, behind the
first bytes of their encoder's hash: those of another encoder cannot be compared.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.errors import NotFound
from service.live.emissions import EmissionRow
from service.storage.database import Database
from service.storage.queries import EMISSIONS
from streaming.head import Head
from streaming.prediction import UNKNOWN

KEY = 8  # bytes of the encoder's hash
MOST = 50_000  # embeddings that are compared, the newest
CANDIDATES = 500  # emissions that are grouped, the least certain
ALIKE = 0.7  # likeness of emissions that one name may label: on simulated bands 8 of 10 pairs are one family
Vectors = NDArray[np.float32]  # (n, outputs)


def pack(head: Head, embedding: NDArray[np.float32]) -> bytes:
    """An embedding as history keeps it."""
    highest = np.finfo(np.float16).max
    return key_of(head) + np.clip(embedding, -highest, highest).astype("<f2").tobytes()


def key_of(head: Head) -> bytes:
    """What begins every embedding of the head's encoder."""
    return bytes.fromhex(head.encoder_sha256)[:KEY]


@dataclass(frozen=True)
class Likeness:
    """Compares emissions of a history as a head sees them."""

    database: Database
    head: Head

    def find_alike(self, stream: str, emission: str, limit: int) -> list[tuple[EmissionRow, float]]:
        """The emissions of a stream that are most like one of them, and how alike they are."""
        _, own = self._read("stream = ? AND id = ?", [stream, emission])
        if not len(own):
            raise NotFound(f"history keeps no embedding of emission {emission} that this model can compare")
        ids, vectors = self._read(
            "stream = ? AND id <> ? ORDER BY to_ns DESC LIMIT ?", [stream, emission, MOST]
        )
        values = vectors @ own[0]
        best = np.argsort(-values, kind="stable")[:limit].tolist()
        rows = self._emissions([ids[i] for i in best])
        return [(rows[ids[i]], max(0.0, float(values[i]))) for i in best if ids[i] in rows]

    def find_uncertain(
        self, stream: str, from_ns: int, without: set[str], limit: int
    ) -> list[list[EmissionRow]]:
        """Groups of emissions that are alike, that of the least certain first."""
        sql = (
            f"{EMISSIONS} WHERE stream = ? AND to_ns > ? "
            "ORDER BY CASE WHEN label = ? THEN 0 ELSE 1 END, probability LIMIT ?"
        )
        found = self.database.query(sql, [stream, from_ns, UNKNOWN, CANDIDATES + len(without)])
        rows = {row.id: row for row in (EmissionRow(*values) for values in found) if row.id not in without}
        ids, vectors = self._read(f"id IN ({places(rows)})", list(rows))
        known = dict(zip(ids, vectors, strict=True))
        left, groups = [row for row in rows.values() if row.id in known], list[list[EmissionRow]]()
        while left and len(groups) < limit:
            near = [row for row in left if known[row.id] @ known[left[0].id] >= ALIKE]
            groups.append(near or left[:1])
            left = [row for row in left if row not in groups[-1]]
        return groups

    def _read(self, where: str, values: Sequence[object]) -> tuple[list[str], Vectors]:
        """Emissions with embeddings of the head's encoder, and those, standardised and of length one."""
        key, size = key_of(self.head), KEY + 2 * len(self.head.scale)
        rows = [
            (name, vector)
            for name, vector in self.database.query(
                f"SELECT id, vector FROM embeddings WHERE {where}",  # noqa: S608  (our own words only)
                values,
            )
            if len(vector) == size and vector[:KEY] == key
        ]
        halves = np.frombuffer(b"".join(vector[KEY:] for _, vector in rows), "<f2")
        mean, scale = self.head.mean.astype(np.float32), self.head.scale.astype(np.float32)
        z: Vectors = (halves.reshape(len(rows), len(scale)).astype(np.float32) - mean) / scale
        lengths = np.sqrt(np.einsum("ij,ij->i", z, z))
        return [name for name, _ in rows], z / np.maximum(1e-9, lengths)[:, None]

    def _emissions(self, ids: list[str]) -> dict[str, EmissionRow]:
        found = self.database.query(f"{EMISSIONS} WHERE id IN ({places(ids)})", ids)
        return {row.id: row for row in (EmissionRow(*values) for values in found)}


def places(values: Collection[str]) -> str:
    """Placeholders of a statement for this many values."""
    return ", ".join("?" * len(values)) or "NULL"
