"""Everyday prompts that say nothing about who asks, and that no memory helps with: a hundred, and 25 a language."""

from __future__ import annotations

_ENGLISH = """
Write a regular expression that matches an IPv4 address.
What is the boiling point of nitrogen at sea level?
Translate "the train leaves at noon" into Italian.
Explain the difference between a mutex and a semaphore.
Give the derivative of x^3 * ln(x).
Which planet has the most moons?
Convert 350 degrees Fahrenheit to Celsius.
How does a heat pump work?
Write a haiku about fog over a harbour.
What does HTTP status 418 mean?
Summarise the plot of Hamlet in three sentences.
List the noble gases.
Why is the sky red at sunset?
Write a SQL query that returns the second highest salary per department.
What year did the Berlin Wall fall?
Explain photosynthesis to a ten-year-old.
How many bytes are in a gibibyte?
What is the capital of Mongolia?
Reverse a linked list in Rust.
What is the difference between weather and climate?
Factor 391 into primes.
Who painted Las Meninas?
What is the time complexity of merge sort?
Name three rivers that flow into the Black Sea.
Write a limerick about a lighthouse.
What causes the northern lights?
How do vaccines produce immunity?
Explain what a monad is with a short Haskell example.
What is the chemical formula of baking soda?
Write a bash one-liner that counts the lines of all .csv files in a folder.
How is a tsunami formed?
What is the plural of "ox"?
Explain the offside rule in football.
Which element has atomic number 79?
What does the Latin phrase "carpe noctem" mean?
Give an example of a balanced binary search tree with seven nodes.
How far is the Moon from the Earth on average?
What is the difference between a comet and an asteroid?
Write a Python decorator that retries a function three times.
Who wrote The Brothers Karamazov?
What are the primary colours of light?
Explain the Monty Hall problem.
How long does light take to travel from the Sun to the Earth?
What is the longest river in South America?
Write the Fibonacci numbers below 100.
What does the acronym LASER stand for?
How do noise-cancelling headphones work in principle?
Explain inflation in one paragraph.
What is the difference between TCP and UDP?
Who discovered penicillin?
Solve 3x + 7 = 31.
What is the largest organ of the human body?
Write a CSS rule that centres a div horizontally and vertically.
How is steel made?
What is the meaning of "to burn the midnight oil"?
What is a Turing machine?
How many players are on a volleyball team on court?
Explain the difference between alternating and direct current.
What is the currency of Vietnam?
Write a short dialogue between two robots on Mars.
What does the command git rebase --onto do?
Which countries border Luxembourg?
How do bees make honey?
What is the probability of rolling two sixes with two dice?
Explain what an eclipse is.
What is the difference between a simile and a metaphor?
Write a JSON schema for an object with a required string field "sku".
What was the Hanseatic League?
How does a refrigerator keep things cold?
Give three synonyms of "tenacious".
What does the second law of thermodynamics say?
Write a regular expression for a date like 2031-04-09.
Which ocean is the Mariana Trench in?
How do you pronounce "quay"?
Compare a stack and a queue.
What are the rules of castling in chess?
Who composed The Rite of Spring?
How many seconds are there in a leap year?
Write a two-line poem about rust.
What is the difference between a crocodile and an alligator?
Explain how a zip fastener works.
What is the square root of 1764?
Name the layers of the OSI model.
How does a lock on a canal lift a boat?
Which vitamins dissolve in fat?
What does the word "sonder" mean?
Describe the water cycle in four steps.
When was the printing press invented?
Write an awk command that sums the third column.
Why do onions make people cry?
What is the speed of sound in dry air?
Turn "the dog ate the cake" into the passive voice.
Which countries took part in the Peace of Westphalia?
How does a microwave oven heat food?
What is Benford's law?
Give the molecular geometry of methane.
What is the difference between latitude and longitude?
Write a Makefile rule that compiles every .c file.
What happens at a black hole's event horizon?
Who was the first woman to win a Nobel Prize?
"""
_GERMAN = """
Wie hoch ist die Zugspitze?
Erkläre den Unterschied zwischen Dativ und Akkusativ.
Schreibe eine Funktion in JavaScript, die ein Array mischt.
Was ist die Hauptstadt von Neuseeland?
Wie entsteht ein Gewitter?
Welche Einheiten hat die elektrische Leistung?
Was bedeutet das Sprichwort „Morgenstund hat Gold im Mund“?
Nenne fünf Gedichte von Rilke.
Wann wurde die Magna Carta unterzeichnet?
Was ist der Unterschied zwischen einem Kometen und einem Meteoriten?
Rechne 72 Kilometer pro Stunde in Meter pro Sekunde um.
Wie funktioniert ein Dieselmotor?
Schreibe einen Limerick über einen Leuchtturm.
Welche Planeten haben Ringe?
Was bedeutet HTTP-Statuscode 503?
Erkläre den Satz des Pythagoras.
Wer komponierte die Zauberflöte?
Wie viele Knochen hat der menschliche Körper?
Nenne die Länder, die an die Schweiz grenzen.
Warum ist der Himmel blau?
Was ist ein Palindrom? Gib drei Beispiele.
Löse die Gleichung 5x - 9 = 21.
Wie wird Glas hergestellt?
Was versteht man unter Inflation?
Bilde den Konjunktiv II von „gehen“.
"""
_SPANISH = """
¿Cuál es la fórmula del área de un círculo?
Explica qué es la fotosíntesis en dos frases.
¿Quién escribió Cien años de soledad?
¿Cómo se dice "puente" en portugués?
Escribe un bucle en C que imprima los números pares hasta 20.
¿Cuántos continentes hay?
¿Qué es un agujero negro?
¿En qué año llegó el ser humano a la Luna?
¿Cómo funciona un motor eléctrico?
Escribe un haiku sobre la niebla.
¿Cuál es la capital de Australia?
Explica la diferencia entre "por" y "para".
¿Qué significa el código HTTP 404?
¿Quién pintó el Guernica?
Resuelve 4x + 6 = 30.
¿Por qué el cielo es azul?
¿Cuántos huesos tiene el cuerpo humano?
Conjuga el verbo "caber" en pretérito.
¿Qué países limitan con Bolivia?
¿Cómo se forma un huracán?
Convierte 100 grados Fahrenheit a Celsius.
¿Qué es la inflación?
Nombra los gases nobles.
¿Cuándo cayó el Muro de Berlín?
Explica qué hace el comando git stash.
"""
_RUSSIAN = """
Какая самая длинная река в Африке?
Объясни, что такое рекурсия.
Переведи на английский: «кит плывёт на юг».
Кто написал «Мёртвые души»?
Сколько градусов в сумме углов треугольника?
Почему море солёное?
Назови столицу Исландии.
Когда была Полтавская битва?
Чем комета отличается от астероида?
Реши уравнение 6x - 8 = 22.
Как работает двигатель внутреннего сгорания?
Напиши хокку о тумане.
У каких планет есть кольца?
Что означает код HTTP 404?
Кто написал музыку к балету «Щелкунчик»?
Сколько костей в теле человека?
Перечисли благородные газы.
Почему небо голубое?
Что такое палиндром? Приведи три примера.
Как делают стекло?
С какими странами граничит Монголия?
Переведи 90 километров в час в метры в секунду.
Что такое инфляция?
Объясни разницу между TCP и UDP.
Какова плотность ртути?
"""
_CHINESE = """
光合作用的化学方程式是什么？
长城有多长？
用Python写一个快速排序。
“画蛇添足”是什么意思？
水的沸点在高原上为什么会降低？
解释一下什么是量子纠缠。
世界上最深的海沟在哪里？
秦始皇哪一年统一六国？
彗星和小行星有什么区别？
解方程 7x - 5 = 30。
内燃机的工作原理是什么？
写一首关于雾的俳句。
哪些行星有光环？
HTTP 状态码 404 是什么意思？
《红楼梦》的作者是谁？
人体有多少块骨头？
列出所有稀有气体。
天空为什么是蓝色的？
什么是回文？举三个例子。
玻璃是怎么制造的？
蒙古国和哪些国家接壤？
把每小时90公里换算成米每秒。
什么是通货膨胀？
解释 TCP 和 UDP 的区别。
澳大利亚的首都是哪里？
"""

PROMPTS: dict[str, tuple[str, ...]] = {
    code: tuple(prompts.strip().splitlines())
    for code, prompts in (("en", _ENGLISH), ("de", _GERMAN), ("es", _SPANISH), ("ru", _RUSSIAN), ("zh", _CHINESE))
}
EVERY_PROMPT: tuple[str, ...] = tuple(prompt for prompts in PROMPTS.values() for prompt in prompts)
