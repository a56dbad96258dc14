"""Models whose reasoning is inside their replies: no reasoning is stored as reply text."""

from __future__ import annotations

import pytest

from tests.fakes.provider import FakeProvider
from tests.fakes.replies import chat
from tests.talking import Speaker, assistant, user

THOUGHT = "<think>\nPerhaps the user lives in Kiel.\n</think>\n\n"


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("resent", [f"{THOUGHT}Nice.", "Nice."])
def test_thoughts_in_a_reply_are_not_kept(alice: Speaker, upstream: FakeProvider, resent: str, *, stream: bool) -> None:
    told, body = user("I moved to Utrecht."), {"stream": stream}
    upstream.then(chat(f"{THOUGHT}Nice.", {"model": "m", **body}))
    first = alice.post([told], body=body)
    assert "Kiel" in first.text.replace("\\n", "")
    alice.wait()
    alice.post([told, assistant(resent), user("My dog is called Biscuit.")], body=body)
    alice.wait()
    said = [episode["text"] for episode in alice.all_episodes()]
    assert said == ["I moved to Utrecht.", "Nice.", "My dog is called Biscuit.", "All right."]
