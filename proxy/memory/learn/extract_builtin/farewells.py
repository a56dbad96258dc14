"""Finds in German and Spanish what died, told gently, and what belongs to somebody else by now."""

from __future__ import annotations

import re

from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.mentions import NOUN
from proxy.memory.learn.extract_builtin.reading import Clause, Sentence
from proxy.memory.learn.extract_builtin.scan import Scan
from proxy.text.words import flat

_DIED = lazy(
    r"\b(?:lag|liegt|fanden|gefunden) (?:\w+ ){0,5}tot\b|\bist (?:\w+ ){0,4}tot\b|\b(?:hat|haben) .{0,40}\bnicht (?:überlebt|überstanden|verkraftet|gepackt|geschafft)\b|\bnicht mehr aufgewacht\b|\b(?:für immer|friedlich|sanft) (?:\w+ ){0,3}eingeschlafen\b|"
    r"\b(?:erlöst|erlösen lassen|zu grabe getragen|beigesetzt)\b|\bunter der erde\b|"
    r"\bno (?:ha |se )?(?:despertado|despertó|volvió a despertar|ha vuelto a despertar)\b|\bno (?:ha |han )?(?:sobreviv\w+|superó la (?:noche|operación)|superado la (?:noche|operación)|pasó de (?:ayer|anoche|esa noche)|aguantó (?:el|la|más)|aguantado (?:el|la|más)|resistió (?:el|la))\b|"
    r"\b(?:lo|la|los|las) (?:enterramos|enterré|hemos enterrado|durmieron|tuvimos que dormir|hemos tenido que dormir|incineramos)\b|\bdescansa en paz\b|\bse durmió para siempre\b|\bdejó de respirar\b|\bse apagó\b(?= (?:como|en|anoche|ayer|mientras)|,|$)"
)
_GENTLY = lazy(
    r"\beingeschlafen\b|\bnicht mehr (?:bei uns|da|unter uns|am leben)\b|\bhat uns (?:\w+ ){0,3}verlassen\b|\b(?:gehen|ziehen) (?:ge)?lassen\b|\baugen (?:\w+ ){0,2}(?:zu|geschlossen)\b|\bseine letzte reise\b|\bist (?:\w+ ){0,3}gegangen\b|"
    r"\bse (?:nos |me )?(?:ha )?(?:dormido|durmió|fue|ido|marchado|marchó)\b|\bnos (?:ha dejado|dejó)\b|\bya no está (?:con|entre) nosotr[oa]s\b|\bcerró los ojos\b"
)
_GRIEF = lazy(
    r"\b(?:trau\w*|traurig\w*|vermiss\w*|untröstlich|tränen|wein\w*|heul\w*|abschied\w*|beerdig\w*|begrab\w*|grab|friedlich|für immer|sanft|tierarzt|tierärztin|fehlt|herz\w*|alt (?:geworden|ist er|ist sie)|jahre (?:alt )?(?:ist|wurde|war|hat|durfte|waren)|jahren|krebs|krank\w*|"
    r"triste\w*|llor\w*|lágrimas|pena|duelo|despedir\w*|despedid\w*|enterr\w*|pobre\w*|echo de menos|extrañ\w*|corazón|veterinari\w*|años (?:ya |que )?(?:tenía|nos|con)|tenía \w+ años|cáncer|enferm\w*|viejit\w+)\b"
)
_BELONGS = lazy(
    r"\bgehör(?:t|en) (?:jetzt|nun|inzwischen|mittlerweile|seit \w+(?: \w+)?|ab \w+|künftig|bereits|schon)\b(?!.{0,20}\b(?:mir|uns|mein|unser|zu|zum|zur)\b)|\b(?:jetzt|nun|inzwischen|mittlerweile|seit \w+) gehör(?:t|en) (?!.{0,20}\b(?:mir|uns|zu|zum|zur)\b)|"
    r"\bha(?:t|ben) (?:\w+ ){0,3}(?:(?:einen|eine|ein|ihr|sein|neue|nette|liebe) )?(?:\w+e[nrs]? )?(?:besitzer\w*|eigentümer\w*|halter\w*|herrchen|frauchen|zuhause|käufer\w*|abnehmer\w*|liebhaber\w*)\b(?: gefunden| bekommen)?|\bfährt (?:jetzt|nun|inzwischen|künftig) (?:mein\w*|unser\w*|der|die|ein\w*) \w+\b|"
    r"\b(?:ging|gingen|geht|gehen|ist|sind|wanderte|wechselte) (?:\w+ ){0,3}(?:an|zu|in die hände|in den besitz) (?:eine?[nmr]?|mein\w*|unser\w*|de[rn]|die|das) .{2,40}(?:gegangen|gewandert|übergegangen)?$|\bin (?:andere|fremde|neue|gute) hände\b|\bden besitzer gewechselt\b|"
    r"\b(?:ahora|ya|desde \w+(?: \w+)?) (?:es|son|pertenecen?|lo tiene|la tiene|los tiene|las tiene|lo lleva|la lleva|lo disfruta|la disfruta) (?:de |del |a |al )?(?:mi|un|una|otr[oa]s?|unos|unas|la|el|su|nuestr[oa])\b|\b(?:es|son) (?:ahora|ya|desde \w+) (?:de|del) (?!(?:mí|nosotr))|"
    r"\btiene (?:ya |ahora )?(?:nuev[oa]s?|otr[oa]s?) (?:dueñ|propietari|famili|inquilin|amo|hogar|casa)\w*|\bcambi(?:ó|ado) de (?:dueñ[oa]|manos|propietari[oa])\b|\b(?:pasó|pasaron|ha pasado|han pasado) a (?:manos|ser de|otras manos|nombre)\b|\bencontr(?:ó|ado|amos) (?:nuev[oa] )?(?:dueñ[oa]|hogar|comprador\w*)\b|\bestá a nombre de\b"
)
_OWNS = lazy(  # said of what was one's own, and not where one goes
    r"\b(?:hab\w*|besitz\w*|vermiet\w*|verpacht\w*|fahre?n?|reite\w*|steht|stehen|leb(?:e|en|t)|sammle|verleih\w*|benutz\w*|nutz\w*|tengo|tenemos|tienen?|alquil\w+|arriend\w+|conduzco|manejo|llevo|monto|viven?|guardo|guardamos|uso|usamos|colecciono)\b"
)


class Farewells(Scan):
    """Reads deaths and changes of hands."""

    def _gone_over(self, sentence: Sentence, clause: Clause) -> re.Match[str] | None:
        """Return where a clause says that something died or has another owner now."""
        if self._lexicon.code not in ("de", "es") or clause.asks or self._is_hedged(sentence, clause):
            return None
        if died := _DIED.search(clause.flat):
            return died
        place = self._reading.sentences.index(sentence)
        near = self._reading.sentences[max(0, place - 1) : place + 3]
        gently = _GENTLY.search(clause.flat)
        if gently and any(_GRIEF.search(one.flat) for one in near):
            return gently
        belongs = _BELONGS.search(clause.flat)
        named = [m for m in self._within(clause, sentence) if m.rank >= NOUN]
        is_own = any(_OWNS.search(flat(text)) for m in named for text in m.said)
        return belongs if belongs and is_own else None
