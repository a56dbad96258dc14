"""Asking for advice, and saying what one prefers: the one calls for the other, whatever words they share; pure."""

from __future__ import annotations

import re
from functools import lru_cache

from proxy.text.words import flat

_ASKS = re.compile(
    r"""
      \b(?:suggest\w*|recommend\w*|advice|advise|ideas?|options?|should\ (?:i|we)|would\ you
        |what\ (?:steps|tools|things|places|kinds?|sorts?)\ |where\ (?:do\ you\ think|should)
        |help\ (?:me|us)\ (?:plan|organi[sz]e|choose|decide|find|pick|set\ up))\b
    | \b(?:empf[ei]hl\w*|vorschl[aä]g\w*|schl[aä]g\w*|rat|ratschl\w+|rätst|ideen?
        |soll(?:te)?n?\ (?:ich|wir)|würdest\ du|würden\ sie
        |hilf\ (?:mir|uns)\b.*\b(?:plan\w*|aus\w*wähl\w*|entscheid\w*|find\w*))\b
    | \b(?:recomi[eé]nd\w*|recomend\w*|sugi?er\w*|sugerencia\w*|consej\w*|aconsej\w*|ideas|opci(?:ón|ones)
        |deber(?:ía|íamos)|harías|ayúdame\ a\ (?:elegir|planear|planificar|decidir|organizar|encontrar))\b
    | \b(?:посовет\w*|рекоменд\w*|порекоменд\w*|предлож\w*|совет\w*|идеи|идею|вариант\w*|стоит\ ли
        |что\ (?:мне\ )?(?:лучше|выбрать|взять|посмотреть|почитать|приготовить)
        |помоги\ (?:мне\ )?(?:выбрать|спланировать|решить|найти))\b
    | 推荐|建议|主意|点子|该(?:选|买|用|去|怎么)|应该|帮我(?:选|挑|计划|规划|安排|决定|找)
    """,
    re.VERBOSE,
)
# What is preferred, by a part of a word without which a pattern cannot match: most turns hold none of them.
_PREFERS = {
    cue: re.compile(pattern)
    for cue, pattern in {
        "prefer": r"\bi(?:'d| would)? (?:\w+(?:ly)? |always |kinda |much )?prefer\b|\bmy preferences?\b"
        r"|\bmi\w* (?:\w+ )?preferid[oa]s?\b|\bpreferimos\b",
        "rather": r"\bi(?:'d| would) (?:\w+(?:ly)? |much )?rather\b",
        "chose": r"\bi(?:'ve| have)? (?:chosen|chose)\b",
        "decided": r"\bi(?:'ve| have)? decided\b",
        "opted": r"\bi(?:'ve| have)? opted\b",
        "settled": r"\bi(?:'ve| have)? settled\b",
        "avo": r"\bmy favou?rites?\b|\bmi\w* (?:\w+ )?favorit[oa]s?\b",
        "don't": r"\bi (?:really |absolutely )?don't (?:like|want)\b",
        "can't": r"\bi (?:really |absolutely )?can't stand\b",
        "love": r"\bi (?:really |absolutely )?love\b",
        "hate": r"\bi (?:really |absolutely )?hate\b",
        "enjoy": r"\bi (?:really |absolutely )?enjoy\b",
        "bevorzuge": r"\bich (?:\w+ )?bevorzuge\b",
        "ich ": r"\bich (?:\w+ )?(?:mag|liebe|hasse)\b|\bich habe mich (?:für|gegen)\b",
        "zieh": r"\b(?:ziehe?|ziehen)\b.{1,60}\bvor\b",
        "lieb": r"\bam liebsten\b|\bmir\b.{0,40}\blieber\b|\bmein\w* lieblings\w+",
        "prefiero": r"\bprefiero\b",
        "soporto": r"\bno soporto\b",
        "gust": r"\bme gustan?\b",
        "encant": r"\bme encantan?\b",
        "elegi": r"\bhe elegido\b",
        "elegí": r"\belegí\b",
        "decidi": r"\bhe decidido\b",
        "decidí": r"\bdecidí\b",
        "opt": r"\bopté\b|\bhe optado\b",
        "предпочит": r"\bпредпочита\w+",
        "нрав": r"\bмне (?:больше |очень |не )?нрав[яи]тся\b",
        "люб": r"\bлюблю\b|\bмо[йяеи]\w* любим\w+",
        "обожаю": r"\bобожаю\b",
        "ненавижу": r"\bненавижу\b",
        "терпеть": r"\bтерпеть не могу\b",
        "выбрал": r"\bя выбрала?\b",
        "решил": r"\bя решила?\b",
        "我": r"我(?:比较|更|最|很|不|挺|还是)?(?:喜欢|爱|讨厌|偏好|倾向|习惯)|我(?:选|决定)",
    }.items()
}


def asks_for_advice(text: str) -> bool:
    """Whether what one prefers matters to the answer."""
    return _ASKS.search(flat(text)) is not None


@lru_cache(maxsize=8_192)
def prefers(text: str) -> bool:
    """Whether the speaker says what they prefer, or have decided for."""
    plain = flat(text)
    return any(cue in plain and pattern.search(plain) for cue, pattern in _PREFERS.items())
