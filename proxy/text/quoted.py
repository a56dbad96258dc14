"""Finder of the parts of a message that are quoted, fenced, enclosed, forwarded or pasted. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from proxy.text.words import Span

_HINT = re.compile(r"[>＞`~<\n:：]|\"{3}|'{3}|“{2}|\[quote", re.IGNORECASE)
_LINE = re.compile(r"[^\n\r\v\f\x85\u2028\u2029]*+(?:\r\n|[\n\r\v\f\x85\u2028\u2029]|\Z)")
_FENCE = re.compile(r"(?<![ \t])[ \t]*+(`{3,}|~{3,})")
_MARKED = re.compile(r"(?<![ \t])[ \t]*+[>＞┃▌]")
_TRIPLE = re.compile(r"\"{3}|'{3}|“{3}|”{3}")
_TAG = re.compile(
    r"<(?P<close>/?)(?P<name>[A-Za-z][\w:.-]{0,60})(?:\s[^<>]{0,400})?>|\[(?P<end>/?)quote\b[^\]\n]{0,80}\]",
    re.IGNORECASE,
)
_OPEN_ENDED = re.compile(
    r"memory|context|documents?|file|attachments?|sources?|transcript|e?mail|article|quote|blockquote|details|pasted[\w-]*"
    r"|tool_[\w-]+|search_results?",
    re.IGNORECASE,
)
# After such a line all text is by another author.
_FORWARDED = re.compile(
    r"(?<![ \t])[ \t]*+-{2,40}\s{0,9}(?:Original|Forwarded|Ursprüngliche|Weitergeleitete|Mensaje|Message d|Исходное"
    r"|Пересланное|原始|转发)"
    r"|(?<![ \t])[ \t]*+\[(?:Forwarded|Weitergeleitet|Reenviado|Transféré|Encaminhad|Переслано|转发)"
    r"[^\]\n]{0,80}\][ \t]*$"
    r"|(?:On|Am|El|Le|Em|В|在)\b.{6,160}(?:wrote|schrieb|escribió|a écrit|escreveu|пишет|написала?|写道)"
    r"\s{0,9}.{0,60}[:：]$"
    r"|(?<![ \t])[ \t]*+(?:Subject|Betreff|Asunto|Objet|Assunto|Тема|主题)[ \t]?[:：]"
)
# A labelled turn of a conversation, up to the next empty line.
_PART = re.compile(
    r"(?<![ \t])[ \t]*+[*_#\[(]{0,4}(?:user|human|assistant|chatgpt|claude|nutzer|usuario|utilisateur|пользователь|用户"
    r"|助手)[*_\])]{0,4}[ \t]?[:：]",
    re.IGNORECASE,
)
# A post of a forum, whose author gives age and sex: "I (29F) have been with my boyfriend (31M) for six years".
_POST = re.compile(
    r"(?:^|(?<=[\s.!?。]))(?:I|me|my|ich|mein\w?|yo|mi|je|mon|eu|я|мой|моя|我)"
    r" ?[(\[（] ?(?:\d\d ?[fmnwhжм女男]|[fmnwhжм女男],? ?\d\d) ?[)\]）]",
    re.IGNORECASE,
)
# A pasted chat, in which the author's own lines open with "Me:".
_OWN_LINE = re.compile(r"^[ \t]{0,9}(?:Me|Ich|Yo|Moi|Eu|Я|我)[ \t]?[:：]", re.MULTILINE)
_NAMED_LINE = re.compile(r"^[ \t]{0,9}[^\W\d_][\w.'-]{0,30}[ \t]?[:：](?=[ \t]*\S)[^\n]*", re.MULTILINE)
_INTRODUCES = re.compile(r"[:：][*_ \t]*$")
_FIRST_PERSON = re.compile(
    r"\b(?:I|I['’]m|my|me|we|our|ich|mein\w*|mir|mich|wir|yo|mi|mis|nosotr[oa]s|je|mon|ma|mes|nous|eu|meu|minha|nós|я|мне|меня"
    r"|мой|моя|мо[её]|мы)\b|[我咱]",
    re.IGNORECASE,
)
_PASTED, _INTRODUCED = 1200, 600  # characters: a chat turn is rarely one paragraph of this size
_PER_PERSON = 250  # characters for each word of the first person; text about oneself has at least so many such words


def quoted_spans(text: str) -> list[Span]:
    """Return the spans of a message that are quoted in it, in order, without overlap, including their marks."""
    if len(text) < _INTRODUCED and _HINT.search(text) is None and _POST.search(text) is None:
        return []
    found = [*_by_lines(text), *_enclosed(text), *_pasted(text)]
    return _joined(text, found)


def marked(text: str, quoted: Sequence[str] = ()) -> str:
    """Return a message with each quoted part in brackets that say so.

    Args:
        text: A message, or a piece of one.
        quoted: Parts of it that the text around the piece shows to be quoted.
    """
    spans = [*quoted_spans(text), *(span for part in quoted for span in _found(text, part))]
    if not spans:
        return text
    shown, at = [], 0
    for start, end in _joined(text, spans):
        inner = text[start:end]
        body = inner.strip()
        if body:
            tail = inner[len(inner.rstrip()) :]
            head = inner[: len(inner) - len(inner.lstrip())]
            shown += [text[at:start], head, f"[quoted: {_balanced(body)}]", tail]
            at = end
    return "".join([*shown, text[at:]])


def within(whole: str, piece: str) -> tuple[str, ...]:
    """Return the quoted parts of a piece of a message, as the whole message shows them."""
    at = whole.find(piece)
    if at < 0:
        return ()
    cut = ((max(start, at), min(end, at + len(piece))) for start, end in quoted_spans(whole))
    return tuple(whole[start:end] for start, end in cut if start < end)


def _found(text: str, part: str) -> Iterator[Span]:
    """Yield the position of a part in a message, line by line if some of its lines are missing."""
    for one in [part] if part in text else part.splitlines():
        if one.strip() and (at := text.find(one)) >= 0:
            yield at, at + len(one)


def _by_lines(text: str) -> Iterator[Span]:
    """Yield fenced blocks, lines marked as quoted, forwarded mail, and turns of another conversation."""
    fence, begun, plays = "", 0, False
    for match in _LINE.finditer(text):
        line, (start, end) = match[0].rstrip(), match.span()
        opening = _FENCE.match(line)
        if fence:
            if opening is not None and opening[1].startswith(fence):
                yield begun, end
                fence = ""
        elif opening is not None:
            fence, begun = opening[1], start
        elif _FORWARDED.match(line):
            yield start, len(text)
            return
        else:
            plays = bool(line) and (plays or _PART.match(line) is not None)
            if plays or _MARKED.match(line):
                yield start, end
        if start == end:
            break
    if fence:
        yield begun, len(text)


def _enclosed(text: str) -> Iterator[Span]:
    """Yield text in triple quotes or between tags; some unclosed tags reach to the end of the text."""
    opened = -1
    for match in _TRIPLE.finditer(text):
        if opened < 0:
            opened = match.start()
        else:
            yield opened, match.end()
            opened = -1
    if opened >= 0:
        yield opened, len(text)
    open_tags: dict[str, int] = {}
    for match in _TAG.finditer(text):
        name = (match["name"] or "quote").casefold()
        if not (match["close"] or match["end"]):
            open_tags.setdefault(name, match.start())
        elif name in open_tags:
            yield open_tags.pop(name), match.end()
    rest = [start for name, start in open_tags.items() if _OPEN_ENDED.fullmatch(name)]
    if rest:
        yield min(rest), len(text)


def _pasted(text: str) -> Iterator[Span]:
    """Yield long impersonal paragraphs, such long texts after a colon, lines of a chat, and posts of forums."""
    if _OWN_LINE.search(text) is not None:
        yield from (match.span() for match in _NAMED_LINE.finditer(text))
    if (post := _POST.search(text)) is not None:
        yield post.start(), len(text)
    start, introduced = 0, -1
    for end in [*(match.end() for match in re.finditer(r"\n[ \t]*\n", text)), len(text)]:
        paragraph = text[start:end]
        if len(paragraph) >= _PASTED and _is_impersonal(paragraph):
            yield start, end
        if introduced < 0 and _INTRODUCES.search(paragraph.rstrip()) is not None:
            introduced = end
        start = end
    if introduced < 0 and (first := re.match(r"[^\n]{1,400}[:：][*_ \t]*\n", text)) is not None:
        introduced = first.end()
    if 0 <= introduced <= len(text) - _INTRODUCED and _is_impersonal(text[introduced:]):
        yield introduced, len(text)


def _is_impersonal(text: str) -> bool:
    return len(_FIRST_PERSON.findall(text)) * _PER_PERSON < len(text)


def _joined(text: str, spans: Sequence[Span]) -> list[Span]:
    """Return spans in order; merge those that overlap or have only blanks between them."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and (start <= joined[-1][1] or not text[joined[-1][1] : start].strip()):
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _balanced(text: str) -> str:
    """Return a text with every unmatched closing bracket replaced by a parenthesis."""
    if "]" not in text:
        return text
    depth, shown = 0, []
    for character in text:
        depth += (character == "[") - (character == "]")
        shown.append(")" if depth < 0 else character)
        depth = max(depth, 0)
    return "".join(shown)
