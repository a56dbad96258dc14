"""What a turn does to memory: statements verbatim, and closed, linked or withheld older ones."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.memory.plan.changes import is_ending
from proxy.text.words import words
from tests.memory.learn.world import World


def told(*texts: str) -> World:
    world = World()
    for text in texts:
        world.say(text)
    return world


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


def test_change_of_an_own_thing_is_linked() -> None:
    world = told("Our staging server is called heron.", "heron was shut down, the new staging server is called stork.")
    old, new = (next(row for row in world.memories.values() if name in row.text) for name in ("Our", "stork"))
    assert old.later == (new.id,)


def test_news_of_something_else_is_not_kept() -> None:
    assert told("Our staging server is called heron.", "The new bridge is closed.").active == [
        "Our staging server is called heron."
    ]


def test_an_ended_item_leaves_its_siblings() -> None:
    world = told("I use Shram and Magnet as productivity tools.", "I don't use Magnet anymore.")
    assert world.active == ["I use Shram as productivity tools."]
    assert not any("Magnet" in text for text in world.quotable)


def test_undo_gives_statement_and_quote_back() -> None:
    world = told("I use Shram and Magnet as productivity tools.", "I don't use Magnet anymore.")
    world.undo(world.endings[0].id)
    assert "I use Magnet as productivity tools." in world.active
    assert "I use Shram and Magnet as productivity tools." in world.quotable


@pytest.mark.parametrize(
    ("first", "second", "kept", "gone"),
    [
        ("I play the cello and the mandolin, both badly.", "The mandolin is gone too, I sold it.", "cello", "mandolin"),
        ("I have psoriasis and a hazelnut allergy.", "Forget that I have psoriasis.", "hazelnut", "psoriasis"),
        ("My shoe size is 43 and my ring size is 54.", "Forget my ring size.", "43", "54"),
        ("I live in Rotterdam.", "I moved to Leiden last week.", "Leiden", "Rotterdam"),
        ("I organise everything in Todoist.", "I switched from Todoist to TickTick.", "TickTick", "Todoist"),
        ("I work as a welder.", "I no longer work as a welder.", "", "welder"),
        ("My dog is called Rex.", "We had to say goodbye. Rex died on Sunday.", "", "called Rex"),
        ("Моя машина — красная «Мазда».", "Я продал «Мазду» и купил «Кию».", "Кию", "красная"),
        ("我的车是红色的马自达。", "我把马自达卖了,买了起亚。", "起亚", "红色"),
        ("我在学吉他。", "我不学吉他了。", "", "我在学吉他"),
        ("Mein Sohn Lasse spielt Geige.", "Lasse hat mit der Geige aufgehört.", "", "spielt Geige"),
    ],
)
def test_ending_names_what_goes(first: str, second: str, kept: str, gone: str) -> None:
    world = told(first, second)
    shown = "\n".join([*world.active, *world.quotable])
    assert kept in shown
    assert gone not in shown


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I take levothyroxine every morning.", "My brother stopped taking levothyroxine."),
        ("I play the bassoon.", "People assume I quit, but I never stopped playing the bassoon."),
        ("I edit my photos in Darktable.", "Should I stop using Darktable?"),
        ("I use Zulip all day.", "I don't use Zulip on weekends."),
        ("I'm learning Portuguese.", "I stopped sleeping well."),
        ("I live in Berlin.", "I sold my Volvo in Berlin."),
        ("I'm allergic to ibuprofen.", "I stopped taking ibuprofen."),
        ("I use Shram.", "I stopped using the lift."),
        ("My headphones are from Bose.", "My headphones no longer work, what could it be?"),
        ("My doctor is Dr. Hansen.", "My dentist is Dr. Jansen."),
        ("I keep Pacufekax in the cellar next to the bikes.", "I keep Duzanapond in the cellar next to the bikes."),
        ("The box number 7 holds kzaaaaium powder.", "The box number 8 holds kzabaaium powder."),
        ("My serial number is KX4471A.", "My spare has the serial number KX4477A."),
        ("I use Magnet for windows.", "I deleted my Magnet log file."),
        ("We have a boat called Estrella.", "We threw away Estrella's old sail."),
        ("I drink black coffee.", "I stopped drinking coffee at my desk."),
        ("My dog is called Biscuit.", "Biscuit doesn't eat anymore!"),
        ("Wir haben ein Boot namens Estrella.", "Estrella leckt nicht mehr."),
        ("Ich wohne mit meiner Frau in Rostock.", "Meine Frau arbeitet nicht mehr in Rostock."),
        ("Mi perro se llama Canelo.", "El veterinario ya no atiende a Canelo."),
        ("Мою собаку зовут Печенька.", "Я выбросил старый ошейник Печеньки."),
        ("我喝黑咖啡。", "我老板不喝咖啡了。"),
        ("我在安娜医院当护士。", "我同事从安娜医院离职了。"),
        ("I work at Dorn.", "I work at home on Fridays."),
        ("I live in Cork.", "I live in fear of the dentist."),
        ("Ich wohne in Fulda.", "Ich wohne in einem Altbau."),
        ("Vivo en Zaragoza.", "No vivo en Madrid."),
        ("我住在厦门。", "我住在三楼。"),
        ("My favourite colour is green.", "My favourite colour is not blue."),
        ("My birthday is 3 May.", "My birthday is a sad day."),
    ],
)
def test_what_ends_nothing_closes_nothing(first: str, second: str) -> None:
    world = told(first)
    before = world.active
    world.say(second)
    assert not world.endings
    assert set(before) <= set(world.active)


def test_clause_tells_which_of_two_alike_ends() -> None:
    world = told(
        "Our billing service uses Redis for its queue.",
        "Our search service uses Redis for its cache.",
        "We moved the search service from Redis to Valkey.",
    )
    assert "Our billing service uses Redis for its queue." in world.active
    assert "Our search service uses Redis for its cache." not in world.active


def test_a_turned_liking_leaves_the_later_one() -> None:
    world = told("I love Thai food.", "I can't stand Thai food any more, it upsets my stomach.")
    assert world.active == ["I can't stand Thai food any more, it upsets my stomach."]


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


def test_replayed_statement_stays_closed() -> None:
    world = told("My shoe size is 43 and my ring size is 54.", "Forget my ring size.")
    world.say("My shoe size is 43 and my ring size is 54.", live=False)
    assert not any("54" in text for text in [*world.active, *world.quotable])


def test_edited_message_retires_its_old_branch() -> None:
    world = World()
    world.say("My train to Bern leaves at 8:05.", session="s")
    world.say("My train to Basel leaves at 9:35.", session="s")
    assert world.active == ["My train to Basel leaves at 9:35."]


def test_learning_a_turn_again_changes_nothing() -> None:
    world = told("I use Shram and Magnet.")
    world.say("I don't use Magnet anymore. I live in Oslo.")
    stored = dict(world.memories)
    own = world.rows[-2:]
    again = world.copy()
    again.rows = world.rows[:-2]
    turn_rows = [row for row in own if row.by == "user"]
    assert turn_rows[0].text.startswith("I don't")
    assert {row.id for row in stored.values()} == {row.id for row in again.memories.values()}


SENTENCES = st.sampled_from(
    [
        "I use Shram and Magnet as productivity tools.",
        "I don't use Magnet anymore.",
        "I switched from Shram to Trello.",
        "Forget everything about Ana.",
        "My sister Ana lives in Oslo, and she works at Halvorsen.",
        "I live in Porto now.",
        "Ich benutze Shram nicht mehr.",
        "Vivo en Lugo con mi pareja y dos gatos.",
        "我不再用Magnet了。",
        "Я больше не пользуюсь Magnet.",
        "What do I use?",
        "Sorry, I meant Ghent.",
    ]
)
WEIRD = st.text(st.characters(codec="utf-8"), max_size=80)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.one_of(SENTENCES, WEIRD), min_size=1, max_size=4).map(" ".join), min_size=1, max_size=5))
def test_every_memory_is_a_subsequence_of_one_message(messages: list[str]) -> None:
    world = told(*messages)
    for row in world.memories.values():
        if is_ending(row):
            continue
        source = next(one.text for one in world.rows if one.message == row.message)
        left = iter([word.text for word in words(source)])
        assert all(word.text in left for word in words(row.text)), (row.text, source)


@settings(max_examples=40, deadline=None)
@given(st.lists(SENTENCES, min_size=1, max_size=8))
def test_undoing_every_batch_gives_every_quote_back(messages: list[str]) -> None:
    world = told(*messages)
    for ending in reversed(world.endings):
        world.undo(ending.id)
    assert world.quotable == [row.text for row in world.rows if any(char.isalnum() for char in row.text)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "I organise everything in Todoist, including groceries.",
            "I switched from Todoist to TickTick over the holidays.",
        ),
        ("Живём в Сочи, влажность ужасная.", "Мы переехали из Сочи в Тбилиси!"),
        (
            "We write Go and use RabbitMQ between services.",
            "We replaced RabbitMQ with NATS last week, it went smoothly.",
        ),
    ],
)
def test_change_stands_behind_what_is_not_closed(first: str, second: str) -> None:
    world = told(first, second)
    assert world.active == [first, second]
    older, newer = sorted(world.memories.values(), key=lambda row: row.valid_from)
    assert older.later == (newer.id,)


@pytest.mark.parametrize(("second", "ends"), [("in May", True), ("in March", True), ("if I may", False)])
def test_month_of_a_change_is_no_doubt(second: str, ends: bool) -> None:
    world = told("I use Todoist.", f"I switched from Todoist to TickTick {second}.")
    assert ("I use Todoist." not in world.active) is ends


def test_bare_correction_stands_behind_what_it_corrects() -> None:
    world = told("My rent is 740.", "It should be 790, not 740.")
    assert world.active == ["My rent is 740.", "It should be 790, not 740."]
    first, second = sorted((row for row in world.memories.values()), key=lambda row: row.valid_from)
    assert first.later == (second.id,)


def test_correction_across_a_comma_replaces_what_it_names() -> None:
    assert told("I live in Riga.", "I live in Tartu, not Riga.").active == ["I live in Tartu."]


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


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("My new lead is called Ferdi, he wants a page by Friday.", "My car needs a new clutch, the garage wants 780."),
        ("李医生给我开了氨氯地平5毫克", "我妈也吃这个，不过她是10毫克"),
    ],
)
def test_statements_of_other_things_are_not_linked(first: str, second: str) -> None:
    assert not any(row.later for row in told(first, second).memories.values())


def test_changed_dose_stands_behind_the_old_one() -> None:
    world = told(
        "My cardiologist Dr Okafor gives me bisoprolol 2.5 mg.",
        "Dr Okafor raised the bisoprolol to 5. Does that make one tired?",
    )
    assert [len(row.later) for row in world.memories.values()] == [1, 0]


def test_kind_of_task_is_left_to_tasks() -> None:
    world = told("I have to avoid traffic in Leeds, so I work at night.")
    assert [row.kind for row in world.memories.values()] == ["fact"]
