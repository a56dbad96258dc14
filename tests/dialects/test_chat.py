"""OpenAI chat requests: the parsed view, and edits that leave all other bytes unchanged."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.dialects import chat
from proxy.dialects.body import Insertion
from proxy.errors import BodyTooLarge, InvalidRequest, MissingModel

RAW = (
    b'{ "model":"m" ,"big":123456789012345678901234567890,"float":1.0E+2,"a":1,"a":2,\n'
    b'\t"messages":[ {"role":"system","content":"be \\u00e9 \\/ kind"} ,\r\n'
    b'{"role":"user","content":"hi \\"there\\" \\\\","content":"say \\"hi\\" \\\\" , "x":null}],"tail":[ ] }\n'
)


def test_insertion_changes_no_other_byte():
    out = chat.insert(RAW, [Insertion(1, '\n<memory>"é"</memory>')])
    assert out == RAW.replace(b'"say \\"hi\\" \\\\"', '"say \\"hi\\" \\\\\\n<memory>\\"é\\"</memory>"'.encode())


def test_insertions_into_several_messages_keep_their_order():
    out = chat.insert(RAW, [Insertion(1, "1"), Insertion(0, "0"), Insertion(1, "2")])
    messages = json.loads(out)["messages"]
    assert [one["content"] for one in messages] == ["be é / kind0", 'say "hi" \\12']


def test_list_content_gets_a_further_text_part():
    body = b'{"model":"m","messages":[{"content":[ {"type":"image_url","image_url":{"url":"data:]}"}} ] }]}'
    out = chat.insert(body, [Insertion(0, "a"), Insertion(0, "b")])
    assert out == body.replace(b"}} ] }", b'}} ,{"type":"text","text":"a"},{"type":"text","text":"b"}] }')


def test_empty_list_content_gets_its_first_part():
    body = b'{"model":"m","messages":[{"content":[ ]}]}'
    assert chat.insert(body, [Insertion(0, "a")]) == body.replace(b"[ ]", b'[ {"type":"text","text":"a"}]')


@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"m","messages":[{"role":"assistant","content":null}]}',
        b'{"model":"m","messages":[{"role":"assistant"}]}',
        b'{"model":"m","messages":[]}',
        b'{"model":"m","messages":["hi"]}',
        b'{"model":"m","messages":{"content":"hi"}}',
        b'{"model":"m","messages":[{"content":"hi"}],"messages":null}',
        b'{"model":"m"}',
        b'["messages"]',
        b'{"messages":[{"content":"hi"}',
        b"",
        b"\xff\xfe",
        b'{"messages":[{"content":"hi"}],"deep":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    ],
)
def test_no_text_is_inserted_unless_all_are(body):
    assert chat.insert(body, [Insertion(0, "x")]) is body


def test_of_repeated_messages_the_last_list_grows():
    body = b'{"messages":[{"content":"a"}],"model":"m","m\\u0065ssages":[{"content":"b"}]}'
    assert chat.insert(body, [Insertion(0, "!")]) == body.replace(b'"b"', b'"b!"')


def test_lone_surrogates_are_not_inserted():
    body = b'{"messages":[{"content":""}]}'
    assert json.loads(chat.insert(body, [Insertion(0, "a\ud800")]))["messages"][0]["content"] == "a?"


def test_nothing_to_insert_is_the_same_object():
    assert chat.insert(RAW, []) is RAW


def test_model_is_replaced_wherever_it_stands():
    body = b'{"model" : "a/b", "n":1.0, "messages":[{"model":"kept"}],"model":"c"}'
    out = chat.replace_model(body, 'new "é"')
    assert out == body.replace(b'"a/b"', '"new \\"é\\""'.encode()).replace(b'"c"', '"new \\"é\\""'.encode())


def test_model_of_something_else_is_left_alone():
    assert chat.replace_model(b"[1]", "x") == b"[1]"


# A law over any body, spelling and text.
texts = st.text(max_size=12)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
anything = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3))
contents = texts | st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": texts}), max_size=3)
messages = st.fixed_dictionaries({"content": contents}, optional={"role": texts, "extra": anything, "name": anything})
bodies = st.fixed_dictionaries(
    {"model": texts, "messages": st.lists(messages, min_size=1, max_size=4)},
    optional={"tools": anything, "meta": anything},
)
spellings = st.fixed_dictionaries(
    {
        "ensure_ascii": st.booleans(),
        "indent": st.sampled_from([None, 0, 2, "\t"]),
        "separators": st.sampled_from([None, (",", ":"), (" , ", " : "), ("\r\n,", ":\n\t")]),
    }
)


def spelled(body: Any, spelling: dict[str, Any]) -> bytes:
    return (" " + json.dumps(body, **spelling) + "\n").encode("utf-8", "replace")


@given(body=bodies, spelling=spellings, text=texts, data=st.data())
def test_insertion_is_the_edit_and_nothing_else(body, spelling, text, data):
    raw = spelled(body, spelling)
    body = json.loads(raw)
    index = data.draw(st.integers(0, len(body["messages"]) - 1))
    out = chat.insert(raw, [Insertion(index, text)])
    said = text.encode("utf-8", "replace").decode()
    content = body["messages"][index]["content"]
    grown = content + said if isinstance(content, str) else [*content, {"type": "text", "text": said}]
    body["messages"][index]["content"] = grown
    assert json.loads(out) == body
    added = len(out) - len(raw)
    assert any(raw[:at] == out[:at] and raw[at:] == out[at + added :] for at in range(len(raw) + 1))


@given(body=bodies, spelling=spellings, name=texts)
def test_replaced_model_is_the_edit_and_nothing_else(body, spelling, name):
    raw = spelled(body, spelling)
    expected = {**json.loads(raw), "model": name.encode("utf-8", "replace").decode()}
    assert json.loads(chat.replace_model(raw, name)) == expected


@given(raw=st.binary(max_size=60) | st.text(alphabet='{}[]",:\\ musgcontedl01', max_size=60).map(str.encode))
def test_insertion_into_garbage_never_raises(raw):
    chat.insert(raw, [Insertion(0, "x")])
    chat.replace_model(raw, "x")


def test_reading_shows_what_memory_needs():
    request = chat.read(
        json.dumps(
            {
                "model": "gpt-x",
                "stream": True,
                "prompt_cache_key": "k",
                "messages": [
                    {"role": "developer", "content": "be kind", "name": "boss"},
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "look"},
                            {"type": "image_url", "image_url": {"url": "data:x"}},
                            {"type": "text", "text": "here"},
                        ],
                    },
                    {"role": "assistant", "content": None, "tool_calls": [{"id": "c1"}]},
                    {"role": "tool", "tool_call_id": "c1", "content": "42"},
                ],
            }
        ).encode()
    )
    developer, user, assistant, tool = request.messages
    assert (request.model, request.stream, request.prompt_cache_key) == ("gpt-x", True, "k")
    assert (developer.role, developer.name, developer.text) == ("developer", "boss", "be kind")
    assert (user.text, [part.kind for part in user.parts]) == ("look\nhere", ["text", "image_url", "text"])
    assert user.parts[1].data["image_url"] == {"url": "data:x"}
    assert (assistant.is_insertable, assistant.tool_calls[0]["id"]) == (False, "c1")
    assert (tool.tool_call_id, tool.index) == ("c1", 3)


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b'"x"', b'{"model": NaN}', b'{"model": "\xff"}', b"[" * 100_000])
def test_row_11_malformed_json_or_non_object_is_400(body):
    with pytest.raises(InvalidRequest) as caught:
        chat.read(body)
    assert caught.value.status == 400
    assert set(caught.value.body()["error"]) == {"message", "type", "param", "code"}


@pytest.mark.parametrize("model", [{}, {"model": None}, {"model": ""}, {"model": 4}])
def test_row_9_missing_model_is_a_400(model):
    with pytest.raises(MissingModel) as caught:
        chat.read(json.dumps({**model, "messages": []}).encode())
    assert (caught.value.status, caught.value.param) == (400, "model")


@pytest.mark.parametrize("messages", [{}, {"messages": None}, {"messages": []}, {"messages": 3}])
def test_row_10_missing_messages_are_left_to_upstream(messages):
    assert chat.read(json.dumps({"model": "m", **messages}).encode()).messages == ()


def test_row_78_body_refused_by_fast_parser_is_read():
    digits = b"9" * 5000
    body = b'{"model":"m","seed":%s,"messages":[{"role":"user","content":"a\\ud800b"}]}' % digits
    assert chat.read(body).messages[0].text == "a?b"


@given(value=anything)
def test_reading_takes_messages_of_any_shape(value):
    chat.read(json.dumps({"model": "m", "messages": [value, {"content": value, "tool_calls": value}]}).encode())


def test_errors_have_openais_shape():
    body = json.loads(chat.error_body(BodyTooLarge("too large", param="body")))
    assert body == {
        "error": {"message": "too large", "type": "invalid_request_error", "param": "body", "code": "body_too_large"}
    }
