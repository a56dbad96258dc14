from __future__ import annotations

import json

import pytest

from proxy.errors import ConfigError
from proxy.evals.actor import Actor
from proxy.evals.cases import check_of, load_scenarios, wrong_memories
from proxy.evals.client import Asked
from proxy.evals.forget import load_cases
from proxy.evals.play import Result, may_end, tabulate
from proxy.evals.verdict import Check, judge

pytestmark = pytest.mark.anyio

CASE = {
    "id": "tea",
    "kind": "forget",
    "lang": "en",
    "conversations": [["I drink tea.", "I like rum."], {"time": "2026-02-01T09:00:00Z", "user": ["Forget the rum."]}],
    "probes": [{"probe": "What do I drink?", "present": ["tea"], "absent": ["rum"]}, {"probe": "?", "no_user": True}],
    "max_memories": 1,
}
STORY = {
    "id": "ada",
    "lang": "en",
    "ask": {"time": "2026-06-20T10:00:00Z"},
    "conversations": [{"user": ["We expect 90 guests."]}, ["It is 60 guests now."]],
    "questions": [
        {"probe": "How many guests?", "present": [["60", "sixty"]], "resolved": [["90 guests", ["60 guests"]]]},
        {"probe": "Who?", "present": ["guests"]},
    ],
}


class RecordingClient:
    """Records an actor's calls; the upstream receives each message with a block after it."""

    def __init__(self, key: str = "", log: list | None = None) -> None:
        self.key = key
        self.log = [] if log is None else log
        self.rows = [
            {"id": "m1", "status": "active", "text": "I drive a Volvo."},
            {"id": "m2", "status": "closed", "text": "I drove a Volvo."},
        ]

    def with_key(self, name: str) -> RecordingClient:
        return RecordingClient(name, self.log)

    async def chat(self, messages, **more) -> Asked:
        self.log.append((self.key, [one["content"] for one in messages], more))
        return Asked((), messages, [*messages[:-1], {**messages[-1], "content": "told <block>"}], "", "", 1.0)

    async def memories(self, user: str, status: str = "active") -> list[dict[str, str]]:
        return self.rows

    async def call(self, method, path, user, *, query=None, body=None):
        self.log.append((method, path, user, body))
        return {}

    async def settle(self, user: str) -> float:
        self.log.append(("settle", user))
        return 0.0


async def played(*steps) -> tuple[Actor, list]:
    client = RecordingClient()
    actor = Actor(client, "case")  # type: ignore[arg-type] - all that it uses
    for step in steps:
        await actor.play(step)
    return actor, client.log


async def test_conversation_is_resent_with_each_message():
    step = {"user": ["a", "b"], "system": "s", "replies": ["r"], "time": "T", "headers": {"X": "1"}, "body": {"n": 2}}
    actor, log = await played(step)
    assert [texts for _, texts, _ in log] == [["s", "a"], ["s", "a", "r", "b"]]
    assert [(more["reply"], more["fields"]) for *_, more in log] == [("r", {"n": 2}), ("OK.", {"stream": True, "n": 2})]
    first = log[0][2]
    assert (first["user"], first["time_of_turn"], first["headers"]) == ("case", "T", {"X": "1"})
    assert (actor.messages, actor.person({}).said) == (2, ["a", "b"])


async def test_requests_are_sent_verbatim_and_counted_once():
    lists = [[{"role": "user", "content": "a"}], [{"role": "user", "content": [{"type": "text", "text": "a"}]}]]
    actor, log = await played({"requests": lists})
    assert [texts[0] for _, texts, _ in log] == ["a", [{"type": "text", "text": "a"}]]
    assert (actor.messages, actor.person({}).said) == (2, ["a"])


async def test_replay_sends_back_what_the_provider_was_sent():
    actor, log = await played({"user": ["a"]}, {"replay_sent": "b"})
    assert log[1][1] == ["told <block>", "OK.", "b"]
    assert actor.person({}).said == ["a", "b"]


