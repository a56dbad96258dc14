"""A hundred everyday prompts that say nothing about who asks, and that no memory helps with."""

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
"""
_OTHERS = """
Wie hoch ist die Zugspitze?
Erkläre den Unterschied zwischen Dativ und Akkusativ.
Schreibe eine Funktion in JavaScript, die ein Array mischt.
Was ist die Hauptstadt von Neuseeland?
Wie entsteht ein Gewitter?
Welche Einheiten hat die elektrische Leistung?
Was bedeutet das Sprichwort „Morgenstund hat Gold im Mund“?
Nenne fünf Gedichte von Rilke.
¿Cuál es la fórmula del área de un círculo?
Explica qué es la fotosíntesis en dos frases.
¿Quién escribió Cien años de soledad?
¿Cómo se dice "puente" en portugués?
Escribe un bucle en C que imprima los números pares hasta 20.
¿Cuántos continentes hay?
¿Qué es un agujero negro?
¿En qué año llegó el ser humano a la Luna?
Какая самая длинная река в Африке?
Объясни, что такое рекурсия.
Переведи на английский: «кит плывёт на юг».
Кто написал «Мёртвые души»?
Сколько градусов в сумме углов треугольника?
Почему море солёное?
Назови столицу Исландии.
光合作用的化学方程式是什么？
长城有多长？
用Python写一个快速排序。
“画蛇添足”是什么意思？
水的沸点在高原上为什么会降低？
解释一下什么是量子纠缠。
世界上最深的海沟在哪里？
"""

PROMPTS: tuple[str, ...] = tuple((_ENGLISH.strip() + "\n" + _OTHERS.strip()).splitlines())
