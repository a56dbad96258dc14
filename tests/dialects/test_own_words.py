"""The user's words inside a client's wrappers: slots, blocks of any name, labels, observations."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.dialects.authored import own_text
from proxy.dialects.wrappers import is_slot, is_text
from proxy.memory.learn.statements import own_sentences

OWN = "I use Shram and Magnet as productivity tools."
ALIEN = "I live in Kiel and work as a notary."


@pytest.mark.parametrize(
    "text",
    [
        f"<task>\n{OWN}\n</task>\n<environment_details>\n{ALIEN}\n</environment_details>",
        f"<task>\n{OWN}\n<file_content path='a'>\n{ALIEN}\n</file_content>\n</task>",
        f"<tomorrows_tag>\n{ALIEN}\n</tomorrows_tag>\n{OWN}",
        f"<ctx>\n<ctx>\n{ALIEN}\n</ctx>\n{ALIEN}\n</ctx>\n{OWN}",
        f"{ALIEN}\n</context>\n\n{OWN}",
        f"{OWN}\n<context>\n{ALIEN}",
        f"&lt;context&gt;\n{ALIEN}\n&lt;/context&gt;\n{OWN}",
        f"<context>\n<user_query>{ALIEN}</user_query>\n</context>\n{OWN}",
        f"{OWN}\n\n=== FILE: a.md ===\n{ALIEN}\n=== END FILE ===",
        f"-----BEGIN DOC-----\n{ALIEN}\n-----END DOC-----\n{OWN}",
        f"** about.md **\n{ALIEN}\n** end of about.md **\n{OWN}",
        f"[CONTEXT 0]:\n{ALIEN}\n[END CONTEXT 0]\n\n{OWN}",
        f"{OWN}\n<!-- ADDED -->\n{ALIEN}\n<!-- END ADDED -->",
        f"Notes are below.\n----------\n{ALIEN}\n----------\nQuery: {OWN}\nAnswer: ",
        f"Attached:\n```md\n{ALIEN}\n```\n{OWN}",
        f"Beantworte die Frage anhand des Textes.\n\n{ALIEN}\n\nFrage: {OWN}",
        f"Kontext:\n{ALIEN}\n\nFrage: {OWN}\nAntwort:",
        f"【背景】\n{ALIEN}\n\n【问题】{OWN}",
        f"# Context of the editor:\n\n## Open tabs:\n- {ALIEN}\n\n## My request for Editor:\n{OWN}",
        f"### Task:\nAnswer.\n### Guidelines:\n- Be brief.\n\n<context>\n{ALIEN}\n</context>\n\n{OWN}",
        f"Question: an example\nThought: one\n\nQuestion: {OWN}\nThought: two\nObservation: {ALIEN}\nThought:",
        f'"{OWN}"',
        f"--- CONTEXT ENTRY BEGIN ---\n{ALIEN}\n--- CONTEXT ENTRY END ---\n\n--- USER MESSAGE BEGIN ---\n{OWN}\n--- USER MESSAGE END ---",
        f"{OWN}\n--- Content from files ---\nContent from @a.md:\n{ALIEN}\n--- End of content ---",
        f"Answer from the material\n\n## Rules:\n- cite\n\n## My question is:\n\n{OWN}\n\n## Material:\n\n{ALIEN}\n\nAnswer briefly.",
        f'使用 <Reference></Reference> 中的内容:\n\n<Reference>\n{ALIEN}\n</Reference>\n\n回答要求：\n- 简洁。\n\n问题:"""{OWN}"""',
        f"Current Task: {OWN}\n\nReturn the complete content as the final answer.\n\nBegin! Give your best Final Answer!\n\nThought:",
        f"[INST]\n{OWN}\n[/INST]",
        f"<context>\n{ALIEN}\n</context>\n\nUsing the context above, answer: {OWN}",
        f"# Instructions\nAnswer briefly.\n\n# Context\n{ALIEN}\n\n# Question\n{OWN}",
        f"{OWN}\n\n# *SEARCH/REPLACE block* Rules:\n\nEvery block is one. {ALIEN}",
        f"{OWN}\n#### Tools Available\n\n1. **Code Interpreter**: {ALIEN}",
        f"Current Task: {OWN}\n\nThis is the context you're working with:\n{ALIEN}\n\nBegin!\n\nThought:",
        f"Page content:\n---\n{ALIEN}\n\n---\n{ALIEN}\n---\n\n{OWN}",
        f"<@U12> {OWN}",
        f"Вопрос пользователя: {OWN}\nКонтекст: {ALIEN}\nОтвет:",
    ],
)
def test_users_words_are_found_in_a_wrapper(text: str) -> None:
    assert own_text([text]) == OWN


@pytest.mark.parametrize(
    "text",
    [
        f"Observation: {ALIEN}",
        f"Tool result: {ALIEN}",
        f"[read_file for 'a'] Result:\n{ALIEN}",
        f"EXECUTION RESULT of [bash]:\n{ALIEN}",
        f"Tool `read` returned: {ALIEN}",
        f"exitcode: 0 (execution succeeded)\nCode output: {ALIEN}",
        f"Search results for cats:\n{ALIEN}",
        f"Stop hook feedback:\n- [check.sh]: {ALIEN}",
        f"Validation feedback:\n{ALIEN}",
        f"# Fix any errors below, if possible.\n\nx.py:1: {ALIEN}",
    ],
)
def test_parts_behind_a_tool_outcome_belong_to_it(text: str) -> None:
    assert own_text([text, ALIEN]) == ""


@pytest.mark.parametrize(
    "text",
    [
        f"# AGENTS.md instructions for /home/a\n{ALIEN}",
        f"<document>\n{ALIEN}",
        f"```\n{ALIEN}",
        f"Base directory for this skill: /home/a/skills/b\n\n{ALIEN}",
        f"[SUGGESTION MODE: say what comes next.]\n\n{ALIEN}",
        f"Another model began to work on this and wrote a summary. Build on it, here it is:\n{ALIEN}",
    ],
)
def test_clients_own_part_leaves_the_others(text: str) -> None:
    assert own_text([text, OWN]) == OWN


@pytest.mark.parametrize(
    ("opening", "closing"),
    [("--- Content of files ---", "--- End of content ---"), ("<context>", "</context>"), ("```", "```")],
)
def test_parts_between_opening_and_end_are_material(opening: str, closing: str) -> None:
    assert own_text([OWN, f"\n{opening}\n", "From @a.md:", ALIEN, f"\n{closing}"]) == OWN
    assert own_text([OWN, "I like", ALIEN, "olives"]) == f"{OWN}\nI like\n{ALIEN}\nolives"


def test_words_behind_an_empty_command_are_read() -> None:
    command = "<command-name>/model</command-name>\n<command-args></command-args>"
    assert own_text([command, f"<local-command-stdout>{ALIEN}</local-command-stdout>", OWN]) == OWN


def test_feedback_inside_an_outcome_is_the_users() -> None:
    assert own_text(["[finish] Result:", f"They wrote:\n<feedback>\n{OWN}\n</feedback>", ALIEN]) == OWN


@pytest.mark.parametrize(
    "text",
    [
        "Why does </Foo> fail in React? I use Vim.",
        "I like <b>bold</b> text.\n- one\n- two",
        "Here is a list:\n\n* apples\n* pears\n\nI like both.",
        "I live in Rotterdam.\nQuestion: which tool do I use?",
        "1 < 2 and 3 > 2, see <https://example.org> or <me@example.org>",
        "My week\n---\nI moved to Porto.",
        "My week:\n---\nI moved to Porto.",
        "# My rules:\nI never drink coffee.",
        "Another assistant of my boss's wrote this summary, is it right:\nI moved to Porto.",
        "[UPDATE: I moved to Porto.]",
        "Here is a summary of the meeting:\nI moved to Porto.",
    ],
)
def test_plain_talk_stays_whole(text: str) -> None:
    assert own_text([text]) == text


NAMES = st.from_regex(r"[a-z]{2,8}[_-][a-z]{2,8}", fullmatch=True).filter(
    lambda name: not (is_slot(name) or is_text(name))
)
CONTENT = st.text(alphabet="abc <>/&;\n`-=#[]:*", max_size=40)


@st.composite
def wrapped(draw: st.DrawFn) -> tuple[str, str]:
    """Return a message with marked material in a wrapper, nested, broken or escaped, and the mark."""
    name, inner = draw(NAMES), draw(NAMES)
    noise, more = draw(CONTENT), draw(CONTENT)
    # Material that closes the wrapper ends it, as for any tag parser.
    noise, more = (re.sub(r"[<&]", " ", one) if name in one else one for one in (noise, more))
    body = f"{noise}\n{ALIEN}\n{more}"
    body = draw(st.sampled_from([body, f"<{inner}>\n{body}\n</{inner}>", f"<{inner}>\n{body}", f"{body}\n</{inner}>"]))
    opened, closed = draw(
        st.sampled_from(
            [
                (f"<{name}>", f"</{name}>"),
                (f'<{name} path="a b">', f"</{name}>"),
                (f"<{name}>", f"</{name.upper()}>"),
                (f"&lt;{name}&gt;", f"&lt;/{name}&gt;"),
                (f"\\<{name}\\>", f"\\</{name}\\>"),
                (f"<{name}>", ""),
            ]
        )
    )
    block = f"{opened}\n{body}\n{closed}"
    return draw(st.sampled_from([f"{OWN}\n{block}", f"{block}\n{OWN}", f"{OWN}\n{block}\n{block}"])), ALIEN


@given(wrapped())
@settings(max_examples=400, deadline=None)
def test_no_statement_overlaps_a_wrapper(case: tuple[str, str]) -> None:
    text, alien = case
    own = own_text([text])
    assert alien not in own
    assert all(alien not in sentence.text for sentence in own_sentences(own))


@given(st.text(alphabet="ab <>/&lt;\n`-=#[]:*_QUserEND", max_size=400))
@settings(max_examples=300, deadline=None)
def test_spans_are_verbatim_pieces_of_the_text(text: str) -> None:
    own = own_text([text])
    at = 0
    for line in own.splitlines():
        found = text.find(line, at)
        assert found >= 0
        at = found


@pytest.mark.parametrize(
    "piece",
    [
        "<a ",
        "<a-b>\n",
        "[x y]\n",
        "=== FILE ===\n",
        "```\n",
        "-----\n",
        "<!-- x -->\n",
        "</c>\n",
        "END X\n### X ###\n",
        "Question: x\n",
        "<a_>\n</a_><a_>",
    ],
)
def test_the_work_grows_with_the_text(piece: str) -> None:
    def cpu(times: int) -> float:
        begun = time.process_time()
        own_text([piece * times])
        return time.process_time() - begun

    cpu(10)
    small, large = (min(cpu(times) for _ in range(3)) for times in (4_000, 8_000))
    assert large < 3.5 * small + 0.02
