"""Finds values that English speakers exchange without naming a source: "X out, Y in", "Y has taken X's place"."""

from __future__ import annotations

from collections.abc import Iterator

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.mentions import NAME, NOUN, Mention
from proxy.memory.learn.extract_builtin.namesakes import is_being
from proxy.memory.learn.extract_builtin.reading import Clause, Sentence, is_brief
from proxy.memory.learn.extract_builtin.replacement import clipped, names_in
from proxy.memory.learn.extract_builtin.scan import Ending, Reason
from proxy.memory.learn.extract_builtin.switches import NOW_ON, Switches
from proxy.text.words import flat, words

_PLACE = r"(?:places?|spot|role|slot|shifts?|seat|shoes|position|post|job|duties|round|desk|chair|part|mantle|throne|reins|work|boots|room|bed|stall|stead|list|patients|clients|pupils|caseload|round|customers|practice|surgery|class|classes)"
_PLACE_TAKEN = lazy(
    rf"['’]s? (?:old |former |usual )?{_PLACE}\b.{{0,40}}\b(?:taken|filled|given|gone|went|passed|covered|inherited|fallen|falls|handed|occupied|assumed|goes|offered)\b"
)
_TAKES_PLACE = lazy(
    r"\b(?:tak(?:e|es|en|ing)|took|fill(?:s|ed|ing)?|step(?:s|ped|ping)? in(?:to)?|stepping into|inherit(?:s|ed)?|assum(?:es|ed)|occup(?:ies|ied)|got|has|have|been given|offered) (?:over )?(?:from )?(?:the )?(?:place|spot|role|slot|seat|shoes|job|post|position)? ?(?:of )?(?:\w+ )?$"
)
_PLACE_AFTER = lazy(rf"['’]s? (?:old |former |usual )?{_PLACE}\b")
_STEAD_AFTER = lazy(r"['’]s? (?:place|stead|shoes|role|position)\b")
_IN_BEFORE = lazy(r"\b(?:in|into) (?:the |our |my |poor |old )?$")
_TAKEN_FROM = lazy(
    r"\b(?:tak(?:en|es|ing)|took|picked up|carried on|handed on) (?:over |the reins |the baton )?(?:\w+ ){0,2}from (?:the |old |poor |my |our )?$"
)
_OUT = lazy(
    r"^(?:'s| is| are| was)? ?(?:out|off|gone|finished|history|done|binned|dropped|over|ended|retired|adieu|farewell|cancelled)\b[\s,;.!]*$"
)
_OUT_BEFORE = lazy(
    r"^\W*(?:so |and |well |right |ok )*(?:out (?:with|goes|go|went)|off|exit|away with|farewell|bye|adieu|no more|enough of|down with|it's out with|i'm off|we're off|i am off|we are off)(?: the| my| our| good old| old)* $"
)
_IN = lazy(
    r"(?:'s| is| are)? ?\bin\b[\s.!]*$|^\W*(?:and |so |it's |i'm |we're |then )*(?:in (?:with|comes?|came|goes)|on(?:to)?|hello|hi|welcome|enter|here comes|long live|over to|hail)\b"
)
_CAME_IN = lazy(r"^\W*in (?:came|comes|went|goes)\b")
_MOVES_OVER = lazy(  # "we've gone over to hemp"
    r"\b(?:(?:gone|went|going|moved|moving|switched|switching|changed|crossed|come|came|converted|defected|turned|jumped|swung|hopped|drifted|shifted|migrated|ported|transferred|flipped|jumping|been (?:moved|switched|transferred|converted))"
    r"(?: (?:my|our|the|every|all|all my|all our) (?:\w+ )?\w+| everything| it| all)?(?: (?:over|across|instead|on|back))* (?:to|onto|into)|(?:settled on|settled for|plumped for|opted for|went for|gone for|gone with|went with|landed on|fallen back on|turned to|found refuge (?:in|at|with)|fallen for|make do with|making do with)"
    r"|(?:it's|it is) (?=\w+(?: \w+)? (?:now|from now on|these days|instead)))\s+(?P<new>\w[\w'-]*(?: [\w'-]+){0,2})"
)
_AWAY = lazy(r"\b(?:out of|off|away from|from|goodbye to|hello) (?:the |my |our |old )*$")
_INTO = lazy(
    r"^,? ?(?:and )?(?:straight |over |on |right |then |back )?(?:into|onto|on to|over to|hello|on) (?!bed\b|work\b|the (?:shop|doctor|floor|bus|train|road|side))(?P<new>\w[\w'-]*)"
)
_WITH_GONE = lazy(r"^\W*(?:and |so |but )?with (?:the |our |my |old |poor |dear )*$")
_GONE = lazy(
    r"^ (?:now |being |having |finally )?(?:off|gone|away|out|retired|retiring|leaving|left|ill|sick|departed|emigrated|pregnant|moved|closed|closing|shut|bust|on (?:maternity|leave|his|her))\b"
)
_WHY = lazy(
    r"^\W*(?:and |but |so |well )?(?:since|because|as|after|when|once|now that|seeing as|given that|with|ever since|what with|thanks to|due to|owing to|on account of)\b"
)
_NOT_THERE = lazy(
    r"^(?:bed|sleep|work|school|court|church|town|hospital|war|print|see|the (?:doctor|doctors|vet|shops?|park|gym|toilet|cinema|beach|pub|hospital|police|press)|my|our|her|his|their|you|a|an)\b"
)
_CALLED = lazy(r"an? (?:[\w'-]+ ){1,3}(?:called|named|by the name of)\b")
_SO = lazy(r" ?,? ?(?:and )?(?:so|hence|therefore|thus)\b")
_WAS = lazy(r"\b(?:it|that|mine|ours) was $")
_OFFERED = lazy(
    r"\b(?:until|till|for now|for the time being|temporarily|meanwhile|this week|today|tonight|next|might|may|maybe|perhaps|if|could|would|should|tempted|thinking|considering|never|not|n't)\b"
)
_SOUR_AFTER = lazy(
    r"^ (?:app |thing |lot |people |place )?(?:was|were|wasn't|is so (?:last|yesterday|over)|isn't|doesn't|didn't|don't|won't|wouldn't|couldn't|can't|hasn't|kept|keeps|has (?:gone|become|put|shut|closed|lost|left|raised|let|moved|retired)|had (?:gone|become|got)|got|gets|went|put|let|lost|broke|raised|"
    r"retired|closed|moved|left|folded|failed|died|ran|hiked|leaked|leaks|crashed|crashes|snapped|packed up|wore out|stank|stinks|smells|hurts?|made|makes|gave|gives|is (?:gone|too|closing|shutting|leaving|useless|hopeless|rubbish|awful|no more)|are (?:gone|too|closing|useless|hopeless)|'s (?:retired|gone|moved|closed|left|shut|died|too|got))\b|\b(?:nightmare|murder|hopeless|useless|rubbish|awful|dreadful|no good|no fun|past it|too (?:far|dear|expensive|pricey|slow|loud|big|small|strong|crowded))\b"
)
_SOUR_BEFORE = lazy(
    r"\b(?:hates?|hated|loathes?|can't stand|couldn't stand|fed up (?:with|of)|sick of|tired of|had it with|bored (?:with|of)|no luck with|trouble with|allergic to|had enough of|disappointed (?:with|by|in)|let down by|it was|was|mad at|angry (?:with|at)|furious (?:with|at)|annoyed (?:with|at|by)|cross with|(?:told|asked|advised|ordered|begged)(?: (?:me|us|her|him|them))? to (?:stop|quit|avoid|leave|drop|ditch|cut|give up|lay off|skip)(?: out| down on| having| taking| using| eating| drinking)?|forbade|forbidden|banned|failed by|lost faith in|fell out with|rows? with)(?: the| my| our)? $"
)
_PRESENT = lazy(
    r"\b(?:is|are|am|do|does|has|have|gets?|goes|runs?|handles?|takes?|keeps?|looks?|comes?|makes?|cuts?|teaches|\w+s)\b|'(?:s|re|m|ve)\b"
)
_IT_IS_NOW = lazy(
    r"\b(?:it's|it is|i'm on|we're on|i'm with|we're with|i'm into|i do|we do|i use|we use|i have|we have|i take|i drink|i eat)\s+(?:(?:a|an|the|all|just)\s)?(?P<new>(?!been\b|not\b|so\b|too\b|all\b|just\b|my\b|our\b|very\b|really\b)[\w'-]+(?: [\w'-]+)?)(?: for (?:me|us))?,? (?:now|from (?:now|here|today) on|these days|nowadays|instead)\b"
)
_TAKES_ITS_PLACE = lazy(
    r"\b(?:tak(?:en|es|ing)|took|fill(?:s|ed)) (?:over )?(?:its|his|her|their|that) (?:place|spot|role|slot|shoes)\b|\b(?:in|to) (?:its|his|her|their) (?:place|stead)\b|\btook over\b|\binstead\b"
)
_OPENING_NAME = lazy(
    r"\. (?:An? |The )?([A-Z][\w'-]*[a-z0-9][\w'-]*)(?= (?:[A-Z]|is\b|are\b|has\b|does\b|gets\b|took\b|now\b|\w+s\b))"
)
_DOES = lazy(r"\b(?:i|we)(?:'m|'re|'ve| am| are| have)? (?:\w+ ){0,2}?\w+|\b(?:it's|it is)\b")
_TELLING = 4  # letters
_LONG = 30  # words of a sentence; a switch is told in fewer


