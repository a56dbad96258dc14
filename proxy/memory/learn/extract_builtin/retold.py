"""Finds what German and Spanish speakers say anew of something of theirs that has one place, maker, topic or number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from proxy.memory.learn.extract_builtin.disproved import EVIDENCE
from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import Lexicon, group_of, one_of
from proxy.memory.learn.extract_builtin.reading import Clause, Reading, Sentence, read_as
from proxy.memory.learn.extract_builtin.replacement import overlap
from proxy.text.words import TEXTS_KEPT, flat, fold, same_word, words

_WHERE, _BY, _IS, _ABOUT = (frozenset((sort,)) for sort in ("where", "by", "is", "about"))
_CAPITAL = r"[A-ZÄÖÜÁÉÍÓÚÑ0-9][\w'&.-]*[\w']"
_VALUE = {
    "de": lazy(rf"(?:[a-zäöüß]+(?:e|n|m|r|s)\s+|das\s+|ein\s+){{0,3}}(?P<v>{_CAPITAL}(?:\s+(?:{_CAPITAL}|\d)){{0,3}})"),
    "es": lazy(
        rf"(?:[a-záéíóúñ]+\s+){{0,5}}(?P<v>{_CAPITAL}(?:\s+(?:(?:de|del|la|las|los|el|y)\s+){{0,2}}(?:{_CAPITAL}|\d)){{0,3}})"
    ),
}
_PLAIN = {  # in a text without capitals, and of a topic
    "de": lazy(r"(?:(?:de[rnm]|die|das|eine?[mnr]?|\w+e[nmr])\s+){0,2}(?P<v>\d[\w./-]*|[\w-]{3,}(?:\s+\d[\w-]*)?)"),
    "es": lazy(
        r"(?:(?:el|las?|los|una?|un[oa]s)\s+)?(?P<v>\d[\w./-]*|[\w-]{3,}(?:\s+(?:(?:de|del|en|las?|los|el)\s+){0,2}[\w-]{3,}){0,4})"
    ),
}
_HEAD = {
    "de": one_of(
        r"\b(?i:mein|unser)(?:e[nmrs]?|s|m|n)? (?:[a-zäöüß]+e[nrsm]? ){0,2}(?P<head>[A-ZÄÖÜ][\w-]+)(?P<of>(?: (?:beim?|im|in|am|an|auf|vo[nm]|für|zu[mr]?|de[rs])(?: (?:de[rmn]|die|das|unser\w*|mein\w*))? [A-ZÄÖÜ][\w-]+)?)",
        r"^\W*(?i:und |also )?[Dd](?:er|ie|as|en) (?P<def>[A-ZÄÖÜ][\w-]{4,})(?=.*\b(?:wir|ich|uns|mir)\b)",
    ),
    "es": one_of(
        r"\b(?i:mi|nuestr[oa]) (?P<head>[A-Za-záéíóúñ]{3,})(?: (?!es\b|est[aá]\b)[a-záéíóúñ]+(?:al|ar|iv[oa]|ic[oa]|er[oa]|ari[oa]))?(?P<of>(?: (?:del?|para|en)(?: (?:las?|los|el|mi|nuestr[oa]))? [\w-]+){0,2})",
        r"\b(?i:el|las?|los) (?:(?:nuev|actual)[oa]? )?(?P<def>[a-záéíóúñ]{3,})(?P<of> (?:de (?:las?|los|mis?|nuestr[oa]s?)|del?) [\w-]+)",
        r"\b(?i:el|la) (?P<head>[a-záéíóúñ]{3,}) (?:en el |en la |con el |con la |a la |al |)que (?:me |nos )?(?P<of>[a-záéíóúñ]+(?:o|mos|oy))(?: (?:a|al|en|por|para|con)(?: (?:el|la|mi))? \w+)?",
    ),
}
_HEAD_PLAIN = lazy(r"\b(?:mein|unser)(?:e[nmrs]?|s|m|n)?\s+(?P<head>[a-zäöüß][\w-]+)")
_NAMED = lazy(  # what stands right behind a head: "my locker 141", "my tutor, Ms. Ruiz, …"
    rf"(?:\s+(?:Nr\.?\s*|Nummer\s+|número\s+)?(?P<code>\d[\w./-]*|[A-Z]\d\w*)(?![\w%€])|"
    rf"\s*,\s*(?:(?:die|der|das|el|la)\s+)?(?:Nr\.?\s*|número\s+)?(?P<number>\d[\w./-]*\w|\d)(?=\s*[,.;!?]|$)|"
    rf"\s*,\s*(?:(?:die|der|el|la)\s+)?(?:[a-záéíóúñ]+\s+)?(?P<name>{_CAPITAL}(?:\s+(?:(?:de|del|von|la)\s+)?{_CAPITAL}){{0,3}})\s*(?=[,.;!?]|$))"
)
_ACTS = lazy(  # with or by whom it is done
    r"(?:bestell|bezieh|hol|kauf|mach|back|liefer|lass|lässt|buch|miet|versicher|krieg|bekomm|mix|druck|näh|betreu|übernimm|hält|trau|leit|gestalt|organisier|fotografier|schneid|reparier|"
    r"hac|prepar|llev|tra|da$|dan$|impart|organiz|encarg|ped|pid|compr|recoj|alquil|reserv|dirig|tutoriz|l[oae]s? )"
)
_VERB = {
    "de": lazy(
        r"\b(?:is|ist|hat|trägt|sind|liegt|steht|befindet|findet|wohnt|lebt|arbeitet|praktiziert|komm(?:t|en)|stammt|bestell\w*|bezieh\w*|hol\w*|kauf\w*|mach\w*|back\w*|liefer\w*|heiß\w*|heiss\w*|lautet|nennt|"
        r"geht|läuft|fährt|hält|beginnt|startet|endet|trainiert|spielt|prob\w*|trifft|tagt|sitzt|hängt|gehört|wird|werden|krieg\w*|bekomm\w*|mix\w*|druck\w*|näht|feier\w*|"
        r"park\w*|ordinier\w*|betreu\w*|übernimmt|versicher\w*|buch\w*|miet\w*|lass\w*|lässt|bring\w*|gestaltet|organisiert|fotografiert|schneidet|repariert|hab\w*)\b"
    ),
    "es": lazy(
        r"\b(?:es|son|tiene|est[áa]n?|quedan?|se llama|atiende|trabaja|vive|va|vienen?|(?:l[oae]s? )?(?:hacen?|preparan?|llevan?|traen?|dan?|imparten?|organizan?|encarg\w+|ped\w+|pid\w+|compr\w+o|compramos|recoj\w+|alquil\w+|reserv\w+|"
        r"dirige|tutoriza|vende)|pasa|sale|llega|empieza|arranca|comienza|termina|ensaya\w*|entrena\w*|juega|se (?:celebra|hace|dicta|reúne|juega|imparte|aloja|hospeda)|será|corresponde|figura|consulta|opera|pertenece|tengo|tenemos)\b"
    ),
}
_FILL = {
    "de": r"(?:(?:sich|wir|ich|mir|uns|jetzt|nun|inzwischen|immer|statt|ja|übrigens|seit \w+|gleich|direkt|bald|es|man|jeden \w+) )*",
    "es": r"(?:(?:siempre|ahora|ya|nos|me|se|justo|cada \w+|los \w+|todo) )*",
}
_EQUAL = {
    "de": lazy(
        r"(?:is|ist|heißt|heisst|lautet|nennt sich|hat die (?:nummer|nr\.?)|trägt die nummer) (?:(?:jetzt|nun|inzwischen|übrigens|ja|doch|der|die|das|eine?) ){0,3}(?!(?:[bi][ime]\w?|[av]\w[nmfs]|unter|neben|hinter|gegenüber|ein\w+) )"
    ),
    "es": lazy(r"(?:es|son|se llama|será|tiene el número|lleva el número) (?!(?:en|de|del|al?|con|por|para|sobre) )"),
}
_WHO = {  # who does it, named with what they are
    "de": lazy(
        rf" (?:uns |mir )?(?:der |die )?(?P<v>(?:Herr|Frau|Firma|Dr\.?|[A-ZÄÖÜ][a-zäöüß]+)\s+{_CAPITAL}(?:\s+{_CAPITAL})?)"
    ),
    "es": lazy(
        rf" (?:el |la )?(?:[a-záéíóúñ.]+\s+){{0,2}}(?P<v>{_CAPITAL}(?:\s+(?:(?:de|del|la)\s+){{0,2}}{_CAPITAL}){{0,3}})"
    ),
}
_LINK = {
    "de": lazy(
        rf" {_FILL['de']}(?P<by>in|im|ins|am?n?|auf|aufm|neben|hinter|unter|gegenüber|beim?|vo[nm]|durch|aus|mit|zu[mr]?|nach) "
    ),
    "es": lazy(rf" {_FILL['es']}(?P<by>en|por|frente a|junto a|cerca de|del?|al?|con|)(?: |(?<= ))"),
}
_OPENS = {
    "de": lazy(r"\W*(?:und |also |denn )?(?P<by>in|im|am?n?|auf|beim?|vo[nm]|)(?: |(?:die |der )?(?=\w))"),
    "es": lazy(r"\W*(?:y |pero )?(?P<by>en|de|al?|con|)(?: |(?:la |el )?(?=\w))"),
}
_PLACES = frozenset(
    (
        "in",
        "im",
        "ins",
        "a",
        "an",
        "am",
        "auf",
        "aufm",
        "neben",
        "hinter",
        "unter",
        "gegenüber",
        "zu",
        "zum",
        "zur",
        "nach",
        "en",
        "por",
        "frente a",
        "junto a",
        "cerca de",
    )
)
_TOPIC = {
    "de": lazy(
        r"\b(?:geht|ist|dreht sich|handelt|befasst sich|beschäftigt sich|schreib\w*)(?: \w+){0,4}? (?:über|um|von|mit)\s+"
    ),
    "es": lazy(
        r"\b(?:es|trata|versa|va|gira|habla|hago|escribo|estoy escribiendo)(?: \w+){0,4}? (?:sobre|acerca de|en torno a|alrededor de)\s+|\b(?:trata|va) de(?:l\s+|\s+)"
    ),
}
_TITLE = {
    "de": lazy(
        r"\W*(?:das |der )?(?:arbeits)?(?:thema|titel|schwerpunkt)\s+(?:von\s+)?(?:mein|unser)\w*\s+(?P<head>[\w-]+)\s*(?:ist|lautet|heißt|wird|[:–-])\W*"
    ),
    "es": lazy(
        r"\W*(?:el )?(?:tema|título|asunto)(?: \w+)?\s+(?:de|para)\s+(?:mi|nuestr[oa])\s+(?P<head>\w+)(?: de \w+)?\s*(?:es|será|[:–-])\W*"
    ),
}
_LABELLED = {
    "de": lazy(
        r"\b(?P<label>[A-ZÄÖÜ][a-zäöüß]{2,})\s+(?:Nr\.?\s*|Nummer\s+)?(?P<v>\d[\w./-]*\w|\d|[A-Z]\d\w*|[A-Z](?!\w|\.\w))(?![\w%€])"
    ),
    "es": lazy(
        r"\b(?P<label>[a-záéíóúñ]{3,})\s+(?:número\s+|n\.?º\s*)?(?P<v>\d[\w./-]*\w|\d|[A-Z]\d\w*|[A-Z](?!\w|\.\w))(?![\w%€])"
    ),
}
_TITLED = {
    "de": lazy(r"\b(?P<label>[A-ZÄÖÜ][a-zäöüß]{3,})\s+(?P<v>[A-ZÄÖÜ][\w'-]{2,}(?:\s+[A-ZÄÖÜ][\w'-]+)?)"),
    "es": lazy(r"\b(?P<label>[a-záéíóúñ]{4,})\s+(?P<v>[A-ZÁÉÍÓÚÑ][\w'-]{2,}(?:\s+[A-ZÁÉÍÓÚÑ][\w'-]+)?)"),
}
_SITS = lazy(  # "I am in group C"
    r"\b(?:ich|wir) (?:bin|sind|sitze\w*|stehe\w*|wohne\w*|liege\w*|schlafe\w*|starte\w*|habe?n?)\b|\b(?:bin|sind|sitze|stehe|liege|starte|hab) (?:ich|wir)\b|\bich .{1,40} bin\b|\b(?:estoy|estamos|soy|somos|voy|vamos|tengo|tenemos|me toca|nos toca|me siento|corro)\b"
)
_NO_LABEL = lazy(
    r"(?:jahr|tag|woche|monat|uhr|kapitel|seite|folge|staffel|aufgabe|frage|punkt|version|runde|band|lektion|übung|gegen|etwa|euro|kilo|teil|schritt|grad|prozent|alter|herrn?|frau|"
    r"año|día|semana|mes|capítulo|página|episodio|temporada|pregunta|ejercicio|punto|versión|ronda|lección|paso|parte|uno|unas|como|tiene|hace|edad|entre|desde|hasta|mide|pesa|cuesta|nivel|señora?|doctora?|doña)\w{0,2}$"
)
_PAST = lazy(
    r"\b(?:war|waren|hatte|hatten|wurden?|gestern|früher|bisher|vorher|damals|zuvor|ehemalig\w*)\b|\b(?:hat|habe?|haben|bin) .*\b\w*ge\w+(?:t|en)\b|"
    r"\b(?!caf|jos|beb|pur|chal|comit|canap|andr|sof)\w{2,}(?:é|ó)\b|\b(?:he|ha|hemos|han|había|fue|fueron|era|eran|estaba|tenía|ayer|anoche|antes)\b"
)
_FLEETING = lazy(
    r"\b(?:gerade|grad|momentan|heute|derzeit|kurz|während|übergangsweise|vorübergehend|ausnahmsweise|diesmal|solange|auch|noch|nur|kaputt|hoy|ahora mismo|de momento|por ahora|esta (?:semana|noche|tarde|vez)|temporalmente|durante|mientras|también|aún|todavía)\b"
)
_SINCE_NOW = lazy(r"\b(?:(?:ab|seit) heute|(?:desde|a partir de) hoy)\b")
_IDLE_HEAD = lazy(
    r"(?:auto|wagen|rad|handy|schlüssel|koffer|paket|katze|urlaub|reise|tag|woche|abend|leben|meinung|problem|frage|idee|sache|leidenschaft|gefühl|stimmung|traum|wunsch|herz|geld|essen|name|freund\w*|kolleg\w*|"
    r"coche|carro|moto|bici|móvil|celular|maleta|paquete|viaje|día|vida|opinión|problema|pregunta|idea|sueño|deseo|dinero|comida|nombre|amig\w+|cabeza|pasión|intención|plan|mejor|primer\w*|último|última)$"
)
_IDLE_VALUE = lazy(
    r"(?:\w*(?:tag|woche|monat|jahr|abend|nacht|wochenende|stunde|zeit|werkstatt|reparatur|renovierung|planung|betrieb|ordnung|arbeit|weg|moment|ende|anfang|bau)e?[sn]?|"
    r"januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|mittwoch|hause|gefahr|internet|obras|reparación|venta|casa|taller|verdad|nada|todo|camino|general)$"
)
_STAYS_PUT = lazy(r"wohnt|lebt|arbeitet|studiert|praktiziert|vive|trabaja|estudia")
_LEAST_TELLING = 5  # letters of a word that tells, and of the last part of a compound that says the same


@dataclass(frozen=True, slots=True)
class Slot:
    """What is said of something of the speaker's.

    Args:
        head: What it is said of, folded.
        of: Whose or what for, folded.
        sorts: What the value may tell: "where", "by", "is", "about", or "no" and the label before a number or name.
        verb: By which verb.
        value: As written.
        own: Whether it says whose it is.
        sentence: Where it stands.
        told: The other telling words of the clause, of what stands behind a label.
    """

    head: str
    of: tuple[str, ...]
    sorts: frozenset[str]
    verb: str
    value: str
    own: bool
    sentence: Sentence
    told: frozenset[str] = frozenset()


def retold(reading: Reading, earlier: Sequence[str]) -> Iterator[tuple[Slot, Slot, str]]:
    """Yield (new, old, its text) where a message gives something of the speaker's another value of the same sort.

    In a message that puts something right it need not say that it is theirs.
    """
    if reading.lexicon.code not in _HEAD or not earlier:
        return
    found = sorted(_slots(reading), key=lambda slot: not _is_label(slot))
    cues = (reading.lexicon.correction, EVIDENCE)
    corrects = found and any(cue.search(sentence.flat) for cue in cues for sentence in reading.sentences)
    done: set[str] = set()
    for new in (slot for slot in found if slot.value not in done):
        for text in earlier:
            for old in slots_in(text, reading.lexicon):
                if overlap(new.value, old.value):
                    continue
                if _is_same(new, old, reading.lexicon) or (
                    corrects and new.head == old.head and new.sorts == old.sorts
                ):
                    done.add(new.value)
                    yield new, old, text


@lru_cache(maxsize=TEXTS_KEPT)
def slots_in(text: str, lexicon: Lexicon) -> tuple[Slot, ...]:
    """Return what an earlier message says of things of the speaker's."""
    return tuple(_slots(read_as(text, lexicon)))


