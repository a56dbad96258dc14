"""Step 1b, account guard: a request may name only provider objects handed out in its scope. Fails closed."""

from __future__ import annotations

from collections.abc import Sequence

from proxy.dialects import objects
from proxy.dialects.objects import Reference
from proxy.errors import NotFound, NotHandedOut, ReplyNotHandedOut
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.handing import Handing
from proxy.pipeline.identify import scope_for
from proxy.pipeline.policy import beside_loop
from proxy.services import Services
from proxy.settings.load import Settings
from proxy.types import Scope

_MAX_NAMED = 10_000  # ids in one request


def is_shared(settings: Settings) -> bool:
    """Return whether all keys share one provider account and must be isolated in it."""
    return settings.auth.mode == "keys" and not settings.auth.share_provider_account


async def guard_account(exchange: Exchange, services: Services) -> None:
    """Refuse objects that were not handed out in the request's scope, and prepare to record those of its reply.

    Raises:
        NotHandedOut: If it names such an object, at any depth of its body or in its query.
        StoreUnavailable: If the store cannot be read.
    """
    request = exchange.request
    if request is None or not is_shared(services.settings):
        return
    scope = exchange.scope or scope_for(exchange.identity, exchange.header_map, request.body, services)
    named = [*await named_in(exchange.body), *objects.in_query(exchange.query)]
    await refuse_strange(scope, named, services)
    exchange.handing = Handing(scope, exchange.path.strip("/").partition("/")[0])


async def named_in(body: bytes) -> list[Reference]:
    """Return the provider objects that a JSON body names; a large body is parsed in a thread.

    Raises:
        InvalidRequest: If it is not JSON.
    """
    return await beside_loop(body, objects.in_body, body)


async def refuse_strange(scope: Scope, named: Sequence[Reference], services: Services) -> None:
    """Refuse objects that were not handed out in a scope.

    Raises:
        NotHandedOut: If one was not; the error is the same as for an object that never existed.
        StoreUnavailable: If the store cannot be read.
    """
    left = {one.id: one for one in reversed(named)}
    if len(left) > _MAX_NAMED:
        raise NotHandedOut(f"The request names more than {_MAX_NAMED} objects of the provider.")
    for part in services.both():
        missing = await part.handed.missing(scope, list(left), now=services.clock.now()) if left else []
        left = {id_: left[id_] for id_ in missing}
    for one in (one for one in named if one.id in left):
        if not any([await _is_kept(scope, one, part) for part in services.both()]):
            raise _refusal(one)


async def _is_kept(scope: Scope, one: Reference, part: Services) -> bool:
    """Return whether an object is recorded elsewhere: a reply that can be continued, or an upload."""
    if one.kind == "response":
        return await part.replies.thread(scope, one.id) is not None
    if one.kind != "file":
        return False
    try:
        await part.files.get(scope, one.id)
    except NotFound:
        return False
    return True


def _refusal(one: Reference) -> NotHandedOut:
    param = one.param.encode("utf-8", "replace").decode()[:80] or None
    if one.param == "previous_response_id":
        return ReplyNotHandedOut(
            f"Previous response with id {one.id[:80]!r} not found: it was not given to this key and user here. "
            "Send the conversation in `input`.",
            param=param,
        )
    mend = " Send the item itself, without `id`." if one.kind == "item" else ""
    return NotHandedOut(
        f"No such {one.kind}: {one.id[:80]!r} was not given to this key and user here.{mend}", param=param
    )
