"""Reads by their parts how German, Spanish and Russian speakers ask to forget: what is to go, or not to stay, and is asked."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from proxy.memory.learn.extract_builtin import russian_erasing as russian
from proxy.memory.learn.extract_builtin.facts import stated_in
from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import Lexicon, one_of


@dataclass(frozen=True, slots=True)
class Erasing:
    """How a language asks to have something no longer.

    Args:
        store: Where the assistant has it.
        facts: What one has it delete.
        goes: It is to be gone.
        kept: It stays; with ``never`` it is not to.
        lingers: The same, where it is said of the store.
        never: Negations.
        asked: It is asked for, and not told.
        plain: Asks by itself.
        other: What else one deletes, keeps or forgets.
        attributes: What somebody names who does not say the value again, by relation.
    """

    store: re.Pattern[str]
    facts: re.Pattern[str]
    goes: re.Pattern[str]
    kept: re.Pattern[str]
    lingers: re.Pattern[str]
    never: re.Pattern[str]
    asked: re.Pattern[str]
    plain: re.Pattern[str]
    other: re.Pattern[str]
    attributes: Sequence[tuple[Sequence[str], re.Pattern[str]]]


_GERMAN = Erasing(
    store=one_of(
        r"\b(?:dein|ihr|euer|eure|dem|den|der|die|das|diese|jede|alle|irgendein|sämtlich)\w* (?:\w+ )?(?:\w*speicher|gedächtnis\w*|notiz\w*|aufzeichnung\w*|unterlagen|\w*dateien|\w*akten?|kopf|hirn|schädel|oberstübchen|\w*datenbank|datensatz|register|verzeichnis|profil|protokoll\w*|archiv\w*|kartei|system|server\w*|verlauf|chronik|erinnerung\w*|datenbestand|bestand|merkzettel|notizbuch|hinterkopf|festplatte|logbuch|liste über mich)\b",
        r"\b(?:bei|von) (?:dir|ihnen|euch)\b|\büber mich\b|\bzu meiner person\b|\b(?:du|sie|ihr) (?:\w+ )?(?:über mich )?(?:gespeichert|notiert|gemerkt|vermerkt|abgelegt|hinterlegt|wisst|weißt|wissen)\b",
    ),
    facts=one_of(
        r"\b(?:was|dass|wo|wie|wer|wann) (?:ich|wir) .{0,60}\b(?:gesagt|erzählt|erwähnt|geschrieben|verraten|anvertraut|genannt|gebeichtet|bin|sind|habe?|war|heiße|wohne|arbeite|verdiene|wiege|nehme)\b|\b(?:angabe|info|information|hinweis|eintrag|detail|erwähnung|beichte|geständnis|satz über|sache mit|geschichte mit)\w*\b|\bdas mit\b|\bmeine?n? (?:verwandtschaft|beziehung|vergangenheit|schulden|diagnose|scheidung|situation|gehalt|alter|ehe|schwangerschaft|krankheit|vorstrafe|religion|adresse|nummer|telefonnummer|name)\b|\b(?:den|die|das) (?:nach|vor|spitz)?(?:namen?|nummer|adresse|betrag|summe|zahl|datum)\b",
    ),
    goes=one_of(
        r"\b(?:aus|weg|raus|heraus|durch)?(?:ge)?(?:lösch|tilg|streich|strich|entfern|radier|vergess|vergiss|beseitig|vernicht|schwärz|verbann|verschwind|verschwund|merz|schredder|bereinig|eliminier|verwerf|verworf|zurücknehm|zurückgenommen|zurückzieh|zurückgezogen|widerruf|kill|wisch|kipp|putz)\w*",
        r"\b(?:raus|heraus|weg|fort)(?:zu)?(?:ge)?(?:nehm|nomm|werf|worf|schmeiß|schmiss|tun|tan|mach|lass|kipp|hau)\w*|\b(?:schmeiß|schmeiss|wirf|werfen|werft|nimm|nehmen|nehmt|hau|haut|tu|tun|kick|lass|lassen|lasst)\b.{1,80}\b(?:raus|weg|heraus|fort|fallen|tonne|papierkorb|müll|reißwolf)\b",
        r"\b(?:in (?:die tonne|den (?:papierkorb|müll|reißwolf|schredder|orkus)))\b|\bschwamm drüber\b|\bmantel des (?:schweigens|vergessens)\b|\bkann weg\b|\bmuss (?:weg|raus)\b|\b(?:soll|darf|kann) (?:\w+ ){0,2}(?:weg|raus)\b",
    ),
    kept=one_of(
        r"\b(?:ab|ein|fest|auf|mit|nieder)?(?:zu)?(?:ge)?(?:behalt|behält|merk|speicher|notier|verwahr|bewahr|vermerk|dokumentier|registrier|erfass|archivier|präg|hinterleg|protokollier)\w*|\b(?:aufzuheben|aufheb\w*|festhalt\w*|festhält\w*|festgehalten|abgelegt|ableg\w*|mitschreib\w*|mitschreibst|aufschreib\w*|aufgeschrieben|niederschreib\w*|hältst .{1,50} fest|schreibst .{1,50} auf|hebst .{1,50} auf|legst .{1,50} ab)\b"
    ),
    lingers=one_of(
        r"\b(?:stehen|steht|auftauch\w*|auftaucht|liegen|bleiben|bleibt|wissen|weißt|wisst|erwähn\w*|verwend\w*|benutz\w*|weitergeb\w*|ausplauder\w*|gehör\w*|verloren|suchen|vorkomm\w*|haften|haben)\b"
    ),
    never=one_of(
        r"\b(?:nicht|nie|niemals|nirgends|nirgendwo|keinesfalls|nimmer|keine?[nmrs]?|nichts|nix|ohne|net|ned|nöd|nüd|nid|nit)\b"
    ),
    asked=one_of(
        r"\b(?:ja|ok|okay|klar|verstanden|gell|gelle|abgemacht|einverstanden|alles klar|oder)\W*$|\b(?:raus|weg|fort) (?:damit|mit)\b|\bgeht (?:\w+ ){0,2}(?:niemand\w*|keine\w*|dich|sie) (?:\w+ )?(?:was |etwas )?an\b|\b(?:bitte|gefälligst|tunlichst|könntest|könnten|würdest|würden|magst|möchtest|wärst|wären|seien sie|sei so|tu mir|tun sie mir|sollst|solltest|sollen|soll|darfst|darf|dürfen|brauchst|brauchen|musst|müssen|muss|bitten|ersuche|gehört|gehören)\b",
        r"\b(?:kannst du|können sie|könnt ihr|willst du|wollen sie|lass(?:en sie|t uns)?|vergiss|vergesst)\b",
        r"\b(?:ich|wir) (?:\w+ )?(?:möchte?|mag nicht|will|wünsche|verlange|bestehe|hätte gern\w*|widerrufe|ziehe|bereue|wäre|will nicht|möchten|wollen|hätte|fordere|beantrage)\w*\b|\b(?:möchte|will|wünsche|verlange|wäre|hätte|fordere|beantrage) (?:ich|mir|es)\b",
        r"\b\w{3,}(?:st|ßt) du\b|\b\w{3,}en sie\b|(?:^|[,;:] ?|\b(?:und|also|dann|drum|deshalb|doch) )(?:lösche?|streiche?|tilge?|radiere?|entferne?|nimm|wirf|schmei(?:ß|ss)|hau|merke?|behalte?|speichere?|notiere?|halte?|erinnere?|verwende?|lass|tu|schreib|bewahre?|heb|leg|wisch|kick|verbanne?|führe?)\b",
    ),
    plain=one_of(
        r"\brecht auf (?:löschung|vergessen\w*|vergessenwerden)\b|\b(?:dsgvo|datenschutz(?:grundverordnung)?)\b.{0,80}\b(?:lösch|entfern|widerr|tilg|streich|nicht)\w*|\blöschantrag\b|\blöschung (?:\w+ ){0,3}(?:meine[rs]?|der|des|von)\b|\b(?:einwilligung|zustimmung) .{0,60}\b(?:zurück|widerr)\w*|\b(?:widerrufe|entziehe|ziehe) .{0,40}\b(?:einwilligung|zustimmung|erlaubnis)\b|\b(?:braucht|muss|soll) (?:\w+ )?(?:niemand|keiner|kein mensch) (?:\w+ ){0,2}(?:wissen|zu wissen|erfahren|zu erfahren)\b",
        r"\b(?:hast|habt) (?:du|ihr) (?:\w+ ){0,4}(?:nie|nicht) (?:gehört|gelesen|gesehen|erfahren)\b|\b(?:haben) sie (?:\w+ ){0,4}(?:nie|nicht) (?:gehört|gelesen|gesehen|erfahren)\b|\bbleibt (?:\w+ )?unter uns\b.{0,60}\b(?:vergiss|vergessen|nicht|lösch)\w*|\bkein wort mehr (?:über|von|zu)\b|\bnie (?:gesagt|gefallen|erwähnt|passiert|dagewesen|gewesen)\b(?=.*\b(?:ja|ok|okay|gut|bitte|klar|einverstanden|abgemacht)\b)|\bals (?:hätt|wär|gäb)\w* .{0,60}\b(?:nie|nicht)\b",
    ),
    other=one_of(
        r"\b(?:vergiss|vergesst|vergessen sie) (?:\w+ ){0,4}nicht\b|\bnicht (?:\w+ )?(?:vergessen|löschen|streichen|rausschmeißen|wegwerfen|verlieren|entfernen)\b|\b(?:wie|wo|kann man|soll ich|muss ich|kann ich|könnte ich|darf ich)\b.{0,60}\b(?:lösch|entfern|streich|kündig|behalt|merk|speicher|notier)\w*",
        r"\b(?:datei|dateien|zeile|zeilen|spalte|ordner|absatz|absätze|satz(?! über)|sätze|tabelle|cache|cookies|fotos?|bilder|bild|e-?mails?|mails?|wort|wörter|text|code|app|konto|account|kontakt|termin|einkaufsliste|gästeliste|handy|laptop|computer|festplatte von|rechnung|brief|komma|formel|funktion|playlist|chat ?verlauf|whatsapp|instagram|facebook|fleck\w*|rost|kalk|schimmel|unkraut)\b",
        r"\b(?:ich|wir) (?:\w+ ){0,2}(?:vergesse|habe? .{0,40}vergessen|kann mir|konnte mir|merke mir|hab mir)\b|\b(?:kann|konnte|muss|soll|will) ich mir\b|\bich mir .{0,40}\b(?:nicht|nie) merken\b",
    ),
    attributes=(
        (("age",), one_of(r"\bwie alt ich bin\b|\bmein(?:em|en|es)? (?:wahre[sn]? )?alter\b")),
        (("weight",), one_of(r"\bwie viel ich wiege\b|\bwas ich wiege\b|\bmein(?:em|en)? gewicht\b")),
        (("height",), one_of(r"\bwie groß ich bin\b|\bmeine[r]? (?:körper)?größe\b")),
        (
            ("live in", "address"),
            one_of(
                r"\bwo (?:ich|wir) wohne\w*\b|\bmeine[nrm]? (?:wohn|heimat)?(?:adresse|anschrift|ort)\b|\bmeine[nm]? wohnort\b"
            ),
        ),
        (
            ("profession", "employer"),
            one_of(
                r"\b(?:wo|als was|bei wem|für wen|was) ich (?:\w+ )?(?:arbeite|schaffe)\b|\bmein(?:e[nmr]?)? (?:beruf|job|arbeitgeber|arbeitsstelle|arbeitsplatz)\b"
            ),
        ),
        (
            ("earn",),
            one_of(
                r"\bw(?:as|ie ?viel) ich (?:\w+ )?(?:verdiene|bekomme|kriege)\b|\bmein(?:e[nmr]?)? (?:gehalt|lohn|einkommen|verdienst)\b"
            ),
        ),
        (
            ("take", "allergic to", "have"),
            one_of(
                r"\bmeine[rn]? (?:medikamente?n?|tabletten|pillen|diagnose|krankheit|erkrankung|allergien?|leiden)\b|\bwas ich (?:einnehme|nehme|habe)\b"
            ),
        ),
        (
            ("name",),
            one_of(r"\bwie ich heiße\b|\bmein(?:em|en)? (?:richtigen? |echten? |vollen? )?(?:nach|vor)?namen?\b"),
        ),
    ),
)
_SPANISH = Erasing(
    store=one_of(
        r"\b(?:tus?|sus?|vuestr[oa]s?|la|las|los|el|de|cualquier) (?:\w+ )?(?:memorias?|registros?|notas|apuntes|archivos?|fichas?|datos|base de datos|cabeza|mente|historial|expediente|perfil|sistema|libreta|cuaderno|disco duro|agenda|bitácora|recuerdos|información|dossier|ficheros? sobre mí)\b",
        r"\b(?:lo que|todo lo que|eso que|aquello que|donde|cuánto|cómo|dónde) (?:te |le |os )?(?:dije|conté|he dicho|he contado|mencioné|escribí|confesé|puse|platiqué|comenté|tengo|soy|vivo|trabajo|gano|peso|cobro|tomo|me llamo)\b|\b(?:tienes|tenés|tiene|tengas|tenga|hayas|haya|has|ha) (?:\w+ )?(?:guardad|anotad|registrad|apuntad|almacenad|grabad)\w*|\bsobre mí\b|\bde mí\b|\bmi persona\b",
    ),
    facts=one_of(
        r"\bmis? (?:parentesco|relación|pasado|deudas?|diagnóstico|divorcio|situación|sueldo|edad|historia|matrimonio|embarazo|enfermedad|condena|religión|orientación|dirección|teléfono)\b|\b(?:dato|detalle|información|mención|confesión|apunte|asunto|tema|historia|comentario|referencia|apellido|nombre|número|cifra|monto|importe|dirección|fecha)s?\b|\blo del?\b|\beso del?\b",
    ),
    goes=one_of(
        r"\b(?:borr|elimin|olvid|olvíd|suprim|quit|quít|tach|tách|descart|desech|destru|limpi|límpi|retir|retír|anul|depur|purg|tir|arranc|arranqu|omit|erradic|deshag|deshaz|triture|quem|entierr|revoc|revoqu|exclu|desmemori|bórr|elimín|suprím|descárt|bote|bota)\w*",
        r"\b(?:sac|saqu|sác)\w{1,6}\b(?! (?:la cuenta|una cita|copia|fotos|a pasear))|\b(?:desaparez|desaparec|esfum)\w*|\b(?:a la (?:basura|papelera)|al (?:olvido|contenedor))\b|\b(?:dej|déj|pas)\w* (?:\w+ )?(?:fuera|de lado|al margen|por alto|de largo|enterrad\w+)\b|\bquede enterrad\w+\b|\bprescind\w*|\bdar? (?:de baja|por no (?:dich|escrit))\w*|\bhaz de cuenta\b|\bhacé de cuenta\b|\bhaga de cuenta\b|\bfuera (?:de|con)\b|\btupido velo\b|\bborrón\b",
    ),
    kept=one_of(
        r"\b(?:guard(?!ería)|guárd|record|recuerd|conserv|retengas?|retener|almacen|anot(?!h)|apunt|registr|memori[zc]|archiv|grabes?\b|mencion)\w*"
    ),
    lingers=one_of(
        r"\b(?:va(?:n|ya|yan)? (?:a estar |a quedar |más)|qued|const[eé]|constar|figur|aparez|aparec|nombr|mantengas?|mantener|dejes?|uses?|utilic|divulg|compart|acuerd|acord|sepas?|sabe|saber|tengas?|tener|salga|cuentes|repitas|estuvier|supier|incluyas?)\w*"
    ),
    never=one_of(r"\b(?:no|nunca|jamás|ni|nada|tampoco|ningún\w*|ninguna|nadie)\b"),
    asked=one_of(
        r"\b(?:se lo|te lo|os lo) (?:suplico|ruego|pido|agradezco|agradecería|encargo|imploro)\b|\bpor favor\b|\bporfa\w*|\bplis\b|\b(?:te|le|os|les) (?:lo )?(?:ruego|pido|suplico|agradecer\w+|encargo|solicito|exijo|importa\w*)\b|\b(?:ruego|solicito|exijo|quisiera|querría|desearía|deseo|necesito|prefiero|preferiría|preferimos|agradecería|agradezco|gustaría|ejerzo|revoco|retiro|quiero|queremos|pido|convendría|conviene|más vale|mejor)\b",
        r"^\W*que .{1,60}\b(?:desaparez\w+|quede\w*|borre\w*|olvide\w*|salga\w*|esfume\w*|figure\w*|conste\w*|aparezca\w*)\b|\bno (?:me|nos) (?:gusta|agrada|parece|conviene|hace gracia|apetece|late|copa) que\b|¿(?:estamos|ok|okey|vale|sí|de acuerdo|entendid[oa]|sale|quedó claro|puede ser|está claro)\b",
        r"\b(?:podrías|podría|podrían|puedes|podés|puede usted|puedes tú|quieres|querés|te importaría|haz(?:me)? el favor|haga el favor|hágame|haceme|hacé|ten(?:ga)? la (?:bondad|amabilidad)|sea tan|sé tan|si eres tan|favor de|hay que|tienes que|tenés que|debes|debe|deberías)\b",
        r"\b(?:borra|borrá|bórra\w+|borrame|borralo|borrala|borre|bórre\w+|elimina|eliminá|elimine|elimíne\w+|elimína\w+|olvida|olvidá|olvide|olvíd\w+|olvidate|quita|quitá|quite|quíta\w+|suprime|suprimí|suprima|suprím\w+|tacha|tachá|tache|saca|sacá|saque|sáca\w+|descarta|descarte|tira|tirá|destruye|destruya|limpia|limpie|omite|omita|retira|retire)\b",
        r"\bno (?:\w+ ){0,2}?(?:guardes|guardés|guarde|recuerdes|recordés|recuerde|conserves|conserve|retengas|retenga|almacenes|almacene|anotes|anotés|anote|apuntes|apuntés|apunte|registres|registre|memorices|memorice|archives|archive|menciones|mencione|nombres|nombre|mantengas|mantenga|dejes|deje|uses|use|utilices|divulgues|compartas|tengas|tenga|quede|conste|figure|aparezca|salga|incluyas|incluya|repitas|cuentes|grabes|grabe|te quedes|se quede|te acuerdes|se acuerde)\b",
    ),
    plain=one_of(
        r"\bderecho (?:de|al?|a la) (?:\w+ )?(?:supresión|olvido|cancelación|borrado|eliminación)\b|\b(?:rgpd|lopd|gdpr|arco)\b.{0,80}\b(?:borr|elimin|suprim|supres|retir|cancel|olvid)\w*|\bsolicit\w+ (?:la )?(?:supresión|eliminación|borrado|cancelación) de\b|\b(?:retiro|revoco) (?:mi |el )?(?:consentimiento|permiso|autorización)\b",
        r"\b(?:haz|hacé|haga|hagamos|hazte|actúa|actuá|finge) (?:de cuenta |cuenta |como )?(?:que|si) .{0,40}\b(?:no|nunca|nada|jamás)\b",
        r"\bque (?:me |nos )?l[oae]s? (?:borres?|elimines?|olvides?|suprimas?|descartes?|borrés|eliminés|olvidés)\b",
        r"\bcomo si (?:nunca|no|jamás) .{0,50}\b(?:dicho|contado|escrito|mencionado|existid\w+|existiera|pasad\w+|hubier\w+|hubies\w+|salid\w+)\b|\b(?:tú|usted|vos) no (?:has|ha) (?:oído|leído|visto) nada\b|\bni una palabra más (?:de|sobre)\b|\bno (?:has|ha) (?:oído|leído|visto) nada de\b|\bque (?:eso |esto )?quede entre nosotros\b.{0,60}\b(?:borr|olvid|no)\w*",
    ),
    other=one_of(
        r"\b(?:no|nunca|sin) (?:\w+ ){0,2}(?:olvid|borr|elimin|quit|tir|suprim|pierd|descart)\w*|\b(?:cómo|dónde|debo|debería|se puede|puedo|tengo que|me ayudas a|ayúdame a|ayudame a|cuándo|para)\b.{0,40}\b(?:borr|elimin|quit|olvid|sac|suprim|guard|conserv|recordar|anot|tirar|limpi)\w*",
        r"(?<!us)(?<!tu)(?<!su) (?:archivo|fichero)s?\b|\b(?:carpeta|línea|fila|columna|tabla|párrafo|frase|palabra|texto|código|fotos?|imagen|correo|mensaje|mail|app|aplicación|cuenta|contacto|cita|mancha|manchas|cookies|caché|celular|móvil|computadora|ordenador|lista de (?:la )?compra|lista de invitados|playlist|canción|factura|carta|whatsapp|instagram|facebook|moho|óxido|sarro|maleza|hierba|grasa|olor)s?\b",
        r"\bno (?:me |se me |logro |puedo |consigo )(?:acuerd|record|olvid|quit|sac)\w*|\b(?:me|se me) (?:olvid|olvidó|ha olvidado|quedé|quedó)\w*|\bno (?:quiero|necesito) (?:más|nada|un|una|otro)\b|\b(?:dice|dicen|dijo|pide|quiere|recomend\w+|aconsej\w+) que\b",
    ),
    attributes=(
        (("age",), one_of(r"\b(?:cuántos años tengo|qué edad tengo|mi (?:verdadera )?edad|mis años)\b")),
        (("weight",), one_of(r"\bcuánto peso\b|\bmi peso\b|\blo que peso\b")),
        (("height",), one_of(r"\bcuánto mido\b|\bmi (?:estatura|altura)\b")),
        (
            ("live in", "address"),
            one_of(r"\bdónde viv(?:o|imos)\b|\bmi (?:dirección|domicilio|ciudad|pueblo|calle)\b|\bdonde vivo\b"),
        ),
        (
            ("profession", "employer"),
            one_of(
                r"\b(?:dónde|en qué|para quién|donde|a qué me) (?:trabajo|dedico)\b|\bmi (?:trabajo|empleo|profesión|oficio|empresa|jefe)\b"
            ),
        ),
        (
            ("earn",),
            one_of(
                r"\bcuánto (?:gano|cobro)\b|\blo que (?:gano|cobro)\b|\bmi(?:s)? (?:sueldo|salario|ingresos|nómina|paga)\b"
            ),
        ),
        (
            ("take", "allergic to", "have"),
            one_of(
                r"\bmis? (?:medicación|medicinas?|medicamentos?|pastillas|diagnóstico|enfermedad|padecimiento|alergias?|dolencias?)\b|\blo que (?:tomo|padezco)\b"
            ),
        ),
        (("name",), one_of(r"\bcómo me llamo\b|\bmi (?:verdadero |nombre y |primer )?(?:nombre|apellido)\b")),
    ),
)
_HANGS = lazy(r"\W*(?:dass|daß|wenn|que|si|чтобы?)\b")  # "I'd rather not that it stays with you"
_MOVES = lazy(  # one does so with things
    r"qu[ií]t|sac|sác|saqu|tir|limp|lím|retir|tach|bot|arran|(?:raus|weg|heraus|fort)|nimm|nehm|nehmt|schmei|wirf|werf|hau|tu|kick|lass|putz|wisch|kipp|уб[ериа]|выбр|выки|сн[еo]с|п?очи[сщ]|очист|выч|стир|вытр|вымет|потер|теря|закоп|выбей|сброс|исчез|пропа"
)
_RUSSIAN = Erasing(
    store=russian.STORE,
    facts=russian.FACTS,
    goes=russian.GOES,
    kept=russian.KEPT,
    lingers=russian.LINGERS,
    never=russian.NEVER,
    asked=russian.ASKED,
    plain=russian.PLAIN,
    other=russian.OTHER,
    attributes=(),
)
ERASING: Mapping[str, Erasing] = {"de": _GERMAN, "es": _SPANISH, "ru": _RUSSIAN}


def asks_to_erase(told: str, clauses: Sequence[str], code: str) -> bool:
    """Whether a sentence asks the assistant to have something no longer.

    Args:
        told: The sentence, in lower case.
        clauses: Its clauses.
        code: Of its language.
    """
    ways = ERASING[code]
    if ways.other.search(told):
        return False
    if ways.plain.search(told):
        return True
    is_stored = ways.store.search(told) is not None
    joined = [
        f"{one} {after}" for one, after in itertools.pairwise(clauses) if _HANGS.match(after) and ways.never.search(one)
    ]
    for clause in (*clauses, *joined):
        if not ways.asked.search(told if ways.store.search(clause) else clause):
            continue
        gone = ways.goes.search(clause)
        if gone and (is_stored or (ways.facts.search(told) and not _MOVES.match(gone[0]))):
            return True
        stays = [m for p in (ways.kept, *((ways.lingers,) if is_stored else ())) for m in p.finditer(clause)]
        after = code in ("de", "ru")  # "behältst du nicht"
        if any(
            ways.never.search(clause, 0, m.start()) or (after and ways.never.search(clause, m.end())) for m in stays
        ):
            return True
    return False


def values_meant(told: str, earlier: Sequence[str], lexicon: Lexicon) -> Iterator[str]:
    """Yield the values said before of what a sentence only names ("how old I am")."""
    named = ERASING[lexicon.code].attributes
    meant = {relation for relations, pattern in named if pattern.search(told) for relation in relations}
    for text in earlier if meant else ():
        for fact in stated_in(text, lexicon):
            if fact.statement.relation in meant and fact.subject == "user":
                yield fact.object
