"""Store attachments concurrently with forwarding, so that they add no latency."""

from __future__ import annotations

import asyncio
import base64
import binascii

import structlog

from proxy.dialects.attachments import Attachment
from proxy.errors import ProxyError
from proxy.media.base import MediaRefused
from proxy.memory.library.library import Parcel
from proxy.pipeline.exchange import Exchange
from proxy.pipeline.steps import Attached
from proxy.process.threads import in_thread, spawn
from proxy.services import Services
from proxy.store.media import Shown

_log = structlog.get_logger(__name__)
_MAX = 64  # new attachments of one request
_MAX_WAIT_S = 1.0
_HEAD_START_S = 0.015  # so that the request is forwarded before its files are decoded
_PIECE = 2**20  # Base64 characters a call: each holds the interpreter lock for about a millisecond


def keep_beside(exchange: Exchange, services: Services) -> None:
    """Start storing the attachments of the request's new messages."""
    if not exchange.learns or not exchange.files.items:
        return
    old = {point.index for point in exchange.placed.points if point.hash in exchange.placed.known}
    fresh = [one for one in exchange.files.items if one.attachment.place[0] not in old][-_MAX:]
    here = [one for one in fresh if not one.attachment.url or one.item is not None]
    if here:
        exchange.files.keeping = spawn(_keep_all(exchange, services, here), "keep attachments")
    elsewhere = [one for one in fresh if one.attachment.url and one.item is None and one.action == "left"]
    fetches = services.settings.media.fetch_urls
    for one in elsewhere:
        one.reason = "being_fetched" if fetches else "not_fetched"
    if elsewhere and fetches:  # the reply does not wait for the web
        spawn(_keep_all(exchange, services, elsewhere), "fetch attachments")


async def settle(exchange: Exchange) -> None:
    """Wait up to ``_MAX_WAIT_S`` for attachments that are being stored, so that they are as durable as the turn."""
    if exchange.files.keeping is not None:
        await asyncio.wait([exchange.files.keeping], timeout=_MAX_WAIT_S)


async def take(attachment: Attachment, exchange: Exchange, services: Services) -> Shown | None:
    """Store one attachment; return None if its content is not available.

    Raises:
        MediaRefused: If its type is not supported.
    """
    fetched = await content_of(attachment, services)
    if fetched is None:
        return None
    data, name, declared = fetched
    parcel = Parcel(data, name, declared, "tool" if attachment.is_of_tool else "chat", exchange.moment)
    item, is_new = await services.library.take_in(exchange.required_scope, parcel)
    services.library.recognise(exchange.required_scope, attachment.data, item)
    if is_new or item.names:
        services.arrived.set()
    return item


async def content_of(attachment: Attachment, services: Services) -> tuple[bytes, str, str] | None:
    """Return an attachment's bytes, name and declared type; None if they would have to be fetched and may not be."""
    name, declared = attachment.name, attachment.declared
    if attachment.text:
        return attachment.text.encode("utf-8", "replace"), name or "document.txt", declared
    if attachment.data:
        return await in_thread("cpu", decoded, attachment.data), name, declared
    if attachment.url and services.settings.media.fetch_urls:
        fetched = await services.fetch(attachment.url, services.reading)
        return fetched.data, name or fetched.name, fetched.media_type
    return None


def decoded(data: str) -> bytes:
    """Return the bytes of a Base64 text.

    Raises:
        MediaRefused: If it is not valid Base64.
    """
    try:
        if len(data) <= _PIECE:
            return base64.b64decode(data)
        pieces = [data[at : at + _PIECE] for at in range(0, len(data), _PIECE)]
        return b"".join(binascii.a2b_base64(piece) for piece in pieces)
    except (binascii.Error, ValueError) as error:
        raise MediaRefused("The data is not valid Base64.", "malformed") from error


async def _keep_all(exchange: Exchange, services: Services, fresh: list[Attached]) -> None:
    await asyncio.sleep(_HEAD_START_S)
    for one in fresh:
        try:
            if one.is_in_memory:
                one.item, one.is_in_memory = await take(one.attachment, exchange, services), False
            elif one.item is not None:
                await services.library.used(exchange.required_scope, one.item)
            elif one.action == "left":
                one.item = await take(one.attachment, exchange, services)
                if one.action == "left":  # else it was meanwhile replaced by text, for another model
                    one.action, one.reason = ("kept", "") if one.item else ("left", "not_here")
        except MediaRefused as refused:
            one.action, one.reason = "refused", refused.reason
        except ProxyError as error:
            one.action, one.reason = "failed", error.code
        except Exception as error:  # noqa: BLE001 - whatever breaks here must not break the chat
            one.action, one.reason = "failed", type(error).__name__
            _log.warning("an attachment was not kept", error=one.reason)
