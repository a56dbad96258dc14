"""Finds in English what stands no longer where something new does: "there is a Y where the X used to be"."""

from __future__ import annotations

from collections.abc import Iterator

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.mentions import NAME, NOUN, Mention
from proxy.memory.learn.extract_builtin.reading import Sentence
from proxy.memory.learn.extract_builtin.replacement import names_in
from proxy.memory.learn.extract_builtin.scan import Ending
from proxy.memory.learn.extract_builtin.switches import Switches
from proxy.text.words import Word, words

_DET = r"(?:(?:the|my|our|your|his|her|their|that|those|old|trusty|poor|good) ){0,3}"
_WHERE_IT_WAS = lazy(rf"\bwhere {_DET}$")
_STOOD = lazy(
    r"^(?: (?:\w+ )?used to\b| (?:once |always |previously |formerly )?(?:was|were|had been|stood|hung|sat|lived|went|lay|grew|came)\b)"
)
_DOES_ITS_WORK = lazy(
    rf"\b(?:do|does|did|doing|done|handles?|handling|covers?|covering) (?:all |just )?(?:what|everything|the (?:job|work|duties)(?: of)?|the same (?:job )?as) {_DET}$"
)
_ITS_PLACE = lazy(
    rf"\b(?:(?:taken?|took|takes|taking|filled|fills) (?:up )?(?:over )?the (?:place|role|job|part|spot|position|work|duties) of|(?:in|into) (?:the )?(?:place|stead) of|"
    rf"(?:replac|supplant|displac|supersed|oust)(?:ed|es|ing)|(?:succeed|follow)(?:ed|s) on from|took over from|taken over from) {_DET}$"
)
_LOST_PLACE = lazy(
    r"^ (?:has |have |had |'s )?(?:lost|yielded|ceded|gave up|given up|surrendered) (?:its|his|her|their) (?:\w+ )?(?:place|spot|job|role|crown|slot|seat|corner|throne|title)\b.{0,30}? to (?:the |a |an |our |my )?(?P<new>[\w'-]+(?: (?!in\b|on\b|at\b|from\b|and\b|so\b|which\b|last\b|this\b)[\w'-]+){0,2})"
)
_SOMEBODY = r"^(?:\W|and |so |but |now |well )*(?:some(?:one|body)(?: [\w'-]+){0,3}?|(?:a|an|another|some)(?: [\w'-]+){1,6}?)(?: (?:has|have|had))?(?: (?:now|just|kindly|gladly|since|already|recently))?"
_TOOK_IT = lazy(
    rf"{_SOMEBODY} (?:taken|took|bought|snapped up|collected|picked up|adopted|inherited|drove (?:away|off) (?:with|in)|went off with|walked off with|rode off on|taken (?:over|on|in)|took (?:over|on|in)) {_DET}(?:\w+ )?$"
)
_HAS_IT_NOW = lazy(
    rf"{_SOMEBODY} (?:has|have|got|leads?|runs?|owns?|drives?|plays?|rides?|wears?|walks?|keeps?|does|do|teaches|coaches|manages|looks after|lives in|sleeps in|works) {_DET}(?:\w+ )?$"
)
_BY_NOW = lazy(
    r"^(?!.*\b(?:with|alongside|beside|for) (?:me|us)\b).*\b(?:now|these days|nowadays|since|as of|instead|already|from now on)\b"
)
_FOR_A_WHILE = lazy(r"^ (?:\w+ )?(?:to|for|back|home|out|around|round|at) ")
_DID = lazy(r"(?:'s job)?(?: (?:did|used to|was|were|had)\b| *$| *[,.;!])")
_WHEN = lazy(r"(?:january|february|march|april|may|june|july|august|september|october|november|december|\w+day)")
_HAS_GONE = lazy(
    r"^(?:'s|'ve| has| have| is| are| was| had)? ?(?:now |just |finally |sadly |all )*(?:gone|left|retired|moved|resigned|quit|closed|shut|died|passed|packed|packing|stepped|went|emigrated|returned|departed|leaving|off (?:to|on|sick)|on (?:maternity|leave)|no longer|stopped|broke|put up|raised|hiked|got|changed|let|lost|became|has become|broken|given up|sold up|folded)\b"
)
_NOW_THAT = lazy(
    r"\b(?:now that|since|ever since|after|because|seeing as|given that|once|as) (?:the |my |our |poor |old |dear )*$"
)
_IS_SO = lazy(
    r"(?:\b(?:is|are|has|have|does|takes|took|taught|teaches|runs|cuts|does|looks|sees|comes|drives|cleans|walks|minds|plays|leads)\b|'(?:s|re|ve)\b)"
)
_UNSURE = lazy(
    r"\b(?:if|might|maybe|perhaps|could|would|should|until|for now|temporarily|for the time being|meanwhile|in the meantime|today|tonight|tomorrow|wonder|hope|never|not|n't)\b"
)
_LONG = 30  # words of a sentence


