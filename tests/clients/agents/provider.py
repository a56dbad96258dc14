"""A provider that makes an agent read a file once, and answers only from the memory in the request."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from proxy.text.fence import CLOSE, OPEN, without_blocks
from tests.fakes.acting import WIRES, example
from tests.fakes.acts import Act, Asked, Call
from tests.fakes.provider import Script, Seen
from tests.fakes.replies import SSE_HEADERS, Reply, anthropic_event

FILE = "notes.txt"
WORD = "heron"
FACT = "I use Shram as my productivity tool."
READ = f"Read the file {FILE} and tell me the word in it."
TELL = f"{FACT} {READ}"
ASK = "Which productivity tool do I use?"
BOTH = f"{ASK} {READ}"
GO_ON = "Say that once more."
KNOWN = "From memory: it is Shram."
UNKNOWN = "I do not know."
TITLE = "Tools of the trade"

# Edit format of an agent without tools.
EDIT = f"{FILE}\n```\n<<<<<<< SEARCH\n{WORD}\n=======\n{WORD}\nibis\n>>>>>>> REPLACE\n```"

_BLOCK = re.compile(rf"{OPEN}(?: kind=\"\w+\")?>.*?{CLOSE}", re.DOTALL)
# Calls the first of these that a client offers.
_TOOLS = (r"read(?:_?files?)?\Z", r"(?:exec_command|shell_command|shell|bash|run_commands?)\Z")
_PATH, _COMMAND = re.compile(r"path|file", re.IGNORECASE), re.compile(r"cmd|command", re.IGNORECASE)


def script(work: Path) -> Script:
    """Return the script for requests of an agent that works in a folder."""

    def answer(seen: Seen) -> Reply | None:
        wire = next((one for path, one in WIRES.items() if seen.method == "POST" and seen.path.endswith(path)), None)
        if wire is None:
            return None
        body = orjson.loads(seen.body)
        if any(item.get("type") == "compaction_trigger" for item in body.get("input") or [] if isinstance(item, dict)):
            return _compaction(body)
        return wire.reply(_decide(wire.asked(body), seen.body.decode(), work), body)

    return answer


def blocks(body: bytes) -> list[str]:
    """Return the memory blocks of a request, as they are in its JSON."""
    return _BLOCK.findall(body.decode().replace('\\"', '"'))


def _compaction(body: Mapping[str, Any]) -> Reply:
    """Return a summary that only the provider can read, as its only output."""
    item = {"type": "compaction", "id": "cmp_1", "encrypted_content": "c3VtbWFyeQ=="}
    usage = {"input_tokens": 9, "output_tokens": 7, "total_tokens": 16}
    whole = {"id": "resp_fake", "object": "response", "model": body["model"], "usage": usage, "output": [item]}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**whole, "status": "in_progress", "output": [], "usage": None}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {**whole, "status": "completed"}},
    ]
    return Reply([anthropic_event(event) for event in events], headers=SSE_HEADERS)


def _decide(asked: Asked, body: str, work: Path) -> Act:
    if asked.results:
        return Act(f"The word is {WORD}." if any(WORD in one for one in asked.results) else "There is no word.")
    if asked.schema is not None:
        return Act(orjson.dumps(example(asked.schema, TITLE)).decode())
    question = without_blocks(asked.question)
    if READ in question and (name := _reader(asked.tools)):
        arguments = _arguments(asked.tools[name], work / FILE)
        return Act(calls=(Call("call_1", name, orjson.dumps(arguments).decode()),))
    if READ in question and WORD in question:
        return Act(f"The word is {WORD}.")
    if READ in question and "SEARCH/REPLACE" in body:
        return Act(f"The word is {WORD}.\n\n{EDIT}")
    if (ASK in question or GO_ON in question) and (asked.tools or OPEN in body):
        return Act(KNOWN if any("Shram" in one for one in blocks(body.encode())) else UNKNOWN)
    return Act(TITLE)


def _reader(tools: Mapping[str, Any]) -> str | None:
    return next((name for one in _TOOLS for name in tools if re.match(one, name, re.IGNORECASE)), None)


def _arguments(schema: Mapping[str, Any], file: Path) -> dict[str, Any]:
    properties = schema.get("properties") or {}
    wanted = schema.get("required") or [name for name in properties if _PATH.search(name) or _COMMAND.search(name)]
    return {name: _value(name, properties.get(name) or {}, file) for name in wanted}


def _value(name: str, schema: Mapping[str, Any], file: Path) -> Any:
    if schema.get("type") == "array":
        one = schema.get("items") or {}
        inner = _arguments(one, file) if one.get("type") == "object" else _value(name, one, file)
        return [inner]
    if _COMMAND.search(name):
        return f"cat {file}"
    return str(file) if _PATH.search(name) else example(schema, TITLE)
