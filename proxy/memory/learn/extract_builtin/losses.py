"""Finds what was taken from the speaker: by a beast, the weather, a disease, or by whoever treats them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.mentions import NOUN
from proxy.memory.learn.extract_builtin.reading import Clause, Sentence
from proxy.memory.learn.extract_builtin.scan import Ending, Scan
from proxy.text.words import flat

# A beast or the weather takes a life: "the fox was there and has carried off Uschi".
_BEAST = lazy(
    r"\b(?:fuchs|füchse|marder|habicht|bussard|waschbär\w*|wolf|wölfe|iltis|wiesel|reiher|milan|uhu|greifvogel|ratten?|\w*katze|\w*kater|\w*hund|schnecken?\w*|wühlm[aä]us\w*|\w*läuse|schädlinge?|"
    r"\w*frost|\w*kälte|\w*hitze\w*|\w*sturm|hagel\w*|\w*gewitter|orkan|blitz\w*|\w*wasser|überschwemmung|dürre|trockenheit|mehltau|pilz|schimmel|zünsler|feuer|brand|krebs|altersschwäche|lkw|laster|traktor|auto|bus|"
    r"zorr[oa]|lobos?|coyote|gavilán|halcón|águila|garduña|comadreja|ratas?|plaga|pulg[oó]n\w*|cochinillas?|caracoles|babosas|hormigas|"
    r"heladas?|hielo|frío|granizo|granizada|tormenta|temporal|vendaval|huracán|rayo|inundación|riada|sequía|ola de calor|calor|hongos?|moho|fuego|incendio|cáncer|leucemia|coche|carro|camión|auto|moto)\b"
)
_TAKES = lazy(
    r"\b(?:geholt|weggeholt|geschnappt|weggeschnappt|gekrallt|gerissen|gefressen|aufgefressen|weggefressen|verputzt|dahingerafft|hingerafft|vernichtet|zerstört|umgebracht|getötet|erledigt|erwischt|überfahren|mitgenommen|"
    r"erschlagen|zerfetzt|zerlegt|kaputtgemacht|plattgemacht|kahlgefressen|abgefressen|abgenagt|niedergemacht|plattgewalzt|zermatscht|weggerafft|weggespült|fortgerissen|verschleppt|totgebissen|gekillt|ruiniert|den rest gegeben|auf dem gewissen|holte|riss|fraß|schnappte|tötete)\b|"
    r"\b(?:se (?:me |nos )?(?:l[oae]s? )?(?:llevó|llevaron|comió|comieron|zampó|ha llevado|han llevado|ha comido|han comido|cargó|ha cargado)|mató|mataron|ha matado|han matado|acabó con|acabaron con|ha acabado con|(?:me |nos )?(?:l[oae]s? )?(?:liquid|devor|arras|destroz|arruin|tragar|trag|comier|carcom|aniquil|extermin|destruy|pel)(?:ó|aron|ieron|eron|on)|dio muerte|dejaron pelad\w|"
    r"(?:lo |la )?(?:atropelló|ha atropellado|destrozó|arrasó|fulminó|pudrió|quemó|ha quemado|ha destrozado))\b"
)
_PERISHES = lazy(
    r"\b(?:dahingerafft|hingerafft|totgebissen|totgefahren|überfahren worden|erfroren|verbrannt(?= *$)|abgefackelt|abgestorben|verdurstet|ertrunken|ersoffen|verhungert)\b|\bkompost (?:gelandet|gewandert)\b|\bzum opfer gefallen\b|"
    r"\bse (?:me |nos )?(?:heló|congeló|achicharró|ahogó|quemó enter[oa])\b|\bmurió atropellad[oa]\b"
)
_SURVIVES = lazy(
    r"\b(?:überlebt|durchgekommen|davongekommen|gerettet|erholt|berappelt|aufgepäppelt|treibt (?:\w+ )?(?:wieder|neu|schon)|ausgetrieben|beinahe|fast|um ein haar|sobrevivi\w+|sobrevive|se recuper\w+|rebrot\w+|se salvó|se ha salvado|casi|por poco)\b"
)
_AUTHORITY = lazy(
    r"\b(?:\w*(?:arzt|ärztin|ärzte|ärzten)|\w+olog(?:e|en|in)|doktor\w*|doc|psychiater\w*|orthopäd\w*|internist\w*|\w*therapeut\w*|\w*klinik|krankenhaus|\w*praxis|apotheker\w*|hebamme|"
    r"médic[oa]|doctora?|\w+ólog[oa]|pediatra|psiquiatra|dentista|internista|veterinari[oa]|ambulatorio|hospital|consulta)\b"
)
_TAKES_OFF = lazy(
    r"\b(?:gestrichen|abgesetzt|verboten|untersagt|ausgeschlichen|weggelassen|rausgenommen|rausgeworfen|eingestellt|entzogen|(?:quitó|retiró|suspendió|prohibió|cortó|eliminó|levantó|sacó|bajó|descontinuó|interrumpió|ha (?:quitado|retirado|suspendido|prohibido|levantado|sacado|cortado|eliminado))|streichen|absetzen|weglassen|ausschleichen|rausnehmen)\b"
)

_DEPARTS = lazy(
    r"\b(?:koffer|sachen|siebensachen|kisten|taschen) gepackt\b|\b(?:bude|zimmer) geräumt\b|\b(?:wohnt|lebt|haust) (?:nun|jetzt|inzwischen|mittlerweile|seit \w+|wieder|lieber)+ (?:bei|mit|in|allein)\b|\b(?:zu|nach|in) .{2,30} gezogen\b|"
    r"\babgehauen\b|\bausgeflogen\b|\büber alle berge\b|\bauf und davon\b|\bverduftet\b|\bwas eigenes gefunden\b|\beigene (?:wohnung|bude)\b|"
    r"\bse (?:mandó a mudar|fue a vivir|ha ido a vivir|regresó|ha regresado|mudó|ha mudado|largó|ha largado|marchó|piró|independizó|ha independizado)\b|\bse fue con (?:el|la|su) \w+\b|"
    r"\b(?:hizo|ha hecho) (?:las maletas|la maleta|sus maletas)\b|\b(?:agarró|cogió|juntó|recogió) sus (?:cosas|trastos|tiliches|bártulos)\b|\blevantó el campamento\b|\b(?:desocupó|desalojó|vació|dejó libre|entregó) (?:el|la|su|las|mi)\b|\bdevolvió las llaves\b|\bse independizó\b|\bagarró camino\b|\bausgezogen\b|\bschlüssel (?:abgegeben|hingelegt|zurückgegeben)\b|\bdejó (?:el piso|el depa|la casa|el cuarto|la habitación)\b|\bvoló del nido\b"
)
_FOR_A_WHILE = lazy(
    r"\b(?:urlaub|ferien|übers? wochenende|für \w+ (?:tage?|wochen?|monate?)|kommt \w+ wieder|bis (?:sonntag|montag|freitag|ende|nächste\w*)|vacaciones|viaje|vuelve (?:el|en|pronto)|finde|unos días|hasta el)\b"
)
_LIVES = lazy(
    r"\b(?:wohn\w*|leb(?:e|en|t)|wg|hausen?|teile?n?|mitbewohner\w*|viv(?:o|imos|en|e)|piso|depa|departamento|apartamento|rent(?:o|amos)|compart(?:o|imos)|alquil\w+)\b"
)
_TO_STOP = lazy(
    r"\bto (?:stop|quit|drop|ditch|come off|give up|lose|avoid|discontinue|cancel|leave|get rid of|cut out|lay off)\b|\b(?:dejar|dejara|dejase|desaconsej\w+|abgeraten|suspender|suspendiera|abandonar|cancelar|quitar(?:me)?|soltar|parar con|absetzen|weglassen|aufhören|kündigen|abbestellen|streichen)\b"
)
_SO_DONE = lazy(
    r"^\W*(?:and |so |which |as )?(?:i did|so i did|i have|i've done so|i obeyed|i listened|i complied|we did|so we did|i've done it|done)\b(?! (?:not|n't|never|try|think))|"
    r"^\W*(?:y |und |also )?(?:eso (?:hice|he hecho|hicimos)|así (?:lo )?(?:hice|he hecho|hicimos)|le hice caso|le he hecho caso|dicho y hecho|gesagt,? getan|(?:das|so|genau das) hab(?:e|en)? (?:ich|wir) (?:\w+ )?(?:gemacht|getan)|das ist (?:jetzt |nun )?passiert)"
)


class Losses(Scan):
    """Reads losses that somebody or something else brings about."""

    def _taken(self, sentence: Sentence, clause: Clause) -> re.Match[str] | None:
        """Find what a beast or the weather did to the value, or what somebody in charge of the speaker's health took off."""
        if self._lexicon.code not in ("de", "es") or self._lexicon.negation.search(clause.flat):
            return None
        place = self._reading.sentences.index(sentence)
        near = self._reading.sentences[place : place + 2]
        if any(_SURVIVES.search(one.flat) for one in near):
            return None
        if perished := _PERISHES.search(clause.flat):
            return perished
        until = sentence.flat[: clause.end - sentence.start]
        if (taken := _TAKES.search(clause.flat)) and _BEAST.search(until):
            return taken
        before = self._reading.sentences[place - 1].flat if place else ""
        off = _TAKES_OFF.search(clause.flat)
        return off if off and _AUTHORITY.search(f"{before} {until}") and not self._is_patient(clause) else None

    def _is_patient(self, clause: Clause) -> bool:
        """Whether somebody else than the speaker is treated ("the doctor took my mother off it")."""
        return self._lexicon.kin.search(clause.flat) is not None

    def _moved_out(self, sentence: Sentence) -> Iterator[Ending]:
        """Find who left the home that the speaker shares with them ("Jonte has packed his bags")."""
        if self._lexicon.code not in ("de", "es") or _FOR_A_WHILE.search(sentence.flat):
            return
        for clause in sentence.clauses:
            if clause.asks or not _DEPARTS.search(clause.flat) or self._is_hedged(sentence, clause):
                continue
            if self._lexicon.negation.search(clause.flat):
                continue
            gone = [m for m in self._mentions[sentence.start] if m.start < clause.end and m.rank >= NOUN]
            for mention in gone[:1]:
                if mention.surface[:1].isupper() and any(_LIVES.search(flat(text)) for text in mention.said):
                    yield Ending(mention.surface, "retract", sentence, mention)

    def _carried_out(self, sentence: Sentence, clause: Clause) -> re.Match[str] | None:
        """Find what somebody advised to stop, where the speaker says that they did ("… and so I did")."""
        place = self._reading.sentences.index(sentence)
        after = [c for c in sentence.clauses if c.start > clause.start]
        after += [c for near in self._reading.sentences[place + 1 : place + 2] for c in near.clauses[:1]]
        stop = None if clause.asks else _TO_STOP.search(clause.flat)
        return stop if stop and any(_SO_DONE.match(c.flat) for c in after) else None
