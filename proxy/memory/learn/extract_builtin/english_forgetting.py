"""Reads the many ways in which English speakers ask to forget: what is to go, from where, and that it is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proxy.memory.learn.extract_builtin.facts import stated_in
from proxy.memory.learn.extract_builtin.lazy import lazy
from proxy.memory.learn.extract_builtin.lexicon import Lexicon

_STORE = lazy(  # where the assistant has it
    r"\b(?:what|everything|anything|all|whatever|things?|bits?|stuff|details?|facts?) (?:that )?(?:you|u)(?:'ve| have)? (?:\w+ )?(?:know|remember)\b|"
    r"\b(?:your|ur|the|its?) (?:\w+ )?(?:memory|memories|memory banks?|notes?|notebook|records?|files?|head|brain|mind|data|database|databanks?|logs?|system|storage|archives?|books|history|knowledge|recall|recollections?|remembrance|consciousness|awareness|vault|profile|cache|servers?|circuits|hard drive|stash|ledger|dossier|service|app|chat|account|bot|thread|conversations?)\b|\bin here\b|\b(?:out of|outta) here\b|\bthis (?:service|app|chat|account|bot|thread|place|machine|system|assistant|tool)\b"
    r"|\b(?:you|u|ya)(?:'ve| have| had)? (?:\w+ )?(?:got|have (?:about|on|of|stored|noted|saved|down|there)|stored|saved|noted|kept|(?:know|remember) (?:about|of)|recorded|hold|logged|collected|learned|picked up|written down|filed|retained|been told|stashed)\b"
    r"|\b(?:on|off) (?:file|record|the books)\b|\bwhat(?:ever)? i(?:'ve)? (?:told|said|shared|mentioned|wrote)\b|\bmy (?:profile|file|records?|data|saved info|saved facts)\b|\bmemory\b"
)
_GOES = lazy(  # it is to be gone
    r"\b(?:vanish\w*|disappear\w*|evaporat\w*|dissolv\w*|gone|gone for good|eras\w*|delet\w*|remov\w*|forgot\w*|forget\w*|wip\w*|clear(?:ed|ing)|clear (?:out|away|up|my|the|that|this|it|all|any|everything)|drop\w*|purg\w*|expung\w*|struck|strik\w+|scrub\w*|scrap(?:ped)?|scratch\w*|"
    r"rid|los(?:e|ing)|shred\w*|burn\w*|bin(?:ned)?|trash\w*|blot\w*|redact\w*|obliterat\w*|destroy\w*|discard\w*|unlearn\w*|unsav\w*|unremember\w*|unknow\w*|clean\w*|tak(?:e|en|ing) (?:\w+ ){0,4}(?:out|off|down|away)|taken|pull(?:ed)? (?:\w+ ){0,4}(?:out|off|from)|"
    r"withdraw\w*|retract\w*|revok\w*|kick(?:ed)? (?:\w+ ){0,4}out|chuck(?:ed)? (?:\w+ ){0,4}out|throw\w* (?:\w+ ){0,4}(?:out|away)|get (?:\w+ ){0,4}out|come (?:out|off)|leave|exit|zap\w*|nuk\w*|ditch\w*|flush\w*|dump\w*|rub\w* out|black\w* out|amnesia)\b"
    r"|\b(?:has|have|needs?|ought|got|wants?) (?:\w+ )?to (?:go|come out|come off)\b|\b(?:must|should|can|may|could|please|pls) (?:please )?(?:go|come out|come off)\b|\bgo away\b|\bout of (?:there|it|your|ur|the)\b"
)
_NOT_KEPT = lazy(
    r"\b(?:weren't|wasn't|isn't|aren't) (?:\w+ )?(?:in|on|part of|among)\b|"
    r"(?:n't|\b(?:not|never|no longer|stop|without|nothing|no|none|isn't|shouldn't|don't|rather you|refrain from|avoid|quit)) (?:\w+ ){0,5}?(?:be (?:in|on|part|among|anywhere)|learn\w*|heard?|hear|seen|told|read|keep\w*|kept|stor\w*|sav\w*|remember\w*|record\w*|retain\w*|not(?:e|ed|ing)|hold\w*|held|stay\w*|remain\w*|pop(?:ping)? up|turn(?:ing)? up|show(?:ing)? up|com(?:e|ing) up|appear\w*|crop(?:ping)? up|linger\w*|surviv\w*|exist\w*|float\w*|lurk\w*|circulat\w*|mention(?:ed|s)?|liv(?:e|ing)|sit(?:ting)?|stick(?:ing)?|hang(?:ing)?|l[iy](?:e|ing) (?:around|about|there)|kick(?:ing)? around|on file|on record|known?|log(?:ged)?|trace)\b"
)
_ASKED = lazy(
    r"\b(?:please|pls|plz|kindly|could|can|may|might|would|will|shall|must|should|shouldn't|has to|have to|needs? to|need|ought to|got to|gotta|let's|let|make|is there (?:a|any) way|is it possible|any (?:chance|way)|deal|better|time (?:to|for|that|you)|"
    r"i(?:'d| would)|i (?:don't|do not|won't|can't|wouldn't|never|really don't) (?:want|like|need|have|wish)|i (?:want|wish|insist|demand|ask|request|expect|withdraw|exercise|revoke|beg|prefer|hereby|no longer)|i'm (?:asking|requesting|exercising|invoking|withdrawing|revoking))\b"
    r"|(?:^|[,;:.!] ?|\b(?:and|so|then|just|ok|okay|now|go|actually|oh|also) )(?:eras\w*|delete|remove|forget|wipe|clear|drop|purge|expunge|strike|scrub|scratch|scrap|lose|shred|burn|bin|trash|blot|redact|discard|unlearn|clean|take|pull|kick|chuck|throw|get|zap|nuke|ditch|flush|dump|don't|do not|stop|never|no|nothing)\b"
)
_PLAIN = lazy(  # names no store
    r"\b(?:delete|remove|erase|wipe|drop|scrub|lose|bin) .{1,50}\b(?:(?:didn't|did not|never) (?:\w+ )?(?:mean|meant|intend\w*|want\w*) to|shouldn't have|should not have|wasn't supposed to|was never meant to) (?:be )?(?:share|say|tell|write|type|send|paste|mention|post|give|shared|said|told|written|typed|sent|pasted|mentioned|posted|given)\b|"
    r"\bi(?:'d| would)? (?:like|love|prefer|want|appreciate|need) .{1,60}\b(?:purged|erased|deleted|wiped|scrubbed|forgotten|expunged|redacted|unlearned|unlearnt|struck)\b|"
    r"\b(?:see to it|make (?:very |absolutely )?sure|ensure|be sure|promise(?: me)?)\b.{0,80}\b(?:struck|stricken|erased|deleted|removed|forgotten|gone|wiped|dropped|purged|(?:not|never|doesn't|don't|isn't|aren't|won't) (?:be )?(?:\w+ )?(?:kept|stored|saved|live on|stay|survive|remain|linger|stick|appear|resurface|recorded|noted|come up|surface|leak))\b|"
    r"\b(?:treat|consider|regard|count) .{1,60}\b(?:as|like) .{0,30}\b(?:never|un\w+|not)\b|"
    r"\b(?:not|isn't|never|nothing|hardly) (?:really )?(?:something|anything|a thing|one|information|for|to be|meant to be|what) (?:\w+ ){0,6}?(?:kept|stored|saved|remembered|recorded|retained|logged|noted|held|on file|on record)\b|"
    r"\b(?:needs?|has|have|must|ought|should|got|wants?) (?:to )?(?:disappear|vanish|evaporate|be (?:forgotten|unsaid|unlearned|unlearnt|scrubbed|struck))\b|\b(?:get|keep) .{1,40} outta here\b|\bi'd be (?:\w+ )?(?:obliged|grateful|thankful) if .{1,50}\b(?:struck|stricken|erased|deleted|removed|forgotten|dropped|gone|wiped)\b|"
    r"\b(?:wipe|erase|delete|forget|scrub|purge|bin|lose|nuke|zap|shred|unperson) (?:her|him)\b(?=\W*$|\W+(?:please|pls|ok|okay|thanks|forever|for good|now|so|and|from|out|completely|entirely))|"
    r"\b(?:kindly|please|pls|hold|keep|have|retain|make|leave|let there be|there be|i want|i'd like) (?:\w+ )?no (?:record|trace|memory|note|mention|recollection|knowledge) (?:of|about|on|remain\w*|kept|left)\b|\b(?:would|'d) (?:rather|prefer|like) (?:that )?no (?:record|trace|memory|note|mention|recollection|sign)\b|\bnowhere in (?:what|your|anything)\b|"
    r"\bright (?:to|of) (?:erasure|deletion|be forgotten|oblivion)\b|\b(?:gdpr|dsgvo|erasure|deletion|removal) (?:request|order|please)\b|\brequest(?:ing)? (?:the )?(?:erasure|deletion|removal) of\b|"
    r"\bnever (?:happened|existed|took place|came up|got said|left my lips)\W+(?:ok|okay|right|deal|got it|please|agreed|yeah|alright|understood|capisce|thanks)\b|"
    r"\b(?:confession|thing|bit|part|story|business|conversation|chat|message|comment|remark|admission|slip|outburst|rant|revelation|detail)\b.{0,50}\bnever (?:happened|existed|came up|took place)\b|"
    r"\b(?:stays|stay|remains|is|was|that's) (?:strictly )?(?:just )?between (?:us|you and me|me and (?:my|the)|the two of us)\b.{0,60}\b(?:don't|not|never|no)\b|"
    r"\bnot another word (?:about|on|of)\b|\bno more (?:mention|talk) of\b|\bi'd (?:rather|prefer) (?:it )?(?:if )?(?:nobody|no one|noone) (?:knew|know|found out|had)\b|\bunhear\b|\bunread\b(?= (?:that|it|what|the|my))|"
    r"\b(?:you|u) (?:didn't|never) (?:hear|get|learn|see|read) (?:that|it|this|anything|about)\b|\bi (?:never|didn't) (?:say|tell you|told you|said|mention(?:ed)?|bring up|brought up) (?:a word |anything )?(?:about |of |on )?\w.{0,60}\b(?:ok|okay|right|deal|got it|please|agreed|yeah|alright|understood)\b|"
    r"\bstrike (?:that|it|the|my)\b.{0,60}\b(?:please|pls|record|from)\b|\bi (?:take|took) (?:it|that|this) (?:all )?back\b(?= *(?:$|[,.!]|please))|\bit (?:slipped|came) out\b.{0,60}\b(?:delete|forget|erase|remove|wipe|drop|lose|don't|not)\b"
)
_KEEP_IT = lazy(
    r"\b(?:don't|do not|never|not|won't|didn't|can't|without|nor|please don't) (?:\w+ ){0,2}?(?:los(?:e|ing)|delet(?:e|ing)|eras(?:e|ing)|forget(?:ting)?|drop(?:ping)?|remov(?:e|ing)|wip(?:e|ing)|clear(?:ing)?|discard(?:ing)?)\b"
    r"|\bhow (?:do|can|to|would|does|did)\b|\b(?:did|do|have|had|why|how|when|has) (?:you|u|i|we)\b.{0,12}\b(?:forg\w+|lost|delet\w+|remov\w+|eras\w+|dropp?\w*)\b|\b(?:i|we|he|she|they) (?:\w+ )?(?:forgot|lost|deleted|removed|erased|forget|can't remember|don't remember)\b"
    r"|\b(?:keep|bear|have) (?:\w+ )?in mind\b|\bnote (?:that|down|it)\b|\b(?:add|save|put|write|store|log|record) (?:\w+ ){1,5}?(?:in|into|to|on|down)\b|\bfor (?:your|the) (?:records?|notes?|files?)\b"
)
_ATTRIBUTES = (  # what somebody names who does not say it again
    (("age",), lazy(r"\bhow old i am\b|\bmy (?:real |actual )?age\b|\bwhen i was born\b")),
    (("weight",), lazy(r"\bhow (?:much|heavy) i (?:weigh|am)\b|\bmy weight\b|\bwhat i weigh\b")),
    (("height",), lazy(r"\bhow (?:tall|short) i am\b|\bmy height\b")),
    (
        ("live in", "address"),
        lazy(r"\bwhere (?:i|we) live\b|\bmy (?:home )?(?:address|whereabouts|location|town|city|street)\b"),
    ),
    (
        ("profession", "employer"),
        lazy(
            r"\bwhere i work\b|\bwhat i do for a living\b|\bmy (?:employer|job|profession|occupation|workplace)\b|\bwho i work for\b"
        ),
    ),
    (
        ("earn",),
        lazy(
            r"\b(?:how much|what) i (?:earn|make|get paid|bring home|take home)\b|\bmy (?:salary|income|pay|wages?|earnings)\b"
        ),
    ),
    (
        ("take", "allergic to", "have"),
        lazy(
            r"\bmy (?:medication|meds|prescription|pills|tablets|condition|diagnosis|illness|allerg\w+)\b|\bwhat i(?:'m)? (?:take|taking|on|suffer from|have got)\b"
        ),
    ),
    (("name",), lazy(r"\bmy (?:real |actual |full )?name\b|\bwhat i'm called\b|\bwho i am\b")),
)


def asks_to_erase(told: str) -> bool:
    """Whether a sentence, in lower case, asks the assistant to have something no longer."""
    if _KEEP_IT.search(told):
        return False
    if _PLAIN.search(told):
        return True
    if not _STORE.search(told) or not _ASKED.search(told):
        return False
    return (_GOES.search(told) or _NOT_KEPT.search(told)) is not None


def values_meant(told: str, earlier: Sequence[str], lexicon: Lexicon) -> Iterator[str]:
    """Yield the values said before of what a sentence only names ("how old I am")."""
    meant = {relation for relations, named in _ATTRIBUTES if named.search(told) for relation in relations}
    for text in earlier if meant else ():
        for fact in stated_in(text, lexicon):
            if fact.statement.relation in meant and fact.subject == "user":
                yield fact.object
