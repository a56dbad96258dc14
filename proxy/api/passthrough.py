"""Every other ``/v1/*`` path: relayed to the provider and back, unchanged.

Paths are decoded to a fixed point first, so that no two servers in the chain interpret one differently.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

import orjson

from proxy.api.asgi import (
    REQUEST_ID,
    ClientGone,
    Headers,
    Receive,
    Scope,
    Send,
    headers_of,
    is_anthropics,
    limited,
    read_body,
    refuse,
    send_end,
    send_head,
    until_hang_up,
    watched,
)
from proxy.api.coding import plain
from proxy.api.errors import not_served
from proxy.api.forms import fields_of, is_form, model_named, with_model
from proxy.api.heartbeat import Heartbeat
from proxy.api.passage import note_refusal, passage_of
from proxy.dialects import chat, messages, objects
from proxy.dialects.objects import Reference
from proxy.errors import Forbidden, InvalidRequest, NotFound, ProxyError
from proxy.pipeline.account import is_shared, named_in, refuse_strange
from proxy.pipeline.admission import Admission, admit, key_for_routes, permitted
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.handing import Handing, noted
from proxy.pipeline.handle import counted
from proxy.pipeline.identify import opening_of, scope_for
from proxy.pipeline.prefix import as_sent
from proxy.process.threads import in_thread
from proxy.services import Services
from proxy.upstream.base import Target, UpstreamRequest
from proxy.upstream.failover import Make, Plan, Try
from proxy.upstream.headers import by_name, find, value_of
from proxy.upstream.messages import speaks_messages

_WITH_MODEL = (
    "/embeddings",
    "/completions",
    "/moderations",
    "/responses/compact",
    "/responses/input_tokens",
    "/images/generations",
    "/images/edits",
    "/audio/speech",
    "/rerank",
    "/messages/count_tokens",
)
_COUNTS = "/messages/count_tokens"
_WITH_FORM = ("/audio/transcriptions", "/audio/translations", "/images/edits", "/images/variations")

# A wrong method must not send a request for Throughline's memory to a provider.
_OURS = frozenset(
    {
        *("agents", "documents", "erase", "export", "import", "jobs", "memories", "operator", "projects", "quarantine"),
        *("receipts", "reviews", "sessions", "state", "tasks", "teams", "usage"),
    }
)
_IMAGE_MODELS = frozenset({"generations", "edits", "variations"})

# Paths that leave nothing in the provider account; the others are not for every key that the operator hands out.
_STATELESS = frozenset(
    {
        "/embeddings",
        "/completions",
        "/moderations",
        "/rerank",
        "/audio/speech",
        "/audio/transcriptions",
        "/audio/translations",
        "/images/generations",
        "/images/edits",
        "/images/variations",
        "/messages/count_tokens",
    }
)

_BYTES_A_TOKEN = 4  # approximately, until the provider has counted them
# If left after decoding once, a server that decodes again, or leniently, would misread these.
_MOVING = re.compile(r"[%\\\x00-\x1f\x7f]")
_SEPARATING = re.compile(r"[/?#]")
_DOTS = re.compile(r"\.{1,2}(?:;.*)?", re.DOTALL)  # also with parameters, which some servers drop
_MODELS = "models"


class _Asked:
    """A request, with the fields of its body that routing needs."""

    def __init__(self, scope: Scope, path: str, headers: Headers, body: bytes, unpacked: tuple[bytes, Headers]) -> None:
        self.scope = scope
        self.method: str = scope["method"]
        self.is_anthropics = is_anthropics(scope)
        self.path = path
        self.query = scope["query_string"].decode("latin-1")
        self.headers = headers
        self.body = body
        self._plain = unpacked
        readable = unpacked[0]
        self.fields = fields = _fields(readable) if path in _WITH_MODEL else {}
        model = fields.get("model")
        self.form = value_of(headers, "content-type") if path in _WITH_FORM and is_form(headers) else ""
        self.model = model_named(readable, self.form) if self.form else model if isinstance(model, str) else ""
        self.is_stream = fields.get("stream") is True
        self.tokens = len(body) // _BYTES_A_TOKEN if fields else 0
        self.passage = passage_of(scope)
        self.passage.model = self.model
        self.memory = "off; n=0; tokens=0"  # as in the header

    def change(self, body: bytes, headers: Headers) -> None:
        """Replace the body, which is not compressed, and its headers."""
        self.body, self.headers = self._plain = body, headers

    async def request(self, target: Target, *, readable: bool) -> UpstreamRequest:
        """Return the request for a target; only the model's name differs between targets."""
        body, headers = self.body, self.headers
        if self.model and target.model is not None and target.model != self.model:
            form, name = self.form, target.model
            body, headers = self._plain
            body = with_model(body, form, name) if form else chat.replace_model(body, name)
        return UpstreamRequest(self.method, self.path, self.query, headers, body, self.is_stream, readable)


