"""One request for a dashboard page: its user, its API calls, its rendering."""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Callable, Collection, Coroutine, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import httpx
import jinja2
from cryptography.fernet import Fernet, InvalidToken
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from proxy.api.asgi import client
from proxy.api.caller import scope_of_caller
from proxy.api.dashboard import HEADERS, ROOT, charts, words
from proxy.api.dashboard.words import say
from proxy.errors import Forbidden, InvalidRequest, NotFound, ProxyError
from proxy.pipeline.admission import identity_of
from proxy.services import Services
from proxy.types import Scope

COOKIE = "throughline"
SIGNED_IN_S = 12 * 3600
_MAX_FORM = 200_000  # bytes
_FORM = "application/x-www-form-urlencoded"


class Refused(Exception):
    """The API refused; the message is for the reader."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class SignedOut(Exception):
    """No user is signed in, or the sign-in has expired."""


class Visit:
    """A request for a page by a signed-in user."""

    def __init__(self, request: Request, key: str, user: str) -> None:
        self.request, self.key, self.user = request, key, user
        self.agent = request.query_params.get("agent", "")  # agent by which the page filters memory
        self.form: dict[str, list[str]] = {}

    @classmethod
    async def of(cls, request: Request, *, word: str | None = None) -> Visit:
        """Return the visit of a request; for a POST, with its form.

        Args:
            request: The request.
            word: CSRF token, if it is not in the body.

        Raises:
            SignedOut: If no user is signed in.
            Forbidden: If the form's CSRF token is wrong.
        """
        kept = seal(request).opened(request.cookies.get(COOKIE, ""))
        if kept is None:
            raise SignedOut
        visit = cls(request, kept["key"], kept["user"])
        if request.method == "POST":
            refuse_others(request)
            visit.form = {} if word is not None else await form_of(request)
            given = visit.field("csrf") if word is None else word
            if not hmac.compare_digest(given.encode(), visit.csrf.encode()):
                raise Forbidden(say("This form was not made for you, or you signed in anew. Open the page again."))
        return visit

    @property
    def csrf(self) -> str:
        """CSRF token of this visitor's forms."""
        return seal(self.request).word(self.request.cookies.get(COOKIE, ""))

    def field(self, name: str, default: str = "") -> str:
        """Return a field of the form, ``default`` if it is missing."""
        return self.form.get(name, [default])[-1]

    def action(self, known: Collection[str]) -> str:
        """Return the action that the form requests.

        Raises:
            InvalidRequest: If it is not among the known ones.
        """
        asked = self.field("action")
        if asked not in known:
            raise InvalidRequest(say("There is no such action here. Open the page again."), param="action")
        return asked

    def asked(self, name: str, default: str = "") -> str:
        """Return a parameter of the page's URL."""
        return self.request.query_params.get(name, default)

    async def scope(self) -> Scope:
        """Return the scope whose memory the visitor sees."""
        services: Services = self.request.app.state.services
        pairs = [(name, value.encode().decode("latin-1")) for name, value in self._named().items()]  # as off a wire
        return await scope_of_caller(await identity_of(pairs, services), pairs, services)

    def _named(self) -> dict[str, str]:
        """Return the headers that identify the visitor."""
        host = self.request.headers.get("host", "localhost")
        named = {"authorization": f"Bearer {self.key}", "host": host}
        wanted = {"x-memory-user": self.user, "x-memory-agent": self.agent}
        return named | {name: value for name, value in wanted.items() if value}

    async def raw(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Call the API as this visitor.

        Raises:
            NotFound: If the path is impossible.
        """
        try:
            url = httpx.URL(quote(path))  # an id may hold any character
        except httpx.InvalidURL:
            url = None
        if url is None or url.path != path:  # `..` would lead elsewhere
            raise NotFound(say("There is no such page."))
        named = {**self._named(), **options.pop("headers", {})}
        headers = {name: value.encode() for name, value in named.items()}  # a name may be in any script
        async with client(self.request.app) as api:
            return await api.request(method, url, headers=headers, **options)

    async def ask(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        """Return the API's answer.

        Raises:
            SignedOut: If it rejects the key.
            Refused: If it refuses the request.
        """
        answer = await self.raw(method, path, **options)
        if answer.status_code == httpx.codes.UNAUTHORIZED:
            raise SignedOut
        body: dict[str, Any] = answer.json() if answer.content else {}
        if not answer.is_success:
            told = body.get("error")
            raise Refused(
                answer.status_code, str(told.get("message")) if isinstance(told, dict) else say("That failed.")
            )
        return body

    async def get(self, path: str, **params: Any) -> dict[str, Any]:
        """Return the resource at a path; empty parameters are omitted."""
        return await self.ask("GET", path, params={name: value for name, value in params.items() if value != ""})

    def page(self, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """Return a page; htmx gets the whole page too, and takes its part of it."""
        keep = f"?{urlencode({'agent': self.agent})}" if self.agent else ""
        shown = {"visit": self, "here": self.request.url.path, "csrf": self.csrf, "keep": keep, **values}
        return rendered(template, status=status, **shown)

    def go(self, path: str, **params: str) -> RedirectResponse:
        """Return the redirect to the next page after a write."""
        params = {"agent": self.agent, **params}
        query = urlencode({name: value for name, value in params.items() if value})
        return RedirectResponse(f"{ROOT}{path}{'?' if query else ''}{query}", 303, headers=HEADERS)

    def back(self, **params: str) -> RedirectResponse:
        """Redirect to the page of the form."""
        at = urlsplit(self.request.headers.get("referer", ""))
        path = at.path.removeprefix(ROOT) if at.path.startswith(f"{ROOT}/") else "/memories"
        return self.go(path, **{**dict(parse_qsl(at.query)), **params})


class Seal:
    """Encrypts a key into a cookie that only this server can decrypt, and makes CSRF tokens."""

    def __init__(self, secret: str) -> None:
        self._fernet = Fernet(base64.urlsafe_b64encode(secret.encode()[:32]))
        self._secret = secret

    def closed(self, key: str, user: str) -> str:
        """Return the value of the cookie."""
        return self._fernet.encrypt(json.dumps({"key": key, "user": user}).encode()).decode()

    def opened(self, cookie: str) -> dict[str, str] | None:
        """Return the content of a cookie, None if it is not this server's or too old."""
        try:
            kept: dict[str, str] = json.loads(self._fernet.decrypt(cookie.encode(), ttl=SIGNED_IN_S))
        except (InvalidToken, ValueError):
            return None
        return kept

    def word(self, cookie: str) -> str:
        """Return the CSRF token for the holder of a cookie."""
        return hmac.digest(self._secret.encode(), cookie.encode(), "sha256").hex()


def seal(request: Request) -> Seal:
    """Return the seal of this server."""
    services: Services = request.app.state.services
    return _seal(services.hasher.digest("dashboard", "cookie"))


@cache
def _seal(secret: str) -> Seal:
    return Seal(secret)


def refuse_others(request: Request) -> None:
    """Refuse requests from pages of other sites.

    Raises:
        Forbidden: If the request comes from one.
    """
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is None and origin is not None:  # an older browser; behind a gateway the host is in x-forwarded-host
        hosts = {request.headers.get("host"), request.headers.get("x-forwarded-host")}
        site = "same-origin" if urlsplit(origin).netloc in hosts else "cross-site"
    if site not in (None, "same-origin", "none"):
        raise Forbidden(say("Forms of this dashboard come from its own pages."))


async def form_of(request: Request) -> dict[str, list[str]]:
    """Return the fields of a form.

    Raises:
        Forbidden: If the body is no form, is too large, or comes from a page of another site.
    """
    refuse_others(request)
    if not request.headers.get("content-type", "").startswith(_FORM):
        raise Forbidden(say("Forms of this dashboard come from its own pages."))
    body = await request.body()
    if len(body) > _MAX_FORM:
        raise Forbidden(say("A form may have {n} bytes.", n=_MAX_FORM))
    fields: dict[str, list[str]] = {}
    for name, value in parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True):
        fields.setdefault(name, []).append(value)
    return fields


