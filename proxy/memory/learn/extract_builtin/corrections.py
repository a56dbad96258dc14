"""Finds values that a message disowns: "Callum, not Colin", "no idea why I typed Fabia"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import group_of
from proxy.memory.learn.extract_builtin.mentions import NAME, NOUN, VALUE, Mention
from proxy.memory.learn.extract_builtin.pairs import is_called
from proxy.memory.learn.extract_builtin.reading import Clause, Sentence
from proxy.memory.learn.extract_builtin.replacement import overlapping
from proxy.memory.learn.extract_builtin.scan import HABITUAL, REQUEST, Ending, Scan
from proxy.memory.learn.extract_builtin.typed import typed
from proxy.text.words import words

_LONG = 30  # words; a correction or a switch is told in fewer
_DENIAL_WORDS = 4
_MAX_PLAIN = 8  # words (characters of Chinese) of the new value in "Y, not X"


# "not Y" with nothing told before it, or right after what holds instead: "X and not from Y".
_DENIED = lazy(
    r"(?:^|\b(?:and|und|y|и|а|,)\s)(?:\W|but |so |nope |no |nein |nee |нет )*(?:it's |it is |that's |he's |she's |es ist |das ist |ist das |war das |es |era |это )*"
    r"(?:not (?:a |an )?(?:drop|trace|bit|hint|sign|hair|scrap|ounce|shred) of|not|isn't|it isn't|wasn't|nicht|(?:gar )?keine?n?|no(?: es| era)?|не|(?:вовсе |совсем )?не|никак(?:ой|ая|ое|ие)(?: это)? не|никак(?:ой|ая|ое|ие))"
    r"(?: (?:actually|really|eigentlich|это))?(?: (?:a|an|the|in|at|on|from|to|with|for|by|ein|eine|einen|der|die|das|den|dem|aus|in|im|bei|mit|zu|nach|auf|"
    r"un|una|el|la|los|las|de|del|en|al?|con|por|в|во|на|из|с|со|у|от|к))*\s$"
    r"|^(?:而|并|根本|可|才)?(?:不是|不叫|并非|不姓|哪是)(?:什么)?$"
)
_NOT = lazy(r"\s*(?:это )?не\s")
_LACKS = lazy(r"\bno\s$")
_EDITS = lazy(  # of a text at work
    r"(?:\W|please |just |also |then |now |maybe |and )*(?:remove|replace|update|delete|add|change|swap|adjust|edit|insert|include|exclude|incorporate|modify|move|format|highlight|rephrase|reword|rearrange) (?:the|this|that|these|those|all|any|some|it|a|an|more|another|each|every)\b"
)
_FOLLOWS = lazy(
    r" (?!(?:in|on|at|for|with|from|of|to|by|but|and|or|any|after|because|since|as|now|then|this|that|at all|though|after all|either)\b)\w"
)
_YOU = lazy(r"\b(?:you|your)\b")
_MORE = lazy(r"\s*(?:any ?more|any longer|mehr|más|больше|anymore|only|nur|sol)")
_AFTER_DENIED = 2
_WRONG_OF = lazy(  # "the wrong time for the dentist"
    r"\bwrong (?:\w+ )?(?:time|date|day|number|name|address|place|price|year|month|size|colou?r|code|room|street|amount|figure)s? (?:for|of|on) "
    r"(?:(?:the|my|our|his|her|their|\w+'s) )*$"
)
TOPIC = lazy(
    r"(?:\b(?:about|regarding|concerning|über|bezüglich|sobre|acerca de|respecto a|про|насчет|по поводу)\s+(?:\w+\s+){0,2}|关于)$"
)
_WAS = lazy(r"\s*(?:(?:was|war|era|fue|был[аои]?)\b|是)")
_IS_ANOTHER = lazy(
    r"\s*(?:is|was|'s|would be|lives|belongs|teaches|works) (?:the|a|an|my|our|his|her|their|some|in|at|on|to|from|what|where|who|next|last|for|only|just|head|where|one|another|his|hers|theirs|its)\b"
)
_IS_RIGHT = lazy(
    r"\s*(?:is|was|'s) (?:the (?:right|correct|real|proper|true)|right|correct|where i|my|our)\b(?! (?:old|last|former|previous|ex|brother|sister|mother|father|mum|mom|dad|wife|husband|son|daughter|cousin|friend|mate|neighbou?r|boss|colleague))"
)
_MIXED = lazy(r"\b(?:confus|mix|muddl|conflat)\w+ (?:up )?(?:the |my |our |all )?(?:two |both |different |up |\w+ )?$")
_WAS_ONCE = lazy(
    r"\s*(?:was|era|fue|был[аои]?)\b(?=.*\b(?:last|previous|old|former|before|earlier|ago|once|back then|letzt\w*|früher\w*|alt\w*|vorher\w*|damals|"
    r"pasad\w|antigu\w|anterior\w*|antes|прошл\w+|стар\w+|раньше|прежн\w+|бывш\w+))|是(?:去年|上|以前|之前|老|旧|原来|前)"
)


WHENCE = lazy(  # wonders how a wrong thing came to be said
    r"^\W*[\w -]{2,25} (?:dije|he dicho|puse|escribí|hab\w* ich gesagt|sagte ich)\W*$|"
    r"\bwo (?:ich )?hab\w* (?:ich )?.{0,40}\bher(?:geholt|genommen|gehabt)?\b|\bwie (?:komm\w*|kam|bin) ich .{0,12}auf\b|\bwie ich (?:\w+ ){0,3}auf .{1,40}\b(?:komm\w*|kam|gekommen)\b|"
    r"\b(?:warum|wieso|weshalb) (?:hab\w* )?ich .{0,40}\b(?:geschrieben|gesagt|getippt|schrieb|sagte|hatte|habe?)\b|"
    r"\bde dónde .{0,20}\bsa(?:qué|co|cado|caría)\b|\b(?:por|en) qué .{0,15}\b(?:dije|puse|escribí|pensaba)\b|\bcómo (?:se me ocurrió|llegué a) (?:decir|poner|escribir)\b|"
    r"\bdid i (?:really |just |seriously )?(?:say|write|type|put|call (?:it|him|her)|tell you)\b|\bwhat (?:made|possessed) me (?:to )?(?:say|write|type|put|think|call)\b|\bwhere on earth (?:did i|i)\b|"
    r"\bwhere (?:did i get|i got|\w+ came from)\b|\bwhy (?:did i|i) (?:say|said|type|typed|write|wrote)\b"
)


_SAID = lazy(
    r"\b(?:(?:he )?(?:dije|dicho|puse|puesto|escribí|escrito)|hab\w* ich (?:gesagt|geschrieben)|sag(?:te)? ich|schrieb ich|did i (?:say|write))\b"
)


_WISHED = lazy(r"\b(?:i'd (?:like|love|prefer)|i (?:want|need)|should|let's|make (?:it|them|sure))\b")


class Corrections(Scan):
    """Reads what a message takes back as wrong."""

    def _contrasted(self, sentence: Sentence) -> Iterator[Ending]:
        """Find "Callum, not Colin" where Colin was said before."""
        for pattern in self._lexicon.contrast:
            for match in pattern.finditer(sentence.flat):
                old = group_of(match, "old") or match.span()
                start, end = (sentence.start + offset for offset in old)
                for mention in self._mentions[sentence.start]:
                    if not start <= mention.start < end or self._is_idle(sentence, mention):
                        continue
                    plain = (
                        mention.rank == NOUN
                        and self._is_personal(mention)
                        and self._is_plain_contrast(mention, match, end)
                    )
                    if mention.rank >= NAME or plain:
                        yield Ending(mention.surface, "correct", sentence, mention)

    def _denied(self, sentence: Sentence) -> Iterator[Ending]:
        """Find ", not Y" and "it isn't a Y" at the end of a clause, whatever the words before it."""
        if REQUEST.match(sentence.flat):
            return
        if self._lexicon.code == "en" and any(_EDITS.match(clause.flat) for clause in sentence.clauses):
            return
        for clause in sentence.clauses:
            if clause.asks or self._is_hedged(sentence, clause) or self._lexicon.limited.search(clause.flat):
                continue
            for mention in self._within(clause, sentence):
                before, after = clause.flat[: mention.start - clause.start], clause.flat[mention.end - clause.start :]
                before = before.rstrip("«„“")
                is_denied = (
                    _DENIED.search(before)
                    and not (_MORE.match(after) or _NOT.match(after))
                    and len(words(after)) <= _AFTER_DENIED
                )
                lacks = (
                    mention.rank == NOUN and self._lexicon.code == "en" and self._is_of_the_talk(clause, before, after)
                )
                lacks = lacks or (
                    self._lexicon.code == "es" and mention.rank == NOUN and _LACKS.search(before) is not None
                )
                lacks = lacks or (mention.surface.islower() and _WISHED.search(before) is not None)
                if is_denied and not lacks and mention.rank >= NOUN and self._is_personal(mention):
                    yield Ending(mention.surface, "correct", sentence, mention)

    def _is_of_the_talk(self, clause: Clause, before: str, after: str) -> bool:
        """Whether a common word is denied of what is talked about: "no pressure", "you are not saying", "not a cooking show"."""
        if _LACKS.search(before) or (_YOU.search(before) and not self._lexicon.first.search(clause.flat)):
            return True
        return _FOLLOWS.match(after) is not None

    def _is_plain_contrast(self, mention: Mention, match: re.Match[str], end: int) -> bool:
        """Whether a common word is all that is denied, in a message that corrects something."""
        if not (self._corrects or self._murmurs or self._lexicon.code in ("de", "zh", "ru")):
            return False
        new = group_of(match, "new") or match.span()
        rest = self._reading.text[mention.end : end].split()
        return len(rest) <= 1 and len(words(match.string[slice(*new)])) <= _MAX_PLAIN

    def _echoed(self, sentence: Sentence) -> Iterator[Ending]:
        """Find a value that is doubted as a whole sentence ("Lyon?? What am I on about")."""
        found = [m for m in self._mentions[sentence.start] if m.rank >= NAME]
        echoed = _SAID.sub("", sentence.flat)  # "Zamora, did I say?"
        if sentence.text.endswith("?") and len(found) == 1 and len(words(found[0].surface)) == len(words(echoed)):
            yield Ending(found[0].surface, "correct", sentence, found[0])

    def _disowned(self, place: int, sentence: Sentence) -> Iterator[Ending]:
        if self._lexicon.code == "en" and (REQUEST.match(sentence.flat) or HABITUAL.search(sentence.flat)):
            return
        if self._corrects:
            yield from self._echoed(sentence)
        before = 2 if self._lexicon.code == "en" else 1  # "I mixed up the names. She's Y. X is the caretaker"
        near = self._reading.sentences[max(0, place - before) : place + 2]
        corrects = any(self._lexicon.correction.search(o.flat) and not HABITUAL.search(o.flat) for o in near)
        idle = (self._lexicon.ceased, self._lexicon.limited)
        for clause in sentence.clauses:
            wonders = WHENCE.search(clause.flat) is not None
            if (clause.asks and not wonders) or any(p.search(clause.flat) for p in idle):
                continue
            if self._is_hedged(sentence, clause) and not wonders:
                continue
            if wonders:
                for mention in self._best(self._within(clause, sentence), floor=NOUN):
                    yield Ending(mention.surface, "correct", sentence, mention)
                continue
            for mention in self._disowned_in(clause, sentence, corrects=corrects):
                yield Ending(mention.surface, "correct", sentence, mention)

    def _disowned_in(self, clause: Clause, sentence: Sentence, *, corrects: bool) -> list[Mention]:
        inside = [m for m in self._within(clause, sentence) if not self._is_topic(m, clause)]
        if not (self._lexicon.slip.search(clause.flat) or self._is_anothers(clause, sentence)):
            inside = [m for m in inside if self._is_denied(m, clause)]
        elif corrects and not inside:
            before = [m for m in self._mentions[sentence.start] if m.end <= clause.start and m.rank >= NAME]
            inside = [m for m in before if not self._is_idle(sentence, m)]
        if corrects and not inside:
            inside = [m for m in self._within(clause, sentence) if m.rank >= NOUN and self._was_another(m, clause)]
        inside = [m for m in inside if not self._lexicon.kin.fullmatch(m.surface.lower())]
        inside = [m for m in inside if m.rank > NOUN or not self._lexicon.slip.fullmatch(m.surface.lower())]
        inside = [m for m in inside if m.rank > NOUN or not self._is_mixed(m, clause)]
        denies = len(words(clause.flat)) <= _DENIAL_WORDS  # "not Lisbon"
        if len(sentence.words) > _LONG and self._lexicon.code != "zh":
            inside = [m for m in inside if m.rank == VALUE]
        best = self._best(inside, floor=NAME if corrects or denies else VALUE)
        if not best and corrects and len(inside) == 1 and inside[0].rank == NOUN and self._is_personal(inside[0]):
            best = inside
        return best

    def _is_mixed(self, mention: Mention, clause: Clause) -> bool:
        """Whether a common word names the sort of what was mixed up ("I confused two tenants")."""
        return _MIXED.search(clause.flat[: mention.start - clause.start]) is not None

    def _is_topic(self, mention: Mention, clause: Clause) -> bool:
        """Whether a clause is about a value, and not the wrong thing said ("I lied about Tver" is)."""
        if _WRONG_OF.search(clause.flat[: mention.start - clause.start]):
            return True
        about = TOPIC.search(clause.flat[: mention.start - clause.start])
        return about is not None and not self._lexicon.slip.search(clause.flat, mention.end - clause.start)

    def _is_denied(self, mention: Mention, clause: Clause) -> bool:
        """Whether a negation stands before the value, with nothing that tells between ("not in Leeds", not "not leave Leeds")."""
        if _NOT.match(clause.flat[mention.end - clause.start :]):
            return False  # "no Bim is a corgi": of Bim something else is denied
        found = overlapping(self._lexicon.denial, clause.flat[: mention.start - clause.start])
        return any(all(word.text in self._lexicon.stop for word in words(match[0])) for match in found)

    def _was_another(self, mention: Mention, clause: Clause) -> bool:
        """Whether a clause opens by saying what the value was instead ("Howland was last year's")."""
        opens = len(words(clause.flat[: mention.start - clause.start])) <= 1
        if self._lexicon.code == "en" and opens and mention.rank >= NAME:
            after = clause.flat[mention.end - clause.start :]
            return (_IS_ANOTHER.match(after) or _WAS.match(after)) is not None and not _IS_RIGHT.match(after)
        is_common = mention.rank == NOUN and self._lexicon.code not in ("de", "zh")  # "the quiz was helpful"
        is_plain = self._lexicon.code == "zh" and mention.rank < VALUE and not is_called(mention.surface)
        return (
            opens
            and (_WAS_ONCE if is_common or is_plain else _WAS).match(clause.flat[mention.end - clause.start :])
            is not None
        )

    def _is_anothers(self, clause: Clause, sentence: Sentence) -> bool:
        """Whether a clause gives a known value to somebody else ("metoprolol is what my father takes")."""
        floor = NAME if self._corrects and self._lexicon.code == "en" else VALUE
        if self._corrects and self._lexicon.code in ("de", "es") and len(words(clause.flat)) <= _MAX_PLAIN:
            floor = NOUN
        known = [m for m in self._within(clause, sentence) if m.rank >= floor]
        known = [m for m in known if m.rank > NOUN or not self._lexicon.kin.search(m.surface.lower())]
        return bool(known) and self._lexicon.kin.search(clause.flat) is not None


def is_of_date(mention: Mention, sentence: Sentence) -> bool:
    """Whether a mention is the month of a date and not all of it ("on 24 June", after "on 14 June")."""
    dates = (date for date in typed(sentence.text) if date.kind == "date")
    spans = ((sentence.start + date.start, sentence.start + date.end) for date in dates)
    return any(start < mention.start < end for start, end in spans)
