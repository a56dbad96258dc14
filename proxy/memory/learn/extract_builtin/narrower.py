"""Tells in Russian what ends within a value, or at it, from its own end ("fired the cook at X", "the heater of the X died")."""

from __future__ import annotations

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.mentions import Mention
from proxy.memory.learn.extract_builtin.reading import Clause, Sentence
from proxy.memory.learn.extract_builtin.scan import Ending, Scan
from proxy.text.words import fold, same_word, words

_PIECE_RU = lazy(
    r"\b(?:выпуск|сери|эпизод|файл|трек|песн|запис|копи|скачанн|ярлык|иконк|черновик|пост|коммент|уведомлени|кэш|скриншот|фот|глав|билет|афиш)\w*$"
)  # of the value
ITS_OBJECT = lazy(
    r" (?!(?:в|во|к|ко|на|с|со|из|от|у|до|по|меня|нас|мой|мою|мое|мои|наш\w?|и|его|ее|их|прямо|сразу|вчера|сегодня|утром|вечером|ночью|днем|просто|тоже|снова|насовсем|навсегда|опять|через|после|около|вроде|буквально|среди|средь|вместе|вслед|тогда|потом|скоро|недавно|\w+но)\b)(?P<noun>\w{4,})"
)
_DELETED = lazy(r"\b(?:удал|стер|убр|выкин|вычеркн|снес|закры|отключ|запрет|отмен|вырез|выпил)\w*")
_HAS_IT = lazy(r"\bу(?: \w+)?$")
_FAILED_RU = lazy(
    r"\b\w*(?:сдох|умер|слома|полетел|накры|сгор|отвал|отказа|кончи|закончи|сел|села|потек|погнул|лопну|рассыпа|истек|сгнил|загнул|скис|порва|развал|пропа|забарахл|глюч)\w*"
)
_BEHIND = lazy(r"(?:^|\s)(?:в|во|на|у|с|со|от|из|к|для|при|про|о|об)$")
_GOVERNS = lazy(
    r"\b[а-я]{3,}л[аи]? (?:нов\w+ |\w+(?:ую|юю) )?(?P<noun>(?!\w*(?:но|ски|ую|ого|его|ому|наотрез|наконец|назад|домой|вовсе|совсем|раньше|сразу|вчера)\b)[а-я]{3,}(?:[уюыиа]|[бвгджзклмнпрстфхцчшщ]))\b"
)
_TIES_RU = lazy(
    r"(?:аренд|цен|плат|тариф|взнос|стоимост|работ|договор|контракт|аккаунт|абонемент|билет|путевк|брон|подписк|карт|счет|деньг|документ|вещ|заявлен|место|мест|должност|ставк|смен|пропуск|ключ|форм|курс|заняти|урок|тренировк|членств|участи|отношен|дружб|общен|связ|контакт|сотрудничеств|конец|точк|крест|рук|ног|глаз|шаг|покой|друг|человек|замен|хозя|покупател|прощан|чемодан|коробк|трудов|диплом|зачетк|двер|мост|лавочк|врач|доктор|спин|коленк|колен|нерв|сил|желани|смысл|интерес|времен|лет|раз|чат|групп|состав|ряд|стаж|помолвк|развод)"
)
_WITHIN = lazy(r"(?<![\w-])(?:в|во|из|на|с|у)(?![\w-])(?: \w+){0,2}$")
_LONG_WORD = 3  # letters
_DAY = r"(?:понедельник|вторник|сред[аеуы]|четверг|пятниц|суббот|воскресень)\w*"
_NO_VALUE = lazy(  # days and figures in words say when and how much
    rf"{_DAY}|выходн\w+|(?:январ|феврал|март|апрел|июн|июл|август|сентябр|октябр|ноябр|декабр)\w{{0,3}}|ма[йяе]|утр[оаму]+|вечер(?:а|ом|у)?|(?:дв|тр|четыр)[аеи]\w?|(?:пят|шест|сем|восем|девят|десят|двадцат|тридцат|\w+надцат)[ьи]|сорок|сто|(?:пять|шесть|семь|восемь)десят"
)
_ONE_DAY = lazy(
    rf"\b(?:в|во|на) (?:(?:эт|прошл|следующ|ближайш)\w+ )?{_DAY}|\b(?:на|в) (?:эт|прошл|следующ)\w+ (?:недел|выходн)\w*|\bна (?:завтра|сегодня)\b|\b(?:сегодня|завтра|вчера)\b|\bпришлось\b|\b(?:(?:по|до)?ехал|добирал|вышл)[аи]?(?:с[ья])? (?:на|во?) "
)
_FALLS_OUT = lazy(
    r"\bзакрыт[оаы]?\b|\b(?:отмен|перен[ео]с|сорвал|пропусти|прогуля)\w*|\bне (?:будет|было|состо\w+|пош\w+|приш\w+|приех\w+)\b"
)
_FOR_GOOD = lazy(r"\b(?:больше|насовсем|навсегда|совсем|вообще|окончательно)\b")
_SAYS = lazy(
    r" (?:мне |нам |тоже |ему |ей )?(?:сказал|написал|ответил|показал|заметил|спросил)а?(?: мне| нам| потом)?(?::|,(?! (?:а|но|надо|хотя|вместо)\b)|,? (?:что|мол|чтобы|как|когда|мам|пап|это)\b)"
)
_OFFERED = lazy(r"\b(?:предл[оа]\w+|звал\w*|зовут|уговарива\w+|совет\w+|уговорить)\b.*\bотказа\w+")
_COMES_BACK = lazy(  # who is away, and till when
    rf"\b(?:верн(?:ется|утся|ет|ут)|выйдет|приедет|выздоров\w+|поправится|подожд[уе]м?|дожд(?:усь|емся)|обещал\w* (?:вернуться|приехать|быть))\b|\bдо (?:{_DAY}|конца недели)|\bна (?:недел[юьи]|месяц|пару дней|(?:две|три) недели)\b|\bсезон\w?\b(?=.{0, 20}(?:закры|конч|законч))|\bпо новой\b|\bдо (?:весны|осени|лета|зимы|сезона)\b"
)
_RECOVERS = lazy(
    r"\b(?:(?:заработа|почини|налади|восстанови|ожи|оклема|очну|выздорове|отыска|воскрес|откача|отремонтирова|откати|перезапусти|прята)л?[аио]?(?:с[ья])?|наш(?:ел|л[аои])с[ья]|поправил(?:ся|ась)|(?:спал|сидел|лежал|стоял|дрых)[аио]? (?:в|под|на|за)|приш(?:ел|ла) в себя|обошлось|(?:испек|свари|сши|связа|слепи|передела|перепис?а|пересня)л[аи]|как нов\w+|(?:теперь|все в|полный) поряд\w+)\b(?! (?:на|денег|\d|покупател|хозя|нов|желающ|друг))"
)
_ONE_OF = lazy(
    r"\b(?:один|одна|одно|одного|одну|пар[ау]|парочк[ау]|часть|половин[ау]|несколько|некоторые|дв\w{1,3}|тро[ей]|три|трех|\d+|(?:перв|втор|трет|последн)(?:ую|ая|ий|ый|ое|ью|ья|юю|яя|ого|его))$"
)
_BOUGHT_AGAIN = lazy(  # a batch of it, not the thing
    r"\b(?:(?:нов|взял|купил|наш|заказал|достал)\w*|еще \w*) ?(?:\w+ ){0,4}(?:пачк|упаковк|банк|бутыл|порци|коробк|флакон|тюбик|пакет|блистер|моток|мотк|кило|мешок|мешк)\w*|\bдокуп\w+|\bпришлось (?:\w+ )?(?:брать|взять|купить|покупать)\b|\b(?:завтра|потом|вечером) (?:\w+ )?(?:куплю|схожу|закажу|возьму)\b|(?:чита|смотре)ла? .{0,40}\bв \w+(?:ый|ой|ий) раз\b"
)
_LEFT_IN = lazy(r"\b(?:врач\w*|доктор|терапевт|педиатр|\w+олог)(?: \w+)? оставила?\b")  # of a treatment
_PLURAL = lazy(r"(?:[ыи]|[ая]ми|[ая]х|[ое]в)$")
_UNFINISHED = lazy(r"\bтак и не\b")
_RUNS_OUT = lazy(r"\b(?:за)?конч[аи]\w+|\b(?:ис|из)сяк\w*|\bсел[аио]?\b|\bне хват\w+")
_STORE = lazy(  # what is in the value, at it or for it
    r"(?:мест\w|памят\w+)(?: (?:на|в|во|у|для))? ?$|(?P<what>[а-я]{4,}) (?:на|во?|для)$"
)
_EATS = lazy(r" (?:\w+ ){0,2}(?:со|по|с|об|из|пере|за)(?:жра|грыз|е)л(?P<ending>а?) (?:\w+ )*\w{3,}")
_STALLS = lazy(
    r"[»”\"]? (?:\w+ ){0,2}перестал[аио]? (?!нрав|прода|выпуск|радова|суще|выход|устраив|польз|общ|встреч|занима)(?:\w+ть?ся|показывать|видеть|ловить|печатать|отвечать|греть|работать|находить|пускать|держать|сохранять)\b"
)


