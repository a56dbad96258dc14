"""The model in a multipart form: only its part counts, and the rest of the form stays unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from proxy.api.forms import model_named, with_model
from proxy.errors import InvalidRequest
from tests.fakes.provider import FakeProvider
from tests.running import Running


def form(*parts: bytes, boundary: bytes = b"x--y") -> bytes:
    return b"".join(b"--" + boundary + b"\r\n" + part + b"\r\n" for part in parts) + b"--" + boundary + b"--\r\n"


MODEL = b'Content-Disposition: form-data; name="model"\r\n\r\nwhisper-1'
FILE = (
    b'Content-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\n'
    b'\x00--x\r\nContent-Disposition: form-data; name="model"\r\n\r\nother\r\n--x'
)
TYPE = "multipart/form-data; boundary=x--y"


@pytest.mark.parametrize(
    ("body", "kind", "expected"),
    [
        (form(FILE, MODEL), TYPE, "whisper-1"),
        (form(MODEL, FILE), 'Multipart/Form-Data; charset=utf-8; boundary="x--y"', "whisper-1"),
        (form(FILE), TYPE, ""),
        (form(MODEL, boundary=b'o"d'), 'multipart/form-data; boundary="o\\"d"', "whisper-1"),
        (form(b"content-type: text/plain\r\ncontent-disposition: form-data;name=model\r\nx: y\r\n\r\nQ7"), TYPE, "Q7"),
        (form(MODEL), "multipart/form-data", ""),
        (form(MODEL), "application/json", ""),
        (b"", TYPE, ""),
    ],
)
def test_the_model_is_found(body: bytes, kind: str, expected: str) -> None:
    assert model_named(body, kind) == expected
    assert with_model(body, kind, "new") == (body.replace(expected.encode(), b"new", 1) if expected else body)


def test_two_models_are_refused() -> None:
    with pytest.raises(InvalidRequest):
        model_named(form(MODEL, MODEL.replace(b"whisper-1", b"other")), TYPE)


@pytest.mark.parametrize(
    "path", ["/audio/transcriptions", "/audio/translations", "/images/edits", "/images/variations"]
)
def test_a_form_is_routed_by_its_model(tmp_path: Path, provider: FakeProvider, path: str) -> None:
    params = {"model": "openai/real", "api_base": provider.base_url, "api_key": "sk-own"}
    models = [{"model_name": "m", "litellm_params": params}]
    with Running(tmp_path, models=models, wait=False) as server, server.http("EMPTY") as http:
        file = ("a.bin", bytes(range(256)) * 50)
        answer = http.post(path, data={"model": "m", "prompt": "m"}, files={"file": file})
        assert answer.status_code == 200
        assert b'name="model"\r\n\r\nreal\r\n' in provider.last.body
        assert b'name="prompt"\r\n\r\nm\r\n' in provider.last.body
        assert file[1] in provider.last.body
        provider.seen.clear()
        for name in ("real", "ollama/x", "openai/whisper-1"):
            answer = http.post(path, data={"model": name}, files={"file": file})
            assert (answer.status_code, answer.json()["error"]["code"]) == (404, "model_not_found")
        assert not provider.seen
