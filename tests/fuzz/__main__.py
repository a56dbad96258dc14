"""``python -m tests.fuzz --requests 20000``: generated requests to a real server with memory on; prints failures."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path

import structlog

from tests.conformance import tools
from tests.fakes.provider import FakeProvider
from tests.fuzz.bounds_play import run_bounds
from tests.fuzz.fields import BODIES, every_field
from tests.fuzz.run import Findings, ask_all, fuzz, sturdy
from tests.fuzz.spec import fuzz_spec
from tests.fuzz.tenancy import play
from tests.running import Running
from tests.talking import BOTH, FACT, speaking

_ROUND = 500
_GRAVE = ("error", "critical", "exception")


def main() -> int:
    """Return 1 if a response was a 5xx, an unexpected line was logged, or memory stopped working."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--requests", type=int, default=20_000, help="How many in all.")
    parser.add_argument("--seed", type=int, default=0, help="Another seed, other requests.")
    parser.add_argument(
        "--spec-examples", type=int, default=8, help="Of the specification, for each operation; 0: none."
    )
    parser.add_argument("--histories", type=int, default=200, help="Of several scopes at once.")
    parser.add_argument("--bounds", type=int, default=20, help="Histories over every path, by scopes much alike.")
    given = parser.parse_args()
    run_bounds(given.bounds, first_seed=given.seed)
    print(f"{given.bounds} histories over every path", flush=True)
    logged: Counter[str] = Counter()
    provider = FakeProvider().start()
    provider.script(sturdy)
    with tempfile.TemporaryDirectory() as folder, Running(Path(folder), upstream=provider.base_url) as server:
        structlog.configure(processors=[lambda _, method, event: _kept(logged, method, event)])
        sent, complaint = _by_spec(server, given.spec_examples)
        print(f"{sent} requests by the specification", flush=True)
        findings, started = _by_field(server), time.monotonic()
        play(server, given.histories, first_seed=given.seed)
        print(f"{given.histories} histories of several scopes", flush=True)
        while (left := given.requests - sent - findings.statuses.total() - len(findings.failures)) > 0:
            findings += fuzz(server.origin, min(left, _ROUND), first_seed=given.seed + findings.statuses.total())
            provider.seen.clear()
            rate = findings.statuses.total() / (time.monotonic() - started)
            print(f"{findings.statuses.total()} made up, {rate:.0f}/s, {len(findings.failures)} failures", flush=True)
        works = _still_remembers(server)
    provider.stop()
    print(f"answers by status: {dict(sorted(findings.statuses.items()))}")
    for request, answer in findings.failures[:20]:
        print(f"\n{answer}\n  {request}")
    print(complaint, *(f"logged {count} times: {line}" for line, count in logged.most_common()), sep="\n")
    print("memory still works" if works else "MEMORY NO LONGER WORKS")
    return int(bool(findings.failures or complaint or logged or not works))


def _by_spec(server: Running, examples: int) -> tuple[int, str]:
    if not examples:
        return 0, ""
    tools.install()
    return fuzz_spec(server.base_url, examples)


def _by_field(server: Running) -> Findings:
    findings = Findings()
    for name in BODIES:
        with server.http("sk-fuzz-fields") as http:
            memory = http.post("/memories", json={"text": f"I know {name}"}).json()["id"]
        findings += ask_all(server.origin, every_field(name, memory))
    print(f"{findings.statuses.total()} requests with another value in a field", flush=True)
    return findings


def _kept(logged: Counter[str], method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    if method in _GRAVE:
        logged[f"{event.get('event')} {event.get('error', '')}".strip()] += 1
    raise structlog.DropEvent


def _still_remembers(server: Running) -> bool:
    with speaking(server) as speaker:
        speaker.tell(FACT)
        return speaker.texts() == BOTH


if __name__ == "__main__":
    raise SystemExit(main())
