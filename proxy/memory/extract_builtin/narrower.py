"""Tells in Russian what ends within a value, or at it, from its own end ("fired the cook at X", "the heater of the X died")."""

from __future__ import annotations

import re

from proxy.memory.extract_builtin.mentions import Mention
from proxy.memory.extract_builtin.reading import Clause
from proxy.memory.extract_builtin.scan import Scan
from proxy.memory.words import words

_PIECE_RU = re.compile(
    r"\b(?:выпуск|сери|эпизод|файл|трек|песн|запис|копи|скачанн|ярлык|иконк|черновик|пост|коммент|уведомлени|кэш|скриншот|фот|глав|билет|афиш)\w*$"
)  # of the value
ITS_OBJECT = re.compile(
    r" (?!(?:в|во|к|ко|на|с|со|из|от|у|до|по|меня|нас|мой|мою|мое|мои|наш\w?|и|его|ее|их)\b)(?P<noun>\w{4,})"
)
_DELETED = re.compile(r"\b(?:удал|стер|убр|выкин|вычеркн|снес|закры|отключ|запрет|отмен|вырез|выпил)\w*")
_HAS_IT = re.compile(r"\bу(?: \w+)?$")
_FAILED_RU = re.compile(
    r"\b\w*(?:сдох|умер|слома|полетел|накры|сгор|отвал|отказа|кончи|закончи|сел|села|потек|погнул|лопну|рассыпа|истек|сгнил|загнул|скис|порва|развал|пропа|забарахл|глюч)\w*"
)
_BEHIND = re.compile(r"(?:^|\s)(?:в|во|на|у|с|со|от|из|к|для|при)$")
_GOVERNS = re.compile(
    r"\b[а-я]{3,}л[аи]? (?:нов\w+ |\w+(?:ую|юю) )?(?P<noun>(?!\w*(?:но|ски|ую|ого|его|ому|наотрез|наконец|назад|домой|вовсе|совсем|раньше|сразу|вчера)\b)[а-я]{3,}(?:[уюыиа]|[бвгджзклмнпрстфхцчшщ]))\b"
)
_TIES_RU = re.compile(
    r"(?:аренд|цен|плат|тариф|взнос|стоимост|работ|договор|контракт|аккаунт|абонемент|билет|путевк|брон|подписк|карт|счет|деньг|документ|вещ|заявлен|место|мест|должност|ставк|смен|пропуск|ключ|форм|курс|заняти|урок|тренировк|членств|участи|отношен|дружб|общен|связ|контакт|сотрудничеств|конец|точк|крест|рук|ног|глаз|шаг|покой|друг|человек|замен|хозя|покупател|прощан|чемодан|коробк|трудов|диплом|зачетк|двер|мост|лавочк|врач|доктор|спин|коленк|колен|нерв|сил|желани|смысл|интерес|времен|лет|раз|чат|групп|состав|ряд|стаж|помолвк|развод)"
)
_WITHIN = re.compile(r"\b(?:в|во|из|на|с|у)(?: \w+){0,2}$")
_LONG_WORD = 3  # letters


class Narrower(Scan):
    """Reads what is told of a part of a value."""

    def _governs_another(self, clause: Clause) -> bool:
        """Whether the verb of a Russian clause is told of something unheard that binds one to nothing ("at X they fired the cook")."""
        for match in _GOVERNS.finditer(clause.flat):
            noun = match["noun"]
            if noun not in self._lexicon.stop and not _TIES_RU.match(noun) and not self._heard.holds(noun):
                return True
        return False

    def _is_part_in_russian(self, mention: Mention, clause: Clause, end: int) -> bool:
        before = clause.flat[: mention.start - clause.start].rstrip(' «"„“')
        fails = _FAILED_RU.search(clause.flat) if _HAS_IT.search(before) else None
        if fails and ITS_OBJECT.match(clause.flat, fails.end()):  # "the heater of the X is dead"
            return True
        if _BEHIND.search(before) and self._governs_another(clause):
            return True
        if not _DELETED.search(clause.flat):
            return False
        if _PIECE_RU.search(before):
            return True
        if not _WITHIN.search(before):
            return False
        rest = clause.flat[max(mention.end, end) - clause.start :]
        return any(len(w.text) > _LONG_WORD and w.text not in self._lexicon.stop for w in words(rest))
