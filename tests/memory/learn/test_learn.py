"""Effects of a turn on memory: new statements verbatim; older ones closed, linked or withheld."""

from __future__ import annotations

import pytest

from tests.memory.learn.world import World, told


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


def test_replayed_statement_stays_closed() -> None:
    world = told("My shoe size is 43 and my ring size is 54.", "Forget my ring size.")
    world.say("My shoe size is 43 and my ring size is 54.", live=False)
    assert not any("54" in text for text in [*world.active, *world.quotable])


def test_edited_message_retires_its_old_branch() -> None:
    world = World()
    world.say("My train to Bern leaves at 8:05.", session="s")
    world.say("My train to Basel leaves at 9:35.", session="s")
    assert world.active == ["My train to Basel leaves at 9:35."]


def test_single_messages_of_a_session_are_no_edits() -> None:
    """A client that sends no history has each of its messages at the first place."""
    world = World()
    said = ["What is the capital of Peru?", "My cousin Ana lives in Turin.", "My cousin Bea lives in Turin."]
    for text in said:
        world.say(text, session="s")
    assert world.active == said[1:]


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
