"""What changes in everybody's life, told as plainly as people tell it, in five languages: the old value gives way to the new."""

from __future__ import annotations

from datetime import timedelta

import pytest

from proxy.memory.learn.extract_builtin.extractor import BuiltinExtractor
from proxy.types import Episode
from tests.memory.extracting import AT, turn

CHANGES = [
    ("I live in Metz with my cat Pip.", "I moved to Lyon last week.", "Metz", "Lyon"),
    ("We live in Metz.", "We've moved to Lyon, any tips for bakeries?", "Metz", "Lyon"),
    ("My sister lives in Bonn.", "My sister moved to Hamburg.", "Bonn", "Hamburg"),
    ("Ich wohne in Metz.", "Ich bin nach Lyon gezogen.", "Metz", "Lyon"),
    ("Ich wohne in Metz.", "Ich bin letzte Woche nach Lyon umgezogen.", "Metz", "Lyon"),
    ("Wir wohnen in Bad Ems.", "Wir sind im Mai nach Bad Tölz gezogen.", "Bad Ems", "Bad Tölz"),
    ("Meine Schwester wohnt in Bonn.", "Meine Schwester ist nach Hamburg gezogen.", "Bonn", "Hamburg"),
    ("Vivo en Vigo.", "Me he mudado a Lugo.", "Vigo", "Lugo"),
    ("Vivo en Vigo.", "Me mudé a Lugo la semana pasada.", "Vigo", "Lugo"),
    ("Vivimos en Vigo con el gato.", "Nos mudamos a Lugo el mes pasado.", "Vigo", "Lugo"),
    ("Mi hermana vive en Vigo.", "Mi hermana se ha mudado a Lugo.", "Vigo", "Lugo"),
    ("Я живу в Казани.", "Я переехал в Самару.", "Казани", "Самару"),
    ("Живу в Казани с котом.", "На прошлой неделе переехали в Самару.", "Казани", "Самару"),
    ("Моя сестра живёт в Казани.", "Моя сестра переехала в Самару.", "Казани", "Самару"),
    ("我住在北京。", "我搬到上海了。", "北京", "上海"),
    ("我们住在北京。", "我们搬到上海了。", "北京", "上海"),
    ("我姐姐住在北京。", "我姐姐搬到上海了。", "北京", "上海"),
    ("I work at Siemens.", "I got a new job at Bosch.", "Siemens", "Bosch"),
    ("Ich arbeite bei Siemens.", "Ich habe letzte Woche bei Bosch angefangen.", "Siemens", "Bosch"),
    ("Ich arbeite bei Siemens.", "Ich habe einen neuen Job bei Bosch.", "Siemens", "Bosch"),
    ("Trabajo en Indra.", "He empezado a trabajar en Telefónica.", "Indra", "Telefónica"),
    ("Работаю в Яндексе.", "Я устроился в Сбер.", "Яндексе", "Сбер"),
    ("Работаю в Яндексе.", "У меня новая работа в Сбере.", "Яндексе", "Сбере"),
    ("我在华为上班。", "我跳槽到腾讯了。", "华为", "腾讯"),
    ("我在华为上班。", "我入职腾讯了。", "华为", "腾讯"),
    ("我今年34岁。", "我昨天满35岁了。", "34岁", "35岁"),
]
OTHERS = [  # who and when: (told, later, old, new)
    ("Our nanny is called Petra.", "We have a new nanny, Ines.", "Petra", "Ines"),
    ("Unsere Kinderfrau heißt Petra.", "Wir haben eine neue Kinderfrau, Ines.", "Petra", "Ines"),
    ("Mi entrenador es Jorge.", "Tengo un nuevo entrenador, Milán.", "Jorge", "Milán"),
    ("Моего тренера зовут Егор.", "У меня новый тренер, Милан.", "Егор", "Милан"),
    ("我的教练叫李刚。", "换了个教练，叫王强。", "李刚", "王强"),
    ("I play squash on Wednesdays with Ravi.", "Squash is on Fridays these days.", "Wednesdays", "Fridays"),
    ("El pádel es los miércoles.", "El pádel ahora es los viernes.", "miércoles", "viernes"),
    ("По средам играю в сквош.", "Сквош теперь по пятницам.", "средам", "пятницам"),
    ("和小陈的会议在下午三点。", "和小陈的会议改到四点半了。", "下午三点", "四点半"),
]
GIVEN_UP = [  # by one of the family: (told, later, what ends)
    ("My son plays the trumpet and my daughter the harp.", "My daughter gave up the harp.", "harp"),
    ("Сын играет на трубе, а дочь на арфе.", "Дочь бросила арфу.", "арфу"),
]
FORGOTTEN = [
    ("I live in Oslo with my brother Tom.", "Erase what you know about my brother.", "Tom"),
    ("Ich wohne in Oslo mit meinem Bruder Tom.", "Lösche bitte alles über meinen Bruder.", "Tom"),
    ("Vivo en Oslo con mi hermano Tom.", "Borra todo lo de mi hermano.", "Tom"),
    ("Живу в Осло с братом Толей.", "Удали всё, что знаешь о моём брате.", "Толей"),
    ("我弟弟叫小涛。", "把关于我弟弟的都删掉吧。", "小涛"),
]
ALL_THAT_IS_LEFT = [
    (
        "I'm allergic to peanuts and strawberries.",
        "Turns out I'm not allergic to strawberries after all, only peanuts.",
        "peanuts",
    ),
    (
        "Ich bin allergisch gegen Erdnüsse und Erdbeeren.",
        "Gegen Erdbeeren bin ich doch nicht allergisch, nur gegen Erdnüsse.",
        "Erdnüsse",
    ),
    (
        "Soy alérgico a los cacahuetes y a las fresas.",
        "Resulta que a las fresas no soy alérgico, solo a los cacahuetes.",
        "cacahuetes",
    ),
]
STAYS = [
    ("Squash is on Wednesdays.", "Choir is on Fridays now."),
    ("Our nanny is called Petra.", "We have a new sofa, Petra loves it."),
    ("I use Krita for drawing.", "I use Inkscape for drawing."),
    ("I play the cello.", "I play the harp."),
    ("Ich nutze Krita zum Zeichnen.", "Ich nutze Inkscape zum Zeichnen."),
    ("Uso Krita para dibujar.", "Uso Inkscape para dibujar."),
    ("Пользуюсь Критой для рисования.", "Пользуюсь Инкскейпом для рисования."),
    ("I love my sister.", "My sister switched to decaf."),
    ("Ich wohne in Metz.", "Mein Chef ist nach Lyon gezogen."),
    ("Ich wohne in Metz.", "Ich bin gestern nach Lyon gefahren."),
    ("Vivo en Vigo.", "Mi jefe se ha mudado a Lugo."),
    ("Vivo en Vigo.", "Nos hemos mudado al piso de arriba."),
    ("Живу в Казани.", "Соседи переехали в Самару."),
    ("Живу в Казани.", "Мы переехали в другую комнату."),
    ("我住在北京。", "我把沙发搬到阳台了。"),
    ("我住在北京。", "我搬到客厅睡了。"),
    ("我住在北京。", "同事搬到上海了。"),
]


