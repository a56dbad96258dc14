"""Identity of a request: from the client's key and headers to a scope, or to no memory."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from proxy.access.person import is_unfilled, named_person
from proxy.errors import ConfigError, Forbidden
from proxy.settings.load import is_loopback
from proxy.settings.sections import AuthSettings
from proxy.types import UNSAID, Allowance, Scope, Team
from proxy.types.scope import partition

SECRET_FILE = "secret.key"  # noqa: S105 - the name of a file
_SESSION_HEADERS = ("x-openwebui-chat-id", "x-sm-conversation-id")


@dataclass(frozen=True, slots=True)
class Identity:
    """Identity behind a client's key.

    Args:
        tenant: 32 hex digits, "" if there is no memory.
        user: The user that the key is bound to, "" if the key itself is the user.
        own: Id of the Throughline key, so that two keys of one tenant are two users.
        may_name: Whether the key may name users and times.
        reason: Reason for no memory, for the response header.
        allowance: Limits of the Throughline key, if its operator set any.
        models: Patterns of the models that it may use; empty: all.
        offers_recall: Whether its requests get the ``recall`` tool by default.
        is_operator: Whether it may read counts and health of the whole server.
        takes_commands: Whether ``/memory`` in a chat is answered here, whatever the settings.
        teams: Names of the teams that a Throughline key binds its users to.
    """

    tenant: str = ""
    user: str = ""
    own: str = ""
    may_name: bool = True
    reason: str = ""
    allowance: Allowance = UNSAID
    models: tuple[str, ...] = ()
    offers_recall: bool = False
    is_operator: bool = False
    takes_commands: bool = False
    teams: tuple[str, ...] = ()

    @property
    def holder(self) -> str:
        """Id for rate limits: of the Throughline key, else of the tenant; all requests without either share one."""
        return self.own or self.tenant

    def may_use(self, model: str) -> bool:
        """Return whether the key may use a model."""
        return not self.models or any(fnmatchcase(model, pattern) for pattern in self.models)


def other_secret(found: str) -> str:
    """Return the error text for a secret that differs from the one of the data folder, with the remedy."""
    return (
        f"this folder was written with another secret; restore {SECRET_FILE} ({found}). Nobody's memory is found "
        "without the right one: bring it back from a backup (or auth.secret, where that was set), or start with "
        "another folder: --data-dir."
    )


class Hasher:
    """Keyed hashes of keys and user ids, so that neither is stored on disk."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    @classmethod
    def load(cls, settings: AuthSettings, data_dir: Path, *, may_make: bool = True) -> Hasher:
        """Load the secret from the settings, else from the data folder, which creates it once.

        Args:
            settings: May hold the secret.
            data_dir: Holds ``secret.key`` otherwise.
            may_make: Whether to create a missing or empty file; False if data was written with it.

        Raises:
            ConfigError: If the file is unreadable, or is missing or empty and must not be created.
        """
        if settings.secret is not None:
            return cls(settings.secret.get_secret_value().encode())
        path = data_dir / SECRET_FILE
        try:
            is_there = path.exists() and bool(path.read_bytes().strip())
            if not is_there and not may_make:
                raise ConfigError(other_secret(f"{str(path)!r} is {'empty' if path.exists() else 'missing'}"))
            if not is_there:
                _write_once(path, secrets.token_hex(32))
            return cls(path.read_bytes().strip())
        except OSError as error:
            raise ConfigError(
                f"The secret {str(path)!r} cannot be read or made ({error}). Mend its permissions."
            ) from error

    def digest(self, kind: str, *parts: str) -> str:
        """Return 32 hex digits of a keyed hash; lengths separate the parts."""
        framed = b"".join(
            len(raw).to_bytes(4, "big") + raw for raw in (p.encode("utf-8", "surrogatepass") for p in (kind, *parts))
        )
        return hmac.new(self._secret, framed, hashlib.sha256).hexdigest()[:32]


