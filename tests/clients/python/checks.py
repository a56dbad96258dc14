"""Checks of each client's script, and their output; standard library only, as it runs in each client's environment."""

from __future__ import annotations

import json
import os
import time
import traceback
import urllib.request
from collections.abc import Callable

_ENVIRONMENT = os.environ  # noqa: TID251 - it runs beside clients, without proxy.settings.load
BASE_URL = _ENVIRONMENT["OPENAI_BASE_URL"]
KEY = _ENVIRONMENT["OPENAI_API_KEY"]
MODEL = "gpt-4o-mini"

FACT = "I use Shram and Magnet as productivity tools"
QUESTION = "What are the productivity tools that I use?"
HELLO = "Say hello to everyone in Paris"
COUNT = "There are 42 people in Paris"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE = f"data:image/png;base64,{PIXEL}"


class Checks:
    """Runs checks, each regardless of earlier failures, and prints one line of JSON."""

    def __init__(self, version: str) -> None:
        self._version = version
        self._passed: list[str] = []
        self._failed: dict[str, str] = {}

    def run(self, name: str, check: Callable[[], str], expected: str) -> None:
        """Pass if the client's result contains the provider's text or the injected one."""
        try:
            seen = check()
            assert expected in seen, f"{expected!r} is not in {seen!r}"
        except Exception as error:  # noqa: BLE001 - whatever a client raises is a result
            self._failed[name] = f"{type(error).__name__}: {error}"
            if _ENVIRONMENT.get("CLIENTS_TRACE"):
                traceback.print_exc()
        else:
            self._passed.append(name)

    def report(self) -> None:
        print(json.dumps({"version": self._version, "passed": self._passed, "failed": self._failed}), flush=True)


def wait_learned() -> None:
    """Wait until all turns are learned."""
    deadline = time.monotonic() + 60
    request = urllib.request.Request(f"{BASE_URL}/state", headers={"Authorization": f"Bearer {KEY}"})
    while True:
        with urllib.request.urlopen(request, timeout=10) as response:
            if json.load(response)["pending_turns"] == 0:
                return
        assert time.monotonic() < deadline
        time.sleep(0.1)


def weather(city: str) -> str:
    """Tell the weather in a city."""
    return f"{city} is sunny"
