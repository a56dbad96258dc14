"""Recognise errands, a client's own requests: titles, tags, follow-ups, rewritten queries, summaries. Pure.

The whole request is judged by signs of several kinds; one sign alone never makes an errand, as users ask for titles and
summaries too. The signs are data: ``wrappers/errands.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from proxy.dialects.authored import both_ends, instructions, is_side_task
from proxy.dialects.base import ChatRequest, Message
from proxy.dialects.cuts import outside_elements
from proxy.dialects.own_words import is_observation, is_of_client, is_slotted, speaks_in_first_person
from proxy.dialects.wrappers import is_note, pattern
from proxy.text.fence import without_blocks

MAX_FUNCTION = 2_500  # characters of a system message that asks for one product; an assistant's is longer
MAX_OPENING, MAX_SENTENCES = 600, 3  # characters and sentences at its start that define the model's role
MAX_HEAD, MAX_TAIL = 4_000, 2_000  # characters of a user message that are searched for an instruction
MAX_FEW_TOKENS = 20  # of a reply that is a title or a word
MAX_KEYS = 2  # of a structured reply
MAX_PROBE_WORDS = 2
MIN_TASK = 400  # characters of a turn that instructs a side task; users write less to such an assistant
MIN_SAID_WORDS = 3  # outside tags; with fewer, such as a label, the tags' contents are read too

_JSON_BEHIND_LABEL = re.compile(r"^[^\n:：{\[]{0,60}[:：][ \t]*[\[{].*$", re.MULTILINE)  # as a list of tools
_SENTENCES = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])|\n+")
_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_CLASS_HEADERS = {"x-claude-code-request-class": "main"}  # any other value marks a request of the client itself
_TASK_HEADERS = ("x-openai-subagent",)
_COMPACTION = "compaction_trigger"
_TURNS = frozenset({"user", "assistant"})
_RUN_BY_PROVIDER = "web_search"  # how the type of a tool begins that a provider runs itself


@dataclass(frozen=True, slots=True)
class Signs:
    """Signs of an errand in a request.

    Attributes:
        asks: The last user messages ask for a product about the conversation, and not in the first person.
        is_function: A system message makes the model a function or asks for such a product.
        is_exact: The reply must be the product and nothing else.
        has_material: The last user message holds a transcript or a diff.
        is_short: The reply may have a few tokens only.
        has_role: The last user message gives the model a part to play.
        has_faint_material: The last user message holds something labelled or in tags.
        is_probe: Nothing but a word is sent, and a token is asked for; or a gap in a text is to be filled.
        is_alone: No conversation before it, no tools beside it.
        is_side_task: A system message makes the model a task beside an agent's talk; the last turn tells it at length,
            or holds the talk.
    """

    asks: bool = False
    is_function: bool = False
    is_exact: bool = False
    has_material: bool = False
    is_short: bool = False
    has_role: bool = False
    has_faint_material: bool = False
    is_probe: bool = False
    is_alone: bool = False
    is_side_task: bool = False

    @property
    def make_errand(self) -> bool:
        """True if the signs together make the request an errand."""
        if self.is_probe or self.is_side_task:
            return True
        if self.has_material and self.is_exact and self.is_alone:
            return True
        others = self.is_exact + self.has_material + self.is_short
        if self.asks and (others or self.is_function or self.has_role):
            return True
        return self.is_function and (others + self.has_faint_material) > 0


def is_errand(request: ChatRequest, headers: Mapping[str, str]) -> bool:
    """Return whether a request is an errand.

    Args:
        request: Parsed request.
        headers: Headers by lower-case name.
    """
    if any(headers.get(name, main).strip().lower() != main for name, main in _CLASS_HEADERS.items()):
        return True
    if any(headers.get(name, "").strip() for name in _TASK_HEADERS):
        return True
    if any(message.role == _COMPACTION for message in request.messages[-3:]):
        return True
    return signs(request).make_errand


def signs(request: ChatRequest) -> Signs:
    """Return the signs of an errand in a request."""
    asked = _last_run(request.messages)
    texts = [without_blocks(text) for text in both_ends([message.text for message in asked])]
    last = texts[-1] if texts else ""
    head = _head("\n".join(texts))
    has_history = any(message.role == "assistant" for message in request.messages)
    own_system = instructions(request)
    has_tools = _has_tools(request.body)
    is_side = any(map(is_side_task, own_system))
    is_for_talk = any(map(_works_on_talk, own_system))
    systems = [] if (has_tools and not is_for_talk) or is_side else own_system
    is_readable = not (is_slotted(last) or is_observation(last))
    asks = is_readable and _asks(head, holds_words=not has_history)
    if asks:  # seldom; a client's notes beside the words speak of all sorts of things
        head = _head(_beside_notes(asked, has_tools=has_tools))
        asks = _asks(head, holds_words=not has_history)
    elif is_readable and (is_for_talk or _is_of_client(asked)):  # what it is about has been said
        asks = _sign("product").search(head) is not None
    has_material = is_readable and _has_material(last)
    is_function = any(_is_function(one) for one in systems)
    if has_history and is_function and not (asks or has_material):
        is_function = False  # an ongoing conversation: the system message only sets its tone
    exact_in = [head, *(systems if is_function else ())]
    return Signs(
        asks=asks,
        is_function=is_function,
        is_exact=_keys(request.body) in range(1, MAX_KEYS + 1) or any(_sign("only").search(one) for one in exact_in),
        has_material=has_material,
        is_short=0 < _limit(request.body) <= MAX_FEW_TOKENS,
        has_role=_sign("role").search(head) is not None,
        has_faint_material=_has_faint_material(last),
        is_probe=(_limit(request.body) == 1 and not has_history and 0 < len(last.split()) <= MAX_PROBE_WORDS)
        or _sign("fill").search(last[-MAX_TAIL:]) is not None,
        is_alone=not has_history and not has_tools,
        is_side_task=is_side and (has_material or (has_history and len(last) >= MIN_TASK)),
    )


def _last_run(messages: Sequence[Message]) -> list[Message]:
    """Return the user messages after the last assistant message."""
    run: list[Message] = []
    for message in reversed(messages):
        if message.role == "user":
            run.append(message)
        elif message.role in ("assistant", "tool", "function"):
            break
    return run[::-1]


def _beside_notes(messages: Sequence[Message], *, has_tools: bool) -> str:
    """Return the messages' text outside a client's notes, such as its lists of skills and its reminders.

    With tools, as in a turn of an agent, every tagged text is a note; without tools, the tag's name decides.
    """
    parts = [part.text for message in messages for part in message.parts]
    found = [without_blocks(text) for text in both_ends(parts)]
    said = "\n".join(outside_elements(text, None if has_tools else is_note) for text in found)
    return said if len(said.split()) >= MIN_SAID_WORDS else "\n".join(found)


def _head(text: str) -> str:
    return text if len(text) <= MAX_HEAD + MAX_TAIL else f"{text[:MAX_HEAD]}\n{text[-MAX_TAIL:]}"


def _asks(text: str, *, whole: bool = False, holds_words: bool = False) -> bool:
    """Return whether a sentence, or the text as a whole, asks for a product about the talk, and not for its author.

    Args:
        text: Of a message.
        whole: It is one instruction, whoever speaks.
        holds_words: Behind a colon a sentence may hold what its author said, as a message to find a title for.
    """
    for line in [text] if whole else _SENTENCES.split(text):
        is_first = not whole and speaks_in_first_person(line)
        sentence = line.partition(": ")[0] if is_first and holds_words else line
        if not sentence or (not whole and (_is_spoken(line) or speaks_in_first_person(sentence))):
            continue
        if _sign("product").search(sentence) and _sign("talk").search(sentence):
            return True
    return False


def _is_spoken(line: str) -> bool:
    return _speakers("speaker").match(line) is not None or _speakers("answerer").match(line) is not None


def _has_material(text: str) -> bool:
    lines = _head(text)
    if _sign("material").search(lines):
        return True
    return _speakers("speaker").search(lines) is not None and _speakers("answerer").search(lines) is not None


def _has_faint_material(text: str) -> bool:
    """Return whether a text holds labelled or tagged text, or opens with a speaker of a transcript."""
    return _sign("faint").search(text[:MAX_HEAD]) is not None or _speakers("speaker").match(text) is not None


def _is_function(system: str) -> bool:
    """Return whether a system message makes the model a function, by its first sentences."""
    opening = " ".join(_opening(system))
    is_brief = len(system) <= MAX_FUNCTION
    return _sign("function").search(opening) is not None or (is_brief and _asks(opening, whole=True))


def _works_on_talk(system: str) -> bool:
    """Return whether a sentence of a system message makes the model a function whose input is the conversation."""
    signs = [_sign(name) for name in ("function", "product", "talk")]
    return any(all(sign.search(sentence) for sign in signs) for sentence in _opening(system))


def _opening(system: str) -> list[str]:
    """Return the first sentences of a system message, without JSON in front of them."""
    brief = _JSON_BEHIND_LABEL.sub("", system).strip()[:MAX_OPENING]
    return [one for one in _SENTENCES.split(brief) if one][:MAX_SENTENCES]


def _is_of_client(messages: Sequence[Message]) -> bool:
    """Return whether every part of the last message begins as what a client writes for itself."""
    texts = [part.text for part in messages[-1].parts if part.text.strip()] if messages else []
    return bool(texts) and all(map(is_of_client, texts))


def _has_tools(body: Mapping[str, Any]) -> bool:
    """Return whether the request has tools of the client; a single tool that must be called is a form instead."""
    tools = body.get("tools") or body.get("functions")
    if not isinstance(tools, list):
        return False
    return not _forced(body) and any(not _kind(tool).startswith(_RUN_BY_PROVIDER) for tool in tools)


def _kind(tool: object) -> str:
    return str(tool.get("type")) if isinstance(tool, Mapping) else ""


def _forced(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the only tool of a request if it must be called, else nothing."""
    tools = body.get("tools") or body.get("functions")
    if not isinstance(tools, list) or len(tools) != 1 or not isinstance(tools[0], Mapping):
        return {}
    choice, (tool,) = body.get("tool_choice") or body.get("function_call"), tools
    inner, chosen = tool.get("function"), choice.get("function") if isinstance(choice, Mapping) else None
    tool = inner if isinstance(inner, Mapping) else tool
    named = chosen if isinstance(chosen, Mapping) else choice
    is_named = isinstance(named, Mapping) and named.get("name") is not None and named.get("name") == tool.get("name")
    return tool if is_named else {}


