"""How Spanish speakers state facts, tastes, tasks and instructions."""

from __future__ import annotations

from proxy.memory.learn.extract_builtin.lexicon import Statement, one_of
from proxy.memory.learn.extract_builtin.numbers import NUMBER

KIN = r"hermano|hermana|madre|mamá|padre|papá|marido|mujer|esposo|esposa|pareja|novio|novia|prometid[oa]|hijo|hija|niñ[oa]|primo|prima|tío|tía|sobrino|sobrina|abuelo|abuela|padres|cuñado|cuñada|suegro|suegra|compañer[oa] de piso|vecin[oa]|compañer[oa]|niñera|canguro|nana|asistenta|jef[ea]|caser[oa]|perr[oa]|gat[oa]|loro|caballo|conejo|hámster|tortuga|bebé"
_TELLING = (
    "usa|utiliza|incluye|responde|respóndeme|contesta|contéstame|explica|explícame|menciona|da|dame|pon|escribe|añade|agrega|"
    "muestra|cita|indica|empieza|termina|resume|evita|trátame|háblame|formatea|enumera|di|dime|uses|incluyas|respondas|"
    "contestes|pongas|escribas|señala|destaca|proporciona|recuérdame|sugiere|recomienda|traduce|redondea|tutéame"
)
_ADV = r"(?: (?:también|ahora|todavía|aún|siempre|casi siempre|normalmente|actualmente|ya|mucho|sobre todo|además|desde hace [\w ]{2,20}?|cada día|todos los días|a diario|en casa|por la mañana|de nuevo|otra vez))*"
_MOVED = r"mudado|mudé|mudamos|trasladado|trasladé|trasladamos"
_SINCE = r"(?: (?:ya|por fin|hace poco|\w+mente|este (?:mes|año)|esta semana|ayer|ahora))* "
_MI = r"\b(?:mi|nuestr[oa]) (?P<who>" + KIN + r")(?: \w+)?"


def _verb(*verbs: str) -> str:
    return r"\b(?:yo )?(?:" + "|".join(verbs) + r")\b" + _ADV + r" "


