"""Tells by which words a clause says that something ends, and when such words end nothing."""

from __future__ import annotations

import re

from proxy.memory.learn.extract_builtin.departures import Departures
from proxy.memory.learn.extract_builtin.english_endings import MISHAP, OTHERWISE
from proxy.memory.learn.extract_builtin.farewells import Farewells
from proxy.memory.learn.extract_builtin.heirs import Heirs
from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.leavings import Leavings
from proxy.memory.learn.extract_builtin.losses import Losses
from proxy.memory.learn.extract_builtin.mentions import NAME, NOUN
from proxy.memory.learn.extract_builtin.reading import Clause, Sentence
from proxy.memory.learn.extract_builtin.switches import ARRIVES, GAINS, NOW
from proxy.memory.learn.extract_builtin.targets import MALFUNCTIONS, NOT_ALONE
from proxy.text.words import flat, words

# Halting can be for certain times only ("stopped using it on Sundays"); selling cannot.
_HALTS = lazy(r".*(?:stop|quit|gave|give|aufgehört|hör|dej|перестал|брос|отказ|закрываю|убираю|отменяю|исключаю|停)")
# What may be so for certain times only; an event has its date.
_STATE = lazy(
    r"\b(?:no longer|any ?more|any longer|no more|not|off|out|gone|over|haven't|nicht|kein\w*|nie|weg|raus|flach|ya no|no|nunca|nada|fuera|больше|не|уже|хватит|никогда)\b|n't\b|[不没]"
)
_STILL = lazy(
    r"\b(?:по-прежнему|все еще|как и раньше|(?:моя|мой|мое|мои|наша|наш|наше|наши) .{0,25}(?:работает|работают|цел\w?|жив\w?|в порядке|на месте))\b|"
    r"(?:我们?|自家|咱们?)[^，。]{0,6}(?:还|照常|依旧|依然)(?:是)?(?:好好的|开着|在|照常|正常|没事)?|(?:第二天|明天|改天|回头|过[几两]天|下周|晚点)(?:我)?再"
)
_FROM_ANOTHER = lazy(  # "Tamara left her husband"
    r"^\W*\w+ (?:\w+ )?(?:рассталась|развелась|разошлась) с (?:мужем|парнем|женихом|бойфрендом)\b|^\W*\w+ (?:\w+ )?(?:расстался|развелся|разошелся) с (?:женой|девушкой|невестой)\b|"
    r"^[^我，。]{2,6}[跟和与](?:老公|老婆|丈夫|妻子|男友|女友|男朋友|女朋友|对象)(?:分手|离婚|分开|分居|散)"
)
_BELIEVED = lazy(
    r"\b(?:thought|believed|feared|dachte|glaubte|pensé que|pensaba que|creí(?:a)? que|думал\w?|казалось|боял\w+)\b|以为|还当"
)
_RUMOUR_HAN = lazy(  # what others say of the speaker is no news of theirs
    r"(?:谁|有人|群里|外面|外头|他们|她们|大家|别人|同事们?|邻居们?|亲戚们?|同学们?|网上|有的人|不知道谁|谁知道)[^，。我]{0,6}(?:瞎传|乱传|瞎说|造谣|乱说|胡说|在传|都传|传(?=我)|说我|以为我)|谣言|传言|风言风语|被传"
)
_OF_ANOTHER_TIME = lazy(  # "before I left", and what the assistant did
    r"\W*(?:(?:and|but|so|und|aber|y|pero|и|а|но) )?(?:before|until|till|by the time|bevor|bis|antes de que|hasta que|прежде чем|до того,? как"
    r"|you (?!know\b|see\b|can\b|may\b|should\b|remember\b))\b"
)
# A narrower thing than what was told of ends ("I no longer play chess online", "…, only at the club").
_NARROWED = lazy(
    r"\b(?:online|indoors|outdoors|outside|competitively|professionally|solo|on my own|by myself|for money|as (?:much|often|many)|every (?:\w+ )?(?:day|morning|night|week|weekend|evening)|daily|full[- ]time)\b"
    r"|\bin (?:the )?(?:winter|summer|spring|autumn|rain|snow|cold|dark)\b"
    r"|\bat (?:work|the office|parties|breakfast|lunch|dinner|school|home)\b|\bfor (?:breakfast|lunch|dinner|work|fun)\b|\bto (?:work|school)\b"
)
_SINCE = lazy(r"\b(?:seit|ab|desde|a partir de)\s+(?:(?:de[rnm]|el|la|los|las)\s+)?$")  # no time only
_ONTO = lazy(r"\b(?:worden|umgestellt|vereinheitlicht|zusammengelegt|eingeführt)\b")
_EXCEPT = lazy(
    r"\W*(?:but )?(?:(?:only|just|except) (?:at|in|on|with|when|during|for|by|after|before|if)\b|except\b|(?:i |we )?still (?:do|use|play|go|have|drink|eat|take|keep|like|love|read|wear)s? (?:it|them|that|so|him|her|one)\b)"
)
# "The app has deleted my notes": the value does it to something else.
_ONE_TIME = lazy(  # a batch or an evening of it, not the thing
    r"(?:明天|回头|下班|周末|改天|待会儿?)(?:我)?(?:再)?(?:去)?(?:买|补|开|拿|取|囤|领|配)|再(?:去)?买一|"
    r"\bya no (?:tienen|venden|hay|queda|quedan|traen|les queda)\b|\bgib(?:t|ts|t es|t's) .{0,40}\b(?:apotheke|laden|supermarkt|markt|drogerie|handel|geschäft|packung\w*)\b.{0,20}\bnicht mehr\b|\b(?:haben|führen|verkaufen) (?:sie|die) .{0,40}\bnicht mehr\b|\blieferengpass\b|"
    r"\b(?:früh|früher|eher|vorzeitig|zeitig|mittendrin)(?= (?:\w+ )?(?:beendet|abgebrochen|aufgehört|schluss|zugemacht|geschlossen|abgehauen|gegangen))|\b(?:antes de tiempo|a medias)\b|"
    r"\b(?:cort|dej|acab|termin|cerr)\w+ .{0,25}\b(?:pronto|temprano)\b|"
    r"\b(?:steht|stehen|bleibt|ruht|schläft) .{0,20}(?:im|über den) winter\b|"
    r"\b(?:vorrätig|lieferbar|ausverkauft|vergriffen|auf lager)\b|\b(?:no quedaban?|no había|no tenían|agotad\w+|sin existencias)\b|"
    r"\bschlecht geworden\b|\bverdorben\b|\bverschimmelt\b|\branzig\b|\bsauer geworden\b|\baufgegessen\b|\bausgetrunken\b|\bpus(?:o|ieron) mal[oa]s?\b|\bcon moho\b|\bpodrid[oa]s?\b|\branci[oa]s?\b|"
    r"\b(?:went|gone) (?:bad|off|mouldy|moldy|stale)\b|\bpast (?:its|their) date\b"
)
_HOURS = lazy(r"\bhat .{0,20}\b(?:geschlossen|zu)\b|\b(?:macht|schließt|cierra|cierran|abre)\b")  # when it opens
_FINISHED = lazy(r"\b(?:finished|completed|got to the end of|made it through|got through|polished off)\b")
_GOING_ON = lazy(
    r"\b(?:reading|re-?reading|watching|re-?watching|bing(?:e)?ing|playing|listening to|working through|halfway through|in the middle of)\b"
)


class Signs(Departures, Farewells, Heirs, Leavings, Losses):
    """Reads whether a clause says that something ends."""

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
