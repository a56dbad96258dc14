"""The remainder of a sentence whose part has ended: whole statements, never a fragment."""

from __future__ import annotations

import pytest

from proxy.memory.learn.remains import remains
from proxy.text.terms import Term, forms_of


@pytest.mark.parametrize(
    ("text", "name", "left"),
    [
        ("I use Shram and Magnet as tools", "Magnet", ["I use Shram as tools"]),
        ("I have a cat, and a parrot named Coco", "Coco", ["I have a cat"]),
        ("I live in Oslo, I have a dog, and I hate coffee", "dog", ["I live in Oslo", "I hate coffee"]),
        ("Mi hermano se llama Luis y vive en Sevilla.", "Sevilla", ["Mi hermano se llama Luis"]),
        ("My brother is called Luis and lives in Seville", "Seville", ["My brother is called Luis"]),
        ("Mein Bruder heißt Jan und wohnt in Bonn", "Bonn", ["Mein Bruder heißt Jan"]),
    ],
)
def test_what_stands_before_stays(text: str, name: str, left: list[str]) -> None:
    assert remains(text, [_name(name)]) == left


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Coco, our parrot, is very loud.", "Coco"),
        ("Mi ex se llama Fermín y vive en Lugo.", "Fermín"),
        ("Моя сестра Аня живет в Казани и работает врачом", "Аня"),
    ],
)
def test_what_is_about_it_goes_too(text: str, name: str) -> None:
    assert remains(text, [_name(name)]) == []


def _name(text: str) -> Term:
    return Term(text.casefold(), forms_of(text.casefold()), is_name=True)
