"""SQL schema as an ordered list of steps; a database stores the number of steps applied."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa

from proxy.errors import ConfigError

# Each step is a list of SQL statements and never changes after its release; a change is a new step at the end. Names
# in braces are the words in which the two engines differ. Tests compare the result with the tables in the code.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE sessions (
            owner TEXT NOT NULL, id TEXT NOT NULL, agent TEXT NOT NULL, name TEXT NOT NULL, name_hash TEXT NOT NULL,
            created_ms BIGINT NOT NULL, last_ms BIGINT NOT NULL, ended_ms BIGINT, turns INTEGER NOT NULL,
            PRIMARY KEY (owner, id))""",
        "CREATE INDEX sessions_name ON sessions (owner, agent, name_hash)",
        """CREATE TABLE chain (
            owner TEXT NOT NULL, agent TEXT NOT NULL, hash TEXT NOT NULL, session TEXT NOT NULL,
            seq INTEGER NOT NULL, learned INTEGER NOT NULL, at_ms BIGINT NOT NULL,
            PRIMARY KEY (owner, agent, hash, session)) {clustered}""",
        """CREATE TABLE ledger (
            owner TEXT NOT NULL, session TEXT NOT NULL, anchor TEXT NOT NULL, kind TEXT NOT NULL,
            text TEXT NOT NULL, memory_ids {blob} NOT NULL,
            PRIMARY KEY (owner, session, anchor, kind))""",
        """CREATE TABLE receipts (
            owner TEXT NOT NULL, id TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL,
            created_ms BIGINT NOT NULL, body {blob} NOT NULL,
            PRIMARY KEY (owner, id))""",
        "CREATE INDEX receipts_created ON receipts (created_ms)",
        """CREATE TABLE journal (
            seq {serial}, owner TEXT NOT NULL, tenant TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL,
            turn TEXT NOT NULL, kind TEXT NOT NULL, stage INTEGER NOT NULL, payload {blob}, plan {blob},
            due_ms BIGINT NOT NULL, created_ms BIGINT NOT NULL, done_ms BIGINT, attempts INTEGER NOT NULL,
            error TEXT NOT NULL,
            UNIQUE (owner, session, turn))""",
        "CREATE INDEX journal_due ON journal (due_ms, stage, owner) WHERE stage < 2",
        "CREATE INDEX journal_open ON journal (owner, seq) WHERE stage < 2",
        "CREATE INDEX journal_dead ON journal (owner, seq) WHERE stage = 9",
        "CREATE INDEX journal_done ON journal (done_ms) WHERE stage = 2 AND payload IS NOT NULL",
        """CREATE TABLE leases (
            owner TEXT NOT NULL PRIMARY KEY, holder TEXT NOT NULL, until_ms BIGINT NOT NULL) {clustered}""",
        """CREATE TABLE history (
            seq {serial}, owner TEXT NOT NULL, memory TEXT NOT NULL, digest TEXT NOT NULL, agent TEXT NOT NULL,
            action TEXT NOT NULL, reason TEXT NOT NULL, turn TEXT NOT NULL, at_ms BIGINT NOT NULL, before {blob},
            after {blob} NOT NULL,
            UNIQUE (owner, memory, digest))""",
        """CREATE TABLE keys (
            id TEXT NOT NULL PRIMARY KEY, hash TEXT NOT NULL UNIQUE, prefix TEXT NOT NULL, tenant TEXT NOT NULL,
            bound_user TEXT NOT NULL, may_name_users BOOLEAN NOT NULL, created_ms BIGINT NOT NULL, revoked_ms BIGINT,
            note TEXT NOT NULL)""",
    ),
    (
        """CREATE TABLE replies (
            owner TEXT NOT NULL, agent TEXT NOT NULL, id_hash TEXT NOT NULL, session TEXT NOT NULL,
            parent TEXT NOT NULL, state TEXT NOT NULL, seq INTEGER NOT NULL, anchors {blob} NOT NULL,
            deployment TEXT NOT NULL, at_ms BIGINT NOT NULL,
            PRIMARY KEY (owner, agent, id_hash))""",
        "CREATE INDEX replies_session ON replies (owner, session)",
    ),
    (
        "ALTER TABLE keys ADD COLUMN requests_per_minute BIGINT",
        "ALTER TABLE keys ADD COLUMN tokens_per_minute BIGINT",
        "ALTER TABLE keys ADD COLUMN concurrent_streams BIGINT",
        "ALTER TABLE keys ADD COLUMN body_bytes BIGINT",
        "ALTER TABLE keys ADD COLUMN models {blob}",
    ),
    (
        """CREATE TABLE media (
            owner TEXT NOT NULL, id TEXT NOT NULL, tenant TEXT NOT NULL, agent TEXT NOT NULL, kind TEXT NOT NULL,
            sha256 TEXT NOT NULL, status TEXT NOT NULL, created_ms BIGINT NOT NULL, due_ms BIGINT NOT NULL,
            holder TEXT NOT NULL, until_ms BIGINT NOT NULL, attempts INTEGER NOT NULL, body {blob} NOT NULL,
            PRIMARY KEY (owner, id), UNIQUE (owner, agent, sha256))""",
        "CREATE INDEX media_due ON media (due_ms) WHERE status = 'processing'",
        """CREATE TABLE files (
            owner TEXT NOT NULL, id TEXT NOT NULL, agent TEXT NOT NULL, media TEXT NOT NULL, name TEXT NOT NULL,
            purpose TEXT NOT NULL, size_bytes BIGINT NOT NULL, created_ms BIGINT NOT NULL,
            is_forwarded BOOLEAN NOT NULL,
            PRIMARY KEY (owner, id))""",
        "CREATE INDEX files_media ON files (owner, media)",
    ),
    (
        """CREATE TABLE compactions (
            owner TEXT NOT NULL, session TEXT NOT NULL, anchor TEXT NOT NULL, host TEXT NOT NULL, kept {blob} NOT NULL,
            segments {blob} NOT NULL, used INTEGER NOT NULL, at_ms BIGINT NOT NULL,
            PRIMARY KEY (owner, session, anchor))""",
    ),
    (
        "ALTER TABLE sessions ADD COLUMN arrived_ms BIGINT",
        "CREATE INDEX sessions_open ON sessions (arrived_ms) WHERE ended_ms IS NULL",
    ),
    (
        """CREATE TABLE costs (
            owner TEXT NOT NULL, session TEXT NOT NULL, kind TEXT NOT NULL, tokens BIGINT NOT NULL,
            nano_usd BIGINT NOT NULL,
            PRIMARY KEY (owner, session, kind))""",
    ),
    ("ALTER TABLE keys ADD COLUMN offers_recall BOOLEAN",),
    ("ALTER TABLE replies ADD COLUMN inside {blob}",),
    (  # lost compactions are made again when a session continues
        "DROP TABLE compactions",
        """CREATE TABLE compactions (
            owner TEXT NOT NULL, session TEXT NOT NULL, window_tokens INTEGER NOT NULL, anchor TEXT NOT NULL,
            host TEXT NOT NULL, kept {blob} NOT NULL, segments {blob} NOT NULL, used INTEGER NOT NULL,
            at_ms BIGINT NOT NULL,
            PRIMARY KEY (owner, session, window_tokens, anchor))""",
    ),
    (
        """CREATE TABLE uses (
            owner TEXT NOT NULL, memory TEXT NOT NULL, uses INTEGER NOT NULL, last_ms BIGINT NOT NULL,
            PRIMARY KEY (owner, memory)) {clustered}""",
    ),
    (
        "ALTER TABLE sessions ADD COLUMN is_pruned BOOLEAN",
        "CREATE INDEX sessions_whole ON sessions (arrived_ms) WHERE is_pruned IS NULL",
    ),
    (
        "CREATE TABLE stamps (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)",
        """CREATE TABLE incidents (
            seq {serial}, owner TEXT NOT NULL, part TEXT NOT NULL, text TEXT NOT NULL, place TEXT NOT NULL,
            restored INTEGER NOT NULL, lost INTEGER, at_ms BIGINT NOT NULL, seen_ms BIGINT)""",
        "CREATE INDEX incidents_owner ON incidents (owner)",
    ),
    (
        """CREATE TABLE handed (
            owner TEXT NOT NULL, agent TEXT NOT NULL, id_hash TEXT NOT NULL, at_ms BIGINT NOT NULL,
            PRIMARY KEY (owner, agent, id_hash)) {clustered}""",
        "CREATE INDEX handed_at ON handed (at_ms)",
    ),
    (
        """CREATE TABLE jobs (
            owner TEXT NOT NULL, id TEXT NOT NULL, tenant TEXT NOT NULL, agent TEXT NOT NULL, status TEXT NOT NULL,
            created_ms BIGINT NOT NULL, holder TEXT NOT NULL, until_ms BIGINT NOT NULL, attempts INTEGER NOT NULL,
            body {blob} NOT NULL,
            PRIMARY KEY (owner, id))""",
        "CREATE INDEX jobs_open ON jobs (created_ms) WHERE status IN ('queued', 'running')",
    ),
    (
        """CREATE TABLE projects (
            owner TEXT NOT NULL, id TEXT NOT NULL, agent TEXT NOT NULL, name TEXT NOT NULL, created_ms BIGINT NOT NULL,
            last_ms BIGINT NOT NULL,
            PRIMARY KEY (owner, id))""",
        """CREATE TABLE agents (
            owner TEXT NOT NULL, id TEXT NOT NULL, agent TEXT NOT NULL, name TEXT NOT NULL,
            capabilities {blob} NOT NULL, is_private BOOLEAN NOT NULL, created_ms BIGINT NOT NULL, last_ms BIGINT,
            PRIMARY KEY (owner, id))""",
        """CREATE TABLE quarantine (
            owner TEXT NOT NULL, id TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL, kind TEXT NOT NULL,
            target TEXT NOT NULL, reason TEXT NOT NULL, found_by TEXT NOT NULL, created_ms BIGINT NOT NULL,
            PRIMARY KEY (owner, id), UNIQUE (owner, target))""",
    ),
    ("ALTER TABLE keys ADD COLUMN is_operator BOOLEAN",),
    (
        "ALTER TABLE keys ADD COLUMN takes_commands BOOLEAN",
        """CREATE TABLE silenced (
            owner TEXT NOT NULL, session TEXT NOT NULL, agent TEXT NOT NULL, at_ms BIGINT NOT NULL,
            PRIMARY KEY (owner, session))""",
    ),
    (
        """CREATE TABLE bindings (
            owner TEXT NOT NULL, signature TEXT NOT NULL, session TEXT NOT NULL, client TEXT NOT NULL,
            sent TEXT NOT NULL, is_dropped INTEGER NOT NULL, at_ms BIGINT NOT NULL,
            PRIMARY KEY (owner, signature)) {clustered}""",
        "CREATE INDEX bindings_session ON bindings (owner, session)",
        "ALTER TABLE ledger ADD COLUMN apart INTEGER",
    ),
    ("CREATE INDEX receipts_owner ON receipts (owner, created_ms)",),
    (
        """CREATE TABLE destructions (
            owner TEXT NOT NULL, noun TEXT NOT NULL, id TEXT NOT NULL, tenant TEXT NOT NULL, agent TEXT NOT NULL,
            is_done INTEGER NOT NULL, at_ms BIGINT NOT NULL, PRIMARY KEY (owner, noun, id)) {clustered}""",
    ),
    (
        "ALTER TABLE keys ADD COLUMN teams {blob}",
        """CREATE TABLE shares (
            owner TEXT NOT NULL, id TEXT NOT NULL, team TEXT NOT NULL, tenant TEXT NOT NULL, agent TEXT NOT NULL,
            memory TEXT NOT NULL, author TEXT NOT NULL, at_ms BIGINT NOT NULL,
            PRIMARY KEY (owner, id), UNIQUE (team, owner, memory))""",
    ),
    (
        "ALTER TABLE receipts ADD COLUMN holder TEXT",
        "CREATE INDEX receipts_holder ON receipts (holder, created_ms) WHERE holder IS NOT NULL",
    ),
    (
        "ALTER TABLE chain ADD COLUMN pair TEXT",
        "ALTER TABLE chain ADD COLUMN before TEXT",
        "ALTER TABLE chain ADD COLUMN rest TEXT",
        "CREATE INDEX chain_pair ON chain (owner, agent, pair) WHERE pair IS NOT NULL",
    ),
)

