"""Finds in German and Spanish who or what came instead, told in the sentence after the old one, or of somebody who left."""

from __future__ import annotations

from collections.abc import Iterator

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.mentions import NAME, Mention
from proxy.memory.learn.extract_builtin.reading import Clause, Sentence
from proxy.memory.learn.extract_builtin.scan import Ending
from proxy.memory.learn.extract_builtin.switches import GOES_ON, JUDGED, NOW, Switches
from proxy.text.words import words

_LEAVES = lazy(  # who looked after the speaker does so no more
    r"\b(?:ist|sind) (?:\w+ ){0,4}(?:gezogen|gegangen|umgezogen|weggezogen|ausgewandert|gewechselt|verstorben|gestorben|pensioniert|weg|ausgeschieden|aufgestiegen|befördert worden|versetzt worden|abgewählt worden)\b|\b(?:wurde|wurden) (?:\w+ ){0,4}(?:versetzt|befördert|abgewählt|abberufen|entlassen|pensioniert|verabschiedet|abgelöst)\b|"
    r"\bhat (?:\w+ ){0,6}(?:aufgehört|gekündigt|übergeben|abgegeben|geschlossen|zur ruhe gesetzt|verlassen|hingeworfen|verkauft|dichtgemacht|zugemacht)\b|\b(?:geht|ging|ist) (?:\w+ ){0,3}in (?:rente|pension|den ruhestand|mutterschutz|elternzeit|altersteilzeit)\b|\b(?:hört|macht|nimmt|zieht) .{0,40}\b(?:auf|zu|weg|keine \w+ mehr)\b|"
    r"\bse (?:ha |han )?(?:trasladado|mudado|jubilado|retirado|marchado|ido|trasladó|mudó|jubiló|retiró|marchó|fue|prejubil\w+)\b|\b(?:ha|le ha|lo ha|la ha) (?:traspasado|dejado|cerrado|vendido|cedido|muerto|fallecido|renunciado|dimitido)\b|\b(?:traspasó|dejó|cerró|vendió|cedió|murió|falleció|renunció|dimitió)\b|"
    r"\b(?:se quedó|se ha quedado|anda) sin \w+|\bhatte\w? (?:\w+ ){0,3}kein\w* \w+ mehr\b|\b(?:está|cogió|pidió) (?:\w+ )?(?:de baja|excedencia|la baja|jubilad\w+)\b|\b(?:fue|ha sido) (?:\w+ )?(?:trasladad|ascendid|destituid|despedid|cesad)\w+\b"
)
_NAME = lazy(
    r"\b(?:[aA]n|al?|Frau|Herrn?|Dr\.|doctora?|señora?)\s+(?!Frau|Herr|Dr)(?P<name>[A-ZÄÖÜÁÉÍÓÚÑ][\w'-]+(?:\s+[A-ZÄÖÜÁÉÍÓÚÑ][\w'-]+)*)"
)
_HANDS_ON = lazy(
    r"\b(?:hat|haben) .{0,60}\ban .{2,60}\b(?:übergeben|abgegeben|abgetreten|verkauft|weitergegeben)\b|\b(?:ha|han)?(?: \w+)? ?(?:traspas|ced|dej|entreg|vend)(?:ado|ido|ó|ió) .{2,40} al? \b"
)
_ATTENDS = lazy(  # somebody does it for the speaker
    r"\b(?:uns|mich|mir) (?:\w+ )?(?:jetzt|nun|inzwischen|mittlerweile|seitdem|betreut|behandelt|unterrichtet|begleitet|berät|schneidet|trainiert|fährt)\b|\b(?:betreut|behandelt|unterrichtet|begleitet|berät|übernimmt|übernommen|zugewiesen|zugeteilt|zuständig|nachfolger\w*|vertritt)\b|"
    r"\b(?:jetzt|nun|inzwischen|mittlerweile|seitdem|künftig) (?:\w+ ){0,3}(?:zu|bei|von|durch|heißt|macht|kommt|hilft|übernimmt|frau|herr|dr)\b|\b(?:gehe|gehen|bin|sind|komme|kommen) (?:ich|wir)?\b.{0,20}\b(?:zu|bei)\b|"
    r"\b(?:nos|me|le|lo|la|les|al) (?:\w+ ){0,3}?(?:ha|han|lleva|atiende|ve|trata|da|toca|tocado|cuida|asign\w+|pus\w+|viene|mandaron|dieron)\b|\b(?:vamos|voy|llevo|llevamos|va) (?:\w+ )?(?:al?|con)\b|\bha entrado\b|\bviene\b|\b(?:hago|hacemos|tengo|tenemos) (?:\w+ )?con\b|\b(?:conseguido|conseguimos|encontrado|encontramos|pillado|cogido) (?:plaza|sitio|hueco|cita)\b|\bplatz (?:\w+ ){0,4}(?:ergattert|bekommen|gekriegt|gefunden)\b"
)
_SOUR = lazy(
    r"\b(?:zu (?:viel\w*|wenig|teuer|langsam|laut|weit|voll|kompliziert|unzuverlässig)|nervt\w*|nervig|spinnt|abgestürzt|stürzt|werbung|preise?|teurer|teuer|erhöht|enttäuscht|mies|schlecht|furchtbar|katastrophe|unfreundlich|ärger|streit|satt|genug von|kaputt|geschlossen|zu ?gemacht|pleite)\b|"
    r"\b(?:me (?:cansé|harté|aburrí|agobié)|hart[oa]|car[oa]|carísim[oa]|lent[oa]|anuncios|publicidad|subi(?:ó|eron|do)|subía|se (?:cuelga|colgaba|cae|caía)|fatal|desastre|horrible|decepci\w+|error\w*|falla\w*|lejos|llen[oa]|ruid\w+|antipátic\w+|timo|robo|caído)\b"
)


