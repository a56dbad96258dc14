"""Download of the multilingual model from a fake hub, which serves the built-in model's files."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
from aiohttp import web

from proxy.memory.vectors.embed import EmbeddedEmbedder, EmbeddingFailed
from proxy.memory.vectors.hub import HubEmbedder, HubModel
from proxy.memory.vectors.minilm import GRAPH, MODELS, TOKENIZER
from tests.fakes.http import listening

pytestmark = pytest.mark.anyio

SOURCE = HubModel("someone/model", {"model.onnx": "onnx/model.onnx", TOKENIZER: "tokenizer.json"})
FILES = {"onnx/model.onnx": MODELS / GRAPH, "tokenizer.json": MODELS / TOKENIZER}


class Hub:
    """Fake hub: returns a file's digest and redirects to its bytes, as the hub does for large files."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.digests = {path: hashlib.sha256(file.read_bytes()).hexdigest() for path, file in FILES.items()}
        self.url = ""

    async def resolve(self, request: web.Request) -> web.StreamResponse:
        path = request.match_info["path"]
        named = {"X-Linked-Etag": f'"{self.digests[path]}"', "Location": f"/bytes/{path}"}
        return web.Response(status=302, headers=named)

    async def bytes_of(self, request: web.Request) -> web.StreamResponse:
        path = request.match_info["path"]
        self.sent.append(path)
        return web.FileResponse(FILES[path])


@pytest.fixture
async def hub() -> AsyncIterator[Hub]:
    made = Hub()
    app = web.Application()
    app.router.add_route("*", "/someone/model/resolve/main/{path:.+}", made.resolve)
    app.router.add_get("/bytes/{path:.+}", made.bytes_of)
    async with listening(app) as port:
        made.url = f"http://127.0.0.1:{port}"
        yield made


async def vectors_of(embedder: EmbeddedEmbedder) -> np.ndarray:
    try:
        await embedder.warm()
        return await embedder.embed(["Ich wohne in Hamburg", "a cat"], purpose="passage")
    finally:
        await embedder.close()


async def test_it_is_fetched_once_and_then_works_offline(tmp_path: Path, hub: Hub) -> None:
    first = await vectors_of(HubEmbedder(tmp_path / "m", hub.url, source=SOURCE))
    assert np.array_equal(first, await vectors_of(EmbeddedEmbedder()))
    assert sorted(hub.sent) == sorted(FILES)
    again = await vectors_of(HubEmbedder(tmp_path / "m", "http://127.0.0.1:9", source=SOURCE))
    assert np.array_equal(first, again)
    assert not list((tmp_path / "m").glob(".*"))


async def test_download_resumes_after_a_fault(tmp_path: Path, hub: Hub) -> None:
    right = hub.digests["tokenizer.json"]
    hub.digests["tokenizer.json"] = "0" * 64
    with pytest.raises(EmbeddingFailed, match="damaged"):
        await vectors_of(HubEmbedder(tmp_path / "m", hub.url, source=SOURCE))
    hub.digests["tokenizer.json"] = right
    await vectors_of(HubEmbedder(tmp_path / "m", hub.url, source=SOURCE))
    assert hub.sent == ["onnx/model.onnx", "tokenizer.json", "tokenizer.json"]


async def test_a_file_damaged_on_disk_is_told(tmp_path: Path, hub: Hub) -> None:
    await vectors_of(HubEmbedder(tmp_path / "m", hub.url, source=SOURCE))
    (tmp_path / "m" / TOKENIZER).write_text("{}")
    with pytest.raises(EmbeddingFailed, match="damaged"):
        await vectors_of(HubEmbedder(tmp_path / "m", hub.url, source=SOURCE))


async def test_a_hub_that_is_away_is_named(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingFailed, match=r"127\.0\.0\.1:9"):
        await vectors_of(HubEmbedder(tmp_path / "m", "http://127.0.0.1:9", source=SOURCE))
