"""Tables of the history, and how those of an earlier version become them.

The table `schema_version` holds the version. A database without it is empty, or of version 1: the first
migration suits both. A migration is never changed once it is released; the next change is a new one.
"""

from service.storage.database import Database
from streaming.errors import ConfigError

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE IF NOT EXISTS runs (
            id TEXT PRIMARY KEY, stream TEXT NOT NULL, from_ns BIGINT NOT NULL, to_ns BIGINT NOT NULL,
            start_sample BIGINT NOT NULL, end_sample BIGINT NOT NULL, label TEXT NOT NULL,
            probability DOUBLE PRECISION NOT NULL, lowest DOUBLE PRECISION NOT NULL,
            probabilities TEXT NOT NULL, hops BIGINT NOT NULL, past TEXT NOT NULL, snr_db DOUBLE PRECISION,
            rate_hz DOUBLE PRECISION NOT NULL, freq_hz DOUBLE PRECISION, sha256 TEXT NOT NULL)""",
        "CREATE INDEX IF NOT EXISTS runs_by_time ON runs (stream, from_ns, id)",
        "CREATE INDEX IF NOT EXISTS runs_by_age ON runs (to_ns)",
        """CREATE TABLE IF NOT EXISTS events (
            id TEXT PRIMARY KEY, stream TEXT NOT NULL, name TEXT NOT NULL, since_ns BIGINT NOT NULL,
            label TEXT NOT NULL, previous TEXT NOT NULL, probability DOUBLE PRECISION NOT NULL,
            snr_db DOUBLE PRECISION, freq_hz DOUBLE PRECISION, start_sample BIGINT NOT NULL)""",
    ),
    # 2: the emission that a row is of, what it is and where it lies; rows of before have none.
    tuple(
        f"ALTER TABLE {table} ADD COLUMN {column}"
        for table in ("runs", "events")
        for column in (
            "family TEXT",
            "emission TEXT",
            "bandwidth_hz DOUBLE PRECISION",
            "offset_hz DOUBLE PRECISION",
            "centre_hz DOUBLE PRECISION",
        )
    ),
    # 3: one row per emission.
    (
        """CREATE TABLE emissions (
            id TEXT PRIMARY KEY, stream TEXT NOT NULL, state TEXT NOT NULL, from_ns BIGINT NOT NULL,
            to_ns BIGINT NOT NULL, start_sample BIGINT NOT NULL, end_sample BIGINT NOT NULL,
            label TEXT NOT NULL, family TEXT, probability DOUBLE PRECISION NOT NULL, nearest TEXT NOT NULL,
            lower_hz DOUBLE PRECISION NOT NULL, upper_hz DOUBLE PRECISION NOT NULL,
            snr_db DOUBLE PRECISION NOT NULL, level_db DOUBLE PRECISION NOT NULL, freq_hz DOUBLE PRECISION,
            bursts BIGINT NOT NULL, duty DOUBLE PRECISION NOT NULL, utc_ns BIGINT,
            rate_hz DOUBLE PRECISION NOT NULL, sha256 TEXT NOT NULL)""",
        "CREATE INDEX emissions_by_time ON emissions (stream, from_ns, id)",
        "CREATE INDEX emissions_by_age ON emissions (to_ns)",
    ),
    # 4: alerts of watch rules.
    (
        """CREATE TABLE alerts (
            id TEXT PRIMARY KEY, rule TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, stream TEXT,
            at_ns BIGINT NOT NULL, to_ns BIGINT NOT NULL, count BIGINT NOT NULL, emission TEXT, label TEXT,
            family TEXT, probability DOUBLE PRECISION, snr_db DOUBLE PRECISION, lower_hz DOUBLE PRECISION,
            upper_hz DOUBLE PRECISION, occupancy DOUBLE PRECISION, start_sample BIGINT, end_sample BIGINT,
            quiet BIGINT NOT NULL)""",
        "CREATE INDEX alerts_by_time ON alerts (at_ns, id)",
        "CREATE INDEX alerts_by_rule ON alerts (rule, at_ns)",
    ),
    # 5: those of a stream that were heard last; ten minutes of them in a few rows.
    (
        "CREATE INDEX emissions_by_last ON emissions (stream, to_ns, id)",
        """CREATE TABLE rollup (
            stream TEXT NOT NULL, step BIGINT NOT NULL, lower_hz DOUBLE PRECISION NOT NULL,
            upper_hz DOUBLE PRECISION NOT NULL, name TEXT NOT NULL, emissions BIGINT NOT NULL,
            on_s DOUBLE PRECISION NOT NULL)""",
        "CREATE INDEX rollup_by_step ON rollup (stream, step)",
        "CREATE TABLE rolled (stream TEXT PRIMARY KEY, step BIGINT NOT NULL)",
    ),
    # 6: what emissions look like to the encoder, apart from them so that those are still searched quickly.
    (
        """CREATE TABLE embeddings (
            id TEXT PRIMARY KEY, stream TEXT NOT NULL, to_ns BIGINT NOT NULL, vector BYTEA NOT NULL)""",
        "CREATE INDEX embeddings_by_last ON embeddings (stream, to_ns)",
        "CREATE INDEX embeddings_by_age ON embeddings (to_ns)",
    ),
)


def migrate(database: Database) -> None:
    """Bring the tables to this version, whole or not at all; stations that share a database take turns."""
    with database.exclusive() as cursor:
        cursor.execute("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)")
        row = cursor.execute("SELECT version FROM schema_version").fetchone()
        version = row[0] if row else 0
        if version > len(MIGRATIONS):
            raise ConfigError(
                f"the history is of schema version {version}, from a newer wavetell; "
                f"this one knows versions up to {len(MIGRATIONS)}"
            )
        for statement in (statement for migration in MIGRATIONS[version:] for statement in migration):
            cursor.execute(statement)
        cursor.execute("DELETE FROM schema_version")
        cursor.execute(f"INSERT INTO schema_version VALUES ({len(MIGRATIONS)})")  # noqa: S608