SPANISH_STATEMENTS = (
    Statement("name", one_of(r"\bme llamo ", r"\bmi nombre es ", r"\bllámame "), single=True, profile=True),
    Statement(
        "reply language",
        one_of(r"\b(?:contéstame|respóndeme|responde|contesta|escríbeme)(?: siempre| por favor| solo)* en "),
        "procedure",
        single=True,
        profile=True,
    ),
    Statement(
        "live in",
        one_of(
            _verb("vivo", "vivimos", "resido") + "en ",
            _MI + r" (?:vive|viven) en ",
            r"\b(?:me|nos) (?:he |hemos |acabo de |acabamos de )?(?:"
            + _MOVED
            + r")"
            + _SINCE
            + r"a (?!l[ao] |un |una |otr|est|mi |nuestr)",
            r"\b(?:me|nos) (?:he |hemos )?(?:ido|fui|fuimos|venido|vine|vinimos)" + _SINCE + r"a vivir a ",
            r"\bacab(?:o|amos) de (?:mudarme|mudarnos|trasladarme|trasladarnos) a ",
            _MI + r" se (?:ha )?(?:mudado|mudó|trasladado|trasladó)" + _SINCE + "a ",
        ),
        single=True,
    ),
    Statement(
        "address",
        one_of(_verb("vivo", "vivimos") + r"en (?=(?:la |el )?(?:calle|avenida|plaza|paseo|camino|ronda)\b)"),
        single=True,
    ),
    Statement(
        "profession",
        one_of(
            r"\b(?:trabajo|trabajamos) (?:como|de) (?:un |una )?",
            r"\bsoy (?=(?!aleg|alerg|socia|socio|de |muy |yo|el |la |un |una |miembro|vegan|vegetar|fan|capaz|nuev|intoler|diab|celiac|celíac)\w+(?:er[oa]|ista|or|ora|ic[oa]|nte|ólog[oa]|ad[oa]|ent[ae]|ario|aria|et[ao]|ic)\b)",
            r"\bsoy (?=(?!fan|amig|miembr|soci|hij|padre|madre|herman|partidari|vecin|client|aficionad|amante|enemig|due|de|el|la|un|una|nativ|natural|delegad|capitan)\w+ de (?!la |los |las |nacimiento|aquí|verdad)\w+)",
            r"\bmi (?P<who>"
            + KIN
            + r") (?:trabaja (?:como|de) |es )(?=(?:un |una )?\w+(?:er[oa]|ista|or|ora|ic[oa]|nte|ólog[oa]|ario)\b)",
        ),
        single=True,
    ),
    Statement(
        "employer",
        one_of(
            r"\b(?:he empezado|empecé|he comenzado|comencé)" + _SINCE + r"a trabajar (?:en|para) ",
            r"\btrabajo (?:en|para) (?:la empresa )?",
            _MI + r" trabaja (?:en|para) (?:la planta de |la empresa )?",
        ),
        single=True,
    ),
    Statement(
        "age",
        one_of(
            rf"\b(?:tengo|cumplí|he cumplido|acabo de cumplir)(?: ya| ahora)? (?P<v>{NUMBER}(?: (?:años|meses)\b|(?= *(?:$|[.,!?]))))",
            rf"\bmi (?P<who>{KIN}) (?:ya |ahora )?(?:tiene|cumplió|ha cumplido) (?:ya )?(?P<v>{NUMBER}(?: (?:años|meses))?)\b",
        ),
        single=True,
    ),
    Statement(
        "weight",
        one_of(rf"\b(?:ya |ahora )?peso (?:ya |ahora |unos |como )*(?P<v>{NUMBER} ?(?:kilos?|kg)\b)"),
        single=True,
    ),
    Statement("height", one_of(r"\bmido (?P<v>\d[.,]\d\d|\d{3} ?cm|un metro \w+)"), single=True),
    Statement(
        "wear size",
        one_of(
            r"\b(?:calzo|uso|llevo|gasto) (?:ahora |ya )?(?:un |una |el |la |número |talla )*(?P<v>(?:\d\d(?:[.,]5)?|x*s|m|x*l))(?= *(?:$|[,.!?;]|y|de|en))"
        ),
        single=True,
    ),
    Statement(
        "study", one_of(rf"\bmi (?P<who>{KIN})(?: \w+)? (?:ahora |ya )?(?:estudia|está estudiando|cursa) "), single=True
    ),
    Statement(
        "earn",
        one_of(r"\b(?:gano|cobro|ingreso)(?: ahora| ya| unos)* (?P<v>\d[\d.,]*(?: euros| pesos| dólares| €)?)"),
        single=True,
    ),
    Statement("school", one_of(_MI + r" va al (?:colegio|instituto) ", r"\bva al colegio "), single=True),
    Statement(
        "use",
        one_of(
            _verb("uso", "usamos", "utilizo", "utilizamos", "empleo"),
            r"\b(?:apunto|organizo|llevo|edito|hago|escribo) (?:todo|todos mis \w+|todas mis \w+|mis \w+|mi \w+) (?:en|con) ",
            r"\b(?:tengo|tenemos) (?:contratad[oa]s?|instalad[oa]s?) ",
        ),
    ),
    Statement("play", one_of(_verb("toco", "tocamos", "juego", "juego al?", "jugamos al?"), r"\btocando (?:el|la) ")),
    Statement("sport", one_of(r"\b(?:hago|practico|entreno)" + _ADV + " ")),
    Statement("speak", one_of(_verb("hablo", "hablamos"))),
    Statement(
        "study",
        one_of(
            r"\b(?:yo )?(?:estudio|curso|estoy estudiando|hago|estoy haciendo)(?: ahora| ya| todavía| aún| actualmente)* (?:la carrera de |el grado (?:en|de) |la licenciatura (?:en|de) |(?:un|el) (?:máster|doctorado|posgrado) (?:en|de) |ingeniería )",
            r"\b(?:yo )?(?:estudio|curso|estoy estudiando)(?: ahora| ya| todavía| aún| actualmente)* (?=(?:\w+(?:logía|onomía|ería|ística|nomía|ografía|mática|atría|ociencia)|derecho|medicina|arquitectura|magisterio|ade|física|química|historia|turismo|farmacia|veterinaria|periodismo|matemáticas|informática|empresariales|filosofía|fisioterapia|bellas artes|educación|óptica|económicas|diseño|comunicación|ciencias|traducción|literatura|publicidad|marketing|administración|trabajo social|relaciones)\b)",
        ),
        single=True,
    ),
    Statement("learn", one_of(_verb("estudio", "aprendo", "estoy aprendiendo", "estoy estudiando"))),
    Statement(
        "like",
        one_of(r"\b(?:me|nos) (?:gustan?|encantan?|fascinan?|chiflan?)(?: mucho)? ", _verb("adoro", "prefiero")),
        "preference",
    ),
    Statement(
        "dislike", one_of(r"\b(?:odio|detesto|aborrezco) ", r"\bno (?:me gustan?|soporto|aguanto) "), "preference"
    ),
    Statement("allergic to", one_of(r"\b(?:alérgic[oa]|intolerante|alergia|intolerancia) (?:al?) (?:la |los |las )?")),
    Statement("take", one_of(_verb("tomo"))),
    Statement(
        "eat",
        one_of(
            _verb("comemos", "desayuno", "ceno", "meriendo"),
            r"(?:^|[,;.:] ?|\b(?:yo|siempre|ya|casi|también|y|además) )como" + _ADV + r" (?=\w+)",
        ),
    ),
    Statement("drink", one_of(_verb("bebo", "bebemos"))),
    Statement("read", one_of(_verb("leo", "leemos", "sigo"))),
    Statement("watch", one_of(_verb("veo", "vemos", "escucho", "escuchamos"))),
    Statement("collect", one_of(_verb("colecciono", "horneo", "tejo", "cultivo", "crío", "enseño"))),
    Statement(
        "shop at",
        one_of(
            r"\b(?:compro|compramos|hago la compra|hacemos la compra)(?: siempre| casi siempre| todo| normalmente)* en (?:el |la )?",
            r"\b(?:estoy|soy cliente) (?:con|de) (?=[\w]+(?:[,.]|$| y ))",
        ),
    ),
    Statement("drive", one_of(_verb("conduzco", "manejo") + "(?=una? )"), single=True),
    Statement("ride", one_of(_verb("conduzco", "manejo"))),
    Statement(
        "have",
        one_of(
            r"\b(?:tengo|tenemos|adopté|adoptamos|compré)" + _ADV + r" (?:una?|dos|tres) ",
            r"\btengo (?=\w+(?:itis|osis|ia|gia|algia|alergia|migrañas?|asma|diabetes|tdah)\b)",
        ),
    ),
    Statement(
        "be",
        one_of(
            r"\bsoy (?=(?:vegan[oa]|vegetarian[oa]|celíac[oa]|solter[oa]|casad[oa]|divorciad[oa]|zurd[oa]|diabétic[oa]))",
            r"\bestoy (?=(?:casad[oa]|divorciad[oa]|embarazada|jubilad[oa]|prometid[oa]))",
        ),
    ),
    Statement("member of", one_of(r"\b(?:soy (?:soci[oa]|miembro) (?:del?|de la) |bailo en |canto en )")),
    Statement("subscribed to", one_of(r"\b(?:estoy )?suscrit[oa] a (?:la revista )?")),
    Statement("born in", one_of(r"\bnací en ", r"\bsoy de ")),
    Statement("task", one_of(r"\brecuérdame (?:que )?"), "task", reach="clause"),
    Statement(
        "instruction",
        one_of(
            r"^(?=(?:a partir de ahora|de ahora en adelante),? )",
            r"^(?=(?:por favor,? )?(?:siempre|nunca) (?:" + _TELLING + r")\b)",
            r"^(?=(?:por favor,? )?(?:" + _TELLING + r")\b[^.?!]{0,40}? siempre\b)",
            r"^(?=(?:cuando|siempre que|cada vez que|si) (?:te )?pregunt[eo]\b[^.?!]+?,? (?:por favor,? )?(?:siempre |no )?(?:"
            + _TELLING
            + r")\b)",
        ),
        "procedure",
        profile=True,
        reach="sentence",
    ),
)
