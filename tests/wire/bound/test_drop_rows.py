"""If the text before a bound thought must go, the provider is asked to drop such thoughts."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import httpx
import pytest

from proxy.store.tables import bindings, ledger
from tests.fakes.binding import BETA, BindingProvider
from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.talking import FACT, new_key, outcome
from tests.wire.bound.talk import CHOICE, FORGET, QUESTIONS, TOOLS, Talk, sent, tell, wished


@pytest.mark.parametrize("how", ["forget", "erase", "ledger", "session", "everything"])
def test_row_85_thoughts_go_with_a_changed_prefix(
    server: Running, talk: Talk, provider: BindingProvider, lasting: FakeProvider, how: str
) -> None:
    talk.ask(QUESTIONS[0])
    talk.ask(QUESTIONS[1])
    lose(server, talk, how)
    response = talk.ask("Which of them would you open first?")
    assert response.status_code == 200
    assert "Use Magnet" not in sent(lasting)
    assert how not in ("forget", "erase") or "Magnet" not in sent(lasting)
    assert wished(lasting)
    assert provider.dropped > 0
    assert talk.receipt()["thoughts"] == "dropped"
    assert "input_transformations" in response.json()
    refusals = provider.refusals
    for question in QUESTIONS[2:]:
        assert talk.ask(question).status_code == 200
    assert provider.refusals == refusals
    assert refusals == (1 if how in ("erase", "session", "everything") else 0)


def test_row_85_refusal_that_the_client_caused_comes_back_unchanged(
    talk: Talk, provider: BindingProvider, lasting: FakeProvider
) -> None:
    talk.ask(QUESTIONS[0])
    talk.ask(QUESTIONS[1])
    talk.messages[0]["content"] = "Which tools are mine?"
    before = len(lasting.seen)
    response = talk.ask(QUESTIONS[2])
    assert (response.status_code, len(lasting.seen) - before, provider.refusals) == (400, 1, 1)
    assert "bound to a different conversation" in response.json()["error"]["message"]
    assert not wished(lasting)


@pytest.mark.parametrize("field", ["system", "tools", "assistant"])
def test_row_85_other_edits_of_the_client_are_kept(
    talk: Talk, provider: BindingProvider, lasting: FakeProvider, field: str
) -> None:
    talk.fields["system"] = "You are terse."
    talk.ask(QUESTIONS[0])
    talk.ask(QUESTIONS[1])
    if field == "assistant":
        talk.messages[1] = {"role": "assistant", "content": "Another answer."}
    else:
        talk.fields[field] = "You are verbose." if field == "system" else [{**TOOLS[0], "name": "find"}]
    before = len(lasting.seen)
    assert talk.ask(QUESTIONS[2]).status_code == 400
    assert len(lasting.seen) - before == 1


def test_row_85_client_that_has_chosen_is_left_alone(
    talk: Talk, provider: BindingProvider, lasting: FakeProvider
) -> None:
    talk.headers["anthropic-beta"] = f"context-1m-2025-08-07,{BETA}"
    talk.fields["thinking"] = {"type": "enabled", "budget_tokens": 9, "block_binding": CHOICE}
    talk.ask(QUESTIONS[0])
    talk.http.post("/memories/forget", json=FORGET)
    assert talk.ask(QUESTIONS[1]).status_code == 200
    assert lasting.last.header("anthropic-beta") == talk.headers["anthropic-beta"]
    assert lasting.last.json["thinking"] == talk.fields["thinking"]
    assert provider.refusals == 0


def test_row_85_request_without_thinking_goes_without_thoughts(
    talk: Talk, provider: BindingProvider, lasting: FakeProvider
) -> None:
    talk.ask(QUESTIONS[0])
    talk.http.post("/memories/forget", json=FORGET)
    talk.fields["thinking"] = {"type": "disabled"}
    assert talk.ask(QUESTIONS[1]).status_code == 200
    assert '"signature"' not in sent(lasting)
    assert lasting.last.json["thinking"] == {"type": "disabled"}


def test_row_85_provider_without_the_wish_is_not_asked(talk: Talk, provider: BindingProvider) -> None:
    talk.fields["tools"] = []
    talk.ask(QUESTIONS[0])
    provider.knows_the_wish = False
    provider.bound = Anything()
    talk.http.post("/memories/forget", json=FORGET)
    response = talk.ask(QUESTIONS[1])
    assert (response.status_code, outcome(response)["reason"]) == (200, "prefix")


@pytest.mark.parametrize("seed", range(4))
def test_row_85_client_never_sees_a_refusal(server: Running, talk: Talk, provider: BindingProvider, seed: int) -> None:
    """This holds for any change of memory between its turns."""
    chance = random.Random(seed)
    branches: list[list[dict[str, Any]]] = []
    for step in range(14):
        what = chance.choice(["ask", "ask", "tool", "again", "branch", "tell", "forget", "ledger"])
        if what == "again" and talk.messages:
            branches.append(talk.back())
            response: httpx.Response | None = talk.send()
        elif what == "branch" and branches:
            talk.messages = list(chance.choice(branches))
            response = talk.ask(f"Which tools do I use, number {step}?")
        elif what == "tell":
            tell(talk, f"I use Tool{step} for drawing")
            response = None
        elif what == "forget":
            talk.http.post("/memories/forget", json={"text": chance.choice(["Magnet", "Shram", "Bronko", "Tool"])})
            response = None
        elif what == "ledger":
            lose(server, talk, "ledger")
            response = None
        else:
            text = "Use the tool: what do I draw with?" if what == "tool" else chance.choice(QUESTIONS)
            response = talk.ask(text, marked=chance.random() < 0.5)
        assert response is None or response.status_code == 200, (step, what, response.text)
    assert provider.refusals == 0


def test_row_85_another_wire_gets_no_thoughts(tmp_path: Path, provider: BindingProvider, lasting: FakeProvider) -> None:
    """Claude behind OpenRouter would get the field without its header, and refuse it."""
    params = {"model": "openrouter/anthropic/claude-x", "api_base": f"{lasting.url}/api/v1", "api_key": "sk-or-v1-a"}
    models = [{"model_name": "claude-x", "litellm_params": params}]
    told = {"model": "m", "messages": [{"role": "user", "content": FACT}]}
    with Running(tmp_path, models=models, upstream=lasting.base_url) as server:
        talk = Talk(server.base_url, key := new_key(), fields={"model": "elsewhere"})
        talk.http.post("/chat/completions", json=told)
        server.wait_learned(key)
        talk.ask(QUESTIONS[0])
        talk.http.post("/memories/forget", json=FORGET)
        talk.fields["model"] = "claude-x"
        assert talk.ask(QUESTIONS[1]).status_code == 200
    assert lasting.last.path.endswith("/chat/completions")
    assert "block_binding" not in sent(lasting)
    assert "signature" not in sent(lasting)
    assert provider.refusals == 0


def lose(server: Running, talk: Talk, how: str) -> None:
    if how == "forget":
        assert talk.http.post("/memories/forget", json=FORGET).json()["closed"]
    elif how == "erase":
        server.wait_learned(talk.key)
        assert talk.http.post("/erase?verify=true").status_code == 200
    elif how == "session":
        server.wait_learned(talk.key)
        for session in talk.http.get("/sessions").json()["data"]:
            talk.http.delete(f"/sessions/{session['id']}")
    else:
        for table in (ledger, bindings) if how == "everything" else (ledger,):
            server.call(server.services.database.submit, lambda connection, one=table: connection.execute(one.delete()))


class Anything(dict[str, str]):
    """Mapping that accepts every thought after every prefix."""

    def get(self, *_: Any) -> Any:
        return Same()


class Same:
    def __eq__(self, _: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]