def _is_same(new: Slot, old: Slot, lexicon: Lexicon) -> bool:
    if new.sorts.isdisjoint(old.sorts):
        return False
    if _is_label(new):
        return old.own and (new.own if _is_figure(new.value) else bool(new.told & old.told))
    if not _is_one_head(new.head, old.head, lexicon.code):
        return False
    if new.of and old.of and not all(any(same_word(a, b) for b in old.of) for a in new.of):
        return False
    if not (new.own or old.own) and not (new.of and old.of and (new.verb == old.verb or not new.verb)):
        return False
    return lexicon.kin.fullmatch(new.head) is None or (new.verb == old.verb and _STAYS_PUT.search(new.verb) is not None)


def _is_label(slot: Slot) -> bool:
    return next(iter(slot.sorts)).startswith("no ")


def _is_figure(value: str) -> bool:
    return value[0].isdigit() or len(value) == 1


def _is_one_head(head: str, other: str, code: str) -> bool:
    short, long = sorted((head, other), key=len)
    return same_word(head, other) or (code == "de" and len(short) >= _LEAST_TELLING and long.endswith(short))


def _slots(reading: Reading) -> Iterator[Slot]:
    lexicon = reading.lexicon
    idle = (_PAST, _FLEETING, lexicon.negation, lexicon.additive, lexicon.hedge, lexicon.past)
    for sentence in reading.sentences:
        for clause in () if sentence.asks else sentence.clauses:
            found = [] if clause.asks else list(_told(clause, sentence, reading))
            told = _SINCE_NOW.sub(" ", clause.flat)
            if found and not any(pattern.search(told) for pattern in idle):
                yield from found


