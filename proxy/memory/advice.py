"""Asking for advice, and saying what one prefers: the one calls for the other, whatever words they share; pure."""

from __future__ import annotations

import re

_ASKS = re.compile(
    r"""
      \b(?:suggest\w*|recommend\w*|advice|advise|ideas?|options?|should\ (?:i|we)|would\ you
        |what\ (?:steps|tools|things|places|kinds?|sorts?)\ |where\ (?:do\ you\ think|should)
        |help\ (?:me|us)\ (?:plan|organi[sz]e|choose|decide|find|pick|set\ up))\b
    | \b(?:empf[ei]hl\w*|empfehl\w*|vorschl[aä]g\w*|schläg\w*|schlag\w*|rat|ratschl\w+|rätst|ideen?
        |soll(?:te)?n?\ (?:ich|wir)|würdest\ du|würden\ sie
        |hilf\ (?:mir|uns)\b.*\b(?:plan\w*|aus\w*wähl\w*|entscheid\w*|find\w*))\b
    | \b(?:recomi[eé]nd\w*|recomend\w*|sugi?er\w*|sugerencia\w*|consej\w*|aconsej\w*|ideas|opci(?:ón|ones)
        |deber(?:ía|íamos)|harías|ayúdame\ a\ (?:elegir|planear|planificar|decidir|organizar|encontrar))\b
    | \b(?:посовет\w*|рекоменд\w*|порекоменд\w*|предлож\w*|совет\w*|идеи|идею|вариант\w*|стоит\ ли
        |что\ (?:мне\ )?(?:лучше|выбрать|взять|посмотреть|почитать|приготовить)
        |помоги\ (?:мне\ )?(?:выбрать|спланировать|решить|найти))\b
    | 推荐|推薦|建议|建議|主意|点子|该(?:选|买|用|去|怎么)|應該|应该|[帮幫]我(?:选|選|挑|计划|規劃|规划|安排|决定|找)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_PREFERS = re.compile(
    r"""
      \bi(?:['’]d|\ would)?\ (?:\w+(?:ly)?\ |always\ |kinda\ |much\ )?(?:prefer|rather)\b
    | \bi(?:['’]ve|\ have)?\ (?:chosen|chose|decided|opted|settled)\b | \bmy\ (?:preference|favou?rite)s?\b
    | \bi\ (?:(?:really|absolutely)\ )?(?:don['’]t\ (?:like|want)|can['’]t\ stand|love|hate|enjoy)\b
    | \bich\ (?:\w+\ )?(?:bevorzuge|mag|liebe|hasse)\b | \b(?:ziehe?|ziehen)\b.{1,60}\bvor\b | \bam\ liebsten\b
    | \bmir\b.{0,40}\blieber\b | \bmein\w*\ lieblings\w+ | \bich\ habe\ mich\ (?:für|gegen)\b
    | \b(?:prefiero|preferimos|no\ soporto|me\ (?:gustan?|encantan?)|mi\w*\ (?:\w+\ )?(?:favorit|preferid)[oa]s?)\b
    | \b(?:elegí|decidí|opté|he\ (?:elegido|decidido|optado))\b
    | \bпредпочита\w+ | \bмне\ (?:больше\ |очень\ |не\ )?нрав[яи]тся\b | \b(?:люблю|обожаю|ненавижу|терпеть\ не\ могу)\b
    | \bмо[йяеёи]\w*\ любим\w+ | \bя\ (?:выбрал|решил)а?\b
    | 我(?:比较|比較|更|最|很|不|挺|还是|還是)?(?:喜欢|喜歡|爱|愛|讨厌|討厭|偏好|倾向|習慣|习惯)
    | 我(?:选|選|决定|決定)了?
    """,
    re.IGNORECASE | re.VERBOSE,
)


def asks_for_advice(text: str) -> bool:
    """Whether what one prefers matters to the answer."""
    return _ASKS.search(text) is not None


def prefers(text: str) -> bool:
    """Whether the speaker says what they prefer, or have decided for."""
    return _PREFERS.search(text) is not None