async def test_people_differ_by_name_and_key():
    header = {"X-OpenWebUI-User-Id": "ann"}
    actor, log = await played(
        {"user": ["a"], "as": "-b"}, {"user": ["c"], "no_user": True, "headers": header, "key": "k"}
    )
    assert [(key, more["user"]) for key, _, more in log] == [("", "case-b"), ("k", "")]
    assert [(key, person.name) for (key, _), person in actor.people.items()] == [("", "case-b"), ("k", "ann")]
    await actor.settle({"no_user": True, "body": {"user": "bo"}})
    assert log[-1] == ("settle", "bo")


async def test_calls_reach_the_memories_that_hold_the_text():
    actor, log = await played(
        {"call": {"delete": "Volvo"}},
        {"call": {"restore": "Volvo"}},
        {"call": {"patch": "Volvo", "to": "I drive a Saab."}},
        {"call": {"delete": "Fiat"}},
        {"call": {"forget": "rum"}},
        {"call": {"method": "GET", "path": "/v1/state"}},
    )
    assert log == [
        ("DELETE", "/v1/memories/m1", "case", None),
        ("POST", "/v1/memories/m2/restore", "case", {}),
        ("PATCH", "/v1/memories/m1", "case", {"text": "I drive a Saab."}),
        ("POST", "/v1/memories/forget", "case", {"text": "rum"}),
        ("GET", "/v1/state", "case", None),
    ]
    assert actor.person({}).said == ["I drive a Saab."]


async def test_question_is_asked_read_only_at_its_time():
    client = RecordingClient()
    await Actor(client, "case").ask({"probe": "?", "time": "T", "as": "-b"})  # type: ignore[arg-type]
    ((_, texts, more),) = client.log
    assert (texts, more["mode"], more["time_of_turn"], more["user"]) == (["?"], "read", "T", "case-b")


def test_cases_and_stories_are_read_from_one_folder(tmp_path):
    (tmp_path / "memory.jsonl").write_text(json.dumps(CASE) + "\n\n", encoding="utf-8")
    (tmp_path / "stories.json").write_text(json.dumps([STORY]), encoding="utf-8")
    case, story = load_scenarios(tmp_path)
    assert (case.kind, case.steps[0], len(case.probes)) == ("forget", {"user": ["I drink tea.", "I like rum."]}, 2)
    assert (story.kind, story.is_story, story.probes[0]["time"]) == ("ada", True, "2026-06-20T10:00:00Z")


