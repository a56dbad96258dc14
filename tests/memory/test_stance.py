"""What ends though no rule knows the words for it, and what must not be weighed at all."""

from __future__ import annotations

import pytest

from tests.memory.test_everyday_talk import ended


@pytest.mark.parametrize(
    ("before", "text", "gone"),
    [
        (
            "Ich bin bei der Haftpflicht von Nordstern und beim Strom von Elbkraft.",
            "Nordstern sieht von mir keinen Cent mehr, das läuft seit Mai über meine Frau.",
            "Nordstern",
        ),
        (
            "Mi peluquera es Maruchi.",
            "Maruchi se mudó a Lugo y ahora me corta Yolanda.",
            "Maruchi",
        ),
    ],
)
def test_signs_enough_end_what_no_rule_knows(before: str, text: str, gone: str) -> None:
    assert gone in ended(text, before)


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("Ich singe im Chor Cantemus.", "Bei Cantemus proben wir den Elias. Wie lerne ich die Koloraturen?"),
        ("Ich nehme Metformin.", "Metformin nehme ich zum Essen, oder davor?"),
        ("Toco el fagot en la banda municipal.", "Yo nunca he dejado el fagot ni lo dejaré. ¿Me corriges el texto?"),
        ("Vivo en Plasencia.", "En Plasencia hace hoy un calor horrible. ¿Qué ceno?"),
    ],
)
def test_what_is_only_talked_about_goes_on(before: str, text: str) -> None:
    assert ended(text, before) == set()
