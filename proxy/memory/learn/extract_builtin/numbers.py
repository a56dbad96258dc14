"""Numbers as words, in the languages that write them so, and measures of a person."""

from __future__ import annotations

import re

from proxy.memory.learn.extract_builtin.lazy import lazy

NUMBER_WORD = (
    r"(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|"
    r"zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|dreizehn|vierzehn|fünfzehn|sechzehn|siebzehn|achtzehn|neunzehn|zwanzig|dreißig|vierzig|fünfzig|"
    r"dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|trece|catorce|quince|dieciséis|diecisiete|dieciocho|diecinueve|veinte|treinta|cuarenta|cincuenta|"
    r"два|две|двое|три|трое|четыре|четверо|пять|пятеро|шесть|шестеро|семь|семеро|восемь|девять|десять|одиннадцать|двенадцать|тринадцать|четырнадцать|"
    r"пятнадцать|шестнадцать|семнадцать|восемнадцать|девятнадцать|двадцать|тридцать|сорок|пятьдесят|двух|трех|четырех|пяти|шести|семи|восьми|девяти|десяти|одиннадцати|двенадцати|двоих|троих|четверых|пятерых|шестерых)"
)

NUMBER = rf"(?:(?<![\d.,])\d{{1,3}}(?:[.,]\d{{1,2}})?(?![\d.,]\d)|{NUMBER_WORD})"

_BEFORE, _AFTER = lazy(r"\d[.,:/]?$"), lazy(r"[.,:/]?\d")  # of the same number


def uncut(value: str, text: str) -> str:
    """Return a value that ends in a piece of a longer number, code or word with the rest of it ("09" of "09:25")."""
    joins = "[.,:/-]" if value[-1:].isdigit() else "-"
    match = re.search(rf"(?<!\w){re.escape(value)}(?:{joins}\w+)+", text) if value else None
    return match[0] if match else value


def is_cut(value: str, text: str) -> bool:
    """Whether ``value`` stands in ``text`` as the piece of a longer number only ("000" of "$25,000")."""
    if not (value[:1].isdigit() or value[-1:].isdigit()):
        return False
    found = list(re.finditer(re.escape(value), text, re.IGNORECASE))
    return bool(found) and all(
        _BEFORE.search(text[: match.start()]) or _AFTER.match(text, match.end()) for match in found
    )