def rendered(template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a page."""
    return HTMLResponse(text_of(template, **values), status, headers=HEADERS)


def text_of(template: str, **values: Any) -> str:
    """Return a template rendered with its values."""
    return _templates().get_template(template).render(**values)


def answered(data: bytes, media_type: str) -> Response:
    """Return bytes of the API's answer unchanged."""
    return Response(data, media_type=media_type, headers=HEADERS)


@cache
def _templates() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("proxy.api.dashboard"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    made.globals["times_of"] = lambda times: [(name, ms, ms) for name, ms in times.items()]
    made.globals.update(why_of=_why_of, root=ROOT, _=say, bars=charts.bars, rows_of=charts.rows, tell=words.tell)
    made.filters.update(day=_day, moment=_moment, named=words.named, short=words.short, number=_number, size=_size)
    return made


def _why_of(receipt: Mapping[str, Any]) -> dict[str, str]:
    """Return the reasons for which entries were injected, by id; "" for all others."""
    said = (
        ("profile", say("is always there")),
        ("opening", say("what the last conversations were about")),
    )
    found = {id_: why for kind, why in said for id_ in receipt.get(kind) or ()}
    return {**found, "": say("fits the question")}


def _number(value: float) -> str:
    return f"{value:,}".replace(",", "\u202f")


def _size(size_bytes: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if size_bytes < 1000 or unit == "GB":
            return f"{size_bytes:,.4g} {unit}".replace(",", "\u202f")
        size_bytes /= 1000
    return ""


def _day(value: str | None) -> str:
    return (value or "")[:10]


def _moment(value: str | None) -> str:
    if not value:
        return ""
    return datetime.fromisoformat(value.replace("Z", "+00:00")).astimezone(UTC).strftime("%Y-%m-%d %H:%M")


class PageRoute(APIRoute):
    """A page's route: redirects to sign-in if no user is signed in, and renders refusals as a page."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler with both behaviours."""
        handle = super().get_route_handler()

        async def shown(request: Request) -> Response:
            try:
                return await handle(request)
            except SignedOut:
                return RedirectResponse(f"{ROOT}/sign-in", 303, headers=HEADERS)
            except Refused as refused:
                status, told = refused.status, str(refused)
            except ProxyError as error:
                status, told = error.status, str(error)
            return rendered(
                "refused.html", status=status, told=told, visit=None, here=request.url.path, csrf="", keep=""
            )

        return shown
