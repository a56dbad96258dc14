"""Everyday corrections, ends and retractions: close, link or leave, by certainty."""

from __future__ import annotations

import pytest

from tests.memory.learn.world import World, told


def later(world: World, text: str) -> list[str]:
    """Return the texts linked to a statement as newer."""
    row = next(row for row in world.memories.values() if row.text == text)
    assert row.status == "active"
    return [world.memories[id_].text for id_ in row.later]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("My sister lives in Leeds.", "Sorry, York."),
        ("My birthday is on May 3.", "oops May 4th"),
        ("My dentist appointment is on the 12th.", "I mean the 14th"),
        ("My sister lives in Leeds.", "Actually it's York, not Leeds."),
        ("My cat is called Miso.", "Her name is Mochi, not Miso."),
        ("Minha irmã mora em Leeds.", "Desculpa, York."),
    ],
)
def test_a_bare_value_stands_behind_what_it_corrects(first: str, second: str) -> None:
    assert later(told(first, second, session="s"), first) == [second]


def test_a_bare_value_corrects_within_its_message() -> None:
    assert later(told("My flight is on May 3. Sorry, May 4."), "My flight is on May 3.") == ["Sorry, May 4."]


def test_a_bare_value_corrects_nothing_further_back() -> None:
    world = told("My sister lives in Leeds.", "What is a noun?", "Sorry, York.", session="s")
    assert world.active == ["My sister lives in Leeds."]


def test_a_named_correction_reaches_another_conversation() -> None:
    world = told("My cat is called Miso.", "Her name is Mochi, not Miso.")
    assert later(world, "My cat is called Miso.") == ["Her name is Mochi, not Miso."]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Answer in German.", "Answer in English from now on."),
        ("Please use metric units.", "Use imperial units from now on."),
        ("Never use emojis.", "Emojis are fine again."),
        ("Don't use emojis.", "You can use emojis again."),
        ("Call me Captain.", "Stop calling me Captain."),
        ("Answer in German please.", "no more German please"),
        ("Sprich bitte Deutsch mit mir.", "kein Deutsch mehr bitte"),
        ("Háblame en español.", "no más español por favor"),
        ("请用中文回答我。", "别再用中文了"),
        ("Antworte auf Deutsch.", "Antworte ab jetzt auf Englisch."),
        ("Отвечай на русском.", "Отвечай теперь на английском."),
        ("用中文回答。", "以后用英文回答。"),
    ],
)
def test_an_instruction_is_replaced_or_lifted(first: str, second: str) -> None:
    world = told(first)
    assert world.active == [first]
    world.say(second)
    assert first not in world.active


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Answer in German.", "Answer in English: what is a noun?"),
        ("Answer in German.", "Answer in English this time."),
        ("Answer in German.", "My son has to answer in English from now on at school."),
        ("Keep your answers short.", "You can give a longer answer here."),
        ("Never use emojis.", "Stop calling me emojis."),
        ("Keep your answers short.", "You can give longer answers again."),
    ],
)
def test_an_instruction_stays(first: str, second: str) -> None:
    assert first in told(first, second).active


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I work at Google.", "I left Google."),
        ("I work at Google.", "I quit."),
        ("I work at Google.", "got laid off"),
        ("I work as a nurse.", "I retired."),
        ("My phone is a Pixel.", "lost my phone"),
        ("I have a Pixel 8.", "someone stole my pixel"),
        ("My boyfriend is Tom.", "Tom and I are no longer together."),
        ("I'm vegan.", "I eat meat again."),
        ("I take lisinopril.", "I'm off the lisinopril"),
        ("I smoke.", "quit smoking 3 weeks ago!"),
        ("I have a parrot named Kiwi.", "rehomed kiwi, couldnt handle the noise"),
        ("Ich arbeite bei Bosch.", "Ich habe gekündigt."),
        ("Ich bin vegan.", "Ich esse wieder Fleisch."),
        ("I take magnesium every night.", "doc told me to stop the magnesium so I did, two weeks now"),
        ("Ich habe einen Hund namens Balu.", "wir mussten Balu einschläfern lassen"),
        ("Ich habe einen Werkstudentenjob bei SAP.", "Bei SAP hab ich aufgehört"),
        ("Trabajo en Mercadona.", "Ayer fue mi último día en Mercadona"),
        ("Tomo levotiroxina.", "El médico me quitó la levotiroxina"),
        ("Je travaille chez Decathlon.", "hier c'était mon dernier jour chez Decathlon"),
        ("Я работаю в Яндексе.", "Вчера был мой последний день в Яндексе"),
        ("У меня собака Лайка.", "Лайку пришлось усыпить"),
        ("我养了一条狗叫豆豆。", "豆豆上个月丢了"),
        ("我在吃二甲双胍。", "医生让我停了二甲双胍"),
    ],
)
def test_a_likely_end_stands_behind(first: str, second: str) -> None:
    assert later(told(first, second), first) == [second]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I work at Stripe.", "I left Stripe at 6 and missed the bus"),
        ("I work at Stripe.", "my wife got laid off"),
        ("I work at Stripe.", "I quit drinking soda"),
        ("My phone is a Pixel 8.", "lost my phone case"),
        ("I have a Pixel 8.", "my brother lost his Pixel 8"),
        ("My girlfriend is Ines.", "Ines left her keys here"),
        ("I'm vegan.", "my sister eats meat again"),
    ],
)
def test_what_is_of_another_thing_is_not_linked(first: str, second: str) -> None:
    assert later(told(first, second), first) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I use Dropbox.", "i dont use dropbox anymore"),
        ("I live in Austin.", "finally moved to Dallas!"),
        ("I'm vegan.", "im not vegan anymore tbh"),
        ("I'm vegan.", "I'm not vegan any more, the cheese on that trip got me."),
    ],
)
def test_an_end_typed_in_a_hurry(first: str, second: str) -> None:
    assert first not in told(first, second).active


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I live in Boston.", "I moved to Denver after college but came back."),
        ("I live in Boston.", "I live in New England."),
        ("I live in Boston.", "Before that I moved to Denver for work."),
        ("We use MySQL.", "I replaced MySQL with SQLite for the unit tests."),
        ("We use Kafka.", "switched from kafka to a stub in the test suite"),
        ("I like sushi.", "I no longer like the sushi from that place."),
        ("I like IPAs.", "I stopped drinking this IPA"),
        ("Me gusta el sushi.", "Ya no me gusta este sushi."),
        ("J'aime les sushis.", "Je n'aime plus ces sushis."),
        ("I have a cat called Miso.", "Miso is gone since yesterday, we are searching."),
        ("I see a therapist named Carla.", "Carla cancelled on me again"),
        ("I drink wine.", "I don't drink wine anymore, except on holidays."),
        ("I want a dog.", "Our dog died."),
    ],
)
def test_what_goes_on_is_kept(first: str, second: str) -> None:
    assert first in told(first, second).active


