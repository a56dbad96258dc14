"""Query: the user's last message, widened by the one that it refers to, without its framing words.

The module also detects requests for advice and stated preferences: the former need the latter even if the two share no
words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from proxy.text.lexical import content, tokens
from proxy.text.words import flat

_SENTENCE = re.compile(r"[^.!?。！？؟…\n]+[.!?。！？؟…]*")
_ASKING = re.compile(
    r"\A(?:.*[?？؟]$|(?:and |but |so |now )?(?:what|who|whom|whose|when|where|which|why|how|did|do|does|is|are|was|"
    r"were|can|could|will|would|should|have|has|tell me|remind me|wer|wo|wann|warum|wie|welche\w*|qué|quién|cuándo|"
    r"dónde|cómo|cuál|qui|quand|où|pourquoi|comment|quel\w*|что|кто|когда|где|почему|как\w*)\b)",
    re.IGNORECASE | re.DOTALL,
)
_FIRST_PERSON = re.compile(
    r"\b(?:i|i['’]\w+|my|mine|me|we|our|us|ich|mich|mir|mein\w*|wir|uns|unser\w*|yo|m[ií]s?|conmigo|mío|mía|nosotr\w+|je|j['’]\w+|"
    r"moi|mon|ma|mes|nous|io|mio|mia|noi|eu|mim|meu|minha|ik|mijn|я|мне|меня|мы|нас|мо\w|нам)\b|[我俺私僕]|저|나는|내",
    re.IGNORECASE,
)
_TOLD = 4  # minimum content words of a statement
_SHORT = 5  # a message with fewer content words may depend on the one before
_MAX_CHARACTERS = 2000
_POINTING_WORDS = (
    "it that this they them he she him her his their its those these there then one ones again more else other "
    "es das dies er sie ihn ihm dort dann nochmal eso esto ello lo la los las ahí entonces otra "
    "это этот эта он она они его её их там тогда ещё"
)
_POINTERS = frozenset(_POINTING_WORDS.split())

_MAX_FRAMED = 600  # in a longer text the framing words weigh little

_CONVERSATIONS = r"""
      \b(?:across|throughout|over|during|through|in|from|on)\ (?:all\ )?(?:of\ )?(?:my|our|these|those|the|all)
      (?:\ \w+)?\ (?:conversations?|sessions|chats|discussions|messages|requests|questions|talks)\b
    | \b(?:in|über|aus|während|durch)\ (?:all(?:en?)?\ )?(?:unsere[rn]?|meine[rn]?|den|allen?)\ (?:\w+\ )?
      (?:gespräche?n?|unterhaltungen|chats|sitzungen|nachrichten|fragen)(?:\ hinweg)?\b
    | \b(?:a\ lo\ largo\ de|en|durante|a\ través\ de|de)\ (?:tod[oa]s\ )?(?:nuestr[oa]s|mis|l[oa]s|est[oa]s)\ (?:\w+\ )?
      (?:conversaciones|charlas|sesiones|chats|mensajes|preguntas)\b
    | \b(?:во?|за|из|на\ протяжении)\ (?:все[хй]?\ )?(?:наш|мо|эт)\w+\ (?:\w+\ )?
      (?:разговор|бесед|диалог|чат|сообщени|вопрос)\w*
    | [在从]?(?:我们|我)?(?:所有|全部|历次|这些|几次)的?(?:对话|聊天|谈话|消息|提问)(?:[中里])?
"""
_SEQUENCE = r"""
      \b(?:the\ )?(?:order|sequence)\ in\ which\b | \bin\ (?:what|which)\ (?:order|sequence)\b
    | \bin\ welcher\ reihenfolge\b | \b(?:die\ )?reihenfolge,\ in\ der\b
    | \ben\ qué\ orden\b | \bel\ orden\ en\ (?:el\ )?que\b
    | \bв\ как(?:ом\ порядке|ой\ последовательности)\b | \bпорядок,\ в\ котором\b
    | 按(?:照)?(?:什么|怎样的?)顺序 | 先后顺序
"""
_COUNT = r"""
      \bhow\ many\ (?:different|distinct|separate|specific|total|times)\b
    | \bwie\ ?viele\ verschiedenen?\b | \bwie\ oft\b
    | \bcuánt[oa]s\ (?:veces|diferentes|distint[oa]s)\b
    | \bсколько\ (?:разных|различных|раз)\b
    | 多少[种个次]不同的? | 多少次
"""
_OVERVIEW = r"""
      \b(?:over\ time|in\ total|evolved|summary\ of|summari[sz]e\ (?:how|what|my|our|all)|overview\ of|recap\ of)\b
    | \b(?:im\ laufe\ der\ zeit|insgesamt|zusammenfassung|fass\w*\ .{0,60}\bzusammen|überblick\ über)\b
    | \b(?:con\ el\ tiempo|en\ total|resum(?:en\ de|e\ (?:cómo|qué|lo|mi)))\b
    | \b(?:со\ временем|в\ общей\ сложности|подведи\ итог\w*|обзор)\b
    | 总结一下 | 概括一下 | 总共 | 一共
