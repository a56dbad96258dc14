"""Framing of a question: words about the talk and its conversations, not its matter; pure."""

from __future__ import annotations

import re
from functools import lru_cache

from proxy.text.lexical import content

_MAX_CHARACTERS = 600  # a longer text tells its matter at length; what frames it weighs little

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
_ASKS_REPLIES = re.compile(_REPLIED, re.IGNORECASE | re.VERBOSE)
_IS_ACROSS = re.compile(f"{_CONVERSATIONS}|{_SEQUENCE}|{_COUNT}|{_OVERVIEW}", re.IGNORECASE | re.VERBOSE)
_FRAME = re.compile(f"{_CONVERSATIONS}|{_SEQUENCE}|{_COUNT}|{_TELLING}", re.IGNORECASE | re.VERBOSE)


@lru_cache(maxsize=8)  # every source of one search asks
def matter(text: str) -> str:
    """Return a question without what frames it: no turn that is sought holds those words.

    The text itself, where nothing telling would be left.
    """
    if len(text) > _MAX_CHARACTERS:
        return text
    left = " ".join(_FRAME.sub(" ", text).split())
    return left if content(left) else text


@lru_cache(maxsize=8)
def is_across(text: str) -> bool:
    """Whether a question is about several conversations: how things went, in what order, how many in all."""
    return len(text) <= _MAX_CHARACTERS and _IS_ACROSS.search(text) is not None


@lru_cache(maxsize=8)
def is_of_replies(text: str) -> bool:
    """Whether a short question is about what the assistant once answered."""
    return len(text) <= _MAX_CHARACTERS and _ASKS_REPLIES.search(text) is not None
