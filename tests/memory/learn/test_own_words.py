"""Only what the author states counts: no code, no quotations, no material, no errands of front ends."""

from __future__ import annotations

import pytest

from proxy.memory.learn.own_words import is_utility_call, user_spans


def own(text: str) -> str:
    return " ".join("".join(text[start:end] for start, end in user_spans(text)).split())


@pytest.mark.parametrize(
    ("text", "gone", "kept"),
    [
        ("I use Vim.\n```python\nprint('Emacs')\n```\nThanks", "Emacs", "Vim"),
        ("I use Vim.\n```\nprint('Emacs')", "Emacs", "Vim"),
        ("> I hate Vim\nI like it though", "hate", "like it"),
        ('He wrote "get rid of your kettlebells, they are junk" to me', "kettlebells", "He wrote"),
        ("Er schrieb: „Ich habe Emacs gelöscht und bereue nichts.“ Was nun?", "Emacs", "Was nun"),
        ("Коллега написал: «удалил Emacs и совсем не жалею». Что ответить?", "Emacs", "ответить"),
        ("同事说“我把Emacs删了，不后悔”。怎么回？", "Emacs", "怎么回"),
        ("Translate to German: I live in Leeds", "Leeds", "Translate"),
        ("请翻译：我住在无锡", "无锡", "请翻译"),
        ("<memory-facts>I use Magnet</memory-facts>\nI use Shram", "Magnet", "Shram"),
        ("I moved.\nFrom: Bob\nTo: me\nSubject: Rent\nI live in Paris", "Paris", "I moved"),
        ("2026-01-01 10:00:00 ERROR I use Magnet\nwhy?", "Magnet", "why"),
    ],
)
def test_what_the_author_did_not_state_is_left_out(text: str, gone: str, kept: str) -> None:
    assert gone not in own(text)
    assert kept in own(text)


@pytest.mark.parametrize(
    "text", ['My favourite film is "Paprika".', "Мой любимый фильм — «Амели».", "我最喜欢《海上花》。"]
)
def test_titles_in_quotation_marks_stay(text: str) -> None:
    assert own(text) == text


def test_spans_are_offsets_in_order() -> None:
    text = "One.\n```\ncode\n```\nTwo."
    spans = user_spans(text)
    assert spans == sorted(spans)
    assert all(0 <= start < end <= len(text) for start, end in spans)


@pytest.mark.parametrize(
    "text",
    [
        "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.",
        "### Task:\nGenerate 1-3 broad tags categorizing the main themes of the chat history",
        "### Task:\nSuggest 3-5 relevant follow-up questions",
        "### Task:\nAnalyze the chat history to determine the necessity of generating search queries",
        "Provide a concise, 5-word-or-less title for the conversation, using title case.",
        "Please generate a four to five word title summarizing our conversation.",
        "Given the following conversation and a follow up question, rephrase it to be a standalone question.",
        "使用四到五个字直接返回这句话的简要主题，总结对话标题",
        "你是一名擅长会话的助理，你需要将用户的会话总结为 10 个字以内的标题",
    ],
)
def test_errands_of_front_ends_are_known(text: str) -> None:
    assert is_utility_call(text)


@pytest.mark.parametrize(
    "text",
    [
        "Can you write a title for my novel?",
        "I have three tasks today: call mum, buy milk",
        "Summarize the meeting",
        "你好",
    ],
)
def test_what_people_ask_is_no_errand(text: str) -> None:
    assert not is_utility_call(text)
