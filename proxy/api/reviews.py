"""``/v1/reviews``: changes of memory that wait for a person."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field

from proxy.api.caller import Body, Caller, PageSize, Parts, Router
from proxy.api.shapes import listing, memory_shape, project_names
from proxy.api.writing import write
from proxy.clock import iso
from proxy.errors import Conflict, InvalidRequest, unknown
from proxy.memory.lifecycle.forget import Request, forget_changes, past_of
from proxy.memory.lifecycle.review import (
    Decision,
    State,
    answer_changes,
    approve_changes,
    concerned,
    decline_changes,
    expired,
    expired_changes,
    question_of,
    reviews_in,
    state_of,
)
from proxy.memory.plan.changes import PROPOSES, Change, hides_of
from proxy.services import Services
from proxy.text.secrets import redact
from proxy.text.segment import sentences
from proxy.types import Episode, Memory, Scope

router = Router(prefix="/v1/reviews")

_OF_REVIEWS = (f'"{PROPOSES}":', '"status":"review"')  # reviews, and the memories of open ones
_MEND = "Forget what is to go by `POST /v1/memories/forget`"
_DONE: dict[Decision, State] = {"approve": "approved", "decline": "declined", "edit": "edited"}


class DecisionBody(Body):
    """Body of ``POST /v1/reviews/{id}``."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"decision": "edit", "text": "the flat in Leeds"}]})

    decision: Decision
    text: Annotated[str, Field(min_length=1, max_length=20_000), AfterValidator(redact)] | None = None


@router.get("")
async def list_reviews(
    scope: Caller,
    services: Parts,
    status: Literal["open", "approved", "declined", "edited", "expired", "all"] = "open",
    limit: PageSize = 50,
    after: str = "",
) -> dict[str, Any]:
    """Return a page of reviews, newest first."""
    rows = await _rows(services, scope, _OF_REVIEWS)
    found = reviews_in(rows)
    if after:
        last = _one(found, after, "after")
        found = [row for row in found if (row.created_at, row.id) < (last.created_at, last.id)]
    found = [row for row in found if status in ("all", state_of(row))]
    if any(state_of(row) != "open" for row in found[:limit]):  # a decided review names memories of any status
        rows = await _rows(services, scope)
    shown = [await _shape(services, scope, row, rows) for row in found[:limit]]
    return listing(shown, has_more=len(found) > limit)


@router.get("/{review_id}")
async def get_review(review_id: str, scope: Caller, services: Parts) -> dict[str, Any]:
    """Return one review, decided or not."""
    rows = await _rows(services, scope)
    return await _shape(services, scope, _one(reviews_in(rows), review_id), rows)


@router.post("/{review_id}")
async def decide(review_id: str, scope: Caller, services: Parts, body: DecisionBody) -> dict[str, Any]:
    """Approve, decline or edit a proposed change; the same decision again changes nothing, any other is refused.

    ``edit`` takes ``text``: what to forget instead of the proposal, or the answer to a question.
    """
    rows = await _rows(services, scope)
    review = _one(reviews_in(rows), review_id)
    if (body.decision == "edit") != (body.text is not None):
        raise InvalidRequest("`text` goes with `decision` `edit`, and only there.", param="text")
    if state_of(review) == "open":
        await _write(services, scope, review, body, rows)
    else:
        _refuse_other(review, body)
    rows = await _rows(services, scope)
    return await _shape(services, scope, _one(reviews_in(rows), review_id), rows)


def _refuse_other(review: Memory, body: DecisionBody) -> None:
    """Refuse another decision on a decided review; an edit's words are not stored, so that any edit counts as another.

    Raises:
        Conflict: If the decision or the answer differs.
    """
    state, question = state_of(review), question_of(review)
    if question is not None and question.answer not in (None, body.text or question.answer):
        raise Conflict(
            f"This question is answered already: {question.answer[:80]!r}. Ask it again by "
            "`POST /memory-manager/human/request`, and answer that one.",
            param="text",
        )
    if state != _DONE[body.decision] or (state == "edited" and question is None):
        is_closed = state in ("approved", "expired")
        mend = "Take it back by `POST /v1/memories/undo` with its id as `batch`" if is_closed else _MEND
        raise Conflict(f"This review is {state} already. {mend}, or change the memory itself.", param="decision")


