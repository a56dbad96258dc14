"""Judge eval over a scripted provider."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proxy.errors import ConfigError
from proxy.evals.judge import judge, load_tasks
from proxy.upstream.litellm import LiteLLMUpstream
from tests.fakes import replies
from tests.fakes.provider import FakeProvider, Seen
from tests.fakes.replies import Reply

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings(
        "ignore:Item '.*' on TypedDict class '.*' is using the `ReadOnly` qualifier:UserWarning"
    ),
]


def case(
    kind: str, *conversations: list[str], present: tuple[str, ...] = (), absent: tuple[str, ...] = ()
) -> dict[str, Any]:
    return {
        "id": f"en-{kind}",
        "lang": "en",
        "kind": kind,
        "conversations": list(conversations),
        "probe": "?",
        "present": present,
        "absent": absent,
    }


@pytest.fixture
def path(tmp_path: Path) -> Path:
    rows = [
        case("retract", ["I use Corvid. I use Tandem. Any tips?"], ["I dropped Tandem.", "Bye."], absent=("Tandem",)),
        case("correct", ["My port is 8443.", "Sorry, my port is 9443."], absent=("8443",)),
        case("restate", ["I sing in Nordwind."], ["I left Nordwind."], ["I'm back."], present=("Nordwind",)),
        case("additive", ["I play squash."], ["I also play padel."], present=("squash", "padel")),
        {
            **case("retract", ["Ich fahre einen Niva."], ["Der Niva ist weg."], absent=("Niva",)),
            "lang": "de",
            "id": "d",
        },
    ]
    file = tmp_path / "cases.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return file


def test_tasks_hold_statements_of_person_and_language(path: Path) -> None:
    retract, correct, restate, additive, german = load_tasks(path)
    assert retract.message == "I dropped Tandem. Bye."
    assert set(retract.older) == {
        "I use Corvid.",
        "I use Tandem.",
        "My port is 8443.",
        "I sing in Nordwind.",
        "I play squash.",
    }
    assert [retract.older[index] for index in retract.ended] == ["I use Tandem."]
    assert (correct.message, correct.older[correct.ended[0]]) == ("Sorry, my port is 9443.", "My port is 8443.")
    assert (restate.message, restate.older[restate.ended[0]]) == ("I left Nordwind.", "I sing in Nordwind.")
    assert (additive.ended, german.older, german.ended) == ((), ("Ich fahre einen Niva.",), (0,))


def test_cases_are_picked_by_kind_and_language(path: Path) -> None:
    assert [task.id for task in load_tasks(path, {"de": 1})] == ["d"]
    assert len(load_tasks(path, {"en": 1})) == 4


def test_bad_line_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text('{"id": 1}\n', "utf-8")
    with pytest.raises(ConfigError, match=r"bad\.jsonl"):
        load_tasks(tmp_path / "bad.jsonl")


async def test_endings_and_false_endings_are_counted(path: Path, provider: FakeProvider) -> None:
    def script(seen: Seen) -> Reply:
        question = seen.json["messages"][-1]["content"]
        word = next((word for word in ("Tandem", "squash", "8443") if f"I dropped {word}" in question), "squash")
        return replies.json_reply(replies.completion(json.dumps({"changed": [{"verdict": "ended", "word": word}]})))

    provider.script(script)
    try:
        found = await judge(provider.base_url, "small", path, per_kind={"en": 1})
    finally:
        await LiteLLMUpstream().aclose()
    assert found["all"] == {
        "cases": 4,
        "right": 1,
        "endings": 3,
        "found": 1,
        "pairs": 17,
        "false": 1,
        "failed": 0,
    }
    assert found["kinds"]["retract"]["right"] == 1
    assert found["kinds"]["additive"]["false"] == 1
    assert list(found["languages"]) == ["en"]
    assert found["tokens"]["prompt_tokens"] > 0
    assert len(found["items"]) == 4
