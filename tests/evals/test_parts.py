from __future__ import annotations

import json

import pytest

from proxy.evals.abstain import PROMPTS, Quiet, asked_in, requests, speakers, touches_turn
from proxy.evals.abstain import tabulate as tabulate_quiet
from proxy.evals.cache import bill, cost
from proxy.evals.client import Asked
from proxy.evals.dataset import load_set
from proxy.evals.forget import load_cases
from proxy.evals.junk import audit
from proxy.evals.report import MAX_MISSES, Chart, Miss, Report, Table, shown
from proxy.memory.inject.blocks import OPEN, OPENING_OPEN, PROFILE_OPEN


def test_audit_counts_what_should_not_have_been_learned(sample):
    person = load_set(sample, "own").people[0]
    memories = [
        {"text": "Telescope: Dobsonian", "quote": "My telescope is a Dobsonian"},
        {"text": "telescope, dobsonian", "quote": "That gathers a lot of light"},
        {"text": "likes dew", "quote": ""},
    ]
    counted = audit(memories, person)
    assert counted["facts"] == 3
    assert counted["without a quote"] == 1
    assert counted["quote not said by the user"] == 1
    assert counted["quote said by the assistant only"] == 1
    assert counted["said twice"] == 1


def test_prompts_are_dealt_out_among_the_people(sample):
    dataset = load_set(sample, "own")
    asked = [one for person in dataset.people for one in requests(dataset, person)]
    assert [len(set(texts)) for texts in PROMPTS.values()] == [100, 25, 25, 25, 25]
    for code, texts in PROMPTS.items():
        assert sorted(text for group, text in asked if group == f"unrelated prompts ({code})") == sorted(texts)
    assert ("never said (adversarial)", "When does the choir rehearse?") in asked


def test_each_language_is_asked_of_a_speaker(tmp_path):
    rows = [
        ("a", "de", [["Wir haben einen Dackel."], ["Der Dackel ist weg."]], "Welche Tiere haben wir?"),
        ("b", "es", [["Toco el oboe."]], "¿Qué toco?"),
    ]
    names = ("id", "lang", "conversations", "probe")
    lines = [json.dumps(dict(zip(names, row, strict=True))) for row in rows]
    (tmp_path / "retract.jsonl").write_text("\n".join(lines), encoding="utf-8")
    cases = load_cases(tmp_path)
    dataset = speakers(cases)
    assert [(person.id, [line.content for _, line in person.lines()]) for person in dataset.people] == [
        ("de", ["Wir haben einen Dackel."]),
        ("es", ["Toco el oboe."]),
    ]
    assert asked_in(dataset.people[0], {"de": ["Wer schrieb Faust?"], "es": ["¿Qué hora es?"]}) == [
        ("unrelated prompts (de)", "Wer schrieb Faust?"),
        ("own questions (de), for comparison", "Welche Tiere haben wir?"),
    ]


def test_opening_block_is_not_memory_of_the_turn():
    user = {"role": "user", "content": "Hi"}
    always = PROFILE_OPEN, OPENING_OPEN
    for insertions, touched in ((), False), (always, False), ((*always, OPEN), True):
        text = "".join(insertions)
        asked = Asked((text,), [user], [{"role": "user", "content": f"Hi{text}"}], "", "", 1.0)
        assert touches_turn(asked) == touched
    table = tabulate_quiet("x", [Quiet("g", "t", 4, on_turn=False), Quiet("g", "t", 6, on_turn=True)]).tables[0]
    assert table.rows == (("g", 2, 0.5, 1.0, 5.0),)


def test_only_a_repeated_prefix_is_cheap():
    first, second = "one two three four five six seven eight", "one two three four five six seven eight nine ten"
    assert cost([first, second]) < cost([first, f"zero {second}"])


def test_block_that_stays_keeps_the_prefix():
    def turn(number: int, block: str) -> Asked:
        sent = [{"role": "user", "content": f"question {at}"} for at in range(number + 1)]
        received = [{"role": "user", "content": f"question {at}{block}"} for at in range(number + 1)]
        return Asked((block,), sent, received, "", "", 1.0)

    kept = bill([turn(number, " <known>") for number in range(5)])
    moved = bill([turn(number, f" <known {number}>") for number in range(5)])
    assert kept.kept == 1.0
    assert moved.kept == 0.0
    assert kept.with_memory < moved.with_memory


def test_report_is_text_json_and_a_page():
    table = Table("T <1>", ("name", "share"), (("a & b", 0.25), ("none", None)), ("a note",))
    report = Report({"set": "own"}, [table], [{"part": "recall"}])
    assert "a & b  0.250" in report.text()
    assert json.loads(report.json())["tables"][0]["rows"] == [["a & b", 0.25], ["none", None]]
    page = report.html()
    assert "T &lt;1&gt;" in page
    assert "a &amp; b" in page
    assert "http" not in page


def test_page_shows_misses_and_what_came_instead():
    bars = Chart("By <category>", {"600 tokens": [("a & b", 0.5), ("none", 0.0)], "2000 tokens": [("a & b", 0.75)]})
    lines = Chart("By tokens", {"injected": [(573.0, 0.5), (1739.0, 0.75)]}, unit="tokens")
    miss = Miss(
        "temporal", "When <was> it?", (("missing", "on 3 May"), ("injected instead", "<memory>nothing</memory>"))
    )
    page = Report(charts=[bars, lines], misses=[miss] * (MAX_MISSES + 2)).html()
    for shown_ in (
        "50.0 %",
        "75.0 %",
        "0.0 %",
        "By &lt;category&gt;",
        "1,739",
        "&lt;memory&gt;nothing",
        "2 more are in",
    ):
        assert shown_ in page
    assert page.count("<svg") == page.count("</svg>") == 2
    assert page.count("<details>") == MAX_MISSES
    assert Report().html().count("<svg") == 0


@pytest.mark.parametrize(
    ("value", "text"), [(None, "-"), (0.12345, "0.123"), (1234.56, "1,234.6"), (7, "7"), ("x", "x")]
)
def test_cells_are_shown_by_kind(value, text):
    assert shown(value) == text
