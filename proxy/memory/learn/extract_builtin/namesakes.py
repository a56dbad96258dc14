"""Tells a word that names something of the speaker's from the same word that stands for another thing."""

from __future__ import annotations

import re

from proxy.memory.learn.extract_builtin.aliases import name_of
from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import Lexicon
from proxy.memory.learn.extract_builtin.mentions import Mention
from proxy.memory.learn.extract_builtin.reading import Sentence
from proxy.text.words import flat, fold, same_word, words

_THE = lazy(r"\b(?:der|die|das|ein|eine|einen|den)\s+$")
_SOMEWHERE = lazy(
    r"\s+(?:im|in (?:der|dem|unserem|unserer)|am|an (?:der|dem)|auf (?:der|dem)|aus (?:der|dem)|vom|von (?:der|dem))\b"
)
_TITLE_BEFORE = lazy(r"\b(?:Frau|Herrn?|Dr\.|Prof\.|Familie) [A-ZÄÖÜ]")
_ORDINAL = lazy(  # of a section, a desk, a team: "our second viola has retired"
    r"\b(?:erste|zweite|dritte|vierte|stellvertretende)[nrs]?\s+$|\b(?:primer|segund|tercer|cuart)[oa]?\s+$"
)
_CAPITALS = lazy(r"[A-ZÁÉÍÓÚÑ]")
_BESIDE_IT = lazy(  # another thing, known by where it is
    r"\b(?:(?:al lado|enfrente|cerca|detrás|delante|encima|debajo|a la vuelta) del?|junto al?|frente al?|pegad[oa] al?|neben|gegenüber(?: vo[nm])?|hinter|unweit von|in der nähe von) (?:(?:el|la|los|las|dem|der|den) )?$"
)
_INDEFINITE = lazy(
    r"\b(?:k?ein|k?eine|k?einen|k?einem|k?einer|an?|una?|unos|unas)\s+(?:(?!hund|katze|kater|perr|gat)\w+\s+){0,2}$"
)
_ANOTHER_ONE = lazy(  # "Bruno from the third floor", "Bruno, the neighbour"
    r"\s+(?:aus dem|vom|von (?:nebenan|gegenüber|oben|unten|der arbeit)|im \w+ stock|del (?:primero|segundo|tercero|cuarto|quinto|bajo|ático|trabajo)|de (?:al lado|enfrente|arriba|abajo|contabilidad))\b[^,]*"
    r"|,\s+(?:(?:unser|mein|der|ein|el|la|mi|un|una|nuestro|nuestra) )?(?:nachbar|kollege|chef|hausmeister|vermieter|vecino|colega|compañero|jefe|casero|portero)\w*"
)
_PART_OF = lazy(  # "the Rammstein concert": not the band
    r"-(?:konzert|folge|abend|spiel|termin|stunde|probe|film|buch|video|kissen|shirt|tasse|becher|ordner|datei|projekt|update|turnier|party|karte|ticket|poster)"
)
_WITH_ARTICLE = lazy(r"\b(?:dem|den|der|das|einem|einen|ein)\s+$")
_WHERE = lazy(r"\b(?:in|aus|nach)\s+$")
_NEXT_DOOR = lazy(
    r"(?:\s+de(?:\s+l[oa]s?)?\s+\w+)?\s+(?P<where>(?:de al lado|de enfrente|de la esquina|del vecino|de la vecina|de los vecinos|de arriba|de abajo|del pueblo de al lado)|von nebenan|nebenan|von gegenüber|um die ecke|im nachbarort|im nachbardorf|aus dem nachbarort|aus dem nachbardorf)\b"
)
_WHOSE = lazy(  # somebody else's
    r"\s+(?:de[rs]|von(?:\s+(?:de[rmn]|meine[rmn]?|unsere[rmn]?))?|meine[rs]|unsere[rs]|de(?:l|\s+(?:l[oa]s?|mis?|su|un|una))?)\s+(?P<who>(?:nachbar|freund|schwester|bruder|eltern|mutter|vater|oma|opa|chef|kolleg|kumpel|schwager|schwägerin|cousin|tante|onkel|schwieger|vecin|amig|herman|madre|padre|abuel|jef[ea]|prim[oa]|cuñad|sueg|tí[oa]\b|compañer)\w*)"
)
_BY_WHOM = lazy(r"\s+(?:von|de)\s+(?P<who>[A-ZÄÖÜÁÉÍÓÚÑ]\w{3,})")
_COMPLEMENT = lazy(r"\s+de\s+(?P<of>(?!el\b|la\b|los\b|las\b|mi\b|al\b|que\b|lunes|martes|enero)[a-záéíóúñ]{4,})\b")
_OF_IT = lazy(  # "the last book by Murakami": not the author
    r"\b(?:\w*buch|roman|album|song|lied|\w*film|folge|staffel|konzert|lektion|ausgabe|heft|video|rezept|hülle|ladekabel|akku|karton|verpackung|zubehör|deckel|reifen|saiten?|griff|libro|novela|disco|álbum|canción|película|peli|capítulo|episodio|temporada|lección|partido|concierto|vídeo|receta|funda|cargador|caja|cable|correa|estuche|tapa|rueda|cuerda)e?s? (?:von|vom|del?|des|der)(?: (?:der|dem|la|el|mi|meine[mr]|unsere[mr]))? $"
)
_SOME_OF = lazy(  # some of many
    r"\b(?:doppelten?|überzählige[nr]?|übrige[nr]?|kaputte[nr]?|meisten|einige[nr]?|(?:ein )?paar|teil (?:der|meiner)|hälfte (?:der|meiner)|eine[nrs]? (?:der|meiner)|"
    r"algun[oa]s|unos cuantos|unas cuantas|mitad de (?:mis|los|las)|parte de (?:mis|los|las)|un[oa] de (?:mis|los|las))\s+$"
)
_SOME_AFTER = lazy(r"\s+(?:repetid[oa]s|sobrantes|que (?:me )?sobraban|que tenía repetid[oa]s)\b")
_SURNAME = lazy(r" ([A-ZÁÉÍÓÚÑ][a-záéíóúñ]{2,})")
_DEFINITE = lazy(r"\b(?:the|el|la|los|las)\s+$")
_NAMED = lazy(
    r"(?:heißt|heisst|heißen|heissen|namens|genannt|getauft|named|called|name is|llaman?|llamad[oa]s?|nombre es|casad[oa] con|verheiratet mit|зовут|кличка|по кличке|имени)\s+(?:(?:die|der|den|la|el)\s+)?$"
)
_ON_SCREEN = lazy(  # the hero of a story may have the name of one's cat
    r"\b(?:досмотрел|посмотрел|пересмотрел|смотрел|дочитал|прочитал|перечитал|доиграл|сыграл|прошел|прошла|сери[яюи]|сезон\w?|мультик\w*|мультфильм\w*|фильм\w*|кино|сериал\w*|книг\w|роман\w?|аниме|сказк\w|финал\w?|титр\w+)\w*\b"
)
_THE_EN = lazy(r"\b(?:the|a|an|this|that) (?:old |little )?$")
_ON_SHOW = lazy(
    r" (?:at|in|from) the (?:zoo|museum|park|circus|film|book|novel|story|show|game|garden centre|news|woods|wild)\b"
)
_STREET = lazy(
    r" (?:on|in|at|by|near|opposite|off|pub|bar|inn|café|cafe|restaurant|hotel|cinema|theatre|club|arms) (?:the )?[A-Z]|"
    r" (?:pub|bar|inn|café|cafe|restaurant|hotel|cinema|theatre|arms)\b"
)
_PUBLIC = lazy(
    r"\b(?:pub|bar|inn|caf[eé]|restaurant|hotel|cinema|theatre|gym|club|shop|salon|studio|church|market|bakery|school|nursery|surgery|practice|choir|band)\b"
)
_QUOTED_THING = lazy(r"\b(?P<what>[а-я]{4,}) [«\"„“]$")
_FOOD_BEFORE = lazy(
    r"(?:冰箱|超市|货架|厨房|便利店|奶茶店)里?的?$|[喝吃炒煮泡榨](?:了|完|光)?(?:[一两半几]?[瓶罐杯碗袋包盒箱斤块])?$|[瓶罐杯碗袋包盒箱斤]的?$"
)
_FOOD_AFTER = lazy(r"(?:味|口味|雪碧|汁|奶茶|饮料|蛋糕|面包|糖)")