def test_please_forget_it_takes_back_what_was_said() -> None:
    assert told("My salary is 80k. Please forget it.").active == []
    assert told("My salary is 80k.", "pls forget it", session="s").active == []
    assert told("My salary is 80k.", "Forget it.", session="s").active == ["My salary is 80k."]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("My bike is a Cube Nuroad.", "My bike got nicked outside the station."),
        ("I play in a band called The Slow Ferries.", "The Slow Ferries are history."),
        ("I drive a Skoda Octavia.", "The Octavia is finally gone, some guy bought it."),
        ("I have a dog, Rex.", "Rex was put down on Friday."),
        ("I have an Ender printer.", "Binned the Ender, it was a fire hazard."),
        ("My birthday is on May 3.", "Oh dear, I got it wrong: my birthday is on May 4."),
    ],
)
def test_an_end_in_plain_words_is_shown(first: str, second: str) -> None:
    world = told(first, second, session="s")
    assert first not in world.active or later(world, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Antworte mir bitte immer auf Deutsch.", "Ab jetzt bitte auf Englisch antworten."),
        ("请用中文回答我。", "从现在起请用英文回答。"),
        ("Our anniversary is on the 9th of June.", "Our anniversary is on the 6th of June now."),
    ],
)
def test_a_later_value_takes_the_place(first: str, second: str) -> None:
    assert told(first, second).active == [second]


def test_a_diagnosis_without_a_subject_is_kept() -> None:
    assert told("got diagnosed with type 2 diabetes last tuesday.").active


def test_a_thing_moved_leaves_the_place() -> None:
    first, second = "My brother Paul lives in York.", "Paul moved the party from York to Leeds."
    assert later(told(first, second), first) == [second]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Our billing service uses Redis.", "We moved the billing service from Redis to Valkey."),
        ("We use Postgres at work.", "We moved everything from Postgres to MySQL."),
    ],
)
def test_a_thing_moved_leaves_its_own_place(first: str, second: str) -> None:
    assert first not in told(first, second).active
