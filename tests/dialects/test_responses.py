"""Responses requests: the parsed view, and edits that leave all other bytes unchanged."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.dialects import responses
from proxy.dialects.body import Insertion
from proxy.errors import BodyTooLarge, InvalidRequest, MissingModel
from tests.dialects.test_chat import anything, scalars, spelled, spellings, texts

RAW = (
    b'{ "model":"m" ,"big":123456789012345678901234567890,"float":1.0E+2,"a":1,"a":2,"instructions":"be \\u00e9",\n'
    b'\t"input":[ {"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x=="} ,\r\n'
    b'{"role":"user","content":"hi","content":"say \\"hi\\" \\\\" , "x":null}],"tail":[ ] }\n'
)


def test_insertion_changes_no_other_byte():
    out = responses.insert(RAW, [Insertion(1, '\n<memory>"é"</memory>')])
    assert out == RAW.replace(b'"say \\"hi\\" \\\\"', '"say \\"hi\\" \\\\\\n<memory>\\"é\\"</memory>"'.encode())


@pytest.mark.parametrize("given", ['"hi"', '"hi \\"there\\" \\\\"', '""', '"\\u00e9"'])
def test_a_string_stays_a_string(given):
    body = f'{{"input" : {given}, "model":"m","instructions":"input"}}'.encode()
    out = responses.insert(body, [Insertion(0, "\n1"), Insertion(0, '"2"')])
    assert out == body.replace(given.encode(), (given[:-1] + '\\n1\\"2\\""').encode())


def test_list_content_gets_a_further_input_text_part():
    body = b'{"model":"m","input":[{"content":[ {"type":"input_image","image_url":"data:]}"} ] }]}'
    out = responses.insert(body, [Insertion(0, "a"), Insertion(0, "b")])
    added = b'"} ,{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}] }'
    assert out == body.replace(b'"} ] }', added)


@pytest.mark.parametrize(
    "body",
    [
        b'{"model":"m","input":[{"type":"function_call_output","call_id":"c","output":"1"}]}',
        b'{"model":"m","input":[{"type":"item_reference","id":"msg_1"}]}',
        b'{"model":"m","input":[]}',
        b'{"model":"m","input":["hi"]}',
        b'{"model":"m","input":{"content":"hi"}}',
        b'{"model":"m","input":"hi","input":null}',
        b'{"model":"m"}',
        b'["input"]',
        b'{"input":"hi"',
        b'{"input":',
        b"",
        b"\xff\xfe",
        b'{"input":[{"content":"hi"}],"deep":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    ],
)
def test_no_text_is_inserted_unless_all_are(body):
    assert responses.insert(body, [Insertion(0, "x")]) is body


def test_a_string_has_one_place_only():
    body = b'{"input":"hi"}'
    assert responses.insert(body, [Insertion(0, "x"), Insertion(1, "y")]) is body


def test_of_repeated_inputs_the_last_grows():
    body = b'{"input":"a","model":"m","\\u0069nput":[{"content":"b"}]}'
    assert responses.insert(body, [Insertion(0, "!")]) == body.replace(b'"b"', b'"b!"')
    body = b'{"input":[{"content":"b"}],"model":"m","\\u0069nput":"a"}'
    assert responses.insert(body, [Insertion(0, "!")]) == body.replace(b'"a"', b'"a!"')


def test_nothing_to_insert_is_the_same_object():
    assert responses.insert(RAW, []) is RAW


# Laws over any body, spelling and text.
parts = st.lists(st.fixed_dictionaries({"type": st.just("input_text"), "text": texts}), max_size=3)
items = st.fixed_dictionaries({"content": texts | parts}, optional={"role": texts, "type": texts, "extra": anything})
bodies = st.fixed_dictionaries(
    {"model": texts, "input": texts | st.lists(items, min_size=1, max_size=4)},
    optional={"tools": anything, "instructions": anything, "metadata": anything},
)


@given(body=bodies, spelling=spellings, text=texts, data=st.data())
def test_insertion_is_the_edit_and_nothing_else(body, spelling, text, data):
    raw = spelled(body, spelling)
    body = json.loads(raw)
    said = text.encode("utf-8", "replace").decode()
    if isinstance(body["input"], str):
        out = responses.insert(raw, [Insertion(0, text)])
        body["input"] += said
    else:
        index = data.draw(st.integers(0, len(body["input"]) - 1))
        out = responses.insert(raw, [Insertion(index, text)])
        content = body["input"][index]["content"]
        grown = content + said if isinstance(content, str) else [*content, {"type": "input_text", "text": said}]
        body["input"][index]["content"] = grown
    assert json.loads(out) == body
    added = len(out) - len(raw)
    assert any(raw[:at] == out[:at] and raw[at:] == out[at + added :] for at in range(len(raw) + 1))


@given(raw=st.binary(max_size=60) | st.text(alphabet='{}[]",:\\ inputcoe01', max_size=60).map(str.encode))
def test_insertion_into_garbage_never_raises(raw):
    responses.insert(raw, [Insertion(0, "x")])


odd = st.recursive(
    scalars | st.sampled_from(["message", "function_call", "function_call_output", "item_reference", "user"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "role", "content", "output", "arguments", "call_id", "id", "text"]), inner
        )
    ),
    max_leaves=12,
)


@given(input_=odd, rest=st.dictionaries(st.sampled_from(["previous_response_id", "conversation", "store"]), odd))
def test_reading_and_inserting_is_total(input_, rest):
    raw = json.dumps({"model": "m", "input": input_, **rest}).encode()
    request = responses.read(raw)
    for message in request.messages:
        out = responses.insert(raw, [Insertion(message.index, "x")])
        assert out is not raw or not message.is_insertable


@given(raw=st.binary(max_size=40) | anything.map(lambda value: json.dumps(value).encode("utf-8", "replace")))
def test_reading_raises_nothing_but_invalid_request(raw):
    with suppress(InvalidRequest):
        responses.read(raw)


def test_reading_shows_what_memory_needs():
    request = responses.read(
        json.dumps(
            {
                "model": "gpt-x",
                "stream": True,
                "prompt_cache_key": "k",
                "previous_response_id": "resp_1",
                "input": [
                    {"role": "developer", "content": "be kind"},
                    {
                        "type": "message",
                        "role": "user",
                        "content": [
                            {"type": "input_text", "text": "look"},
                            {"type": "input_image", "image_url": "data:x"},
                            {"type": "input_text", "text": "here"},
                        ],
                    },
                    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "=="},
                    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I see"}]},
                    {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
                    {"type": "function_call_output", "call_id": "c1", "output": "42"},
                    {"type": "item_reference", "id": "msg_1"},
                    {"type": "computer_call_output", "call_id": "c2", "output": {"type": "computer_screenshot"}},
                ],
            }
        ).encode()
    )
    assert (request.model, request.stream, request.prompt_cache_key) == ("gpt-x", True, "k")
    assert (request.continues, request.conversation, request.is_kept) == ("resp_1", "", True)
    assert [message.role for message in request.messages] == [
        *("developer", "user", "reasoning", "assistant", "function_call", "tool", "item_reference", "tool")
    ]
    assert [message.text for message in request.messages] == ["be kind", "look\nhere", "", "I see", "", "42", "", ""]
    assert [message.index for message in request.messages if message.is_insertable] == [0, 1, 3]
    call, result = request.messages[4], request.messages[5]
    assert call.tool_calls == ({"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}},)
    assert result.tool_call_id == "c1"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, ("", "", True)),
        ({"store": False}, ("", "", False)),
        ({"conversation": "conv_1", "store": False}, ("", "conv_1", True)),
        ({"conversation": {"id": "conv_2"}}, ("", "conv_2", True)),
        ({"previous_response_id": None, "conversation": None}, ("", "", True)),
        ({"previous_response_id": 3, "conversation": [4]}, ("", "", True)),
    ],
)
def test_what_the_provider_keeps(more, expected):
    request = responses.read(json.dumps({"model": "m", "input": "hi", **more}).encode())
    assert (request.continues, request.conversation, request.is_kept) == expected


def test_a_string_is_what_the_user_said():
    (message,) = responses.read(b'{"model":"m","input":"hi"}').messages
    assert (message.role, message.text, message.is_insertable) == ("user", "hi", True)


@pytest.mark.parametrize("body", [b'{"prompt":{"id":"pmpt_1"},"input":"hi"}', b'{"input":"hi"}', b'{"model":null}'])
def test_missing_model_is_left_to_the_provider(body):
    assert responses.read(body).model == ""


@pytest.mark.parametrize("body", [b'{"model":"","input":"hi"}', b'{"model":7,"input":"hi"}'])
def test_a_model_that_is_no_name_is_refused(body):
    with pytest.raises(MissingModel):
        responses.read(body)


def test_errors_have_openais_shape():
    body = json.loads(responses.error_body(BodyTooLarge("too large", param="body")))
    assert set(body["error"]) == {"message", "type", "param", "code"}