"""
_TELLING = r"""
      \b(?:can|could|would|will)\ you\ (?:please\ )?
      (?:list|walk\ me\ through|tell\ me|remind\ me(?:\ of)?|give\ me|summari[sz]e)\b
    | \b(?:i|we|you)\ (?:have\ )?(?:first\ )?
      (?:brought\ up|mentioned|discussed|raised|talked\ about|told\ you(?:\ about)?)\b
    | \b(?:did|have)\ (?:i|we|you)\ (?:ever\ )?
      (?:say|said|mention(?:ed)?|tell\ you|told\ you|discuss(?:ed)?|bring\ up)\b
    | \b(?:different|various)\ (?:aspects|parts|topics|things|ways)\ (?:of|about|related\ to)\b
    | \bmention\ only\b[^.?!]*[.!]? | ,?\ \bin\ order\b(?!\ to\b)
    | \b(?:kannst|könntest)\ du\ (?:mir\ )?(?:bitte\ )?(?:sagen|auflisten|aufzählen|erzählen)\b
    | \b(?:habe?|hatte)\ ich\ (?:dir\ )?(?:schon\ )?(?:mal\ )?(?:gesagt|erzählt|erwähnt)\b
    | \b(?:puedes|podrías)\ (?:decirme|enumerar|recordarme)\b
    | \b(?:te\ )?(?:dije|mencioné|conté)\b | \b(?:te\ )?he\ (?:dicho|mencionado|contado)\b
    | \b(?:можешь|мог(?:ла)?\ бы)\ (?:ты\ )?(?:перечислить|сказать|напомнить)\b
    | \bя\ (?:тебе\ )?(?:говорил|рассказывал|упоминал)а?\b
    | 你(?:能|可以)?(?:列出|告诉我|提醒我) | 我(?:跟你)?(?:说过|提到过|提过|讲过)
"""
_REPLIED = r"""
      \bdid\ you\ (?:\w+\ ){0,2}?(?:recommend|suggest|advise|propose|tell|say|give|explain|list|help|mention|outline
        |show|describe|write|come\ up\ with)\b
    | \byou(?:'ve|'d|\ have|\ had)?\ (?:\w+\ )?(?:recommended|suggested|advised|proposed|told|said|gave|given|explained
        |listed|helped|outlined|showed|shown|described|wrote|written|came\ up\ with)\b
    | \byour\ (?:advice|suggestions?|recommendations?|tips?|explanation|answer)\b
    | \bhast\ du\ (?:mir|uns)?\b[^.?!]{0,60}\b(?:empfohlen|vorgeschlagen|geraten|gesagt|erklärt|genannt|geschrieben)\b
    | \bdu\b[^.?!]{0,60}\b(?:empfohlen|vorgeschlagen|geraten|gesagt|erklärt|genannt|geschrieben)\ (?:hast|hattest)\b
    | \bdein(?:e|en|em)?\ (?:rat|ratschl\w+|vorschl[aä]g\w*|empfehlung\w*|tipps?|erklärung)\b
    | \b(?:me|nos)\ (?:recomendaste|sugeriste|aconsejaste|propusiste|dijiste|explicaste|diste|ayudaste)\b
    | \b(?:me|nos)\ has\ (?:recomendado|sugerido|aconsejado|propuesto|dicho|explicado|dado)\b
    | \btus?\ (?:consejos?|sugerencias?|recomendaci(?:ón|ones)|explicación)\b
    | \b(?:ты|вы)\ (?:мне\ |нам\ )?(?:по|со)?
      (?:рекомендовал|советовал|предлагал|предложил|сказал|говорил|объяснил|объяснял)\w*
    | \b(?:твой|твои|твоё|ваш|ваши)\ (?:совет|рекомендаци|предложени|объяснени)\w*
    | [你您](?:之前|上次|以前|刚才|曾经)?(?:给我|向我|跟我|对我)?(?:推荐|建议|说|提到|解释|列出)(?:过|了|的)
"""
_ASKED = r"""
      \b(?:asked|questions|did\ (?:i|we)\ (?:\w+\ )?(?:ask|talk|discuss|chat)|talked\ about|discussed|conversations?)\b
    | \b(?:gefragt|fragen|gesprochen|geredet|gespräche?)\b
    | \b(?:pregunté|he\ preguntado|preguntas|hablamos|hemos\ hablado|conversaci(?:ón|ones))\b
    | \b(?:ai[- ]demandé|questions|avons\ parlé|conversations?)\b | \b(?:perguntei|perguntas|falamos|conversas?)\b
    | \b(?:спрашивал|спросил|вопрос|говорили|обсуждали|разговор)\w*
    | 问过|问了|提问|问题|聊过|聊了|谈过|对话
