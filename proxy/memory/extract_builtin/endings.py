"""Finds which values of the past a message ends: no longer so, forgotten on request, corrected or replaced."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from proxy.memory.extract_builtin.aliases import is_pointed_at, name_of
from proxy.memory.extract_builtin.bystanders import Bystanders
from proxy.memory.extract_builtin.corrections import WHENCE, Corrections, is_of_date
from proxy.memory.extract_builtin.departures import Departures
from proxy.memory.extract_builtin.displaced import Displaced
from proxy.memory.extract_builtin.disproved import Disproved
from proxy.memory.extract_builtin.english_endings import MISHAP, OTHERWISE
from proxy.memory.extract_builtin.exchanges import Exchanges
from proxy.memory.extract_builtin.farewells import Farewells
from proxy.memory.extract_builtin.forgetting import Forgetting
from proxy.memory.extract_builtin.hearsay import HEARSAY, is_hearsay, is_supposed
from proxy.memory.extract_builtin.heirs import Heirs
from proxy.memory.extract_builtin.leavings import Leavings
from proxy.memory.extract_builtin.lexicon import Lexicon
from proxy.memory.extract_builtin.likewise import goes_along
from proxy.memory.extract_builtin.losses import Losses
from proxy.memory.extract_builtin.mentions import GENERIC, NAME, NOUN, VALUE, Mention
from proxy.memory.extract_builtin.mistakes import Mistakes
from proxy.memory.extract_builtin.reading import Clause, Sentence, is_brief, is_talk, longest_brief
from proxy.memory.extract_builtin.replacement import recast
from proxy.memory.extract_builtin.scan import Ending, Reason
from proxy.memory.extract_builtin.successors import Successors
from proxy.memory.extract_builtin.switches import ARRIVES, GAINS, NOW
from proxy.memory.extract_builtin.targets import MALFUNCTIONS, NOT_ALONE
from proxy.memory.words import Span, flat, mentions, words

# Halting can be for certain times only ("stopped using it on Sundays"); selling cannot.
_HALTS = re.compile(
    r".*(?:stop|quit|gave|give|aufgehört|hör|dej|перестал|брос|отказ|закрываю|убираю|отменяю|исключаю|停)"
)
# What may be so for certain times only; an event has its date.
_STATE = re.compile(
    r"\b(?:no longer|any ?more|any longer|no more|not|off|out|gone|over|haven't|nicht|kein\w*|nie|weg|raus|flach|ya no|no|nunca|nada|fuera|больше|не|уже|хватит|никогда)\b|n't\b|[不没]"
)
_STILL = re.compile(
    r"\b(?:по-прежнему|все еще|как и раньше|(?:моя|мой|мое|мои|наша|наш|наше|наши) .{0,25}(?:работает|работают|цел\w?|жив\w?|в порядке|на месте))\b|"
    r"(?:我们?|自家|咱们?)[^，。]{0,6}(?:还|照常|依旧|依然)(?:是)?(?:好好的|开着|在|照常|正常|没事)?|(?:第二天|明天|改天|回头|过[几两]天|下周|晚点)(?:我)?再"
)
_FROM_ANOTHER = re.compile(  # "Tamara left her husband"
    r"^\W*\w+ (?:\w+ )?(?:рассталась|развелась|разошлась) с (?:мужем|парнем|женихом|бойфрендом)\b|^\W*\w+ (?:\w+ )?(?:расстался|развелся|разошелся) с (?:женой|девушкой|невестой)\b|"
    r"^[^我，。]{2,6}[跟和与](?:老公|老婆|丈夫|妻子|男友|女友|男朋友|女朋友|对象)(?:分手|离婚|分开|分居|散)"
)
_BELIEVED = re.compile(
    r"\b(?:thought|believed|feared|dachte|glaubte|pensé que|pensaba que|creí(?:a)? que|думал\w?|казалось|боял\w+)\b|以为|还当"
)
_RUMOUR_HAN = re.compile(  # what others say of the speaker is no news of theirs
    r"(?:谁|有人|群里|外面|外头|他们|她们|大家|别人|同事们?|邻居们?|亲戚们?|同学们?|网上|有的人|不知道谁|谁知道)[^，。我]{0,6}(?:瞎传|乱传|瞎说|造谣|乱说|胡说|在传|都传|传(?=我)|说我|以为我)|谣言|传言|风言风语|被传"
)
_OF_ANOTHER_TIME = re.compile(  # "before I left", and what the assistant did
    r"\W*(?:(?:and|but|so|und|aber|y|pero|и|а|но) )?(?:before|until|till|by the time|bevor|bis|antes de que|hasta que|прежде чем|до того,? как"
    r"|you (?!know\b|see\b|can\b|may\b|should\b|remember\b))\b"
)
_ASKED_OF_ONESELF = re.compile(r"what (?:am|was) i\b")
# A narrower thing than what was told of ends ("I no longer play chess online", "…, only at the club").
_NARROWED = re.compile(
    r"\b(?:online|indoors|outdoors|outside|competitively|professionally|solo|on my own|by myself|for money|as (?:much|often|many)|every (?:\w+ )?(?:day|morning|night|week|weekend|evening)|daily|full[- ]time)\b"
    r"|\bin (?:the )?(?:winter|summer|spring|autumn|rain|snow|cold|dark)\b"
    r"|\bat (?:work|the office|parties|breakfast|lunch|dinner|school|home)\b|\bfor (?:breakfast|lunch|dinner|work|fun)\b|\bto (?:work|school)\b"
)
_WRONG_THING = re.compile(  # "sent me the wrong bill"
    r"\b(?:sent|gave|delivered|brought|charged|shipped|served|handed|posted|made|issued|sold)(?: (?:me|us|it|them|him|her))? (?:to )?(?:the|a) wrong\b"
)
_SINCE = re.compile(r"\b(?:seit|ab|desde|a partir de)\s+(?:(?:de[rnm]|el|la|los|las)\s+)?$")  # no time only
_ONTO = re.compile(r"\b(?:worden|umgestellt|vereinheitlicht|zusammengelegt|eingeführt)\b")
_FAVOURED = re.compile(
    r"\b(?:zugunsten|zu Gunsten|en favor|en beneficio)\s+(?:von|vom|des|der|del?)(?:\s+(?:der|dem|la|las|los|el))?\s+(?P<new>[A-ZÄÖÜÁÉÍÓÚÑ][\w&.'-]*\w(?:\s+[A-ZÄÖÜÁÉÍÓÚÑ0-9][\w'-]*)*)"
)
_COLON = re.compile(r"[:;]\s")
_CLOSE = 4  # words
_PLAIN_END = re.compile(
    r"gestorben|verstorben|eingeschläfert|verkauft|verschenkt|gekündigt|aufgelöst|dichtgemacht|geschlossen|verlassen|aufgegeben|ausgetreten|entlaufen|tot\b|gelöscht|stillgelegt|murió|muerto|falleció|vend|cancel|cerr|dej|borr|regal|jubil|despid|despedí|escap"
)
_NO_MORE = re.compile(r"(?:and |just |so )*no more .{1,40}")  # "No more delays."
_UNABLE = re.compile(r"\b(?:can't|cannot|can not|couldn't) (?:\w+ )?$")
_SUGGESTED = re.compile(r"\byou(?:'ve| have)? (?:just )?(?:mentioned|suggested|listed|recommended|proposed)\b")
_RAN_OUT = re.compile(r"\b(?:over|finished|(?:all )?done)\b(?! (?:with|for))")
_EXCEPT = re.compile(
    r"\W*(?:but )?(?:(?:only|just|except) (?:at|in|on|with|when|during|for|by|after|before|if)\b|except\b|(?:i |we )?still (?:do|use|play|go|have|drink|eat|take|keep|like|love|read|wear)s? (?:it|them|that|so|him|her|one)\b)"
)
# "The app has deleted my notes": the value does it to something else.
_ONE_TIME = re.compile(  # a batch or an evening of it, not the thing
    r"(?:明天|回头|下班|周末|改天|待会儿?)(?:我)?(?:再)?(?:去)?(?:买|补|开|拿|取|囤|领|配)|再(?:去)?买一|"
    r"\bya no (?:tienen|venden|hay|queda|quedan|traen|les queda)\b|\bgib(?:t|ts|t es|t's) .{0,40}\b(?:apotheke|laden|supermarkt|markt|drogerie|handel|geschäft|packung\w*)\b.{0,20}\bnicht mehr\b|\b(?:haben|führen|verkaufen) (?:sie|die) .{0,40}\bnicht mehr\b|\blieferengpass\b|"
    r"\b(?:früh|früher|eher|vorzeitig|zeitig|mittendrin)(?= (?:\w+ )?(?:beendet|abgebrochen|aufgehört|schluss|zugemacht|geschlossen|abgehauen|gegangen))|\b(?:antes de tiempo|a medias)\b|"
    r"\b(?:cort|dej|acab|termin|cerr)\w+ .{0,25}\b(?:pronto|temprano)\b|"
    r"\b(?:steht|stehen|bleibt|ruht|schläft) .{0,20}(?:im|über den) winter\b|"
    r"\b(?:vorrätig|lieferbar|ausverkauft|vergriffen|auf lager)\b|\b(?:no quedaban?|no había|no tenían|agotad\w+|sin existencias)\b|"
    r"\bschlecht geworden\b|\bverdorben\b|\bverschimmelt\b|\branzig\b|\bsauer geworden\b|\baufgegessen\b|\bausgetrunken\b|\bpus(?:o|ieron) mal[oa]s?\b|\bcon moho\b|\bpodrid[oa]s?\b|\branci[oa]s?\b|"
    r"\b(?:went|gone) (?:bad|off|mouldy|moldy|stale)\b|\bpast (?:its|their) date\b"
)
_HOURS = re.compile(r"\bhat .{0,20}\b(?:geschlossen|zu)\b|\b(?:macht|schließt|cierra|cierran|abre)\b")  # when it opens
_OLD = re.compile(r"\b(?:alte[nrms]?|viej[oa]s?|antigu[oa]s?|old)\s*$")
_OLD_AFTER = re.compile(r"^\s*(?:viej[oa]s?|antigu[oa]s?)\b")
_ANOTHER = re.compile(  # of the same kind: "a bigger one is ordered"
    r"\b(?:eine?n?s?|das|die|den) (?:neue[ns]?|größere[ns]?|kleinere[ns]?|bessere[ns]?|gebrauchte[ns]?)(?= *(?:$|[,.!]|\w*[a-zäöüß]))(?! \w*(?:marke|sorte))|"
    r"\bun[oa] (?:más \w+|nuev[oa]|mejor|de segunda mano)\b|\ba (?:new|bigger|smaller|better|used) one\b"
)
_HABIT = re.compile(
    r"(?:^|\b(?:i|we|i'm|we're|and|now) )(?:now |just |only )?(?:write|drive|use|take|eat|drink|play|read|sleep|cook|work|bank|shop|train|go|ride|wear|watch|listen|cycle|swim|sing|live|sit|run|bake|brew|paint|shoot|film|travel|commute|stay)"
    r" (?:on|in|with|at|to|from|by|a|an)\b|\b(?:are|is) for (?!me\b|us\b|sale\b|good\b|now\b)\w|^in (?:came|comes|went)\b"
)
_PHRASE = re.compile(  # says nothing of what it names
    r"\b(?:kein\w*|no|sin|без) (?:stress|estrés|stres\w*|problem\w*|ding|thema|ahnung|sorgen?|eile|wunder|frage|zweifel|worries|rush|hurry|prisa|duda|проблем\w*|стресса)$"
)
_SELLS = re.compile(r"\bsell(?:s|ing)?\b|\bverkauf(?:e|en|t)?\b|\bvend(?:o|e|emos|iendo)\b|\bпрода(?:ю|ем|ет)\b")
_FINISHED = re.compile(r"\b(?:finished|completed|got to the end of|made it through|got through|polished off)\b")
_GOING_ON = re.compile(
    r"\b(?:reading|re-?reading|watching|re-?watching|bing(?:e)?ing|playing|listening to|working through|halfway through|in the middle of)\b"
)
# "Jens has quit his job": his job ended, not Jens.


class Endings(
    Bystanders,
    Corrections,
    Departures,
    Displaced,
    Disproved,
    Exchanges,
    Farewells,
    Forgetting,
    Heirs,
    Leavings,
    Losses,
    Mistakes,
    Successors,
):
    """Reads the endings of one message."""

    def find(self) -> list[Ending]:
        """Return the endings, each value once."""
        found: dict[str, Ending] = {}
        self._corrects = any(self._corrected(sentence) for sentence in self._reading.sentences)
        self._murmurs = any(self._lexicon.murmur.search(sentence.flat) for sentence in self._reading.sentences)
        for place, sentence in enumerate(self._reading.sentences):
            for ending in self._of(place, sentence):
                is_kin = ending.reason in ("replace", "beside") and self._lexicon.kin.fullmatch(ending.value.lower())
                opens = ending.mention is not None and ending.mention.start == sentence.start
                if is_kin and (self._lexicon.code in ("de", "es") or (opens and self._lexicon.code == "ru")):
                    continue  # "my son sold his bike and wants a moped"
                if self._ends_nothing(place, ending):
                    continue
                if self._is_told_plainly(ending) and not self._is_mere_talk(place, ending):
                    found.setdefault(ending.value.casefold(), ending)
                    for named in self._named_by(ending):
                        found.setdefault(named.value.casefold(), named)
        return list(found.values())

    def _named_by(self, ending: Ending) -> Iterator[Ending]:
        """Yield the name of what ends, where only what it is was said ("the tomcat" of "our tomcat, Max")."""
        mention = ending.mention
        if mention is None or ending.reason in ("correct", "forget"):
            return
        before = ending.sentence.flat[: max(0, mention.start - ending.sentence.start)]
        name = name_of(mention.surface, mention.said, self._lexicon.code)
        is_other = self._lexicon.kin.fullmatch(flat(name)) is not None or self._is_spoken_of(name)
        if name and is_pointed_at(before, self._lexicon.code) and not is_other:
            yield replace(ending, value=name, reason="retract")

    def _class_words(self, clause: Clause, sentence: Sentence, cue: Span) -> list[Mention]:
        """Return the word for what something is beside a plain end ("the dog died"), where one of its kind has a name."""
        if not _PLAIN_END.search(self._reading.text[slice(*cue)].lower()):
            return []
        found = [m for m in self._within(clause, sentence) if m.rank == GENERIC]
        near = [m for m in found if len(words(self._reading.text[min(m.end, cue[1]) : max(m.start, cue[0])])) <= _CLOSE]
        code = self._lexicon.code
        return [
            m
            for m in near
            if is_pointed_at(clause.flat[: m.start - clause.start], code) and name_of(m.surface, m.said, code)
        ]

    def _is_spoken_of(self, name: str) -> bool:
        """Whether a message says a name itself."""
        return flat(name) in flat(self._reading.text)

    def _is_told_plainly(self, ending: Ending) -> bool:
        """Whether an ending stands in few words; in a long message only what was given as a value.

        Somebody who tells a story or gives a task uses every word of an ending, and has said every noun before.
        """
        most, size = longest_brief(self._lexicon), self._size_about(ending)
        if is_brief(self._reading):
            return size <= most
        if 3 * size > 2 * most:
            return False
        if self._heard.is_value(ending.value):
            return True
        if ending.mention is None or _PHRASE.search(ending.sentence.flat[: ending.mention.end - ending.sentence.start]):
            return False
        is_meant = ending.reason == "forget" and ending.mention.rank >= NAME
        is_meant = is_meant or (ending.reason == "replace" and self._is_set_against(ending.mention, ending.sentence))
        return is_talk(self._reading) and (is_meant or self._is_theirs(ending.mention))

    def _size_about(self, ending: Ending) -> int:
        """Return how many words are told together with an ending: behind a colon a new stretch begins."""
        sentence, mention = ending.sentence, ending.mention
        if mention is None or self._lexicon.code not in ("de", "es"):
            return len(sentence.words)
        start = max(
            (m.end() for m in _COLON.finditer(sentence.text) if sentence.start + m.end() <= mention.start), default=0
        )
        after = _COLON.search(sentence.text, max(0, mention.end - sentence.start))
        return len(words(sentence.text[start : after.start() if after else len(sentence.text)]))

    def _is_mere_talk(self, place: int, ending: Ending) -> bool:
        """Whether a sentence only tells of what is not so, or asks what would be."""
        if self._lexicon.code not in HEARSAY or ending.reason == "forget":
            return False
        clause = self._clause_at(ending.sentence, ending.mention) if ending.mention else None
        return is_hearsay(self._reading, place) or (
            clause is not None and is_supposed(ending.sentence, clause, self._lexicon.code)
        )

    def _corrected(self, sentence: Sentence) -> bool:
        if any(WHENCE.search(clause.flat) for clause in sentence.clauses):
            return True
        found = self._lexicon.correction.search(sentence.flat)
        if found is not None and found[0] == "wrong" and _WRONG_THING.search(sentence.flat):
            return False
        return found is not None and (not sentence.asks or _ASKED_OF_ONESELF.match(found[0]) is not None)

    def _of(self, place: int, sentence: Sentence) -> Iterator[Ending]:
        if self._asks_to_forget(sentence):
            yield from self._forgotten(place, sentence)
            return
        if self._lexicon.kept.search(sentence.flat) and any(map(self._asks_to_forget, self._reading.sentences)):
            return  # "X has nothing to do with it and may stay"
        yield from self._contrasted(sentence)
        yield from self._denied(sentence)
        if self._corrects or self._murmurs:
            found = self._disowned(place, sentence)
            yield from (one for one in found if one.mention is None or not is_of_date(one.mention, one.sentence))
        yield from self._succeeded(place, sentence)
        yield from self._switched(sentence)
        yield from self._outdone(sentence)
        yield from self._departed(sentence)
        yield from self._displaced(sentence)
        yield from self._moved_out(sentence)
        yield from self._replaced_after(place, sentence)
        yield from self._overtaken(sentence)
        yield from self._exchanged(sentence)
        for index, clause in enumerate(sentence.clauses):
            yield from self._ended(place, sentence, index, clause)
        yield from self._mistaken(place, sentence)
        yield from self._disproved(place, sentence)
        yield from self._recoded(sentence)
        yield from self._rivalled(place, sentence)
        yield from self._soured(place, sentence)
        yield from self._likewise(place, sentence)
        yield from self._handed_down(place, sentence)

    def _ended(self, place: int, sentence: Sentence, index: int, clause: Clause) -> Iterator[Ending]:
        near = self._reading.sentences[max(0, place - 1) : place + 1]
        if not any(self._mentions[one.start] for one in near):
            return
        cue = self._cue(clause, sentence, index)
        if cue is None:
            return
        start, end, mutual = cue
        targets = self._targets(place, sentence, index, clause, (start, end))
        targets = targets or self._class_words(clause, sentence, (start, end))
        subject = self._third(sentence, clause, targets)
        if subject is None and not (mutual and self._is_between_us(clause, start, targets)):
            return
        if not mutual and self._lexicon.code == "en" and self._is_strangers(clause, start, targets):
            return
        for mention in targets:
            if (
                (mention.rank < NAME or " " not in mention.surface.strip())
                and mention.surface.islower()
                and self._lexicon.code == "en"
                and _RAN_OUT.search(self._reading.text[start:end].lower())
            ):
                continue  # "the exam is over": it took place
            if self._is_renewed(mention, sentence) or self._is_part(mention, clause, end):
                continue
            of_another = self._is_of_another(mention, clause) or self._is_of_the_task(
                mention, sentence, clause, (start, end)
            )
            if of_another or self._sells_on(mention, (start, end)):
                continue
            if self._does_it(mention, clause, (start, end)) or self._stands(
                mention, place, sentence, clause, (start, end)
            ):
                continue
            new = self._passed_to(mention, sentence)
            reason: Reason = "replace" if new else self._reason(mention, sentence, clause, subject)
            yield Ending(self._as_said(mention), reason, sentence, mention, subject or "user", new)

    def _likewise(self, place: int, sentence: Sentence) -> Iterator[Ending]:
        """Find what goes the way of what ended right before it ("and the choir too")."""
        if self._lexicon.code not in ("de", "es"):
            return
        before = self._reading.sentences[place - 1] if place else None
        for index, clause in enumerate(sentence.clauses):
            found = [m for m in self._within(clause, sentence) if m.rank >= NOUN and self._is_personal(m)]
            along = [m for m in found if goes_along(clause.flat, m.start - clause.start, m.end - clause.start)]
            if clause.asks or not along or self._is_hedged(sentence, clause):
                continue
            told = [(c, sentence) for c in sentence.clauses[:index]]
            told = told or ([(c, before) for c in before.clauses] if before else [])
            if any(self._cue(c, near, near.clauses.index(c)) for c, near in told):
                yield from (Ending(m.surface, "retract", sentence, m) for m in along)

    def _is_of_the_task(self, mention: Mention, sentence: Sentence, clause: Clause, cue: Span) -> bool:
        """Whether something ends that was to be done or is the assistant's, and nothing of the user's."""
        if self._lexicon.code != "en":
            return False
        told = self._reading.text[slice(*cue)].lower()
        is_elsewhere = not clause.start <= mention.start < clause.end
        if is_elsewhere and (mention.surface.isdigit() or _RAN_OUT.search(told)):
            return True  # "I installed it. It's done."
        is_common = mention.surface.islower() and mention.rank < VALUE
        complains = all(_NO_MORE.fullmatch(other.flat) for other in sentence.clauses)
        if is_common and (complains or "carried away" in clause.flat or self._is_verb(mention, clause)):
            return True
        return mention.rank < VALUE and _SUGGESTED.search(sentence.flat) is not None

    def _is_verb(self, mention: Mention, clause: Clause) -> bool:
        """Whether a common word is what one cannot do ("can't afford to wait")."""
        before, after = clause.flat[: mention.start - clause.start], clause.flat[mention.end - clause.start :]
        return after.startswith(" to ") and _UNABLE.search(before) is not None

    def _sells_on(self, mention: Mention, cue: Span) -> bool:
        """Whether something is sold that was told of as sold: who sells candles goes on to have some."""
        sold = _SELLS.search(self._reading.text[slice(*cue)].lower()) is not None
        return sold and any(_SELLS.search(flat(text)) for text in mention.said)

    def _reason(self, mention: Mention, sentence: Sentence, clause: Clause, subject: str | None) -> Reason:
        """Return whether something is told to come in place of what ends, or beside it."""
        gains = self._gains(sentence.flat) or any(
            NOW.search(other.flat) for other in sentence.clauses if other is not clause and not other.asks
        )
        if gains or (self._lexicon.code == "en" and recast(mention.surface, sentence.text, self._lexicon)):
            return "replace"
        named_in = self._clause_at(sentence, mention)
        if self._lexicon.code == "en" and any(
            c is not named_in and not c.asks and self._is_habit(c) for c in sentence.clauses
        ):
            return "beside"
        theirs = subject not in (None, "user") and self._lexicon.code == "en"
        beside = any(
            other is not named_in
            and (
                self._tells_new(other)
                or self._tells_else(other)
                or self._dates_from(other)
                or self._tells_instead(other, sentence)
                or (theirs and self._tells_of_theirs(other))
            )
            for other in sentence.clauses
        )
        return "beside" if beside else "retract"

    def _is_habit(self, clause: Clause) -> bool:
        """Whether an English clause tells, with a word never heard, what the speaker does as a rule ("I write on a X")."""
        idle = self._lexicon.stop | self._lexicon.generic
        fresh = [w for w in words(clause.flat) if w.text not in idle and not self._heard.holds(w.text)]
        return bool(fresh) and _HABIT.search(clause.flat) is not None

    def _is_between_us(self, clause: Clause, start: int, targets: Sequence[Mention]) -> bool:
        """Whether somebody parts from the speaker, and not from where they live ("my cousin moved out of X")."""
        is_place = clause.flat.startswith("moved out", start - clause.start) and self._lexicon.code == "en"
        return not (is_place and all(m.start > start for m in targets))

    def _passed_to(self, mention: Mention, sentence: Sentence) -> str:
        """Return the new name that something old is told to have given way to in the same breath ("from X to Y")."""
        rest = sentence.text[mention.end - sentence.start :]
        favoured = _FAVOURED.search(rest)
        if favoured and not self._heard.holds(favoured["new"]):
            return favoured["new"]
        return self._given_to(rest)

    def _tells_of_theirs(self, clause: Clause) -> bool:
        """Whether a clause names something never heard of, be it somebody else's."""
        return not clause.asks and bool(self._fresh(clause))

    def _cue(self, clause: Clause, sentence: Sentence, index: int) -> tuple[int, int, bool] | None:
        lexicon = self._lexicon
        if stopped := self._carried_out(sentence, clause):
            return clause.start + stopped.start(), clause.start + stopped.end(), True
        if self._reports_nothing(sentence, clause):
            return None
        parted = lexicon.parted.search(clause.flat)
        if self._lasts(sentence, clause):
            return None
        if parted and _FROM_ANOTHER.search(clause.flat):
            return None
        if parted and not lexicon.negation.search(clause.flat[: parted.start()]):
            return clause.start + parted.start(), clause.start + parted.end(), True
        taken = self._taken(sentence, clause) or self._gone_over(sentence, clause)
        taken = taken or self._is_read_through(sentence, clause) or self._left(sentence, clause)
        if taken is not None:
            return clause.start + taken.start(), clause.start + taken.end(), True
        limited = self._is_limited(sentence, clause)
        ended = lexicon.ended.search(clause.flat)
        if ended and (not limited or not _STATE.search(ended[0])):
            return clause.start + ended.start(), clause.start + ended.end(), False
        ceased = lexicon.ceased.search(clause.flat)
        if ceased and not self._is_negated(clause, ceased.start()) and not (limited and _HALTS.match(ceased[0])):
            return clause.start + ceased.start(), clause.start + ceased.end(), False
        loose = None if limited or lexicon.negation.search(clause.flat) else lexicon.loose.search(clause.flat)
        if loose and not lexicon.additive.search(sentence.flat) and self._gives_way(sentence, clause):
            return clause.start + loose.start(), clause.start + loose.end(), False
        return None

    def _is_read_through(self, sentence: Sentence, clause: Clause) -> re.Match[str] | None:
        """Return where an English clause says that a book, a series or a game gives way that was told of as going on."""
        finished = _FINISHED.search(clause.flat) if self._lexicon.code == "en" else None
        if finished is None or self._lexicon.negation.search(clause.flat) or not self._gives_way(sentence, clause):
            return None  # what was read is still worth knowing
        named = [m for m in self._within(clause, sentence) if m.rank >= NAME]
        goes_on = any(_GOING_ON.search(flat(text)) for mention in named for text in mention.said)
        return finished if goes_on else None

    def _reports_nothing(self, sentence: Sentence, clause: Clause) -> bool:
        """Whether a clause asks, supposes, or tells of another time, so that nothing of now can end in it."""
        if clause.asks or self._is_hedged(sentence, clause) or self._lexicon.past.search(clause.flat):
            return True
        if (
            _OF_ANOTHER_TIME.match(clause.flat)
            or self._is_long_ago(sentence, clause)
            or self._holds_again(sentence, clause)
        ):
            return True
        if _RUMOUR_HAN.search(sentence.flat):
            return True
        is_made_up = _BELIEVED.search(clause.flat) is not None or self._is_made_up(sentence, clause)
        return is_made_up or self._is_passing(sentence, clause)

    def _is_passing(self, sentence: Sentence, clause: Clause) -> bool:
        """Whether a clause tells of one time, of the hours of a place, or of what was undone since."""
        if self._lexicon.code == "en" and (OTHERWISE.search(clause.flat) or MISHAP.search(sentence.flat)):
            return True
        closes = _HOURS.search(clause.flat) is not None and self._lexicon.limited.search(clause.flat) is not None
        is_broken = MALFUNCTIONS.search(clause.flat) is not None and not self._gives_way(sentence, clause)
        is_broken = is_broken or NOT_ALONE.search(clause.flat) is not None
        told = clause.flat if self._lexicon.code == "en" else sentence.flat
        return closes or is_broken or _ONE_TIME.search(told) is not None or self._is_undone(sentence, clause)

    def _lasts(self, sentence: Sentence, clause: Clause) -> bool:
        """Whether another clause says of the same thing that it goes on ("the branch closed, ours is still open")."""
        around = [c for c in sentence.clauses if c is not clause and _STILL.search(c.flat)]
        return any(not [m for m in self._within(c, sentence) if m.rank >= NOUN] for c in around)

    def _gains(self, text: str) -> bool:
        return (GAINS.search(text) or self._lexicon.gained.search(text)) is not None

    def _gives_way(self, sentence: Sentence, clause: Clause) -> bool:
        """Whether something new is told of beside a clause, in its sentence or the next."""
        found = self._reading.sentences
        place = found.index(sentence)
        after = [c for c in sentence.clauses if c.start > clause.start]
        if place + 1 < len(found):
            after += found[place + 1].clauses
        return any(
            not other.asks
            and not self._lexicon.hedge.search(other.flat)
            and (self._gains(other.flat) or NOW.search(other.flat) or self._tells_new(other) or self._dates_from(other))
            for other in after
        )

    def _outdone(self, sentence: Sentence) -> Iterator[Ending]:
        """Find what gives way to a value that holds again ("Y is awful, back to X"), where one was told to follow the other."""
        back = [c for c in sentence.clauses if self._lexicon.again.search(c.flat) and not c.asks]
        back = [c for c in back if not self._is_hedged(sentence, c)]
        floor = NOUN if self._lexicon.code == "zh" else NAME
        restored = [m for c in back for m in self._within(c, sentence) if m.rank >= floor]
        place = self._reading.sentences.index(sentence)
        for near in self._reading.sentences[max(0, place - 1) : place + 1]:
            for mention in self._mentions[near.start]:
                clause = self._clause_at(near, mention)
                if mention.rank < floor or clause in back or self._is_idle(near, mention):
                    continue
                if self._lexicon.additive.search(clause.flat):
                    continue
                exchanged = [text for text in mention.said if self._exchanges(text)]
                if any(mentions(text, m.surface) for m in restored for text in exchanged if m is not mention) or any(
                    self._came_after(mention, m) or (exchanged and self._was_before(m, mention)) for m in restored
                ):
                    yield Ending(mention.surface, "beside", near, mention)

    def _came_after(self, mention: Mention, first: Mention) -> bool:
        """Whether a name was first told of beside another one that had been told of alone before."""
        if self._lexicon.code not in ("ru", "zh") or mention.surface == first.surface or not mention.said:
            return False
        alone = [text for text in first.said if not mentions(text, mention.surface)]
        return bool(alone) and mentions(mention.said[0], first.surface)

    def _was_before(self, first: Mention, mention: Mention) -> bool:
        """Whether one value was told of before the other was told to come in place of something."""
        if self._lexicon.code not in ("ru", "zh") or first.surface == mention.surface or not first.said:
            return False
        texts = self._heard.texts
        came = [text for text in mention.said if self._lexicon.switch.search(flat(text)) or self._exchanges(text)]
        return bool(came) and texts.index(first.said[0]) < texts.index(came[0])

    def _exchanges(self, text: str) -> bool:
        """Whether an earlier text tells that one thing came in place of another."""
        return _tells_exchange(text, self._lexicon)

    def _is_limited(self, sentence: Sentence, clause: Clause) -> bool:
        """Whether something ends for certain times or places only, and was not told of for these."""
        if any(_EXCEPT.match(other.flat) for other in sentence.clauses if other.start > clause.start):
            return True
        limits = [found for pattern in (self._lexicon.limited, _NARROWED) if (found := pattern.search(clause.flat))]
        limits = [found for found in limits if not _SINCE.search(clause.flat[: found.start()])]
        told = {text for mention in self._within(clause, sentence) if mention.rank >= NOUN for text in mention.said}
        return any(not any(limit[0] in flat(text) for text in told) for limit in limits)

    def _tells_new(self, clause: Clause) -> bool:
        """Whether a clause, of nobody else's, names something never heard of."""
        if clause.asks or self._lexicon.code == "zh":
            return False
        if self._lexicon.code == "de":
            tells = ARRIVES.search(clause.flat) or self._lexicon.first.search(clause.flat) or _ONTO.search(clause.flat)
            return tells is not None and not self._lexicon.negation.search(clause.flat) and bool(self._fresh(clause))
        if self._lexicon.third.search(clause.flat):
            return False
        if self._lexicon.code == "ru" and self._reading.text.islower() and self._lexicon.first.search(clause.flat):
            return any(
                w.text not in self._lexicon.stop and not self._heard.holds(w.text) for w in words(clause.flat)[1:]
            )
        return bool(self._fresh(clause))

    def _is_renewed(self, mention: Mention, sentence: Sentence) -> bool:
        """Whether an old thing made room for another of its kind ("sold the old oboe, a bigger one is ordered")."""
        before, after = sentence.flat[: mention.start - sentence.start], sentence.flat[mention.end - sentence.start :]
        is_old = _OLD.search(before) or _OLD_AFTER.match(after)
        return is_old is not None and _ANOTHER.search(sentence.flat) is not None


@lru_cache(maxsize=2_048)  # the same texts are asked about turn after turn
def _tells_exchange(text: str, lexicon: Lexicon) -> bool:
    told = flat(text)
    cues = (lexicon.switch, lexicon.source, lexicon.parted, lexicon.ended, lexicon.ceased, lexicon.loose, NOW)
    return any(cue.search(told) for cue in cues)
