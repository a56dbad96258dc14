from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.memory.learn.model_output import SCHEMA, ExtractionFailed, Fact, is_refusal, read_facts
from proxy.memory.model.json_text import MAX_CHARACTERS


def fact(**fields: Any) -> dict[str, Any]:
    whole: dict[str, Any] = {
        "message_id": "msg-1",
        "quote": "I keep bees",
        "action": "add",
        "kind": "fact",
        "subject": "user",
        "relation": "have",
        "object": "bees",
        "text": "The user keeps bees.",
        "replaces": [],
        "confidence": 0.9,
        "at": None,
        "single": False,
        "again": False,
        "forget": False,
        "profile": False,
    }
    return whole | fields


def reply(*facts: dict[str, Any]) -> str:
    return json.dumps({"facts": list(facts)}, ensure_ascii=False)


def objects(text: str) -> list[str]:
    return [kept.object for kept in read_facts(text).kept]


def only(text: str) -> Fact:
    (kept,) = read_facts(text).kept
    return kept


def test_a_clean_reply_is_read_as_it_stands() -> None:
    kept = only(reply(fact(action="replace", replaces=["known-2"], single=True, at="2031-05-10")))
    assert kept == Fact(
        action="replace",
        quote="I keep bees",
        text="The user keeps bees.",
        message_id="msg-1",
        relation="have",
        object="bees",
        replaces=("known-2",),
        confidence=0.9,
        at="2031-05-10",
        single=True,
    )


@pytest.mark.parametrize(
    "text", ['{"facts": []}', "[]", "{}", '{"facts": null}', "```json\n[]\n```", '\ufeff{"facts":[]}\n']
)
def test_nothing_to_note_is_no_failure(text: str) -> None:
    assert read_facts(text).kept == ()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "Here is what I found:\n\n```json\n{0}\n```\n\nLet me know if you need more!", id="fence and prose"
        ),
        pytest.param("```\n{0}\n```", id="bare fence"),
        pytest.param("```json\n{0}", id="open fence"),
        pytest.param("Sure! {0} Hope that helps :-]", id="prose around"),
        pytest.param("{0} That is all. [sic", id="open bracket after it"),
        pytest.param("From message [1] (see {{msg}}) I get: {0}", id="brackets in the prose"),
        pytest.param(
            '<think>The user {{"facts": [1]}} says … I could answer {{"facts": []}}.</think>{0}', id="thoughts"
        ),
        pytest.param("<thinking>\nhm\n</thinking>\n\n<think>more</think>\n{0}", id="two thoughts"),
        pytest.param('The user keeps bees, so {{"facts": []}} is wrong.\n</think>\n\n{0}', id="opening tag swallowed"),
        pytest.param('For example {{"facts": []}} would be an empty answer. Mine: {0}', id="example first"),
    ],
)
def test_what_stands_around_the_json_does_not_matter(text: str) -> None:
    assert objects(text.format(reply(fact()))) == ["bees"]


def test_a_think_tag_in_the_users_words_is_no_thought() -> None:
    assert only(reply(fact(quote="I write <think> and </think> by hand", object="<think>"))).object == "<think>"


def test_unfinished_thoughts_are_no_answer() -> None:
    with pytest.raises(ExtractionFailed, match="no JSON"):
        read_facts("<think>Maybe " + reply(fact()) + " would do, but")


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda one: one,
        lambda one: [one],
        lambda one: {"Facts": [one]},
        lambda one: {"memories": [one]},
        lambda one: {"result": {"facts": [one]}},
        lambda one: {"facts": {"1": one}},
        lambda one: {"facts": one},
        lambda one: {"0": one},
        lambda one: [None, "noise", 7, one],
    ],
)
def test_the_wrapping_does_not_matter(wrapped: Any) -> None:
    assert objects(json.dumps(wrapped(fact()))) == ["bees"]


def test_one_object_a_line_is_a_list() -> None:
    assert objects("\n".join(json.dumps(fact(object=name)) for name in ("bees", "hens"))) == ["bees", "hens"]


def test_json_within_a_json_string_is_read() -> None:
    assert objects(json.dumps(reply(fact()))) == ["bees"]


def test_python_literals_are_read() -> None:
    kept = only(repr({"facts": [fact(quote="I don't keep hens", single=True)]}))
    assert (kept.quote, kept.single, kept.at) == ("I don't keep hens", True, None)


def test_trailing_commas_comments_and_bare_keys_are_repaired() -> None:
    text = '{facts: [{action: "add", quote: "I keep bees", object: "bees", text: "Keeps bees.",}, // one\n],}'
    assert objects(text) == ["bees"]