"""
_ASKS_QUESTIONS = re.compile(_ASKED, re.IGNORECASE | re.VERBOSE)
_ASKS_REPLIES = re.compile(_REPLIED, re.IGNORECASE | re.VERBOSE)
_IS_ACROSS = re.compile(f"{_CONVERSATIONS}|{_SEQUENCE}|{_COUNT}|{_OVERVIEW}", re.IGNORECASE | re.VERBOSE)
_FRAME = re.compile(f"{_CONVERSATIONS}|{_SEQUENCE}|{_COUNT}|{_TELLING}", re.IGNORECASE | re.VERBOSE)

_ASKS_ADVICE = re.compile(
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
# Patterns of preferences, each by a substring that every match holds: most turns hold none of these.
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


@dataclass(frozen=True, slots=True)
class Query:
    """A search in a user's memory.

    Args:
        text: Search text: the user's message.
        context: Earlier message that the text refers to; counts less.
        vector: Embedding of ``dense_text``; None while the embedder is slow or broken.
        now: Time of the request.
        as_of: If given, memories that were valid then are searched.
        session: Id of the current session.
        exclude_texts: Texts that are in the request already; not recalled.
        patience_s: Maximum seconds to wait for chunks that are still loading.
    """

    text: str
    context: str
    vector: NDArray[np.float32] | None
    now: datetime
    as_of: datetime | None = None
    session: str = ""
    exclude_texts: Sequence[str] = ()
    patience_s: float = 0.2

    @property
    def dense_text(self) -> str:
        """Text whose embedding is the query's vector."""
        return f"{self.context}\n{self.text}" if self.context else self.text

    @property
    def says(self) -> bool:
        """Return whether the user states something and does not only ask; recent turns then count more."""
        return _says(self.text)

    @property
    def is_across(self) -> bool:
        """Return whether the question is about several sessions."""
        return is_across(self.text) and not self.says

    @property
    def is_of_replies(self) -> bool:
        """Return whether the question is about an earlier reply of the assistant."""
        return is_of_replies(self.text)


@lru_cache(maxsize=8)  # called several times in one search
def _says(text: str) -> bool:
    told = " ".join(part for part in map(str.strip, _SENTENCE.findall(text)) if not _ASKING.match(part))
    return is_of_oneself(told) and len(content(told)) >= _TOLD


def widen(user_turns: Sequence[str], *, reply: str = "") -> tuple[str, str]:
    """Return the search text and its context, "" if the text needs none.

    Args:
        user_turns: The user's messages in this session, oldest first.
        reply: The assistant's last reply, used if no earlier message of the user has content words.
    """
    if not user_turns:
        return "", ""
    text = _shortened(user_turns[-1])
    if not leans_back(text):
        return text, ""
    before = next((turn for turn in reversed(user_turns[:-1]) if content(turn)), "")
    return text, _shortened(before or reply)


def leans_back(text: str) -> bool:
    """Return whether a message cannot be understood without the one before it."""
    telling = content(text)
    return len(telling) < _SHORT and (len(telling) < 2 or not _POINTERS.isdisjoint(tokens_of(text)))


def is_of_oneself(text: str) -> bool:
    """Return whether a text has a word of the first person."""
    return _FIRST_PERSON.search(text) is not None


def tokens_of(text: str) -> set[str]:
    """Return the words of ``text`` as written, in lower case, and their stems."""
    return {*text.casefold().replace("?", " ").replace(",", " ").split(), *tokens(text)}


def _shortened(text: str) -> str:
    """Return the start and the end of a long text: the question is at one of them."""
    if len(text) <= _MAX_CHARACTERS:
        return text
    half = _MAX_CHARACTERS // 2
    return f"{text[:half]}\n{text[-half:]}"


@lru_cache(maxsize=8)  # called by every source of one search
def matter(text: str) -> str:
    """Return a question without its framing words, which the wanted turns do not hold.

    A long text, or one without other content words, is returned unchanged.
    """
    if len(text) > _MAX_FRAMED:
        return text
    left = " ".join(_FRAME.sub(" ", text).split())
    return left if content(left) else text


@lru_cache(maxsize=8)
def is_across(text: str) -> bool:
    """Return whether a question spans sessions: an order, a development or a total."""
    return len(text) <= _MAX_FRAMED and _IS_ACROSS.search(text) is not None


@lru_cache(maxsize=8)
def is_of_replies(text: str) -> bool:
    """Return whether a short question is about an earlier reply of the assistant."""
    return len(text) <= _MAX_FRAMED and _ASKS_REPLIES.search(text) is not None


@lru_cache(maxsize=8)
def is_of_questions(text: str) -> bool:
    """Return whether a short question is about the user's earlier questions or topics."""
    return len(text) <= _MAX_FRAMED and _ASKS_QUESTIONS.search(text) is not None


def asks_for_advice(text: str) -> bool:
    """Return whether a text asks for advice, so that the user's preferences matter."""
    return _ASKS_ADVICE.search(flat(text)) is not None


@lru_cache(maxsize=8_192)
def prefers(text: str) -> bool:
    """Return whether a text states a preference or a decision."""
    plain = flat(text)
    return any(cue in plain and pattern.search(plain) for cue, pattern in _PREFERS.items())
