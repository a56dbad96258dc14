"""Recall sources, and the search over all of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from proxy.memory.index.cache import IndexCache
from proxy.memory.index.index import FactShelf, TurnShelf
from proxy.memory.index.postings import Mask, Scores
from proxy.memory.recall import tuning
from proxy.memory.recall.chunk_source import ChunkSource
from proxy.memory.recall.found import NOTHING, Found, beside_loop, cut, in_time, terms_of
from proxy.memory.recall.gate import (
    OF_ONESELF,
    Evidence,
    Verdict,
    admit,
    asks_of_oneself,
    is_foreign,
    is_handful,
    weigh,
)
from proxy.memory.recall.hits import (
    Turns,
    carried_by,
    dated,
    ended_hits,
    fact_hit,
    is_overview,
    overview,
    turn_hit,
    with_links,
    without_carried,
)
from proxy.memory.recall.query import Query, is_of_oneself, is_of_questions
from proxy.memory.recall.rank import best, fuse, newest_first, priors
from proxy.memory.recall.turns import (
    called,
    likeness,
    preferred,
    spaced,
    supported,
    with_answers,
    with_reply,
    without_names,
    worth,
)
from proxy.text.lexical import content
from proxy.text.segment import is_question, sentences
from proxy.text.words import flat
from proxy.types import Hit, Scope, Source

_MAX_FACTS = 30  # memories in one request
_MAX_LEADS = 12
_BRIEF = 60  # characters of a turn that may be nothing but a question
_LAST_TOLD = 20  # latest texts whose language is compared
_SPARE = 10  # further turns, as some repeat others


@dataclass(frozen=True, slots=True)
class Recalled:
    """Result of a search.

    Args:
        hits: Ranked, best first, not yet cut to a budget; empty if nothing is relevant.
        considered: Hits that would come next, or that the gate rejected.
        admitted: True if the gate admitted anything.
        reason: The gate's reason, for the receipt.
        timings_ms: Duration of each step.
    """

    hits: list[Hit]
    considered: list[Hit]
    admitted: bool
    reason: str
    timings_ms: dict[str, float] = field(default_factory=dict)


class RecallSource(Protocol):
    """A searchable kind of memory."""

    gives: frozenset[Source]

    async def find(self, scope: Scope, query: Query, index: IndexCache, limit: int) -> Found:
        """Return the hits for ``query`` that ``scope`` may see."""
        ...


class FactSource:
    """Memories: facts, preferences, events, procedures, summaries and open tasks; at most ``most`` of them."""

    gives: frozenset[Source] = frozenset({"fact", "task", "summary"})

    def __init__(self, most: int = _MAX_FACTS) -> None:
        self._most = most

    async def find(self, scope: Scope, query: Query, index: IndexCache, limit: int) -> Found:
        """Return the valid and visible memories that match ``query``."""
        shelf = await index.facts(scope, query)
        if not shelf:
            return NOTHING
        return await beside_loop(shelf, self.search, shelf, scope, query, limit)

    def search(self, shelf: FactShelf, scope: Scope, query: Query, limit: int) -> Found:
        """Rank the memories on a shelf; those that are relevant on their own lead.

        A session's summary never leads and counts little: the turns that it sums up answer in fewer tokens.
        """
        mask = shelf.visible(scope, query.now, query.as_of)
        if is_overview(query.text):
            hits = with_links(shelf, overview(shelf, mask, query), mask)
            return Found(hits, Evidence(coverage=1.0), len(hits), is_apart=True, is_named=bool(hits))
        terms = terms_of(query)
        lexical, dense = shelf.lexical(terms, mask), shelf.dense(query.vector, mask)
        scores = fuse([(lexical, tuning.WORDS_WEIGHT), (dense, tuning.COSINE_WEIGHT)], mask)
        scores = _none_lost(scores, mask, query)
        scores = np.where(shelf.sums_up, np.float32(tuning.SUMMARY_FACTOR) * scores, scores)
        lines = best(scores * in_time(shelf, query), min(limit, self._most))
        chosen = _newest_of_similar(shelf, lines, scores[lines] * _priors(shelf, lines, query))
        chosen.sort(key=lambda pair: bool(shelf.sums_up[pair[0]]))
        hits = with_links(shelf, [fact_hit(shelf.items[line], score) for line, score in chosen], mask)
        share = lexical / max(float(lexical.max(initial=0)), 1e-9)
        own = sum(not shelf.items[line].message for line in np.flatnonzero(mask))  # others count as turns
        foreign = _is_foreign(shelf, mask & ~shelf.sums_up, query)
        evidence = replace(weigh(shelf, terms, mask, lexical, dense), brief=True, texts=own, is_foreign=foreign)
        said = [line for line, _ in chosen if not shelf.sums_up[line]]
        leads = sum(_fits(float(dense[line]), float(share[line]), evidence) for line in said)
        found = cut(Found(hits, evidence, min(leads, _MAX_LEADS, len(hits))), tuning.FACT_FLOOR)
        ended = ended_hits(shelf, scope, query, shelf.lexical(terms, shelf.ended(scope)), 1.0)
        return replace(found, hits=[*ended, *found.hits], leads=found.leads + len(ended)) if ended else found


class EpisodeSource:
    """Earlier turns, verbatim."""

    gives: frozenset[Source] = frozenset({"episode"})

    async def find(self, scope: Scope, query: Query, index: IndexCache, limit: int) -> Found:
        """Return the turns that match ``query`` and are not in the request."""
        shelf = await index.turns(scope, query)
        if not shelf:
            return NOTHING
        return await beside_loop(shelf, self.search, shelf, scope, query, limit)

    def search(self, shelf: TurnShelf, scope: Scope, query: Query, limit: int) -> Found:
        """Rank the turns on a shelf by themselves and by the window of three around them."""
        mask = shelf.seen_by(scope)
        mask[shelf.standing(query.exclude_texts)] = False
        speakers = called(shelf, query.text, mask)
        terms = without_names(terms_of(query), speakers)
        like = likeness(shelf, query, terms, mask)
        fused = supported(shelf, like.fused(shelf.lengths, mask, is_told=query.says))
        scores = fused * worth(shelf, query, speakers) * in_time(shelf, query)
        scores = preferred(shelf, scores, query)
        scores = _none_lost(scores, mask, query)
        scores = _statements_only(shelf, scores, mask, query)
        scores = with_reply(shelf, with_answers(shelf, scores), fused, query)
        lines = _each_text_once(shelf, best(scores, limit + _SPARE))[:limit]
        hits = [turn_hit(shelf, line, score) for line, score in spaced(shelf, lines, scores, query)]
        foreign = _is_foreign(shelf, mask & shelf.by_user, query)
        evidence = replace(weigh(shelf, terms, mask, like.words, like.cosines), is_foreign=foreign)
        if evidence.cosine is not None and not np.isnan(like.cosines_around).all():
            evidence = replace(evidence, cosine=(evidence.cosine + float(np.nanmax(like.cosines_around))) / 2)
        return cut(Found(hits, evidence), tuning.TURN_FLOOR)


SOURCES: tuple[RecallSource, ...] = (FactSource(), EpisodeSource(), ChunkSource())


async def recall(
    scope: Scope,
    query: Query,
    index: IndexCache,
    *,
    sources: Collection[Source] | None = None,
    limit: int = 60,
    among: Sequence[RecallSource] = SOURCES,
    withheld: Collection[str] = (),
) -> Recalled:
    """Search everything that ``scope`` may see.

    Args:
        scope: Scope whose memory is searched.
        query: The search.
        index: Search indexes of the users.
        sources: Only hits of these sources; all if None.
        limit: Maximum number of hits.
        among: Sources to search.
        withheld: Ids of turns with withheld sentences; these replace no memory.
    """
    started = time.perf_counter()
    asked = [source for source in among if sources is None or not source.gives.isdisjoint(sources)]
    found = await asyncio.gather(*(source.find(scope, query, index, limit) for source in asked))
    turns = await index.turns(scope, query) if sources is None or "episode" in sources else None
    may_show = Turns(turns, scope, withheld)
    carried = {} if is_overview(query.text) else carried_by(found, may_show)  # it shows the memories themselves
    found = [
        _only(without_carried(one, carried, may_show), sources) for one in found if one.hits or one.evidence.coverage
    ]
    verdict = _judged(found, f"{query.context}\n{query.text}")
    if verdict.reason == OF_ONESELF:  # a small memory is injected in full
        found = [one if one.is_apart else replace(one, hits=one.hits + one.rest, rest=[]) for one in found]
    found, speaking = _vouched(found, verdict.passed, carried if is_of_oneself(query.text) else {})
    passed = _merged([one for one, speaks in zip(found, speaking, strict=True) if speaks])
    passed = [dated(hit, carried[hit.id]) if hit.id in carried else hit for hit in passed]
    silent = _merged([one for one, speaks in zip(found, speaking, strict=True) if not speaks])
    timings_ms = {"search": (time.perf_counter() - started) * 1000}
    rest = sorted((hit for one in found for hit in one.rest), key=lambda hit: -hit.score)
    considered = (passed[limit:] + silent + rest)[:limit]
    return Recalled(passed[:limit], considered, verdict.admitted, verdict.reason, timings_ms)


def _vouched(
    found: Sequence[Found], passed: Sequence[bool], carried: Mapping[str, tuple[Hit, ...]]
) -> tuple[list[Found], list[bool]]:
    """Return the sources and whether each is admitted; split off rejected turns that replace admitted memories."""
    if not any(speaks and one.evidence.brief for one, speaks in zip(found, passed, strict=True)):
        return list(found), list(passed)
    split: list[tuple[Found, bool]] = []
    for one, speaks in zip(found, passed, strict=True):
        is_asked = not speaks and not one.evidence.brief
        standing = [hit for hit in one.hits if hit.id in carried] if is_asked else []
        if standing:
            others = [hit for hit in one.hits if hit.id not in carried]
            split += [
                (replace(one, hits=standing, rest=[], leads=0), True),
                (replace(one, hits=others, leads=0), False),
            ]
        else:
            split.append((one, speaks))
    return [one for one, _ in split], [speaks for _, speaks in split]


def _judged(found: Sequence[Found], text: str) -> Verdict:
    """Judge the sources together, and each source with ``is_apart`` by itself."""
    together = admit([one.evidence for one in found if not one.is_apart], text)
    speaks, passed, reason = iter(together.passed), [], together.reason
    for one in found:
        alone = admit([one.evidence], text, told=False) if one.is_apart else None
        passed.append(one.is_named or (next(speaks) if alone is None else alone.admitted))
        if passed[-1] and not together.admitted:
            reason = "named" if one.is_named else alone.reason if alone is not None else reason
    return Verdict(tuple(passed), reason)


def _merged(found: Sequence[Found]) -> list[Hit]:
    """Return the leading hits, then all others by score; raise leading scores to at least those that follow."""
    merged = sorted((hit for one in found for hit in one.hits[one.leads :]), key=lambda hit: -hit.score)
    for hit in reversed([hit for one in found for hit in one.hits[: one.leads]]):
        highest = max(hit.score, merged[0].score) if merged else hit.score
        merged.insert(0, replace(hit, score=highest))
    once: dict[str, Hit] = {}
    for hit in merged:
        once.setdefault(hit.id, hit)
    return list(once.values())


def _none_lost(scores: Scores, mask: Mask, query: Query) -> Scores:
    """Return ``scores``, all above 0 where a user asks about themselves and the memory is small."""
    if not (is_handful(int(mask.sum())) and asks_of_oneself(query.text)):
        return scores
    return np.where(mask, np.maximum(scores, tuning.HANDFUL_SCORE), scores).astype(np.float32)


def _statements_only(shelf: TurnShelf, scores: Scores, mask: Mask, query: Query) -> Scores:
    """Return ``scores`` without unrelated questions and replies, if a small memory would be injected in full."""
    is_all_given = is_handful(int(mask.sum())) and asks_of_oneself(query.text)
    if not is_all_given or query.is_of_replies or is_of_questions(query.text):
        return scores
    stays = shelf.lexical(dict.fromkeys(content(query.text), 1.0), mask) > 0
    for line in np.flatnonzero(mask & shelf.by_user & ~stays):
        text = shelf.items[line].text
        said = (text[a:b] for a, b in sentences(text))
        stays[line] = len(text) > _BRIEF or any(not is_question(one, flat(one)) for one in said)
    return np.where(stays, scores, np.float32(0))


def _is_foreign(shelf: FactShelf | TurnShelf, mask: Mask, query: Query) -> bool:
    """Return whether the latest texts are in another language than a question of the user about themselves."""
    return is_foreign([shelf.items[line].text for line in np.flatnonzero(mask)[-_LAST_TOLD:]], query.text)


def _only(found: Found, sources: Collection[Source] | None) -> Found:
    if sources is None:
        return found
    leads = sum(hit.source in sources for hit in found.hits[: found.leads])
    kept, rest = ([hit for hit in hits if hit.source in sources] for hits in (found.hits, found.rest))
    return replace(found, hits=kept, leads=leads, rest=rest)


def _fits(cosine: float, share: float, evidence: Evidence) -> bool:
    """Return whether a memory is relevant on its own: close to the best cosine, or with most query terms."""
    if evidence.coverage * share >= tuning.LEAD_COVERAGE:
        return True
    return evidence.cosine is not None and cosine >= max(tuning.LEAD_COSINE, tuning.LEAD_COSINE_SHARE * evidence.cosine)


def _priors(shelf: FactShelf, lines: Sequence[int], query: Query) -> Scores:
    facts = [shelf.items[line] for line in lines]
    return priors(
        confidence=[fact.confidence for fact in facts],
        uses=[fact.uses for fact in facts],
        ages_days=[(query.now - (fact.last_used_at or fact.updated_at)).total_seconds() / 86_400 for fact in facts],
        pinned=[fact.pinned for fact in facts],
    )


def _newest_of_similar(shelf: FactShelf, lines: list[int], scores: Scores) -> list[tuple[int, float]]:
    """Order memories best first: of equal ones keep only the newest, of similar ones rank the newest first."""
    order = np.argsort(-scores, kind="stable")
    lines = [lines[at] for at in order]
    vectors = shelf.vectors(np.asarray(lines, dtype=np.int64))
    alike = vectors @ vectors.T
    np.fill_diagonal(alike, 1.0)
    ages = [-float(shelf.times[line]) for line in lines]
    mended = newest_first([float(scores[at]) for at in order], ages, alike >= tuning.SIMILAR_COSINE)
    is_alone = ((alike >= tuning.SIMILAR_COSINE).sum(axis=1) == 1) & vectors.any(axis=1)
    newest: dict[frozenset[str], int] = {}
    least = tuning.FACT_FLOOR * max(mended, default=0.0)  # lower scores are cut anyway
    for at in sorted(range(len(lines)), key=ages.__getitem__):
        may_repeat = mended[at] >= least and not is_alone[at]
        says = content(shelf.items[lines[at]].text) if may_repeat else ()
        newest.setdefault(frozenset(says) or frozenset([str(at)]), at)
    kept = newest.values()
    return sorted(((lines[at], mended[at]) for at in kept), key=lambda pair: -pair[1])


def _each_text_once(shelf: TurnShelf, lines: Sequence[int]) -> list[int]:
    """Return ``lines`` without repetitions of a text; the first stays."""
    seen: dict[str, int] = {}
    for line in lines:
        seen.setdefault(" ".join(shelf.items[line].text.casefold().split()), line)
    return list(seen.values())
