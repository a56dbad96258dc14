"""From LiteLLM's objects back to the Responses wire, with what OpenAI's replies always have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from proxy.upstream.litellm_error import error_object
from proxy.upstream.litellm_reply import plain
from proxy.upstream.responses_shape import EventWriter, new_id, response

TERMINAL = frozenset({"response.completed", "response.incomplete", "response.failed"})

_NOT_OURS = frozenset({"phase", "provider_specific_fields"})
_TEXT_PARTS = frozenset({"output_text", "text"})


@dataclass(slots=True)
class Translation:
    """Writes one reply; remembers what it said.

    Args:
        body: The request's, parsed.
        created: Seconds since the epoch.
        is_native: The provider has this wire itself: its reply is passed on as it is.
        id: Of the reply, ours where LiteLLM makes one of a chat completion.
        output: Its items, once they are known.
        has_ended: The provider said all that it had to say.
        is_through: A terminal event was written.
    """

    body: Mapping[str, Any]
    created: float
    is_native: bool
    id: str = field(default_factory=new_id)
    output: list[dict[str, Any]] = field(default_factory=list)
    has_ended: bool = False
    is_through: bool = False
    _writer: EventWriter = field(default_factory=EventWriter)

    def whole(self, given: Any) -> dict[str, Any]:
        """Return a whole reply."""
        made = self._response(plain(given), "completed")
        self.has_ended = made["status"] in ("completed", "incomplete")
        return made

    def event(self, given: Any) -> bytes:
        """Return what a client sees of one of LiteLLM's events."""
        event = _filled(_clean(plain(given)))
        kind = _kind(event.get("type"))
        event["type"] = kind
        if isinstance(event.get("response"), dict):
            state = "in_progress" if kind not in TERMINAL else kind.partition(".")[2]
            event["response"] = self._response(event["response"], state)
        self.has_ended = self.has_ended or kind in ("response.completed", "response.incomplete")
        self.is_through = self.is_through or kind in TERMINAL
        event.pop("sequence_number", None)
        if kind == "response.reasoning_summary_text.delta" and event.get("summary_index") is None:
            event["summary_index"] = 0
        return self._writer.event(event)

    def broken(self, error: Exception) -> bytes:
        """Return the event that ends a stream which broke off."""
        return self._writer.error(error_object(error))

    def _response(self, given: Mapping[str, Any], state: str) -> dict[str, Any]:
        if self.is_native:
            self.id = str(given.get("id") or self.id)
            made = {**response(self.body, id_=self.id, created=self.created, model="", status=state)}
            made.update({key: value for key, value in _clean(given).items() if key in made or value is not None})
        else:
            made = response(
                self.body,
                id_=self.id,
                created=self.created,
                model=str(given.get("model") or ""),
                status=str(given.get("status") or state),
                output=[_filled(_clean(item)) for item in given.get("output") or ()],
                usage=given.get("usage"),
                error=given.get("error"),
                incomplete=given.get("incomplete_details"),
            )
        self.output = made["output"] or self.output
        return made


def is_terminal(event: Any) -> bool:
    """Whether one of LiteLLM's events ends a reply that is no failure."""
    return _kind(getattr(event, "type", None)) in ("response.completed", "response.incomplete")


def _kind(value: Any) -> str:
    return str(getattr(value, "value", value))


def _clean(value: Any) -> Any:
    """Return a value without what LiteLLM adds for itself."""
    if isinstance(value, dict):
        kept = {key: one for key, one in value.items() if key not in _NOT_OURS}
        return {key: _clean(one) for key, one in kept.items() if key != "cost" or one is not None}
    return [_clean(one) for one in value] if isinstance(value, list) else value


def _filled(value: Any) -> Any:
    """Return an event or an item with the lists that clients walk through without looking whether they are there."""
    if isinstance(value, list):
        return [_filled(one) for one in value]
    if not isinstance(value, dict):
        return value
    made = {key: one if key == "response" else _filled(one) for key, one in value.items()}
    kind = _kind(made.get("type"))
    if kind in _TEXT_PARTS or kind in ("response.output_text.delta", "response.output_text.done"):
        made["logprobs"] = made.get("logprobs") or []
    if kind in _TEXT_PARTS:
        made["annotations"] = made.get("annotations") or []
    if kind == "reasoning":
        made["summary"] = made.get("summary") or []
    return made
