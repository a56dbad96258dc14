"""How German speakers say that something of theirs is over, by what becomes of it."""

from __future__ import annotations

_NOW = r"(?:jetzt|nun|inzwischen|mittlerweile|neuerdings|künftig|seit \w+(?: \w+)?|ab sofort|von nun an)"
_SHOP = r"\w*(?:laden|shop|markt|studio|salon|praxis|lokal|imbiss|restaurant|café|bistro|kiosk|bar|kneipe|filiale|bank|apotheke|spielothek|spielhalle|drogerie|bäckerei|metzgerei|büro|wohnungen|parkhaus|parkplatz|discounter|supermarkt|hotel|werkstatt|fitnessstudio|center|lager)"
_TO_DO = r"(?:(?:ab|auf|weg|her|zurück|hin|raus|aus|ein|los)zu(?:geben|hören|melden|bestellen|setzen|schaffen|stellen|treten|steigen|ziehen|schenken|werfen|schmeißen|nehmen|lassen|lösen)|zu (?:kündigen|verkaufen|beenden|verschenken|streichen|verlassen|schließen|entsorgen|löschen|verzichten|entlassen|spenden|stornieren))"

GERMAN_ENDED = (
    # its place is taken: "in X is a shop now", "X has become a shop"
    rf"^\W*(?:und |aber |wo (?:früher |bisher |sonst )?|da,? wo )?(?:im|in de[rm]|aus de[rm]) (?:\w+ ){{1,3}}(?:war,? )?(?:ist|wurde|wird|sind) (?:{_NOW} )?(?:ein|eine|so ein|nur noch ein) (?:\w+e[rsn]? )?{_SHOP}\b(?! (?:eröffnet|eingerichtet|dazugekommen))",
    rf"^\W*(?:aus )?(?:de[rm]|die|das|mein\w*|unser\w*)? ?(?:\w+ ){{1,3}}ist (?:{_NOW} )?(?:ein|eine) (?:\w+e[rsn]? )?{_SHOP} geworden\b",
    # it is nowhere to be had
    r"\bgibt(?:'s| es|s) (?:\w+ ){0,4}(?:nicht|nimmer|net) (?:mehr|länger)\b|\bexistiert (?:\w+ ){0,2}nicht mehr\b",
    # it falls away
    r"\b(?:fällt|fiel|fallen|fielen) (?:\w+ ){0,6}(?:flach|hinten runter|unter den tisch)\b|\b(?:fällt|fiel|fallen|fielen) (?:\w+ ){0,5}(?:weg|fort)(?= *(?:$|[,.!;]|weil|da|wegen|und))",
    r"\b(?:hat|haben|hatte) (?:\w+ ){0,4}zur ruhe gesetzt\b|\b(?:hört|hörte|hat) (?:\w+ ){0,4}(?:auf|aufgehört) (?:zu (?:arbeiten|praktizieren|unterrichten))\b",
    r"\b(?:ist|sind|wurde|wurden) (?:\w+ ){0,5}(?:abgewählt|abgewickelt|abgeschafft|aufgekauft|ausgezahlt|ausgelaufen|aufgebraucht|zwangsversteigert|eingestampft|enteignet|abgebrannt|ausgemustert|verpachtet|überschrieben|getilgt|abbezahlt|verjubelt|verschrottet)\b",
    r"\b(?:erloschen|erlischt|verfallen|geplatzt|gekentert|eingefroren|abgesoffen)\b(?= *(?:$|[,.!;]|weil|und))|\b(?:lief|ging|hielt|gab es|war|bestand) (?:\w+ ){0,3}(?:nur |bloß )?bis (?:zum |zur |letzte\w* |ende |anfang |vor )?(?:\w+ )?(?:herbst|sommer|winter|frühjahr|frühling|jahr|monat|woche|januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|weihnachten|ostern|kurzem)(?= *(?:$|[,.!;]))|\bbraucht (?:mich|uns) (?:\w+ )?(?:nicht|kaum) (?:mehr|länger)\b|\bhat (?:\w+ )?ausgedient\b|\bhat es hinter sich\b",
    # one takes it no further
    r"\b(?:die )?finger (?:\w+ ){0,3}(?:davon|weg|von)\b(?= *(?:$|[,.!]|gelassen))|\bnichts mehr wissen\b|\bkommt (?:mir|uns) nicht mehr (?:ins|in|auf|an)\b|\bden rücken (?:ge)?kehr\w+\b|\b(?:goodbye|servus|ciao|auf wiedersehen|gute nacht),? (?=\w)",
    r"\bhat (?:\w+ ){0,3}(?:ein|sein) ende (?:gefunden|genommen)?(?= *(?:$|[,.!]|weil|da))|\b(?:nahm|fand) (?:\w+ ){0,3}(?:ein|sein) (?:\w+ )?ende\b|\bgehört der vergangenheit\b|\bist (?:\w+ ){0,2}(?:kalter kaffee|ausgeträumt|ausgelutscht|vom eis)\b",
)
GERMAN_CEASED = (
    # decided or forced to
    rf"\b(?:entschlossen|entschieden|beschlossen|durchgerungen|gezwungen|genötigt|verdonnert|gebeten|überredet|gebracht|zwingt mich|zwang mich)\b.{{0,60}}\b{_TO_DO}\b",
    r"\b(?:fortgejagt|verpachtet|überschrieben|abgetreten|vermacht|weitervermittelt|weitervererbt|zurückgebracht|zurückgezogen|zurückgegeben|abgeholt worden|abschleppen lassen|verschrotten lassen|einschläfern lassen|löschen lassen|kündigen lassen|auslaufen (?:ge)?lassen|verfallen lassen|ruhen lassen|streichen lassen|abschalten lassen|stilllegen lassen|pflücken lassen|entziehen lassen)\b",
    r"\b(?:musste|mussten|muss|müssen|soll|wurde|wurden|ist|sind) (?:\w+ ){0,6}(?:gefällt|geschlachtet|eingeschläfert|abgerissen|abgegeben|abgeholt|verkauft|gekündigt|geschlossen|aufgelöst|abgesetzt|entfernt|ausgegraben|gerodet|stillgelegt|verschrottet|abgeschafft|gestrichen|aufgegeben|abgestellt|entsorgt|versteigert|geräumt|weggeben|eingestellt)(?: (?:werden|worden))?\b",
    r"\b(?:also|deshalb|daher|drum|da|so|und|dann) hab\w* (?:ich|wir) (?:es|das|ihn|sie) (?:\w+ )?(?:gelassen|sein lassen|weggelassen|abgesetzt|aufgegeben)\b|\b(?:hab|habe|haben) (?:ich|wir) es (?:\w+ )?gelassen\b",
    r"\b(?:hat|haben|wurde|wurden|ist|sind) (?:\w+ ){0,7}(?:gestohlen|geklaut|entwendet)\b",
    r"\b(?:fortgeführt|weitergeführt|fortgesetzt)\b(?=.*\bnicht\b)|\bnicht (?:mehr |weiter )?(?:fortgeführt|weitergeführt|fortgesetzt)\b",
    r"\b(?:entzogen|gekappt|gesperrt|verwehrt|aberkannt|weggekürzt|zusammengestrichen|wegrationalisiert)\b",
)