class Successors(Switches):
    """Reads who or what came instead."""

    def _succeeded(self, place: int, sentence: Sentence) -> Iterator[Ending]:
        """Find the old value of this sentence or the one before where a clause gives its place to somebody unheard of."""
        if self._lexicon.code not in ("de", "es") or sentence.asks:
            return
        for near in self._reading.sentences[max(0, place - 1) : place + 1]:
            named = [m for m in self._mentions[near.start] if self._is_named(m)]
            if near.asks or len({m.surface for m in named}) != 1:
                continue
            old, clause = named[0], self._clause_at(near, named[0])
            if self._is_idle(near, old) or GOES_ON.search(clause.flat) or self._third(near, clause, [old]) != "user":
                continue
            for other in sentence.clauses:
                hands_on = other is clause and _HANDS_ON.search(clause.flat) is not None
                if (other is not clause or hands_on) and self._takes_over(
                    old, clause, other, sentence, is_far=near is not sentence
                ):
                    is_far = near is not sentence
                    new = "" if is_far else self._newcomer(other, old)
                    yield Ending(old.surface, "retract" if is_far else "replace", near, old, new=new)
                    return

    def _takes_over(self, old: Mention, clause: Clause, other: Clause, sentence: Sentence, *, is_far: bool) -> bool:
        """Whether a clause tells, of the speaker or of who looks after them, of something unheard in place of the old."""
        if other.asks or self._is_hedged(sentence, other) or GOES_ON.search(other.flat):
            return False
        if any(p.search(other.flat) for p in (self._lexicon.additive, self._lexicon.limited, self._lexicon.negation)):
            return False
        if not self._fresh(other):
            return False
        if _HANDS_ON.search(clause.flat) and self._opens_with(old, clause):
            return True
        leaves = _LEAVES.search(clause.flat) is not None and self._opens_with(old, clause)
        if leaves and _ATTENDS.search(other.flat):
            return True
        comes = NOW.search(other.flat) is not None and self._lexicon.first.search(other.flat) is not None
        sour = _SOUR.search(clause.flat) or JUDGED.search(clause.flat) or self._lexicon.ended.search(clause.flat)
        return is_far and comes and sour is not None

    def _newcomer(self, clause: Clause, old: Mention) -> str:
        """Return the first name of a clause that was never heard, where the old one is named in it too."""
        text = self._reading.text[clause.start : clause.end]
        if not clause.start <= old.start < clause.end:
            return ""
        found = (match["name"] for match in _NAME.finditer(text, old.end - clause.start))
        return next((name for name in found if not self._heard.holds(name)), "")

    def _opens_with(self, mention: Mention, clause: Clause) -> bool:
        return len(words(clause.flat[: mention.start - clause.start])) <= 1

    def _is_named(self, mention: Mention) -> bool:
        """Whether the speaker gave something by its name; a German one is known by what stood before it."""
        if self._lexicon.kin.fullmatch(mention.surface.lower()):
            return False
        if mention.rank >= NAME:
            return mention.surface[:1].isupper()
        return self._lexicon.code == "de" and mention.surface[:1].isupper() and self._is_theirs(mention)
