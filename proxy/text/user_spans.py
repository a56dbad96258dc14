"""Spans of a message that are the user's own statements: no quotations, no material, no code."""

from __future__ import annotations

import re
from collections.abc import Sequence

from proxy.text.languages import languages_in
from proxy.text.languages import words as listed
from proxy.text.quoted import quoted_spans
from proxy.text.segment import clauses
from proxy.text.terms import terms_in
from proxy.text.words import HAS_CJK, WORD, Span, flat, words

_BLOCKS = re.compile(
    r"""
      ^(?:From|Von|De|От|发件人)[ \t]?[:：][^\n]+\n(?:[^\n]{0,200}\n){0,4}?
        (?:Subject|Betreff|Asunto|Тема|主题)[ \t]?[:：].*\Z
    | ^[ \t]*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:|\[?\d\d:\d\d:\d\d\b|Traceback\s|File\s"|at\s[\w.$]+\(|[{}\[\]<|$]
        |(?:ERROR|WARN(?:ING)?|INFO|DEBUG|TRACE|FATAL)\b|[\w.]+(?:Error|Exception):|>>>\s|\#!|(?:import|from)\s[\w.]+\s*(?:import|$))[^\n]*$
    | ^[ \t]*(?:def|class|function|const|let|var|return|print|public|private|static|void|int
        |SELECT|INSERT|UPDATE|CREATE|ALTER|\#include|@\w+)\b[^\n]*[(){};=][^\n]*$
    | (?:(?<=[:：]\n)|(?<=[:：]\n\n))(?:Hi|Hello|Hey|Dear|Hallo|Lieber?|Sehr\ geehrte[rs]?|Hola
        |Querid[oa]|Estimad[oa]|Привет|Здравствуйте|Уважаем\w+|亲爱的|尊敬的)\b
        [^\n]{0,60}\n.*?(?:\n[ \t]*(?:Best|Kind|Regards|Cheers|Sincerely|Yours|Love|Viele|Liebe|Mit|LG|MfG
        |Saludos|Un\ abrazo|Atentamente|С\ уважением|此致)\b[^\n]{0,40}(?:\n[^\n]{1,40})?|\Z)
    | ^[ \t]*(?:User|Human|Assistant|AI|Bot|ChatGPT|Claude)[ \t]?:[^\n]*$
    | ^[^\n]*(?<![_\w])_{3,}(?![_\w])[^\n]*$  # a blank to fill in
    | ^[ \t]*[\w.\[\]]+\s?[:+-]?=\s?["'\[{(\d][^\n]*$ | ^[ \t]*[\w.]+\([^\n]*\)\s*[;{]\s*$
    """,
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
# "Translate this: …", "Proofread my draft:\n…": the text after the colon is material, not a statement.
_MATERIAL = re.compile(
    r"""
    \b(?:translat\w*|summari[sz]e\w*|proof-?read|rewrite|rephrase|paraphrase|reword|polish|correct|fix|edit|improve|shorten|
      conjugate|say\s+in\s+\w+|
      (?:reply|respond)\s+to\s+(?:this|that)|responde\w*\s+a\s+est[eoa]|ответить\s+на\s+это|
      analy[sz]e|review|explain|classify|extract|grammar|the\ following|
      make\s+(?:this|my|the|it)\b[^\n:.?!]{0,60}\b(?:better|nicer|formal|polite|professional|friendlier|clearer|shorter|longer)|
      übersetz\w*|prüf\w*|analysier\w*|bewert\w*|fass\w*|korrigier\w*|umformulier\w*|formulier\w*(?!\s+(?:(?:mir|uns|bitte|mal)\s+)*eine?[nmr]?\b)|verbesser\w*|kürz\w*|folgende\w*|
      revis[ae]\w*|comprueb\w*|analiz\w*|traduc\w*|resum\w*|corrig\w*|correg\w*|reescrib\w*|mejora\w*|siguiente\w*|
      tradui\w*|corrige\w*|reformul\w*|améliore\w*|vérifi\w*|suivant\w*|tradu[zç]\w*|corrij\w*|melhor[ae]\w*|reescrev\w*|seguinte\w*|
      проверь\w*|оцени\w*|проанализир\w*|перевед\w*|переведи\w*|перескаж\w*|исправ\w*|перепиш\w*|отредактир\w*|сократи\w*|следующ\w*)\b[^\n:：.?!]{0,80}[:：](.*\Z)
    | (?:翻译|检查|分析|点评|这段(?:话|文字)|总结|概括|润色|修改|校对|改写|缩写|以下)[^\n:：。？！]{0,40}[:：](.*\Z)
    """,
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
# "My aunt corrected me: …", "Ich korrigiere: …" is about the author, no request.
_OWN = re.compile(
    r"\b(?:I|me|myself|he|she|they|ich|mich|wir|er|sie|yo|me|nos|lo|la|je|il|elle|eu|ele|ela|я|меня|мы|он|она)\W+(?:(?!you|du|tú|ты)\w+\W+){0,3}$"
    r"|\b(?:had to|have to|let me|must|hat|haben|muss|tuve que|tengo que)\W+(?:\w+\W+){0,2}$",
    re.IGNORECASE,
)
_QUOTES = re.compile(
    r'"([^"\n]{3,600})"|“([^”\n]{3,600})”|„([^“”\n]{3,600})[“”]|«([^»\n]{3,600})»|「([^」\n]{2,600})」'
    r"|(?<!\w)'(?=\S)([^\n]{3,200}?)(?<=\S)'(?!\w)"
)
# "Can you check this for grammar? …", "Correct my sentence please - …"
_TO_CORRECT = re.compile(
    r"\b(?:(?:proof-?read|spell-?check)\s+(?:this|my|the)\b|(?:check|correct|fix|improve|edit|polish|rewrite|rephrase|shorten)\s+"
    r"(?:(?:this|these|my|the)\s+(?:\w+\s+)?(?:sentences?|texts?|paragraphs?|essay|grammar|spelling|e-?mail|letter|translation)"
    r"|(?:this|these|it)\s+for\s+(?:grammar|spelling|mistakes|errors|typos))"
    r"|(?:korrigier\w*|verbesser\w*|prüf\w*)\s+(?:bitte\s+)?(?:meinen|diesen|den|das|mein)\s+(?:satz|text|absatz|brief)"
    r"|(?:corrige|corrígeme|revisa|mejora)\s+(?:mi|esta|este|el|la)\s+(?:frase|texto|redacción|carta)"
    r"|(?:исправь|проверь|улучши)\s+(?:моё|мое|мой|это|этот)\s+(?:предложение|текст|письмо))\b"
    r"[^\n.?!:–—-]{0,40}(?:[.?!]\s|\n|\s[–—-]\s)(.*\Z)"
    r"|(?:改一下|修改|润色|检查)(?:我的|这个|这段|这句)(?:句子|话|文字|作文|语法)[^\n。？！]{0,10}[。？！\n](.*\Z)",
    re.IGNORECASE | re.DOTALL,
)
# "The song goes: …" quotes another author, up to the end of the line.
_BY_AUTHOR = re.compile(r"\b(?:I|we|ich|wir|yo|je|j|eu|я|мы)\W+(?:\w+\W+){0,2}$", re.IGNORECASE)
_RETOLD = re.compile(
    r"\b(?:says?|said|wrote|writes|goes|reads|sings|sang|sentence|sag(?:t|te)|schr(?:ieb|eibt)|meint|meinte|satz|dice|dijo|escribió|frase|dit|écrit|phrase|disse|diz|escreveu|falou"
    r"|texted|messaged|replied|answered|emailed|posted|texts(?=\ (?:me|us))|geschrieben|geantwortet|antwortet"
    r"|contestó|respondió"
    r"|говорит|сказала?|написала?|пишет|ответила?)"
    r"(?:[ \u00a0](?:me|us|back|just|now|mir|uns|grade?|gerade|eben|nur|dann|мне|нам)){0,2}"
    r"[ \u00a0]?(:[ ]?+(?![\"'“„«])[^\n]+)"
    r"|(?:他|她|人|歌|哥|姐|弟|妹|妈|爸|友|师|板)[^\n我，。：:]{0,6}(?:说|写道|唱|发来|回复|留言)(?:道)?([:：](?![“「\"])[^\n]+)",
    re.IGNORECASE,
)
_NAMED_CJK = re.compile(r"(?:叫做?|[网店队群笔艺昵微书片歌][名号称]|名字?|称|标题|题目|[改换写]成)(?:[是为叫]|：|:)?\Z")
_CALLED = re.compile(
    r"\b(?:called|named|titled|entitled|heißt|heisst|genannt|namens|llamad[oa]|se llama|titulad[oa]|appelée?"
    r"|s['’]appelle|chamad[oa]|называется|под названием)\W*\Z",
    re.IGNORECASE,
)
_TITLE_RU = re.compile(r"\A[А-ЯЁ][а-яё]++(?>(?: [А-ЯЁа-яё]++)*)\Z")  # without a mark
_LABEL = re.compile(
    r"(?:^|(?<=[.!?。！？]))[ \t]*([^\n:：.!?。！？]{2,80})[:：](\s*[^\n]+(?:\n[ \t]*[^\s][^\n]*)*)", re.MULTILINE
)
_SAYS = re.compile(r":\s*\Z")
_OPENING = 400  # characters in which a role-play is opened or ended
_MAX_TITLE = 4  # words
_MAX_CALLED = 6  # words
_MIN_TOLD = 2  # telling words
_MAX_NAME = 12  # characters
_SPEECH_END = re.compile(r"[.!?,;:。！？，；：…]")


def user_spans(text: str) -> list[Span]:
    """Return the spans of ``text`` that its author wrote as own statements.

    Omitted are code, logs, quoted lines and speech, pasted documents, material for translation and the like, and blocks
    that Throughline or a front end injected. Titles and names in quotation marks stay.
    """
    gaps = [*quoted_spans(text), *(match.span() for match in _BLOCKS.finditer(text))]
    gaps += [match.span() for match in _QUOTES.finditer(text) if _is_speech(match)]
    for pattern, by_author in ((_RETOLD, _BY_AUTHOR), (_MATERIAL, _OWN), (_TO_CORRECT, _OWN)):
        found = [match for match in pattern.finditer(text) if not by_author.search(text[: match.start()])]
        gaps += [match.span(match.lastindex or 0) for match in found]
    gaps += [match.span(2) for match in _LABEL.finditer(text) if _names_a_text(match[1])]
    return _complement(gaps, len(text))


def own_end(text: str, start: int, end: int, spans: Sequence[Span]) -> int:
    """Return the end of a sentence's own part: before a quotation, if whole telling clauses precede it.

    Returns:
        ``start`` if no part is the author's own: "My mother says: …" alone is no statement.
    """
    own = next((right for left, right in spans if left <= start < right), start)
    if end <= own:
        return end
    ends = [start + b for _, b in clauses(text[start:end])]
    heads = [at for at in ends if text[at:own].strip(" ,:：") and len(terms_in(text[start:at])) >= _MIN_TOLD]
    return max(heads, default=start)


def role_in(text: str) -> bool | None:
    """Return whether a message opens a role-play (True) or ends one (False), None if it does neither."""
    low = flat(text[:_OPENING])
    tongues = languages_in(low)
    if any(tongue.has("role_over", low) for tongue in tongues):
        return False
    return True if any(tongue.has("role", low) for tongue in tongues) else None


def _names_a_text(label: str) -> bool:
    """Return whether a label names a following text: "Caption for my photo", not "My text", "Long story short"."""
    found = [word.text for word in words(label)]
    for before, word, after in zip(["", *found], found, [*found[1:], ""], strict=False):
        is_last = not after or after.isdigit() or after in listed("preposition") | listed("first")  # "Email I got"
        is_apart = before not in listed("mine") | listed("preposition")  # "For example" is the author's
        if word in listed("composed") and is_apart and (is_last or after.startswith("idea")):
            return True
    return any(label.endswith(word) for word in listed("composed") if HAS_CJK.match(word))


def _is_speech(match: re.Match[str]) -> bool:
    inner = next(group for group in match.groups() if group)
    found = WORD.findall(inner)
    if HAS_CJK.search(inner):
        is_named = len(found) <= _MAX_NAME and _NAMED_CJK.search(match.string, 0, match.start())
        return (len(found) >= 5 and not is_named) or bool(_SPEECH_END.search(inner))
    if len(found) <= _MAX_TITLE and _TITLE_RU.match(inner) and not _SAYS.search(match.string, 0, match.start()):
        return False
    if len(found) <= _MAX_CALLED and _CALLED.search(match.string, 0, match.start()) and not _SPEECH_END.search(inner):
        return False
    capitals = sum(word[0].isupper() or word[0].isdigit() for word in found)
    is_sentence = len(found) > 3 and _SPEECH_END.search(inner[:-1]) is not None
    return len(found) > 5 or (len(found) >= 3 and capitals * 2 < len(found)) or is_sentence


def _complement(gaps: list[Span], length: int) -> list[Span]:
    spans: list[Span] = []
    position = 0
    for start, end in [*sorted(gaps), (length, length)]:
        if start > position:
            spans.append((position, start))
        position = max(position, end)
    return spans
