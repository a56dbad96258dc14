"""Send generated requests to a running server and collect wrong responses."""

from __future__ import annotations

import http.client
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fakes.acting import WIRES, acting
from tests.fakes.acts import Act
from tests.fakes.provider import Seen
from tests.fakes.replies import Reply, default, error
from tests.fuzz.shapes import Request, requests
from tests.wire.rawhttp import Answer, send


@dataclass
class Findings:
    """Statuses of all responses, and the failures."""

    statuses: Counter[int] = field(default_factory=Counter)
    failures: list[tuple[Request, str]] = field(default_factory=list)

    def take(self, request: Request, answer: Answer) -> None:
        self.statuses[answer.status] += 1
        if answer.status >= 500 or (answer.status >= 400 and request.method != "HEAD" and not _is_in_shape(answer)):
            self.failures.append((request, f"{answer.status} {answer.body[:200]!r}"))

    def __iadd__(self, other: Findings) -> Findings:
        self.statuses += other.statuses
        self.failures += other.failures
        return self


def _is_in_shape(answer: Answer) -> bool:
    """Return whether the SDKs can parse an error."""
    try:
        found = json.loads(answer.body)["error"]
        return isinstance(found["message"], str) and isinstance(found["type"], str)
    except (ValueError, KeyError, TypeError):
        return False


def sturdy(seen: Seen) -> Reply:
    """Reply to any request; this provider itself never fails."""
    wire = next((wire for path, wire in WIRES.items() if seen.method == "POST" and seen.path.endswith(path)), None)
    try:
        if wire is None:
            return default(seen.method, seen.path, seen.query, seen.body)
        reply = acting(seen)
        if reply is not None and reply.status == 200:
            return reply
    except Exception:  # noqa: BLE001 - whatever it cannot read
        pass
    if wire is None:
        return error(400, "The request cannot be read.", "invalid_request")
    return wire.reply(Act("Noted."), {"model": "m", "stream": b'"stream": true' in seen.body})


def ask(origin: str, request: Request) -> Answer:
    """Send one request byte for byte."""
    return send(origin, request.method, request.target, request.headers, request.body)


def ask_all(origin: str, asked: Iterable[Request]) -> Findings:
    """Send all requests."""
    findings = Findings()
    for request in asked:
        try:
            findings.take(request, ask(origin, request))
        except (OSError, http.client.HTTPException) as error:
            findings.failures.append((request, repr(error)))
    return findings


def fuzz(origin: str, count: int, *, first_seed: int = 0) -> Findings:
    """Send ``count`` generated requests; the same seed gives the same requests."""
    findings = Findings()

    @seed(first_seed)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(requests())
    def one(request: Request) -> None:
        try:
            findings.take(request, ask(origin, request))
        except (OSError, http.client.HTTPException) as error:
            findings.failures.append((request, repr(error)))

    one()
    return findings
