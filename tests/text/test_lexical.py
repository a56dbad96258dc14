from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.evals.abstain import PROMPTS
from proxy.text.lexical import content, tokens, tongue, weights


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She was running and runs", ["she", "was", "run", "and", "run"]),
        ("Caroline’s café", ["carolin", "cafe"]),
        ("I don't", ["i", "dont"]),
        ("ERR-4032", ["err-4032", "err", "4032"]),
        ("getUserName", ["getusernam", "get", "user", "name"]),
        ("snake_case", ["snake_case", "snake", "case"]),
        ("version 3.14", ["version", "3.14"]),
        ("C++ and C#", ["c++", "and", "c#"]),
        ("我在北京", ["我在", "在北", "北京"]),
        ("猫", ["猫"]),
        ("iPhone手机", ["iphon", "phone", "手机"]),
        ("ёлка", ["елк"]),
        ("ｆｕｌｌ", ["full"]),
        ("", []),
        ("!!! ... ---", []),
    ],
)
def test_words_become_terms(text, expected):
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("statement", "question"),
    [
        ("Ich wohne seit zwei Jahren in München und mag lange Wanderungen", "Wanderung München"),
        ("Me gustan las películas de terror y los gatos", "película gato"),
        ("J'ai acheté des chaussures pour l'école de mon fils", "chaussure école"),
        ("Я купил новые книги о Москве", "книга Москва"),
        ("I bought two pairs of running shoes", "run shoe"),
    ],
)
def test_short_query_meets_the_stems_of_texts(statement, question):
    for word in question.split():
        assert set(weights(word)) & set(tokens(statement)), word


def test_hindi_vowel_signs_stay_within_the_word():
    assert len(tokens("हिन्दी")) == 1


def test_small_words_weigh_little_and_are_kept():
    found = weights("where is the dog")
    assert found["dog"] == 1
    assert found["the"] < 0.1
    assert content("where is the dog") == ["dog"]


def test_a_very_long_word_is_cut():
    assert max(map(len, tokens("x" * 5000))) <= 64
    assert max(map(len, tokens("-".join(["x" * 100] * 50)))) <= 64


@given(st.text())
def test_terms_are_deterministic_and_fit_a_column(text):
    found = tokens(text)
    assert found == tokens(text)
    assert " ".join(found).split() == found
    assert all(len(term) <= 80 for term in found)


@given(st.text(alphabet=st.characters(categories=["Lu", "Ll", "Lo", "Nd"]), min_size=1))
def test_no_text_of_letters_goes_without_terms(text):
    assert tokens(text)


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz ", max_size=60))
def test_case_does_not_matter(text):
    assert tokens(text.upper(), "english") == tokens(text, "english")


@pytest.mark.parametrize(("asked", "stored"), [("Роман", "Романом"), ("Романом", "Роман"), ("Урал", "Урале")])
def test_russian_name_is_found_in_every_case(asked: str, stored: str) -> None:
    assert weights(asked).keys() & set(tokens(stored))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("What are my dog's names?", "en"),
        ("Resolve 4x + 6 = 30.", "en"),
        ("Wo wohne ich und mit wem?", "de"),
        ("¿Dónde vivo?", "es"),
        ("Где я живу?", "ru"),
        ("我养了什么宠物？", "zh"),
        ("我的 iPhone 13 Pro Max 在哪里", "zh"),
        ("どこに住んでいますか", ""),
        ("漢字とかなの文章です", ""),
        ("내 고양이 이름은?", ""),
        ("Où est-ce que je travaille pour le moment ?", "fr"),
        ("أين أعيش؟", ""),
        ("", "en"),
    ],
)
def test_the_language_of_a_text(text, code):
    assert tongue(text) == code


def test_english_is_not_taken_for_another_language():
    assert {tongue(prompt) for prompt in PROMPTS["en"]} == {"en"}
