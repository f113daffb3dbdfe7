"""The history of an earlier version is brought to this one, and no row is lost."""

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from service.storage.database import open_database
from service.storage.history import History
from service.storage.labels import LabelStore
from service.storage.queries import RunQuery, find_events, find_runs
from service.storage.schema import MIGRATIONS, migrate
from streaming.errors import ConfigError
from tests.service.servers import postgres
from tests.service.test_history import event, run

# Written by the code of version 0.1.0: three runs and three events, before there was a schema version.
OLD = Path(__file__).parent / "data" / "history-1.sqlite"
TABLES = ("runs", "events", "emissions", "alerts", "rollup", "rolled", "embeddings", "schema_version")
NEW_COLUMNS = ("family", "emission", "bandwidth_hz", "offset_hz", "centre_hz")
FOREVER_DAYS = 1_000_000


def copied_to(url):
    """The old tables and their rows in a PostgreSQL database, by the old statements."""
    database = open_database(url, OLD.parent)
    database.run([(f"DROP TABLE IF EXISTS {table}", [()]) for table in TABLES])
    with sqlite3.connect(f"file:{OLD}?mode=ro&immutable=1", uri=True) as old:
        created = [row[0] for row in old.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")]
        database.run([(statement, [()]) for statement in created])
        for table in ("runs", "events"):
            rows = old.execute(f"SELECT * FROM {table}").fetchall()
            database.run([(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)])
    old.close()
    database.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with postgres(tmp_path_factory.mktemp("pg")) as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def old_url(request, tmp_path):
    """Where a history of version 1 is."""
    if request.param == "sqlite":
        shutil.copy(OLD, tmp_path / "history.sqlite")
        return ""
    url = request.getfixturevalue("server")[0]
    copied_to(url)
    return url


def test_rows_of_the_version_before_survive_and_new_ones_have_new_columns(old_url, tmp_path):
    history = History(open_database(old_url, tmp_path), lambda _: None, FOREVER_DAYS, keep_mb=500)
    try:
        runs = find_runs(history.database, RunQuery("5ea", order="oldest")).rows
        assert [(each.label, each.snr_db) for each in runs] == [
            ("no signal", None),
            ("OOK", 21.5),
            ("2FSK", 18.0),
        ]
        assert runs[1].probabilities == {"2FSK": 0.1, "OOK": 0.9}
        assert runs[2].freq_hz == 433.92e6
        events = find_events(history.database, "5ea", 10, "").rows
        assert [(each.label, each.name) for each in events] == [
            ("2FSK", "gate"),
            ("OOK", "gate"),
            ("no signal", "gate"),
        ]
        for row in [*runs, *events]:
            assert [getattr(row, column) for column in NEW_COLUMNS] == [None] * len(NEW_COLUMNS)
        new, happened = run(0), event(0)
        history.keep(new)
        history.publish(happened)
        history.flush()
        assert find_runs(history.database, RunQuery("s")).rows == [new]
        assert find_events(history.database, "s", 10, "").rows == [happened]
        assert history.database.query("SELECT version FROM schema_version") == [(len(MIGRATIONS),)]
    finally:
        history.close()


def test_a_second_start_changes_nothing(old_url, tmp_path):
    database = open_database(old_url, tmp_path)
    migrate(database)
    before = database.query("SELECT * FROM runs ORDER BY id")
    migrate(database)
    assert database.query("SELECT * FROM runs ORDER BY id") == before
    database.close()


def test_a_migration_that_fails_leaves_the_old_tables(tmp_path, monkeypatch):
    shutil.copy(OLD, tmp_path / "history.sqlite")
    database = open_database("", tmp_path)
    broken = (*MIGRATIONS, ("ALTER TABLE nothing ADD x TEXT",))
    monkeypatch.setattr("service.storage.schema.MIGRATIONS", broken)
    with pytest.raises(sqlite3.OperationalError):
        migrate(database)
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        database.query("SELECT emission FROM runs")
    monkeypatch.undo()
    migrate(database)
    assert database.query("SELECT count(emission), count(*) FROM runs") == [(0, 3)]
    database.close()


def test_a_history_of_a_newer_version_is_refused(tmp_path):
    database = open_database("", tmp_path)
    migrate(database)
    database.run([("UPDATE schema_version SET version = 99", [()])])
    with pytest.raises(
        ConfigError, match="version 99, from a newer wavetell; this one knows versions up to 6"
    ):
        migrate(database)
    database.close()


def test_a_label_of_the_version_before_is_read_without_an_emission(tmp_path):
    kept = {"id": "1", "stream": "5ea", "label": "OOK", "start": 900, "end": 1900, "past": 900}
    kept |= {"created": "2026-01-01T00:00:00.000000Z", "rate_hz": 48_000.0, "freq_hz": None}
    kept |= {"encoder_sha256": "ab" * 32, "window": 1000, "hop": 100}
    note = {"core:sample_start": 900, "core:sample_count": 1000, "core:label": "OOK", "wavetell:label": kept}
    (tmp_path / "1.sigmf-meta").write_text(json.dumps({"global": {}, "captures": [], "annotations": [note]}))
    (label,) = LabelStore(tmp_path).list()
    new = ("emission", "bandwidth_hz", "centre_hz", "lower_hz", "upper_hz")
    assert label.model_dump() == kept | dict.fromkeys(new)
