"""The coordinator as a station sees it in the same process: everything but the sockets."""

import shutil
from pathlib import Path
from typing import Any

from training.federation.codec import sha256_of
from training.federation.coordinator import intake
from training.federation.coordinator.rounds import Coordinator
from training.federation.manifest import Precision


class LocalExchange:
    """A coordinator in the same process."""

    def __init__(self, coordinator: Coordinator, station: str) -> None:
        self.coordinator, self.station = coordinator, station

    def current(self, etag: str) -> tuple[str, dict[str, Any]] | None:
        """See Exchange; there is nothing to wait for."""
        now = self.coordinator.etag()
        return None if now == etag else (now, self.coordinator.describe(self.station, not etag))

    def fetch(self, sha256: str, precision: Precision, held: str, path: Path) -> tuple[Precision, str]:
        """See Exchange."""
        found, kind, source = self.coordinator.models.find(sha256, precision, held)
        shutil.copyfile(found, path)
        self.coordinator.stations.count(self.station, down=path.stat().st_size)
        return kind, source

    def send(self, number: int, precision: Precision, path: Path) -> dict[str, Any]:
        """See Exchange."""
        body = path.read_bytes()
        temporary = self.coordinator.store.temporary()
        temporary.write_bytes(body)
        receipt = intake.accept(
            self.coordinator, self.station, number, precision, temporary, sha256_of(body)
        )[1]
        self.coordinator.stations.count(self.station, up=len(body))
        self.coordinator.tick()
        return receipt
