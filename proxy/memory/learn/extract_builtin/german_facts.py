"""How German speakers state facts, tastes, tasks and instructions."""

from __future__ import annotations

from proxy.memory.learn.extract_builtin.lexicon import Statement, one_of
from proxy.memory.learn.extract_builtin.numbers import NUMBER

KIN = r"bruder|brüder|schwester|mutter|mama|vater|papa|mann|frau|ehemann|ehefrau|partner|partnerin|freund|freundin|verlobter?|sohn|tochter|cousine?|onkel|tante|neffe|nichte|oma|opa|großmutter|großvater|eltern|schwager|schwägerin|schwiegermutter|schwiegervater|mitbewohner(?:in)?|nachbar(?:in)?|kollege|kollegin|chefin?|vermieter(?:in)?|hund|hündin|katze|kater|papagei|pferd|kaninchen|hamster|schildkröte|baby|kinder|kind"
_TELLING = (
    "antworte?|schreibe?|nenne?|gibt?|gebe?n?|erklär\\w*|zeige?n?|füge?n?|verwende|benutze?|nutze|formatiere?n?|erwähne?n?|liste?n?|"
    "rechne?|halte?|fasse?|beginne?n?|beende|frage?|sprich|sprechen|sage?|duze?|sieze?|übersetze?|weise?|rate|runde|zitiere"
)
_ADV = r"(?: (?:auch|jetzt|nun|noch|immer|meist|meistens|gerade|aktuell|derzeit|schon|seit \w+|inzwischen|mittlerweile|täglich|jeden \w+|oft|gern|gerne|am liebsten|ja|halt|eh|momentan|zurzeit|zur zeit|grad|neuerdings|viel|seit \w+ \w+|total gerne|sehr gerne|hauptsächlich|vor allem|regelmäßig|wieder|nun doch wieder|doch|ebenfalls|zusätzlich|seit kurzem|daheim|zuhause|privat|beruflich))*"
_ICH = r"(?:\b(?:ich|wir)\b)"
_HABE = r"\b(?:ich hab|ich habe|hab ich|habe ich)"
_MEIN = r"\b(?:mein|meine|unser|unsere) (?:\w+ ){0,1}?(?P<who>" + KIN + r")(?: \w+)?"
_MOVED = r"(?:(?:\b(?:ich bin|bin ich|wir sind|sind wir)\b)|" + _MEIN + r" (?:ist|sind))"


def _verb(*verbs: str) -> str:
    """Match subject and verb in both orders ("ich nutze", "nutze ich"), the verb with or without its last "e"."""
    group = "(?:" + "|".join(verb + "?" if verb.endswith("e") else verb for verb in verbs) + ")"
    return rf"(?:{_ICH} {group}|\b{group} {_ICH}){_ADV} "


