"""Thursday 26 November 2026, 22:06 at UTC-3, unless a test says otherwise."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from proxy.text import languages
from proxy.text.dates import dates_in, expiry_of

AT = datetime.fromisoformat("2026-11-26T22:06:00-03:00")
CODES = ("de", "en", "es", "fr", "pt", "ru", "zh")
THIS_WEEK, NEXT_WEEK, LAST_WEEK = "2026-11-23..2026-11-29", "2026-11-30..2026-12-06", "2026-11-16..2026-11-22"
MARCH, TOMORROW, YESTERDAY, FRIDAY, NEXT_FRIDAY = "2027-03-14", "2026-11-27", "2026-11-25", "2026-11-27", "2026-12-04"
AUGUST = "2027-08-09..2027-08-20"

RESOLVED = {
    "en": [
        ("Asturias it is, 9 to 20 August", AUGUST),
        ("We are away from August 9 to 20", AUGUST),
        ("I fly to Porto next Friday", NEXT_FRIDAY),
        ("Dentist on Friday", FRIDAY),
        ("I see Anna this Friday", FRIDAY),
        ("My exam is tomorrow at 3 pm", TOMORROW),
        ("Tonight we cook", "2026-11-26"),
        ("I sold it yesterday", YESTERDAY),
        ("I barely slept last night", YESTERDAY),
        ("It rained the day before yesterday", "2026-11-24"),
        ("We leave the day after tomorrow", "2026-11-28"),
        ("I have visitors this week", THIS_WEEK),
        ("I moved last month", "2026-10"),
        ("I graduate next year", "2027"),
        ("My course starts in two weeks", "2026-12-10"),
        ("I quit three days ago", "2026-11-23"),
        ("I got him a year ago", "2025"),
        ("I have been vegan since May", "since 2026-05"),
        ("I have been ill since Monday", "since 2026-11-23"),
        ("I am off until Friday", "until 2026-11-27"),
        ("I am off until the end of the month", "until 2026-11-30"),
        ("The report is due by 14 March", MARCH),
        ("My exam is on March 14th", MARCH),
        ("My exam is on the 14th of March", MARCH),
        ("My exam is on 3/14", MARCH),
        ("I saw them in May last year", "2025-05"),
        ("I start on Friday of next week", NEXT_FRIDAY),
        ("I start on Friday, 4 December", NEXT_FRIDAY),
        ("I start on Friday the 4th", NEXT_FRIDAY),
        (
            "We meet last weekend, this weekend and next weekend",
            "2026-11-21..2026-11-22, 2026-11-28..2026-11-29, 2026-12-05..2026-12-06",
        ),
        ("today, tomorrow, yesterday, next year", f"2026-11-26, {TOMORROW}, {YESTERDAY}"),
        ("tomorrow, I said, tomorrow", TOMORROW),
    ],
    "de": [
        ("Wir sind vom 9. bis 20. August auf Bornholm", AUGUST),
        ("Übermorgen fahre ich weg", "2026-11-28"),
        ("Nächsten Freitag ist die Feier", NEXT_FRIDAY),
        ("Kommenden Freitag ist die Feier", FRIDAY),
        ("Am Freitagabend kommt Tom", FRIDAY),
        ("Heute Abend koche ich", "2026-11-26"),
        ("Heute morgen regnet es", "2026-11-26"),
        ("Morgen früh fahre ich", TOMORROW),
        ("Letzten Monat bin ich umgezogen", "2026-10"),
        ("In zwei Wochen fange ich an", "2026-12-10"),
        ("Ich habe vor drei Tagen gekündigt", "2026-11-23"),
        ("Ich lebe seit Mai hier", "since 2026-05"),
        ("Ich lebe seit drei Monaten hier", "since 2026-08"),
        ("Ich bin bis zum 14. März weg", "until 2027-03-14"),
        ("Am 14.3. ist die Prüfung", MARCH),
        ("Am Freitag, dem 4. Dezember, ist die Feier", NEXT_FRIDAY),
        ("Nächste Woche am Montag", "2026-11-30"),
    ],
    "es": [
        ("Vamos a Menorca del 9 al 20 de agosto", AUGUST),
        ("El viernes que viene tengo examen", NEXT_FRIDAY),
        ("Iré al dentista el viernes", FRIDAY),
        ("Mañana por la mañana salgo", TOMORROW),
        ("Pasado mañana salgo", "2026-11-28"),
        ("Esta noche cocino", "2026-11-26"),
        ("La semana pasada me mudé", LAST_WEEK),
        ("La semana que viene me mudo", NEXT_WEEK),
        ("Empiezo dentro de dos semanas", "2026-12-10"),
        ("Lo vendí hace tres días", "2026-11-23"),
        ("Vivo aquí desde mayo", "since 2026-05"),
        ("Tengo un examen el 14 de marzo", MARCH),
        ("Vienen el viernes 4", NEXT_FRIDAY),
    ],
    "fr": [
        ("On part du 9 au 20 août", AUGUST),
        ("La semaine prochaine je déménage", NEXT_WEEK),
        ("Vendredi prochain j'ai un examen", NEXT_FRIDAY),
        ("Vendredi soir je cuisine", FRIDAY),
        ("Aujourd’hui je cuisine", "2026-11-26"),
        ("Après-demain je pars", "2026-11-28"),
        ("J'ai déménagé le mois dernier", "2026-10"),
        ("Je commence dans deux semaines", "2026-12-10"),
        ("Je l'ai vendu il y a trois jours", "2026-11-23"),
        ("J'habite ici depuis mai", "since 2026-05"),
        ("Le 1er mai je pars", "2027-05-01"),
        ("Le vendredi 4 décembre je pars", NEXT_FRIDAY),
    ],
    "pt": [
        ("Vou viajar de 9 a 20 de agosto", AUGUST),
        ("Na próxima sexta tenho prova", NEXT_FRIDAY),
        ("Na sexta-feira vou ao dentista", FRIDAY),
        ("Depois de amanhã viajo", "2026-11-28"),
        ("Semana passada mudei de casa", LAST_WEEK),
        ("Começo daqui a duas semanas", "2026-12-10"),
        ("Vendi há três dias", "2026-11-23"),
        ("Moro aqui desde maio", "since 2026-05"),
        ("Tenho prova no dia 14 de março", MARCH),
    ],
    "ru": [
        ("Мы в отпуске с 9 по 20 августа", AUGUST),
        ("Завтра экзамен", TOMORROW),
        ("В следующую пятницу экзамен", NEXT_FRIDAY),
        ("Во вторник иду к врачу", "2026-12-01"),
        ("Я переехал в прошлом месяце", "2026-10"),
        ("На прошлой неделе я купил стол", LAST_WEEK),
        ("Начинаю через две недели", "2026-12-10"),
        ("Продал его три дня назад", "2026-11-23"),
        ("Неделю назад начал", "2026-11-19"),
        ("Уже с мая живу здесь", "since 2026-05"),
        ("Экзамен 14 марта", MARCH),
    ],
    "zh": [
        ("我们8月9号到20号去新疆", AUGUST),
        ("今天 明天 昨天", f"2026-11-26, {TOMORROW}, {YESTERDAY}"),
        ("我下周五要去面试", NEXT_FRIDAY),
        ("我周五要去面试", FRIDAY),
        ("上个月我搬家了", "2026-10"),
        ("上週五我搬家了", "2026-11-20"),
        ("三天前我辞职了", "2026-11-23"),
        ("两周后开学", "2026-12-10"),
        ("自从五月我就吃素", "since 2026-05"),
        ("３月14日考试", MARCH),
        ("三月十四日考试", MARCH),
        ("去年五月", "2025-05"),
    ],
}

UNRESOLVED = {
    "en": [
        "I like tea", "I was born on 14 March 1990", "My birthday is on 14 March", "I moved here in May 2020",
        "We got married on 4 May", "I met Anna on Friday", "I swim on Friday every week", "I swim twice a week, on Friday and on Sunday", "on Friday the 5th", "I swim on Fridays",
        "I swim on Friday mornings", "I work from Monday to Friday", "It opens Mon-Fri", "We have choir on Thursday",
        "next summer I travel", "a few days ago", "half a year ago", "twenty three days ago", "1.5 weeks ago",
        "one or two weeks ago", "a week from tomorrow", "I may 14 times", "the last week of school", "my last year there",
        "I drink three coffees in a day", "I read it in two days and loved it", "I haven't seen her in six months", "on 20 November", "on 3/4", "version 3.14",
        "until next week", "30 February", "on 2026-12-04", "next, Friday", "next. Friday",
    ],
    "de": ["Guten Morgen", "Jeden Morgen jogge ich", "Ich war am Freitag in Rom", "Ich habe am Freitag Anna getroffen",
           "Montag bis Freitag arbeite ich", "die letzten Wochen", "vor einem halben Jahr", "14. März 2027"],
    "es": ["Por la mañana corro", "Los viernes juego", "El viernes fui al dentista", "de lunes a viernes", "14 de marzo de 2027",
           "Enterramos a mi abuela el martes", "El martes 17 vienen"],
    "fr": ["Le vendredi je nage", "J'ai vu Anna vendredi", "du lundi au vendredi", "14 mars 2027"],
    "pt": ["Na segunda vez deu certo", "Fui na sexta ao dentista", "de segunda a sexta", "há duas ou três semanas"],
    "ru": ["В пятницу купил стол", "14 марта 2027 года", "полторы недели назад", "двадцать три дня назад", "через день",
           "Отпуск у меня с 3 июля", "С мая живу здесь"],
    "zh": ["每周五我休息", "我周五休息", "一周一次", "以前年轻", "二十三天前", "周一到周五", "2027年3月14日", "证明天气很好", "从五月起我要吃素"],
}  # fmt: skip


@pytest.mark.parametrize(("code", "text", "dates"), [(code, *row) for code, rows in RESOLVED.items() for row in rows])
def test_time_words_are_resolved(code, text, dates):
    assert dates_in(text, AT, code) == dates


@pytest.mark.parametrize(("code", "text"), [(code, text) for code, texts in UNRESOLVED.items() for text in texts])
def test_absolute_and_uncertain_times_have_no_date(code, text):
    assert dates_in(text, AT, code) == ""


@pytest.mark.parametrize("code", CODES)
def test_bare_month_has_no_date(code):
    months = [form for forms in languages.table(code)["dates"]["months"] for form in forms.split("/")]
    assert len(months) >= 12
    assert [dates_in(month.title(), AT, code) for month in months] == [""] * len(months)


@pytest.mark.parametrize("code", ["", "xx", "EN", "../en", "е"])
def test_unknown_language_has_no_dates(code):
    assert dates_in("tomorrow", AT, code) == ""
    assert expiry_of("until tomorrow", AT, code) is None


@pytest.mark.parametrize(
    ("day", "en", "de", "es"),
    [
        ("2026-11-23", "2026-12-04", "", "2026-11-27"),  # Monday: people disagree
        ("2026-11-26", "2026-12-04", "2026-12-04", "2026-12-04"),  # tomorrow is not called "next Friday"
        ("2026-11-27", "2026-12-04", "2026-12-04", "2026-12-04"),  # on the day itself
        ("2026-11-29", "2026-12-04", "2026-12-04", "2026-12-04"),  # Sunday
    ],
)
def test_next_friday_follows_the_rule_of_the_language(day, en, de, es):
    at = datetime.fromisoformat(f"{day}T12:00Z")
    said = {"en": "next Friday", "de": "nächsten Freitag", "es": "el viernes que viene"}
    assert [dates_in(text, at, code) for code, text in said.items()] == [en, de, es]


@pytest.mark.parametrize(
    ("day", "text", "dates"),
    [
        ("2026-12-31", "tomorrow", "2027-01-01"),
        ("2026-12-31", "next month", "2027-01"),
        ("2026-01-15", "last month", "2025-12"),
        ("2026-01-31", "in one month", "2026-02"),
        ("2024-02-29", "in a year", "2025"),
        ("2026-03-01", "my exam is on 29 February", ""),
        ("2027-06-01", "my exam is on 29 February", "2028-02-29"),
        ("2026-03-01", "since May", "since 2025-05"),
        ("2026-05-20", "since May", "since 2026-05"),
        ("2026-05-20", "until May", ""),
        ("2026-03-01", "last May", "2025-05"),
        ("2026-03-01", "next May", ""),  # this year's or next year's
        ("2026-11-26", "my exam is on 26 November", "2026-11-26"),
        ("9999-12-31", "tomorrow", ""),
        ("0001-01-01", "two years ago", ""),
    ],
)
def test_edges_of_the_calendar(day, text, dates):
    assert dates_in(text, datetime.fromisoformat(f"{day}T12:00Z"), "en") == dates


def test_today_is_the_day_of_the_users_zone():
    assert dates_in("today", AT, "en") == "2026-11-26"
    assert dates_in("today", AT.astimezone(UTC), "en") == "2026-11-27"


@pytest.mark.parametrize(
    ("code", "text", "day"),
    [
        ("en", "This week I'm in Rome", "2026-11-30"),
        ("en", "I'm on vacation today", "2026-11-27"),
        ("en", "I'm in Rome until Friday", "2026-11-28"),
        ("en", "I'm in Rome until 4 December", "2026-12-05"),
        ("en", "My visa is valid until 2027-03-14", "2027-03-15"),
        ("en", "My visa is valid until May 2027", "2027-06-01"),
        ("en", "I'm on sick leave for the next three days", "2026-11-30"),
        ("en", "I'm away until the end of the month", "2026-12-01"),
        ("de", "Diese Woche bin ich in Rom", "2026-11-30"),
        ("de", "Ich bin bis Freitag krank", "2026-11-28"),
        ("de", "Für die nächsten drei Tage bin ich weg", "2026-11-30"),
        ("es", "Esta semana estoy en Roma", "2026-11-30"),
        ("fr", "Je suis à Rome jusqu'à vendredi", "2026-11-28"),
        ("pt", "Até sexta estou em Roma", "2026-11-28"),
        ("ru", "До пятницы я в Риме", "2026-11-28"),
        ("zh", "这周我出差", "2026-11-30"),
        ("zh", "接下来三天我出差", "2026-11-30"),
    ],
)
def test_passing_statements_expire_at_midnight(code, text, day):
    assert expiry_of(text, AT, code).isoformat() == f"{day}T00:00:00-03:00"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", "I like tea"),
        ("en", "I started a new job this week"),
        ("en", "I'm starting a new job this week"),
        ("en", "I lived in Rome until May"),
        ("en", "I was in Rome until yesterday"),
        ("en", "I'm at the gym until Friday every week"),
        ("en", "Today is my birthday"),
        ("en", "I have doubts until today"),
        ("en", "I need a new job within the next two months"),
        ("de", "In den nächsten drei Wochen suche ich eine Wohnung"),
        ("en", "I fly to Rome tomorrow"),
        ("en", "The report is due by Friday"),
        ("en", "I'm in Rome for two weeks"),
        ("en", "I have visitors this week"),
        ("de", "Diese Woche habe ich gekündigt"),
        ("ru", "На этой неделе я купил стол"),
        ("zh", "这周我搬家了"),
    ],
)
def test_lasting_statements_do_not_expire(code, text):
    assert expiry_of(text, AT, code) is None


def test_a_file_adds_a_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "eo.toml").write_text(
        """
        [dates]
        weekdays = ["lundo", "mardo", "merkredo", "ĵaŭdo", "vendredo/vendredon", "sabato", "dimanĉo"]
        months = ["januaro", "februaro", "marto", "aprilo", "majo"]
        [dates.units]
        week = "semajno/semajnon"
        [dates.day]
        1 = ["morgaŭ"]
        [dates.unit]
        1 = ["sekva/sekvan {unit}"]
        [dates.phrases]
        on_weekday = ["je? {weekday}"]
        until = ["ĝis {when}"]
        """,
        "utf-8",
    )
    monkeypatch.setattr(languages, "FOLDER", tmp_path)
    assert dates_in("Mi venos morgaŭ aŭ sekvan semajnon aŭ vendredon", AT, "eo") == f"{TOMORROW}, {NEXT_WEEK}"
    assert expiry_of("Mi restos ĝis vendredo", AT, "eo") == datetime.fromisoformat("2026-11-28T00:00-03:00")
