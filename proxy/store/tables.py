"""SQL tables for SQLAlchemy; ``migrations`` creates them, and a test compares the two."""

from __future__ import annotations

import sqlalchemy as sa

from proxy.store.codec import Json, Text

metadata = sa.MetaData()

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("owner", sa.Text, primary_key=True),
    sa.Column("id", Text, primary_key=True),
    sa.Column("agent", sa.Text, nullable=False),
    sa.Column("name", Text, nullable=False),
    sa.Column("name_hash", sa.Text, nullable=False),  # names may be too long for an index
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Column("last_ms", sa.BigInteger, nullable=False),
    sa.Column("ended_ms", sa.BigInteger),
    sa.Column("turns", sa.Integer, nullable=False),
    sa.Column("arrived_ms", sa.BigInteger),  # last use by the server's clock; replayed sessions have other times
    sa.Column("is_pruned", sa.Boolean),  # identification data was deleted after long disuse
)
chain = sa.Table(
    "chain",
    metadata,
    sa.Column("owner", sa.Text, primary_key=True),
    sa.Column("agent", sa.Text, primary_key=True),
    sa.Column("hash", Text, primary_key=True),
    sa.Column("session", Text, primary_key=True),
    sa.Column("seq", sa.Integer, nullable=False),
    sa.Column("learned", sa.Integer, nullable=False),
    sa.Column("at_ms", sa.BigInteger, nullable=False),
    sa.Column("pair", Text),  # hash of this message and the previous one; null if unknown
    sa.Column("before", Text),
    sa.Column("rest", Text),  # part of the chain's state that follows the hash
)
ledger = sa.Table(
    "ledger",
    metadata,
    sa.Column("owner", sa.Text, primary_key=True),
    sa.Column("session", Text, primary_key=True),
    sa.Column("anchor", Text, primary_key=True),
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("text", Text, nullable=False),
    sa.Column("memory_ids", Json, nullable=False),
    sa.Column("apart", sa.Integer),  # whether it was a separate content part; null if unknown
)
compactions = sa.Table(
    "compactions",
    metadata,
    sa.Column("owner", sa.Text, primary_key=True),
    sa.Column("session", Text, primary_key=True),
    sa.Column("window_tokens", sa.Integer, primary_key=True),
    sa.Column("anchor", Text, primary_key=True),
    sa.Column("host", Text, nullable=False),
    sa.Column("kept", Json, nullable=False),
    sa.Column("segments", Json, nullable=False),
    sa.Column("used", sa.Integer, nullable=False),
    sa.Column("at_ms", sa.BigInteger, nullable=False),
)
costs = sa.Table(
    "costs",
    metadata,
    sa.Column("owner", sa.Text, primary_key=True),
    sa.Column("session", Text, primary_key=True),
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("tokens", sa.BigInteger, nullable=False),
    sa.Column("nano_usd", sa.BigInteger, nullable=False),
)
replies = sa.Table(
    "replies",
    metadata,
    sa.Column("owner", sa.Text, primary_key=True),
    sa.Column("agent", sa.Text, primary_key=True),
    sa.Column("id_hash", sa.Text, primary_key=True),
    sa.Column("session", Text, nullable=False),
    sa.Column("parent", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("seq", sa.Integer, nullable=False),
    sa.Column("anchors", Json, nullable=False),
    sa.Column("deployment", Text, nullable=False),
    sa.Column("at_ms", sa.BigInteger, nullable=False),
    sa.Column("inside", Json),  # after recall-tool rounds: provider's id of its last part, ids of open calls
)
bindings = sa.Table(
    "bindings",
    metadata,
    sa.Column("owner", sa.Text, primary_key=True),
    sa.Column("signature", sa.Text, primary_key=True),
    sa.Column("session", Text, nullable=False),
    sa.Column("client", sa.Text, nullable=False),
    sa.Column("sent", sa.Text, nullable=False),
    sa.Column("is_dropped", sa.Integer, nullable=False),
    sa.Column("at_ms", sa.BigInteger, nullable=False),
)
receipts = sa.Table(
    "receipts",
    metadata,
    sa.Column("owner", sa.Text, primary_key=True),
    sa.Column("id", Text, primary_key=True),
    sa.Column("agent", sa.Text, nullable=False),
    sa.Column("session", Text, nullable=False),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Column("body", Json, nullable=False),
    sa.Column("holder", sa.Text),  # the request's key; null if unknown
)
uses = sa.Table(
    "uses",
    metadata,
    sa.Column("owner", sa.Text, primary_key=True),
    sa.Column("memory", Text, primary_key=True),
    sa.Column("uses", sa.Integer, nullable=False),
    sa.Column("last_ms", sa.BigInteger, nullable=False),
)
journal = sa.Table(
    "journal",
    metadata,
    sa.Column("seq", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("tenant", sa.Text, nullable=False),
    sa.Column("agent", sa.Text, nullable=False),
    sa.Column("session", Text, nullable=False),
    sa.Column("turn", Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("stage", sa.Integer, nullable=False),
    sa.Column("payload", sa.LargeBinary),
    sa.Column("plan", Json),
    sa.Column("due_ms", sa.BigInteger, nullable=False),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Column("done_ms", sa.BigInteger),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("error", Text, nullable=False),
)
leases = sa.Table(
    "leases",
    metadata,
    sa.Column("owner", sa.Text, primary_key=True),
    sa.Column("holder", sa.Text, nullable=False),
    sa.Column("until_ms", sa.BigInteger, nullable=False),
)
history = sa.Table(
    "history",
    metadata,
    sa.Column("seq", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
    sa.Column("owner", sa.Text, nullable=False),
    sa.Column("memory", Text, nullable=False),
    sa.Column("digest", sa.Text, nullable=False),
    sa.Column("agent", sa.Text, nullable=False),
    sa.Column("action", sa.Text, nullable=False),
    sa.Column("reason", Text, nullable=False),
    sa.Column("turn", Text, nullable=False),
    sa.Column("at_ms", sa.BigInteger, nullable=False),
    sa.Column("before", sa.LargeBinary),
    sa.Column("after", sa.LargeBinary, nullable=False),
)
keys = sa.Table(
    "keys",
    metadata,
    sa.Column("id", Text, primary_key=True),
    sa.Column("hash", sa.Text, nullable=False),
    sa.Column("prefix", sa.Text, nullable=False),
    sa.Column("tenant", sa.Text, nullable=False),
    sa.Column("bound_user", Text, nullable=False),
    sa.Column("may_name_users", sa.Boolean, nullable=False),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Column("revoked_ms", sa.BigInteger),
    sa.Column("note", Text, nullable=False),
    sa.Column("requests_per_minute", sa.BigInteger),
    sa.Column("tokens_per_minute", sa.BigInteger),
    sa.Column("concurrent_streams", sa.BigInteger),
    sa.Column("body_bytes", sa.BigInteger),
    sa.Column("models", Json),
    sa.Column("offers_recall", sa.Boolean),
    sa.Column("is_operator", sa.Boolean),
    sa.Column("takes_commands", sa.Boolean),
    sa.Column("teams", Json),
)
media = sa.Table(
    "media",
    metadata,
    sa.Column("owner", sa.Text, primary_key=True),
    sa.Column("id", Text, primary_key=True),
    sa.Column("tenant", sa.Text, nullable=False),
    sa.Column("agent", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),  # document, image
    sa.Column("sha256", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Column("due_ms", sa.BigInteger, nullable=False),
    sa.Column("holder", sa.Text, nullable=False),
    sa.Column("until_ms", sa.BigInteger, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("body", Json, nullable=False),
)
files = sa.Table(
    "files",
    metadata,
    sa.Column("owner", sa.Text, primary_key=True),
    sa.Column("id", Text, primary_key=True),
    sa.Column("agent", sa.Text, nullable=False),
    sa.Column("media", Text, nullable=False),
    sa.Column("name", Text, nullable=False),
    sa.Column("purpose", Text, nullable=False),
    sa.Column("size_bytes", sa.BigInteger, nullable=False),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Column("is_forwarded", sa.Boolean, nullable=False),
)
stamps = sa.Table(
    "stamps",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
incidents = sa.Table(
    "incidents",
    metadata,
    sa.Column("seq", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
    sa.Column("owner", sa.Text, nullable=False),  # "" for the whole folder
    sa.Column("part", sa.Text, nullable=False),
    sa.Column("text", Text, nullable=False),
    sa.Column("place", Text, nullable=False),  # path of the quarantined files, "" for none
    sa.Column("restored", sa.Integer, nullable=False),
    sa.Column("lost", sa.Integer),  # null if it cannot be counted
    sa.Column("at_ms", sa.BigInteger, nullable=False),
    sa.Column("seen_ms", sa.BigInteger),  # when the operator acknowledged it
)
handed = sa.Table(
    "handed",
    metadata,
    sa.Column("owner", sa.Text, primary_key=True),
    sa.Column("agent", sa.Text, primary_key=True),
    sa.Column("id_hash", sa.Text, primary_key=True),
    sa.Column("at_ms", sa.BigInteger, nullable=False),
)
jobs = sa.Table(
    "jobs",
    metadata,
    sa.Column("owner", sa.Text, primary_key=True),
    sa.Column("id", Text, primary_key=True),
    sa.Column("tenant", sa.Text, nullable=False),
    sa.Column("agent", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),  # queued, running, done, failed
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Column("holder", sa.Text, nullable=False),
    sa.Column("until_ms", sa.BigInteger, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("body", Json, nullable=False),
)
projects = sa.Table(
    "projects",
    metadata,
    sa.Column("owner", sa.Text, primary_key=True),
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("agent", sa.Text, nullable=False),  # partition shared by all agents in the project
    sa.Column("name", Text, nullable=False),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Column("last_ms", sa.BigInteger, nullable=False),
)
agents = sa.Table(
    "agents",
    metadata,
    sa.Column("owner", sa.Text, primary_key=True),
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("agent", sa.Text, nullable=False),  # its partition: the same as its id
    sa.Column("name", Text, nullable=False),
    sa.Column("capabilities", Json, nullable=False),
    sa.Column("is_private", sa.Boolean, nullable=False),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.Column("last_ms", sa.BigInteger),
)
quarantine = sa.Table(
    "quarantine",
    metadata,
    sa.Column("owner", sa.Text, primary_key=True),
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("agent", sa.Text, nullable=False),
    sa.Column("session", Text, nullable=False),  # "" if the target is not a session
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("target", Text, nullable=False),
    sa.Column("reason", Text, nullable=False),
    sa.Column("found_by", sa.Text, nullable=False),
    sa.Column("created_ms", sa.BigInteger, nullable=False),
    sa.UniqueConstraint("owner", "target"),
)
destructions = sa.Table(
    "destructions",
    metadata,
    sa.Column("owner", sa.Text, primary_key=True),
    sa.Column("noun", sa.Text, primary_key=True),
    sa.Column("id", Text, primary_key=True),
    sa.Column("tenant", sa.Text, nullable=False),
    sa.Column("agent", sa.Text, nullable=False),
    sa.Column("is_done", sa.Integer, nullable=False),
    sa.Column("at_ms", sa.BigInteger, nullable=False),
)

shares = sa.Table(
    "shares",
    metadata,
    sa.Column("owner", sa.Text, primary_key=True),  # the author
    sa.Column("id", Text, primary_key=True),
    sa.Column("team", sa.Text, nullable=False),
    sa.Column("tenant", sa.Text, nullable=False),
    sa.Column("agent", sa.Text, nullable=False),
    sa.Column("memory", Text, nullable=False),
    sa.Column("author", Text, nullable=False),  # the author's name, as the team sees it
    sa.Column("at_ms", sa.BigInteger, nullable=False),
    sa.UniqueConstraint("team", "owner", "memory"),
)

silenced = sa.Table(
    "silenced",
    metadata,
    sa.Column("owner", sa.Text, primary_key=True),
    sa.Column("session", Text, primary_key=True),
    sa.Column("agent", sa.Text, nullable=False),
    sa.Column("at_ms", sa.BigInteger, nullable=False),
)
