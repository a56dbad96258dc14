from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.evals.abstain import EVERY_PROMPT
from proxy.memory.index.index import TurnShelf
from proxy.memory.recall.gate import (
    Evidence,
    admit,
    asks_of_oneself,
    is_foreign,
    is_personal,
    leniency,
    strength,
    weigh,
)
from tests.memory.rows import ANNE, DIMENSION, MODEL, conversation, turn_batch

units = st.floats(0, 1)


def passes(evidence, text="what is it"):
    return admit([evidence], text).admitted


def test_nothing_found_is_nothing_admitted():
    verdict = admit([], "anything")
    assert not verdict.admitted
    assert verdict.reason == "empty"


def test_similarity_admits_and_its_lack_does_not():
    assert passes(Evidence(0.5))
    assert not passes(Evidence(0.2, coverage=0.1))


def test_words_help_a_weak_similarity():
    assert not passes(Evidence(0.36))
    assert passes(Evidence(0.36, coverage=0.5))


def test_without_vectors_rare_words_decide():
    assert passes(Evidence(None, coverage=0.6))
    assert not passes(Evidence(None, coverage=0.2))
    assert admit([Evidence(None, coverage=0.6)], "x").reason == "words"


def test_unknown_language_is_not_taken_for_similar():
    assert not passes(Evidence(0.5, typical=0.4))
    assert passes(Evidence(0.5, typical=0.05))


UNKNOWN = 0.4  # usual cosine of texts in a language that the embedder was not trained on


@pytest.mark.parametrize("text", ["Почему море солёное?", "玻璃是怎么制造的？", "¿Cuántos continentes hay?"])
def test_words_decide_in_an_unknown_language(text):
    assert not passes(Evidence(0.6, typical=0.17, coverage=0.2, texts=90, usual=UNKNOWN), text)
    assert passes(Evidence(0.6, typical=0.17, coverage=0.5, texts=90, usual=UNKNOWN), text)
    assert passes(Evidence(0.6, typical=0.05, coverage=0.2, texts=90, usual=0.1), text)  # trained on it


@pytest.mark.parametrize(
    "text", ["Где я живу?", "我养了什么宠物？", "¿Tengo algún negocio?", "¿Qué datos míos guardas?"]
)
def test_a_question_about_oneself_needs_no_words_there(text):
    unlike = Evidence(0.5, typical=0.17, texts=90, usual=UNKNOWN)
    assert passes(unlike, text)
    assert not admit([unlike], text, told=False).admitted


def test_statement_needs_fewer_words_than_a_task():
    little = Evidence(0.6, typical=0.17, coverage=0.2, texts=90, usual=UNKNOWN)
    assert passes(little, "Вчера мы с сестрой снова ездили на дачу и пили чай.")
    assert not passes(little, "Как мне отцентрировать div в CSS?")


def test_english_is_judged_by_cosines_in_narrow_memory():
    assert passes(Evidence(0.6, typical=0.15, texts=90, usual=UNKNOWN), "Which framework was chosen for the tracker?")


def test_gate_judges_each_source_by_itself():
    assert admit([Evidence(0.6), Evidence(0.1)], "x").passed == (True, False)
    assert admit([Evidence(0.6), Evidence(0.43)], "x").passed == (True, True)
    assert admit([Evidence(0.43)], "x").passed == (False,)


@pytest.mark.parametrize(
    "text",
    [
        "what is my dog's name",
        "where do I live?",
        "How many children do I have?",
        "How much rent do we pay?",
        "¿Cuánto gano al mes?",
        "Wie heißt mein Hund",
        "Welche Instrumente spiele ich?",
        "In welchen Vereinen sind wir?",
        "¿Dónde vivo?",
        "¿A qué cosas tengo alergia?",
        "¿Cómo se llama nuestro gato?",
        "我住在哪里",
        "как зовут мою собаку",
    ],
)
def test_questions_about_oneself_are_known(text):
    assert is_personal(text)


@pytest.mark.parametrize(
    "text",
    [
        "Why do we have leap years?",
        "How do I pay a fine abroad?",
        "Do we have to file taxes in May?",
        "Write a haiku about autumn",
        "What is the capital of Australia?",
        "法国的首都是哪里",
        "Wer hat die WM gewonnen",
        "How do I center a div?",
        "Wie kann ich Reis kochen?",
        "Was soll ich heute kochen?",
        "¿Cómo puedo hacer arroz?",
        "¿Cuál es la capital de Perú?",
        "给我讲个笑话",
    ],
)
def test_other_questions_are_not(text):
    assert not is_personal(text)


@given(units, units, units, units, st.booleans())
def test_more_evidence_is_never_weaker(cosine, typical, coverage, more, personal):
    base = strength(Evidence(cosine, typical, coverage), personal=personal)
    assert strength(Evidence(min(1, cosine + more), typical, coverage), personal=personal) >= base
    assert strength(Evidence(cosine, typical, min(1, coverage + more)), personal=personal) >= base


