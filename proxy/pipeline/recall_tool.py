"""The opt-in ``recall`` tool: Throughline answers its calls inside the one reply that the client sees."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

from proxy.dialects.reply import Copy, parsed
from proxy.dialects.tool import Call, ReplyFilter
from proxy.memory.conversations.leftout import search as search_left_out
from proxy.memory.conversations.summarize import Utterance
from proxy.memory.inject.blocks import query_block
from proxy.memory.inject.standing import standing
from proxy.memory.recall.query import Query
from proxy.memory.recall.sources import recall as search
from proxy.memory.recall.team import search_shared, with_shared
from proxy.pipeline.assemble import TOOL_NAME
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.forward import request_for
from proxy.pipeline.policy import best_effort
from proxy.pipeline.recall import as_hit, holding, seen
from proxy.process.threads import in_thread
from proxy.services import Services
from proxy.text import fence
from proxy.text.quoted import marked
from proxy.text.secrets import redact
from proxy.text.tokens import count
from proxy.upstream.base import UpstreamCut, UpstreamResponse
from proxy.upstream.headers import READABLE_AT_ONCE, READABLE_WHOLE, find, is_event_stream, value_of

MAX_CALLS = 4  # rounds within one reply
_MAX_TOKENS = 3000  # of one answer
_MAX_HITS = 24
_RANGE = re.compile(r"#?(\d{1,7})(?:\s*[-–]\s*#?(\d{1,7}))?")
_MAX_MESSAGES = 60
_NOTHING = "Nothing about that was found in this conversation or in earlier ones."
_ENDED = "What was there has been taken back since."


@dataclass(slots=True)
class Answering:
    """A reply with the ``recall`` calls answered inside it; the client sees one reply without them."""

    exchange: Exchange
    services: Services
    response: UpstreamResponse

    @property
    def status(self) -> int:
        """HTTP status of the first reply."""
        return self.response.status

    @property
    def headers(self) -> list[tuple[str, str]]:
        """The first reply's headers, without length and encoding if its bytes change."""
        gone = ("content-length", "content-encoding") if self._is_ours else ()
        return [(name, value) for name, value in self.response.headers if name.lower() not in gone]

    @property
    def _is_ours(self) -> bool:
        """Return whether the reply can be read: a whole one also compressed, a stream only as it is."""
        readable = READABLE_AT_ONCE if is_event_stream(self.response.headers) else (*READABLE_WHOLE, "x-gzip")
        return self.status < 300 and (find(self.response.headers, "content-encoding") or "identity") in readable

    async def aclose(self) -> None:
        """Close the current upstream reply."""
        await self.response.aclose()

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body for the client."""
        if not self._is_ours:
            async for chunk in self.response.chunks():
                yield chunk
            return
        shown = self.exchange.dialect.tool.reply_filter(TOOL_NAME)
        is_stream = is_event_stream(self.response.headers)
        for step in range(MAX_CALLS + 1):
            shown.begin()
            async for chunk in self._stream(shown) if is_stream else self._whole(shown):
                yield chunk
            if not shown.wants_more:
                return
            if step < MAX_CALLS:
                await self._go_on(shown, is_last=step == MAX_CALLS - 1)
        yield shown.ending(is_stream=is_stream)

    async def _stream(self, shown: ReplyFilter) -> AsyncIterator[bytes]:
        async for chunk in self.response.chunks():
            if passed := shown.feed(chunk):
                self._note(shown)  # before the end reaches the relay, which journals the turn
                yield passed
        if rest := shown.close():
            self._note(shown)
            yield rest

    async def _whole(self, shown: ReplyFilter) -> AsyncIterator[bytes]:
        copy = Copy()
        async for chunk in self.response.chunks():
            copy.feed(chunk)
        if body := shown.whole(copy.decoded(value_of(self.response.headers, "content-encoding"))):
            self._note(shown)
            yield body

    def _note(self, shown: ReplyFilter) -> None:
        self.exchange.tool.continues_as, self.exchange.tool.open_calls = shown.goes_on_as, shown.open_calls

    async def _go_on(self, shown: ReplyFilter, *, is_last: bool) -> None:
        """Answer the calls and send the request for the next part of the reply.

        Raises:
            UpstreamUnreachable: If the provider does not continue; the client's reply breaks off.
        """
        exchange, target = self.exchange, self.exchange.target
        assert target is not None
        with exchange.timings.step("tool"):
            answers = [await _answered(exchange, self.services, call) for call in shown.calls]
        note = " This was the last look-up for this reply; answer now." if is_last else ""
        told = [answer + note for answer in answers]
        exchange.upstream_body = await in_thread("cpu", shown.going_on, exchange.upstream_body, told)
        exchange.tool.calls += len(told)
        exchange.tool.tokens += sum(map(count, told))
        await self.response.aclose()
        self.response = await target.upstream.send(request_for(exchange, target, exchange.upstream_body), target)
        if self.response.status >= 300:
            raise UpstreamCut("The provider did not go on with its reply after a look-up in memory.")


async def _answered(exchange: Exchange, services: Services, call: Call) -> str:
    """Return the answer to one call; on any failure it says that nothing was found."""
    arguments = parsed(call.arguments.encode() or b"{}")
    arguments = arguments if isinstance(arguments, dict) else {}
    told = ""
    with best_effort(exchange, "tool"):
        if named := str(arguments.get("messages") or ""):
            told = await _messages(exchange, services, named)
        if not told and (query := str(arguments.get("query") or "")):
            told = await _found(exchange, services, query[:2000])
    return told or _NOTHING


async def _messages(exchange: Exchange, services: Services, named: str) -> str:
    """Return messages of this conversation by their numbers, without statements retracted since."""
    stands = await standing(exchange.required_scope, services.index)
    numbers: list[int] = []
    for match in _RANGE.finditer(named):
        first, last = int(match[1]), int(match[2] or match[1])
        numbers += range(first, min(last, first + _MAX_MESSAGES) + 1)
    lines, left = [], _MAX_TOKENS
    for number in numbers[:_MAX_MESSAGES]:
        one = exchange.messages[number] if number < len(exchange.messages) else None
        if one is None or one.role not in ("user", "assistant", "tool") or not one.text:
            continue
        text = stands.still_true(redact(one.text[: 4 * left]))
        line = f"#{number} {one.role}: {_ENDED if text is None else _shown(text, one.role)}"
        left -= count(line)
        if left < 0:
            break
        lines.append(line)
    return "\n".join(lines)


def _shown(text: str, role: str) -> str:
    """Return a message as one fenced entry, with the user's quotations in marked brackets."""
    return fence.item(marked(text) if role == "user" else text)


async def _found(exchange: Exchange, services: Services, text: str) -> str:
    """Return a block of hits for a query, from the left-out messages and the store."""
    scope = exchange.required_scope
    vector = (await services.embedder.embed([text], purpose="query"))[0] if services.is_embedder_warm else None
    query = Query(text, "", vector, exchange.moment, session=scope.session)
    stands = await standing(scope, services.index)
    recalled = await search(scope, query, services.index, limit=_MAX_HITS, withheld=stands.withheld.spans)
    said = [
        Utterance(one.index, one.role, one.text) for at in sorted(exchange.dropped) if (one := exchange.messages[at])
    ]
    passages = await in_thread("cpu", search_left_out, text, said, _MAX_HITS)
    hits = [*(as_hit(exchange, one) for one in passages), *(recalled.hits or recalled.considered)]
    once = list({hit.id: replace(hit) for hit in hits}.values())
    shown = holding(stands, seen(stands, once), exchange.moment, text)
    shared = await services.team_memory.of(scope.teams, services.store)
    shown = with_shared(shown, await search_shared(shared, scope, query))
    return query_block(shown, _MAX_TOKENS, count).text.strip()