class Passthrough:
    """The catch-all endpoint."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        headers = headers_of(scope)
        path = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1").partition("?")[0].removeprefix("/v1")
        try:
            admission = await admit(headers, self._services, counts=not _is_list(scope["method"], path))
        except ProxyError as error:
            note_refusal(scope, error)
            await refuse(send, error, messages if is_anthropics(scope) else chat, scope.get(REQUEST_ID, ""))
            return
        receive = limited(scope, receive, admission.body_bytes, admission.limit_name)
        send = watched(send, admission.ticket)
        try:
            body = await read_body(receive)
            unpacked = body, headers
            if path in (*_WITH_MODEL, *_WITH_FORM) and find(headers, "content-encoding") is not None:
                with suppress(ProxyError):  # an unreadable body goes to the provider too
                    unpacked = await in_thread("cpu", plain, body, headers, limit=admission.body_bytes)
            asked = _Asked(scope, path, headers, body, unpacked)
            await self._serve(asked, admission, receive, send)
        except ClientGone:
            return
        except ProxyError as error:
            note_refusal(scope, error)
            await refuse(send, error, messages if is_anthropics(scope) else chat, scope.get(REQUEST_ID, ""))
        finally:
            admission.ticket.close()

    async def _serve(self, asked: _Asked, admission: Admission, receive: Receive, send: Send) -> None:
        segments = settled(asked.path)
        _refuse_ours(asked.scope, asked.path)
        handing = await self._guard(asked, segments, admission)
        plan = permitted(admission.identity, asked.model, lambda: self._plan(asked))
        admission.ticket.reserve(tokens=asked.tokens, is_stream=asked.is_stream)
        if plan is None:
            raise _unserved(asked.method, asked.path)
        readable = admission.ticket.counts_tokens or handing is not None
        if asked.method == "POST" and asked.path == _COUNTS:
            await self._count_memory(asked, admission)
        make: Make = lambda target: asked.request(target, readable=readable)  # noqa: E731 - needs a type
        await until_hang_up(receive, lambda: self._relay(plan, make, send, asked, handing), admission.ticket.close)

    async def _count_memory(self, asked: _Asked, admission: Admission) -> None:
        """Add to a token-counting request the memory that the counted request would get."""
        body, headers = plain(asked.body, asked.headers, limit=admission.body_bytes)
        exchange = Exchange("POST", asked.path, asked.query, headers, body, messages)
        exchange.identity = admission.identity
        with suppress(InvalidRequest):  # its provider reports what is wrong with it
            await counted(exchange, self._services)
            asked.change(*as_sent(exchange, exchange.upstream_body))
            asked.memory = str(exchange.memories())

    def _plan(self, asked: _Asked) -> Plan | None:
        """Return the plan of a request: by the model that it names, if a server of OpenAI's dialect has it."""
        routes, key = self._services.routes, key_for_routes(asked.headers, self._services.settings)
        if asked.is_anthropics:
            found = self._anthropics(asked.path, asked.model, key)
            if found is not None or speaks_messages(asked.path):
                return found
        plan = routes.plan(asked.model, key, lambda: opening_of(asked.body)) if asked.model else None
        tries = [step for step in plan.tries if step.target.upstream is routes.wire] if plan is not None else []
        if tries:
            return Plan(tuple(tries))
        target = routes.default(key)
        return Plan((Try(target),)) if target is not None else None

    def _anthropics(self, path: str, model: str, key: str | None) -> Plan | None:
        """Return the plan of a request of Anthropic's API: a server that speaks it, if one is configured."""
        routes = self._services.routes
        plan = routes.spoken(routes.plan(model, key), path) if model else None
        tries = [step for step in plan.tries if step.target.upstream is routes.wire] if plan is not None else []
        if tries:
            return Plan(tuple(tries))
        target = None if model else routes.anthropic(key)
        return Plan((Try(target),)) if target is not None else None

    async def _guard(self, asked: _Asked, segments: Sequence[str], admission: Admission) -> Handing | None:
        """Isolate tenants' files, batches and responses, which all share the operator's account.

        Returns:
            Recorder of the ids that the reply returns, if the path is below an object of the caller's own.

        Raises:
            NotHandedOut: If the request names an object that was not returned to the caller's scope.
            Forbidden: If the path concerns the account as a whole.
        """
        services = self._services
        if not is_shared(services.settings):
            return None
        is_list = _is_list(asked.method, asked.path)
        below = [] if is_list else objects.in_path(segments)
        named = [*below, *objects.in_query(asked.query), *await _named_in(asked, admission.body_bytes)]
        scope = scope_for(admission.identity, by_name(asked.headers), asked.fields, services)
        await refuse_strange(scope, named, services)
        if is_list or (asked.method == "POST" and asked.path in _STATELESS):
            return None
        if below:
            return Handing(scope, "below")
        raise Forbidden(
            f"{asked.method} /v1{asked.path[:120]} reaches into the provider account that all keys of this server "
            "share. Its operator may allow it with auth.share_provider_account: true."
        )

    async def _relay(self, plan: Plan, make: Make, send: Send, asked: _Asked, handing: Handing | None) -> None:
        started = False
        try:
            _, response = await self._services.routes.send(plan, make, asked.passage.attempts)
            try:
                headers = list(response.headers)
                await send_head(send, response.status, [*headers, ("X-Memory", asked.memory)])
                started = True
                chunks = response.chunks() if handing is None else noted(response, handing, self._services)
                async with Heartbeat(send, headers, self._services.settings.server.heartbeat_s) as body:
                    async for chunk in chunks:
                        await body.chunk(chunk)
                await send_end(send)
            finally:
                await response.aclose()
        except ProxyError:
            if not started:
                raise