class Narrower(Scan):
    """Reads what is told of a part of a value."""

    def _governs_another(self, clause: Clause) -> bool:
        """Whether the verb of a Russian clause is told of something unheard that binds one to nothing ("at X they fired the cook")."""
        for match in _GOVERNS.finditer(clause.flat):
            noun = match["noun"]
            if noun not in self._lexicon.stop and not _TIES_RU.match(noun) and not self._heard.holds(noun):
                return True
        return False

    def _is_tie(self, word: str) -> bool:
        """Whether a Russian word binds one to a value, or says nothing of its own."""
        return word in self._lexicon.stop or word in self._lexicon.generic or _TIES_RU.match(word) is not None

    def _is_part_in_russian(self, mention: Mention, clause: Clause, end: int) -> bool:
        before = clause.flat[: mention.start - clause.start].rstrip(' «"„“')
        fails = _FAILED_RU.search(clause.flat) if _HAS_IT.search(before) else None
        if fails and ITS_OBJECT.match(clause.flat, fails.end()):  # "the heater of the X is dead"
            return True
        if _BEHIND.search(before) and self._governs_another(clause):
            return True
        if not _DELETED.search(clause.flat):
            return False
        if _PIECE_RU.search(before):
            return True
        if not _WITHIN.search(before):
            return False
        rest = clause.flat[max(mention.end, end) - clause.start :]
        return any(len(w.text) > _LONG_WORD and w.text not in self._lexicon.stop for w in words(rest))

    def _ends_nothing(self, place: int, ending: Ending) -> bool:
        """Whether a Russian message tells of one day or piece of a value, of its absence, or of another's words."""
        mention, sentence = ending.mention, ending.sentence
        if self._lexicon.code != "ru" or mention is None or ending.reason == "forget":
            return False
        clause = self._clause_at(sentence, mention)
        before, after = clause.flat[: mention.start - clause.start], clause.flat[mention.end - clause.start :]
        before = before.rstrip(' «"„“')
        told = sentence.flat[mention.end - sentence.start :]
        if ending.reason == "correct":
            return _SAYS.match(told) is not None or _UNFINISHED.search(sentence.flat) is not None
        is_verb = mention.surface.islower() and self._lexicon.ceased.fullmatch(mention.surface) is not None
        if is_verb or _NO_VALUE.fullmatch(fold(mention.surface)) or _ONE_OF.search(before) or _STALLS.match(after):
            return True
        if _BOUGHT_AGAIN.search(sentence.flat) or _LEFT_IN.search(clause.flat) or self._runs_out(clause, before):
            return True
        if mention.surface[-1:] in "ую" and self._is_one_piece(mention):
            return True
        eats = _EATS.match(after)
        if eats and (mention.surface[-1:] in "ая") == bool(eats["ending"]) and mention.surface[-1:] not in "ую":
            return True
        near = " ".join(one.flat for one in self._reading.sentences[max(0, place - 1) : place + 2] if not one.asks)
        if self._is_for_a_day(mention, clause, sentence) or _OFFERED.search(near):
            return True
        if ending.reason != "retract":
            return False
        later = [one.flat for one in self._reading.sentences[place + 1 : place + 3] if not one.asks]
        is_away = _COMES_BACK.search(near) is not None and not _FOR_GOOD.search(near)
        return is_away or _RECOVERS.search(" ".join([told, *later])) is not None

    def _is_for_a_day(self, mention: Mention, clause: Clause, sentence: Sentence) -> bool:
        """Whether one day's round of a value falls out, which was not told of for that day."""
        falls_out = _FALLS_OUT.search(sentence.flat) and _ONE_DAY.search(sentence.flat)
        if not falls_out or _FOR_GOOD.search(clause.flat):
            return False
        return not any(_ONE_DAY.search(fold(text)) for text in mention.said)

    def _runs_out(self, clause: Clause, before: str) -> bool:
        """Whether what is in a value is used up ("the blue of my X paints is gone")."""
        store = _STORE.search(before) if _RUNS_OUT.search(clause.flat) else None
        what = store and store["what"]
        return store is not None and not (what and (_TIES_RU.match(what) or self._heard.holds(what)))

    def _is_one_piece(self, mention: Mention) -> bool:
        """Whether a word now in the singular was told in the plural ("sold a stamp", of one who collects stamps)."""
        told = [w.text for text in mention.said for w in words(text) if same_word(w.text, fold(mention.surface))]
        return bool(told) and all(_PLURAL.search(word) for word in told)
