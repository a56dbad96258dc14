"""What English clauses say of a value, read off the words right around it: that it is lost or over, or that it lasts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from proxy.memory.extract_builtin.lexicon import one_of
from proxy.memory.extract_builtin.mentions import NAME, NOUN, Mention
from proxy.memory.extract_builtin.namesakes import is_being
from proxy.memory.extract_builtin.reading import Clause, Sentence
from proxy.memory.extract_builtin.scan import Ending
from proxy.memory.extract_builtin.switches import OPENERS, Switches
from proxy.memory.words import flat, words

# "§" stands for the value. "The fox had §", "§ upped sticks", "my time at § is up".
_DET = r"(?:(?:the|my|our|that|this|his|her|its|poor|old|dear|little|darling|beloved|wretched|bloody|damn|stupid|all|of|last|\w+y) )*"
_AUX = r"(?:'s|'ve|'d|'re)?(?: (?:has|have|had|is|are|was|were|been|be|being|just|now|also|then|finally|sadly|already|officially|recently|gotten|got|both|up and|well and truly|\w+ly))*"
_KIND = r"(?:['’]s?)?(?: (?:app|apps|account|card|membership|subscription|contract|course|tablets?|pills?|plant|tree|bush|lot|thing|team|crowd|people|folks|site|class(?:es)?|lessons?|deal|policy|plan|habit|group))?"
_WHEN = r"(?:on|in|at|for|last|this|yesterday|today|tonight|overnight|outright|just|because|after|since|so|and|but|when|as|now|once|by|before|to|from|due|thanks|over|during|under|while|which|who|with|ages|months|weeks|years|early|earlier|one|two|three|\d+|down|off|out|up|away|too|there|then|back|along|completely|entirely|altogether|finally|also|of|\w+ly|\w+day)"
_STOP = rf"(?= *(?:$|[,.!;:–—-]|{_WHEN}\b))"
_AFTER = _KIND + _STOP
_US = r"(?:me|us|my \w+|our \w+|him|her)"
_DUMP = r"(?:compost|bin|tip|skip|dump|rubbish|trash|scrap\w*|bonfire|fire|charity|landfill|recycling|attic|loft|kitchen bin|dustbin|knacker'?s|scrapyard|breaker'?s|dog|cat|kids|spare|guest|shed|garage|cellar|basement|drawer|museum)"
_TAKER = (  # what takes a life, unasked
    r"(?:\w*fox(?:es)?|otters?|badgers?|weasels?|stoats?|ferrets?|minks?|\w*hawks?|falcons?|kestrels?|harriers?|pikes?|sharks?|crocodiles?|pythons?|adders?|jackals?|dingo(?:es)?|pumas?|lions?|leopards?|crows?|ravens?|jackdaws?|jays?|cuckoos?|shrikes?|buzzards?|eagles?|owls?|kites?|herons?|gulls?|seagulls?|magpies?|wol(?:f|ves)|coyotes?|bears?|raccoons?|possums?|snakes?|rats?|mice|squirrels?|rabbits?|deer|moles?|slugs?|snails?|"
    r"caterpillars?|aphids?|greenfly|\w*mites?|vine weevils?|weevils?|beetles?|moths?|ants|locusts?|pests?|bugs|blight|mildew|mould|rust|rot|root rot|fungus|frosts?|cold|heat|heatwave|drought|sun|wind|gales?|storms?|hail|snow|floods?|hurricanes?|tornado|lightning|fire|salt|"
    r"dogs?|cats?|puppy|kitten|toddler|\w*pox|cancer|stroke|heart (?:attack|failure|disease)|old age|age|pneumonia|flu|virus|infection|kidney failure|seizure|disease|illness|leukaemia|lorry|truck|van|car|bus|train|tractor|postman|burglars?|thieves|thief)"
)
_LEAVE = r"(?:left|quit|leaving|resigned from|walked out (?:of|on)|ditched|dropped|dumped|stopped|cancelled|gave up|given up|packed in|jacked in|can't do|won't do|doesn't do|no longer does|is off|moved on from|moved out of|swapped|retired from|broke up with|divorced|fell out with|unsubscribed from|bailed on)"
_TIE = r"(?:contract|term|time|stint|gig|job|role|post|lease|tenancy|course|work|membership|subscription|season|days?|trial|run|deal|placement|tenure|spell|shifts?|chapter|agreement|position|seat|apprenticeship|internship|arrangement|affair|relationship|love affair|friendship|engagement|tour|policy|story|adventure|plan|lessons?|classes|sessions?|training|treatment|association|partnership|involvement)"
_OVER = r"(?:up|over|done|complete|completed|finished|ended|expired|lapsed|run out|ran out|not (?:\w+ )?(?:renewed|extended|continued|prolonged)|terminated|cancelled|axed|cut|behind \w+|at an end|history|dried up|fallen through|fell through|no more|closed|void)"

_POACHED = r"(?:poached|headhunted|lured|nabbed|snapped up|hired|recruited|tempted|stole|stolen|took|taken|moved|transferred|switched|weaned|converted) (?:me|us)(?: away| over)? (?:from|out of|off)"

_DENIED = one_of(  # frames that hold a negation of their own
    rf"§{_AUX} (?:no longer has|no longer had|doesn't have|hasn't got|hasn't|has no|have no|doesn't get|lost (?:its|his|her|their)) (?:a |its |his |her |their |got a |got any )?(?:place|home|spot|slot|space|room|business being|right to be)\b",
    rf"\b(?:i'm|we're|i am|we are|not) (?:not |no longer )(?!going to|sure|happy|talking about)\w+ing (?:at|for|with|in|to|on) {_DET}§['’]?(?= *(?:$|[,.!;]|(?:any ?more|now|these days|since|because|after|from)\b))|\b(?:can'?t|cannot|don'?t|ain'?t|won'?t|doesn'?t) (?:\w+ ){{0,3}}?{_DET}§ no more\b",
    r"§ (?:didn't|did not|couldn't|wouldn't|hasn't|has not|never|won't) (?:make (?:it\b|the (?:cut|grade|list|move|switch))|made (?:it\b|the (?:cut|grade|list|move))|pull(?:ed)? through|surviv\w+|last (?:the|past|beyond|long)|come (?:home|back|round)|came (?:home|back|round)|wake up|woke up|recover\w*)"
    r"(?! (?:in|for|on) (?:time|tonight|today|class|training|rehearsal))",
    rf"§ (?:don't|doesn't|do not|does not|didn't|won't) (?:want|need|require|have (?:any )?(?:work|use|room|need|hours|shifts) for) {_US}\b",
    rf"§(?:'s [\w-]+)?[^.;§]{{0,30}}?(?:, |and |\\. )?(?:he|she|they|it|§)? ?(?:won't|no longer|doesn't|don't|didn't|not) (?:be )?(?:need|want|requir)(?:ing|s|ed)? {_US}\b|§ (?:hasn't|haven't|has not|have not|didn't|won't|doesn't) (?:had|have|seen|see|got|get|gets|received?) (?:a |any |another |one )?(?:\w+ )?(?:penny|cent|dime|money|custom|business|look-?in|visit|order|farthing|pound|euro)\b",
    r"(?:not|n't|never|no longer|hardly) (?:\w+ ){0,2}?(?:bother(?:ing)?|bothered) (?:with|about) §(?! ?\w* ?(?:tonight|today|this))|\b(?:can't|cannot|couldn't) be (?:doing|bothered|arsed) with §|\bcouldn't get (?:into|on with|along with) §|§ (?:just |really )*(?:isn't|wasn't|stopped|doesn't|didn't) (?:really )?(?:doing|do) it for (?:me|us)\b",
    rf"\b(?:am|'m|are|'re|was|were) (?:not|no longer) (?:a |an |one of the )?(?:\w+ )?(?:with §|§ (?:customer|member|client|user|subscriber|reader|fan|person|patient|pupil|student|employee|supporter|girl|guy|woman|man))|\bnot a § (?:customer|member|client|user|subscriber)\b|\bno §{_KIND} (?:for me|for us|these days|in my life|in our)\b|\bno more §{_AFTER}|\bno more §$",
    r"\b(?:haven't|have not|didn't|did not|hasn't|won't be|not) (?:bother to |be )?(?:renew\w*|extend\w*|continu\w*|re-?up\w*|carry on|carried on|stick\w* (?:with|at)|go\w* back to|return\w* to|see\w*(?=.{1,20}any ?more)) (?:with |my |our |the )*§",
    rf"(?<!n't\s)(?<!not\s)(?<!never\s)\b(?:can|could|manage|managing|managed|cope|coping|get by|getting by|live|living|learnt to live|do|doing|done|i'm better|we're better|better off) (?:perfectly |just |quite )?(?:do |fine |well |happily |okay |off )*without {_DET}§{_AFTER}",
)
_PLAIN = one_of(  # a negation before them undoes these
    r"§ and (?:i|me|my [\w-]+|us|we)(?:'ve|'re| have| are| were|)(?: (?:\w+ly|now|both|all|mutually|just|finally))* (?:parted|gone (?:our|their|separate)|went (?:our|their)|split|divorced|separated|broken up|broke up|called it|drifted apart|fallen out|fell out|done|finished|through|history|over|no more|quits|strangers)\b",
    rf"§{_AUX} (?:shown|showed) the door|§{_AUX} (?:had|has had) (?:its|his|her|their) (?:day|chips|time)\b|§ (?:had|has had|has got) to (?:go|be (?:put|sold|let|given|rehomed|scrapped|shot|destroyed|cut|chopped|pulled|binned|returned|sent|handed|written|felled|dug|taken))\b(?! (?:to the (?:vet|doctor|dentist|hospital)|back to|home|and|in for))",
    rf"§{_AUX} (?:served (?:its|his|her|their) (?:time|purpose|turn)|run (?:its|his|her) course|met (?:its|his|her|their) (?:end|maker)|breathed (?:its|his|her) last|come to grief|gone west|gone south for good|found dead|flown the (?:nest|coop)|upped sticks|done a runner|scarpered|legged it|(?:run|ran) (?:away|off)(?! (?:from|with|after|to fetch|when))|cleared off|buggered off|sodded off|shoved off|packed up and left|walked out|taken off for good)\b",
    r"§(?:'s|'d| has| had)? (?:packed|cleared|emptied|gathered|collected|moved out|took|taken) (?:up |out )?(?:all )?(?:his|her|their) (?:\w+ )?(?:bags?|things?|stuff|cases?|suitcases?|boxes|room|desk|belongings|gear|kit|wardrobe)(?: (?:up|out))?(?= *(?:$|[,.!]| and (?:went|left|gone|off|moved|is|was|that)\b))",
    rf"§{_AUX} (?:gone|gone over|moved|passed) (?:to|over) the (?:\w+ )?(?:bridge|side|meadow|sky)\b|§{_AUX} (?:not |no longer )?off (?:the|my|our) (?:\w+ )?(?:phone|laptop|tablet|machine|computer|telly|tv|homescreen|home screen|radar|rota|list|books|menu|agenda|payroll|prescription|repeat|wall|wrist|feet|plate|patch|bench)\b",
    rf"§(?:{_AUX} |'s |\. |, ){{0,2}}?(?:ended up|finished up|landed|wound up|went|gone|is|'s|sits|lies|rots|lives|rotting|lying|sitting|demoted|relegated|consigned|banished|exiled|dispatched|headed|off|heading)(?: now)? (?:on|in|to|into|at|for) (?:the |a |my |our |his |her )?(?:\w+(?:'s)? )?{_DUMP}\b(?! (?:again|for|after|looking|to |with))",
    rf"§{_AUX} (?:asked|told|wanted|invited|forced|ordered|made) (?:me|us) to (?:leave|go|quit|resign|move out|clear|hand|find)|§{_AUX} (?:made|make|making) {_US} redundant|§{_AUX} (?:let|letting) {_US} go\b|§{_AUX} (?:dropped|ditched|axed|sacked|fired|dumped|released|ejected|expelled|excluded|banned|barred|evicted|replaced|binned|deselected|struck|threw|kicked|booted|turfed|chucked|slung|lost|got rid of|dispensed with|done with) {_US}\b(?! (?:a|an|some|off|at|in the|by)\b)",
    rf"§{_AUX} (?:pulled|cut|axed|slashed|withdrew|withdrawn|scrapped|stopped|ended|cancelled|terminated) (?:their|its|the|my|our) (?:\w+ )?(?:budget|funding|contract|project|work|hours|shifts|order|orders|account|plug|agreement|scholarship|grant)\b",
    rf"§{_AUX} (?:gone|went|going|picked|chose|chosen|hired|found|replaced me with) (?:with |for )?(?:somebody|someone|another \w+ instead|a (?:younger|cheaper|different|bigger))\b",
    rf"\b(?:my|our|the) (?:\w+ ){{0,2}}?{_TIE}(?: (?:working|playing|teaching|volunteering|as a \w+))? (?:at|with|for|on|of|in|and) {_DET}§{_KIND}(?:'s|(?: (?:is|was|has|have|are|were|came|got|has been|have been|had|been|finally|now|officially|'s))+) (?:all |well |now |to (?:a|an|its|the) (?:\w+ )?)?(?:{_OVER}|end|close|conclusion|finish)\b",
    rf"\b(?:my|our|the) (?:\w+ )?{_TIE} (?:at|with|for|on|of|in) {_DET}§{_KIND} (?:dried up|ended|fell through|finished|expired|lapsed|ran out|died|fizzled|collapsed|went)\b",
    rf"(?<![\w'])(?:am|i'm|we're|gone|going|been|are|and|,|^) ?§[- ]free\b|\b(?:am|i'm|we're|are|been|was|got|feel|finally|now|at last) (?:\w+ )?(?:shot|free|cured|rid|clean|clear|quit|divorced|released|discharged|excused|relieved|estranged) (?:of|from) {_DET}§{_AFTER}",
    rf"\b(?:wrapped (?:things |it |everything )?up|wrapping up|finished(?: up| off)?|worked my last \w+|clocked (?:out|off)|handed in my \w+|turned in my \w+|signed off|stood down|stepped down|all done|done) (?:at|from|with) {_DET}§{_AFTER}|\b(?:been|was|were|got|get|am|i'm|is|are) (?:\w+ly )?(?:made redundant|laid off|sacked|fired|axed|let go|dropped|dumped|ditched|released|kicked out|booted|booted out|expelled|thrown out|turfed out|banned|barred|dispensed with|discharged|signed off|removed|excluded|evicted) (?:at|from|by) {_DET}§{_AFTER}",
    rf"\b{_POACHED} {_DET}§|\b(?:upped sticks|uprooted|relocated|decamped|defected|jumped ship|crossed over|gone over|went over|switched allegiance) from {_DET}§|§{_AUX} (?:laid|let|made|paid|kicked|turfed|chucked) (?:me|us|all of us)(?: all| both)? (?:off|go|redundant|out)\b|\b(?:wrote|written|write) off {_DET}§|\b(?:shut|shutting|closed|closing|demolished|demolishing|bulldozed|bulldozing|knocked down|pulled down|condemned|sold off) {_DET}§{_KIND} (?:for (?:good|redevelopment|housing|flats)|to (?:build|make)|permanently|forever)\b",
    rf"\b(?:my|our|the|^\W*|had (?:my|our)|did (?:my|our)) ?(?:very )?last (?:day|shift|set|gig|class|lesson|session|rehearsal|game|match|column|clean|show|night|evening|morning|term|week|service|training|practice|concert|performance|payment|delivery|issue)(?: [\w-]+)? (?:at|with|for|in|of) {_DET}§{_KIND} (?:was|took place|happened|went|is behind|on)\b|§{_AUX} (?:keeled over|dropped (?:down )?dead|(?:froze|frozen|starved|drowned|choked|suffocated|bled|cooked) (?:to death|solid)|shrivelled(?: up)?|perished|withered(?: away)?)(?= *(?:$|[,.!;]|{_WHEN}\b))",
    rf"§.{{0,60}}\b(?:my|our) last [\w-]+ (?:\w+ )?(?:there|with (?:them|him|her|it)|for (?:them|him|her)|at theirs)\b|\b(?:(?:walked|walking|stormed|stepped|backed|opted|checked|pulled|bowed) (?:right |myself )?(?:out of|away from|out on)|(?:withdrew|withdrawn|retired|resigned|graduated|defected) from) {_DET}§{_AFTER}",
    rf"\b(?:got|fetched|pocketed|received|banked|made|took) (?:me |us )?[£$€]?\d[\d.,]*k? ?(?:quid|pounds?|dollars|euros|bucks)? ?for {_DET}§(?!['’]s)|§{_AUX} (?:found|gone to|went to) (?:a|an|its|his|her|their) (?:new |good |loving |forever )*(?:buyer|taker|owner|home|family)\b|\b(?:towed|carted|hauled|whisked|wheeled|spirited|(?:they|he|she|someone|somebody|bloke|man|woman|guy|buyer|farmer|charity|council|dealer)(?: \w+){{0,3}} (?:drove|took|carried)) {_DET}§{_KIND} (?:away|off)\b",
    rf"§{_AUX} (?:at|on|to|in) (?:the (?:bottom|bed|floor) of (?!(?:the |my |our )?(?:garden|stairs|hill|page|list|drawer|bag|box|road|street|field|bed|class|pile|table|league)\b)|smithereens|the deep)\b|§{_AUX} (?:fallen|fell|gone|went|washed) overboard|§ can (?:whistle|sing|kiss|go hang|get lost|get stuffed|stuff|shove|jog on|do one|take a hike|forget (?:it|about)|keep (?:its|his|her|their) )|§{_AUX} (?:off|gone|away|leaving|flown|headed|heading) (?:to|for) (?:uni|university|college|boarding school|pastures new|the (?:army|navy|other side)|australia|canada|america|new zealand|good)\b",
    r"§['’]s (?:parents?|mum|mother|mam|dad|father|folks|family|carers?|owners?|people)(?: (?:have|has|had|just|now|finally|'ve)|'s|'ve)* (?:(?:pulled|taken|took|withdrawn|withdrew|moved|removed|signed|fetched) (?:her|him|them|it) (?:out|away|off|elsewhere)|decided (?:that )?(?:she|he|they|it)(?:'d|'s|'re| would| will| is)? (?:rather|prefer|stop|not|no longer|better))",
    r"§.{0,60}\b(?:my|the|a) (?:very )?(?:last|final) (?:\w+ ){0,2}?(?:tablets?|dose|pill|capsule|injection|puff|patch|instal?ment|payment|lesson|session|shift|invoice)\b",
    rf"§{_AUX} (?:nicked|pinched|swiped|half-inched|burgled|robbed|repossessed|impounded|scuttled|sunk|sank|torched|totalled|split(?: up)?|disbanded|broken up|broke up|imploded|gone bust|ceased to exist)(?= *(?:$|[,.!;]|{_WHEN}\b))|§{_AUX}(?: had to)? (?:made|make|making|given|gave|give) way (?:to|for)\b|\b(?:swallowed|absorbed|gobbled)(?: up)? {_DET}§{_AFTER}",
    rf"\b(?:thr(?:ew|own)|chucked|tossed) in the (?:towel|sponge) (?:with|on|at|over) {_DET}§|\b(?:called (?:time|it quits|it a day|a halt)|closed the (?:book|door|chapter|file)|shut the (?:book|door)|turned the page|drawn a line|drew a line|hit the brakes|pulled the plug|hung it up|packed it in|jacked it in|rung the bell|lowered the curtain|brought the curtain down) (?:with|on|at|under|to|over|for) {_DET}§",
    rf"\bparted company (?:with|from) {_DET}§|\b(?:cut|cutting|severed|broken|broke|snapped) (?:the |all |my |our )?(?:cord|ties|links?|contact|relations|strings|bonds?|apron strings) (?:with|to) {_DET}§|\b(?:wav(?:ed?|ing)|kiss(?:ed)?|bidd?(?:en|ing)?|said|blew|blown) (?:a )?(?:\w+ )?(?:bye|bye-bye|goodbye|good-bye|farewell|adieu|cheerio|ta-ta|so long|sayonara|adios)(?: \w+)? to {_DET}§",
    rf"\b(?:told|asked) {_DET}§ to (?:jog on|get lost|sling (?:its|his|her|their) hook|take a hike|do one|get stuffed|go away|leave|bugger off|shove it|stick it|sod off|hop it|pack (?:his|her|their) bags|find (?:someone|somebody|somewhere))|\b(?:gave|given|handed|giving) {_DET}§{_KIND} (?:its|his|her|their|the) (?:\w+ )?(?:marching orders|cards|p45|notice|walking papers|pink slip|heave|elbow|boot|push|chop|sack|flick|bullet)\b",
    rf"\b(?:had|have had|'ve had|having had) (?:my|our) fill of {_DET}§|\b(?:lost|losing) (?:all )?(?:patience|faith|touch) with {_DET}§|\b(?:gone|went|going) (?:right |completely |clean |totally )?off {_DET}§{_AFTER}|\bbroken up with {_DET}§|\b(?:said|saying|say) no to (?:any )?(?:more|further|another) .{{0,25}}§|\bsecond thoughts about {_DET}§ (?:won|got)\b",
    rf"\b(?:shut|closed|closing|cancelled|terminated|wound|winding|deleted|emptied|cleared) (?:down |up |out )?(?:the|my|our) §{_KIND}(?: account| card| membership| subscription| contract| policy)?(?: (?:down|up|out))?(?= *(?:$|[,.!]|{_WHEN}\b))|\b(?:cleared|cleaned|slung|lobbed|chucked|turfed|hoofed|hurled|yeeted|flung|boxed|bagged|weeded|struck|crossed|wiped) (?:out|off|away) {_DET}§",
    rf"\b(?:took|taken|taking|moved|moving|withdrew|withdrawn|pulled|transferred) (?:all )?(?:my|our) (?:\w+ )?(?:money|business|custom|savings|kids?|things|stuff|account|boy|girl|son|daughter|children|pension|work|gear|patronage|belongings) (?:away |out |elsewhere )?(?:from|of|out of|off) {_DET}§",
    rf"\b(?:had to|have had to|has had to|was forced to|were forced to|decided to|ended up having to) (?:bin|kill|shoot|chuck|toss|scrap|burn|fell|dig up|pull up|destroy|sack|fire|forgo|forego|knock) (?:out |off |up )?{_DET}§",
    rf"\b(?:over|under)?(?:watered|fed|worked|baked|boiled|frozen|froze|scorched|burned|burnt|starved|crushed|frightened|bullied|hugged|loved) {_DET}§{_KIND} to death\b|\b(?:gp|doctor|doc|consultant|specialist|nurse|surgeon|psychiatrist|they|hospital|clinic|he|she)(?:'s|'ve| has| have)? (?:\w+ )?(?:stopped|binned|withdrew|withdrawn|discontinued|halted|nixed|ended|scrapped|dropped|ditched|struck off|crossed off|crossed out) (?:my|our|the) §{_AFTER}",
    rf"\b(?:killed|ate|eaten|murdered|slaughtered|drowned|poisoned|mauled|savaged|crushed|squashed|flattened|trampled|devoured|scoffed|demolished|obliterated|annihilated|wrecked|pulverised|shredded|butchered|finished off|made (?:a meal|short work|mincemeat) of|did away with|did for|carried off|swept away|swept off|ran over|run over|knocked down|stolen|stole|nicked|pinched|snatched|uprooted) {_DET}§{_AFTER}",
    rf"\b{_TAKER}(?:'s|'ve)?(?: (?:has|have|had|just|that got in|next door|again|finally|also))* (?:had|got|gotten|took|taken|finished|fried|caught|grabbed|snatched|claimed|blew|blown|swept|tore|torn|ripped|cooked|scorched|burned|burnt|froze|frozen|destroyed|ruined|carried|dragged|clobbered|nabbed|bagged|went for|gone for|nailed|swallowed|chewed|stripped|caught up with) {_DET}§{_AFTER}(?! (?:to the|bit|up late|by surprise))",
    rf"§{_AUX} (?:taken|got|had|killed|eaten|snatched|mauled|savaged|caught|carried off|claimed|lost|finished off|swept away|blown away|destroyed|run over|hit|knocked down|struck(?: down)?|stolen|pinched|nicked) (?:off |down |away )?(?:by|to|in) (?:a |an |the |some |our |next door's |somebody's )?(?:\w+ )?{_TAKER}\b",
    rf"\b(?:found|discovered) {_DET}§ (?:\w+ )?(?:dead|lifeless|belly up|stiff|floating|cold)\b|§.{{0,60}}\b(?:that|this|it|which)(?: was| is|'s| were)(?: pretty much)? (?:the end of (?:her|him|it|them|that|the story)|that(?: then)?$|it for (?:me|us|her|him)|me done|us done|me finished|me out|curtains)\b|§.{{0,60}}\b(?:my|our) \w+ (?:went|goes|gone|vanished|disappeared) with (?:it|them|her|him)\b|\blet {_DET}§{_KIND} (?:slide|drop|lapse|go|expire|fizzle|die)\b|\b(?:down to (?:\w+ )?(?:one|two|three|four|just \w+)|one (?:\w+ )?(?:fewer|less|down|short)|minus one)\b[^§]{{0,25}}§",
    r"§\?+ (?:nah|nope|no|not any ?more|gone|sacked|dumped|binned|deleted|sold|dead|finished|over|history|cancelled|long gone|ancient history|that (?:ship|train|bus) has|don't (?:ask|mention|even)|kaput|dropped|ditched|never again)\b",
    r"§'?s? ?(?:lost|had lost) (?:me|us)\b|§.{0,40}\b(?:so|and) (?:i'm|we're|i am|we are) (?:now )?(?:out|off)(?: of (?:there|it|that)| there)?(?= *(?:$|[,.!]))|§, (?:we|it|you) had a good run|\bin (?:my|our) post-§ (?:era|life|phase)",
)
_ACTS_FOR = re.compile(r"['’]s (?:parents?|mum|mother|mam|dad|father|folks|family|carers?|owners?|people)\b")
_DIES = re.compile(
    r"^(?:'s| has| had| just| then)* (?:froze|frozen|drowned|starved|choked|suffocated|bled out|collapsed and died|burned|burnt)(?= *(?:$|[,.!;]| (?:last|this|on|in|while|when|because|and)\b))"
)
_COUNTED_OUT = re.compile(
    r"\b(?:one|two|a) (?:[\w-]+ ){0,2}?(?:fewer|less|down|gone|short)\b[^§]{0,12}$"
)  # "one house down: X"
_HARMLESS = re.compile(
    r"^(?:'s| is| are)(?: \w+ly| now| all| perfectly)* (?:fine|safe|ok|okay|no (?:longer a )?problem|harmless|back on the menu|allowed|off the list)\b"
)
_HARMS = re.compile(
    r"\b(?:allerg\w+|intoleran\w+|avoid\w*|can't (?:eat|have|drink)|off limits|afraid|scared|phobia|banned)\b"
)
_LASTS = one_of(  # somebody else, or only a thing of it
    rf"^\W*(?:and |but |so |now |then |today |yesterday |apparently )*(?:(?:an?|the|some|one|another|their|half|most of|several|two|three|all) (?:[\w-]+(?:'s)? ){{1,4}}?|[a-z]+ from (?:work|school|church) )(?:(?:has|have|had|is|are|was|just|who|also|finally|all|recently|suddenly)? )*(?:'s |'ve )?{_LEAVE} (?:the |our |my )?§",
    r"§(?:'s|'ve|'re| has| have| had| is| are| was| just| finally| also| now| recently| apparently)* (?!(?:lost|cost|put|gone|got|left|let) (?:me|us)\b)(?:dropp\w+|ditch\w+|dump\w+|axed|sacked|fired|cancel\w+|clos(?:ed|ing)|shut|sold|selling|los[te]|losing|quit|cut|scrapped|removed|deleted|gave up|given up|giving up|got rid of|getting rid of|ended|ending|stopped|let|left|leaving|killed off|retired|abandoned|discontinued|threw (?:out|away)|didn't renew|did not renew|hasn't renewed|isn't renewing)"
    r" (?:the|its|their|his|her|a|an|one of|some of|all|two|three|most of|half|my favourite|everyone's) (?!(?:doors|gates|shutters|practice|shop|business|lot of us|whole thing|uk|country|area|town|city|group|band|team|house|flat|nest|company|trading|agreement|contract|arrangement|partnership|relationship|club|ghost|market|building|same)\b)(?:[\w'-]+ ){0,3}?[\w'-]+",
    r"§ is closed (?:for|over|on|until|till)\b(?! good)|§(?:'s| has| have| is| are)?(?: just| now)? (?:gone|off|away|flown|left|popped)(?: off| away| over| out| up| down)? (?:to|in|for|at|on) .{0,30}\b(?:for (?:a|the|two|three|four|\d+|his|her|their|work|our) ?\w*|until|till|on holiday|to see|to visit|next week|this week)\b|§.{0,30}\b(?:(?:be|is|are|comes?|coming|returns?|returning|due|'s) back (?:on|by|in|tomorrow|next|soon)|until (?:mon|tues|wed|thurs|fri|sat|sun)\w*day)\b",
    r"§(?:'s| has| have| just| also)* (?:took|taken|stole|ate|eaten|nicked|pinched|chewed|knocked|lost|deleted|removed|wiped|dropped|threw|binned) (?:my|our|the|a|an|one of) (?!(?:job|hours|shifts?|contract|account|column|custom|post|place)\b)\w+|\b(?:left|leaving) (?:the )?§ (?:at (?:\d\d?(?!\d)|noon|midnight|dawn|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)|early|late|before (?:dawn|breakfast|lunch|\d)|this morning)\b",
    r"\bfrom § to .{2,30}\b(?:by (?:train|car|bus|bike|plane|coach|boat|ferry|taxi|air)|on (?:the|a) (?:train|bus|coach|bike|ferry)|in (?:under )?(?:two|three|four|five|\d+|an?) \w*(?:hours?|minutes)|for (?:the day|lunch|a meeting))\b|§['’]s? (?:\w+ )?(?:rehearsal|meeting|training|gig|concert|show|match|practice|session|party|tour|album|song|single|birthday|lead|toy|bowl|stitches)s?\b",
    r"\b(?:moved|transferred|copied|dragged|exported|deleted|removed|sent|forwarded|downloaded|saved|printed|lost|returned) (?:an?|one|some|that|two|three|\d+|this) (?!whole|lot)[\w-]+(?: [\w-]+)? (?:from|in|on|off|out of|to|with) §",
    r"\b(?:in|of|from) (?:the|a|this|my) (?:book|novel|film|movie|show|series|episode|game|play|story|sims)\b(?=.*\b(?:reading|watching|playing|saw|read|called|finished)\b)|\b(?:up on|off|at) the § (?:leaderboard|quiz|forum|course|lesson|level|streak|challenge|queue)\b",
)


_HAS_GONE = re.compile(
    r"(?:'s|'ve| has| have| is| are)? ?(?:now |just |finally |all |both )*(?:moved|moving|relocated|relocating|emigrated|emigrating|flown|headed|heading|gone|off|left|transferred|shipped off|decamped|retired|going)"
    r"(?: off| away| over| out| down| up| back| on)?(?: to| for| into| abroad| home|$)"
)
_STAYS = re.compile(
    r"\b(?:so (?:it's|we're|i'm|that|now|there|he|she|they|i|we)|just (?:the|us|me|\w+ and)|that leaves|leaving (?:just|only|us|me)|leaves (?:just|only|us|me)|only .{1,20} left|no longer|one (?:fewer|less|down)|replacement|fill (?:his|her|their) (?:shoes|place|spot))\b"
)
_INTO = re.compile(  # "binned off X for Y", "upped sticks from X to Y"
    r"[,]? (?:over )?(?:for|to|in favou?r of) (?:the )?(?P<new>(?!(?:good|ever|now|scrap|parts|cash|money|charity|a|an|the|my|our|his|her|their|lent|this|that|lack|being|not|what|once|all|some|it|me|us|him|them|be|get|make|go|find|see|save|help|have|do|live|work|start|someone|somebody|someplace|\w+ing)\b)[A-Za-z][\w'&.-]*\w(?: [A-Z][\w'&-]*\w)*)"
)
_HOLDS_AGAIN = re.compile(
    r"\b(?:it|he|she|they|i|we)(?:'s|'re|'m|'ve| is| are| was| works?| runs?| came| am| have| has)\b.{0,40}\b(?:again|fine|good as new|right as rain|alive|working|cleaning away|back (?:home|to normal|up and running))\b(?! (?:with|at|in|on|to)\b)"
    r"|\bcrawled back\b|\b(?:came|went|got) back to it\b|\bback at it\b|\b(?:fixed|repaired|revived|mended|resurrected) (?:it|him|her|them)\b"
)
_STRANGER = re.compile(
    r"\b(?:a|an|some|this|one|another|most|many|other|those|any)\s(?:\w+\s){0,2}?(?:guys?|m[ae]n|wom[ae]n|persons?|people|girls?|boys?|lad(?:y|ies)|dudes?|blokes?|users?|folks|friends?|mates?|colleagues?|"
    r"celebrit(?:y|ies)|influencers?|actors?|singers?|players?|athletes?|runners?|students?|patients?|customers?|someone|reviewers?|commenters?|youtubers?|bloggers?|neighbou?rs?|cousins?)"
    r"(?:\s(?:who|that|has|have|had|just|finally|all|recently|suddenly|'ve|'s))*\s*$"
    r"|\b(?:half|most|all|some|none|many|both|two|three) (?:of )?(?:my|our|the|his|her|their|them)(?:\s\w+){1,2}?(?:\s(?:who|has|have|had|just|finally|all|recently))*\s*$"
    r"|\b(?:someone|somebody|everybody|everyone|people|folks|nobody)(?:\s(?:who|that|has|have|had|just|finally|all|recently|suddenly))*\s*$"
)
_RUMOUR = re.compile(
    r"\b(?:spam|scam\w*|phish\w*|hoax\w*|rumou?rs?|gossip|prank\w*|fake news|email\w*|e-mails?|texts?|letters?|calls?|posts?|headlines?|message|swore|swears|claim(?:s|ed)|reckon(?:s|ed)|insist(?:s|ed)|convinced|heard|says|said|saying|telling|going round|going around)\b"
)
_REFUTED = re.compile(
    r"\b(?:phish\w*|spam|scam\w*|hoax\w*|fake|nonsense|rubbish|bogus|baloney|codswallop|garbage|untrue|not true|isn't true|no truth|wasn't true|a lie|lies|made[- ]up|nothing(?:'s| has| is)? (?:changed|of the sort|happened)|wind-?up|pulling my leg|having me on|got it wrong|"
    r"(?:i'm|we're|i am|we are|it's|mine's|ours is|they're) (?:still|very much|alive and)|no such thing|not the case|wrong end of the stick)\b"
)


def stance(before: str, after: str, negation: re.Pattern[str]) -> tuple[Literal["ends", "lasts", ""], str]:
    """Return what the words around a value say of it, "" for nothing that is known here, and the other words of its clause.

    Args:
        before: Its clause up to it, in lower case.
        after: The rest of the sentence.
        negation: What undoes an ending.
    """
    told = f"{before}§{after}"
    if _LASTS.search(told):
        return "lasts", ""
    match = _DENIED.search(told)
    if match is None and (match := _PLAIN.search(told)) and negation.search(told, 0, match.end()):
        match = None
    return ("ends", before[: match.start()]) if match else ("", "")


def is_refuted(told: Sequence[str]) -> bool:
    """Whether sentences pass on what others say, and say that it is not so."""
    return any(_RUMOUR.search(one) for one in told) and any(_REFUTED.search(one) for one in told)


class Departures(Switches):
    """Reads who has gone, and what the words around a value say of it."""

    def _departed(self, sentence: Sentence) -> Iterator[Ending]:
        """Find who has gone for good ("Ingrid's moved to Norway, so it's just us now")."""
        if self._lexicon.code != "en" or sentence.asks or not _STAYS.search(sentence.flat):
            return
        for clause in sentence.clauses:
            for mention in self._within(clause, sentence):
                opens = not [w for w in words(clause.flat[: mention.start - clause.start]) if w.text not in OPENERS]
                is_gone = _HAS_GONE.match(clause.flat, mention.end - clause.start) is not None
                if mention.rank >= NAME and opens and is_gone and not self._is_hedged(sentence, clause):
                    yield Ending(mention.surface, "beside", sentence, mention)

    def _over(self, place: int, sentence: Sentence) -> Iterator[tuple[Mention, Clause]]:
        """Yield what the words right around it say to be over, with the words of its clause that could make it a thought."""
        for mention in self._mentions[sentence.start] if self._lexicon.code == "en" else ():
            clause = self._clause_at(sentence, mention)
            is_topic = clause.asks and len(sentence.words) == len(words(mention.surface))  # "X? Sacked."
            if mention.rank < NOUN or (clause.asks and not is_topic) or not self._is_personal(mention):
                continue
            after = self._reading.sentences[place + 1].flat if is_topic and place + 1 < len(self._mentions) else ""
            verdict, rest = self._stance(mention, sentence, after)
            if not verdict and self._is_counted_out(mention, sentence):
                verdict, rest = "ends", ""
            is_its = self._owns(mention, clause) and not _ACTS_FOR.match(sentence.flat, mention.end - sentence.start)
            if verdict == "ends" and not is_its:
                yield mention, replace(clause, flat=rest, asks=False)

    def _is_counted_out(self, mention: Mention, sentence: Sentence) -> bool:
        """Whether a value is the one less that a sentence tells of, or does the speaker no harm any more."""
        before, after = sentence.flat[: mention.start - sentence.start], sentence.flat[mention.end - sentence.start :]
        is_harmless = _HARMLESS.match(after) is not None and any(_HARMS.search(flat(text)) for text in mention.said)
        dies = _DIES.match(after) is not None and any(is_being(t, mention.surface, self._lexicon) for t in mention.said)
        return is_harmless or dies or _COUNTED_OUT.search(before) is not None

    def _stance(self, mention: Mention, sentence: Sentence, after: str = "") -> tuple[str, str]:
        clause = self._clause_at(sentence, mention)
        told = sentence.flat[mention.end - sentence.start :]
        before = clause.flat[: mention.start - clause.start]
        return stance(before, f"{told} {after}".rstrip(), self._lexicon.negation)

    def _changed_to(self, mention: Mention, rest: str) -> str:
        """Return the new name right after an English value that was given up for it."""
        match = _INTO.match(rest) if self._lexicon.code == "en" else None
        if match is None or self._heard.holds(match["new"]):
            return ""
        is_plain = match["new"].islower() and not mention.surface.islower()
        return "" if is_plain or match["new"].lower() in self._lexicon.stop | self._lexicon.generic else match["new"]

    def _opens_new(self, sentence: Sentence, mention: Mention) -> str:
        """Return whom a sentence opens with that was never heard of and has the speaker now ("Y poached me from X")."""
        opening = sentence.words[0]
        name = self._reading.text[opening.start : opening.end]
        is_name = name[:1].isupper() and opening.text not in self._lexicon.stop | self._lexicon.generic
        has = re.match(rf"\w+(?:\W+\w+){{0,2}}\W+{_POACHED}", sentence.flat)
        is_new = has and is_name and opening.start != mention.start and not self._heard.holds(name)
        return name if is_new else ""

    def _is_untouched(self, ending: Ending) -> bool:
        """Whether an English sentence says that it is somebody else, or only a thing of it, or that it is not so."""
        if self._lexicon.code != "en" or ending.mention is None or ending.reason in ("forget", "correct"):
            return False
        place = self._reading.sentences.index(ending.sentence)
        near = [one.flat for one in self._reading.sentences[max(0, place - 1) : place + 2] if not one.asks]
        if ending.reason == "retract" and is_refuted(near):
            return True
        if self._stance(ending.mention, ending.sentence)[0] != "lasts":
            return False
        before = ending.sentence.flat[: ending.mention.start - ending.sentence.start]
        opens = all(word.text in OPENERS for word in words(before))  # "X lost my case, so I fly Y"
        is_new = any(self._fresh(one) for one in ending.sentence.clauses)
        return not (opens and is_new and ending.reason == "replace")

    def _holds_again(self, sentence: Sentence, clause: Clause) -> bool:
        """Whether a later clause of the sentence tells that it did not last ("it died, but it's running again")."""
        later = [other for other in sentence.clauses if other.start > clause.start]
        return self._lexicon.code == "en" and any(_HOLDS_AGAIN.search(other.flat) for other in later)

    def _is_strangers(self, clause: Clause, start: int, targets: Sequence[Mention]) -> bool:
        """Whether somebody of whom nothing is known does it ("a thread where a guy quit it")."""
        return _STRANGER.search(clause.flat[: start - clause.start]) is not None and not any(
            clause.start <= m.start < start and self._reading.text[m.end : start].count(" ") <= 1 for m in targets
        )
