"""Finds what a message asks to delete or not to keep."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from proxy.memory.learn.extract_builtin.aliases import names_of
from proxy.memory.learn.extract_builtin.corrections import TOPIC
from proxy.memory.learn.extract_builtin.english_forgetting import asks_to_erase, values_meant
from proxy.memory.learn.extract_builtin.erasing import ERASING
from proxy.memory.learn.extract_builtin.erasing import asks_to_erase as is_erasing
from proxy.memory.learn.extract_builtin.erasing import values_meant as values_named
from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.mentions import CODE, NAME, NOUN, VALUE, Mention
from proxy.memory.learn.extract_builtin.reading import Clause, Sentence
from proxy.memory.learn.extract_builtin.russian_erasing import BARE
from proxy.memory.learn.extract_builtin.scan import Ending, Scan
from proxy.text.words import words

_BARE = {  # with no object of its own
    "ru": BARE,
    "de": lazy(
        r"\W*(?:(?:bitte|also|dann|ach|komm|doch|und|lieber|deshalb|drum) )*(?:streich\w*|lösch\w*|vergiss|tilg\w*|entfern\w*|radier\w*) (?:(?:das|es|ihn|sie|die|den|dies|damit|alles|bitte|wieder|mal|doch|schnell|gleich|lieber|einfach|ganz|komplett|raus|weg|aus|sofort) ?)*\W*$"
    ),
    "es": lazy(
        r"\W*(?:(?:por favor|así que|pues|y|mejor|anda|venga|porfa),? )*(?:b[oó]rr[ae]l[oae]s?|elim[ií]n[ae]l[oae]s?|olv[ií]d[ae]l[oae]s?|qu[ií]t[ae]l[oae]s?|t[aá]ch[ae]l[oae]s?|s[aá][cq]u?[ae]l[oae]s?|supr[ií]m[ae]l[oae]s?)(?: (?:por favor|anda|porfa|ya|mejor|todo|enseguida|cuanto antes))*\W*$"
    ),
}
_DELETES = lazy(
    r"delet|eras|wip|scrub|purg|strik|expung|clear|remov|drop|ditch|dump|get rid|ignor|discard|withdraw|rub out|blank|black out|blot|let go|lösch|entfern|streich|tilg|radier|borr|elimin|quit|suprim|limpi|"
    r"tach|удал|сотр|стер|стира|убер|убр|вычерк|очист|выкин|изы|изъ|исключ|вымар|зачерк|подчист|вычист|почист|уничт|ликвид|выпил|снес|выбро|сож|похорон|обнул|выре|затр|замаж|скро|спряч|подотр|аннулир|"
    r"[删清抹擦移剔划抠扒刨拔挖剪铲扫洗涂勾撕烧丢扔吐撤]|销毁|作废|收回|屏蔽|隐去"
)
# "It is easy to get lost and forget that", "forget it for now"
_ALSO_DONE = lazy(
    r"\bto \w+(?: \w+){0,3} (?:and|or) (?:then |just |simply )?(?:forget|drop|delete|remove|lose)\b|\bfor now\b"
)
_FROM_MEMORY = lazy(
    r"\b(?:from|out of|off|in) (?:your |the )?(?:\w+ )?(?:memory|memories|mind|head|brain|notes|records?|history)\b"
)
_AT_WORK = lazy(  # what one deletes things from
    r"\b(?:from|in|on|to|of) (?:the|this|that|my|our|these|those|a|an) (?:\w+ )?(?:e-?mails?|lists?|drafts?|texts?|tables?|sentences?|paragraphs?|lines?|letters?|essays?|posts?|code|files?|documents?|sheets?|spreadsheets?|slides?|menus?|plans?|schedules?|"
    r"calendar|itinerary|recipes?|outline|budget|phone|laptop|computer|playlist|cart|basket|invite|invitations?|roster|rota|poem|story|song|cv|resume|report|page|website|site|title|caption|chart|database|query|prompt|script|passage)\b"
)
_OF_A_TEXT = lazy(
    r"\b(?:passage|paragraph|essay|draft|poem|script|caption|text|letter|summary|story|version)\b.{0,12}\b(?:just |please )?(?:remove|delete|drop|cut) the (?:part|bit|line|sentence)\b"
)
_KEPT = lazy(  # "The bees you may keep."
    r"\b(?:can|may|could|should|is|are|'s|'re) (?:(?:all|still|totally|perfectly|absolutely|just) )?(?:keep|kept|stay|staying|remain|fine|okay|ok|know|remember|stand)\b|\bstays?\b|\byou may keep\b|\bkeep (?:the|that|my|it)\b|\bleave the (?:other|rest)\b"
)
_MATTER = lazy(  # "the thing with the boat"
    r"(?:\b(?:das|die sache|die geschichte|alles) mit\s+(?:(?:dem|der|den|meine[mnr]|unsere[mnr])\s+)?|\b(?:olv[ií]d\w+|lo|eso|acordarte) de(?:l|\s+(?:la|los|las|mi|el))?\s+)$"
)
_MATTER_OF = lazy(r"\b(?:das|die sache|die geschichte|alles) mit (?:de[mnr]|meine[mnr]|unsere[mnr]|[a-zäöüß]{3,})\b")
_ERASES_THAT = lazy(  # "delete that my brother is …": what is told, and no line of a text
    r"\b(?:forget|delete|erase|remove|wipe|scrub|strike|purge|unlearn|expunge|drop|(?:don't|do not|never) (?:keep|store|save|remember|record|note))"
    r"(?: from your \w+)?(?: the (?:fact|bit|part|thing|info|information|detail|note))?,? that (?:i|we|he|she|they|my|our|his|her|their)\b|"
    r"\b(?:vergiss|vergessen|lösch\w*|streich\w*|entfern\w*|tilg\w*|radier\w*)\b[^.!?]{0,25}, (?:dass|daß) (?:ich|wir|er|sie|mein\w*|unser\w*|sein\w*|ihr\w*)\b|"
    r"\b(?:olv[ií]d|b[oó]rr|elim[ií]n|supr[ií]m|quit|quít)\w*(?: por favor,?)?(?: el (?:dato|hecho) de)? que (?:yo|mis?|nuestr\w+|su|él|ella|soy|estoy|tengo)\b|"
    r"\b(?:забудь|забудьте|удали\w*|сотри\w*|убери\w*|вычеркни\w*)\b[^.!?]{0,25}, что (?:я|мы|у меня|у нас|он|она|они|мо[йяеи]|наш\w*)\b"
)
_MAX_COMMON = 3  # common nouns that one request to forget may name


_KEEPS = lazy(
    r"(?:\b(?:nur|bloß|lediglich|only|just|solo|sólo|solamente|únicamente|только)\s+(?:(?:über|von|zu|about|of|de|del|sobre|lo de|про|о)\s+)?(?:(?:die|den|der|das|the|la|el)\s+)?)$"
)


_NUMBERED = lazy(  # what is known by a number that nobody says again to have it forgotten
    r"\b(?:номер\w{0,2}|код\w{0,2}|парол\w{1,2}|пин\w{0,2}|инн|снилс|паспорт\w{0,2}|реквизит\w{0,2}|карт[аыуе]|счет\w{0,2}|телефон\w{0,2})\b|"
    r"(?:卡|证|账|帐|身份证|手机|电话|银行卡|车牌|护照|门牌|尾|编)号码?|号码|密码|口令|验证码"
)
_REGRETS = lazy(r"\b(?:зря|ошиб\w+|случайно|не туда|нечаянно)\b|不该|[贴发填粘输]错|误发|手滑|手快")
_COMES_OUT = lazy(r"[抠扒刨挖拔翻洗扫扔请]出来?$")  # something was found, or shown the door
_CODE = lazy(r"(?<![\w.,])(?:\d[\d -]{2,}\d|[A-Za-z][\w-]*\d[\w-]*|\d+[A-Za-zА-Я]\w*)(?![\w%])")


_YEAR = lazy(r"(?:19|20)\d\d")
_OF_THEIRS = lazy(
    r"'s?\b|’s?\b| (?:has|is|hat|ist|tiene|es|está|lives|wohnt|vive|moved)\b|的(?![都全事]|所有|一切|内容|信息|记录|资料)"
)


class Forgetting(Scan):
    """Reads requests to forget."""

    def _asks_to_forget(self, sentence: Sentence) -> bool:
        lexicon = self._lexicon
        told = [clause.flat for clause in sentence.clauses if not clause.asks]
        if lexicon.code in ERASING and is_erasing(sentence.flat, told, lexicon.code):
            return True
        if self._bids_plainly(sentence) or (lexicon.code in _BARE and self._erases_before(sentence)):
            return True
        bids = [clause.flat for clause in sentence.clauses if lexicon.forget.search(clause.flat)] or [sentence.flat]
        keeps = next((told_to for text in bids if (told_to := lexicon.remember.search(text))), None)
        if keeps and not (_DELETES.match(keeps[0]) and _FROM_MEMORY.search(sentence.flat)):
            return False
        texts = [*(clause.flat for clause in sentence.clauses), sentence.flat]
        matches = [asked for text in texts if (asked := lexicon.forget.search(text))]
        if not matches or _ALSO_DONE.search(sentence.flat) or _OF_A_TEXT.search(sentence.flat):
            return False
        if lexicon.remember.search(sentence.flat) and all(asked[0].endswith("ing") for asked in matches):
            return False  # "how can I …, deleting their data after a year": what one does
        match = next((asked for asked in matches if not _DELETES.search(asked[0])), matches[0])
        return _DELETES.search(match[0]) is None or self._means_memory(match, sentence)

    def _means_memory(self, match: re.Match[str], sentence: Sentence) -> bool:
        """Whether what is to be deleted is what was told: one deletes files and paragraphs too."""
        lexicon = self._lexicon
        if lexicon.memory.search(sentence.flat):
            return True
        if _COMES_OUT.search(match[0]):
            return False
        if lexicon.code == "de" and _MATTER_OF.search(sentence.flat):
            return True
        found = self._mentions[sentence.start]
        if _REGRETS.search(sentence.flat) and self._code_meant(self._reading.sentences.index(sentence), sentence):
            return True
        if lexicon.code == "en" and any(m.rank >= VALUE for m in found) and not _AT_WORK.search(sentence.flat):
            return True
        return any(m.rank == CODE or (m.rank >= NAME and self._is_all(m, match, sentence)) for m in found)

    def _bids_plainly(self, sentence: Sentence) -> bool:
        """Whether a sentence bids to erase what one has told, in any of the ways of English or with a clause that says what."""
        if self._lexicon.code == "en" and not _is_other_work(sentence.flat) and asks_to_erase(sentence.flat):
            return True
        return _ERASES_THAT.search(sentence.flat) is not None and not _ALSO_DONE.search(sentence.flat)

    def _erases_before(self, sentence: Sentence) -> bool:
        """Whether a clause bids to erase and leaves it to the sentence before, which names something, to say what."""
        place = self._reading.sentences.index(sentence)
        before = self._reading.sentences[place - 1] if place else sentence
        bids = any(_BARE[self._lexicon.code].match(clause.flat) for clause in sentence.clauses)
        if bids and self._lexicon.code == "es" and any(m.rank >= NAME for m in self._mentions[sentence.start]):
            return True
        return (
            bids
            and before is not sentence
            and not before.asks
            and any(m.rank >= NAME for m in self._mentions[before.start])
        )

    def _meant(self, sentence: Sentence) -> list[Mention]:
        """Return what the clauses that ask name; where they name nothing, what the clause right before them does."""
        asking = [place for place, clause in enumerate(sentence.clauses) if self._erases(clause)]
        for places in (asking, [place - 1 for place in asking if place]):
            found = [m for place in places for m in self._within(sentence.clauses[place], sentence) if m.rank >= NOUN]
            if found and self._lexicon.code in ("ru", "zh"):
                return found
        return []

    def _is_all(self, mention: Mention, match: re.Match[str], sentence: Sentence) -> bool:
        """Whether a name is all that a clause asks to delete ("… , delete Soren")."""
        clause = self._clause_at(sentence, mention)
        last = clause.flat[: mention.start - clause.start].split()[-1:]
        return last == match[0].split()[-1:] and not words(clause.flat[mention.end - clause.start :])

    def _forgotten(self, place: int, sentence: Sentence) -> Iterator[Ending]:
        code = self._code_meant(place, sentence)
        if code:
            yield Ending(code, "forget", sentence, None)
            return
        named = [m for m in self._mentions[sentence.start] if not self._is_kept(sentence, m)]
        told = [m for m in named if not (_YEAR.fullmatch(m.surface) and self._lexicon.code in ERASING)]
        named = told or named  # of "the insolvency of 2019" the year is not what is asked about
        named_there = self._best(self._meant(sentence), floor=NOUN)
        best = self._topical(sentence, named) or named_there or self._best(named, floor=NAME)
        for after in self._reading.sentences[place + 1 : place + 2]:  # "forget the amount. The 500 is my business"
            best = best or ([] if after.asks else self._best(self._mentions[after.start], floor=CODE))
        best = best or self._common_in(sentence)
        for near in self._reading.sentences[max(0, place - 1) : place + 2]:
            if not best and near is not sentence and not near.asks and not self._lets_stay(near):
                best = self._best(self._mentions[near.start], floor=NAME) or self._common_in(near)
        persons = self._persons_meant(sentence) if all(self._is_kin(mention) for mention in best) else []
        for person in persons:
            yield Ending(person, "forget", sentence, None)
        for mention in best if not persons else ():
            yield Ending(mention.surface, "forget", sentence, mention)
        if not best and not persons and self._lexicon.code in ("en", *ERASING):
            meant = values_meant if self._lexicon.code == "en" else values_named
            for value in meant(sentence.flat, self._heard.texts, self._lexicon):
                yield Ending(value, "forget", sentence, None)

    def _persons_meant(self, sentence: Sentence) -> list[str]:
        """Return the names that the user gave those whom a request is all about ("everything about my brother")."""
        asked = [match for match in self._lexicon.kin.finditer(sentence.flat) if not _owns(match, sentence.flat)]
        return [name for match in asked[:1] for name in names_of(match[0], self._heard.texts, self._lexicon)]

    def _is_kin(self, mention: Mention) -> bool:
        return self._lexicon.kin.fullmatch(mention.surface.lower().removeprefix("我")) is not None

    def _code_meant(self, place: int, sentence: Sentence) -> str:
        """Return the one code said before, where a request is about the number and does not say it again."""
        if self._lexicon.code not in ("ru", "zh"):
            return ""
        near = [sentence, *self._reading.sentences[max(0, place - 1) : place]]
        about = next((found for one in near if (found := _NUMBERED.search(one.flat))), None)
        if about is None or any(m.rank >= NAME for one in near for m in self._mentions[one.start]):
            return ""
        codes = [code for text in self._heard.texts for code in _CODE.findall(text)]
        return codes[0] if len(set(codes)) == 1 else ""

    def _lets_stay(self, sentence: Sentence) -> bool:
        return (_KEPT.search(sentence.flat) or self._lexicon.kept.search(sentence.flat)) is not None

    def _is_kept(self, sentence: Sentence, mention: Mention) -> bool:
        """Whether a clause lets stay what it names, beside another one that asks to forget something."""
        clause = self._clause_at(sentence, mention)
        if _KEEPS.search(sentence.flat[: mention.start - sentence.start]):  # "nothing of him, only of Hugo"
            return not self._erases(clause)
        return self._lexicon.kept.search(clause.flat) is not None and not self._erases(clause)

    def _erases(self, clause: Clause) -> bool:
        """Whether a clause asks by itself to forget something."""
        code = self._lexicon.code
        return self._lexicon.forget.search(clause.flat) is not None or (
            code in ERASING and is_erasing(clause.flat, [clause.flat], code)
        )

    def _topical(self, sentence: Sentence, mentions: Sequence[Mention]) -> list[Mention]:
        """Return what a request to forget is said to be about, if that is a common word ("not a word about the boat")."""
        ahead = [(m, sentence.flat[: m.start - sentence.start]) for m in mentions]
        about = [m for m, text in ahead if TOPIC.search(text) or _MATTER.search(text)]
        top = max((m.rank for m in mentions), default=0)
        return about[:1] if about and top == NOUN else []

    def _common_in(self, sentence: Sentence) -> list[Mention]:
        common = [m for m in self._mentions[sentence.start] if m.rank == NOUN]
        if _ERASES_THAT.search(sentence.flat):  # what is told of somebody is to go, not who it is told of
            common = [m for m in common if not self._lexicon.kin.fullmatch(m.surface.lower())] or common
        found = [m for m in common if self._is_personal(m)]
        if self._lexicon.code == "en":
            found = found or [m for m in common if " " in m.surface]  # what is named in two words is meant
        found = [m for m in found if not self._is_kept(sentence, m)]
        if self._lexicon.code == "de":  # "that we travel to Triest": the place, not the travelling
            found = [m for m in found if m.surface[:1].isupper()] or found
        return found[:_MAX_COMMON]


def _owns(kin: re.Match[str], told: str) -> bool:
    """Whether something of somebody is spoken of, or where they are, and not they themselves ("my brother's allergy")."""
    return _OF_THEIRS.match(told, kin.end()) is not None


def _is_other_work(told: str) -> bool:
    """Whether something is to be done besides, or to a text at hand."""
    return _ALSO_DONE.search(told) is not None or _AT_WORK.search(told) is not None
