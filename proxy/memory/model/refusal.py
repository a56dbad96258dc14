"""Detection of replies in which a model, or its provider's filter, declines to read a text."""

from __future__ import annotations

import re

from proxy.memory.model.call import Completion
from proxy.memory.model.json_text import has_json

_FILTERED = frozenset({"content_filter", "safety", "refusal"})
_WINDOW = 300  # characters; a refusal opens the reply
_PHRASES = re.compile(
    r"""
      \b(?:i[’']?m|i\ am)\s+(?:very\s+|really\s+)?(?:sorry|unable|not\ able)
    | \bi\s+(?:can[’']?t|cannot|can\ not|won[’']?t|must\ decline) | \bas\ an\ ai\b
    | \b(?:es\ )?tut\ mir\ leid\b | \bich\ kann\ (?:dir\ |ihnen\ )?(?:dabei|das|hier|diese\w*)\b[^.]{0,60}\bnicht
    | \blo\ siento\b | \bno\ puedo\ (?:ayudar|procesar|hacer|cumplir)
    | \bизвините\b | \bя\ не\ могу\b | \bк\ сожалению\b
    | 抱歉 | 对不起 | 我无法 | 我不能 | \bje\ suis\ désolé | \bje\ ne\ peux\ pas
    """,
    re.IGNORECASE | re.VERBOSE,
)


def is_refusal(reply: Completion) -> bool:
    """Return whether a reply declines: by its refusal field, its finish reason, or an apology without JSON."""
    if reply.refusal or (reply.finish_reason or "") in _FILTERED:
        return True
    text = reply.text or ""
    return not has_json(text) and _PHRASES.search(text.strip()[:_WINDOW]) is not None
