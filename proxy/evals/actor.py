"""Replay of one scenario as its users' clients would send it, step by step, and its questions.

A step is a list of the user's messages, or an object with one of:

- ``user``: messages of one conversation, each sent with its history; ``replies`` answer them; ``system`` comes first.
- ``requests``: whole message lists, sent unchanged.
- ``replay_sent``: a message appended to the last messages sent to the provider, including blocks.
- ``call``: ``{"delete" | "restore": text}``, ``{"patch": text, "to": text}``, ``{"forget": text}`` or
  ``{"method", "path", "body"}`` of the memory API.

and with ``time``, ``headers``, ``body`` (more fields of the request), ``as`` (another user), ``key`` (another key) or
``no_user`` (no header that names the user).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from proxy.evals.client import Asked, Client
from proxy.evals.metrics import flatten
from proxy.evals.verdict import find

REPLY = "OK."
_USER_HEADER = "X-OpenWebUI-User-Id"

Step = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Person:
    """One user of a scenario: a client with the user's key, the user's names in both APIs, and messages.

    Attributes:
        chats_as: User header of chat requests, "" if the request names the user otherwise.
        name: User header of the memory API.
        said: Messages that the user sent.
    """

    client: Client
    chats_as: str
    name: str
    said: list[str] = field(default_factory=list)


class Actor:
    """Player of one scenario's steps.

    Attributes:
        people: All users of the scenario so far.
        messages: Number of sent requests that end with a user's message.
    """

    def __init__(self, client: Client, id_: str) -> None:
        self._client = client
        self._id = id_
        self._sent: Sequence[Mapping[str, Any]] = ()
        self.people: dict[tuple[str, str], Person] = {}
        self.messages = 0

    def person(self, step: Step) -> Person:
        """Return the user of a step or a question."""
        key = str(step.get("key", ""))
        own = "" if step.get("no_user") else f"{self._id}{step.get('as', '')}"
        name = own or str(step.get("body", {}).get("user") or step.get("headers", {}).get(_USER_HEADER) or "")
        client = self._client.with_key(key) if key else self._client
        return self.people.setdefault((key, name), Person(client, own, name))

    async def play(self, step: Step) -> None:
        """Play one step."""
        person = self.person(step)
        if "call" in step:
            await self._call(person, step["call"])
        elif "replay_sent" in step:
            person.said.append(step["replay_sent"])
            more = [{"role": "assistant", "content": REPLY}, {"role": "user", "content": step["replay_sent"]}]
            await self._send(person, step, [*self._sent, *more])
        elif "requests" in step:
            for messages in step["requests"]:
                said = [flatten(one["content"]) for one in messages if one["role"] == "user"]
                person.said.extend(text for text in said if text not in person.said)
                await self._send(person, step, messages)
        else:
            await self._converse(person, step)

    async def settle(self, step: Step) -> None:
        """Wait until all messages of the step's user are learned."""
        person = self.person(step)
        await person.client.settle(person.name)

    async def ask(self, probe: Step) -> Asked:
        """Ask a question in a new session without learning from it."""
        messages = probe.get("messages") or [{"role": "user", "content": probe["probe"]}]
        person = self.person(probe)
        return await person.client.chat(
            messages,
            user=person.chats_as,
            time_of_turn=probe.get("time"),
            mode="read",
            reply=REPLY,
            headers=probe.get("headers"),
            fields=probe.get("body"),
        )

    async def _converse(self, person: Person, step: Step) -> None:
        history: list[dict[str, str]] = [{"role": "system", "content": step["system"]}] if "system" in step else []
        replies = step.get("replies", ())
        for at, said in enumerate(step["user"]):
            person.said.append(said)
            history.append({"role": "user", "content": said})
            reply = replies[at] if at < len(replies) else REPLY
            await self._send(person, step, history, reply=reply, is_streamed=at % 2 == 1)
            history.append({"role": "assistant", "content": reply})

    async def _send(
        self,
        person: Person,
        step: Step,
        messages: Sequence[Mapping[str, Any]],
        *,
        reply: str = REPLY,
        is_streamed: bool = False,
    ) -> None:
        self.messages += 1
        asked = await person.client.chat(
            messages,
            user=person.chats_as,
            time_of_turn=step.get("time"),
            reply=reply,
            headers=step.get("headers"),
            fields={**({"stream": True} if is_streamed else {}), **step.get("body", {})},
        )
        self._sent = asked.received

    async def _call(self, person: Person, call: Step) -> None:
        client, user = person.client, person.name
        if "method" in call:
            await client.call(call["method"], call["path"], user, body=call.get("body"))
        elif "forget" in call:
            await client.call("POST", "/v1/memories/forget", user, body={"text": call["forget"]})
        elif "delete" in call:
            for path in await _paths(person, call["delete"], is_active=True):
                await client.call("DELETE", path, user)
        elif "restore" in call:
            for path in await _paths(person, call["restore"], is_active=False):
                await client.call("POST", f"{path}/restore", user, body={})
        else:
            person.said.append(call["to"])
            for path in await _paths(person, call["patch"], is_active=True):
                await client.call("PATCH", path, user, body={"text": call["to"]})


async def _paths(person: Person, text: str, *, is_active: bool) -> list[str]:
    rows = await person.client.memories(person.name, "all")
    fitting = [row for row in rows if (row["status"] == "active") == is_active and find(text, row["text"])]
    return [f"/v1/memories/{row['id']}" for row in fitting]
