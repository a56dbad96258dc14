"""Query: the user's last turn, widened by what it refers back to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from proxy.memory.recall.framing import is_across, is_of_replies
from proxy.text.lexical import content, tokens

_SENTENCE = re.compile(r"[^.!?。！？؟…\n]+[.!?。！？؟…]*")
_ASKING = re.compile(
    r"\A(?:.*[?？؟]$|(?:and |but |so |now )?(?:what|who|whom|whose|when|where|which|why|how|did|do|does|is|are|was|"
    r"were|can|could|will|would|should|have|has|tell me|remind me|wer|wo|wann|warum|wie|welche\w*|qué|quién|cuándo|"
    r"dónde|cómo|cuál|qui|quand|où|pourquoi|comment|quel\w*|что|кто|когда|где|почему|как\w*)\b)",
    re.IGNORECASE | re.DOTALL,
)
_FIRST_PERSON = re.compile(
    r"\b(?:i|i['’]\w+|my|mine|me|we|our|us|ich|mich|mir|mein\w*|wir|uns|unser\w*|yo|m[ií]s?|conmigo|mío|mía|nosotr\w+|je|j['’]\w+|"
    r"moi|mon|ma|mes|nous|io|mio|mia|noi|eu|mim|meu|minha|ik|mijn|я|мне|меня|мы|нас|мо\w|нам)\b|[我俺私僕]|저|나는|내",
    re.IGNORECASE,
)
_TOLD = 4  # telling words
_SHORT = 5  # fewer telling words than this: the turn leans on the one before
_MAX_CHARACTERS = 2000
_POINTING_WORDS = (
    "it that this they them he she him her his their its those these there then one ones again more else other "
    "es das dies er sie ihn ihm dort dann nochmal eso esto ello lo la los las ahí entonces otra "
    "это этот эта он она они его её их там тогда ещё"
)
_POINTERS = frozenset(_POINTING_WORDS.split())


@dataclass(frozen=True, slots=True)
class Query:
    """A search in an owner's memory.

    Args:
        text: What the user wants to know.
        context: What the text refers back to; counts less.
        vector: Embedding of ``dense_text``; None while the embedder is slow or broken.
        now: Time of the request.
        as_of: If given, what was true then is sought.
        session: The conversation in progress.
        exclude_texts: Texts that stand in the request already; not quoted back.
        patience_s: How long what the user said waits for passages that are still being read.
    """

    text: str
    context: str
    vector: NDArray[np.float32] | None
    now: datetime
    as_of: datetime | None = None
    session: str = ""
    exclude_texts: Sequence[str] = ()
    patience_s: float = 0.2

    @property
    def dense_text(self) -> str:
        """The text whose embedding is the query's vector."""
        return f"{self.context}\n{self.text}" if self.context else self.text

    @property
    def says(self) -> bool:
        """Whether the user tells something rather than only asking: that carries on with what was going on lately."""
        return _says(self.text)

    @property
    def is_across(self) -> bool:
        """Whether something is asked that was spoken of in several conversations."""
        return is_across(self.text) and not self.says

    @property
    def is_of_replies(self) -> bool:
        """Whether something is asked that the assistant once answered."""
        return is_of_replies(self.text)


@lru_cache(maxsize=8)  # asked several times in one search
def _says(text: str) -> bool:
    told = " ".join(part for part in map(str.strip, _SENTENCE.findall(text)) if not _ASKING.match(part))
    return is_of_oneself(told) and len(content(told)) >= _TOLD


def widen(user_turns: Sequence[str], *, reply: str = "") -> tuple[str, str]:
    """Return the text to look for and the context it leans on.

    Args:
        user_turns: What the user said in this conversation, oldest first.
        reply: The assistant's last answer, used where the user said only one thing before.
    """
    if not user_turns:
        return "", ""
    text = _shortened(user_turns[-1])
    if not leans_back(text):
        return text, ""
    before = next((turn for turn in reversed(user_turns[:-1]) if content(turn)), "")
    return text, _shortened(before or reply)


def leans_back(text: str) -> bool:
    """Whether a turn cannot be understood without the one before it."""
    telling = content(text)
    return len(telling) < _SHORT and (len(telling) < 2 or not _POINTERS.isdisjoint(tokens_of(text)))


def is_of_oneself(text: str) -> bool:
    """Whether the speaker speaks of themselves."""
    return _FIRST_PERSON.search(text) is not None


def tokens_of(text: str) -> set[str]:
    """Return the words of ``text`` as written, in lower case, beside their stems."""
    return {*text.casefold().replace("?", " ").replace(",", " ").split(), *tokens(text)}


def _shortened(text: str) -> str:
    """Return the start and the end of a long text: the question stands at either."""
    if len(text) <= _MAX_CHARACTERS:
        return text
    half = _MAX_CHARACTERS // 2
    return f"{text[:half]}\n{text[-half:]}"