def is_namesake(mention: Mention, sentence: Sentence, lexicon: Lexicon) -> bool:
    """Whether a word that was said of a being, as its name, now stands for a thing ("my cat Pixel", "a Google Pixel")."""
    if lexicon.code == "zh":
        return _is_food_han(mention, sentence)
    if lexicon.code == "ru":
        if _is_titled(mention, sentence) and _names_a_being(mention, lexicon):
            return True
        return _ON_SCREEN.search(sentence.flat) is not None and bool(mention.said) and _names_a_being(mention, lexicon)
    if lexicon.code == "en" and mention.said and _is_other_in_english(mention, sentence, lexicon):
        return True
    if lexicon.code not in ("en", "de", "es") or " " in mention.surface or not mention.said:
        return False
    before = sentence.flat[: mention.start - sentence.start]
    after = sentence.flat[mention.end - sentence.start :]
    if any(sign.search(before) for sign in (_OF_IT, _ORDINAL, _BESIDE_IT, _SOME_OF)) or _SOME_AFTER.match(after):
        return True
    if any(told(mention, sentence, lexicon) for told in (_is_by_another, _has_another_surname, _is_elsewhere)):
        return True
    if (another := _ANOTHER_ONE.match(after)) is not None:
        who = lexicon.kin.search(another[0])
        told = any(who is not None and who[0] in fold(text) for text in mention.said)
        return not told and _names_a_being(mention, lexicon)
    if lexicon.code == "de":
        return _is_other_in_german(mention, before, after, lexicon)
    is_written = lexicon.code == "es" and _CAPITALS.search(sentence.text) is not None
    is_common = mention.surface.islower() and (is_written or _DEFINITE.search(before) is not None)
    return (is_common or _INDEFINITE.search(before) is not None) and _names_a_being(mention, lexicon)


