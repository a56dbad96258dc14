"""Finds values that a message gives up for others: "switched from X to Y"."""

from __future__ import annotations

from collections.abc import Iterator

from proxy.memory.learn.extract_builtin.contrasts import Contrasts, akin
from proxy.memory.learn.extract_builtin.english_endings import MISHAP
from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.mentions import GENERIC, NAME, Mention
from proxy.memory.learn.extract_builtin.reading import Clause, Sentence
from proxy.memory.learn.extract_builtin.replacement import names_in
from proxy.memory.learn.extract_builtin.scan import Ending
from proxy.text.words import word_set, words

NOW = lazy(
    r"\b(?:now|these days|nowadays|currently|this (?:year|time)|ahora|hoy por hoy|hoy en día|este año|esta vez|actualmente|jetzt|nun|inzwischen|mittlerweile|neuerdings|heuer|dieses (?:jahr|mal)|diesmal|теперь|нынче|сейчас|в этом году|в этот раз)\b|现在|如今|眼下|目前|这会儿|这阵子|现下|当下|今年|这次|这回|[周月年期季天拜]起(?![来床码初点诉])|\bit is\b(?= *(?:$|[.!]))"
)
# Something came in its place.
GAINS = lazy(
    r"\b(?:bought|got (?:a|an|myself|ourselves)|joined|started|began|in (?:its|his|her|their) (?:place|stead)|picked up|took up|went with|signed up|enrolled|adopted|instead|"
    r"gekauft|geholt|zugelegt|angeschafft|bestellt|angefangen|begonnen|dafür|stattdessen|gelandet|eingestiegen|beigetreten|angemeldet|"
    r"compr(?:é|ado|amos)|empec(?:é|emos)|empezado|apunt(?:é|ado|amos)|conseguí|pillé|en su lugar|a cambio|matricul\w+|agenci\w+|adoptado|fich(?:é|ado)|entr(?:é|ado) en|"
    r"купил\w?|взял\w?|завел\w?|приобрел\w?|устроил\w+|начал\w?|записал\w+|оформил\w?|подключил\w*|поступил\w?|вместо)\b|"
    r"买了|入手|换了|换成|改[\u4e00-\u9fff]|去了|入职|加入|报了|办了|开始"
)
ARRIVES = lazy(  # tells of something that came
    r"\b(?:nun|jetzt|inzwischen|mittlerweile|neuerdings|seither|seitdem|seit(?! (?:jeher|langem|ewig\w*|immer|jahren))|ab (?:dem|der|sofort|morgen|nächste\w*|\d|\w+(?:tag|uar|ember|ober|ust|ril|uni|uli|ärz|mai)\b)|ab|künftig|fortan|"
    r"stattdessen|dafür|für (?:ihn|sie|es)|stelle|ersatz|nachfolger\w*|entschieden|wurde|geworden|grad|gerade|endlich|gefeiert wird|demnächst|neue[rsnm]?|übernimmt|übernommen|zieht|eingezogen|angefangen|getreten|gerückt|trat|rückte|nahm|"
    r"(?:diesem|kommendem) (?:jahr|monat|herbst|winter|sommer|semester)|diese (?:saison|woche)|ahora|desde|a partir de|en su lugar|ya|nuev[oa]s?|este (?:año|mes)|hoy en día|me he (?:hecho|agenciado|pasado|comprado)|sustitut[oa]|relevo|ocup[aó]|manda|toca|fichado|fiché|hoy por hoy|hoy en día|será)\b"
)
_STANDS_IN = lazy(
    r"\bfür (?:ihn|sie|es) (?:hat|haben|kommt|kam|ist|übernimmt|springt|spielt|macht)\b|\bstattdessen\b|\ban (?:seine|ihre|deren|dessen) (?:stelle|statt)\b|\bals ersatz\b|\bnachfolger(?:in)?\b|\ben su (?:lugar|puesto|sitio)\b|\bel relevo\b|\bocup\w+ (?:\w+ )?(?:su|el) (?:lugar|puesto|sitio)\b|\b(?:tomó|ha tomado|toma|cogió) (?:el|su) (?:relevo|lugar|sitio|puesto)\b|\b(?:l[oae]s?|me l[oae]) (?:sucedió|sucede|reemplaz\w+|sustituy\w+|relev\w+)\b|"
    r"\b(?:an|in) (?:seine[nm]?|ihre[nm]?|deren|dessen) (?:stelle|platz|statt)\b|\b(?:seinen|ihren|dessen|deren) (?:platz|job|part) (?:\w+ ){0,3}(?:ein|eingenommen|übernommen|hat)\b|\b(?:folgte|folgt) (?:ihm|ihr)\b|\blöste? (?:ihn|sie|es) .{0,20}\bab\b|\bnachgerückt\b"
)
JUDGED = lazy(  # why it was given up
    r"\b(?:war|wurde|waren|wurden) (?:mir|uns) (?:\w+ )?zu \w+|\bwar (?:nix|nichts|mist|murks|ein reinfall|eine katastrophe|rausgeschmissen\w*)\b|\bnervte?n?\b|\bstürzt\w* .{0,20}\bab\b|"
    r"\bhat(?:te)? (?:mir |uns )?(?:nix|nichts|wenig|kaum was) (?:gebracht|geholfen|getaugt)\b|\bhat (?:mir |uns )?nicht geholfen\b|\bbringt (?:mir )?nichts\b|\bno (?:me |nos )?(?:sirvió|funcionó|servía|ayudó|valía|iba)\b|"
    r"\bhat (?:mich|uns) (?:versetzt|im stich gelassen|abgelehnt|enttäuscht|vergrault)\b|\bkommt nicht wieder\b|\b(?:nos|me) (?:falló|dejó tirad\w+|plantó|defraudó|decepcionó)\b|"
    r"\bera (?:un |una )?(?:caos|desastre|rollo|timo|horror|pesadilla)\b|\bno me (?:convenc|gust)\w+|\bme (?:hart|cans)(?:ó|aba|é)\b|\bse (?:cuelga|colgaba|cae|caía)\b|\bde precio\b|\bdemasiado car[oa]\b|\b(?:me|nos) (?:quedó|quedaba|queda|venía|resultaba) (?:muy |demasiado |ya )?(?:chic[oa]|pequeñ[oa]|grande|lejos|car[oa]|cort[oa])\b|\b(?:me|nos|le|les) (?:daba|sentaba|provocaba|producía|caía|hacía) \w+|\bcobraba\b|\bun ojo de la cara\b|\bwurd\w* .{0,25}(?:nicht )?warm\b|\b(?:bekam|vertrug|verträgt) .{0,15}(?:nicht|schlecht)\b|\bsubi(?:ó|eron) (?:la|el|los|las)\b"
)
_THEREFORE = lazy(
    r"\W*(?:así que|por eso|de modo que|por lo que|conque|deshalb|daher|drum|darum|weshalb|also|und so|y así)\b"
)
GOES_ON = lazy(
    r"\b(?:auch|weiterhin|noch|bleib\w*|behalte?|nach wie vor|zusätzlich|neben|außerdem|zum glück|sigue|sigo|seguimos|todavía|aún|también|además|junto|gracias)\b"
)
_MEANWHILE = lazy(
    r"\b(?:so ?lange?|derweil|vorerst|vorübergehend|ersatzweise|einstweilen|übergangsweise|bis dahin|leihweise|werkstatt|reparatur|de momento|mientras|por ahora|provisional\w*|hasta que|unos días|taller|prestad[oa]|alquilad[oa] unos)\b"
)
_ONLY = lazy(r"\bnur noch\b")
_OPENING = "«\"„“'《"
_HAPPENS_IN = lazy(  # "in X my café has closed"
    r"(?:in|auf|an) \w+ (?:hat|haben|ist|sind|wird) (?:mein|unser|de[rn]|die|das|eine?)e? "
)
_LONGER = 40  # words where a place is said to be taken
_LONG = 30  # words; a correction or a switch is told in fewer
_ASKED_OF_YOU = lazy(r"\b(?:can|could|would) you\b|\b(?:kannst|könntest) du\b|\bpuedes\b|\bможешь\b")
_TOOK_ITS_PLACE = lazy(
    r"\b(?:switched|moved|changed|upgraded|migrated|defected|graduated|converted|downgraded|jumped|went (?:over|across|back))(?: \w+){0,2} (?:over |on |up |across )?to (?!bed\b|sleep\b|work\b|school\b|the (?:doctor|shop|park|gym|vet)\b)"
    r"|\b(?:replaced|swapped|traded|exchanged|upgraded|changed) (?:it|them|her|him|that|those)(?: \w+)? (?:with|for|to|by)\b"
    r"|\b(?:bought|got|ordered|chose|picked|joined|have|use|using|went with|settled on|opted for|ended up with|landed on|drive|driving)\b.{1,40}\binstead\b"
    r"|\binstead,? (?:i|we)(?:'ve|'m)?\b"
    r"|\b(?:it's|it is) (?!been\b|not\b|so\b|too\b|all\b|just\b)\w+(?: \w+)?(?: for (?:me|us|him|her))?,? (?:now|from now on|these days|instead|from here on|nowadays)\b"
)
_FAILS = lazy(
    r"\b(?:couldn't|can't|wouldn't|won't|wasn't|didn't|kept|keeps|double-?booked|let (?:us|me) down|broke|died|failed|useless|hopeless|rubbish|lost|cancel\w*|too (?:expensive|far|slow|dear|small|big|much|pricey)|"
    r"ill|sick|quit|left|retire[ds]?|pulled out|dropped out|never|no-show|messed|ripped|raised|prices?|enough|shut|clos(?:ed|ing)|fired|sacked|mad|nerves|crash\w*|hurt|injur\w*|moved|gone|folded|bust|full|fell through|"
    r"stopped|unavailable|disappeared|vanished|ghosted|stood us up|did (?:his|her) back in|broken|packed up|leav(?:es|ing)|pregnant|on leave|maternity|paternity|overpriced|awful|terrible|worse|worst|rude|late)\b"
)
_STEPS_IN = lazy(
    r"\b(?:settled in at|(?:is|are|'s|'re|'m|am) (?:now )?(?:at|with|in|on|doing|taking|running|coming|teaching|looking after|going)|will be|(?:is |are )?going to|take[ns]? over|taking over|took over|"
    r"step(?:s|ped|ping) in|stands? in for good|came to the rescue|moved (?:her|him|them|it|us|over|on)? ?to|joined|signed up (?:with|for)|found|hired|booked|has agreed|agreed to|does it now|we've got|i've got|now)\b"
)
_UNSURE = lazy(
    r"\b(?:if|might|maybe|perhaps|could|would|should|until|for now|temporarily|for the time being|meanwhile|in the meantime|this week|today|tonight|wonder|hope|hopefully)\b"
)
NOW_ON = lazy(
    r"\b(?:now|nowadays|instead|these days|from (?:now|here|today|then) on(?:wards)?|going forward|since then|ever since|henceforth|in (?:its|his|her|their) place|took over|takes over|taking over|as of|gone to)\b"
)
_IS_NOW = lazy(
    r"(?:'s|s)?(?: (?:is|are|was|were|has been|have been|got|has become|became|turned into|goes by|go by))?(?: (?:officially|actually|basically|since|just))*"
    r" (?:now|renamed|rebranded|rechristened|called|known as|replaced|succeeded|became|turned into|has become)\b"
)
_SO_JOINED = lazy(
    r"\b(?:so|and|hence) (?:then )?(?:i|we)(?:'ve|'re|'m| have| are| am)?(?: \w+)? (?:signed up|registered|joined|gone|went|switched|moved|chose|chosen|picked|hired|booked|found|got|enrolled|bought)\b"
)
_TAKEN = lazy(
    r"\b(?:signed up|registered|joined|switched|moved|enrolled|gone|went) (?:over )?(?:with|to|for|at)\b|\b(?:i|we|he|she|they|it|mine|ours)(?:'m|'re|'s| am| are| is| go| use| drive| take| have)(?: \w+)? (?:with|at|on|in|to|by|a|an|using|over to)\b|\bgone to\b|\bt(?:ook|akes|aking) over\b|\bin (?:his|her|their|its) place\b"
)
OPENERS = word_set(
    """ever since because after as when now that the my our old and but so well ok okay oh right yes no sadly luckily
    turns out poor dear good ol' this finally honestly basically guess what apparently unfortunately then until"""
)
_OWN_AGAIN = lazy(r"\b(?:again|back (?:to|with|on|in|at))\b")
_EDITS = lazy(
    r"(?:\W|please |just |also |then |now |and )*(?:replace|swap|change|exchange|substitute) (?:the|this|that|these|those|all|any|some)\b"
)  # a text at work


