"""Open WebUI's requests with ENABLE_FORWARD_USER_INFO_HEADERS: one key, separate memory for each user."""

import json
import time
import urllib.request

from checks import BASE_URL, COUNT, FACT, HELLO, IMAGE, KEY, MODEL, QUESTION, Checks

checks = Checks("headers of 0.6")


def headers(user: str, chat: str) -> dict[str, str]:
    return {
        "Authorization": f"Bearer {KEY}",
        "Content-Type": "application/json",
        "X-OpenWebUI-User-Name": user,
        "X-OpenWebUI-User-Id": f"id-{user}",
        "X-OpenWebUI-User-Email": f"{user}@example.org",
        "X-OpenWebUI-User-Role": "user",
        "X-OpenWebUI-Chat-Id": chat,
    }


def ask(user: str, chat: str, content, **more) -> str:
    body = {"model": MODEL, "messages": [{"role": "user", "content": content}], **more}
    request = urllib.request.Request(f"{BASE_URL}/chat/completions", json.dumps(body).encode(), headers(user, chat))
    with urllib.request.urlopen(request, timeout=30) as response:
        return response.read().decode()


def learned(user: str) -> None:
    request = urllib.request.Request(f"{BASE_URL}/state", headers=headers(user, "c"))
    while True:
        with urllib.request.urlopen(request, timeout=10) as response:
            if json.load(response)["pending_turns"] == 0:
                return
        time.sleep(0.1)


def of_another_user() -> str:
    answer = ask("bob", "b1", QUESTION)
    return "nothing of ann" if "Shram" not in answer else answer


schema = {"type": "object", "properties": {"name": {"type": "string"}, "people": {"type": "integer"}}}
tool = {"type": "function", "function": {"name": "weather", "parameters": schema}}
shape = {"type": "json_schema", "json_schema": {"name": "town", "schema": schema}}
parts = [{"type": "text", "text": HELLO}, {"type": "image_url", "image_url": {"url": IMAGE}}]
checks.run("text", lambda: ask("ann", "a1", FACT), "You said")
checks.run("stream", lambda: ask("ann", "a2", HELLO, stream=True), "data: [DONE]")
checks.run("tools", lambda: ask("ann", "a5", COUNT, tools=[tool]), '"finish_reason":"tool_calls"')
checks.run("structured", lambda: ask("ann", "a6", COUNT, response_format=shape), '\\"people\\":42')
checks.run("image", lambda: ask("ann", "a3", parts), "1 image(s)")
learned("ann")
checks.run("memory", lambda: ask("ann", "a4", QUESTION), "Shram")
checks.run("users apart", of_another_user, "nothing of ann")
checks.report()
