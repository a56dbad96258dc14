"""``python -m tests.conformance``: run the suites directly and through the proxy; print a table and all differences."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.conformance import servers, tools
from tests.conformance.suites import SUITES, Outcome, Suite

WAYS = ("direct", "off", "on")


def main() -> int:
    """Return 1 if a test passes directly but not through the proxy."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("--only", default="", help="Run the suites whose name holds this.")
    only = parser.parse_args().only
    tools.install()
    suites = [suite for suite in SUITES if only in suite.name]
    outcomes: dict[str, Mapping[str, Outcome]] = {}
    for asks, serve in (("mock", servers.spec_mock), ("model", servers.provider)):
        mine = [suite for suite in suites if suite.asks == asks]
        if mine:
            with tempfile.TemporaryDirectory() as folder, serve(Path(folder)) as routes:
                outcomes |= {suite.name: _three_ways(suite, routes) for suite in mine}
    print(f"\n{'suite':<30} {'tests':>6} {'direct':>7} {'off':>7} {'on':>7}   (off, on: through us, by memory)")
    for name, ways in outcomes.items():
        passed = " ".join(f"{sum(ways[way].values()):>7}" for way in WAYS)
        print(f"{name:<30} {len(ways['direct']):>6} {passed}")
    differing = [line for name, ways in outcomes.items() for line in _differences(name, ways)]
    print("\n".join(["", *(differing or ["No test fares differently through us."])]))
    return 1 if differing else 0


def _three_ways(suite: Suite, routes: servers.Routes) -> Mapping[str, Outcome]:
    ways = {}
    for way in WAYS:
        print(f"{suite.name}: {way} …", flush=True)
        ways[way] = suite.run(getattr(routes, way))
        print(f"  {sum(ways[way].values())} of {len(ways[way])} passed", flush=True)
    return ways


def _differences(name: str, ways: Mapping[str, Outcome]) -> list[str]:
    return [
        f"{name}: {test}: {'passes' if ways['direct'].get(test) else 'fails'} directly, "
        f"{'passes' if ways[way].get(test) else 'fails'} with memory {way}"
        for way in WAYS[1:]
        for test in sorted(ways["direct"].keys() | ways[way].keys())
        if ways["direct"].get(test) != ways[way].get(test)
    ]


if __name__ == "__main__":
    raise SystemExit(main())
