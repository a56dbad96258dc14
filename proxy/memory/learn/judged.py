"""Work of the judge of endings on both sides of its call: the statements it is shown, and the endings it finds."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from proxy.errors import ProxyError
from proxy.memory.index.cache import IndexCache
from proxy.memory.learn.endings import Ending, is_void, subject_of
from proxy.memory.learn.gather import ByWords
from proxy.memory.learn.statements import Sentence
from proxy.memory.model.judge import MAX_OLDER
from proxy.memory.plan.changes import is_ending
from proxy.memory.vectors.embed import Embedder
from proxy.text.languages import languages_in
from proxy.text.lexical import weights
from proxy.text.segment import clauses
from proxy.text.terms import holds, shared, terms_in
from proxy.text.words import words
from proxy.types import Memory, Scope, Turn

MIN_NEAR = 0.35  # cosine and share of the best lexical score, added; below it nothing is near


async def neighbours(
    index: IndexCache, embedder: Embedder, scope: Scope, message: str, turns: Sequence[Turn]
) -> list[Memory]:
    """Return the older statements nearest to a message by words and vectors, and those that its turns closed."""
    vector = None
    with suppress(ProxyError):
        vector = (await embedder.embed([message], purpose="query"))[0]
    shelf = await index.facts(scope, ByWords(message))
    sources, messages = {f"turn:{turn.id}" for turn in turns}, {said.id for turn in turns for said in turn.messages}
    with shelf.lock:
        mask = shelf.seen_by(scope) & ~shelf.sums_up
        rows = [shelf.items[int(line)] for line in np.flatnonzero(mask)]
        batches = {row.id for row in rows if is_ending(row) and row.source in sources}
        lexical, dense = shelf.lexical(weights(message), mask), shelf.dense(vector, mask)
        near = np.nan_to_num(dense, nan=0.0) + lexical / max(float(lexical.max(initial=0.0)), 1e-9)
        order = [int(line) for line in np.argsort(-near, kind="stable") if mask[line] and near[line] >= MIN_NEAR]
        ranked = [shelf.items[line] for line in order]
    closed = [row for row in rows if row.batch in batches and row.status == "closed"]
    active = [row for row in ranked if row.status == "active" and not is_ending(row) and row.message not in messages]
    return list({row.id: row for row in (*closed, *active)}.values())[:MAX_OLDER]


def judged_ending(text: str, words_named: Sequence[str], found: Sequence[Sentence]) -> Ending | None:
    """Return the ending of a statement that a judge found; None where the message speaks so that nothing ends.

    Args:
        text: The older statement.
        words_named: Words that the judge copied from it.
        found: Sentences of the message.
    """
    named = [terms_in(f"- {word}") for word in words_named]
    terms = tuple(term for one in named if all(holds(text, term) for term in one) for term in one)
    terms = terms or tuple(terms_in(f"- {text}"))[:1]
    spans = [(one, *span) for one in found for span in clauses(one.text)]
    if not terms or not spans:
        return None
    sure = [span for span in spans if holds(span[0].text[span[1] : span[2]], terms[0])]
    one, start, end = max(sure or spans, key=lambda span: shared(span[0].text[span[1] : span[2]], text))
    part, low = one.text[start:end], one.low[start:end]
    is_request = any(tongue.has("erase", low) or any(tongue.find("forget", low)) for tongue in languages_in(low))
    if sure and not is_request and is_void(one, part, low):
        return None
    at = next((word.start for word in words(low) if word.text in terms[0].forms), len(low))
    subject = next(iter([subject_of(tongue, part, low, at) for tongue in languages_in(low)]), ()) if sure else ()
    return Ending("end", one, part, terms, subject)
