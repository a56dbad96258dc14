"""Finds what likely ends, whatever the words, and says of any ending whether it is told as people tell one."""

from __future__ import annotations

from collections.abc import Iterator

from proxy.memory.learn.extract_builtin.contrasts import Contrasts
from proxy.memory.learn.extract_builtin.forgetting import Forgetting
from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.mentions import NAME, NOUN, VALUE, Mention
from proxy.memory.learn.extract_builtin.reading import is_brief, is_talk, longest_brief
from proxy.memory.learn.extract_builtin.scan import Ending
from proxy.memory.learn.extract_builtin.verdicts import Verdict, Verdicts
from proxy.text.words import words

_COLON = lazy(r"[:;]\s")
_PHRASE = lazy(  # says nothing of what it names
    r"\b(?:kein\w*|no|sin|без) (?:stress|estrés|stres\w*|problem\w*|ding|thema|ahnung|sorgen?|eile|wunder|frage|zweifel|worries|rush|hurry|prisa|duda|проблем\w*|стресса)$"
)


class Likely(Contrasts, Forgetting):
    """The endings of one message that the weights know."""

    def likely(self, verdicts: Verdicts, *, is_alone: bool) -> Iterator[Ending]:
        """Yield what most likely ends of what was told, whatever the words.

        Args:
            verdicts: The message, weighed.
            is_alone: No rule found an ending, so that what is not named may be meant.
        """
        surfaces = [
            mention.surface
            for sentence in self._reading.sentences
            for mention in self._mentions[sentence.start]
            if mention.rank >= NOUN and self._lexicon.code == "zh"
        ]
        for verdict in verdicts.likely(surfaces):
            ending = self._ending_of(verdict, verdicts.successor(verdict.value))
            is_meant = is_alone or verdict.places
            if is_meant and ending is not None and self._is_told_plainly(ending) and not self._is_undone_later(verdict):
                yield ending

    def _is_undone_later(self, verdict: Verdict) -> bool:
        """Whether what is told after a value that the message names undoes what happened to it."""
        for start, _ in verdict.places[:1]:
            sentence = next((one for one in self._reading.sentences if one.start <= start < one.end), None)
            clause = next((one for one in sentence.clauses if one.start <= start < one.end), None) if sentence else None
            if sentence is not None and clause is not None:
                return self._came_back(sentence, clause)
        return False

    def _ending_of(self, verdict: Verdict, new: str) -> Ending | None:
        """Return a verdict as an ending; its sentence is the one that tells what comes in its place."""
        start, end = next(iter(verdict.places), (-1, -1))
        found = self._reading.sentences
        tells = next((one for one in found if one.clauses and new and new in one.text), None)
        named = next((one for one in found if one.start <= start < one.end), None)
        sentence = tells or named or next((one for one in found if one.clauses and not one.asks), None)
        if sentence is None:
            return None
        is_forgotten = any(
            self._asks_to_forget(one) or self._lexicon.forget.search(one.flat) for one in (named, sentence) if one
        )
        surface = self._reading.text[start:end] if verdict.places else verdict.value
        mention = Mention(max(start, 0), max(end, 0), surface, VALUE, (verdict.text,))
        if is_forgotten:
            return Ending(verdict.value, "forget", named or sentence, mention)
        return Ending(verdict.value, "succeeded" if new else "retract", sentence, mention, new=new)

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
