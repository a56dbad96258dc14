"""The demo's answer: lines of the messages and memory it was sent that share words with the question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from proxy.text import lexical

LABEL = "[demo, no model] "
_NOTED = LABEL + "Noted."
_UNKNOWN = (
    LABEL + "Nothing in this conversation or in memory answers that. I only look things up; for real answers "
    "configure a provider: set OPENAI_API_KEY (or another provider's key) in the environment, or start with "
    "--upstream URL."
)
_KNOWN = LABEL + "From what I was sent:\n"
_MAX_LINES = 8

_BLOCK = re.compile(  # up to the next block at most: many that are never closed stay linear
    r"<((?=\w*memor)\w++)[^>]*+>((?:(?!<\w*memor).)*?)</\1\s*+>", re.IGNORECASE | re.DOTALL
)
_TAG_ONLY = re.compile(r"\A\s*+</?[^>]*+>\s*+")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s*|\n+")
_QUESTION = re.compile(
    r"\A\s*+(?:what|which|who|whom|whose|where|when|why|how|do|does|did|is|are|am|was|were|can|could|will|would|should"
    r"|have|has|tell me|list|name|show|remind|summari[sz]e|was|welche[rsn]?|wer|wo|wann|wie|warum|qu[eé]|cu[aá]l(?:es)?"
    r"|qui[eé]n|d[oó]nde|cu[aá]ndo|c[oó]mo|что|как\w*|кто|где|когда|почему|сколько)\b",
    re.IGNORECASE,
)
_CJK_QUESTION = re.compile(r"什么|哪|谁|吗|怎|几|多少")
_ABOUT_ME = re.compile(
    r"\b(?:know|remember|learned)\b(?:(?!\b(?:know|remember|learned)\b).)*?\b(?:me|my)\b", re.IGNORECASE
)
_ENDED = re.compile(
    r"\b(?:(?:do(?:es)?n['’]?t|do(?:es)? not|no longer|not|never)\s+\w+|stopped\s+\w+|quit|gave up|switched from"
    r"|forget(?: about| that)?)\s+(?P<what>[^.!?,;\n]+)",
    re.IGNORECASE,
)
_ENTRY = re.compile(r"\A\s*+(?:[-*•]|\d++[.)]|user:)\s++", re.IGNORECASE)


def answer(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the reply to the last user message.

    Args:
        messages: As the client and memory wrote them; blocks ``<memory …>…</memory>`` may stand in any.
    """
    texts = [(str(message.get("role", "")), _text(message.get("content"))) for message in messages]
    said = [_BLOCK.sub(" ", text) for role, text in texts if role == "user"]
    if not said or not _is_question(said[-1]):
        return _NOTED
    *earlier, last = said
    ended = {word for text in said for match in _ENDED.finditer(text) for word in _words(match["what"])}
    remembered = [line for _, text in texts for line in _block_lines(text)]
    spoken = [sentence for text in earlier for sentence in _sentences(text) if not _is_question(sentence)]
    question = _words(" ".join(sentence for sentence in _sentences(last) if _is_question(sentence)))
    if _ABOUT_ME.search(last):
        found = _unended(remembered or spoken, ended)
    else:
        found = _matching(question, _unended(remembered, ended)) or _matching(question, _unended(spoken, ended))
    lines = list(dict.fromkeys(found))[:_MAX_LINES]
    return _KNOWN + "\n".join(f"- {line}" for line in lines) if lines else _UNKNOWN


def _matching(question: set[str], lines: Sequence[str]) -> list[str]:
    """Return the lines that share the most words with the question, or nearly so, in their order."""
    scores = [len(question & _words(line)) for line in lines]
    enough = max(1, max(scores, default=0) - 1)
    return [line for line, score in zip(lines, scores, strict=True) if score >= enough]


def _unended(lines: Iterable[str], ended: set[str]) -> list[str]:
    return [line for line in lines if not _ENDED.search(line) and not (ended & _words(line))]


def _is_question(text: str) -> bool:
    sentences = [sentence for sentence in _sentences(text) if sentence.strip()]
    return any(
        sentence.rstrip().endswith(("?", "？"))
        or _QUESTION.match(sentence.lstrip("¿ "))
        or _CJK_QUESTION.search(sentence)
        for sentence in sentences
    )


def _sentences(text: str) -> list[str]:
    return [piece.strip() for piece in _SENTENCE_END.split(text) if piece and piece.strip()]


def _block_lines(text: str) -> list[str]:
    lines: list[str] = []
    for match in _BLOCK.finditer(text):
        inner = [line for line in match[2].splitlines() if line.strip() and not _TAG_ONLY.fullmatch(line)]
        # Where there are bullets or quoted users, the other lines are headings and framing.
        entries = [line for line in inner if _ENTRY.match(line)]
        lines += [_ENTRY.sub("", line, count=1).strip() for line in entries or inner]
    return lines


def _words(text: str) -> set[str]:
    return set(lexical.content(text))


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict) and part.get("text"))
