"""Finds what a German or Spanish message shows to have been wrong, telling what it is instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from proxy.memory.learn.extract_builtin.contrasts import akin
from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.mentions import NAME, NOUN, Mention
from proxy.memory.learn.extract_builtin.reading import Clause, Sentence
from proxy.memory.learn.extract_builtin.replacement import names_in
from proxy.memory.learn.extract_builtin.scan import REQUEST, Ending
from proxy.memory.learn.extract_builtin.switches import Switches
from proxy.text.words import flat, words

_LONG = 32  # words of a sentence that puts something right
EVIDENCE = lazy(  # what people find out by, or are shown by
    r"\b(?:auf|im|in|am|laut|nach|unter) (?:\w+ ){0,3}(?:ticket|einladung|urkunde|geburtsurkunde|ausweis|pass|schild|\w*klingel\w*|überweisung|brief|kalender|zettel|website|homepage|vertrag|bescheid|rechnung|foto|karte|packung|etikett|plan|mail|taufschein|liste|visitenkarte)\b|"
    r"\bhab\w* (?:\w+ )?(?:nochmal |noch mal |extra |mal )?(?:auf .{2,25} |in .{2,25} |bei .{2,20} )?(?:nachgeschaut|geschaut|geguckt|nachgesehen|gesehen|nachgelesen|nachgefragt|gefragt|nachgeforscht|gegoogelt|gefunden|reingeschaut)\b|\b(?:aufgetaucht|kam raus|hat sich gezeigt|wie ich (?:jetzt|nun|inzwischen) weiß|lacht (?:mich aus|nur)|schüttelt (?:\w+ )?den kopf|verdreht die augen|klärt mich auf|grinst|was anderes|etwas anderes|hat mich \w+geklärt|werfe? .{1,40} (?:zusammen|durcheinander)|fälschlich\w*|"
    r"blamage|blamiert|auf die schippe|hab mich vertan|falschen? (?:fährte|dampfer)|holzweg|berichtigt|verbessert)\b|"
    r"\b(?:releí|leí bien|miré|he mirado|revisé|chequé|checando|me fijé|me he fijado|vi que|según (?:el|la|los|las|mi|me)|apareció|encontré|en (?:el|la|mi|su) \w+ (?:pone|dice|figura|sale|aparece)|me corri\w+|me regañ\w+|casi me mata|se rió|se rieron|se ríe|se burl\w+|un lío|inventé|"
    r"confund\w+|confusión|qué (?:pena|vergüenza|plancha|papelón|oso|roche|bochorno|metida)|metí la pata|metida de pata|jur(?:aba|ó|é)|dale que dale|diciéndole mal|todo este tiempo|llev\w+ (?:\w+ ){0,3}diciendo|me aclar\w+|resulta que|me entero|nos enteramos|me sacó del error|me avis\w+ que|me dic\w+ que)\b"
)
_IS_ELSE = lazy(  # of a wrong value: what it is instead, or that it was but said
    r"\b(?:hieß|hiess|war vor|war schon|war damals)\b|\b(?:war|wäre|ist|sind|gibt|wohnt|heißt|gehört|stammt|kommt|unterrichtet|betreut|leitet|arbeitet|liegt|steht für) (?:\w+ ){0,2}?(?:nur|bloß|bloss|der|die|das|dort|da|gegenüber|nebenan|letzte\w*|vorige\w*|beim?|vo[nm]|der von|die von|sein|ihr|mein|unser|ein|eine|woanders|früher|ganz woanders)\b|"
    r"\b(?:rede|gerede|gerücht|hörensagen|fälschlich\w*|behauptet\w*|gesagt|genannt|geschrieben|getippt|verwechsel\w*|eingebildet|ausgedacht|gedacht|angenommen|gemeint|nicht|nie|durcheinander|zusammen|quatsch|unsinn|falsch)\b|"
    r"\b(?:es|era|fue|son|eran|da|vive|trabaja|lleva|queda|enseña|atiende) (?:\w+ )?(?:el|la|los|las|un|una|otr[oa]|de|del|mi|su|en|al|enfrente|lo)\b|\b(?:lo|eso) del?\b|"
    r"\b(?:dije|decía|diciendo|dicho|decir|dale|juraba|juró|creía|pensaba|confund\w+|mezcl\w+|invent\w+|puse|escribí|llam\w+|no|ni|mal|equivocad\w+|entendí)\b"
)
_FINDINGS = lazy(
    r"\b(?:befund\w*|ergebnis\w*|diagnose|laborwerte?|röntgen\w*|mrt|test\w*|gutachten|arztbrief|werkstatt|resultados?|informe|análisis|analítica|diagnóstico|radiografía|resonancia|pruebas?)\b"
)
_IS_FINE = lazy(
    r"\b(?:vertrag\w*|ist|sind|hab\w*|geht|läuft|funktioniert|esse|darf)\b.{0,30}\b(?:einwandfrei|gut|problemlos|prima|in ordnung|ok|okay|gesund|heil|intakt|unauffällig|tadellos|super|bestens|topfit|unschuldig|nicht (?:das problem|schuld|betroffen))\b|"
    r"\b(?:sienta|tengo|está|están|tolero|anda|va|funciona|es)\b.{0,20}\b(?:de maravilla|perfect\w+|bien|san[oa]s?|intact[oa]s?|estupend\w+|impecable|sin problema\w*|como nuev\w|inocente|a la perfección)\b"
)
_AILS = lazy(
    r"\b(?:das problem|schuld|der übeltäter|die ursache|betroffen|kaputt|gerissen|gebrochen|entzündet|operiert|unverträglich|vertrage ich nicht|sondern|geht um|handelt sich um)\b|"
    r"\b(?:el problema|la culpa|el culpable|la causa|lo que .{2,40}\bes|se trata de|sino|el que|la que|rot[oa]|inflamad[oa]|no (?:tolero|me sienta))\b"
)
_GIVES_NAME = lazy(
    r"\b(?:steht|stand|heißt|heisst|lautet|ist es|es ist|pone|ponía|dice|figura|sale|aparece|se llama|es|viene|kommt)\b"
)
_STAYS = lazy(
    r"\b(?:auch|außerdem|zusätzlich|noch ein\w*|weiterhin|bleibt|nach wie vor|también|además|sigue|siguen|seguimos|todavía|aún)\b"
)
_KIN: Mapping[str, str] = {  # other words for the same one
    "oma": "großmutter",
    "omi": "großmutter",
    "opa": "großvater",
    "mama": "mutter",
    "mutti": "mutter",
    "papa": "vater",
    "bub": "sohn",
}


class Disproved(Switches):
    """Reads what a message shows to have been wrong."""

    def _disproved(self, place: int, sentence: Sentence) -> Iterator[Ending]:
        """Find an old value beside another one that is told of the same thing ("it says X on the ticket. Y was last year")."""
        if self._lexicon.code not in ("de", "es") or sentence.asks or len(sentence.words) > _LONG:
            return
        shown = self._corrects or any(EVIDENCE.search(near.flat) for near in self._reading.sentences)
        found = shown or any(_FINDINGS.search(near.flat) for near in self._reading.sentences)
        for old in self._mentions[sentence.start] if found else ():
            clause = self._clause_at(sentence, old)
            if self._is_cleared(place, sentence, old, clause):
                yield Ending(old.surface, "correct", sentence, old)
                return
            if not shown or not self._may_be_wrong(old, sentence, clause):
                continue
            near = self._reading.sentences[max(0, place - 2) : place + 2]
            frame = self._frame(old)
            if any(self._tells_another(c, one, clause, frame) for one in near for c in one.clauses if c is not clause):
                yield Ending(old.surface, "correct", sentence, old)
                return

    def _is_cleared(self, place: int, sentence: Sentence, old: Mention, clause: Clause) -> bool:
        """Whether nothing ails what was said to be ill or harmful, but something else ("the knee is fine, it's the hip")."""
        if old.rank < NOUN or clause.asks or not self._is_personal(old) or not _IS_FINE.search(clause.flat):
            return False
        near = self._reading.sentences[max(0, place - 1) : place + 2]
        others = [c for one in near for c in one.clauses if c is not clause and not c.asks]
        return any(
            _AILS.search(c.flat)
            and any(not self._heard.holds(w.text) for w in words(c.flat) if w.text not in self._lexicon.stop)
            for c in others
        )

    def _may_be_wrong(self, old: Mention, sentence: Sentence, clause: Clause) -> bool:
        floor = NOUN if self._lexicon.code == "de" else NAME
        if old.rank < floor or not old.surface[:1].isupper() or clause.asks or REQUEST.match(clause.flat):
            return False
        if self._lexicon.kin.fullmatch(old.surface.lower()) or not self._is_personal(old):
            return False
        if any(flat(old.surface) in word for word in self._frame(old)):
            return False
        others = [m for m in self._within(clause, sentence) if m.rank >= NAME and m is not old]
        return not others and _IS_ELSE.search(clause.flat) is not None and _STAYS.search(clause.flat) is None

    def _tells_another(self, clause: Clause, sentence: Sentence, wrong: Clause, frame: list[str]) -> bool:
        """Whether a clause gives an unheard name to what the wrong one was told of, or as what is written somewhere."""
        if clause.asks or REQUEST.match(clause.flat) or self._lexicon.additive.search(clause.flat):
            return False
        if not self._unheard(clause):
            return False
        telling = [word.text for word in words(clause.flat) if word.text not in self._lexicon.stop]
        told = [_KIN.get(word, word) for word in telling]
        if any(akin(word, _KIN.get(other, other)) for word in told for other in frame):
            return True
        return _GIVES_NAME.search(clause.flat) is not None and (
            EVIDENCE.search(sentence.flat) is not None or self._lexicon.correction.search(sentence.flat) is not None
        )

    def _unheard(self, clause: Clause) -> bool:
        """Whether a clause names somebody or something for the first time."""
        text = self._reading.text[clause.start : clause.end]
        if self._lexicon.code == "de":
            idle = self._lexicon.generic | self._lexicon.stop
            found = [word for word in words(text)[1:] if text[word.start].isupper() and word.text not in idle]
            return any(not self._heard.holds(word.text) for word in found)
        return any(not self._heard.holds(name) for name in names_in("a " + text))
