"""The user's own text in each message of a request; learning, episodes and the query read only this. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import accumulate
from typing import Any

from proxy.dialects.base import ChatRequest, Message
from proxy.dialects.cuts import cuts
from proxy.dialects.own_words import is_observation, is_of_client, is_slotted, own_spans, tag_slots
from proxy.dialects.wrappers import pattern, table
from proxy.text.fence import without_blocks
from proxy.text.thoughts import without_thoughts

MAX_KNOWN = 2_000  # characters of a message whose own words are remembered for a while
_FILLER, _BETWEEN = "-", "\n-\n"
MIN_PARTS_OF_WRAPPER = 2
MAX_MARKER = 200  # characters of a part that only opens or closes something
MAX_READ = 400_000  # characters of one message, twice the stored size; takes a second if all of it is tags
MAX_READ_BEFORE = 4_000_000  # characters of all messages before the last one of the user's together
MAX_NOTED = 200  # characters of a reply that takes note of what a client made up
MIN_MADE_UP = 400  # characters of a turn of one line that a client may have made up
MAX_INSTRUCTION = 4_000  # characters of each instruction that are read
_NAME_OF_PERSON = re.compile(
    r"user|human|person|customer|client|admin|me\Z|nutzer|usuario|utilisateur|用户", re.IGNORECASE
)
_LAST_ELEMENT = re.compile(r"</([\w:.-]{1,60})>\s*\Z")
_CALL_WORDS = re.compile(
    r"tool|function|call|invoke|exec|action|command|bash|shell|search|read|write|edit|_", re.IGNORECASE
)
_CALL_LINE = re.compile(
    r"^[ \t*]*(?:Action(?: Input)?|Acción|Aktion|Действие|行动|动作)[ \t*]*[:：]", re.MULTILINE | re.IGNORECASE
)
_CALL_JSON = re.compile(
    r"\A\s*(?:```(?:json)?\s*)?\{\s*\"(?:action|tool|tool_name|function|name|command)\"\s*:.*\}\s*(?:```)?\s*\Z",
    re.DOTALL,
)
_STEP = re.compile(
    r"\A[ \t*#]*(?:DISCUSSION|THOUGHT|Thought|Reasoning|PLAN|Gedanke|Pensamiento|Мысль|思考)\b", re.IGNORECASE
)
_FENCE_AT_END = re.compile(r"\n[ \t]*```[ \t]*\Z")
_OPENING_ELEMENT = re.compile(r"<[A-Za-z]|[\[{]")
MAX_READ_FOR_FOLDER = 200_000  # characters searched in each text


class Authored:
    """The user's own text in the messages of one request, computed on demand."""

    def __init__(self, request: ChatRequest) -> None:
        self._messages = request.messages
        self._instructions = instructions(request)
        self._texts: dict[int, str] = {}
        self._foreign: frozenset[int] | None = None
        self._users = [one.index for one in request.messages if one.role == "user"]

    def text(self, index: int) -> str:
        """Return the user's own text in a message; of another role, the message's text without memory blocks."""
        if index not in self._texts:
            message = self._messages[index]
            is_user = message.role == "user"
            self._texts[index] = self._own(index, message) if is_user else _said(message)
        return self._texts[index]

    def _own(self, index: int, message: Message) -> str:
        if index in self.foreign:
            return ""
        before = self._messages[index - 1] if index else None
        texts = both_ends([part.text for part in message.parts if part.text], self._limit(index))
        is_outcome = before is not None and before.role == "assistant" and is_call(before.text)
        find = _known_text if sum(map(len, texts)) <= MAX_KNOWN else own_text
        return find(texts, is_outcome=is_outcome)

    def _limit(self, index: int) -> int:
        """Return the number of characters read of a message: more of the last than of a long history."""
        return MAX_READ if index == self._users[-1] else MAX_READ_BEFORE // len(self._users)

    @property
    def foreign(self) -> frozenset[int]:
        """Indexes of the user messages that the client, or another agent, made up."""
        if self._foreign is None:
            self._foreign = frozenset({*self._openings(), *self._named(), *self._of_side_task()})
        return self._foreign

    def _openings(self) -> list[int]:
        """Return the leading turns that a made-up reply of one line acknowledges."""
        spoken = [one for one in self._messages if one.role in ("user", "assistant", "tool")]
        found: list[int] = []
        last = max((one.index for one in spoken if one.role == "user"), default=-1)
        for turn, reply in zip(spoken[::2], spoken[1::2], strict=False):
            if turn.role != "user" or reply.role != "assistant" or turn.index == last or not is_noted(reply.text):
                break
            if "\n" not in turn.text.strip() and len(turn.text) < MIN_MADE_UP:
                break
            found.append(turn.index)
        return found

    def _named(self) -> list[int]:
        """Return the messages of other names than the user's, where there are several, or one beside none."""
        users = [one for one in self._messages if one.role == "user"]
        names = list(dict.fromkeys(one.name or "" for one in users))
        if len(names) < 2:
            return []
        own = {names[0], ""} if "" in names else set()
        own |= {name for name in names if _NAME_OF_PERSON.search(name)} or {names[0]}
        return [one.index for one in users if one.name and one.name not in own]

    def _of_side_task(self) -> list[int]:
        """Return the last turn, if the request is an agent's side task on a conversation."""
        users = [one.index for one in self._messages if one.role == "user"]
        has_history = any(one.role == "assistant" for one in self._messages)
        return users[-1:] if has_history and any(map(is_side_task, self._instructions)) else []


def _said(message: Message) -> str:
    text = without_blocks(message.text)
    return without_thoughts(text) if message.role == "assistant" else text


