"""Finds values that a message gives up for others: "switched from X to Y"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from proxy.memory.extract_builtin.english_endings import MISHAP
from proxy.memory.extract_builtin.mentions import GENERIC, NAME, VALUE, Mention
from proxy.memory.extract_builtin.reading import Clause, Sentence, read_as
from proxy.memory.extract_builtin.replacement import names_in
from proxy.memory.extract_builtin.scan import Ending, Scan
from proxy.memory.words import flat, same_word, word_set, words

NOW = re.compile(
    r"\b(?:now|these days|nowadays|currently|this (?:year|time)|ahora|hoy por hoy|hoy en día|este año|esta vez|actualmente|jetzt|nun|inzwischen|mittlerweile|neuerdings|heuer|dieses (?:jahr|mal)|diesmal|теперь|нынче|сейчас|в этом году|в этот раз)\b|现在|如今|眼下|目前|这会儿|这阵子|现下|当下|今年|这次|这回|[周月年期季天拜]起(?![来床码初点诉])|\bit is\b(?= *(?:$|[.!]))"
)
# Something came in its place.
GAINS = re.compile(
    r"\b(?:bought|got (?:a|an|myself|ourselves)|joined|started|began|in (?:its|his|her|their) (?:place|stead)|picked up|took up|went with|signed up|enrolled|adopted|instead|"
    r"gekauft|geholt|zugelegt|angeschafft|bestellt|angefangen|begonnen|dafür|stattdessen|gelandet|eingestiegen|beigetreten|angemeldet|"
    r"compr(?:é|ado|amos)|empec(?:é|emos)|empezado|apunt(?:é|ado|amos)|conseguí|pillé|en su lugar|a cambio|matricul\w+|agenci\w+|adoptado|fich(?:é|ado)|entr(?:é|ado) en|"
    r"купил\w?|взял\w?|завел\w?|приобрел\w?|устроил\w+|начал\w?|записал\w+|оформил\w?|подключил\w*|поступил\w?|вместо)\b|"
    r"买了|入手|换了|换成|改[\u4e00-\u9fff]|去了|入职|加入|报了|办了|开始"
)
ARRIVES = re.compile(  # tells of something that came
    r"\b(?:nun|jetzt|inzwischen|mittlerweile|neuerdings|seither|seitdem|seit(?! (?:jeher|langem|ewig\w*|immer|jahren))|ab (?:dem|der|sofort|morgen|nächste\w*|\d|\w+(?:tag|uar|ember|ober|ust|ril|uni|uli|ärz|mai)\b)|ab|künftig|fortan|"
    r"stattdessen|dafür|für (?:ihn|sie|es)|stelle|ersatz|nachfolger\w*|entschieden|wurde|geworden|grad|gerade|endlich|gefeiert wird|demnächst|neue[rsnm]?|übernimmt|übernommen|zieht|eingezogen|angefangen|getreten|gerückt|trat|rückte|nahm|"
    r"(?:diesem|kommendem) (?:jahr|monat|herbst|winter|sommer|semester)|diese (?:saison|woche)|ahora|desde|a partir de|en su lugar|ya|nuev[oa]s?|este (?:año|mes)|hoy en día|me he (?:hecho|agenciado|pasado|comprado)|sustitut[oa]|relevo|ocup[aó]|manda|toca|fichado|fiché|hoy por hoy|hoy en día|será)\b"
)
_STANDS_IN = re.compile(
    r"\bfür (?:ihn|sie|es) (?:hat|haben|kommt|kam|ist|übernimmt|springt|spielt|macht)\b|\bstattdessen\b|\ban (?:seine|ihre|deren|dessen) (?:stelle|statt)\b|\bals ersatz\b|\bnachfolger(?:in)?\b|\ben su (?:lugar|puesto|sitio)\b|\bel relevo\b|\bocup\w+ (?:\w+ )?(?:su|el) (?:lugar|puesto|sitio)\b|\b(?:tomó|ha tomado|toma|cogió) (?:el|su) (?:relevo|lugar|sitio|puesto)\b|\b(?:l[oae]s?|me l[oae]) (?:sucedió|sucede|reemplaz\w+|sustituy\w+|relev\w+)\b|"
    r"\b(?:an|in) (?:seine[nm]?|ihre[nm]?|deren|dessen) (?:stelle|platz|statt)\b|\b(?:seinen|ihren|dessen|deren) (?:platz|job|part) (?:\w+ ){0,3}(?:ein|eingenommen|übernommen|hat)\b|\b(?:folgte|folgt) (?:ihm|ihr)\b|\blöste? (?:ihn|sie|es) .{0,20}\bab\b|\bnachgerückt\b"
)
JUDGED = re.compile(  # why it was given up
    r"\b(?:war|wurde|waren|wurden) (?:mir|uns) (?:\w+ )?zu \w+|\bwar (?:nix|nichts|mist|murks|ein reinfall|eine katastrophe|rausgeschmissen\w*)\b|\bnervte?n?\b|\bstürzt\w* .{0,20}\bab\b|"
    r"\bhat(?:te)? (?:mir |uns )?(?:nix|nichts|wenig|kaum was) (?:gebracht|geholfen|getaugt)\b|\bhat (?:mir |uns )?nicht geholfen\b|\bbringt (?:mir )?nichts\b|\bno (?:me |nos )?(?:sirvió|funcionó|servía|ayudó|valía|iba)\b|"
    r"\bhat (?:mich|uns) (?:versetzt|im stich gelassen|abgelehnt|enttäuscht|vergrault)\b|\bkommt nicht wieder\b|\b(?:nos|me) (?:falló|dejó tirad\w+|plantó|defraudó|decepcionó)\b|"
    r"\bera (?:un |una )?(?:caos|desastre|rollo|timo|horror|pesadilla)\b|\bno me (?:convenc|gust)\w+|\bme (?:hart|cans)(?:ó|aba|é)\b|\bse (?:cuelga|colgaba|cae|caía)\b|\bde precio\b|\bdemasiado car[oa]\b|\b(?:me|nos) (?:quedó|quedaba|queda|venía|resultaba) (?:muy |demasiado |ya )?(?:chic[oa]|pequeñ[oa]|grande|lejos|car[oa]|cort[oa])\b|\b(?:me|nos|le|les) (?:daba|sentaba|provocaba|producía|caía|hacía) \w+|\bcobraba\b|\bun ojo de la cara\b|\bwurd\w* .{0,25}(?:nicht )?warm\b|\b(?:bekam|vertrug|verträgt) .{0,15}(?:nicht|schlecht)\b|\bsubi(?:ó|eron) (?:la|el|los|las)\b"
)
_BELONGS = re.compile(
    r"\b(?:der|die|das|el|la|los|las|mein\w*|unser\w*|mi|nuestr\w)\s+\w+\s+(?:vo[nm]|del?)(?:\s+(?:der|la|los|las))?\s*$"
)
_THEREFORE = re.compile(
    r"\W*(?:así que|por eso|de modo que|por lo que|conque|deshalb|daher|drum|darum|weshalb|also|und so|y así)\b"
)
GOES_ON = re.compile(
    r"\b(?:auch|weiterhin|noch|bleib\w*|behalte?|nach wie vor|zusätzlich|neben|außerdem|zum glück|sigue|sigo|seguimos|todavía|aún|también|además|junto|gracias)\b"
)
_MEANWHILE = re.compile(
    r"\b(?:so ?lange?|derweil|vorerst|vorübergehend|ersatzweise|einstweilen|übergangsweise|bis dahin|leihweise|werkstatt|reparatur|de momento|mientras|por ahora|provisional\w*|hasta que|unos días|taller|prestad[oa]|alquilad[oa] unos)\b"
)
_FEW = 2  # texts that hold a value given once, and its fact
_ONLY = re.compile(r"\bnur noch\b")
_FRESH_DE = re.compile(
    r"(?:\b(?:bei|beim|von|vom|nach|in|im|ins|zu|zum|zur|aus|mit|für|auf|über|per|via|an|am|ein|eine|einen|einem|einer|der|die|das|den|dem|herr|herrn|frau|dr.|dr|heißt|namens|nun|jetzt|ist|wurde|mir|ich|wir|gewisse[rn]?|gewissen)) $"
)
_TIME = re.compile(
    r"(?:\w*(?:tag|woche|monat|jahr|abend|morgen|nacht|mittag|wochenende|stunde|zeit|sommer|winter|herbst|frühling|frühjahr|ersten?|letzten?)e?[sn]?|"
    r"januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|mittwoch)$"
)
_TELLING_VERBS = word_set(
    "nutze benutze nutzen nehme esse trinke spiele lerne lese gehe fahre arbeite wohne sammle koche male singe tanze schwimme laufe schaue höre sehe backe "
    "trage schreibe uso usar tomo toco hablo vivo trabajo estudio leo veo escucho pago compro bebo conduzco monto practico entreno calzo canto bailo corro nado desayuno ceno"
)
_SPEAKS_OF = tuple(  # what one does at or with things of the same sort
    re.compile(pattern)
    for pattern in (
        r"(?:wohn|leb(?:e|en|t)?$|zuhause|daheim|viv|resid|piso$|mudanza)",
        r"(?:ein)?k[aä]uf|shopp|besorg|compr",
        r"arbeit|job$|stelle$|trabaj|curr[oa]|empleo",
        r"train|fitness|studio|entren|gimnasio",
        r"hör|musik|podcast|escuch|oigo|oír|música",
        r"fahr|auto|wagen|pendle|conduz|manej|coche|carro",
        r"bank|konto|girokonto|banco|cuenta",
        r"friseur|haare?|frisör|pelo|peluquer",
        r"arzt|ärztin|praxis|haus?arzt|médic|doctor",
        r"schul|klasse|lehrer|unterricht|nachhilfe|col(?:e|egio)$|clase|maestr|profe",
        r"urlaub|ferien|reise|vacacion|verane",
        r"strom|gas$|energie|luz$|electricidad",
        r"kita|kindergarten|krippe|guarder",
        r"notiz|notier|nota|apunt",
    )
)
_ALIKE = 5  # letters that a word and a compound with it start with
_OPENING = "«\"„“'《"
_HAPPENS_IN = re.compile(  # "in X my café has closed"
    r"(?:in|auf|an) \w+ (?:hat|haben|ist|sind|wird) (?:mein|unser|de[rn]|die|das|eine?)e? "
)
_LONGER = 40  # words where a place is said to be taken
_LONG = 30  # words; a correction or a switch is told in fewer
_CHANGES_ITS_OWN = re.compile(  # "Tamara has changed her number"
    r" (?:сменил|поменял|изменил)[аи]? (?:свой |свою |свое )?(?:номер|телефон|фамили|им[яе]|адрес|работ|причес|машин|график|расписани|тариф|парол|цвет|почт|аватар|кабинет|зал|время|день|план)"
)
_MOVED_HAN = re.compile(  # within the house, and what a group has new
    r"(?:我)?(?:搬|挪|移)(?:到|去|进|回)了?[^，。]{0,4}(?:阳台|客厅|卧室|书房|楼上|楼下|地下室|车库|院子|门口|角落|储物间|房间|里屋|厨房|屋里|柜子|窗边)|(?:[^，。]{0,2})(?:换|改|来)了(?:一?[个位本套首])?新(?!的?家|的$)[^，。]{1,4}(?=$|[，。！])"
)
_ASKED_OF_YOU = re.compile(r"\b(?:can|could|would) you\b|\b(?:kannst|könntest) du\b|\bpuedes\b|\bможешь\b")
_FROM = re.compile(r"(?:\b(?:from|de|del|von|vom|из|с|со)\s+(?:\w+\s+){0,2}|从)$")
_TOWARDS = re.compile(
    r"[,\s]*(?:hin )?(?:\w+ )?(?:(?:to|into|a|al|auf|zu|zur|zum|nach|in|на|в|к)\b|\w*(?:换|改|搬|转|跳|迁|调|升|投|切|跨|过渡|拉|挪|运|拖|移|奔|赶|跑|投|飞|溜))"
)
_TOOK_ITS_PLACE = re.compile(
    r"\b(?:switched|moved|changed|upgraded|migrated|defected|graduated|converted|downgraded|jumped|went (?:over|across|back))(?: \w+){0,2} (?:over |on |up |across )?to (?!bed\b|sleep\b|work\b|school\b|the (?:doctor|shop|park|gym|vet)\b)"
    r"|\b(?:replaced|swapped|traded|exchanged|upgraded|changed) (?:it|them|her|him|that|those)(?: \w+)? (?:with|for|to|by)\b"
    r"|\b(?:bought|got|ordered|chose|picked|joined|have|use|using|went with|settled on|opted for|ended up with|landed on|drive|driving)\b.{1,40}\binstead\b"
    r"|\binstead,? (?:i|we)(?:'ve|'m)?\b"
    r"|\b(?:it's|it is) (?!been\b|not\b|so\b|too\b|all\b|just\b)\w+(?: \w+)?(?: for (?:me|us|him|her))?,? (?:now|from now on|these days|instead|from here on|nowadays)\b"
)
_FAILS = re.compile(
    r"\b(?:couldn't|can't|wouldn't|won't|wasn't|didn't|kept|keeps|double-?booked|let (?:us|me) down|broke|died|failed|useless|hopeless|rubbish|lost|cancel\w*|too (?:expensive|far|slow|dear|small|big|much|pricey)|"
    r"ill|sick|quit|left|retire[ds]?|pulled out|dropped out|never|no-show|messed|ripped|raised|prices?|enough|shut|clos(?:ed|ing)|fired|sacked|mad|nerves|crash\w*|hurt|injur\w*|moved|gone|folded|bust|full|fell through|"
    r"stopped|unavailable|disappeared|vanished|ghosted|stood us up|did (?:his|her) back in|broken|packed up|leav(?:es|ing)|pregnant|on leave|maternity|paternity|overpriced|awful|terrible|worse|worst|rude|late)\b"
)
_STEPS_IN = re.compile(
    r"\b(?:settled in at|(?:is|are|'s|'re|'m|am) (?:now )?(?:at|with|in|on|doing|taking|running|coming|teaching|looking after|going)|will be|(?:is |are )?going to|take[ns]? over|taking over|took over|"
    r"step(?:s|ped|ping) in|stands? in for good|came to the rescue|moved (?:her|him|them|it|us|over|on)? ?to|joined|signed up (?:with|for)|found|hired|booked|has agreed|agreed to|does it now|we've got|i've got|now)\b"
)
_UNSURE = re.compile(
    r"\b(?:if|might|maybe|perhaps|could|would|should|until|for now|temporarily|for the time being|meanwhile|in the meantime|this week|today|tonight|wonder|hope|hopefully)\b"
)
NOW_ON = re.compile(
    r"\b(?:now|nowadays|instead|these days|from (?:now|here|today|then) on(?:wards)?|going forward|since then|ever since|henceforth|in (?:its|his|her|their) place|took over|takes over|taking over|as of|gone to)\b"
)
_IS_NOW = re.compile(
    r"(?:'s|s)?(?: (?:is|are|was|were|has been|have been|got|has become|became|turned into|goes by|go by))?(?: (?:officially|actually|basically|since|just))*"
    r" (?:now|renamed|rebranded|rechristened|called|known as|replaced|succeeded|became|turned into|has become)\b"
)
_SO_JOINED = re.compile(
    r"\b(?:so|and|hence) (?:then )?(?:i|we)(?:'ve|'re|'m| have| are| am)?(?: \w+)? (?:signed up|registered|joined|gone|went|switched|moved|chose|chosen|picked|hired|booked|found|got|enrolled|bought)\b"
)
_TAKEN = re.compile(
    r"\b(?:signed up|registered|joined|switched|moved|enrolled|gone|went) (?:over )?(?:with|to|for|at)\b|\b(?:i|we|he|she|they|it|mine|ours)(?:'m|'re|'s| am| are| is| go| use| drive| take| have)(?: \w+)? (?:with|at|on|in|to|by|a|an|using|over to)\b|\bgone to\b|\bt(?:ook|akes|aking) over\b|\bin (?:his|her|their|its) place\b"
)
OPENERS = word_set(
    """ever since because after as when now that the my our old and but so well ok okay oh right yes no sadly luckily
    turns out poor dear good ol' this finally honestly basically guess what apparently unfortunately then until"""
)
_OWN_AGAIN = re.compile(r"\b(?:again|back (?:to|with|on|in|at))\b")
_EDITS = re.compile(
    r"(?:\W|please |just |also |then |now |and )*(?:replace|swap|change|exchange|substitute) (?:the|this|that|these|those|all|any|some)\b"
)  # a text at work
_INSTEAD = re.compile(
    r"(?:instead of|in (?:the )?place of|in lieu of|rather than|statt|anstatt|anstelle|an stelle|(?:an|in) (?:die stelle|den platz) (?:vo[nm]|de[sr]|meine\w*)|en vez del?|en lugar del?|вместо|взамен|на смену|на замену|(?:на )?место|不[吃喝用])\s*(?:(?:the|my|our|an?) )?(?:\w+\s)?(?:de[rmn]\s)?$"
)


