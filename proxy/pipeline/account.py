"""Step 1b: what a provider keeps in the operator's account is open only to those who put it there; fails closed."""

from __future__ import annotations

from proxy.errors import Forbidden, PreviousReplyNotFound
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.identify import scope_for
from proxy.services import Services


async def guard_account(exchange: Exchange, services: Services) -> None:
    """Let a request continue only replies given in its own scope, where all keys share one account of the provider's.

    Raises:
        PreviousReplyNotFound: If it continues a reply that was not given in its scope.
        Forbidden: If it names a conversation of the provider's.
        StoreUnavailable: If that cannot be found out.
    """
    request, auth = exchange.request, services.settings.auth
    if request is None or not exchange.continues or auth.mode != "keys" or auth.share_provider_account:
        return
    mend = "Its operator may allow it with auth.share_provider_account: true."
    if request.conversation:
        raise Forbidden(
            f"A `conversation` stands in the provider account that all keys of this server share. {mend}",
            param="conversation",
        )
    scope = exchange.scope or scope_for(exchange.identity, exchange.header_map, request.body, services)
    for part in services.both():
        if await part.replies.thread(scope, request.continues) is not None:
            return
    raise PreviousReplyNotFound(
        f"Previous response with id {request.continues[:80]!r} not found: it was not given to this key here, or with "
        "memory off. Send the conversation in `input`.",
        param="previous_response_id",
    )
