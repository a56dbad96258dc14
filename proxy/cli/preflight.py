"""Quick checks for problems that prevent a server start, before heavy imports."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import sqlite3
from contextlib import closing
from pathlib import Path

from proxy.errors import ConfigError
from proxy.settings.explain import ENV_PREFIX, problem_of_url, without_password
from proxy.settings.load import Settings, environment

MIN_FREE_BYTES = 8 * 2**20  # for the journal, its write-ahead log and the first tables
BACKLOG = 2048  # connections, as uvicorn's


def bound(host: str, port: int) -> socket.socket:
    """Return a listening socket for the server; call it first, so that a port in use is reported at once.

    Raises:
        ConfigError: If the address is taken, not this machine's, or not allowed.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"The host {host!r} is no address of this machine ({error}). {_mend('host')}") from error
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6 and host == "::":
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        listening.bind(address)
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise ConfigError(_refused(host, port, error)) from error
    listening.set_inheritable(True)
    return listening


def refuse_unusable_addresses(settings: Settings) -> None:
    """Check the model list, and the base URLs in the environment.

    Raises:
        ConfigError: If an entry cannot work, or a URL is invalid.
    """
    from proxy.upstream import model_list, providers  # noqa: PLC0415 - half of a start's time limit

    variables = {name: str(value) for name, value in settings.environment_variables.items()}
    environ = {**environment(), **variables}
    named = [(known, name) for known in providers.known() for name in known.base_variables]
    addresses = [(f"The environment variable {name}", environ.get(name, ""), known) for known, name in named]
    for entry in model_list.read(settings.model_list, {**providers.elsewhere(environ, settings.server.port)}):
        url = str(entry.params.get("api_base") or entry.params.get("base_url") or "")
        if url and (route := entry.route(entry.name)):
            addresses.append((f"`api_base` of the model_list entry {entry.name!r}", url, route.provider))
    for where, url, known in addresses:
        if url and (problem := problem_of_url(url, takes_query=known.wire == "litellm")):
            raise ConfigError(f"{where}, {without_password(url)!r}, {problem}.")


def require_space(settings: Settings) -> None:
    """Check the free space on the disk of the data folder.

    Raises:
        ConfigError: If it is full.
    """
    folder = settings.server.data_dir.resolve()
    free = shutil.disk_usage(folder).free
    if free < MIN_FREE_BYTES:
        raise ConfigError(
            f"The disk of the data folder {str(folder)!r} is full: {free // 1024} kB of space are free, a start needs "
            f"{MIN_FREE_BYTES // 2**20} MB. Free some, or name another folder: --data-dir, or "
            f"{ENV_PREFIX}SERVER__DATA_DIR."
        )


def refuse_newer_data(settings: Settings) -> None:
    """Check the schema version of the database, if it is a file; opening it reports damage later.

    Raises:
        ConfigError: If a newer version of Throughline migrated it.
    """
    url = settings.database_url
    path = Path(url.removeprefix("sqlite:///"))
    if not url.startswith("sqlite:///") or not path.is_file():
        return
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=1)) as connection:
            version = connection.execute("SELECT max(version) FROM meta").fetchone()[0] or 0
    except sqlite3.Error:
        return
    from proxy.store.migrations import MIGRATIONS  # noqa: PLC0415 - imports the database's library

    if version > len(MIGRATIONS):
        raise ConfigError(
            f"The data in {str(path.parent)!r} is of a newer version of Throughline (schema {version}; this one knows "
            f"{len(MIGRATIONS)}). Upgrade Throughline, or name another folder: --data-dir."
        )


def _refused(host: str, port: int, error: OSError) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return f"The port {port} of {host} is in use. Stop what uses it, or take another one. {_mend('port')}"
        case errno.EADDRNOTAVAIL:
            return f"The host {host!r} is no address of this machine. {_mend('host')}"
        case errno.EACCES:
            return f"The port {port} may not be opened by user {os.getuid()}; those from 1024 on may. {_mend('port')}"
    return f"{host}:{port} cannot be listened on ({error.strerror}). {_mend('host')}"


def _mend(name: str) -> str:
    return f"Set --{name}, {ENV_PREFIX}SERVER__{name.upper()} or server.{name}."