_BESIDES = re.compile(
    r"\b(?:besides|apart from|aside from|as well as|on top of|in addition to|además del?|aparte del?|junto (?:a|con)|neben|außer|zusätzlich zu[rm]?|кроме|помимо|наряду с|вдобавок к)"
    r"(?: (?:the|my|our|mis?|el|la|los|las|nuestr[oa]s?|de[rmn]|die|das|mein\w*|unser\w*|мо\w+|наш\w*))?\s*$|(?:除了|除开)$"
)
_OF_WHAT = re.compile(r"\b(?!lugar\b|vez\b|del\b)[a-záéíóúñ]{3,} de(?:l| la| los| las)? $")
_SOLD_OUT = re.compile(r"\b(?:run|ran|running|sold|clean) out of $")  # a shop, or one's cupboard
_OUT_OF = re.compile(r"\bfrom (?:(?:my|our|the|a|an|old) )*$")
_TO_ANOTHER = re.compile(
    r"^[^,;]{0,40}?(?: (?:over )?(?:to|onto|into) (?!(?:be|get|save|buy|make|do|see|have|use|help|find|try|go|keep|my|me)\b)|→|->)"
)
_DOING = re.compile(r"[a-z]{3,}ing")


class Switches(Scan):
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

    def _is_slot_han(self, mention: Mention) -> bool:
        """Whether a Chinese word is what something was told of, and is set anew ("the wedding is in X", "… moved to Y")."""
        slot = re.compile(
            re.escape(flat(mention.surface)) + r"(?:[定订约安选改放设]+(?:在|到|了|为)|(?:时间|地点|日期)?[是在为])"
        )
        return mention.rank < VALUE and any(slot.search(flat(text)) for text in mention.said)

    def _tells_switch(self, sentence: Sentence) -> bool:
        if self._lexicon.code == "en" and MISHAP.search(sentence.flat):
            return False  # "left X on the train"
        return any(p.search(sentence.flat) for p in (self._lexicon.switch, NOW, ARRIVES))

    def _marks(self, before: str, after: str, clause: Clause) -> bool:
        """Whether the words around a value give it up, and not only say whose something is ("the training of Jonas is now in …")."""
        if _BESIDES.search(before) or _SOLD_OUT.search(before):
            return False
        if _BELONGS.search(before) and not self._lexicon.switch.search(clause.flat):
            return False
        if self._lexicon.code == "es" and _OF_WHAT.search(before) and _only_now(clause, self._lexicon.switch):
            return False  # "now in my fifth year of X"
        if _OUT_OF.search(before) and not (self._lexicon.switch.search(clause.flat) or _TO_ANOTHER.search(after)):
            return False  # "a coupon from X to save money, and now I wonder"
        return (self._lexicon.source.search(before) or self._lexicon.source_after.search(after)) is not None

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

    def _goes_on(self, mention: Mention, text: str) -> bool:
        """Whether what was told of a value is what a text tells of: a word beside the value is said again."""
        own = {word.text for word in words(mention.surface)}
        ours = [word.text for word in words(text) if word.text not in self._lexicon.stop]
        told = [word.text for said in mention.said for word in words(said)]
        told = [word for word in told if word not in self._lexicon.stop and word not in own]
        return any(same_word(word, other) for word in ours for other in told)

    def _steps_in(self, before: Sentence, sentence: Sentence, old: Mention) -> bool:
        """Whether somebody or something new steps in for what let the speaker down in the sentence before."""
        fresh = [name for name in names_in(". " + sentence.text) if not self._heard.holds(name)]
        clause = self._clause_at(before, old)
        fails = _FAILS.search(clause.flat, old.end - clause.start) or _FAILS.search(before.flat, old.end - before.start)
        is_sure = not _UNSURE.search(sentence.flat) and not self._is_hedged(before, clause)
        return bool(fresh) and fails is not None and is_sure and _STEPS_IN.search(sentence.flat) is not None

    def _is_exchange(self, mention: Mention, after: str) -> bool:
        """Whether something comes in place of a common word; a name needs no such proof."""
        if not self._is_personal(mention) or _CHANGES_ITS_OWN.match(after) or _MOVED_HAN.match(after):
            return False
        if self._lexicon.code == "zh" and self._is_slot_han(mention):
            return False
        before = self._reading.text[: mention.start].lower()
        given_up = _INSTEAD.search(before) is not None
        if given_up and mention.rank < VALUE and _DOING.fullmatch(mention.surface):
            return False  # "to listen rather than worrying about"
        if mention.rank < NAME and not given_up and _FROM.search(before):
            return _TOWARDS.match(after) is not None
        return (
            given_up
            or mention.rank >= NAME
            or after.lstrip().startswith(("→", "->"))
            or self._lexicon.target.search(after) is not None
        )

    def _is_set_against(self, mention: Mention, sentence: Sentence) -> bool:
        """Whether a value of the speaker's stands right behind an "instead of"."""
        before = sentence.flat[: mention.start - sentence.start]
        found = self._lexicon.code in ("de", "es") and _INSTEAD.search(before) is not None
        return found and len(mention.said) <= _FEW and self._is_personal(mention)

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

    def _also_said(self, sentence: Sentence, mention: Mention) -> list[str]:
        """Return the words of the other clauses."""
        clause = self._clause_at(sentence, mention)
        idle = self._lexicon.generic | self._lexicon.stop
        found = [w.text for other in sentence.clauses if other is not clause for w in words(other.flat)]
        return [word for word in found if word not in idle]

    def _frame(self, mention: Mention) -> list[str]:
        """Return the telling words of the clauses in which the value was said before."""
        inside = {word.text for word in words(mention.surface)}
        telling: list[str] = []
        for text in mention.said:
            for near in read_as(text, self._lexicon).sentences:
                found = [word.text for word in near.words]
                if any(akin(word, other) for word in found for other in inside):
                    idle = self._lexicon.stop - _TELLING_VERBS
                    telling += [w for w in found if w not in inside and w not in idle and len(w) > 2]
        return telling

    def _fresh(self, clause: Clause) -> list[str]:
        """Return the names of a clause that the user never said; of German nouns those that stand like a name."""
        text = self._reading.text[clause.start : clause.end]
        if self._lexicon.code != "de":
            return [name for name in names_in(". " + text) if not self._heard.holds(name)]
        return [
            word.text
            for word in words(text)
            if text[word.start].isupper()
            and word.text not in self._lexicon.generic
            and word.text not in self._lexicon.stop
            and not _TIME.match(word.text)
            and _FRESH_DE.search(" " + flat(text[: word.start]))
            and not self._heard.holds(word.text)
        ]


def _only_now(clause: Clause, switch: re.Pattern[str]) -> bool:
    """Whether all that speaks of a change in a clause is a "now"."""
    return {match[0] for match in switch.finditer(clause.flat)} == {"ahora"}


def akin(word: str, other: str) -> bool:
    """Whether two words are forms of one another, start alike as a compound and its first part do, or speak of the same."""
    if same_word(word, other) or (len(word) > _ALIKE and len(other) > _ALIKE and word[:_ALIKE] == other[:_ALIKE]):
        return True
    return any(speaks.match(word) and speaks.match(other) for speaks in _SPEAKS_OF)