GERMAN_STATEMENTS = (
    Statement(
        "name",
        one_of(r"\bmein (?:vor|nach)?name ist ", r"\bich heiße ", r"\b(?:nenn|nenne) mich "),
        single=True,
        profile=True,
    ),
    Statement(
        "reply language",
        one_of(r"\b(?:antworte|antworten sie|schreib|sprich)(?: mir)?(?: bitte)?(?: immer| nur| stets)? auf "),
        "procedure",
        single=True,
        profile=True,
    ),
    Statement(
        "live in",
        one_of(
            r"(?:"
            + _ICH
            + r" (?:wohn(?:en?)?|leb(?:en?)?)|\b(?:wohn(?:en?)?|leb(?:en?)?) "
            + _ICH
            + r")"
            + _ADV
            + r" in ",
            _MEIN + r" (?:wohnt|lebt|wohnen|leben) in ",
            _MOVED
            + r"(?: \w+){0,4}? nach (?P<v>[\w-]+(?: (?!gezogen)[\w-]+)?) (?:um|über|zurück)?(?:gezogen|gesiedelt)\b",
            _MOVED + r"(?: \w+){0,3}? (?:umgezogen|gezogen|übergesiedelt) nach ",
        ),
        single=True,
    ),
    Statement(
        "address",
        one_of(
            r"\b(?:ich wohne|wohne ich|wir wohnen|wohnen wir)"
            + _ADV
            + r" (?:am|an der|an dem|auf der|auf dem|in der|im) (?=\S+ \d)"
        ),
        single=True,
    ),
    Statement(
        "profession",
        one_of(
            r"\b(?:ich arbeite?|arbeite? ich|(?P<who>er|sie) arbeitet) als (?:eine? )?",
            r"\bmein(?:e)? (?P<whose>" + KIN + r") arbeitet als (?:eine? )?",
            r"\bich bin (?=\w+(?:er|erin|in|ist|istin|or|eur|euse|mann|frau|wirt|kraft)(?: von beruf|[,.!]| und| in| bei|$))",
        ),
        single=True,
    ),
    Statement(
        "employer",
        one_of(
            r"(?:ich arbeite|arbeite ich)" + _ADV + r" (?:bei|für) (?:der firma |der )?",
            _MEIN + r" arbeitet (?:bei|für) (?:der firma |der )?",
            r"\bbin ich (?:ja )?(?:noch )?bei der firma ",
            r"\bich bin bei der firma ",
            _HABE + r"(?: \w+){0,3}? (?:neuen job|neue stelle|neue arbeit) bei (?:der firma )?",
            _HABE + r"(?: \w+){0,4}? bei (?:der firma )?(?P<v>[\w&-]+(?: (?!angef)[\w&-]+)?) angefangen\b",
        ),
        single=True,
    ),
    Statement(
        "age",
        one_of(
            rf"\b(?:ich bin|bin ich)(?: ja| jetzt| nun| gerade| grad| schon| mittlerweile| inzwischen| übrigens| seit \w+)* (?P<v>{NUMBER}(?: jahre?(?: alt)?)?)(?= *(?:$|[,.!?;]|und|geworden|jahre))",
            rf"\b(?:mein|meine|unser|unsere) (?P<who>{KIN}) (?:ist|wurde|wird)(?: jetzt| nun| gerade| schon)* (?P<v>{NUMBER}(?: (?:jahre?|monate?)(?: alt)?)?)(?= *(?:$|[,.!?;]|und|geworden))",
        ),
        single=True,
    ),
    Statement(
        "weight",
        one_of(
            rf"\b(?:ich wiege|wiege ich)(?: jetzt| nun| aktuell| gerade| noch| etwa| ungefähr| rund)* (?P<v>{NUMBER} ?(?:kilo|kg|kilogramm|pfund)\b)"
        ),
        single=True,
    ),
    Statement(
        "height", one_of(r"\bich bin (?P<v>\d[.,]\d\d ?m?|\d m(?:eter)? ?\d\d|\d{3} ?(?:cm|zentimeter))"), single=True
    ),
    Statement(
        "wear size",
        one_of(
            r"\b(?:ich (?:trage|habe|brauche)|trage ich|habe ich) (?:jetzt )?(?P<v>(?:schuh|kleider)?größe (?:\d+|x*s|m|x*l)\b)"
        ),
        single=True,
    ),
    Statement(
        "study",
        one_of(rf"\b(?:mein|meine|unser|unsere) (?P<who>{KIN})(?: \w+)? studiert(?: jetzt| nun| inzwischen)* "),
        single=True,
    ),
    Statement(
        "earn",
        one_of(r"\b(?:ich verdiene|verdiene ich)(?: jetzt| nun| etwa| rund| ungefähr)* (?P<v>\d[\d.,]*(?: euro| €)?)"),
        single=True,
    ),
    Statement("health insurer", one_of(r"\bich bin bei der (?:krankenkasse|kasse) "), single=True),
    Statement(
        "use",
        one_of(
            _verb("nutze", "benutze", "verwende", "nutzen", "benutzen", "verwenden"),
            r"(?:ich arbeite|arbeite ich)" + _ADV + r" mit ",
            r"(?:ich|wir) (?:programmiere|schreibe|organisiere|mache|bearbeite|plane|telefoniere)"
            + _ADV
            + r"(?: \w+){0,3} (?:in|mit|über) ",
            r"\b(?:bin|sind)(?: jetzt| nun)? (?:auf|zu) (?=\w+ (?:umgestiegen|gewechselt))",
            r"\bwir haben daheim ",
        ),
    ),
    Statement("play", one_of(_verb("spiele", "spielen", "übe"))),
    Statement("sport", one_of(r"(?:ich mache|mache ich|ich trainiere|ich betreibe)" + _ADV + " ")),
    Statement("speak", one_of(_verb("spreche", "sprechen") + r"(?:fließend |etwas |gut )?")),
    Statement("learn", one_of(_verb("lerne", "lernen"))),
    Statement("study", one_of(_verb("studiere")), single=True),
    Statement(
        "like",
        one_of(
            _verb("mag", "liebe", "mögen", "lieben", "bevorzuge", "vergöttere"),
            r"\bich (?:esse|trinke|höre|lese|schaue) (?:total |sehr |am )?(?:gerne?|liebsten) ",
        ),
        "preference",
    ),
    Statement("dislike", one_of(_verb("hasse", "verabscheue") + "", r"\bich mag (?:keinen?|keine) "), "preference"),
    Statement("allergic to", one_of(r"\b(?:allergisch (?:auf|gegen)) ", r"\bich vertrage keine?n? ")),
    Statement("take", one_of(_verb("nehme"))),
    Statement("eat", one_of(_verb("esse", "essen"), r"\bgibts bei mir" + _ADV + " ")),
    Statement("drink", one_of(_verb("trinke", "trinken"))),
    Statement("read", one_of(_verb("lese", "lesen", "verfolge", "abonniere"))),
    Statement("watch", one_of(_verb("schaue", "schau", "gucke", "höre", "hör"))),
    Statement("collect", one_of(_verb("sammle", "sammeln", "backe", "braue", "stricke", "züchte", "unterrichte"))),
    Statement(
        "shop at",
        one_of(
            r"\b(?:ich kaufe|kaufe ich|wir kaufen)" + _ADV + r"(?: \w+)? (?:bei|beim|im) (?:der )?",
            r"\bich bin (?:kunde|kundin) (?:bei|beim) (?:der )?",
        ),
    ),
    Statement("drive", one_of(_verb("fahre", "fahren") + "(?=(?:einen?|eine) )"), single=True),
    Statement("ride", one_of(_verb("fahre", "fahren"))),
    Statement(
        "have",
        one_of(
            r"\b(?:ich habe|wir haben|habe ich|haben wir|ich halte)" + _ADV + r" (?:einen?|eine|zwei|drei|vier) ",
            r"\bich habe (?=\w+(?:itis|ose|ie|allergie|migräne|asthma|diabetes|zöliakie|rosazea|schuppenflechte|neurodermitis|adhs)\b)",
        ),
    ),
    Statement(
        "be",
        one_of(
            r"\bich bin(?: jetzt| seit \w+)? (?=(?:vegan|veganer|vegetarier|vegetarisch|verheiratet|single|ledig|geschieden|verlobt|schwanger|rentner|linkshänder|diabetiker))"
        ),
    ),
    Statement(
        "member of",
        one_of(
            r"\bich (?:bin|singe|trainiere|bin mitglied) (?:im|in der|beim|bei der) ",
            r"\b(?:helfe|engagiere) ich(?: mich)? .{0,30}(?:bei der|beim|im) ",
        ),
    ),
    Statement(
        "born in", one_of(r"\bich (?:komme|stamme) (?:aus) ", r"\bich bin (?:in) (?=\w+ (?:geboren|aufgewachsen))")
    ),
    Statement("task", one_of(r"\berinner(?:e)? mich (?:bitte )?(?:daran|an) "), "task", reach="clause"),
    Statement(
        "instruction",
        one_of(
            r"^(?=(?:ab jetzt|ab sofort|von nun an|künftig|in zukunft) (?!\w+ ich\b|ich\b))",
            r"^(?=(?:bitte )?(?:"
            + _TELLING
            + r")(?:en sie)?\b[^.?!]{0,40}? (?:immer|stets|nie|niemals|grundsätzlich)\b)",
            r"^(?=(?:bitte )?(?:immer|stets|nie|niemals) [^.?!]{3,60}? \w+en,? wenn ich\b)",
            r"^(?=wenn ich (?:dich |sie )?(?:nach|um)\b[^.?!]+? (?:frage|bitte),? (?:bitte )?(?:" + _TELLING + r")\b)",
        ),
        "procedure",
        profile=True,
        reach="sentence",
    ),
)
