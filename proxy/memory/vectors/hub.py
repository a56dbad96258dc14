"""Download of an embedding model from a hub with Hugging Face's protocol, once, with a check of its files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import aiohttp
import structlog

from proxy.memory.vectors.embed import EmbeddedEmbedder, EmbeddingFailed
from proxy.memory.vectors.minilm import TOKENIZER, MiniLM
from proxy.process.precedence import Precedence
from proxy.process.threads import in_thread

_log = structlog.get_logger(__name__)
_SHA256 = re.compile(r'"?([0-9a-f]{64})"?')
_PIECE_BYTES = 2**20
_MAX_BYTES = 600 * 2**20
_SILENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class HubModel:
    """Files of an embedding model in a hub repository.

    Args:
        repo: ``owner/name`` on the hub.
        files: Path in the repository by local file name.
    """

    repo: str
    files: Mapping[str, str]


# Its cosines are distributed as the built-in model's are, so that the same floors apply; 50 languages, Apache-2.0.
MULTILINGUAL = HubModel(
    "Xenova/paraphrase-multilingual-MiniLM-L12-v2",
    {"model.int8.onnx": "onnx/model_quantized.onnx", TOKENIZER: "tokenizer.json"},
)


class HubEmbedder(EmbeddedEmbedder):
    """A multilingual model, fetched when it is first needed; offline from then on.

    Args:
        folder: Folder of the model's files.
        hub_url: Base URL of the hub or of a mirror.
        source: Model to fetch.
        precedence: Priority of requests, to which passages yield.
    """

    model = "paraphrase-multilingual-MiniLM-L12-v2/int8/1"

    def __init__(
        self,
        folder: Path,
        hub_url: str,
        *,
        source: HubModel = MULTILINGUAL,
        precedence: Precedence | None = None,
    ) -> None:
        super().__init__(folder=folder, precedence=precedence)
        self._folder, self._hub_url, self._source = folder, hub_url.rstrip("/"), source
        graph = next(name for name in source.files if name != TOKENIZER)
        self._load = partial(MiniLM.load, folder, graph=graph)

    async def warm(self) -> None:
        """Fetch missing files, load the model and run it once.

        Raises:
            EmbeddingFailed: If the hub does not send a file.
        """
        try:
            await fetch_model(self._source, self._hub_url, self._folder)
        except OSError as error:
            raise EmbeddingFailed(f"The multilingual embedding model cannot be fetched: {error}") from error
        await super().warm()


async def fetch_model(model: HubModel, hub_url: str, folder: Path) -> None:
    """Fetch the files that ``folder`` lacks, and write the sha256 of all into its ``NOTICE``.

    A file is complete once NOTICE lists it: it is written under another name first. Its digest is compared with the one
    that the hub names for large files.

    Raises:
        OSError: If the hub cannot be reached, refuses, or sends other data.
    """
    known = _noted(folder)
    if all(name in known and (folder / name).is_file() for name in model.files):
        return
    await in_thread("load", partial(folder.mkdir, mode=0o700, parents=True, exist_ok=True))
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=15, sock_read=_SILENCE_S)
    async with aiohttp.ClientSession(timeout=timeout, trust_env=True) as session:
        for name, path in model.files.items():
            if name not in known or not (folder / name).is_file():
                _log.info("fetching a part of the embedding model", model=model.repo, file=path)
                try:
                    known[name] = await _fetch(session, f"{hub_url}/{model.repo}/resolve/main/{path}", folder / name)
                except aiohttp.ClientError as error:
                    raise OSError(
                        f"{hub_url} did not send {model.repo}/{path}: {error or type(error).__name__}"
                    ) from error
                _note(folder, known)


async def _fetch(session: aiohttp.ClientSession, url: str, target: Path) -> str:
    """Download ``url`` to ``target`` and return the sha256."""
    expected = await _named_digest(session, url)
    part = target.with_name(f".{target.name}.part")
    digest, size = hashlib.sha256(), 0
    async with session.get(url) as reply:
        if reply.status != 200:
            raise OSError(f"{url} answered {reply.status}; check embedder.hub_url.")
        with await in_thread("load", part.open, "wb") as file:
            async for piece in reply.content.iter_chunked(_PIECE_BYTES):
                size += len(piece)
                if size > _MAX_BYTES:
                    raise OSError(f"{url} sends more than {_MAX_BYTES} bytes.")
                digest.update(piece)
                await in_thread("load", file.write, piece)
    found = digest.hexdigest()
    if expected is not None and found != expected:
        part.unlink()
        raise OSError(f"{url} came damaged: its sha256 is not the one that the hub names. Try again.")
    part.replace(target)
    return found


async def _named_digest(session: aiohttp.ClientSession, url: str) -> str | None:
    """Return the sha256 that the hub names for a large file, before its redirect to the data; None if there is none."""
    async with session.head(url, allow_redirects=False) as reply:
        for header in ("X-Linked-Etag", "ETag"):
            if (match := _SHA256.fullmatch(reply.headers.get(header, ""))) is not None:
                return match[1]
    return None


def _noted(folder: Path) -> dict[str, str]:
    try:
        lines = (folder / "NOTICE").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def _note(folder: Path, known: Mapping[str, str]) -> None:
    text = "".join(f"{digest}  {name}\n" for name, digest in known.items())
    part = folder / ".NOTICE.part"
    part.write_text(text, encoding="utf-8")
    part.replace(folder / "NOTICE")
