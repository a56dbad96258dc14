"""Memory adds nothing to prompts that do not concern the user, even in languages unknown to the embedder."""

from __future__ import annotations

import pytest

from proxy.memory.inject.blocks import OPEN
from tests.fakes.provider import FakeProvider
from tests.talking import Speaker, outcome

TOLD = {
    "es": [
        "Ayer fui al mercado de la Boquería con mi vecina y compramos bacalao.",
        "Toco el oboe en una banda del barrio los jueves.",
        "Nuestra caldera hace ruido desde que empezó el frío.",
        "Trabajo en una clínica veterinaria cerca del puerto.",
        "El sábado vienen mis primos a ver el partido.",
        "Quiero pintar el pasillo de verde oscuro.",
        "Mi bicicleta lleva dos semanas en el taller.",
        "Se me da fatal cocinar arroz, siempre se pega.",
        "Mi hija empieza la guardería en enero.",
        "Hemos cambiado de operador de internet y va lento.",
        "El dentista me ha dicho que vuelva en marzo.",
    ],
    "ru": [
        "Вчера мы с соседкой ходили на рынок и купили треску.",
        "По четвергам я играю на гобое в районном оркестре.",
        "Наш котёл шумит с тех пор, как похолодало.",
        "Я работаю в ветеринарной клинике недалеко от порта.",
        "В субботу приедут двоюродные братья смотреть матч.",
        "Хочу покрасить коридор в тёмно-зелёный цвет.",
        "Мой велосипед уже две недели в мастерской.",
        "У меня плохо получается рис, он вечно пригорает.",
        "Дочка в январе пойдёт в детский сад.",
        "Мы сменили провайдера, интернет стал медленным.",
        "Стоматолог велел прийти снова в марте.",
    ],
    "zh": [
        "昨天我和邻居去市场买了鳕鱼。",
        "每个星期四我在社区乐团吹双簧管。",
        "天冷以后我们家的锅炉一直有噪音。",
        "我在港口附近的一家宠物医院上班。",
        "星期六表弟他们要来看球赛。",
        "我想把走廊刷成墨绿色。",
        "我的自行车在修理店放了两个星期了。",
        "我煮米饭总是糊锅。",
        "女儿一月份开始上幼儿园。",
        "我们换了宽带运营商,网速变慢了。",
        "牙医让我三月份再去一次。",
    ],
}
ASKED = {
    "es": ("¿Qué instrumento toco?", "oboe"),
    "ru": ("На каком инструменте я играю?", "гобое"),
    "zh": ("我吹什么乐器?", "双簧管"),
}
CONCERNS_NOBODY = {
    "es": [
        "¿Quién pintó el Guernica?",
        "Resuelve la ecuación 4x + 6 = 30.",
        "¿Cómo se forma un huracán en el Atlántico?",
    ],
    "ru": ["Кто написал «Мёртвые души»?", "Реши уравнение 6x - 8 = 22.", "Сколько костей в теле человека?"],
    "zh": ["《红楼梦》的作者是谁?", "解方程 7x - 5 = 30。", "人体有多少块骨头?"],
}


@pytest.mark.parametrize("code", sorted(TOLD))
def test_only_questions_about_oneself_get_memory(
    alice: Speaker,
    upstream: FakeProvider,
    code: str,
) -> None:
    """Prompts that do not concern the user get no memory."""

    def recalled(text: str) -> str:
        alice.say(text, x_memory_mode="read")
        body = str(upstream.last.json["messages"][-1]["content"])
        return body.partition(OPEN)[2]

    alice.tell(*TOLD[code])
    question, answer = ASKED[code]
    assert answer in recalled(question)
    assert [text for text in CONCERNS_NOBODY[code] if recalled(text)] == []


@pytest.mark.parametrize(
    "wish",
    [
        "Come up with a name for a chat group of people in the city I live in.",
        "Write search queries with which I find plumbers in the city where I live.",
        'Generate a JSON object with the city I live in under the key "city".',
        "Give me a short title for a talk about the city I live in.",
    ],
)
def test_wishes_that_look_like_errands_get_memory(alice: Speaker, upstream: FakeProvider, wish: str) -> None:
    alice.tell("I use Shram and Magnet as productivity tools.")
    alice.tell("I live in Rotterdam.")
    assert outcome(alice.say(wish, x_memory_mode="read"))["outcome"] == "used"
    assert "Rotterdam" in upstream.last.json["messages"][-1]["content"]