def passthrough_identity(key: str, settings: AuthSettings, hasher: Hasher, host: str, local_user: str = "") -> Identity:
    """Identify a client that brings its provider's own key.

    Args:
        key: As the client sent it, "" for none.
        settings: List the placeholder keys.
        hasher: Makes the ids.
        host: Address at which the request arrived.
        local_user: User of every key on loopback; "": none.
    """
    if not key:
        return Identity(reason="no-identity")
    if local_user and is_loopback(host):
        return Identity(hasher.digest("tenant", "local"), user=local_user)
    if key in settings.placeholder_keys:
        if not is_loopback(host):
            return Identity(reason="no-identity")
        return Identity(hasher.digest("tenant", "local"))
    return Identity(hasher.digest("tenant", "key", key))


def person_of(
    identity: Identity, headers: Mapping[str, str], body: Mapping[str, Any], settings: AuthSettings, now: datetime
) -> str:
    """Return the person that the request names, "" if the key itself is the user.

    A name counts only if the key may name users.

    Raises:
        NamesNobody: If the name is invalid.
    """
    if identity.user or not identity.may_name or not identity.tenant:
        return identity.user
    secret = settings.openwebui_jwt_secret
    return named_person(
        headers,
        body,
        secret=secret.get_secret_value() if secret else "",
        now=now,
        is_of_device_owner=not identity.own,
    )


def scope_of(identity: Identity, headers: Mapping[str, str], named: str, hasher: Hasher) -> Scope:
    """Return the scope that a request reads and writes, without its session.

    Args:
        identity: Of the key.
        headers: By lower-case name.
        named: The person, from ``person_of``.
        hasher: Makes the ids.

    Raises:
        Forbidden: If the request names a team that the key does not belong to.
    """
    user = (
        hasher.digest("user", identity.tenant, named)
        if named
        else hasher.digest("key-user", identity.tenant, identity.own)
    )
    agent, project = _filled(headers.get("x-memory-agent", "")), project_name(headers)
    named_agent = agent_id(hasher, user, agent) if agent else ""
    named_project = project_id(hasher, user, project) if project else ""
    return Scope(
        identity.tenant, user, partition(named_agent, named_project), teams=_teams_of(identity, headers, hasher)
    )


def _teams_of(identity: Identity, headers: Mapping[str, str], hasher: Hasher) -> tuple[Team, ...]:
    """Return the team that a request names, else all teams of its key.

    Raises:
        Forbidden: If the key does not belong to the named team.
    """
    named = _filled(headers.get("x-memory-team", ""))
    if named and named not in identity.teams:
        raise Forbidden(
            f"This key is in no team {named[:80]!r}. Leave X-Memory-Team out, or have the operator put the key into it "
            "with `throughline keys update ID --team NAME`."
        )
    names = (named,) if named else identity.teams
    return tuple(Team(hasher.digest("team", identity.tenant, name), name) for name in names)


def project_name(headers: Mapping[str, str]) -> str:
    """Return the project that a request names, "" for none; an unfilled template counts as none."""
    return _filled(headers.get("x-memory-project", ""))


def agent_id(hasher: Hasher, user: str, name: str) -> str:
    """Return the id of a user's agent in partitions."""
    return hasher.digest("agent", user, name)


def project_id(hasher: Hasher, user: str, name: str) -> str:
    """Return the id of a user's project in partitions."""
    return hasher.digest("project", user, name)


def session_name(headers: Mapping[str, str], body: Mapping[str, Any], kept: str = "") -> str:
    """Return the session name that the client gives, "" if it gives none; an unfilled template is no name.

    Args:
        headers: By lower-case name.
        body: As parsed.
        kept: Id of a conversation that the provider stores; preferred to a cache key, which many may share.
    """
    explicit = headers.get("x-memory-session", "")
    aliases = [headers.get(name, "") for name in _SESSION_HEADERS]
    metadata = body.get("metadata")
    told = metadata.get("conversation_id") if isinstance(metadata, Mapping) else None
    in_body = [told, kept, body.get("prompt_cache_key")]
    given = [explicit.strip(), *(name.strip() for name in aliases), *in_body]
    return next((name for name in given if isinstance(name, str) and _filled(name)), "")


def _filled(name: str) -> str:
    """Return a name, "" for an unfilled template."""
    name = name.strip()
    return "" if is_unfilled(name) else name


def _write_once(path: Path, text: str) -> None:
    """Write the file unless it has content: of several processes starting at once, the first one's secret wins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(descriptor)  # a power loss must not leave it empty: data written with the secret would be lost
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        if not path.read_bytes().strip():
            draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
