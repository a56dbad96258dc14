"""The embedders: lanes and cancellation of the built-in one, a provider's over a real socket, laws of the cache."""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager

import anyio
import numpy as np
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.vectors.cached import CachedEmbedder
from proxy.memory.vectors.embed import (
    EmbeddedEmbedder,
    EmbeddingFailed,
    LiteLLMEmbedder,
    Purpose,
    Vectors,
)
from tests.fakes.http import listening

pytestmark = pytest.mark.anyio

LONG = "The quick brown fox jumps over the lazy dog near the river bank while it rains. " * 20


class BagOfWords:
    """Embedder of hashed words that records its calls."""

    model, dimension = "bag-of-words/64", 64

    def __init__(self, *, is_symmetric: bool = False) -> None:
        self.asked: list[str] = []
        self.is_symmetric = is_symmetric

    async def embed(self, texts: Sequence[str], *, purpose: Purpose) -> Vectors:
        self.asked += texts
        rows = np.full((len(texts), self.dimension), 1e-3, np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.split():
                digest = hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()
                row[digest[0] % self.dimension] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    async def warm(self) -> None: ...

    async def close(self) -> None: ...


@pytest.fixture(scope="module")
def builtin() -> Iterator[EmbeddedEmbedder]:
    embedder = EmbeddedEmbedder()
    yield embedder
    anyio.run(embedder.close)


async def test_rows_come_in_the_order_of_the_texts(builtin):
    texts = [LONG, "tea", "a short one about trains", LONG[7:], "", "cake", "🎉", "rain"]
    together = await builtin.embed(texts, purpose="passage")
    for text, row in zip(texts, together, strict=True):
        alone = await builtin.embed([text], purpose="query")
        assert np.abs(alone[0] - row).max() < 1e-4


async def test_no_texts_give_no_rows(builtin):
    assert (await builtin.embed([], purpose="passage")).shape == (0, builtin.dimension)


async def test_question_does_not_wait_behind_passages(builtin):
    await builtin.warm()
    async with asyncio.TaskGroup() as group:
        passages = group.create_task(builtin.embed([LONG] * 30, purpose="passage"))
        await asyncio.sleep(0)
        await builtin.embed(["Where do I live?"], purpose="query")
        assert not passages.done()


async def test_cancelled_call_leaves_no_work_behind(builtin):
    with anyio.move_on_after(0.05):
        await builtin.embed([LONG] * 2000, purpose="passage")
    with anyio.fail_after(5):
        await builtin.embed([LONG], purpose="passage")


async def test_concurrent_first_calls_load_the_model_once():
    embedder = EmbeddedEmbedder()
    rows = await asyncio.gather(*(embedder.embed(["tea"], purpose=p) for p in ("query", "passage", "query")))
    assert np.array_equal(rows[0], rows[1])
    await embedder.close()


async def test_close_ends_the_threads_and_later_calls_fail():
    before = set(threading.enumerate())
    embedder = EmbeddedEmbedder()
    await embedder.warm()
    await embedder.close()
    assert not [thread for thread in set(threading.enumerate()) - before if thread.name.startswith("embed-")]
    with pytest.raises(EmbeddingFailed):
        await embedder.embed(["tea"], purpose="query")


async def test_missing_model_is_an_embedding_failure(tmp_path):
    embedder = EmbeddedEmbedder(folder=tmp_path)
    with pytest.raises(EmbeddingFailed) as caught:
        await embedder.warm()
    assert (caught.value.status, caught.value.code) == (503, "embedding_failed")
    await embedder.close()


calls = st.lists(st.lists(st.text(max_size=12), max_size=6), max_size=8)


@given(calls=calls, max_bytes=st.integers(0, 4000))
def test_cache_changes_no_vector_and_keeps_its_limit(calls, max_bytes):
    async def check() -> None:
        inner = BagOfWords()
        cached = CachedEmbedder(inner, max_bytes)
        seen: dict[str, bytes] = {}
        for texts in calls:
            rows = await cached.embed(texts, purpose="passage")
            assert np.abs(rows - await BagOfWords().embed(texts, purpose="passage")).max(initial=0) < 1e-3
            for text, row in zip(texts, rows, strict=True):
                assert seen.setdefault(text, row.tobytes()) == row.tobytes()
            assert cached.size_bytes <= max_bytes

    anyio.run(check)


@given(calls=calls)
def test_roomy_cache_asks_for_each_text_once(calls):
    async def check() -> None:
        inner = BagOfWords()
        cached = CachedEmbedder(inner, 2**20)
        for texts in calls:
            await cached.embed(texts, purpose="query")
        assert sorted(inner.asked) == sorted({text for texts in calls for text in texts})

    anyio.run(check)


async def test_text_used_last_stays_longest():
    inner = BagOfWords()
    cached = CachedEmbedder(inner, 2 * 400)
    for text in ("tea", "cake", "tea", "rain", "tea"):
        await cached.embed([text], purpose="query")
    assert inner.asked == ["tea", "cake", "rain"]


async def test_question_and_passage_are_remembered_apart():
    inner = BagOfWords()
    cached = CachedEmbedder(inner, 2**20)
    await cached.embed(["tea"], purpose="query")
    await cached.embed(["tea"], purpose="passage")
    assert inner.asked == ["tea", "tea"]


async def test_symmetric_model_embeds_question_and_passage_alike():
    inner = BagOfWords(is_symmetric=True)
    cached = CachedEmbedder(inner, 2**20)
    asked = await cached.embed(["tea"], purpose="query")
    kept = await cached.embed(["tea"], purpose="passage")
    assert inner.asked == ["tea"]
    assert np.array_equal(asked, kept)


async def test_half_an_emoji_can_be_remembered():
    rows = await CachedEmbedder(BagOfWords(), 2**20).embed(["\ud83d"], purpose="query")
    assert rows.shape == (1, 64)


async def test_cache_forgets_on_close():
    cached = CachedEmbedder(BagOfWords(), 2**20)
    await cached.embed(["tea"], purpose="query")
    await cached.close()
    assert cached.size_bytes == 0


class Provider:
    """OpenAI-style embeddings endpoint with 4 or fewer dimensions; fails on "fail" and replies in reverse order."""

    def __init__(self) -> None:
        self.bodies: list[dict] = []
        self.base_url = ""

    async def answer(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.bodies.append(body)
        if "fail" in body["input"]:
            return web.json_response({"error": {"message": "Incorrect API key provided: sk-secret"}}, status=401)
        wanted = body.get("dimensions", 4)
        rows = [[float(len(text)), 1.0, 2.0, 3.0][:wanted] for text in body["input"]]
        data = [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return web.json_response({"object": "list", "data": data[::-1], "model": body["model"], "usage": usage})

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Provider]:
        app = web.Application()
        app.router.add_post("/v1/embeddings", self.answer)
        async with listening(app) as port:
            self.base_url = f"http://127.0.0.1:{port}/v1"
            yield self


@pytest.mark.filterwarnings("ignore")  # LiteLLM's own warnings
async def test_provider_embeds_through_litellm(monkeypatch):
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")

    async def load():
        litellm = await asyncio.to_thread(importlib.import_module, "litellm")
        litellm.suppress_debug_info = True
        return litellm

    async with Provider().serving() as provider:
        plain = LiteLLMEmbedder("openai/any", "sk-test", provider.base_url, load=load)
        with pytest.raises(EmbeddingFailed):
            _ = plain.dimension
        await plain.warm()
        assert (plain.model, plain.dimension) == ("openai/any", 4)

        rows = await plain.embed(["a", "abcdef", ""], purpose="passage")
        assert np.allclose(np.linalg.norm(rows, axis=1), 1)
        assert np.allclose(rows[:, 0] / rows[:, 1], [1, 6, 1])
        assert "dimensions" not in provider.bodies[-1]
        assert provider.bodies[-1]["input"] == ["a", "abcdef", "."]

        many = await plain.embed(["a" * length for length in range(1, 131)], purpose="passage")
        assert np.allclose(many[:, 0] / many[:, 1], range(1, 131))
        assert max(len(body["input"]) for body in provider.bodies) == 64

        short = LiteLLMEmbedder("openai/any", "sk-test", provider.base_url, 3, load=load)
        assert (await short.embed(["tea"], purpose="query")).shape == (1, 3)
        assert (await short.embed([], purpose="query")).shape == (0, 3)
        assert provider.bodies[-1]["dimensions"] == 3
        assert short.model == "openai/any/3"

        wide = LiteLLMEmbedder("openai/any", "sk-test", provider.base_url, 8, load=load)
        with pytest.raises(EmbeddingFailed, match=r"`embedder\.dimension` to 4"):
            await wide.warm()

        with pytest.raises(EmbeddingFailed, match="AuthenticationError") as caught:
            await plain.embed(["fail"], purpose="query")
        assert "sk-secret" not in repr(caught.value)
        assert caught.value.__suppress_context__

    with pytest.raises(EmbeddingFailed):
        await plain.embed(["nobody listens any more"], purpose="query")