def _told(clause: Clause, sentence: Sentence, reading: Reading) -> Iterator[Slot]:
    about = _topic(clause, sentence, reading)
    if about is not None:
        yield about
        return
    yield from _said_of(clause, sentence, reading)
    yield from _labelled(clause, sentence, reading)


def _heads(clause: Clause, text: str, lexicon: Lexicon, *, is_plain: bool) -> Iterator[tuple[str, int, int, str, bool]]:
    """Yield (head, its start, its end, whose it is, whether it is said to be the speaker's)."""
    heads = _HEAD_PLAIN if is_plain and lexicon.code == "de" else _HEAD[lexicon.code]
    for match in heads.finditer(text):
        owned = group_of(match, "head")
        where = owned or group_of(match, "def")
        if where is None:
            continue
        head = fold(text[slice(*where)])
        several = lexicon.many.match(head) and not lexicon.slot.fullmatch(head) and group_of(match, "of") is None
        is_noun = lexicon.code == "es" or is_plain or text[where[0]].isupper()
        if is_noun and not several and not _IDLE_HEAD.search(head) and (owned or head not in lexicon.stop):
            of = group_of(match, "of")
            yield (
                head,
                match.start(),
                match.end(),
                text[slice(*of)] if of else "",
                owned is not None or lexicon.code == "de",
            )


