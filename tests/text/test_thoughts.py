"""A model's reasoning inside a reply is no part of the reply's text."""

from __future__ import annotations

import pytest

from proxy.text.thoughts import without_thoughts


@pytest.mark.parametrize(
    "text",
    [
        "<think>Hm.\nKiel?</think>\n\nHello!",
        "<Thinking>\nHm.\n</Thinking>\nHello!",
        "Hm. Kiel?\n</think>\n\nHello!",
        '<details type="reasoning" done="true">\n<summary>Thought</summary>\n> Kiel?\n</details>\nHello!',
    ],
)
def test_thoughts_before_a_reply_are_left_out(text: str) -> None:
    assert without_thoughts(text) == "Hello!"


def test_thoughts_that_never_end_are_no_reply() -> None:
    assert without_thoughts("<think>The user may live in Kiel") == ""


@pytest.mark.parametrize(
    "text",
    [
        "Hello!",
        "Models think in <think>tags</think>, so do I.",
        "Close it with </think> and go on.",
        "```\n<think>\nHm.\n</think>\n```\nThat is the form.",
        "<details>\n<summary>More</summary>\nKiel\n</details>",
    ],
)
def test_replies_about_thoughts_stay_whole(text: str) -> None:
    assert without_thoughts(text) == text
