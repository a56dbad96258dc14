"""Compressed request bodies: forwarded as they came with memory off, read where memory or routing needs them."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import Any

import orjson
import pyarrow
import pytest

from tests.fakes.provider import FakeProvider
from tests.fakes.replies import error
from tests.running import Running
from tests.wire.conftest import KEY, Wire, ask, without_memory
from tests.wire.rawhttp import send


@pytest.mark.parametrize("coding", ["gzip", "deflate", "zstd", "br", "gzip, zstd"])
def test_row_82_compressed_bodies_are_read(wire: Wire, coding: str) -> None:
    raw = orjson.dumps(ask("Hello"))
    packed = raw
    for one in coding.split(", "):
        packed = packers()[one](packed)
    assert wire.send(packed, content_encoding=coding).status == 200
    if wire.memory == "off":
        assert (wire.seen.body, wire.seen.header("content-encoding")) == (packed, coding)
        return
    assert orjson.loads(wire.seen.body)["messages"][0]["content"].startswith("Hello")
    assert wire.seen.header("content-encoding") is None


@pytest.mark.parametrize("status", [400, 415, 422])
def test_row_82_refused_coding_is_sent_again_without(plain: Wire, status: int) -> None:
    """Few providers read compressed bodies; a second refusal is the answer."""
    raw, coding = orjson.dumps(ask("Hello")), {"content_encoding": "gzip"}
    plain.provider.then(error(status, "no JSON"))
    assert plain.send(gzip.compress(raw), **coding).status == 200
    assert (plain.seen.body, plain.seen.header("content-encoding")) == (raw, None)
    plain.provider.then(error(status, "0"), error(status, "1"))
    answer = plain.send(gzip.compress(raw), **coding)
    assert (answer.status, orjson.loads(answer.body)["error"]["message"]) == (status, "1")


def test_row_82_compressed_body_is_routed_by_its_model(tmp_path: Path, provider: FakeProvider) -> None:
    served = {"model": "openai/text-embedding-3-small", "api_base": provider.base_url, "api_key": "sk-route"}
    models = [{"model_name": "emb", "litellm_params": served}]
    headers = [("authorization", f"Bearer {KEY}"), ("content-encoding", "gzip")]
    with Running(tmp_path, wait=False, models=models) as server:
        answer = send(server.origin, "POST", "/v1/embeddings", headers, gzip.compress(b'{"model":"emb","input":"hi"}'))
    assert (answer.status, provider.last.body) == (200, b'{"model":"text-embedding-3-small","input":"hi"}')
    assert provider.last.header("content-encoding") is None


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "zstd"])
def test_row_82_every_member_is_read(wire: Wire, coding: str) -> None:
    raw, pack = orjson.dumps(ask("Hello")), packers()[coding.removeprefix("x-")]
    packed = pack(raw[:20]) + pack(b"") + pack(raw[20:])
    assert wire.send(packed, content_encoding=coding).status == 200
    assert without_memory(wire.seen.body) == (packed if wire.memory == "off" else raw)
    assert wire.send(packed[:-4], content_encoding=coding).status == 400


@pytest.mark.parametrize("coding", ["gzip", "deflate", "zstd", "br"])
def test_row_82_broken_and_swollen_bodies_are_refused(plain: Wire, coding: str) -> None:
    packed = packers()[coding](orjson.dumps(ask("Hello")))
    for broken in (b"not what it says", packed[:-6], packed + b"more", b""):
        assert plain.send(broken, content_encoding=coding).status == 400
    limit = plain.server.settings.server.max_body_bytes
    swollen = packers()[coding](b'{"model":"' + b"a" * limit + b'"}')
    assert plain.send(swollen, content_encoding=coding).status == 413


def packers() -> dict[str, Any]:
    def by_arrow(codec: str) -> Any:
        return lambda data: pyarrow.compress(data, codec=codec, asbytes=True)

    return {"gzip": gzip.compress, "deflate": zlib.compress, "zstd": by_arrow("zstd"), "br": by_arrow("brotli")}
