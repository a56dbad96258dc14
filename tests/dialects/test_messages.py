"""Anthropic requests: the parsed view, and edits that leave all other bytes unchanged."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.dialects import messages
from proxy.dialects.base import ChatRequest
from proxy.dialects.body import Insertion, parse
from proxy.errors import BodyTooLarge, Forbidden, InvalidRequest, MissingModel, NotFound, ProxyError, RateLimited

MARK = {"type": "ephemeral"}
TEXT = {"type": "text", "text": "hi"}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "21 degrees"}


def body(*contents: Any, **fields: Any) -> bytes:
    said = [one if isinstance(one, dict) and "role" in one else {"role": "user", "content": one} for one in contents]
    return json.dumps({"model": "claude-x", "max_tokens": 9, "messages": said, **fields}).encode()


def read(*contents: Any, **fields: Any) -> ChatRequest:
    return messages.read(body(*contents, **fields))


def test_strings_and_blocks_are_read_alike():
    first, second = read("hi", [TEXT, {"type": "text", "text": "there"}]).messages
    assert (first.role, first.text, second.text) == ("user", "hi", "hi\nthere")
    assert read([TEXT]).messages[0].parts[0].text == "hi"


def test_thoughts_images_documents_and_searches_say_nothing_themselves():
    kinds = ["thinking", "redacted_thinking", "image", "document", "search_result", "server_tool_use", "new_kind"]
    blocks = [{"type": kind, "thinking": "secret", "source": {"data": "QUJD"}, "title": "t"} for kind in kinds]
    (message,) = read([*blocks, TEXT]).messages
    assert message.text == "hi"
    assert [part.kind for part in message.parts] == [*kinds, "text"]


def test_the_system_prompt_is_none_of_the_messages():
    request = read("hi", system=[{"type": "text", "text": "be kind", "cache_control": MARK}], stream=True)
    assert (len(request.messages), request.stream, request.model) == (1, True, "claude-x")


def test_tool_results_alone_are_a_loop_step():
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "t", "input": {"a": 1}}]}
    _, assistant, step = read("weather?", call, [RESULT]).messages
    assert (step.role, step.tool_call_id, step.is_insertable) == ("tool", "toolu_1", False)
    assert assistant.tool_calls[0]["name"] == "t"


def test_tool_results_with_words_are_the_users_turn():
    (message,) = read([RESULT, TEXT]).messages
    assert (message.role, message.text, message.is_insertable) == ("user", "hi", True)


def test_agents_notes_are_not_the_users_words():
    note = {"type": "text", "text": "<system-reminder>\nI use Slack\n</system-reminder>\n"}
    asked, step = read([note, TEXT], [RESULT, note]).messages
    assert (asked.text, step.role) == ("hi", "tool")
    assert read([TEXT]).messages[0].parts[0].text == asked.text


def test_moved_cache_marks_leave_a_message_unchanged():
    inner = {"type": "text", "text": "21"}
    marked = [{**RESULT, "content": [{**inner, "cache_control": MARK}], "cache_control": MARK}]
    assert read(marked).messages[0].parts == read([{**RESULT, "content": [inner]}]).messages[0].parts


@pytest.mark.parametrize(
    ("given", "user", "session"),
    [
        ("u-1", "u-1", None),
        ("{not json", "{not json", None),
        ('{"a": 1}', '{"a": 1}', None),
        (f"user_{'a' * 64}_account__session_{'b' * 36}", "a" * 64, "b" * 36),
        (f"user_{'a' * 64}_account_c-1_session_{'b' * 36}", "c-1", "b" * 36),
        ('{"device_id": "d", "account_uuid": "", "session_id": "s"}', "d", "s"),
        ('{"device_id": "d", "account_uuid": "acc", "session_id": "s"}', "acc", "s"),
    ],
)
def test_the_user_is_named_apart_from_the_conversation(given, user, session):
    request = read("hi", metadata={"user_id": given})
    metadata = request.body["metadata"]
    assert (metadata["user_id"], metadata.get("conversation_id")) == (user, session)


def test_list_gets_one_block_behind_the_cache_mark():
    raw = b'{"model":"m","messages":[{"role":"user","content":[ {"type":"text","text":"a","cache_control":{}} ] }]}'
    out = messages.insert(raw, [Insertion(0, "1"), Insertion(0, "2")])
    assert out == raw.replace(b"{}} ]", b'{}} ,{"type":"text","text":"12"}]')


def test_a_string_grows():
    raw = body('say "hi"', system="be kind")
    assert messages.insert(raw, [Insertion(0, '\n"é"')]) == raw.replace(b'hi\\""', 'hi\\"\\n\\"é\\""'.encode())


@pytest.mark.parametrize("content", ["", [], None, 7, {"type": "text"}])
def test_what_is_refused_up_there_stays_refused(content):
    raw = body("hi", content)
    assert messages.insert(raw, [Insertion(0, "x"), Insertion(1, "x")]) is raw


def test_no_empty_block_is_made():
    raw = body([TEXT])
    assert messages.insert(raw, [Insertion(0, "")]) is raw


@pytest.mark.parametrize("raw", [b"", b"[]", b"7", b"{", b'"x"'])
def test_what_is_no_object_is_refused(raw):
    with pytest.raises(InvalidRequest):
        messages.read(raw)


def test_a_model_must_be_named():
    with pytest.raises(MissingModel):
        messages.read(b'{"messages": []}')


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (InvalidRequest("x"), "invalid_request_error"),
        (Forbidden("x"), "permission_error"),
        (NotFound("x"), "not_found_error"),
        (BodyTooLarge("x"), "request_too_large"),
        (RateLimited("x"), "rate_limit_error"),
        (ProxyError("x"), "api_error"),
    ],
)
def test_errors_have_anthropics_shape(error, kind):
    shaped = json.loads(messages.error_body(error, "req_1"))
    assert shaped == {"type": "error", "error": {"type": kind, "message": "x"}, "request_id": "req_1"}
    assert "request_id" not in json.loads(messages.error_body(error))


@pytest.mark.parametrize(
    ("pieces", "end"),
    [
        ([b'event: message_stop\ndata: {"type":"message_stop"}\n\n'], 0),
        ([b'data: {"type": "message_stop"}\n\n'], 0),
        ([b'event: message_delta\ndata: {"type":"message_delta"}\n\nevent: mess', b"age_stop\n", b"data: {}"], 1),
        ([b'data: {"type":"text_delta","text":"event: message_stop"}\n\n'], None),
        ([b'data: {"type":"content_block_stop"}\n\n', b"data: [DONE]\n\n"], None),
    ],
)
def test_the_end_is_seen_where_it_goes_by(pieces, end):
    watch = messages.end_watch()
    assert [watch.feed(piece) for piece in pieces] == [place == end for place in range(len(pieces))]


# Laws over any body, in any spelling.
texts = st.text(max_size=12)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
anything = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3))
kinds = st.sampled_from(["text", "tool_result", "tool_use", "thinking", "image", "document", "search_result"]) | texts
blocks = st.fixed_dictionaries(
    {"type": kinds}, optional={"text": texts | anything, "content": anything, "cache_control": anything, "id": anything}
)
contents = texts | st.lists(blocks | anything, max_size=4) | anything
odd_messages = st.fixed_dictionaries({"content": contents}, optional={"role": texts | st.just("user")}) | anything
bodies = st.fixed_dictionaries(
    {"messages": st.lists(odd_messages, max_size=4) | anything},
    optional={"model": texts | anything, "metadata": anything, "system": anything, "stream": anything},
)
spellings = st.fixed_dictionaries(
    {
        "ensure_ascii": st.booleans(),
        "indent": st.sampled_from([None, 0, 2, "\t"]),
        "separators": st.sampled_from([None, (",", ":"), (" , ", " : ")]),
    }
)


@given(body=bodies | anything, spelling=spellings)
def test_reading_is_total(body, spelling):
    raw = json.dumps(body, **spelling).encode("utf-8", "replace")
    try:
        request = messages.read(raw)
    except InvalidRequest:
        return
    listed = body["messages"]
    assert [one.index for one in request.messages] == list(range(len(listed) if isinstance(listed, list) else 0))
    assert all(isinstance(one.text, str) for one in request.messages)


@given(body=bodies, spelling=spellings, texts=st.lists(texts, min_size=1, max_size=2), data=st.data())
def test_insertion_changes_only_the_named_content(body, spelling, texts, data):
    raw = (" " + json.dumps(body, **spelling) + "\n").encode("utf-8", "replace")
    listed = body["messages"] if isinstance(body["messages"], list) else []
    index = data.draw(st.integers(0, max(len(listed), 1)))
    out = messages.insert(raw, [Insertion(index, text) for text in texts])
    if out is raw:
        return
    before, after = parse(raw), parse(out)
    old, new = before["messages"][index].pop("content"), after["messages"][index].pop("content")
    said = "".join(texts).encode("utf-8", "replace").decode()
    assert said
    assert new == (old + said if isinstance(old, str) else [*old, {"type": "text", "text": said}])
    assert before == after


@given(raw=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_unharmed(raw):
    assert messages.insert(raw, [Insertion(0, "x")]) is raw or b"x" in messages.insert(raw, [Insertion(0, "x")])
    try:
        messages.read(raw)
    except InvalidRequest:
        return