def _said_of(clause: Clause, sentence: Sentence, reading: Reading) -> Iterator[Slot]:
    """Yield what a clause says of each thing of the speaker's that it names."""
    lexicon, text = reading.lexicon, reading.text[clause.start : clause.end]
    is_plain = not any(char.isupper() for char in sentence.text[1:])
    for head, start, end, whose, own in _heads(clause, text, lexicon, is_plain=is_plain):
        named = _NAMED.match(sentence.text[clause.start - sentence.start :], end)
        value = next(filter(None, named.groups()), "") if named else ""
        said = None if named else _value_of(text, start, end, lexicon.code, is_plain=is_plain)
        found = (_IS, "", value) if named else said
        if found is None or _is_idle(found[2], lexicon) or same_word(fold(found[2]), head):
            continue
        sorts, verb, value = found
        of = tuple(word.text for word in words(whose) if word.text not in lexicon.stop)
        yield Slot(head, of, sorts, verb, value, own, sentence)


def _value_of(text: str, start: int, end: int, code: str, *, is_plain: bool) -> tuple[frozenset[str], str, str] | None:
    """Return (sorts, verb, value) of what a clause says of a head, behind it or before it."""
    told, form = flat(text), _PLAIN[code] if is_plain else _VALUE[code]
    for verb in _VERB[code].finditer(told, end):
        by = _ACTS.match(verb[0]) and _WHO[code].match(text, verb.end())
        if by:
            return _BY, verb[0], by["v"]
        link = _LINK[code].match(told, verb.end())
        value = form.match(text, link.end()) if link else None
        if link and link["by"] and value:
            return _sorts(link["by"], verb[0]), verb[0], value["v"]
        equal = _EQUAL[code].match(told, verb.start())
        if equal and (value := form.match(text, equal.end())):
            return _IS, verb[0], value["v"]
        if link and value:
            return _BY, verb[0], value["v"]
    opened = None if is_plain else _OPENS[code].match(told)
    value = opened and form.match(text, opened.end())
    acts = value and _VERB[code].match(told, value.end() + 1)
    if not (opened and value and acts) or acts.end() > start:
        return None
    if opened["by"]:
        return _sorts(opened["by"], acts[0]), acts[0], value["v"]
    return (_BY, acts[0], value["v"]) if _ACTS.match(acts[0]) else None