async def _write(services: Services, scope: Scope, review: Memory, body: DecisionBody, rows: Sequence[Memory]) -> None:
    now = services.clock.now()
    request = Request(body.text or "")
    is_question = question_of(review) is not None
    past = await past_of(services.index, scope, request, rows) if body.text and not is_question else None

    def plan(rows: list[Memory]) -> Sequence[Change]:
        current = next((row for row in reviews_in(rows) if row.id == review.id), None)
        if current is None:
            return []
        if state_of(current) != "open":  # another request decided it meanwhile
            _refuse_other(current, body)
            return []
        if is_question:
            return answer_changes(current, body.decision, body.text or "", now)
        if body.decision == "approve":
            return approve_changes(current, rows, now)
        declined = decline_changes(current, rows, now, decision=body.decision)
        if past is None:
            return declined
        after = {row.id: row for row in rows} | {change.memory.id: change.memory for change in declined}
        closing = forget_changes(scope, request, replace(past, memories=list(after.values())), now)
        if not closing:
            raise InvalidRequest(
                "No memory and no sentence holds the words of `text`. Send words that stand in them, or decline.",
                param="text",
            )
        return [*declined, *closing]

    await write(services, scope, plan)


async def _rows(services: Services, scope: Scope, marks: Collection[str] = ()) -> list[Memory]:
    """Return the visible memories, with ``marks`` only the marked ones, after expired reviews are decided."""

    async def read() -> list[Memory]:
        store = services.store
        rows = await (store.marked(scope, marks) if marks else store.memories(scope))
        return [row for row in rows if scope.owns(row.agent)]

    now, days = services.clock.now(), services.settings.memory.review_days
    rows = await read()
    if not any(expired(rows, now, days)):
        return rows
    await write(services, scope, lambda rows: expired_changes(rows, now, days))
    return await read()


def _one(found: Iterable[Memory], review_id: str, param: str = "id") -> Memory:
    for row in found:
        if row.id == review_id:
            return row
    raise unknown("review", review_id, param=param)


async def _shape(services: Services, scope: Scope, review: Memory, rows: Sequence[Memory]) -> dict[str, Any]:
    state, days = state_of(review), services.settings.memory.review_days
    ends = review.created_at + timedelta(days=days) if days and state == "open" else None
    episodes = await services.store.episodes(scope, session=review.session) if review.session else []
    asked = [row for row in episodes if row.turn in review.turns and row.role == "user" and scope.owns(row.agent)]
    concerns = concerned(review, rows)
    names = await project_names(services.projects, scope, concerns)
    question = question_of(review)
    asking = {} if question is None else {"question": question.text, "choices": list(question.choices)}
    told = {} if question is None else {"context": question.context or None, "answer": question.answer}
    return {
        "id": review.id,
        "object": "review",
        "status": state,
        "change": review.metadata[PROPOSES],
        "memories": [memory_shape(row, names) for row in concerns],
        "sentence": _sentence(review, asked),
        "turn": next(iter(review.turns), None),
        "session": review.session or None,
        "created_at": iso(review.created_at),
        "decided_at": iso(review.updated_at) if state != "open" else None,
        "expires_at": iso(ends) if ends else None,
        **asking,
        **told,
    }


def _sentence(review: Memory, asked: Sequence[Episode]) -> str | None:
    """Return the sentence that caused a review: the withheld one of its message, else the whole message."""
    spans = {row: (start, end) for row, start, end in hides_of(review)}
    for row in asked:
        if row.id in spans:
            start, end = spans[row.id]
            return row.text[start:end]
    texts = [row.text for row in asked]
    return next((text for text in texts if len(list(sentences(text))) == 1), texts[-1] if texts else None)