class Displaced(Switches):
    """Reads what gave up its place, its work or its post to something new."""

    def _displaced(self, sentence: Sentence) -> Iterator[Ending]:
        if self._lexicon.code != "en" or sentence.asks or len(sentence.words) > _LONG:
            return
        if self._lexicon.additive.search(sentence.flat) or _UNSURE.search(sentence.flat):
            return
        yield from self._handed_on(sentence)
        for mention in self._mentions[sentence.start]:
            clause = self._clause_at(sentence, mention)
            if mention.rank < NOUN or clause.asks or not self._is_personal(mention):
                continue
            new = self._in_its_place(sentence, mention)
            if new:
                yield Ending(mention.surface, "beside", sentence, mention, new=new)

    def _in_its_place(self, sentence: Sentence, mention: Mention) -> str:
        """Return what a sentence tells to be where a value was, or to do what it did."""
        before = sentence.flat[: mention.start - sentence.start]
        after = sentence.flat[mention.end - sentence.start :]
        lost = _LOST_PLACE.match(after)
        if lost is not None:
            return sentence.text[mention.end - sentence.start :][slice(*lost.span("new"))]
        place = self._gave_place(before, after)
        if place is not None:
            return self._thing_before(sentence, place)
        since = _NOW_THAT.search(before) if mention.rank >= NAME and _HAS_GONE.match(after) else None
        if since is None:
            return ""
        opening = sentence.text[: mention.start - sentence.start]
        lead = ". " if sentence.words[0].text in self._lexicon.stop else "a "
        fresh = [name for name in names_in(lead + opening) if not self._heard.holds(name)]
        if fresh and _IS_SO.search(before):
            return fresh[-1]
        goes_on = self._goes_on(mention, opening.lower()) and self._lexicon.first.search(before)
        return self._thing_before(sentence, since.start()) if goes_on else ""

    def _handed_on(self, sentence: Sentence) -> Iterator[Ending]:
        """Find what somebody who is not named took, or has by now ("a museum has taken the X")."""
        for mention in self._mentions[sentence.start]:
            clause = self._clause_at(sentence, mention)
            if (
                mention.rank < NOUN
                or clause.asks
                or not self._is_personal(mention)
                or self._is_hedged(sentence, clause)
            ):
                continue
            after = clause.flat[mention.end - clause.start :]
            for word in words(mention.surface):  # "leads the X" may have been said as a whole
                start = mention.start + word.start
                before = clause.flat[: start - clause.start]
                took = _TOOK_IT.match(before) is not None and _FOR_A_WHILE.match(after) is None
                if took or (_HAS_IT_NOW.match(before) and _BY_NOW.search(after)):
                    yield Ending(self._reading.text[start : mention.end], "retract", sentence, mention)
                    break

    def _gave_place(self, before: str, after: str) -> int | None:
        """Return where it starts to be said that something else stands, or works, where a value did."""
        where = _WHERE_IT_WAS.search(before)
        if where is not None:
            return where.start() if _STOOD.match(after) else None
        works = _DOES_ITS_WORK.search(before)
        if works is not None:
            return works.start() if _DID.match(after) else None
        place = _ITS_PLACE.search(before)
        return place.start() if place else None

    def _thing_before(self, sentence: Sentence, end: int) -> str:
        """Return what a sentence names last before a place, and nobody named before."""
        idle = self._lexicon.stop | self._lexicon.generic
        before = [word for word in sentence.words if word.end - sentence.start <= end]
        while before and (before[-1].text in self._lexicon.stop or before[-1].text.endswith("ly")):
            before.pop()
        run: list[Word] = []
        for word in reversed(before):
            apart = run and not sentence.text[word.end - sentence.start : run[0].start - sentence.start].isspace()
            if apart or word.text in idle or _WHEN.fullmatch(word.text):
                break
            run.insert(0, word)
        new = sentence.text[run[0].start - sentence.start : run[-1].end - sentence.start] if run else ""
        return "" if self._heard.holds(new) else new
