"""Extraction of statements: the sentences that qualify, their cuts and their context."""

from __future__ import annotations

import pytest

from tests.memory.learn.world import World, told


def test_names_in_a_list_become_statements() -> None:
    world = told("I use Shram and Magnet as productivity tools.")
    assert world.active == ["I use Shram as productivity tools.", "I use Magnet as productivity tools."]


def test_two_clauses_joined_by_and_are_no_list() -> None:
    world = told("Mi prima me llama Chispita, y en el trabajo me dicen Nacho.")
    assert world.active == ["Mi prima me llama Chispita, y en el trabajo me dicen Nacho."]


@pytest.mark.parametrize(
    ("message", "statements"),
    [
        ("I wear size 40. My feet are broad.", ["I wear size 40.", "My feet are broad."]),
        ("Wir heiraten am 3. Mai in Köln.", ["Wir heiraten am 3. Mai in Köln."]),
        ("By the way, I moved to the day shift.", ["By the way, I moved to the day shift."]),
        ("I love how you explain things, I'm a nurse.", ["I love how you explain things, I'm a nurse."]),
        ("Danke, das hat mir geholfen.", []),
        ("Please help me, I don't understand it.", []),
        ("I need a regex that matches emails.", []),
        ("I need glasses for reading.", ["I need glasses for reading."]),
        ("Quiero que me escribas un poema.", []),
        ("我需要一个Excel公式。", []),
        ("Let's say I earn 5,000 a month.", []),
        ("Remind me what my dog is called.", []),
        ("Напомни, как зовут мою собаку.", []),
        ("Напомни, что мне надо купить хлеб.", ["Напомни, что мне надо купить хлеб."]),
        ("Remind me tomorrow to call mum.", ["Remind me tomorrow to call mum."]),
        ("I have seventeen wives. Just kidding, I'm single.", ["Just kidding, I'm single."]),
        ("Ab 3. November bin ich im Mutterschutz.", ["Ab 3. November bin ich im Mutterschutz."]),
        ("Ich habe zwei Kinder, Ana und Tom.", ["Ich habe zwei Kinder, Ana und Tom."]),
        ("Colecciono sellos.", ["Colecciono sellos."]),
        ("Собираю марки.", ["Собираю марки."]),
    ],
)
def test_statements_of_a_message(message: str, statements: list[str]) -> None:
    assert told(message).active == statements


@pytest.mark.parametrize(
    ("message", "statement"),
    [
        ("Allergic to penicillin, by the way.", "Allergic to penicillin, by the way."),
        ("Allergic to nuts, so what can I take on a flight?", "Allergic to nuts"),
        ("Wife's birthday is 4 May.", "Wife's birthday is 4 May."),
        ("Mum lives in Leeds.", "Mum lives in Leeds."),
        ("Tochter kommt im August in die Schule.", "Tochter kommt im August in die Schule."),
        ("Alérgica a la penicilina.", "Alérgica a la penicilina."),
        ("Allergique aux noix.", "Allergique aux noix."),
        ("Alérgico a camarão.", "Alérgico a camarão."),
        ("Аллергия на пенициллин.", "Аллергия на пенициллин."),
        ("对青霉素过敏。", "对青霉素过敏。"),
        ("老婆生日是5月4日。", "老婆生日是5月4日。"),
        ("住在杭州。", "住在杭州。"),
        ("By the way, allergic to peanuts.", "By the way, allergic to peanuts."),
        ("Moved to Berlin last week.", "Moved to Berlin last week."),
        ("Live in Leeds, work in York.", "Live in Leeds, work in York."),
        ("Hey, got a dog called Rex yesterday.", "Hey, got a dog called Rex yesterday."),
        ("Übrigens allergisch gegen Nüsse.", "Übrigens allergisch gegen Nüsse."),
        ("Кстати, аллергия на орехи.", "Кстати, аллергия на орехи."),
        ("对了，住在上海。", "对了，住在上海。"),
    ],
)
def test_author_may_be_left_out(message: str, statement: str) -> None:
    assert told(message).active == [statement]


@pytest.mark.parametrize(
    "message",
    [
        "Allergic rhinitis is common.",
        "Vegan cheese is made of nuts.",
        "Wife of Bath is a tale by Chaucer.",
        "Husband and wife file jointly.",
        "Son muy caros.",
        "Papa Roach is a band.",
        "Диабет лечат инсулином.",
        "妈妈们喜欢这个。",
        "Moved to the next item on the list.",
        "对了，她住在上海。",
        "Oh.",
    ],
)
def test_what_is_true_of_anybody_is_not_kept(message: str) -> None:
    assert told(message).active == []


def test_pronoun_takes_the_sentence_before_as_context() -> None:
    world = told("My brother lives in Oslo. He is a nurse.")
    nurse = next(row for row in world.memories.values() if "nurse" in row.text)
    assert (nurse.text, nurse.context, nurse.context_by) == ("He is a nurse.", "My brother lives in Oslo.", "user")


def test_answer_takes_the_question_as_context() -> None:
    world = World()
    world.say("Hello there.", reply="Hi! Do you have children?", session="s")
    world.say("Two.", session="s", seq=2)
    answer = next(row for row in world.memories.values() if row.text == "Two.")
    assert (answer.context, answer.context_by) == ("Do you have children?", "assistant")


@pytest.mark.parametrize(
    ("message", "statements"),
    [
        (
            'I\'ve got two people, Del on mornings and Rosie on Saturdays, so I need a sign: "oven off, stay away from it"',
            ["I've got two people, Del on mornings and Rosie on Saturdays"],
        ),
        ('I work for a charity called "Bread for the coast".', ['I work for a charity called "Bread for the coast".']),
        ('My boss told me, and I quote, "you are the best we have ever had here".', []),
        ('My mother always says: "eat well and you live long".', []),
    ],
)
def test_sentence_with_a_quotation_keeps_what_precedes_it(message: str, statements: list[str]) -> None:
    assert told(message).active == statements


@pytest.mark.parametrize(
    "message",
    [
        "Draft a polite email asking whether they can do 0.98 if I order a tonne",
        "write a bash script that mails me when pending sectors > 0.",
        "Write a note for customers that we open only on Thursday that week",
        "So do I honestly",
    ],
)
def test_texts_to_be_written_are_no_statements(message: str) -> None:
    assert told(message).active == []


@pytest.mark.parametrize(
    ("reply", "message", "context"),
    [
        ("Then Castell & Sons is the better deal.", "yes, we'll take them", "Then Castell & Sons is the better deal."),
        ("The e-NV200 is cheapest.", "ok let's go with the cheap one", "The e-NV200 is cheapest."),
        ("Dann die Felder.", "Gut, die nehmen wir", "Dann die Felder."),
        ("智驾最好的是小鹏P7。", "那就买小鹏吧", "智驾最好的是小鹏P7。"),
    ],
)
def test_decision_takes_what_was_proposed_as_context(reply: str, message: str, context: str) -> None:
    world = World()
    world.say("Which one?", reply=reply, session="one")
    world.say(message, session="one", seq=2)
    assert [(row.text, row.context) for row in world.memories.values()] == [(message, context)]
