"""Puts right in Chinese what was said with the same verb, or in the same form, as what a correction tells."""

from __future__ import annotations

import re
from collections.abc import Iterator

from proxy.memory.learn.extract_builtin.figures import SHOWN
from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import Lexicon
from proxy.memory.learn.extract_builtin.reading import Sentence, read_as
from proxy.memory.learn.extract_builtin.replacement import overlap

_VALUE = r"(?P<v>[^，。！？；、：:,!?;\s的了吗呢吧]{1,10})(?:的|了)?(?=$|[，。！；：:,!;\s])"
_SAYS = (  # verbs that tell the same
    rf"(?:写的?(?:就|才|明明)?是?|写着|印着|标着|登记的?是?|[报考选挂约订定填选买租去住看读学教练]的(?:就|才)?是|(?:应该|其实|原来|明明|本来|真的|就|才|而)?是)(?:一?[只条位名台辆]|个)?{_VALUE}",
    rf"(?:名叫|叫做?|名字是){_VALUE}",
    rf"姓{_VALUE}",
    rf"属(?!于){_VALUE}",
    rf"(?:住|约|定|放|安排|订|开|办|改)?在{_VALUE}",
)
_VERBS = tuple(lazy(pattern) for pattern in _SAYS)
_FORM = lazy(r"\d+(?:[.:-]\d+)*[a-z]+\d*|[a-z]+-?\d+(?:\.\d+)?", re.IGNORECASE)
_ORIGIN = "人"  # where one is from is no other thing that one is
_IDLE = lazy(
    r"^(?:我|你|他|她|它|这|那|因为|真|不|没|有|什么|怎么|谁|自己|昨天|今天|明天|之前|刚|旧|新|别人|人家|假|对|错)|^[\d.]+$"
)


def corrects_han(sentence: Sentence, lexicon: Lexicon) -> bool:
    """Whether a Chinese sentence says that something was wrong, or how one found out."""
    cues = (lexicon.correction, lexicon.slip, lexicon.murmur, SHOWN["zh"])
    return lexicon.code == "zh" and any(cue.search(sentence.flat) for cue in cues)


def put_right_in_han(sentence: Sentence, message: str, earlier: str, lexicon: Lexicon) -> Iterator[tuple[str, str]]:
    """Yield (new, old) where a sentence that corrects tells with a verb of before something unheard.

    Args:
        sentence: Of the message.
        message: Its text.
        earlier: What was said before.
        lexicon: Chinese.
    """
    if not corrects_han(sentence, lexicon):
        return
    before = [c for one in read_as(earlier, lexicon).sentences for c in one.clauses if not c.asks]
    for clause in sentence.clauses:
        if clause.asks:
            continue
        for verb in _VERBS:
            new = _told(verb, clause.flat, message[clause.start : clause.end])
            told = [_told(verb, old.flat, earlier[old.start : old.end]) for old in before]
            found = list(dict.fromkeys(value for value in told if value and not value.endswith(_ORIGIN)))
            if new and new not in earlier and len(found) == 1 and not overlap(new, found[0]):
                yield new, found[0]
                return
    yield from _by_form(sentence, earlier)


def _by_form(sentence: Sentence, earlier: str) -> Iterator[tuple[str, str]]:
    """Yield the one code of a sentence and the one of before that is written like it ("1.5T", "2.0T")."""
    now, before = set(_FORM.findall(sentence.text)), set(_FORM.findall(earlier))
    if len(now) == 1 and len(before) == 1 and _mould(*now) == _mould(*before) and now != before:
        yield now.pop(), before.pop()


def _mould(code: str) -> str:
    return re.sub(r"\d+", "0", code.lower())


def _told(verb: re.Pattern[str], flat: str, text: str) -> str:
    match = verb.search(flat)
    if match is None or _IDLE.search(match["v"]):
        return ""
    return text[slice(*match.span("v"))]