_WORDS = {
    "sqlite": {"blob": "BLOB", "serial": "INTEGER PRIMARY KEY AUTOINCREMENT", "clustered": "WITHOUT ROWID"},
    "postgresql": {"blob": "BYTEA", "serial": "BIGSERIAL PRIMARY KEY", "clustered": ""},
}


def migrate(connection: sa.Connection, exclude: Callable[[sa.Connection], None]) -> int:
    """Apply the steps that the database lacks; return its version.

    Args:
        connection: Connection in a write transaction, so that all steps are applied or none.
        exclude: Function that locks migrations for other processes.

    Raises:
        ConfigError: If a newer version of Throughline has migrated the database further.
    """
    exclude(connection)
    connection.exec_driver_sql("CREATE TABLE IF NOT EXISTS meta (version INTEGER NOT NULL)")
    version = connection.exec_driver_sql("SELECT max(version) FROM meta").scalar() or 0
    if version > len(MIGRATIONS):
        raise ConfigError(f"the database has schema {version}, newer than this program ({len(MIGRATIONS)}); upgrade it")
    words = _WORDS[connection.dialect.name]
    for step in MIGRATIONS[version:]:
        for statement in step:
            connection.exec_driver_sql(statement.format(**words))
    if version < len(MIGRATIONS):
        connection.exec_driver_sql("DELETE FROM meta")
        connection.execute(sa.text("INSERT INTO meta (version) VALUES (:version)"), {"version": len(MIGRATIONS)})
    return len(MIGRATIONS)
