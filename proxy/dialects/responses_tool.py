"""The ``recall`` tool in Responses: added to the request, its calls removed from the reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proxy.dialects.body import replaced
from proxy.dialects.reply import parsed
from proxy.dialects.tool import Call, ReplyFilter, Tool, ToolWire, appended, as_it_came, event_bytes, json_bytes, summed
from proxy.events import Event

_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})
# Calls that the client must answer; the provider answers all other calls itself.
_ASKS_CLIENT = frozenset(
    {
        *("function_call", "custom_tool_call", "computer_call", "local_shell_call", "shell_call"),
        *("apply_patch_call", "mcp_approval_request"),
    }
)
_UNANSWERED = "Not looked up, as another tool was called beside it. Call it once more, alone, if it is needed."


def may_offer(body: Mapping[str, Any], name: str) -> bool:
    """Return whether the recall tool can be added: no tool is forced, and its name is free."""
    tools = body.get("tools")
    if body.get("tool_choice") not in (None, "auto") or body.get("background") or body.get("prompt"):
        return False
    if tools is not None and not isinstance(tools, list):
        return False
    return not any(isinstance(one, dict) and one.get("name") == name for one in tools or ())


def offered(body: bytes, tool: Tool) -> bytes:
    """Return the body with the tool after the client's own; the same object if it cannot be added."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return appended(body, "tools", [{"type": "function", **function, "strict": False}], is_made=True)


def resumed(body: bytes, goes_on_as: str, open_calls: Sequence[str]) -> bytes:
    """Return a request that continues a stored reply, with the provider's ids.

    Args:
        body: Body as the client sent it.
        goes_on_as: Provider's id of the continued response; "" if the client knows it by the same id.
        open_calls: Ids of ``recall`` calls that the provider still needs answered.
    """
    if goes_on_as:
        body = replaced(body, "previous_response_id", goes_on_as)
    return _with_items(body, [_output(id_, _UNANSWERED) for id_ in open_calls]) if open_calls else body