def replaced(said: str, text: str) -> list[tuple[tuple[str, ...], str]]:
    heard = [Episode("e", "s", "t", 0, "user", said, AT - timedelta(days=9))]
    return [
        (one.replaces, one.object) for one in BuiltinExtractor().extract(turn(text), [], heard) if one.action != "add"
    ]


@pytest.mark.parametrize(("said", "text", "old", "new"), CHANGES)
def test_a_new_home_employer_or_age_takes_the_place_of_the_old(said: str, text: str, old: str, new: str) -> None:
    assert replaced(said, text) == [((old,), new)]


@pytest.mark.parametrize(("said", "text", "old", "new"), OTHERS)
def test_a_new_person_day_or_hour_takes_the_place_of_the_old(said: str, text: str, old: str, new: str) -> None:
    found = replaced(said, text)
    assert [values for values, _ in found] == [(old,)]
    assert new in found[0][1]


@pytest.mark.parametrize(("said", "text", "gone"), GIVEN_UP)
def test_what_one_of_the_family_gives_up_ends(said: str, text: str, gone: str) -> None:
    assert [values for values, _ in replaced(said, text)] == [(gone,)]


@pytest.mark.parametrize(("said", "text", "name"), FORGOTTEN)
def test_everything_about_somebody_is_what_is_tied_to_their_name(said: str, text: str, name: str) -> None:
    assert (((name,), name)) in replaced(said, text)


@pytest.mark.parametrize(("said", "text", "left"), ALL_THAT_IS_LEFT)
def test_the_only_one_that_is_left_stays(said: str, text: str, left: str) -> None:
    found = replaced(said, text)
    assert found
    assert not any(left in value for values, _ in found for value in values)


@pytest.mark.parametrize(("said", "text"), STAYS)
def test_what_others_do_and_mere_trips_change_nothing(said: str, text: str) -> None:
    assert replaced(said, text) == []