def _sorts(preposition: str, verb: str) -> frozenset[str]:
    """Return what a preposition may tell; with whom something is ordered tells who makes it."""
    if preposition in ("bei", "beim", "en", "a", "al", "zu", "zum", "zur"):
        return _BY if _ACTS.match(verb) else _BY | _WHERE
    return _WHERE if preposition in _PLACES else _BY


def _topic(clause: Clause, sentence: Sentence, reading: Reading) -> Slot | None:
    """Return what a work of the speaker's is about ("my thesis is about X", "title of my thesis: X")."""
    lexicon, place = reading.lexicon, clause.start - sentence.start
    title = _TITLE[lexicon.code].match(sentence.flat[place:])
    found = title or _TOPIC[lexicon.code].search(clause.flat)
    text = reading.text[clause.start : sentence.end]
    value = found and (_VALUE if lexicon.code == "de" else _PLAIN)[lexicon.code].match(text, found.end())
    if not found or not value or _is_idle(value["v"], lexicon):
        return None
    if title:
        return Slot(fold(title["head"]), (), _ABOUT, "", value["v"], own=True, sentence=sentence)
    head = next(_heads(clause, text, lexicon, is_plain=False), None)
    return Slot(head[0], (), _ABOUT, "", value["v"], head[4], sentence) if head and head[2] <= found.end() else None


