"""What changes in everybody's life, told as plainly as people tell it, in five languages: the old value gives way to the new."""

from __future__ import annotations

from datetime import timedelta

import pytest

from proxy.memory.extract_builtin.extractor import BuiltinExtractor
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
STAYS = [
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


@pytest.mark.parametrize(("said", "text"), STAYS)
def test_what_others_do_and_mere_trips_change_nothing(said: str, text: str) -> None:
    assert replaced(said, text) == []
