"""The lexicons of all languages that are read."""

from __future__ import annotations

from collections.abc import Mapping

from proxy.memory.learn.extract_builtin.chinese import CHINESE
from proxy.memory.learn.extract_builtin.english import ENGLISH
from proxy.memory.learn.extract_builtin.german import GERMAN
from proxy.memory.learn.extract_builtin.lexicon import Lexicon
from proxy.memory.learn.extract_builtin.russian import RUSSIAN
from proxy.memory.learn.extract_builtin.spanish import SPANISH

LEXICONS: Mapping[str, Lexicon] = {lexicon.code: lexicon for lexicon in (ENGLISH, GERMAN, SPANISH, RUSSIAN, CHINESE)}