class Switches(Contrasts):
    """Reads what took the place of what."""

    def _switched(self, sentence: Sentence) -> Iterator[Ending]:
        if not self._tells_switch(sentence):
            return
        for mention in self._mentions[sentence.start]:
            if mention.rank == GENERIC or self._is_asked(sentence, mention):
                continue
            is_own = self._lexicon.first.search(self._clause_at(sentence, mention).flat) is not None
            if _ASKED_OF_YOU.search(sentence.flat) and not is_own:
                continue
            before = sentence.flat[: mention.start - sentence.start].rstrip(_OPENING)
            after = sentence.flat[mention.end - sentence.start :]
            if self._is_taken_over(sentence, mention):
                yield Ending(mention.surface, "replace", sentence, mention)
                continue
            marked = self._marks(before, after, self._clause_at(sentence, mention))
            if not (marked and self._is_exchange(mention, after)) and not self._is_left_behind(sentence, mention):
                continue
            clause = self._clause_at(sentence, mention)
            if (
                self._is_made_up(sentence, clause)
                or (self._lexicon.code == "en" and _EDITS.match(clause.flat))
                or self._is_undone(sentence, clause)
                or self._is_long_ago(sentence, clause)
            ):
                continue
            subject = self._third(sentence, clause, [mention])
            negated = self._lexicon.negation.search(before[clause.start - sentence.start :])
            if negated and not self._lexicon.ended.search(clause.flat):
                continue
            if subject is not None and not self._is_hedged(sentence, clause):
                yield Ending(mention.surface, "replace", sentence, mention, subject)

    def _tells_switch(self, sentence: Sentence) -> bool:
        if self._lexicon.code == "en" and MISHAP.search(sentence.flat):
            return False  # "left X on the train"
        return any(p.search(sentence.flat) for p in (self._lexicon.switch, NOW, ARRIVES))

    def _replaced_after(self, place: int, sentence: Sentence) -> Iterator[Ending]:
        """Find the old value in the sentence before the one that tells what took its place ("My old X was slow. I went for Y")."""
        if place == 0 or sentence.asks or self._lexicon.code != "en" or self._mentions[sentence.start]:
            return
        before = self._reading.sentences[place - 1]
        named = [m for m in self._mentions[before.start] if m.rank >= NAME]
        named = [m for m in named if not self._lexicon.kin.fullmatch(m.surface.lower())]
        if before.asks or len(named) != 1 or self._lexicon.third.search(sentence.flat):
            return
        if self._steps_in(before, sentence, named[0]):
            yield Ending(named[0].surface, "replace", sentence, named[0])
            return
        for clause in sentence.clauses:
            gone = _TOOK_ITS_PLACE.search(clause.flat)
            if (
                gone is None
                or clause.asks
                or self._is_hedged(sentence, clause)
                or self._lexicon.additive.search(clause.flat)
            ):
                continue
            clause_before = self._clause_at(before, named[0])
            if self._third(before, clause_before, named) == "user" and not self._is_hedged(before, clause_before):
                yield Ending(named[0].surface, "replace", sentence, named[0])
            return

    def _overtaken(self, sentence: Sentence) -> Iterator[Ending]:
        """Find the old value that opens a sentence which tells what is so now ("X kept failing, so it's Y these days")."""
        lexicon = self._lexicon
        named = [m for m in self._mentions[sentence.start] if m.rank >= NAME]
        if lexicon.code != "en" or not named or len(sentence.words) > _LONG or lexicon.additive.search(sentence.flat):
            return
        old, clause = named[0], self._clause_at(sentence, named[0])
        opens = [word for word in words(clause.flat[: old.start - clause.start]) if word.text not in OPENERS]
        if (
            opens
            or self._is_asked(sentence, old)
            or self._is_hedged(sentence, clause)
            or _OWN_AGAIN.search(sentence.flat)
        ):
            return
        after = sentence.flat[old.end - sentence.start :]
        fresh = [n for n in names_in("." + sentence.text[old.end - sentence.start :]) if not self._heard.holds(n)]
        renamed = _IS_NOW.match(after) is not None
        told = (
            fresh
            and (NOW_ON.search(after) or _SO_JOINED.search(after))
            and (self._goes_on(old, after) or _TAKEN.search(after))
        )
        if ((renamed and fresh) or told) and self._third(sentence, clause, [old]) == "user":
            yield Ending(old.surface, "replace", sentence, old)

    def _steps_in(self, before: Sentence, sentence: Sentence, old: Mention) -> bool:
        """Whether somebody or something new steps in for what let the speaker down in the sentence before."""
        fresh = [name for name in names_in(". " + sentence.text) if not self._heard.holds(name)]
        clause = self._clause_at(before, old)
        fails = _FAILS.search(clause.flat, old.end - clause.start) or _FAILS.search(before.flat, old.end - before.start)
        is_sure = not _UNSURE.search(sentence.flat) and not self._is_hedged(before, clause)
        return bool(fresh) and fails is not None and is_sure and _STEPS_IN.search(sentence.flat) is not None

    def _is_left_behind(self, sentence: Sentence, mention: Mention) -> bool:
        """Whether another clause of the sentence moves to something new and this is the only old value in it."""
        clause = self._clause_at(sentence, mention)
        rivals = [m for m in self._mentions[sentence.start] if m.rank >= NAME]
        if mention.rank < NAME or len(rivals) != 1 or self._lexicon.switch.search(clause.flat):
            return False
        if _HAPPENS_IN.match(clause.flat):
            return False
        opening = _THEREFORE.sub("", clause.flat[: mention.start - clause.start])
        if len(words(opening)) > 1 or len(sentence.words) > _LONG:
            return False
        if self._lexicon.code in ("de", "es") and _MEANWHILE.search(sentence.flat):
            return False
        if self._lexicon.code in ("de", "es") and GOES_ON.search(_ONLY.sub("", clause.flat)):
            return False
        for other in sentence.clauses:
            if (
                other is clause
                or other.asks
                or not (self._lexicon.switch.search(other.flat) or NOW.search(other.flat))
                or self._is_hedged(sentence, other)
            ):
                continue
            if self._comes_in(other, clause) and not self._lexicon.additive.search(other.flat):
                return True
        return False

    def _comes_in(self, clause: Clause, old: Clause) -> bool:
        """Whether a clause about the speaker tells something new that takes a place."""
        if not (self._lexicon.first.search(clause.flat) or clause.flat.startswith(("so ", "jetzt ", "nun "))):
            return False
        text = self._reading.text
        fresh = [w for w in names_in(". " + text[clause.start : clause.end]) if not self._heard.holds(w)]
        fresh = [name for name in fresh if name not in text[old.start : old.end]]
        return bool(fresh) or self._lexicon.target.search(clause.flat) is not None

    def _is_taken_over(self, sentence: Sentence, mention: Mention) -> bool:
        """Whether another clause gives something new the place that the value had: by a word of what was said of it."""
        if self._lexicon.code not in ("de", "es") or len(sentence.words) > _LONGER or not self._is_personal(mention):
            return False
        clause = self._clause_at(sentence, mention)
        opens = len(words(clause.flat[: mention.start - clause.start])) <= 1 and JUDGED.search(clause.flat) is not None
        if self._lexicon.code == "es" and mention.rank < NAME and mention.surface.islower() and not opens:
            return False
        if _MEANWHILE.search(sentence.flat):
            return False
        if GOES_ON.search(clause.flat) or self._is_idle(sentence, mention) or NOW.search(clause.flat):
            return False
        frame = self._frame(mention)
        if any(
            akin(word.text, other)
            for word in words(mention.surface)[-1:]  # of "the optician's Miller" the name
            for other in self._also_said(sentence, mention)
        ):
            return False
        others = [other.flat for other in sentence.clauses if other is not clause]
        goes_over = any(self._lexicon.switch.search(told) and self._lexicon.first.search(told) for told in others)
        for other in sentence.clauses:
            if other is clause or other.asks or self._lexicon.additive.search(other.flat):
                continue
            arrives = ARRIVES.search(other.flat) or (opens and _THEREFORE.match(other.flat))
            if self._is_hedged(sentence, other) or not arrives or GOES_ON.search(other.flat):
                continue
            shares = any(akin(word.text, known) for word in words(other.flat) for known in frame)
            gives_way = shares or _STANDS_IN.search(other.flat) or JUDGED.search(clause.flat) or goes_over
            if gives_way and (self._fresh(other) or (opens and self._lexicon.switch.search(other.flat))):
                return True
        return False
