"""Tells what sets an old thing against a new one: what is exchanged, fresh, or said in the frame of before."""

from __future__ import annotations

import re

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.mentions import NAME, VALUE, Mention
from proxy.memory.learn.extract_builtin.reading import Clause, Sentence, read_as
from proxy.memory.learn.extract_builtin.replacement import names_in
from proxy.memory.learn.extract_builtin.scan import Scan
from proxy.text.words import flat, same_word, word_set, words

_BELONGS = lazy(
    r"\b(?:der|die|das|el|la|los|las|mein\w*|unser\w*|mi|nuestr\w)\s+\w+\s+(?:vo[nm]|del?)(?:\s+(?:der|la|los|las))?\s*$"
)
_FEW = 2  # texts that hold a value given once, and its fact
_FRESH_DE = lazy(
    r"(?:\b(?:bei|beim|von|vom|nach|in|im|ins|zu|zum|zur|aus|mit|für|auf|über|per|via|an|am|ein|eine|einen|einem|einer|der|die|das|den|dem|herr|herrn|frau|dr.|dr|heißt|namens|nun|jetzt|ist|wurde|mir|ich|wir|gewisse[rn]?|gewissen)) $"
)
_TIME = lazy(
    r"(?:\w*(?:tag|woche|monat|jahr|abend|morgen|nacht|mittag|wochenende|stunde|zeit|sommer|winter|herbst|frühling|frühjahr|ersten?|letzten?)e?[sn]?|"
    r"januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|mittwoch)$"
)
_TELLING_VERBS = word_set(
    "nutze benutze nutzen nehme esse trinke spiele lerne lese gehe fahre arbeite wohne sammle koche male singe tanze schwimme laufe schaue höre sehe backe "
    "trage schreibe uso usar tomo toco hablo vivo trabajo estudio leo veo escucho pago compro bebo conduzco monto practico entreno calzo canto bailo corro nado desayuno ceno"
)
_SPEAKS_OF = tuple(  # what one does at or with things of the same sort
    lazy(pattern)
    for pattern in (
        r"(?:wohn|leb(?:e|en|t)?$|zuhause|daheim|viv|resid|piso$|mudanza)",
        r"(?:ein)?k[aä]uf|shopp|besorg|compr",
        r"arbeit|job$|stelle$|trabaj|curr[oa]|empleo",
        r"train|fitness|studio|entren|gimnasio",
        r"hör|musik|podcast|escuch|oigo|oír|música",
        r"fahr|auto|wagen|pendle|conduz|manej|coche|carro",
        r"bank|konto|girokonto|banco|cuenta",
        r"friseur|haare?|frisör|pelo|peluquer",
        r"arzt|ärztin|praxis|haus?arzt|médic|doctor",
        r"schul|klasse|lehrer|unterricht|nachhilfe|col(?:e|egio)$|clase|maestr|profe",
        r"urlaub|ferien|reise|vacacion|verane",
        r"strom|gas$|energie|luz$|electricidad",
        r"kita|kindergarten|krippe|guarder",
        r"notiz|notier|nota|apunt",
    )
)
_ALIKE = 5  # letters that a word and a compound with it start with
_CHANGES_ITS_OWN = lazy(  # "Tamara has changed her number"
    r" (?:сменил|поменял|изменил)[аи]? (?:свой |свою |свое )?(?:номер|телефон|фамили|им[яе]|адрес|работ|причес|машин|график|расписани|тариф|парол|цвет|почт|аватар|кабинет|зал|время|день|план)"
)
_MOVED_HAN = lazy(  # within the house, and what a group has new
    r"(?:我)?(?:搬|挪|移)(?:到|去|进|回)了?[^，。]{0,4}(?:阳台|客厅|卧室|书房|楼上|楼下|地下室|车库|院子|门口|角落|储物间|房间|里屋|厨房|屋里|柜子|窗边)|(?:[^，。]{0,2})(?:换|改|来)了(?:一?[个位本套首])?新(?!的?家|的$)[^，。]{1,4}(?=$|[，。！])"
)
_FROM = lazy(r"(?:\b(?:from|de|del|von|vom|из|с|со)\s+(?:\w+\s+){0,2}|从)$")
_TOWARDS = lazy(
    r"[,\s]*(?:hin )?(?:\w+ )?(?:(?:to|into|a|al|auf|zu|zur|zum|nach|in|на|в|к)\b|\w*(?:换|改|搬|转|跳|迁|调|升|投|切|跨|过渡|拉|挪|运|拖|移|奔|赶|跑|投|飞|溜))"
)
_INSTEAD = lazy(
    r"(?:instead of|in (?:the )?place of|in lieu of|rather than|statt|anstatt|anstelle|an stelle|(?:an|in) (?:die stelle|den platz) (?:vo[nm]|de[sr]|meine\w*)|en vez del?|en lugar del?|вместо|взамен|на смену|на замену|(?:на )?место|不[吃喝用])\s*(?:(?:the|my|our|an?) )?(?:\w+\s)?(?:de[rmn]\s)?$"
)
_BESIDES = lazy(
    r"\b(?:besides|apart from|aside from|as well as|on top of|in addition to|además del?|aparte del?|junto (?:a|con)|neben|außer|zusätzlich zu[rm]?|кроме|помимо|наряду с|вдобавок к)"
    r"(?: (?:the|my|our|mis?|el|la|los|las|nuestr[oa]s?|de[rmn]|die|das|mein\w*|unser\w*|мо\w+|наш\w*))?\s*$|(?:除了|除开)$"
)
_OF_WHAT = lazy(r"\b(?!lugar\b|vez\b|del\b)[a-záéíóúñ]{3,} de(?:l| la| los| las)? $")
_SOLD_OUT = lazy(r"\b(?:run|ran|running|sold|clean) out of $")  # a shop, or one's cupboard
_OUT_OF = lazy(r"\bfrom (?:(?:my|our|the|a|an|old) )*$")
_TO_ANOTHER = lazy(
    r"^[^,;]{0,40}?(?: (?:over )?(?:to|onto|into) (?!(?:be|get|save|buy|make|do|see|have|use|help|find|try|go|keep|my|me)\b)|→|->)"
)
_DOING = lazy(r"[a-z]{3,}ing")


