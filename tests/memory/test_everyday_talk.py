"""What people say all day in the words of an ending, and what must therefore end nothing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from proxy.memory.learn.extract_builtin import BuiltinExtractor
from proxy.memory.learn.ground import ground
from proxy.types import Episode, Said, Scope, Turn

AT = datetime(2026, 3, 10, 9, 0, tzinfo=UTC)
STORY = (
    "Right, that makes sense and thank you for taking me through all of it so patiently today. I will go home now and try "
    "the first three steps with my sister, and I will write to you tomorrow evening about how it went for the two of us. "
)


def ended(text: str, *before: str) -> set[str]:
    """Return the values that a message ends or replaces, given what the user said before."""
    heard = [Episode(f"e{n}", "s", f"t{n}", n, "user", said, AT) for n, said in enumerate(before)]
    turn = Turn("t", Scope("0" * 32, "1" * 32), (Said("m", "user", text),), "", "complete", "m", AT)
    found = ground(BuiltinExtractor().extract(turn, (), heard), turn, heard=heard)
    return {value for candidate in found for value in candidate.replaces}


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("I have a problem with my boiler.", "Oh, no problem, I can send it again."),
        ("I feel a lot of pressure at work.", "Simple, no pressure. That is what I need."),
        ("I wrote a draft of my cover letter yesterday.", "Show me the draft now, not later."),
        ("I keep my receipts in a shoebox.", "It's easy to get tired and forget that. My receipts can wait."),
        ("I have a target of 72 kg.", "Forget the counting for now, that is too much work. My 72 kg target stands."),
        ("I wrote subchapter 3.1 of my novel.", "Write subchapter 3.2 with more dialogue."),
        ("I need an analogy for my class.", "Create another analogy, but this time for nurses."),
        ("I use spreadsheets for my budget.", "Instead of spreadsheets, can you show me a chart?"),
        ("I passed the quiz in my course.", "Yes, the quiz was helpful. I got two questions wrong."),
        ("I have a review with my manager on Friday.", "I don't have any more questions about the review."),
        ("I don't know the names of my neighbours.", "Honestly, I don't remember the names or the days."),
        ("I hiked up a volcano last year.", "Good passage, just remove the part about the volcano from the essay."),
        ("I need a good word for my poem.", "What's a good word for feeling like you don't know what to do?"),
        ("My team uses AI for hiring.", "How can I support people like Jo who resigned because of AI at work"),
        ("I have a dinner with the board on Tuesday.", "At the dinner, before I left, I felt watched by the board."),
        ("My boss is called Anna.", "My boss is a lawyer."),
        (
            "I wrote such a long script.",
            "I just finished with the outline of my script, such a relief to have it all done!",
        ),
        ("The move was tough on us.", "Losing my job was tough, but it gave me the push I needed."),
        (
            "I love painting.",
            "It's lovely how painting calms you. By the way, I went to a puppet show on Friday, so good!",
        ),
        ("Ich habe Stress bei der Arbeit.", f"{STORY}Kein Stress, ich melde mich morgen."),
        ("我的表姐叫张慧婷。", "李伟是我的同事，其年龄是41岁。"),
        ("李伟是我的同事，其年龄是41岁。", "赵敏是我的表姐，其年龄是38岁。"),
        ("我的上司叫陈静雯。", "我的上司是个律师。"),
        ("我的上司叫陈静雯。", "我的上司在上海上班。"),
    ],
)
def test_the_words_of_an_ending_alone_end_nothing(before: str, text: str) -> None:
    assert ended(text, before) == set()


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("У меня такса, зовут Клёпа.", "Клёпа сегодня сгрызла мой левый ботинок. Я накричала, потом злость прошла."),
        ("Я пью магний по вечерам.", "Магний закончился, на работе не нашла, взяла у дома сразу три упаковки."),
        ("Хожу на йогу по понедельникам и средам.", "В понедельник не пошла, горло. В среду пойду обязательно."),
        (
            "Пишу на Rust, редактор у меня Helix.",
            "После обновления Helix перестал показывать подсказки. Откатил, всё починилось.",
        ),
        (
            "Лечусь у невролога Ольги Сергеевны.",
            "Приём в пятницу отменили, Ольга Сергеевна приболела. Предлагали к другому врачу, я отказалась, подожду её.",
        ),
        ("Я леплю кружки и продаю их на рынке.", "Синюю продала! Последнюю, больше ни одной на полке."),
        (
            "Живу в Норильске, тридцать лет уже.",
            "Метель закончилась! Солнце минут на тридцать показалось, все выскочили во двор.",
        ),
        ("Веду у нас в городе юбилеи.", "Юбилей на субботу отменили, заказчик уехал, аванс оставил мне."),
        ("Храню фото на Гугл Диске, а заметки веду в Обсидиане.", "Место на Диске кончилось, докупила двести гигов."),
        ("Храню фото на Гугл Диске, а заметки веду в Обсидиане.", "А вот стопку заметок так и не разобрала, стыдно."),
        ("Хожу к логопеду Вере, по четвергам.", "В этот четверг занятия не будет, у Веры конференция."),
        (
            "Беру сыр у фермера Захара.",
            "Захара не было. Сыр пришлось брать в магазине, гадость, выбросили. Завтра он обещал приехать.",
        ),
        (
            "Учу чешский с репетитором Яном.",
            "Тест провалила, хотелось всё бросить. Ян сказал, что у него самого было не лучше.",
        ),
        ("Держу тридцать кур под Рязанью.", "Одна курица зиму не пережила, жалко. Остальные несутся."),
        (
            "У меня кошка, зовут Муся.",
            "Муся пропала на весь вечер, я обыскалась, а она спала под ванной. Страх прошёл.",
        ),
        ("Живу на Садовой.", "Соседи снизу съехали, наконец тишина на Садовой. Хозяйка цену не подняла."),
        ("Беру рыбу у Тимура.", "У Тимура сегодня закрыто, санитарный день."),
        (
            "У меня планшет Huawei.",
            "Huawei вчера умер, не включался вообще. Почистила контакты, заработал как миленький.",
        ),
        (
            "Заметки держу в Joplin.",
            "Joplin выкинул меня из аккаунта, паника. Оказалось, сменила телефон. Восстановила.",
        ),
        ("Пью рамиприл от давления.", "Понервничала, начальник накричал. Рамиприл выпила, отпустило."),
        ("Работаю в две смены на «Заре».", "Вторую смену отменили. Мастер орал, потом извинился."),
        ("Занимаюсь боксом у Руслана.", "Руслан сказал, хватит на сегодня, и выгнал меня домой."),
        ("Держу гуппи.", "Трое гуппи погибли после подмены, остальные бодрые."),
        ("Рисую маркерами «Сонет».", "Зелёный в «Сонете» кончился, остальные пишут."),
        ("Езжу в офис на маршрутке.", "Маршрутку отменили, ехала на такси."),
        ("Мой любимый чай — пуэр.", "Пуэр пролила на клавиатуру, умерла буква Ю."),
        ("Собираю открытки с маяками.", "Открытку с Ла-Жюманом продал втридорога, на вырученное взял целую серию."),
        ("Мы выращиваем малину на продажу.", "Малина кончилась, сезон закрыли. Весной по новой."),
        ("Пеку торты, мой хит — наполеон.", "Наполеон сгорел! Испекла второй за ночь."),
        ("Сажаю перец сорта Богатырь.", "Богатырь треснул от дождей, половину выбросили."),
        ("Наш сын Лука учится на скрипке.", "Лука порвал струну, занятие отменили, завтра купим."),
        ("Мой любимый роман — «Идиот».", "Дочитала «Идиота» в третий раз, отдала маме до отпуска."),
    ],
)
def test_a_day_a_piece_or_an_absence_in_russian_ends_nothing(before: str, text: str) -> None:
    assert ended(text, before) == set()


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("На балконе у меня стоит велосипед Stels.", "Stels забрал из ремонта, как новый."),
        ("На балконе у меня стоит велосипед Stels.", "Stels отдал брату на выходные, вернёт в понедельник."),
        ("На балконе у меня стоит велосипед Stels.", "Думал, что Stels украли, а он в подвале стоял."),
        ("Снимаю квартиру с Аней.", "Аня уехала в командировку до пятницы."),
        ("Снимаю квартиру с Аней.", "Аня нашла новую работу, счастлива."),
        ("Пью эутирокс по утрам.", "Эутирокс врач оставил, дозу подняли."),
        ("Живу с кошкой Муськой.", "Муська разбила вазу и сидит довольная."),
        ("Играю в волейбол по четвергам.", "Капитан соперников завязал с волейболом, передал майку сыну."),
        ("Пробег у моей Киа 60 тысяч.", "Пробег у соседской Киа 120 тысяч, а едет."),
        ("Работаю в хосписе.", "Снится, что уволилась из хосписа и сплю сутки."),
        ("我有一台跑步机。", "跑步机搬到阳台去了，挺好。"),
        ("我有一台跑步机。", "跑步机归置好了，客厅清爽。"),
        ("周六去合唱团。", "合唱团换了新谱子，好难。"),
        ("周六去合唱团。", "合唱团的老团长退了，接班的挺年轻。"),
        ("我跟室友小凯合租。", "小凯去公司上班了，我在家。"),
        ("我跟室友小凯合租。", "小凯说下学期想搬出去，还没定。"),
        ("班主任是唐老师。", "唐老师给了孩子一朵小红花。"),
        ("我早上吃二甲双胍。", "二甲双胍吃完了，明天去开。"),
        ("我在美团送外卖。", "美团的同事辞职了，说去跑滴滴。"),
        ("我将要参加音乐节，规模是三千人。", "我将要参加的美食节，它的规模是九百人。"),
    ],
)
def test_what_comes_back_or_is_of_others_ends_nothing_in_russian_and_chinese(before: str, text: str) -> None:
    assert ended(text, before) == set()


@pytest.mark.parametrize("noun", ["wahala", "schedule", "phone", "list", "generator", "interview"])
@pytest.mark.parametrize(
    "aside",
    [
        "No more {}.",
        "No {}, please.",
        "I am done with the {}.",
        "Forget the {}.",
        "Less talk instead of the {}.",
        "The {} is over, not cancelled.",
    ],
)
def test_an_aside_in_a_long_message_ends_no_common_thing(noun: str, aside: str) -> None:
    assert ended(STORY + aside.format(noun), f"I have a {noun} that I like.") <= {noun}
    assert ended(STORY + aside.format(noun), f"There was some {noun} at my place, as you said.") == set()


def test_what_was_told_as_a_value_ends_in_a_long_message_too() -> None:
    assert ended(f"{STORY}By the way, I don't use Magnet anymore.", "I use Shram and Magnet every day.") == {"Magnet"}


@pytest.mark.parametrize(
    ("before", "text"),
    [
        # something at or within the value, or somebody else
        ("Mein Roller ist eine Vespa.", "An der Vespa ist mir gestern der Spiegel abgebrochen, kostet 40 Euro."),
        ("Unser Boot heißt Liesel.", "Die Liesel hab ich überholt, alte Pumpe rausgeschmissen, neue rein."),
        ("Ich fahre für die Firma Bolte.", "Bolte hat uns neue Jacken gegeben, der alte Kittel ist endlich weg."),
        ("Mi gata se llama Nube.", "Nube duerme ya, aunque el pienso se acabó y la tienda no abre hasta las diez."),
        ("Mi dentista es Marga.", "Marga me ha dejado la encía hinchada y hoy no mastico."),
        ("Tengo una yegua que se llama Brisa.", "Brisa está preciosa. Los cepillos los regalé, ya estaban viejos."),
        ("Tomo enalapril para la tensión.", "A mi cuñada le han quitado el enalapril porque le daba tos."),
        ("Uso una Canon R6.", "Vi el precio de la nueva y se me quitó la ilusión, me quedo tan feliz con mi Canon."),
        # it goes on
        (
            "Wir haben einen Kater, Herr Fuchs.",
            "Herr Fuchs war seit Montag weg. Heute früh saß er im Garten, als wäre nichts.",
        ),
        ("Conduzco un Fiat Panda.", "El Panda me dejó tirado en la autopista. Ya lo tengo otra vez, era la batería."),
        ("Tomo Lexatin por las noches.", "Se me acabó el Lexatin ayer. Ya he comprado otra caja."),
        ("Llevo lentillas diarias.", "Perdí una lentilla en la piscina, un salto y adiós. En casa me quedaban más."),
        # away for a while, once, or less
        (
            "Mi marido se llama Andrés.",
            "Andrés se ha ido diez días con su hermano a Lugo. Ayer puse la lavadora y encogió todo.",
        ),
        ("Ich gebe Klavierstunden für zwei Schülerinnen.", "Eine Schülerin hat diese Woche abgesagt, Fieber."),
        ("Voy al fisio por el hombro.", "El hombro ya no duele tanto, pero me cuesta dormir."),
        ("Comparto casa con Olga y Dani.", "Dani se ha ido de puente con su hermana y yo friego todo."),
        ("Mi padre se llama Elías.", "Elías se fue a comprar tabaco y me dejó esperando en el coche."),
        ("Tengo cuatro ovejas.", "Una oveja ya no come bien y otra cojea. ¿Qué les doy?"),
        ("Ich wohne in Gera.", "In Gera hat mein Stammcafé zugemacht, jetzt koche ich selber."),
        # another clause tells of the change
        ("Ahorro para un viaje a Islandia.", "He dejado los dulces y con eso lleno la hucha de Islandia."),
        # no request and no correction
        (
            "Compro el pan en una panadería de Soria.",
            "Hoy compré tres barras de pan. ¿Cómo las congelo para que no queden duras?",
        ),
        ("Tomo ramipril, 5 miligramos.", "A mi tío le sentaba mal. A mí muy bien, hoy 12 y 8."),
    ],
)
def test_what_ends_beside_a_value_or_passes_leaves_it(before: str, text: str) -> None:
    assert ended(text, before) == set()