def _is_titled(mention: Mention, sentence: Sentence) -> bool:
    """Whether a Russian name stands in quotation marks behind a noun that was never said with it ("the ride «Raketa»")."""
    match = _QUOTED_THING.search(sentence.flat[: mention.start - sentence.start])
    return match is not None and not any(match["what"][:4] in fold(text) for text in mention.said)


def _is_by_another(mention: Mention, sentence: Sentence, lexicon: Lexicon) -> bool:
    """Whether a word is told of with somebody's name who is new, after it had another ("X's podcast", to who hears the podcast Y)."""
    by = _BY_WHOM.match(sentence.text, mention.end - sentence.start)
    if by is None or lexicon.code not in ("de", "es") or any(by["who"] in text for text in mention.said):
        return False
    return name_of(mention.surface, mention.said, lexicon.code) != ""


def is_being(text: str, surface: str, lexicon: Lexicon) -> bool:
    """Whether a text gives a being the name ``surface``."""
    for word in words(text):
        if same_word(word.text, fold(surface)) and text[word.start].isupper():
            before = words(text[: word.start])
            naming = _NAMED.search(fold(text[: word.start]) + " ")
            return naming is not None or bool(before and lexicon.kin.fullmatch(before[-1].text))
    return False


def _names_a_being(mention: Mention, lexicon: Lexicon) -> bool:
    return all(is_being(text, mention.surface, lexicon) for text in mention.said)


def _has_another_surname(mention: Mention, sentence: Sentence, lexicon: Lexicon) -> bool:
    surname = _SURNAME.match(sentence.text[mention.end - sentence.start :])
    if lexicon.code != "es" or surname is None or any(fold(surname[1]) in fold(text) for text in mention.said):
        return False
    return _names_a_being(mention, lexicon)