class ResponsesFilter(ReplyFilter):
    """Filter that removes ``recall`` calls from responses; the client sees consecutive item and event numbers.

    A reasoning item is held back until the next item is known: before ``recall`` calls only, it is removed as well, as
    providers accept no reasoning without the item after it. A whole reply has the id of the last response, which is the
    one that the provider can continue; a stream has the id of the first, and ``goes_on_as`` is that of the last.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._frame: dict[str, Any] = {}
        self._sequence = 0  # number of the next event
        self._shown = 0  # number of items
        self._before: list[Any] = []  # items of earlier replies
        self._last: dict[str, Any] = {}

    def going_on(self, body: bytes, answers: Sequence[str]) -> bytes:
        """Return the next request, with one answer per call."""
        outputs = [_output(call.id, answer) for call, answer in zip(self.calls, answers, strict=True)]
        request = parsed(body)
        request = request if isinstance(request, dict) else {}
        if request.get("conversation"):  # the provider stores the earlier items there
            return replaced(body, "input", outputs)
        is_kept = request.get("store") is not False
        return _with_items(body, [*(item for one in self._items for item in _sent_back(one, is_kept)), *outputs])

    def ending(self, *, is_stream: bool) -> bytes:
        """Return the end of a reply whose last round still calls the tool, but gets no answer."""
        response = self._joined({**self._last, "output": self._before}, is_stream=is_stream)
        if not is_stream:
            return json_bytes(response)
        ended: dict[str, Any] = {"type": "response.completed", "response": response}
        return self._numbered({**ended, "sequence_number": 0} if self._sequence else ended, b"response.completed")

    def _start(self) -> None:
        self._items: list[Any] = []
        self._done: dict[int, Any] = {}
        self._ours: set[int] = set()
        self._places: dict[int, int] = {}
        self._held: list[tuple[int, dict[str, Any], bytes]] = []
        self._thoughts: set[int] = set()

    def _whole(self, reply: dict[str, Any]) -> bytes | None:
        output = reply.get("output")
        if not isinstance(output, list):
            return None
        self._end(reply, output, is_complete=reply.get("status") in (None, "completed"))
        if self.wants_more:
            return b""
        return json_bytes(self._joined({**reply, "output": self._output_of(output)}, is_stream=False))

    def _event(self, event: Event) -> bytes:
        body = parsed(event.data)
        if not isinstance(body, dict):
            return as_it_came(event)
        kind, response = str(body.get("type")), body.get("response")
        if kind in _ENDS and isinstance(response, dict):
            return self._ended(event, body, response)
        if isinstance(response, dict):
            if self.round:
                return b""
            return self._numbered({**body, "response": self._joined(response, is_stream=True)}, event.name)
        at = body.get("output_index")
        return self._piece(event, body, at) if isinstance(at, int) else self._numbered(body, event.name)

    def _piece(self, event: Event, body: dict[str, Any], at: int) -> bytes:
        item = body.get("item")
        if body.get("type") == "response.output_item.added":
            if self._is_ours(item):
                self._ours.add(at)
            elif isinstance(item, dict) and item.get("type") == "reasoning":
                self._thoughts.add(at)
        elif body.get("type") == "response.output_item.done":
            self._done[at] = item
        if at in self._ours:
            return b""
        if at in self._thoughts and at not in self._places:
            self._held.append((at, body, event.name))
            return b""
        return self._let_go() + self._placed(at, body, event.name)

    def _let_go(self) -> bytes:
        """Return the reasoning events that were held back."""
        held, self._held = self._held, []
        return b"".join(self._placed(*one) for one in held)

    def _placed(self, at: int, body: dict[str, Any], name: bytes) -> bytes:
        if at not in self._places:
            self._places[at] = self._shown
            self._shown += 1
        return self._numbered({**body, "output_index": self._places[at]}, name)

    def _ended(self, event: Event, body: dict[str, Any], response: dict[str, Any]) -> bytes:
        output = response.get("output")
        items = output if isinstance(output, list) and output else [self._done[at] for at in sorted(self._done)]
        self._end(response, items, is_complete=body.get("type") == "response.completed")
        if self.wants_more:
            return b""
        joined = self._joined({**response, "output": self._output_of(items)}, is_stream=True)
        return self._let_go() + self._numbered({**body, "response": joined}, event.name)

    def _end(self, response: dict[str, Any], items: Sequence[Any], *, is_complete: bool) -> None:
        self._items = list(items)
        ours = [one for one in items if self._is_ours(one)]
        others = [one for one in items if isinstance(one, dict) and one.get("type") in _ASKS_CLIENT]
        self.calls = [Call(str(one.get("call_id")), str(one.get("arguments") or "")) for one in ours]
        self.wants_more = is_complete and bool(ours) and len(ours) == len(others)
        self.open_calls = () if self.wants_more else tuple(call.id for call in self.calls)
        self.goes_on_as = str(response.get("id") or "") if self.round else ""
        self._last = response
        if isinstance(response.get("usage"), dict):
            self.usage = summed(self.usage, response["usage"])
        if self.wants_more:
            self._before += self._visible(items)

    def _output_of(self, items: Sequence[Any]) -> list[Any]:
        return [*self._before, *(one for one in items if not self._is_ours(one))]

    def _visible(self, items: Sequence[Any]) -> list[Any]:
        """Return the visible items of a round: not the calls, nor the reasoning just before them."""
        shown = [one for one in items if not self._is_ours(one)]
        while shown and isinstance(shown[-1], dict) and shown[-1].get("type") == "reasoning":
            shown.pop()
        return shown

    def _joined(self, response: Mapping[str, Any], *, is_stream: bool) -> dict[str, Any]:
        """Return a reply without the tool, with the usage of all rounds, and in a stream with the first id."""
        if not self._frame:
            self._frame = {key: response[key] for key in ("id", "created_at") if key in response}
        shown = {**response, **(self._frame if is_stream else {})}
        if isinstance(response.get("tools"), list):
            shown["tools"] = [one for one in response["tools"] if not _is_named(one, self.name)]
        if isinstance(response.get("usage"), dict):
            shown["usage"] = self.usage
        return shown

    def _numbered(self, body: dict[str, Any], name: bytes) -> bytes:
        if "sequence_number" in body:
            body = {**body, "sequence_number": self._sequence}
            self._sequence += 1
        return event_bytes(body, name)

    def _is_ours(self, item: object) -> bool:
        return isinstance(item, dict) and item.get("type") == "function_call" and _is_named(item, self.name)


def _is_named(item: object, name: str) -> bool:
    return isinstance(item, dict) and item.get("name") == name


def _output(id_: str, text: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id_, "output": text}


def _sent_back(item: object, is_kept: bool) -> list[Any]:  # noqa: FBT001 - one of two cases
    """Return an item of a reply in the form that the provider accepts back: without ids that it did not store."""
    if is_kept or not isinstance(item, dict):
        return [item]
    if item.get("type") == "reasoning" and not item.get("encrypted_content"):
        return []
    return [{key: value for key, value in item.items() if key != "id" or item.get("type") == "reasoning"}]


def _with_items(body: bytes, items: Sequence[Any]) -> bytes:
    def message(text: str) -> str:
        return f'{{"type":"message","role":"user","content":{text}}}'

    return appended(body, "input", items, is_made=True, first=message)


RESPONSES_TOOL = ToolWire(may_offer, offered, ResponsesFilter)
