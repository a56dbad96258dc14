"""Who has gone for good, and what came back: told in English by what follows."""

from __future__ import annotations

from collections.abc import Iterator

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.mentions import NAME
from proxy.memory.learn.extract_builtin.reading import Clause, Sentence
from proxy.memory.learn.extract_builtin.scan import Ending
from proxy.memory.learn.extract_builtin.switches import OPENERS, Switches
from proxy.text.words import words

_HAS_GONE = lazy(
    r"(?:'s|'ve| has| have| is| are)? ?(?:now |just |finally |all |both )*(?:moved|moving|relocated|relocating|emigrated|emigrating|flown|headed|heading|gone|off|left|transferred|shipped off|decamped|retired|going)"
    r"(?: off| away| over| out| down| up| back| on)?(?: to| for| into| abroad| home|$)"
)
_STAYS = lazy(
    r"\b(?:so (?:it's|we're|i'm|that|now|there|he|she|they|i|we)|just (?:the|us|me|\w+ and)|that leaves|leaving (?:just|only|us|me)|leaves (?:just|only|us|me)|only .{1,20} left|no longer|one (?:fewer|less|down)|replacement|fill (?:his|her|their) (?:shoes|place|spot))\b"
)
_HOLDS_AGAIN = lazy(
    r"\b(?:it|he|she|they|i|we)(?:'s|'re|'m|'ve| is| are| was| works?| runs?| came| am| have| has)\b.{0,40}\b(?:again|fine|good as new|right as rain|alive|working|cleaning away|back (?:home|to normal|up and running))\b(?! (?:with|at|in|on|to)\b)"
    r"|\bcrawled back\b|\b(?:came|went|got) back to it\b|\bback at it\b|\b(?:fixed|repaired|revived|mended|resurrected) (?:it|him|her|them)\b"
)


class Departures(Switches):
    """Reads who has gone, and what was gone and is back."""

    def _departed(self, sentence: Sentence) -> Iterator[Ending]:
        """Find who has gone for good ("Ingrid's moved to Norway, so it's just us now")."""
        if self._lexicon.code != "en" or sentence.asks or not _STAYS.search(sentence.flat):
            return
        for clause in sentence.clauses:
            for mention in self._within(clause, sentence):
                opens = not [w for w in words(clause.flat[: mention.start - clause.start]) if w.text not in OPENERS]
                is_gone = _HAS_GONE.match(clause.flat, mention.end - clause.start) is not None
                if mention.rank >= NAME and opens and is_gone and not self._is_hedged(sentence, clause):
                    yield Ending(mention.surface, "beside", sentence, mention)

    def _holds_again(self, sentence: Sentence, clause: Clause) -> bool:
        """Whether a later clause of the sentence tells that it did not last ("it died, but it's running again")."""
        later = [other for other in sentence.clauses if other.start > clause.start]
        return self._lexicon.code == "en" and any(_HOLDS_AGAIN.search(other.flat) for other in later)
