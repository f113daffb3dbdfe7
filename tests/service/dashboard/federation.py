"""Folders as `wavetell coordinator` and `wavetell join` leave them after some rounds."""

import json
import time

import numpy as np

from training.federation.coordinator.rounds import Coordinator
from training.federation.manifest import Manifest, Terms

STATIONS = ("north-tower", "south-tower")
ROUND = """INSERT OR REPLACE INTO rounds (number, generation, state, opened, deadline, closed)
    VALUES (?, ?, 'PUBLISHED', ?, ?, ?)"""
UPDATE = """INSERT INTO updates (round, station, bytes, examples, loss, accuracy, state)
    VALUES (?, ?, 994000, 100, ?, ?, 'aggregated')"""


def make_federation(folder):
    """The coordinator's folder, and that of station north-tower."""
    manifest = Manifest("main", {"weight": (2,)}, rounds=10)
    model = {"weight": np.zeros(2, np.float32)}
    coordinator = Coordinator.create(folder / "run", manifest, Terms(), model)
    now = time.time()
    for name in STATIONS:
        coordinator.stations.add(name)
        coordinator.stations.count(name, up=2_000_000, down=3_000_000)
    for number in (1, 2, 3):
        coordinator.store.run((ROUND, (number, number, now - 60 / number, now, now - 50 / number)))
        for name in STATIONS:
            coordinator.store.run((UPDATE, (number, name, 1 / number, 0.5 + number / 10)))
    coordinator.close()
    status = {"name": "north-tower", "url": "http://127.0.0.1:8434", "run": "main", "quorum": 2}
    status |= {"round": 4, "state": "open", "seen": "2026-01-01T00:00:00Z"}
    status |= {"deadline": "2026-01-01T00:10:00+00:00"}
    status |= {"last": {"round": 3, "state": "aggregated", "reason": ""}}
    (folder / "station").mkdir()
    (folder / "station" / "status.json").write_text(json.dumps(status))
    return folder / "run", folder / "station"