@pytest.mark.parametrize("text", ["", '{"id": "x"}', "[]", "{"])
def test_folder_without_cases_is_refused(tmp_path, text):
    (tmp_path / "memory.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="conversations"):
        load_scenarios(tmp_path)


def test_checks_take_one_string_or_several():
    row = {"present": ["a", ["b", "c"]], "resolved": [["d", "e"]], "guarded": [["f", ["g", "h"]]], "once": ["i"]}
    assert check_of(row) == Check(
        present=(("a",), ("b", "c")), resolved=(("d", ("e",)),), guarded=(("f", ("g", "h")),), once=("i",)
    )


def test_checks_on_memories_are_named_in_words():
    row = {
        "memories_present": ["tea", ["rum", "gin"]],
        "memories_absent": ["milk"],
        "memories_once": ["cats"],
        "max_memories": 2,
        "guarded": [["dogs", ["Bo"]]],
    }
    texts = ["I drink tea and milk", "I like cats", "My cats like dogs"]
    assert list(wrong_memories(texts, row)) == [
        "memory missing: rum | gin",
        "memory present: milk",
        "memory without Bo: My cats like dogs",
        "2 memories with cats",
        "3 memories, more than 2",
    ]
    assert list(wrong_memories(["anything"], {})) == []


def test_cases_count_by_kind_stories_by_question(tmp_path):
    (tmp_path / "memory.jsonl").write_text(json.dumps(CASE), encoding="utf-8")
    (tmp_path / "stories.json").write_text(json.dumps([STORY]), encoding="utf-8")
    case, story = load_scenarios(tmp_path)
    first = [judge("tea", check_of(case.probes[0])), judge("", check_of(case.probes[1]))]
    guests = judge("90 guests\n60 guests", check_of(story.probes[0]))
    results = [
        Result(case, "tea", tuple(first), ("2 memories, more than 1",)),
        Result(story, "How many guests?", (guests,)),
        Result(story, "Who?", (judge("60 guests", check_of(story.probes[1])),)),
    ]
    report = tabulate(results)
    assert [table.title for table in report.tables] == [
        "cases, by kind",
        "cases, by language",
        "cases: questions of stories",
        "cases: not right",
    ]
    by_kind, _, stories, wrong = report.tables
    assert by_kind.columns == ("", "asked", "right", "kept", "resolved", "strict", "withheld", "false endings")
    assert by_kind.rows == tuple((group, 1, 0, 1.0, 1.0, 1.0, 1.0, None) for group in ("forget", "all"))
    assert stories.rows[-1] == ("all", 2, 1, 1.0, 0.5, 0.5, None, None)
    assert (wrong.columns, wrong.rows) == (
        ("2 of 3",),
        (("tea: 2 memories, more than 1",), ("How many guests?: not marked: 90 guests",)),
    )
    assert [note.partition(":")[0] for note in wrong.notes] == ["right", "kept", "resolved", "strict", "withheld"]
    assert [miss.title for miss in report.misses] == ["tea", "How many guests?"]
    assert [item["right"] for item in report.items] == [False, False, True]


def result(scenario, injected: str, closed: tuple[str, ...] = ()) -> Result:
    (probe,) = scenario.probes
    said = [text for step in scenario.steps for text in step["user"]]
    verdict = judge(injected, check_of(probe, whole_words=scenario.whole_words), said)
    return Result(scenario, scenario.id, (verdict,), closed=closed)


def test_each_measure_counts_where_it_applies(tmp_path):
    rows = [
        ("swap", "correct", "I play the oboe.", "Sorry, I play the bassoon.", ["bassoon"], ["oboe"]),
        ("gone", "forget_request", "Ich habe Asthma.", "Vergiss es.", [], ["Asthma"]),
        ("near", "near_miss", "Ich mag Tee.", "Bo mag keinen Tee.", ["Tee"], []),
    ]
    names = ("id", "kind", "conversations", "present", "absent")
    lines = [
        json.dumps({**dict(zip(names, (id_, kind, [[a], [b]], *checks), strict=True)), "lang": "de", "probe": "?"})
        for id_, kind, a, b, *checks in rows
    ]
    (tmp_path / "retract.jsonl").write_text("\n".join(lines), encoding="utf-8")
    swap, gone, near = load_cases(tmp_path)
    report = tabulate(
        [result(swap, "plays the Bassoon"), result(gone, "Asthmas"), result(near, "Tee", ("Ich mag Tee",))], "forget"
    )
    assert report.tables[0].rows == (
        ("correct", 1, 1, 1.0, 1.0, 1.0, None, None),
        ("forget_request", 1, 0, 1.0, 0.0, 0.0, 0.0, None),
        ("near_miss", 1, 0, 1.0, 1.0, 1.0, None, 1.0),
        ("all", 3, 1, 1.0, 2 / 3, 2 / 3, 0.0, 1.0),
    )
    assert [item["wrong"] for item in report.items] == [[], ["leaked: Asthma"], ["closed: Ich mag Tee"]]
    assert report.charts[0].series["resolved"] == [("correct", 1.0), ("forget_request", 0.0), ("near_miss", 1.0)]


def test_restated_fact_closes_only_its_retraction(tmp_path):
    told = [["I'm vegan."], ["I'm not vegan any more."], ["I'm vegan again."]]
    row = {"id": "r", "kind": "restate", "conversations": told, "probe": "Diet?"}
    (tmp_path / "retract.jsonl").write_text(json.dumps(row), encoding="utf-8")
    (case,) = load_cases(tmp_path)
    assert may_end(case, {"text": "I'm not vegan any more"})
    assert may_end(case, {"text": "The user eats anything", "quote": "I'm not vegan any more."})
    assert not may_end(case, {"text": "I'm vegan again"})
    assert case.ends_nothing