def test_line_breaks_and_quotes_inside_strings_are_repaired() -> None:
    text = '{"facts": [{"action": "add", "quote": "we call it\n"the hive"", "object": "the hive", "text": "x"}]}'
    assert "the hive" in only(text).quote


def test_a_reply_that_breaks_off_loses_its_last_fact_only() -> None:
    text = reply(fact(object="bees"), fact(object="a hen house"))
    for end in (text.index("a hen") + 5, text.index("a hen") - 30):
        assert objects(text[:end]) == ["bees"]


def test_a_reply_that_breaks_off_between_facts_loses_none() -> None:
    text = reply(fact(object="bees"), fact(object="hens"), fact(object="geese"))
    assert objects(text[: text.index(', {"message_id"', text.index("hens")) + 2]) == ["bees", "hens"]


def test_a_reply_that_breaks_off_in_its_first_fact_is_a_failure() -> None:
    with pytest.raises(ExtractionFailed, match="breaks off"):
        read_facts(reply(fact())[:90])


def test_keys_and_enumerations_of_other_houses_are_understood() -> None:
    text = json.dumps(
        {
            "Memories": [
                {
                    "Operation": "UPDATE",
                    "messageId": "msg-3",
                    "Evidence": "now it's Linz",
                    "predicate": "livesIn",
                    "Value": "Linz",
                    "statement": "The user lives in Linz.",
                    "Supersedes": "Graz",
                    "Confidence": "high",
                    "Category": "Fact",
                }
            ]
        }
    )
    kept = only(text)
    assert (kept.action, kept.message_id, kept.relation, kept.object) == ("replace", "msg-3", "live in", "Linz")
    assert (kept.replaces, kept.confidence) == (("Graz",), 0.9)


@pytest.mark.parametrize(
    ("given_", "understood"),
    [(None, 0.8), ("85%", 0.85), (85, 0.85), (7, 0.7), ("0.4", 0.4), ("low", 0.4), (-3, 0.0), ("sure", 0.8), ([], 0.8)],
)
def test_confidence_comes_in_many_forms(given_: object, understood: float) -> None:
    assert only(reply(fact(confidence=given_))).confidence == pytest.approx(understood)


def test_infinite_and_undefined_numbers_are_tamed() -> None:
    text = reply(fact(confidence=0), fact(confidence=1))
    text = text.replace('"confidence": 0', '"confidence": NaN').replace('"confidence": 1', '"confidence": 1e999')
    assert [kept.confidence for kept in read_facts(text).kept] == [0.8, 1.0]


def test_null_fields_take_their_defaults() -> None:
    empty = dict.fromkeys(
        ("kind", "subject", "relation", "replaces", "confidence", "at", "single", "again", "profile", "message_id")
    )
    kept = only(reply(fact(**empty)))
    assert (kept.kind, kept.subject, kept.relation, kept.replaces, kept.at, kept.single) == (
        "fact",
        "user",
        "",
        (),
        None,
        False,
    )


def test_wrong_types_are_coerced_where_the_meaning_is_plain() -> None:
    kept = only(reply(fact(object=42, single="true", profile=1, again="no", at=["2031"], subject="I", kind="Opinion")))
    assert (kept.object, kept.single, kept.profile, kept.again, kept.at) == ("42", True, True, False, None)
    assert (kept.subject, kept.kind) == ("user", "preference")


def test_a_fact_without_what_it_needs_falls_and_the_others_stay() -> None:
    bad = [fact(quote=""), fact(quote=None), fact(quote={"a": 1}), fact(action="explode"), fact(text="x" * 5000)]
    bad += [fact(action="retract", object=None, replaces=[])]
    found = read_facts(reply(*bad, fact()))
    assert ([kept.object for kept in found.kept], found.dropped) == (["bees"], len(bad))


def test_what_is_no_action_is_not_a_failure() -> None:
    found = read_facts(reply(fact(action="NONE")))
    assert (found.kept, found.dropped) == ((), 1)


def test_if_no_fact_is_usable_the_failure_says_why_and_repeats_nothing() -> None:
    with pytest.raises(ExtractionFailed) as failure:
        read_facts(reply(fact(action="hive-secret"), fact(quote="")))
    assert "action" in str(failure.value)
    assert "quote" in str(failure.value)
    assert "hive-secret" not in str(failure.value)


