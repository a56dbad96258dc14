"""Tells in German and Spanish what ends beside a value, or comes back, from the value's own end ("the filter of the X is thrown out")."""

from __future__ import annotations

from collections.abc import Iterator

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.mentions import NAME, Mention
from proxy.memory.learn.extract_builtin.reading import Clause, Sentence
from proxy.memory.learn.extract_builtin.targets import Targets
from proxy.text.words import flat, word_set, words

_THING = {
    "de": lazy(
        r"(?<!\bin )(?<!\bauf )(?<!\ban )(?<!\bzu )(?<!\baus )(?<!\bmit )(?<!\bvon )(?<!\bfür )(?<!\bbei )\b(?:[Dd](?:er|ie|as|en)|[Ee]in|[Mm]ein|[Uu]nser|[Ss]ein|[Ii]hr|[a-zäöüß]+e[nrs]?|\d+|[Zz]wei|[Dd]rei|[Vv]ier) (?:[a-zäöüß]+e[nrs]? )?(?P<what>[A-ZÄÖÜ][\wäöüß-]{2,})"
    ),
    "es": lazy(
        r"(?<!\ben )(?<!\ba )(?<!\bpor )(?<!\bcon )(?<!\bde )(?<!\bpara )\b(?:el|la|los|las|un|una|unos|unas|mi|su|\d+|dos|tres|cuatro) (?P<what>(?!que\b|de\b|más\b|muy\b|año|mes|semana|día|vida|puerta|tema\b|\w+(?:é|í|ó|amos|imos|emos|aron|ieron|aban?)\b)\w{3,})"
    ),
}
_BINDS = lazy(  # what ends with the value it belongs to
    r"\w*(?:vertr\w+|konto|konten|abos?|abonnements?|mitgliedschaft|jobs?|stellen?|kurse?|tarif|versicherung\w*|platz|dienst\w*|zeit|arbeit|ausbildung|studium|training|beziehung|zusammenarbeit|nummer|schlüssel|karten?|account|zugang|kündigung|"
    r"schluss\w*|ende|strich|woche|tag|monat|jahr|sommer|winter|herbst|frühling|abend|morgen|nacht|uhr|mal|grund|geld|lust|nase|geist|kontakt|interesse|stecker|tür|müll|hand|hände|herz|preis|preise|app|sachen|leine|segel|handtuch|löffel|reißleine|zelte|"
    r"cuenta|suscripción|contrato|plaza|membresía|abono|trabajo|puesto|curso|clases?|empleo|tarjeta|póliza|matrícula|beca|relación|llaves?|cuota|interés|contacto|pena|gusto|ganas|toalla|persiana|cierre|dinero|baja|renuncia|precios?|cosas?|basura|final|fin|"
    r"médic[oa]|doctora?|carrera|local|negocio|resto|último|verdad|tiempo|hora|lunes|martes|miércoles|jueves|viernes|sábado|domingo|otr[oa])"
)
_RAN_OUT = lazy(
    r"\bse (?:me |nos |le )?(?:ha )?(?:acab|termin|agot|gast)\w*|\b(?:perd|caduc)\w*|\b(?:alle|leer|aus|ausgegangen|aufgebraucht|verbraucht|verloren|abgelaufen)\b|\bya no (?:me )?qued\w+"
)
_MORE = lazy(
    r"\b(?:compr|ped|recog|encarg|d(?:ado|ieron)|cog|consegu)\w* (?:ya )?(?:otr[oa]s?|más|un par|\w+ (?:caja|bote|paquete|frasco|barra|par)\w*)\b|\b(?:otr[oa]|nuev[oa]|dos|tres) (?:cajas?|botes?|paquetes?|frascos?|pares|par|tubos?|bolsas?)\b|"
    r"\b(?:nachgekauft|nachbestellt|nachgefüllt|nachschub|vorrat|ersatz(?:packung|paar)|neue (?:packung|dose|tube|flasche|rolle)|frische?n? (?:packung|dose)|neues rezept|folgerezept)\b|\beine?n?s? neue[ns]? (?:bekommen|geholt|gekauft|besorgt|verschrieben)\b|\breceta nueva\b"
)
_PASSES = lazy(  # may pass: lost, broken, away
    r"\bse (?:me |nos )?(?:ha )?(?:rompi|escap|estrope|par|qued|fue|ido|perdi|muri)\w*|\bse (?:me |nos )?(?:ha|había) \w+|\bperd\w+|\bme (?:ha )?dej\w+|\bfuera\b|\bya no\b|\bno .* más\b|\badiós\b|"
    r"\b(?:weg|fort|kaputt|hin|tot|aus|hinüber|verschwunden|abgebrochen|abgestürzt|abgerissen|ausgefallen|verloren|entlaufen|ausgebüxt|nicht mehr|kein\w* .* mehr)\b"
)
_BACK = lazy(
    r"\bya (?:l[oae]s? )?(?:tengo|tenemos|está|están|funciona|anda|va|arranca)\b.{0,25}\b(?:otra vez|de nuevo|aquí|en casa|de vuelta|bien|arreglad\w+|repar\w+|como nuev\w+)\b|\bfalsa alarma\b|\bsan[oa] y salv[oa]\b|\bme quedo (?:\w+ ){0,2}con\b|"
    r"(?<!\bno )\b(?:volvió|volvieron|ha vuelto|han vuelto)\b(?! a \w+r\b)|\bestaba (?:\w+ )?(?:debajo|detrás|dentro|encima|escondid\w+|en (?:el|la|mi))\b|\b(?:arreglad|reparad|cosid|pegad)[oa]s?\b|\b(?:lo|la|me lo|me la|se) (?:arregl|repar)\w+|\bestán? (?:\w+ )?viv[oa]s?\b|\bvuelve (?:el|en|pronto|mañana|pasado)\b|\b(?:apareció|ha aparecido) (?!muert)|\bcomo si nada\b|"
    r"\bkam (?:\w+ ){0,4}(?:zurück|wieder|heim)\b|\b(?:lag|stand) (?:er|sie|es)\b|\bwieder (?:da|daheim|zuhause|dran|drin|zurück|gefunden|ganz|fit|gesund|heil|an)\b|\b(?:läuft|geht|funktioniert|tut|hält) (?:\w+ ){0,2}wieder\b|\brepariert\b|\bgeflickt\b|\bgeklebt\b|\bwie neu\b|\bfehlalarm\b|\bals w(?:ä|a)re? (?:nix|nichts)\b|"
    r"\b(?:saß|stand|lag|hockte) (?:er|sie|es) (?:\w+ ){0,2}(?:vor|unter|im|in|auf|hinter)\b|\bsteht (?:er|sie|es)? ?(?:\w+ ){0,2}wieder\b|\bkommt (?:er|sie) (?:\w+ ){0,2}(?:wieder|zurück|heim)\b"
)
_AWAY = lazy(
    r"^nicht mehr (?:an|auf|zu|ein)$|\bse (?:ha ido|fue|ha marchado|marchó|va) (?:\w+ )?(?:(?:dos|tres|cuatro|cinco|seis|siete|ocho|diez|quince|veinte|unos|unas|un|una|\d+) (?:días|semanas?|meses|mes|fin|finde)|de (?:viaje|vacaciones|fin de semana|finde|puente|boda|cena|copas|paseo|visita|campamento|excursión|erasmus|compras|fiesta)|al? (?:trabajar|comprar|pasear))\b|"
    r"\b(?:auf (?:kur|reha|klassenfahrt|dienstreise|montage|reisen)|im urlaub|in (?:kur|reha))\b|\bfür (?:\w+ )(?:tage|wochen|monate)\b.{0,20}\bweg\b|\b(?:weg|fort)\b.{0,20}\bfür (?:\w+ )(?:tage|wochen|monate)\b"
)
_ONE_DATE = lazy(
    r"\b(?:für heute|heute|morgen|(?:diese|nächste)[nsr]? \w+)\b.*\b(?:abgesagt|ausgefallen|verschoben)\b|\bnach (?:\w+ )?(?:kilometern?|km|metern|minuten?|runden)\b.*\b(?:abgebrochen|aufgehört|aufgegeben)\b"
)
_RIGHT_AFTER = 20  # characters
_SOME = lazy(
    r"\b(?:eine?[nrms]?|una?|ningun[oa]?|zwei|drei|vier|fünf|ein paar|einige|mehrere|dos|tres|cuatro|algun[oa]s|vari[oa]s|\d+)\s+(?:\w+ )?$"
)
_TAKES_IT = lazy(r"(?:se|no nos|no me) l[oae]s? ")
_AT = word_set("bei beim am an vom von im in auf")
_LED_BY = 2  # words: "a la"
_NEAR = 3  # sentences