def _labelled(clause: Clause, sentence: Sentence, reading: Reading) -> Iterator[Slot]:
    """Yield the numbers and names that stand behind what they number and name ("plot 46", "bakery Zuckerl")."""
    lexicon, text = reading.lexicon, reading.text[clause.start : clause.end]
    place = clause.start - sentence.start
    for pattern in (_LABELLED[lexicon.code], _TITLED[lexicon.code]):
        for match in pattern.finditer(text):
            label = fold(match["label"])
            if label in lexicon.stop or _NO_LABEL.match(label) or lexicon.kin.fullmatch(label):
                continue
            own = lexicon.owned.search(sentence.flat[: place + match.start("label")]) is not None
            inside = {label, *(word.text for word in words(match["v"]))}
            told = frozenset(w.text for w in words(text) if w.text not in inside and _tells(w.text, lexicon))
            own = own or (not match["v"][0].isdigit() and lexicon.first.search(sentence.flat) is not None)
            own = own or _SITS.search(clause.flat) is not None
            yield Slot(label, (), frozenset((f"no {label}",)), "", match["v"], own, sentence, told)


def _tells(word: str, lexicon: Lexicon) -> bool:
    return len(word) >= _LEAST_TELLING and word not in lexicon.stop and word not in lexicon.generic


def _is_idle(value: str, lexicon: Lexicon) -> bool:
    found = [word.text for word in words(value)]
    return all(word in lexicon.stop or word in lexicon.generic or _IDLE_VALUE.match(word) for word in found)
