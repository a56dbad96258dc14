"""Everyday sentences in several languages, as people type them: without capitals, accents or the word for "I"."""

from __future__ import annotations

import pytest

from tests.memory.learn.world import told


@pytest.mark.parametrize(
    ("holds", "later"),
    [
        ("My brother plays Cello.", "I don't play cello anymore."),
        ("Meine Mutter trinkt Wein.", "Ich trinke keinen Wein mehr."),
        ("Mi padre fuma.", "Dejé de fumar."),
        ("Mi hermana es enfermera.", "Ya no soy enfermera."),
        ("Ma soeur est infirmière.", "Je ne suis plus infirmière."),
        ("Minha irmã é enfermeira.", "Não sou mais enfermeira."),
        ("Моя сестра учительница.", "Я больше не учительница."),
        ("Мой брат курит.", "Я бросил курить."),
        ("我姐姐是老师。", "我不再是老师"),
        ("我弟弟在阿里工作。", "我不在阿里工作了"),
        ("Meine Familie wohnt in Köln.", "ich wohne nicht mehr in köln"),
    ],
)
def test_another_person_goes_on(holds: str, later: str) -> None:
    assert holds in told(holds, later).active


@pytest.mark.parametrize(
    ("ends", "later"),
    [
        ("Mi novia se llama Lena.", "terminé con lena"),
        ("Ma copine s'appelle Léna.", "j'ai rompu avec léna"),
        ("Minha namorada se chama Lena.", "terminei com a lena"),
        ("我女朋友叫小雨。", "我和小雨分手了"),
        ("My girlfriend is called lena.", "i broke up with lena"),
    ],
)
def test_a_person_is_known_by_name(ends: str, later: str) -> None:
    assert ends not in told(ends, later).active


@pytest.mark.parametrize(
    ("holds", "later"),
    [
        ("Ich wohne in Köln.", "nach dem studium bin ich für zwei jahre nach wien gezogen"),
        ("Ich wohne in Köln.", "ich bin innerhalb von köln nach ehrenfeld gezogen"),
        ("Ich wohne in Köln.", "bin nie nach bonn gezogen"),
        ("Vivo en Madrid.", "mis padres quieren que me mude a sevilla"),
        ("Я живу в Перми.", "моя сестра переехала в казань"),
        ("Я живу в Перми.", "я родился в казани и переехал в пермь"),
        ("Я живу в Перми.", "вчера переехал в отель на пару дней"),
        ("Я живу в Перми.", "сейчас живу на третьем этаже"),
        ("Moro em Recife.", "agora moro no terceiro andar"),
        ("我住在北京。", "我妈想让我搬到上海"),
        ("我住在北京。", "二十岁的时候我搬到了成都"),
    ],
)
def test_a_home_stays(holds: str, later: str) -> None:
    assert holds in told(holds, later).active


@pytest.mark.parametrize(
    ("holds", "later"),
    [
        ("Ich habe einen Hund namens Bruno.", "bruno ist fast gestorben"),
        ("Tomo metformina.", "ya no tengo metformina"),
        ("Tomo metformina todo dia.", "não tenho mais metformina"),
        ("Я принимаю метформин.", "у меня больше нет метформина"),
        ("Voy al gimnasio.", "ya no voy solo al gimnasio"),
        ("Je vais à la salle de sport.", "je ne vais plus à la salle de sport le lundi"),
        ("Toco la guitarra.", "dejé las clases de guitarra"),
        ("Toco la guitarra.", "dejé la guitarra en casa de juan"),
        ("Je joue de la guitare.", "j'ai arrêté les cours de guitare"),
        ("我在学西班牙语。", "我取消了周一的西班牙语课"),
        ("Tomo café todas las mañanas.", "el médico quiere que deje el cafe"),
    ],
)
def test_a_part_or_an_occasion_ends(holds: str, later: str) -> None:
    assert holds in told(holds, later).active