async def _named_in(asked: _Asked, limit: int) -> list[Reference]:
    """Return the objects that a body names, decompressed as its provider would: JSON, else form fields."""
    body, headers = plain(asked.body, asked.headers, limit=limit)
    kind = value_of(headers, "content-type").lower()
    if is_form(headers):
        return objects.in_fields(await fields_of(body, headers))
    if kind.startswith("application/x-www-form-urlencoded"):
        return objects.in_query(body.decode("latin-1"))
    return await named_in(body)


def _unserved(method: str, path: str) -> NotFound:
    if speaks_messages(path):
        return NotFound(f"No Anthropic server is configured that could answer {method} /v1{path[:120]}.")
    return NotFound(
        f"No provider is configured that could answer {method} /v1{path[:120]}. Set OPENAI_API_KEY or "
        "OPENAI_BASE_URL, or start with --upstream URL."
    )


def _is_list(method: str, path: str) -> bool:
    return method in ("GET", "HEAD") and (path == "/models" or path.startswith("/models/"))


def _refuse_ours(scope: Scope, path: str) -> None:
    """Refuse to forward a path of Throughline's memory, in any spelling, to the provider."""
    first, _, rest = unquote(path).lower()[1:].partition("/")
    if first in _OURS or (first == "images" and rest.partition("/")[0] not in _IMAGE_MODELS):
        raise not_served(scope)


def _fields(body: bytes) -> Mapping[str, Any]:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def settled(path: str) -> tuple[str, ...]:
    """Return the decoded segments of a path.

    The slashes in a model's name may be encoded, as in ``/models/org%2Fname``, and so may a question mark.

    Args:
        path: The path after ``/v1``, as the client wrote it.

    Raises:
        NotFound: If decoding it again, folding its letters or resolving its dots would give another path.
    """
    raw = path.split("/")[1:]
    segments = tuple(map(_decoded, raw))
    for at, segment in enumerate(segments):
        if any(_is_shifty(form, is_name=at > 0 and segments[0] == _MODELS) for form in _forms(segment)):
            raise NotFound("There is nothing at a path that reads differently once it is decoded again.")
    return segments


def _decoded(raw: str) -> str:
    try:
        return unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        raise NotFound("There is nothing at a path that is not UTF-8.") from None


def _forms(segment: str) -> set[str]:
    """Return the readings of a segment by servers that fold letters or drop invisible characters."""
    folded = unicodedata.normalize("NFKC", segment)
    return {segment, folded, "".join(one for one in folded if unicodedata.category(one) != "Cf").strip()}


def _is_shifty(segment: str, *, is_name: bool) -> bool:
    parts = segment.split("/") if is_name else [segment]
    if _MOVING.search(segment) or any(map(_DOTS.fullmatch, parts)) or (len(parts) > 1 and "" in parts):
        return True
    return not is_name and _SEPARATING.search(segment) is not None