def _limit(body: Mapping[str, Any]) -> int:
    limits = [body.get(name) for name in _LIMITS]
    return next((limit for limit in limits if isinstance(limit, int)), 0)


def _keys(body: Mapping[str, Any]) -> int:
    """Return the number of keys of a structured reply, 0 if the request asks for none."""
    text, output = body.get("text"), body.get("output_config")
    forms = [body.get("response_format"), body.get("output_format")]
    forms += [one.get("format") for one in (text, output) if isinstance(one, Mapping)]
    forced = _forced(body)
    forms += [{"schema": forced.get("parameters") or forced.get("input_schema")}] if forced else []
    for form in forms:
        if not isinstance(form, Mapping):
            continue
        named = form.get("json_schema")
        schema = named.get("schema") if isinstance(named, Mapping) else form.get("schema")
        properties = schema.get("properties") if isinstance(schema, Mapping) else None
        if isinstance(properties, Mapping):
            return len(properties)
    return 0


@cache
def _sign(name: str) -> re.Pattern[str]:
    return pattern("signs", name, file="errands")


@cache
def _speakers(name: str) -> re.Pattern[str]:
    return pattern(
        "signs",
        name,
        file="errands",
        around=r"^[ \t#*>_-]*\b{}\b(?:[ \t*_]*(?:\d+|\([^)\n]{{0,40}}\)))?(?:[ \t*_]*[:：]|[ \t]*$)",
    )
