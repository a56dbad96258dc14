"""A standing instruction opens with always or never; what always or never was so belongs in no prompt by itself."""

from __future__ import annotations

import pytest

from proxy.memory.learn.statements import own_sentences, statements


def in_profile(text: str) -> list[str]:
    return [one.text for one in statements(own_sentences(text)) if one.is_profile]


@pytest.mark.parametrize(
    "text",
    [
        "Always give the sizes in centimetres when I ask about furniture.",
        "Please always use metric units.",
        "Never use emojis in my letters.",
        "Immer die Quelle angeben, wenn ich nach Zahlen frage.",
        "Siempre incluye las fuentes cuando pregunto por salud.",
        "Indique toujours la source quand je demande un chiffre.",
        "Inclua sempre as fontes quando eu perguntar sobre saúde.",
        "Всегда указывай источник, когда я спрашиваю о цифрах.",
        "总是给我列出来源。",
    ],
)
def test_a_standing_instruction_is_of_the_profile(text: str) -> None:
    assert in_profile(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "I've never met Kyle.",
        "My sister always cooks on Sundays.",
        "We always eat at six.",
        "Always looking for new recipes for my kids.",
        "Always happy to help, I love my job!",
        "Never mind, I got it.",
        "Ich gehe immer schwimmen.",
        "Immer noch keine Antwort von meinem Vermieter.",
        "Siempre me ha gustado Bilbao.",
        "Toujours pas de nouvelles de mon frère.",
        "Sempre foi o meu sonho.",
        "Всегда хотел жить у моря, но мой дом в горах.",
        "我总是六点起床。",
    ],
)
def test_what_always_or_never_was_so_is_not(text: str) -> None:
    assert in_profile(text) == []
