"""Find the person that a request names, in a fixed order of sources; an unfilled template names no person."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from binascii import Error as NotBase64
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import unquote

import orjson

from proxy.errors import NamesNobody

JWT_HEADER = "x-openwebui-user-jwt"
JWT_ISSUER = "open-webui"
JWT_LEEWAY_S = 60  # clock difference of two machines
MAX_JWT = 8_192  # characters
DEVICE = "device_user"  # of metadata: the ``user_id`` next to it identifies a coding agent's device or account

_OPEN_WEBUI_ID = "x-openwebui-user-id"
# An unfilled template, in whole or in part, and programming languages' words for null.
_TEMPLATE = re.compile(
    r"\{\{.{0,200}?\}\}|\{%.{0,200}?%\}|<%.{0,200}?%>|\$\{[^}]{0,200}\}|#\{[^}]{0,200}\}|\[\[.{0,200}?\]\]"
    r"|\A\W*(?:\$[A-Za-z_][\w.]*|%_*[A-Za-z][\w.]*%|<[A-Za-z_][\w .-]*>|\{[A-Za-z_][\w.]*\}|__[A-Z][A-Z_]*__)\W*\Z",
    re.DOTALL,
)
_NOTHING = re.compile(
    r"""\A[\s_"'()<>\[\].-]*(?:undefined|null|none|nil|nan|n/?a|object \w+|void 0)[\s_"'()<>\[\].-]*\Z""", re.IGNORECASE
)


def is_unfilled(name: str) -> bool:
    """Return whether a name is an unfilled template or a word for null.

    >>> [is_unfilled(name) for name in ("{{USER_ID}}", "%USER%", "null", "[object Object]", "ana", "Null Island")]
    [True, True, True, True, False, False]
    """
    plain = unquote(name)
    return bool(_TEMPLATE.search(plain) or _NOTHING.match(plain))


def named_person(
    headers: Mapping[str, str], body: Mapping[str, Any], *, secret: str, now: datetime, is_of_device_owner: bool
) -> str:
    """Return the person that a request names, "" if none; the first source present decides.

    Args:
        headers: By lower-case name.
        body: As parsed.
        secret: Open WebUI's secret for its signed user token; "" if none is configured.
        now: Time of the request.
        is_of_device_owner: The key is a person's own, so that a device's id names no other person.

    Raises:
        NamesNobody: If that source is unfilled, or its signature is invalid.
    """
    explicit = headers.get("x-memory-user", "").strip()
    if not explicit and (JWT_HEADER in headers or (secret and headers.get(_OPEN_WEBUI_ID, "").strip())):
        return _signed(headers.get(JWT_HEADER, "").strip(), secret, now)
    metadata = body.get("metadata")
    told = metadata if isinstance(metadata, Mapping) else {}
    own_id = None if is_of_device_owner and told.get(DEVICE) else told.get("user_id")
    candidates = [
        explicit,
        headers.get(_OPEN_WEBUI_ID, "").strip(),
        headers.get("x-sm-user-id", "").strip(),
        body.get("safety_identifier"),
        own_id,
        body.get("user"),
    ]
    name = next((one for one in candidates if isinstance(one, str) and one), "")
    if name and is_unfilled(name):
        raise NamesNobody(
            f"The user's name is {name[:60]!r}, a template that the client did not fill in. Mend it in the client's "
            "settings, or leave it out."
        )
    return name


def _signed(token: str, secret: str, now: datetime) -> str:
    """Return the subject of a JSON Web Token (RFC 7519) in HS256 that Open WebUI signed and that is valid now."""
    if not secret:
        raise NamesNobody("X-OpenWebUI-User-Jwt cannot be checked: set auth.openwebui_jwt_secret to its secret.")
    refused = NamesNobody(
        "X-OpenWebUI-User-Jwt is missing or does not hold: its signature, issuer or time is not right. Compare "
        "auth.openwebui_jwt_secret with Open WebUI's FORWARD_USER_INFO_HEADER_JWT_SECRET."
    )
    signed, _, signature = token[:MAX_JWT].rpartition(".")
    head, _, claims = signed.partition(".")
    try:
        right = hmac.digest(secret.encode(), signed.encode("ascii"), hashlib.sha256)
        given, header, told = _decoded(signature), orjson.loads(_decoded(head)), orjson.loads(_decoded(claims))
    except (ValueError, NotBase64) as error:
        raise refused from error
    if not hmac.compare_digest(right, given) or not isinstance(header, dict) or not isinstance(told, dict):
        raise refused
    expires, subject = told.get("exp"), told.get("sub")
    is_now = isinstance(expires, int | float) and now.timestamp() <= expires + JWT_LEEWAY_S
    if header.get("alg") != "HS256" or told.get("iss") != JWT_ISSUER or not is_now:
        raise refused
    if not isinstance(subject, str) or not subject.strip() or is_unfilled(subject):
        raise refused
    return subject


def _decoded(part: str) -> bytes:
    return base64.b64decode(part.encode("ascii") + b"=" * (-len(part) % 4), altchars=b"-_", validate=True)