def test_contradictions_close_nothing() -> None:
    assert only(reply(fact(action="add", replaces=["known-1"]))).replaces == ()
    assert only(reply(fact(action="replace", replaces=[]))).action == "add"


def test_a_replacement_without_a_new_value_is_a_retraction() -> None:
    kept = only(reply(fact(action="replace", object=None, replaces=["hens"])))
    assert (kept.action, kept.replaces) == ("retract", ("hens",))


def test_what_ends_may_come_as_objects_or_a_single_word() -> None:
    assert only(reply(fact(action="retract", replaces=[{"id": "known-1"}, "hens", None]))).replaces == (
        "known-1",
        "hens",
    )
    assert only(reply(fact(action="retract", replaces="hens"))).replaces == ("hens",)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n",
        "null",
        "42",
        '"bees"',
        "The user keeps bees.",
        "[1, 2, 3]",
        '["I keep bees"]',
        '{"error": {"message": "overloaded"}}',
        '{"answer": "bees"}',
        json.dumps(SCHEMA),
        "[" * 100_000,
        '{"facts":' * 20_000,
        '{"a":' * 50_000 + "1" + "}" * 50_000,
        "{" + "9" * 5000 + "}",
    ],
)
def test_what_holds_no_facts_is_a_failure(text: str) -> None:
    with pytest.raises(ExtractionFailed):
        read_facts(text)


def test_a_megabyte_of_garbage_fails_quickly() -> None:
    garbage = "".join(chr(33 + (n * n * 31 + n * 7) % 94) for n in range(1_000_000))
    for text in (garbage, '{"facts": [{"quote": "' + garbage, "```json\n" + garbage):
        start = time.process_time()
        with pytest.raises(ExtractionFailed):
            read_facts(text)
        assert time.process_time() - start < 10


def test_a_reply_beyond_the_limit_keeps_what_came_before() -> None:
    text = reply(*[fact(object=f"hive {n}") for n in range(1000)])
    assert len(text) > MAX_CHARACTERS
    assert objects(text)[:2] == ["hive 0", "hive 1"]


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I cannot process this conversation.",
        "<think>The policy says no.</think>As an AI, I must decline.",
        "Es tut mir leid, dabei kann ich nicht helfen.",
        "Lo siento, pero no puedo ayudar con eso.",
        "Извините, я не могу обработать этот текст.",
        "抱歉，我无法处理该请求。",
    ],
)
def test_a_polite_no_is_a_refusal(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize(
    "text", ["", "The user keeps bees.", reply(fact(quote="I can't stand bees")), "I'm sorry. " + reply()]
)
def test_an_answer_is_no_refusal(text: str) -> None:
    assert not is_refusal(text)


def test_the_schema_names_every_field_and_is_strict() -> None:
    item = SCHEMA["properties"]["facts"]["items"]
    assert set(item["properties"]) == set(Fact.model_fields) == set(item["required"])
    assert item["additionalProperties"] is SCHEMA["additionalProperties"] is False


JSONISH = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.text(max_size=20)
    | st.sampled_from(["add", "retract", "known-1"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from([*Fact.model_fields, "facts", "value", "Type"]) | st.text(max_size=5), inner, max_size=8
        )
    ),
    max_leaves=25,
)
PIECES = st.lists(
    st.sampled_from(
        [
            "{",
            "}",
            "[",
            "]",
            '"',
            "'",
            ":",
            ",",
            "\\",
            "<think>",
            "</think>",
            "```json\n",
            "```",
            "facts",
            '"quote"',
            '"add"',
            " ",
            "\n",
            "//",
            "\u0000",
            "\ud800",
            "нет",
            "蜂",
        ]
    ),
    max_size=60,
).map("".join)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=300) | PIECES | JSONISH.map(json.dumps) | JSONISH.map(repr))
def test_any_text_is_read_or_fails_as_a_failure(text: str) -> None:
    try:
        found = read_facts(text)
    except ExtractionFailed:
        return
    assert all(kept.quote and kept.text and 0 <= kept.confidence <= 1 for kept in found.kept)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.text("abc \"'{}[]<>\\蜂é", min_size=1, max_size=20).filter(str.strip), min_size=1, max_size=4),
    st.data(),
)
def test_wherever_a_reply_breaks_off_no_half_value_is_kept(values: list[str], data: st.DataObject) -> None:
    text = reply(*[fact(object=value) for value in values])
    end = data.draw(st.integers(0, len(text)))
    try:
        found = objects(text[:end])
    except ExtractionFailed:
        return
    assert found == [value.strip() for value in values][: len(found)]