class Exchanges(Switches):
    """Reads exchanges in which the old value gives its place to a new one."""

    def _exchanged(self, sentence: Sentence) -> Iterator[Ending]:
        if self._lexicon.code != "en" or sentence.asks or len(sentence.words) > _LONG:
            return
        if self._lexicon.additive.search(sentence.flat):
            return
        yield from self._outweighed(sentence)
        for mention in self._mentions[sentence.start]:
            clause = self._clause_at(sentence, mention)
            if mention.rank < NOUN or clause.asks or self._is_hedged(sentence, clause):
                continue
            if (
                self._gives_place(sentence, mention)
                or self._goes_out(sentence, clause, mention)
                or self._moved_over(sentence, mention)
                or self._turned_from(sentence, mention)
            ) and self._is_personal(mention):
                reason: Reason = "beside" if self._comes_in_instead(sentence, clause) else "replace"
                yield Ending(mention.surface, reason, sentence, mention)

    def _comes_in_instead(self, sentence: Sentence, clause: Clause) -> bool:
        """Whether the clause that tells what comes in stands by itself ("out went the X and in came the Y")."""
        return any(_CAME_IN.match(other.flat) for other in sentence.clauses if other is not clause)

    def _gives_place(self, sentence: Sentence, mention: Mention) -> bool:
        """Whether somebody takes the place of the one mentioned ("Y stepped into X's shoes")."""
        before, after = sentence.flat[: mention.start - sentence.start], sentence.flat[mention.end - sentence.start :]
        if mention.rank < NAME or not self._names_new(sentence, mention) or _OFFERED.search(sentence.flat):
            return False
        if _PLACE_TAKEN.match(after) or _TAKEN_FROM.search(before):
            return True
        if _STEAD_AFTER.match(after) and _IN_BEFORE.search(before):
            return True
        return _PLACE_AFTER.match(after) is not None and _TAKES_PLACE.search(before) is not None

    def _goes_out(self, sentence: Sentence, clause: Clause, mention: Mention) -> bool:
        """Whether one comes in where the other goes out ("X out, Y in")."""
        before, after = clause.flat[: mention.start - clause.start], clause.flat[mention.end - clause.start :]
        is_out = (not words(before) and _OUT.match(after)) or (_OUT_BEFORE.match(before) and not words(after))
        if not is_out:
            return False
        place = sentence.clauses.index(clause)
        near = [c for c in sentence.clauses[max(0, place - 1) : place + 2] if c is not clause]
        return any(_IN.search(other.flat) and not other.asks for other in near)

    def _turned_from(self, sentence: Sentence, mention: Mention) -> bool:
        """Whether somebody was turned from one to the other ("talked me out of X and into Y"), or stands in for who has gone."""
        before, after = sentence.flat[: mention.start - sentence.start], sentence.flat[mention.end - sentence.start :]
        if _WITH_GONE.match(before) and _GONE.match(after):
            return mention.rank >= NAME and self._names_new(sentence, mention)
        into = _INTO.match(after)
        return into is not None and _AWAY.search(before) is not None and not self._heard.holds(into["new"])

    def _moved_over(self, sentence: Sentence, mention: Mention) -> bool:
        """Whether a sentence that opens with the only old value goes on to what was moved over to ("since X …, we've gone over to Y")."""
        moved = _MOVES_OVER.search(sentence.flat, mention.end - sentence.start)
        if moved is None or _OFFERED.search(sentence.flat) or self._lexicon.limited.search(sentence.flat):
            return False
        is_called = _CALLED.match(sentence.flat, moved.start("new")) is not None
        if _NOT_THERE.match(moved["new"]) and not is_called:
            return False
        before = sentence.flat[: mention.start - sentence.start]
        opens = _WHY.match(before) is not None or len(words(before)) <= 1 or _SOUR_BEFORE.search(before) is not None
        if not opens or any(is_being(text, mention.surface, self._lexicon) for text in mention.said):
            return False
        others = [m for m in self._mentions[sentence.start] if m.rank >= mention.rank and m is not mention]
        new = clipped(sentence.text[slice(*moved.span("new"))], self._lexicon, is_kind=True)
        return (is_called or (bool(new) and not self._heard.holds(new))) and not others

    def _outweighed(self, sentence: Sentence) -> Iterator[Ending]:
        """Find the one old value that is spoken ill of, or in the past, beside something new that has its part now."""
        named = [m for m in self._mentions[sentence.start] if m.rank >= NOUN and self._is_personal(m)]
        top = max((m.rank for m in named), default=0)
        named = [m for m in named if m.rank == top]
        if len(named) != 1 or not is_brief(self._reading):
            return
        old, clause = named[0], self._clause_at(sentence, named[0])
        if self._is_idle(sentence, old) or any(is_being(text, old.surface, self._lexicon) for text in old.said):
            return
        if self._third(sentence, clause, [old]) is None or not self._is_told_ill(clause, old):
            return
        was = _WAS.search(clause.flat[: old.start - clause.start]) is not None  # "it was X, it is Y"
        if was and self._names_in(". " + sentence.text) and len(clause.flat.split()) <= _TELLING:
            yield Ending(old.surface, "replace", sentence, old)
            return
        if any(self._takes_part(stretch, old) for stretch in self._beside(sentence, clause, old)):
            yield Ending(old.surface, "replace", sentence, old)

    def _beside(self, sentence: Sentence, clause: Clause, old: Mention) -> Iterator[str]:
        """Yield what is told beside a clause: the rest of its sentence, and the sentences around it."""
        rest = [c for c in sentence.clauses if c is not clause and not c.asks and not self._is_hedged(sentence, c)]
        if rest and not (_OFFERED.search(" ".join(c.flat for c in rest))):
            yield " , ".join(
                ("" if c.start > sentence.start else ". ") + self._reading.text[c.start : c.end] for c in rest
            )
        after = sentence.text[old.end - sentence.start :]
        if _SO.match(after.lower()):
            yield "." + after
        found = self._reading.sentences
        place = found.index(sentence)
        for near in found[max(0, place - 1) : place + 2]:
            is_told = near is not sentence and not near.asks and not self._lexicon.additive.search(near.flat)
            if is_told and not self._lexicon.hedge.search(near.flat) and not _OFFERED.search(near.flat):
                yield ". " + near.text

    def _is_told_ill(self, clause: Clause, old: Mention) -> bool:
        before, after = clause.flat[: old.start - clause.start], clause.flat[old.end - clause.start :]
        return (_SOUR_AFTER.search(after) or _SOUR_BEFORE.search(before)) is not None

    def _takes_part(self, text: str, old: Mention) -> bool:
        """Whether a stretch gives something never heard of what the old value had: now, instead, or in the words of before."""
        told = flat(text)
        if self._lexicon.past.search(told):
            return False
        is_shared = self._goes_on(old, told)
        is_now = NOW_ON.search(told) is not None and (is_shared or self._lexicon.first.search(told) is not None)
        if self._names_in(text):
            return (
                is_now
                or ((is_shared or self._is_so(told)) and _PRESENT.search(told) is not None)
                or _TAKES_ITS_PLACE.search(told) is not None
            )
        plain = _IT_IS_NOW.search(told)
        if plain is not None:
            return not self._heard.holds(plain["new"])
        idle = self._lexicon.stop | self._lexicon.generic
        fresh = [
            w for w in words(told) if len(w.text) >= _TELLING and w.text not in idle and not self._heard.holds(w.text)
        ]
        return is_now and is_shared and bool(fresh) and _DOES.search(told) is not None

    def _is_so(self, told: str) -> bool:
        """Whether a stretch follows from what stands before it, and is the speaker's."""
        return _SO.match(told.lstrip(" .")) is not None and self._lexicon.first.search(told) is not None

    def _names_in(self, text: str) -> list[str]:
        """Return the names of a stretch that nobody said before, the one it opens with too."""
        found = names_in(text)
        opening = _OPENING_NAME.match(text)
        if opening is not None and opening[1].lower() not in self._lexicon.stop | self._lexicon.generic:
            found.append(opening[1])
        return [name for name in found if not self._heard.holds(name)]

    def _names_new(self, sentence: Sentence, mention: Mention) -> bool:
        """Whether a sentence, or the one beside it, names somebody or something never heard of."""
        found = self._reading.sentences
        place = found.index(sentence)
        near = [sentence, *(one for one in found[max(0, place - 1) : place + 2] if one is not sentence)]
        names = [name for one in near for name in names_in(". " + one.text)]
        opening = sentence.words[0]
        if self._reading.text[opening.start].isupper() and opening.start != mention.start:
            names.append(self._reading.text[opening.start : opening.end])
        return any(not self._heard.holds(name) for name in names)
