"""curl with the README's command."""

import json
import subprocess

from checks import BASE_URL, COUNT, FACT, HELLO, IMAGE, KEY, MODEL, QUESTION, Checks, wait_learned

VERSION = subprocess.run(["curl", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
checks = Checks(VERSION)
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}, "people": {"type": "integer"}}}


def curl(content, **more) -> str:
    body = json.dumps({"model": MODEL, "messages": [{"role": "user", "content": content}], **more})
    headers = ["-H", f"Authorization: Bearer {KEY}", "-H", "Content-Type: application/json"]
    command = ["curl", "-sSN", "--fail-with-body", f"{BASE_URL}/chat/completions", *headers, "-d", body]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def stream() -> str:
    lines = curl(HELLO, stream=True).splitlines()
    assert lines[-2] == "data: [DONE]"
    chunks = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: {")]
    return "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks)


def structured() -> str:
    shape = {"type": "json_schema", "json_schema": {"name": "town", "schema": SCHEMA}}
    return json.loads(curl(COUNT, response_format=shape))["choices"][0]["message"]["content"]


parts = [{"type": "text", "text": HELLO}, {"type": "image_url", "image_url": {"url": IMAGE}}]
tool = {"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}
checks.run("text", lambda: curl(FACT), "You said")
checks.run("stream", stream, HELLO)
checks.run("tools", lambda: curl(COUNT, tools=[tool]), '"finish_reason":"tool_calls"')
checks.run("structured", structured, '"people":42')
checks.run("image", lambda: curl(parts), "1 image(s)")
wait_learned()
checks.run("memory", lambda: curl(QUESTION), "Shram")
checks.report()