def own_text(texts: Sequence[str], *, is_outcome: bool = False) -> str:
    """Return the user's own text in the text parts of one message.

    Args:
        texts: Texts of the parts, in order.
        is_outcome: True if the message answers a call that the assistant wrote as text.
    """
    said: list[str] = []
    texts = _outside_parts([without_blocks(text) for text in both_ends(texts)])
    slotted = any(map(is_slotted, texts))
    for text in texts:
        is_outcome = is_outcome or is_observation(text)
        find = tag_slots if is_outcome or slotted else own_spans
        said += [text[start:end] for start, end in ([] if find is own_spans and is_of_client(text) else find(text))]
    return "\n".join(said)


def _outside_parts(texts: Sequence[str]) -> list[str]:
    """Return the parts without those between two marker parts that open and close one wrapper, markers included.

    All parts are cut in one pass, a part that is no marker as a dash: pair by pair, 800 parts took two seconds.
    """
    if len(texts) < MIN_PARTS_OF_WRAPPER:
        return list(texts)
    shown = [text.strip() if _may_mark(text) else _FILLER for text in texts]
    ends = list(accumulate(len(one) + len(_BETWEEN) for one in shown))
    first_at = {end - len(one) - len(_BETWEEN): at for at, (one, end) in enumerate(zip(shown, ends, strict=True))}
    last_at = {end - len(_BETWEEN): at for at, end in enumerate(ends)}
    gone: set[int] = set()
    for cut in cuts(_BETWEEN.join(shown), opens_slots=False):
        first, last = first_at.get(cut.start), last_at.get(cut.end)
        if first is not None and last is not None and cut.start + len(shown[first]) <= cut.inner[0] < cut.inner[1]:
            gone.update(range(first, last + 1))
    return [text for at, text in enumerate(texts) if at not in gone]


def _may_mark(text: str) -> bool:
    """Return whether a part is one short line."""
    line = text.strip()
    return bool(line) and "\n" not in line and len(line) <= MAX_MARKER


def both_ends(texts: Sequence[str], limit: int = MAX_READ) -> tuple[str, ...]:
    """Return the parts of a message; of a very long one both ends of each, as the middle is quoted material."""
    if sum(map(len, texts)) <= limit:
        return tuple(texts)
    half = max(1, limit // len(texts) // 2)
    return tuple(text if len(text) <= 2 * half else f"{text[:half]}\n{text[-half:]}" for text in texts)


@lru_cache(maxsize=1_024)
def _known_text(texts: tuple[str, ...], *, is_outcome: bool) -> str:
    """Cache ``own_text``: clients send the whole conversation again with each turn."""
    return own_text(texts, is_outcome=is_outcome)


def is_call(text: str) -> bool:
    """Return whether an assistant's turn ends with a tool call written as text."""
    tail = text[-2_000:]
    element = _LAST_ELEMENT.search(tail)
    if element is not None and _is_call_tag(element[1], tail[: element.start()]):
        return True
    lines = tail.rstrip().splitlines()[-6:]
    if any(_CALL_LINE.match(line) for line in lines) or _CALL_JSON.match(text[:4_000]):
        return True
    return bool(_FENCE_AT_END.search(tail) and _STEP.match(text))


def is_noted(text: str) -> bool:
    """Return whether a reply is one line that only acknowledges."""
    stripped = text.strip()
    return len(stripped) <= MAX_NOTED and "\n" not in stripped and _noted().match(stripped) is not None


def is_side_task(instruction: str) -> bool:
    """Return whether a system message describes a side task of an agent, such as its memory extractor."""
    return _side().search(instruction) is not None


def instructions(request: ChatRequest, most: int = MAX_INSTRUCTION) -> list[str]:
    """Return the system messages of a request by blocks, in any wire format, each cut to ``most`` characters."""
    body: Mapping[str, Any] = request.body
    found = [body.get("instructions"), *_blocks(body.get("system"))]
    found += [part.text for one in request.messages if one.role in ("system", "developer") for part in one.parts]
    return [one[:most] for one in found if isinstance(one, str) and one.strip()]


def working_folder(request: ChatRequest) -> str:
    """Return the first working folder in the request, "" if there is none; agents change folders later."""
    for text in instructions(request, MAX_READ_FOR_FOLDER):
        if found := _found(text, "line") or _found(text, "marked"):
            return found
    for message in request.messages:
        if message.role == "user":
            for part in message.parts:
                if found := _found(part.text, "marked"):
                    return found
    return ""


def _found(text: str, kind: str) -> str:
    match = _pattern(kind).search(text[:MAX_READ_FOR_FOLDER])
    if match is None:
        return ""
    path = next(value for value in match.groupdict().values() if value is not None)
    return path.strip().rstrip("/\\.,;:")


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    folders = table("folders")["folders"]
    rows = [
        one.replace("{path}", folders["path"].replace("?P<path>", f"?P<path{at}>"))
        for at, one in enumerate(folders[kind])
    ]
    return re.compile("|".join(f"(?:{row})" for row in rows), re.IGNORECASE | re.MULTILINE)


def _blocks(system: object) -> list[object]:
    if isinstance(system, list):
        return [block.get("text") for block in system if isinstance(block, Mapping)]
    return [system]


def _is_call_tag(name: str, before: str) -> bool:
    opening = before.rfind(f"<{name}")
    inner = before[opening + len(name) + 1 :] if opening >= 0 else ""
    return _CALL_WORDS.search(name) is not None or (
        bool(inner) and _OPENING_ELEMENT.search(inner.partition(">")[2]) is not None
    )


@cache
def _noted() -> re.Pattern[str]:
    return pattern("heads", "noted", around=r"\A{}")


@cache
def _side() -> re.Pattern[str]:
    return pattern("heads", "side", around=r"{}")