class Bystanders(Targets):
    """Reads what stands beside the words of an ending."""

    def _stands(self, mention: Mention, place: int, sentence: Sentence, clause: Clause, cue: tuple[int, int]) -> bool:
        """Whether a value stands although its sentence tells of an end."""
        if self._lexicon.code not in ("de", "es"):
            return False
        said = self._reading.text[slice(*cue)].lower()
        told = self._reading.sentences[place : place + _NEAR]
        if _RAN_OUT.search(said) and any(_MORE.search(other.flat) for other in told if not other.asks):
            return True
        if _PASSES.search(said) and any(self._is_back(near) for other in told for near in other.clauses):
            return True
        if _AWAY.search(clause.flat) or _ONE_DATE.search(clause.flat):
            return True
        if not sentence.start <= mention.start < sentence.end:
            return any(self._things(clause.start, clause.end))
        some = (
            _SOME.search(sentence.flat[: mention.start - sentence.start])
            if mention.rank < NAME or mention.surface.islower()
            else None
        )
        if some and not any(some[0].strip() in flat(text) for text in mention.said):
            return True
        if not clause.start <= mention.start < clause.end:
            return any(self._things(clause.start, clause.end))
        return self._is_struck(mention, clause, cue)

    def _is_struck(self, mention: Mention, clause: Clause, cue: tuple[int, int]) -> bool:
        """Whether something of, at or by the value ends, told beside the words of the ending ("at X the lid broke off")."""
        led = words(self._reading.text[clause.start : mention.start])
        if len(led) > _LED_BY or mention.end > cue[0]:
            return False
        if self._lexicon.code == "es":
            if _TAKES_IT.match(clause.flat, cue[0] - clause.start):
                return False  # "X se lo quedó mi hijo"
            return any(self._things(cue[1], min(cue[1] + _RIGHT_AFTER, clause.end)))
        return bool(led) and led[0].text in _AT and any(self._things(mention.end, cue[0]))

    def _is_back(self, clause: Clause) -> bool:
        """Whether a clause says of nothing else that it is there or whole again."""
        return (
            not clause.asks
            and _BACK.search(clause.flat) is not None
            and not any(self._things(clause.start, clause.end))
        )

    def _things(self, start: int, end: int) -> Iterator[str]:
        """Yield what a stretch of the message names that was never heard of and is bound to nothing."""
        code = self._lexicon.code
        text = self._reading.text[start:end]
        for match in _THING[code].finditer(text if code == "de" else flat(text)):
            what = match["what"] if match["what"].isupper() else match["what"].lower()
            if what not in self._lexicon.stop and not _BINDS.fullmatch(what) and not self._heard.holds(match["what"]):
                yield what