def _is_other_in_english(mention: Mention, sentence: Sentence, lexicon: Lexicon) -> bool:
    """Whether a name of the user's now stands for a public place, a beast in a zoo, or a common thing ("the Heron on Quay Street")."""
    before, after = sentence.text[: mention.start - sentence.start], sentence.text[mention.end - sentence.start :]
    if not _THE_EN.search(before.lower()):
        return False
    if mention.surface.islower() and sentence.text[:1].isupper() and " " not in mention.surface:
        longer = re.compile(
            rf"\b(?:[A-Z][\w'-]+ {mention.surface.capitalize()}|{mention.surface.capitalize()} [A-Z][\w'-]+)\b"
        )
        if all(longer.search(text) and mention.surface not in text for text in mention.said):
            return True
    if mention.surface.islower() and sentence.text[:1].isupper():
        is_name = all(mention.surface not in text and mention.surface in text.lower() for text in mention.said)
        return is_name and (" " in mention.surface or _ON_SHOW.match(after) is not None)
    is_place = mention.surface[:1].isupper() and _STREET.match(after) is not None
    return (
        is_place and _names_a_being(mention, lexicon) and not any(_PUBLIC.search(fold(text)) for text in mention.said)
    )


def _is_elsewhere(mention: Mention, sentence: Sentence, lexicon: Lexicon) -> bool:
    """Whether a common word stands for one that is somewhere or of something else than what was told of ("the stall next door")."""
    if lexicon.code not in ("de", "es"):
        return False
    after = sentence.flat[mention.end - sentence.start :]
    whose = _WHOSE.match(after)
    if whose is not None and not any(fold(whose["who"])[:5] in fold(text) for text in mention.said):
        return lexicon.code == "de" or mention.surface.islower()
    if lexicon.code == "de" or not mention.surface.islower():
        elsewhere = _NEXT_DOOR.match(after) if lexicon.code == "de" else None
        return elsewhere is not None and not any(elsewhere[0].strip() in fold(text) for text in mention.said)
    if (elsewhere := _NEXT_DOOR.match(after)) is not None:
        return not any(elsewhere["where"] in fold(text) for text in mention.said)
    of = _COMPLEMENT.match(after)
    told = [
        found["of"]
        for text in mention.said
        if (found := re.search(rf"\b{re.escape(fold(mention.surface))}{_COMPLEMENT.pattern}", fold(text)))
    ]
    return of is not None and bool(told) and not any(same_word(of["of"], other) for other in told)


def _is_other_in_german(mention: Mention, before: str, after: str, lexicon: Lexicon) -> bool:
    if _THE.search(before) and _SOMEWHERE.match(after):
        return all(_TITLE_BEFORE.search(text) and mention.surface in text for text in mention.said)
    if _PART_OF.match(after):
        return True
    if _WITH_ARTICLE.search(before):
        return all(_is_place(text, mention.surface) for text in mention.said)
    return _INDEFINITE.search(before) is not None and _names_a_being(mention, lexicon)


def _is_food_han(mention: Mention, sentence: Sentence) -> bool:
    """Whether what is the name of a beast stands where things to eat and drink do ("可乐" in the fridge)."""
    before = sentence.flat[: mention.start - sentence.start]
    if not _FOOD_BEFORE.search(before) and not _FOOD_AFTER.match(sentence.flat, mention.end - sentence.start):
        return False
    named = re.compile(rf"[猫狗鸟兔龟鱼鼠鹦][^，。]{{0,3}}(?:叫做?|名叫|是){re.escape(flat(mention.surface))}")
    return bool(mention.said) and all(named.search(flat(text)) for text in mention.said)


def _is_place(text: str, surface: str) -> bool:
    """Whether a German text has ``surface`` as the name of a place, which takes no article ("in Hof")."""
    found = [word for word in words(text) if same_word(word.text, fold(surface))]
    return bool(found) and all(_WHERE.search(text[: word.start].lower()) for word in found)