@pytest.mark.parametrize(
    ("ends", "later"),
    [
        ("Tomo café todas las mañanas.", "deje de tomar cafe"),
        ("Vivo en Madrid.", "me mude a valencia"),
        ("Je fume un paquet par jour.", "jai arrete de fumer"),
        ("J'habite à Lyon.", "j'ai demenage a nantes"),
        ("Moro em Recife.", "nao moro mais em recife"),
        ("Ich rauche seit Jahren.", "hab mit dem rauchen aufgehoert"),
        ("Ich wohne in Köln.", "bin letzten monat nach leipzig gezogen"),
        ("Ich wohne in Köln.", "wohne seit märz in bonn"),
        ("J'habite à Lyon.", "j'habite plus à lyon"),
        ("Мою девушку зовут Лена.", "мы с леной расстались"),
        ("我每天喝咖啡。", "我戒咖啡了"),
        ("我养了一隻貓叫咪咪。", "咪咪死了"),
    ],
)
def test_an_end_in_everyday_words(ends: str, later: str) -> None:
    assert ends not in told(ends, later).active


@pytest.mark.parametrize(
    ("holds", "later"),
    [
        ("J'utilise Notion pour mes notes.", "oublie pas que j'utilise notion"),
        ("J'utilise Notion pour mes notes.", "n'oublie pas que j'utilise notion"),
        ("Я пользуюсь Notion.", "забыл пароль от notion"),
        ("Мой телефон Pixel.", "забыл телефон дома"),
        ("Я пользуюсь Notion.", "удалил лишнее из notion"),
        ("Ich bin allergisch gegen Nüsse.", "vergiss bitte nicht dass ich gegen nüsse allergisch bin"),
    ],
)
def test_no_request_to_forget(holds: str, later: str) -> None:
    assert holds in told(holds, later).active


@pytest.mark.parametrize(
    ("gone", "stays", "request_text"),
    [
        ("Meine Exfreundin heißt Lena.", "Meine Chefin heißt Petra.", "vergiss lena"),
        ("Meine Exfreundin heißt Lena.", "Meine Chefin heißt Petra.", "vergiss alles über meine ex"),
        ("Ich habe Asthma.", "Mein Sohn hat Asthma.", "kannst du bitte vergessen dass ich asthma habe"),
        ("Tengo asma.", "Mi hijo tiene asma.", "olvidá que tengo asma"),
        ("Tengo asma.", "Mi hijo tiene asma.", "olvidate de que tengo asma"),
        ("J'ai de l'asthme.", "Mon fils a de l'asthme.", "tu peux oublier que j'ai de l'asthme"),
        ("Je suis enceinte.", "J'aime les chats.", "oublie pour la grossesse"),
        ("Tenho asma.", "Meu filho tem asma.", "pode esquecer que eu tenho asma"),
        ("Ganho 4000 reais.", "Meu aluguel é 900 reais.", "esquece meu salário"),
        ("Мою бывшую зовут Лена.", "Мою начальницу зовут Петра.", "не говори больше про лену"),
        ("我前女友叫小雨。", "我老板叫王强。", "别再提小雨了"),
        ("My brother is in Leeds.", "I live in Leeds.", "Forget everything about my brother."),
        ("Meine Schwester ist Lehrerin.", "Ich bin Lehrerin.", "vergiss alles über meine schwester"),
    ],
)
def test_request_takes_that_alone(gone: str, stays: str, request_text: str) -> None:
    assert told(gone, stays, request_text).active == [stays]


@pytest.mark.parametrize(
    "text",
    [
        "wenn ich reich wäre würde ich in monaco wohnen",
        "si j'étais riche j'habiterais à monaco",
        "ich brauch ein rezept für lasagne",
        "necesito una receta de lasaña",
        "мне нужен рецепт лазаньи",
        "traduis : j'habite à berlin et j'ai deux chiens",
        "traduz: moro em berlim e tenho dois cachorros",
        "mon frère a dit : je pars vivre à berlin",
        "meu irmão disse: vou morar em berlim",
        "我哥说：我要搬到柏林",
        "想象我是一个海盗",
        "ahora eres mi profesor y yo soy tu alumno",
    ],
)
def test_nothing_is_learned(text: str) -> None:
    assert told(text).active == []
