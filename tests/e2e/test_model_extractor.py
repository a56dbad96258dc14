"""The model extractor end to end: the operator's model is asked after the reply, its answer grounded and reconciled."""

from __future__ import annotations

import json
from pathlib import Path

from tests.e2e.test_scenarios import ask
from tests.fakes.provider import FakeProvider, Seen
from tests.fakes.replies import Reply
from tests.running import Running
from tests.talking import speaking


def _facts(seen: Seen) -> str:
    """Answer as a small model would: prose around the JSON, one invented quote among the facts."""
    prompt = json.dumps(seen.json["messages"])
    fact = {"action": "add", "kind": "fact", "subject": "user", "relation": "use", "confidence": 0.9, "single": False}
    listed = []
    if "Shram and Magnet" in prompt:
        quote = "I use Shram and Magnet as productivity tools"
        listed = [
            {**fact, "object": name, "text": f"The user uses {name} as a productivity tool.", "quote": quote}
            for name in ("Shram", "Magnet")
        ]
        listed.append({**fact, "object": "Notion", "text": "The user uses Notion.", "quote": "I use Notion"})
    return f"Here is what I found:\n```json\n{json.dumps({'facts': listed})}\n```"


def test_facts_come_from_the_operators_model_and_only_with_a_true_quote(tmp_path: Path, provider: FakeProvider) -> None:
    def script(seen: Seen) -> Reply | None:
        return _completion(_facts(seen)) if seen.json.get("model") == "extractor" else None

    provider.script(script)
    memory = {
        "extraction_model": "openai/extractor",
        "extraction_api_key": "sk-operator",
        "extraction_base_url": provider.base_url,
        "model_debounce_s": 0.05,
    }
    with Running(tmp_path, memory=memory) as server:
        ask(server.client(key="sk-alice-own-key"), "I use Shram and Magnet as productivity tools")
        server.wait_learned(key="sk-alice-own-key")
        with server.http(key="sk-alice-own-key") as http:
            known = {row["object_value"]: row for row in http.get("/memories").json()["data"]}
        assert set(known) == {"Shram", "Magnet"}
        assert known["Shram"]["quote"] == "I use Shram and Magnet as productivity tools"
    asked = [seen for seen in provider.seen if seen.json.get("model") == "extractor"]
    assert asked
    assert {seen.header("authorization") for seen in asked} == {"Bearer sk-operator"}
    assert b"sk-alice-own-key" not in b"".join(seen.body for seen in asked)


def _completion(text: str) -> Reply:
    message = {"role": "assistant", "content": text, "refusal": None}
    body = {
        "id": "chatcmpl-x",
        "object": "chat.completion",
        "created": 1,
        "model": "extractor",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": {"prompt_tokens": 900, "completion_tokens": 80, "total_tokens": 980},
    }
    return Reply(chunks=(json.dumps(body).encode(),))


def test_what_extraction_cost_is_in_the_receipt_and_in_the_meters(tmp_path: Path, provider: FakeProvider) -> None:
    provider.script(lambda seen: _completion(_facts(seen)) if seen.json.get("model") == "extractor" else None)
    memory = {
        "extraction_model": "openai/extractor",
        "extraction_api_key": "sk-operator",
        "extraction_base_url": provider.base_url,
        "model_debounce_s": 0.05,
    }
    with Running(tmp_path, memory=memory) as server, speaking(server) as one:
        response = one.tell("I use Shram and Magnet as productivity tools", model="demo")
        spent = one.receipt(response)["costs"]["extraction"]
        assert spent["tokens"] > 0
        assert one.get("/state")["costs"]["extraction"] == spent
        session = response.headers["x-memory-session"]
        assert one.get(f"/sessions/{session}")["costs"]["extraction"] == spent