class Contrasts(Scan):
    """What stands against each other in one message."""

    def _is_slot_han(self, mention: Mention) -> bool:
        """Whether a Chinese word is what something was told of, and is set anew ("the wedding is in X", "… moved to Y")."""
        slot = re.compile(
            re.escape(flat(mention.surface)) + r"(?:[定订约安选改放设]+(?:在|到|了|为)|(?:时间|地点|日期)?[是在为])"
        )
        return mention.rank < VALUE and any(slot.search(flat(text)) for text in mention.said)

    def _marks(self, before: str, after: str, clause: Clause) -> bool:
        """Whether the words around a value give it up, and not only say whose something is ("the training of Jonas is now in …")."""
        if _BESIDES.search(before) or _SOLD_OUT.search(before):
            return False
        if _BELONGS.search(before) and not self._lexicon.switch.search(clause.flat):
            return False
        if self._lexicon.code == "es" and _OF_WHAT.search(before) and _only_now(clause, self._lexicon.switch):
            return False  # "now in my fifth year of X"
        if _OUT_OF.search(before) and not (self._lexicon.switch.search(clause.flat) or _TO_ANOTHER.search(after)):
            return False  # "a coupon from X to save money, and now I wonder"
        return (self._lexicon.source.search(before) or self._lexicon.source_after.search(after)) is not None

    def _goes_on(self, mention: Mention, text: str) -> bool:
        """Whether what was told of a value is what a text tells of: a word beside the value is said again."""
        own = {word.text for word in words(mention.surface)}
        ours = [word.text for word in words(text) if word.text not in self._lexicon.stop]
        told = [word.text for said in mention.said for word in words(said)]
        told = [word for word in told if word not in self._lexicon.stop and word not in own]
        return any(same_word(word, other) for word in ours for other in told)

    def _is_exchange(self, mention: Mention, after: str) -> bool:
        """Whether something comes in place of a common word; a name needs no such proof."""
        if not self._is_personal(mention) or _CHANGES_ITS_OWN.match(after) or _MOVED_HAN.match(after):
            return False
        if self._lexicon.code == "zh" and self._is_slot_han(mention):
            return False
        before = self._reading.text[: mention.start].lower()
        given_up = _INSTEAD.search(before) is not None
        if given_up and mention.rank < VALUE and _DOING.fullmatch(mention.surface):
            return False  # "to listen rather than worrying about"
        if mention.rank < NAME and not given_up and _FROM.search(before):
            return _TOWARDS.match(after) is not None
        return (
            given_up
            or mention.rank >= NAME
            or after.lstrip().startswith(("→", "->"))
            or self._lexicon.target.search(after) is not None
        )

    def _is_set_against(self, mention: Mention, sentence: Sentence) -> bool:
        """Whether a value of the speaker's stands right behind an "instead of"."""
        before = sentence.flat[: mention.start - sentence.start]
        found = self._lexicon.code in ("de", "es") and _INSTEAD.search(before) is not None
        return found and len(mention.said) <= _FEW and self._is_personal(mention)

    def _also_said(self, sentence: Sentence, mention: Mention) -> list[str]:
        """Return the words of the other clauses."""
        clause = self._clause_at(sentence, mention)
        idle = self._lexicon.generic | self._lexicon.stop
        found = [w.text for other in sentence.clauses if other is not clause for w in words(other.flat)]
        return [word for word in found if word not in idle]

    def _frame(self, mention: Mention) -> list[str]:
        """Return the telling words of the clauses in which the value was said before."""
        inside = {word.text for word in words(mention.surface)}
        telling: list[str] = []
        for text in mention.said:
            for near in read_as(text, self._lexicon).sentences:
                found = [word.text for word in near.words]
                if any(akin(word, other) for word in found for other in inside):
                    idle = self._lexicon.stop - _TELLING_VERBS
                    telling += [w for w in found if w not in inside and w not in idle and len(w) > 2]
        return telling

    def _fresh(self, clause: Clause) -> list[str]:
        """Return the names of a clause that the user never said; of German nouns those that stand like a name."""
        text = self._reading.text[clause.start : clause.end]
        if self._lexicon.code != "de":
            return [name for name in names_in(". " + text) if not self._heard.holds(name)]
        return [
            word.text
            for word in words(text)
            if text[word.start].isupper()
            and word.text not in self._lexicon.generic
            and word.text not in self._lexicon.stop
            and not _TIME.match(word.text)
            and _FRESH_DE.search(" " + flat(text[: word.start]))
            and not self._heard.holds(word.text)
        ]


def _only_now(clause: Clause, switch: re.Pattern[str]) -> bool:
    """Whether all that speaks of a change in a clause is a "now"."""
    return {match[0] for match in switch.finditer(clause.flat)} == {"ahora"}


def akin(word: str, other: str) -> bool:
    """Whether two words are forms of one another, start alike as a compound and its first part do, or speak of the same."""
    if same_word(word, other) or (len(word) > _ALIKE and len(other) > _ALIKE and word[:_ALIKE] == other[:_ALIKE]):
        return True
    return any(speaks.match(word) and speaks.match(other) for speaks in _SPEAKS_OF)
