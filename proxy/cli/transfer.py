"""``throughline export``, ``import`` and ``erase``: a user's memory on a running server."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import httpx
import typer

from proxy.errors import ConfigError

exporting = typer.Typer(add_completion=False)
importing = typer.Typer(add_completion=False)
erasing = typer.Typer(add_completion=False)

_TIMEOUT = httpx.Timeout(30.0, read=600.0)
_POLL_S = 0.5

Url = Annotated[str, typer.Option("--url", envvar="THROUGHLINE_URL", help="A running Throughline.")]
Key = Annotated[
    str,
    typer.Option("--key", envvar="THROUGHLINE_API_KEY", help="The key that the chat uses; a placeholder on loopback."),
]
User = Annotated[str, typer.Option("--user", envvar="THROUGHLINE_USER", help="Whose memory, where the key may say so.")]
_URL, _KEY = "http://127.0.0.1:8787", "no-key"


@exporting.command()
def export(
    file: Annotated[Path | None, typer.Argument(help="Where to write; without, to standard output.")] = None,
    url: Url = _URL,
    key: Key = _KEY,
    user: User = "",
) -> None:
    """Write everything that is remembered of a user as JSON lines."""
    if file is not None and file.exists():
        raise ConfigError(f"{str(file)!r} is there already. Name another file, or remove it.")
    draft = file.with_name(f"{file.name}.part") if file is not None else None
    with _server(url, key, user) as http, http.stream("GET", "/v1/export") as answer:
        _refuse(answer)
        last = b""
        with _writing(draft) as out:
            for chunk in answer.iter_bytes():
                out.write(chunk)
                last = (last + chunk)[-200:]
    if b'{"type":"end"' not in last:
        raise ConfigError("The server stopped in the middle of the export. Try again; its log says why.")
    if draft is not None and file is not None:
        draft.replace(file)
        print(f"{file}: {file.stat().st_size} bytes", file=sys.stderr)


@importing.command("import")
def bring_in(
    file: Annotated[
        Path,
        typer.Argument(exists=True, dir_okay=False, help="An export: ours, of ChatGPT, Claude or mem0, or a list."),
    ],
    url: Url = _URL,
    key: Key = _KEY,
    user: User = "",
) -> None:
    """Bring an export into a user's memory and wait until it can be recalled."""
    with _server(url, key, user) as http:
        with file.open("rb") as content:
            job = _answer(http.post("/v1/import", content=content))
        while job["status"] in ("queued", "running"):
            _tell(job)
            time.sleep(_POLL_S)
            job = _answer(http.get(f"/v1/jobs/{job['id']}"))
    _tell(None)
    for note in job["notes"]:
        print(f"  {note}", file=sys.stderr)
    if job["status"] == "failed":
        raise ConfigError(f"{file} was not imported: {job['error']}")
    counts = ", ".join(f"{number} {name}" for name, number in job["counts"].items()) or "nothing new"
    print(f"{file}: {job['format']}; {counts}")


@erasing.command()
def erase(
    url: Url = _URL,
    key: Key = _KEY,
    user: User = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    verify: Annotated[bool, typer.Option(help="Search the server's files for what was erased.")] = True,
) -> None:
    """Destroy everything that is remembered of a user, everywhere, for good; print the receipt."""
    whose = f"user {user!r}" if user else "the user of this key"
    if not yes and not typer.confirm(
        f"Destroy everything that {url} remembers of {whose}? It cannot be undone", err=True
    ):
        raise typer.Exit(1)
    with _server(url, key, user) as http:
        receipt = _answer(http.post("/v1/erase", params={"verify": str(verify).lower()}))
    print(json.dumps(receipt, indent=2, ensure_ascii=False))
    if receipt.get("verification", {}).get("found"):
        raise ConfigError("Some erased texts are still in the files named above. Stop the server and run it again.")


@contextmanager
def _server(url: str, key: str, user: str) -> Iterator[httpx.Client]:
    base_url = httpx.URL(url.rstrip("/").removesuffix("/v1"))
    if base_url.scheme not in ("http", "https"):
        raise ConfigError(f"--url is {url!r}; it must begin with http:// or https://.")
    named = {"authorization": f"Bearer {key}", **({"x-memory-user": user} if user else {})}
    headers = [(name.encode(), value.encode("utf-8", "surrogateescape")) for name, value in named.items()]
    try:
        with httpx.Client(base_url=base_url, headers=headers, timeout=_TIMEOUT) as http:
            yield http
    except httpx.LocalProtocolError as error:
        raise ConfigError(
            "--key or --user is empty, or holds what no HTTP header may hold, such as a line break. Give another one, "
            "or leave it out."
        ) from error
    except httpx.HTTPError as error:
        told = str(error) or type(error).__name__
        raise ConfigError(
            f"No answer from {base_url} ({told}). Start it with `throughline serve`, or set --url."
        ) from error


@contextmanager
def _writing(draft: Path | None) -> Iterator[BinaryIO]:
    try:
        with draft.open("wb") if draft is not None else sys.stdout.buffer as out:
            yield out
    except OSError as error:
        name = repr(str(draft)) if draft is not None else "Standard output"
        raise ConfigError(f"{name} cannot be written ({error.strerror}). Name a file in a folder of yours.") from error


def _refuse(answer: httpx.Response) -> None:
    if answer.is_success:
        return
    answer.read()
    try:
        told = answer.json()["error"]["message"]
    except (ValueError, KeyError, TypeError):
        told = "is there a Throughline?"
    raise ConfigError(f"{answer.url} answers {answer.status_code}: {told}")


def _answer(answer: httpx.Response) -> dict[str, Any]:
    _refuse(answer)
    found: dict[str, Any] = answer.json()
    return found


def _tell(job: dict[str, Any] | None) -> None:
    """Show a job's progress if standard error is a terminal; clear the line for None."""
    if sys.stderr.isatty():
        progress = job["progress"] if job else None
        told = f"{progress['done']} of {progress['total'] or '?'} entries" if progress else ""
        print(f"\r\033[K{told}", end="", file=sys.stderr, flush=True)