@given(st.integers(2, 5000), st.integers(0, 5000))
def test_the_more_texts_the_higher_the_floors(texts: int, more: int) -> None:
    assert leniency(texts) >= leniency(texts + more)
    assert leniency(600) == leniency(0) == 0


def test_best_hit_among_many_texts_must_be_closer():
    assert passes(Evidence(0.47, texts=300))
    assert not passes(Evidence(0.47, texts=3000))


def test_query_far_from_everything_needs_a_better_hit():
    assert passes(Evidence(0.47, typical=0.13))
    assert not passes(Evidence(0.47, typical=0.01))


@pytest.mark.parametrize(
    "text",
    [
        "Which banks am I with?",
        "What are my children's names?",
        "Which ingredients am I unable to eat?",
        "Do we own a car?",
        "What language do I teach?",
        "Name our pets",
        "Welche Sprachen kann ich?",
        "¿Cómo se llama nuestro gato?",
        "Чем я болею?",
        "我对什么过敏?",
    ],
)
def test_few_memories_pass_whole_on_self_questions(text):
    assert asks_of_oneself(text)
    assert admit([Evidence(0.0, texts=3), Evidence(-0.1, texts=6)], text).passed == (True, True)
    assert not passes(Evidence(0.05, texts=800), text)
    assert not admit([Evidence(0.05, texts=6)], text, told=False).admitted


@pytest.mark.parametrize(
    "text",
    [
        *EVERY_PROMPT,
        "How do I boil rice?",
        "Can you help me with my essay?",
        "Should I buy a car?",
        "Write me a poem about our moon",
        "I went for a walk today.",
        "Wie kann ich besser schlafen?",
        "¿Cómo puedo ahorrar?",
        "Как мне уснуть?",
        "帮我写一首诗",
    ],
)
def test_few_memories_pass_only_on_self_questions(text):
    assert not asks_of_oneself(text)
    assert not passes(Evidence(0.05, texts=6), text)


@pytest.mark.parametrize(
    "text",
    [
        "Where do we live?",
        "Welches Instrument spiele ich?",
        "¿Cómo se llama mi hija?",
        "Где живёт моя сестра?",
        "我住在哪里？",
    ],
)
def test_own_question_finds_what_another_language_tells(text):
    assert passes(Evidence(0.05, texts=800, is_foreign=True), text)
    assert not passes(Evidence(0.05, texts=800), text)


def test_other_questions_find_nothing_told_in_another_language():
    assert not passes(Evidence(0.1, texts=90, is_foreign=True), "Who painted The Night Watch?")
    assert not passes(Evidence(0.1, texts=90, is_foreign=True), "Wie zentriere ich ein div in CSS?")


def test_language_of_most_texts_is_compared():
    german = ["Wir wohnen in Bremen.", "Meine Frau heißt Anna.", "Mein Chef ist Herr Petersen."]
    assert is_foreign(german, "Where do we live?")
    assert not is_foreign(german, "Wo wohnen wir?")
    assert not is_foreign(german, "Who painted The Night Watch?")
    assert not is_foreign([], "Where do we live?")


@pytest.mark.parametrize(
    "text",
    [
        "Wie kehre ich in Python einen String um?",
        "Tell me a joke about penguins.",
        "Erzähl mir einen Witz über Pinguine.",
        "Cuéntame un chiste de pingüinos.",
    ],
)
def test_wish_for_a_thing_is_no_own_question(text):
    assert not asks_of_oneself(text)


@pytest.mark.parametrize("text", ["Wie komme ich zur Arbeit?", "Wie heiße ich?", "Was macht meine Frau beruflich?"])
def test_own_question_is_no_wish(text):
    assert asks_of_oneself(text)


def test_question_about_ones_people_is_an_own_question() -> None:
    little = Evidence(0.5, coverage=0.2, texts=90, usual=UNKNOWN)
    assert passes(little, "妈妈的工作地是在哪儿呢？")
    assert passes(little, "Как зовут начальника брата?")
    assert not passes(little, "Сколько костей у взрослого человека?")


def test_long_question_of_oneself_opens_a_handful() -> None:
    text = "今天天气真不错，早上我看到了一只小猫，也不知道是怎么回事。那个单位名称是华厦建设有限公司的人，身高是什么？"
    assert passes(Evidence(0.5, coverage=0.05, texts=8, usual=UNKNOWN), text)
    assert not passes(Evidence(0.5, coverage=0.05, texts=90, usual=UNKNOWN), text)
    assert not passes(Evidence(0.5, coverage=0.05, texts=8, usual=UNKNOWN), "Я не понимаю. Как мне сварить яйцо?")


def test_particles_prove_nothing_in_chinese() -> None:
    shelf = TurnShelf(DIMENSION, MODEL)
    shelf.put(turn_batch(conversation("s", "我们开的是一辆丰田。", "好的。", "我在药店工作。", "好的。")))
    terms = dict.fromkeys(("麦克", "克白", "的是"), 1.0)
    mask = shelf.seen_by(ANNE)
    assert weigh(shelf, terms, mask, shelf.lexical(terms, mask), shelf.dense(None, mask)).coverage == 0
