"""What English speakers say when something ends, changes, begins or is a mere thought."""

from __future__ import annotations

from proxy.memory.learn.extract_builtin.english_endings import CEASED, ENDED, FORGET, PARTED, REMEMBER
from proxy.memory.learn.extract_builtin.english_facts import ENGLISH_STATEMENTS, KIN
from proxy.memory.learn.extract_builtin.lexicon import Lexicon, one_of
from proxy.text.words import word_set

_DET = r"(?:(?:my|our|the|old|her|his|their|a|an|that|this|entire|whole|beloved|trusty) ){0,3}"


ENGLISH = Lexicon(
    code="en",
    stop=word_set(
        """i i'm me my mine we us our ours you your he him his she her it its they them their this that these those the a an
        and or but so if then than as at by for from in into of off on onto out over to up with without about after before
        is am are was were be been being have has had do does did done will would can could should may might must not no
        yes ok okay hey hi hello please thanks thank what which who when where why how any some all both each every other
        another one two three very really just also too still even only now here there again more most much many few lot
        lots bit quite rather well know think want need like get got go going went use used using make made take took let
        say said tell told anyway today yesterday tomorrow week month year day days time times don't doesn't didn't i've
        it's that's there's can't won't isn't s t d ll ve re m been because since while until during always never ever
        new old good bad first last next best your really stuff thing things way name called
        better best worse worst great nice cool awesome amazing fun happy sad glad sorry sure right wrong hard easy different same able ready busy free
        important interesting exciting excited proud grateful close full whole high low big small little long short early late
        wait see look feel feels felt try keep give gave giving find found help helps hope love like enjoy seem start started
        starting stop stopped come came coming leave left put talk talking hear heard show share shared mean means bring turn
        work working worked live lived play playing knowing thinking feeling looking getting making having being doing going
        especially actually probably definitely maybe totally finally soon later almost around together alone along back away
        idea ideas experience difference mind chance part kind sort way ways end side point moment moments life world everyone
        someone everything something anything nothing today's worries worry change changes changed check chat haven hadn hasn isn aren wasn weren don didn doesn couldn wouldn shouldn won ain
        scratch outdated passion passionate deal dealing determination win winning lost lose block break game such relief finish
        finished finishing complete completed managed decided included printed ended happened hoping amount piece
        tough difficult rough weird strange crazy huge rewarding scary stressful relaxing calm calming lovely wonderful powerful once
        else god pm wanted personal variety excuse excuses confirmation"""
    ),
    generic=word_set(
        """hotel inn restaurant bar café cafe clinic hospital university college street road avenue bank school library bus train doctor professor mr mrs ms
        app apps application tool tools subscription subscriptions account accounts membership plan plans service
        services fee fees program software club gym card contract job work company office city town place home house flat
        number phone email address people person friend friends family kid kids children dog cat pet pets medication
        medicine pill pills tablet tablets drug doctor class classes course lessons lesson language instrument sport
        sports diet food book books film movie show music game games car bike team group band choir school memory notes
        records record info system systems setup process step steps information data detail details amount figure bank community project business event trip studio class party"""
    ),
    first=one_of(r"\b(?:i|we|i'm|i've|i'd|we've|we're|my|our|me|us)\b"),
    third=one_of(
        r"^(?:\W|and |but |so |because |since |even |though |while |well |yeah |oh |today |yesterday |also )*(?:(?:my|our|his|her|their|the|a|an|some|one of my|most of my|all of my|both|half|that|another|every) )?(?:\w+(?:-\w+)? ){0,2}?(?P<who>brother|sister|mother|father|mom|mum|dad|wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|son|daughter|kid|kids|child|children|cousin|uncle|aunt|nephew|niece|grandma|grandpa|grandmother|grandfather|parents|in-laws?|friend|friends|buddy|mate|flatmate|roommate|housemate|neighbou?r|neighbou?rs|colleague|colleagues|coworkers?|co-workers?|boss|manager|teammates?|team|coach|trainer|teacher|classmates?|customers?|clients?|director|landlord|landlady|ex|guy|someone|somebody|everyone|everybody|people|nobody|blog|article|forum|post|podcast|company|folks|dog|cat|pet)\b(?!'s)",
        r"^(?:\W|and |but |so |because |since |though |that )*(?P<whom>he|she|they|someone|somebody|everyone|everybody|nobody|people)\b",
    ),
    ended=ENDED,
    ceased=CEASED,
    negation=one_of(
        r"\bnever\b",
        r"\bnot\b",
        r"n't\b",
        r"\bwithout\b",
        r"\bno plans?\b",
        r"\bnor\b",
        r"\bneither\b",
        r"\bcannot\b",
        r"\brefus",
    ),
    parted=PARTED,
    loose=one_of(
        r"\b(?:smashed|cracked|wrecked|crashed|shattered|snapped|wore out|fried|fell (?:apart|to bits)|on (?:its|their|his|her) last legs|bored (?:me|us)|let (?:me|us) down|fed up (?:with|of)|sick of|couldn't stand|got on my nerves|(?:put|hiked|raised) (?:its|their) (?:prices?|fees|rates)|went private|cut the rate)\b",
    ),
    gained=one_of(
        r"\b(?:switched|swapped|changed|gone over|went over|moved over|crossed over|converted|upgraded|downgraded|opted|settled (?:on|for)|plumped|hello|welcome|new home|now with|now at|now on|now use|now using|over to|onto)\b"
    ),
    hedge=one_of(
        r"\blike (?:i'm|i am|i were|we're)\b",
        r"\byou(?:'ve| have)? (?:just )?(?:said|told|mentioned|wrote|claim(?:ed)?|suggest(?:ed)?)\b",
        r"\b(?:says?|said|claims?|claimed|thinks?|tells? me|told me) (?:that )?(?:he|she|they|his|her|their)\b",
        r"\bshould i\b|^\W*(?:had|were) (?:i|we|he|she|they)\b",
        r"(?<!\bi\s)(?<!\bi've\s)(?<!\bi'm\s)\b(?:telling|saying|claiming|insisting|thinking|assuming|convinced|swearing|spreading|believing|under the impression)\b(?: (?!i\b)[\w']+){0,4}? (?:that )?i(?:'ve|'d|'m)?\b",
        r"\b(?:he|she|they|(?:every|some|no|any)(?:one|body)|people|who|folks|boss|mum|mom|dad|wife|husband|friends?|sister|brother|partner|mother|father|colleagues?|neighbou?rs?|kids|parents|family|doctor) (?:always |still |just |all |now |somehow |apparently |keeps? )?(?:tells?|told|thinks?|thought|believes?|believed|assumes?|assumed|claims?|claimed|reckons?|reckoned|insists?|insisted|swears?|swore|heard|figured?|says?|said)\b(?: (?!i\b)[\w']+){0,3}? (?:that )?i(?:'ve|'d|'m)?\b(?! (?:should|need|must|had to|have to|don't (?:need|have)|no longer need|can (?:stop|come off|drop|quit)|needn't)\b)",
        r"\b(?:never|didn't|did not|not|haven't|don't) (?:ever |even |once )?(?:said|say|saying|claimed?|told|tell|mentioned|mean|meant|suggest\w*|implied?)\b(?=.*\b(?:i|we|that)\b)",
        r"\b(?:a )?(?:song|lyrics?|movie|film|novel|book|episode|game|character|hero) .{0,30}\b(?:says|goes|where|called|about|gives?|quits?|leaves?|loses?)\b",
        r"\bsomeone (?:should|could)\b|\bhypothetical\w*\b|\bwhat if\b|\bin theory\b|\bas if\b",
        r"\b(?:if|whether|would|should(?!(?:'ve|n't| not| never)? ?(?:have )?(?:said|written|typed|put|called|told|been|read)\b)|could|might|may(?! *(?:$|[,.;!\d])| (?:this|last|next|\d))|maybe|perhaps|unless|suppose|imagine|hopefully)\b",
        r"\bthink(?:ing)? (?:of|about|i)\b",
        r"\bconsider(?:ing|ed)?\b",
        r"\btempted\b",
        r"\bwant(?:s|ed)? (?:me )?to\b",
        r"\bwanna\b",
        r"\bplan(?:s|ning|ned)? (?:to|on)\b",
        r"(?<!stopped\s)(?<!quit\s)(?<!up\s)\bgoing to\b|\bgonna\b",
        r"\babout to\b",
        r"\balmost\b|\bnearly\b",
        r"\bhop(?:e|ing)\b|\bwish\b",
        r"\bhow (?:do|can|to)\b",
        r"\bwhenever\b",
        r"\btr(?:y|ied|ying)\b",
        r"\btold me to\b|\bsa(?:ys|id) (?:to|(?:that )?i(?! (?:don't need|no longer|needn't|can (?:stop|come off|drop|quit))\b))\b|\bask(?:s|ed|ing) (?:me|if|whether|why|i)\b|\bsuggest|\brecommend|\badvi[sc]",
        r"\bassum(?:e|es|ed|ing)\b",
        r"\b(?:do|did) you\b",
        r"\bjokes?\b|\bjoking\b|\bkidding\b",
        r"\bwill\b|\bi'll\b|\bwe'll\b",
        r"\bi'd (?!(?:\w+ed|been|had|got|gotten|put|said|told|thought|written|read|mistaken|forgotten|given|taken|left|quit|sold|lost|just)\b)",
        r"\bwonder",
        r"\btoday only\b",
        r"\bthreaten",
        r"\bpretend\b",
        r"\b(?:someday|one day)\b",
        r"\brumou?rs?\b",
        r"\bin (?:my|a|the) dream|(?<!have\s)(?<!'ve\s)\bdreamt? (?:that|of|about|i)\b|\bdream of\b",
    ),
    past=one_of(
        r"\bused to\b",
        r"\bas a (?:kid|child|teen\w*|student|toddler|boy|girl)\b",
        r"\bwhen i was\b",
        r"\bback (?:then|in the day|when)\b",
        r"\bin my (?:youth|childhood|teens|twenties)\b",
        r"\bgrowing up\b",
        r"\b(?:back |way back )?in (?:19|20)\d\d\b(?!.{0,10}\band\b.{0,20}\bsince\b)|\byears ago\b",
        r"\bonce upon\b",
    ),
    limited=one_of(
        r"\bfor the (?:day|night|rest of|moment|time being)\b|\buntil (?:tomorrow|monday|next|then|the)\b|\b(?:this|next|coming) (?:mon|tues|wednes|thurs|fri|satur|sun)day\b|(?<!\ball\s)\bthis (?:week|weekend|month|morning|evening|time)\b",
        r"\bon (?:the |my |our |most |bank |public |school )?(?:weekends?|weekdays|week ?nights|work ?days|(?:mon|tues|wednes|thurs|fri|satur|sun)days|holidays?|vacations?|trips?|days? off|flights?|planes?)\b",
        r"\bat (?:night|weekends?|the weekend)\b",
        r"\bin the (?:mornings?|evenings?|afternoons?|car|bedroom|bathroom)\b(?! (?:bin|trash|crash|accident))",
        r"\b(?:during|while|whenever)\b",
        r"\b(?:after|past|before) (?:\d|noon|midnight|dinner|lunch|breakfast|bed|work|school)",
        r"\bfor (?:a|one|two|three|a few|the|this|the next|about a) (?:day|days|week|weeks|weekend|month|hour|hours|afternoon|evening|minute)\b",
        r"(?<!\bas\sof\s)(?<!\bfrom\s)(?<!\bsince\s)\b(?:today|tonight)\b",
        r"\b(?:weekends|sundays|saturdays)\b",
        r"\bfor lent\b|\bfor a (?:visit|holiday|break|rest|funeral|bit|while|fortnight)\b",
        r"\btemporar",
        r"\bpaus(?:e|ed|ing)\b",
        r"(?<!isn't\s)(?<!not\s)\bon my phone\b",
        r"\bwhen (?:i'm|i am|we're|we are|travell?ing|driving)\b",
        r"\bin (?:meetings|public|front of)\b",
        r"\bwith (?:clients|customers|the kids)\b",
    ),
    again=one_of(
        r"\bagain\b",
        r"\bback (?:to|in|on|with|at|into)\b",
        r"\bre-?(?:joined|started|subscribed|installed|enrolled|activated|signed|adopted|hired|downloaded|newed|married|united)\b",
        r"\bresum(?:e|ed|ing)\b",
        r"\breturned to\b",
        r"\bonce more\b",
        r"\bgot .{1,30} back\b",
    ),
    additive=one_of(
        r"\b(?:also|too|as well|additionally|besides|furthermore|second|third|another|both|on top|in addition|added|plus|joined by|alongside|along with|extra|other)\b"
    ),
    forget=FORGET,
    remember=REMEMBER,
    correction=one_of(
        r"\bspells? (?:it|him|her|his|their|the)\b|\bbegs to differ\b|\b(?:told|gave|sent|wrote) you (?:the |a )?wrong\b|\b(?:got|had) the (?:time|date|day|number|name|address|price) wrong\b|\bwas never (?:\w+ ){0,2}[\w:.]+, (?:it's|its|it is|he's|she's)\b",
        r"\bshould(?:n't| not| never) have (?:said|written|typed|put|called|told you)\b|\bnot sure (?:why|how)\b|\bsilly me\b|\bno clue (?:why|how)\b|\bwho knows why\b",
        r"\bshould(?:'ve| have) (?:said|written|typed|been|put|called)\b|\bmuddled\b|\bput me right\b|\bset me straight\b|\bcorrected me\b|\bgot measured\b|\b(?:he|she|it) isn't (?:a|an|the|called|named)\b|\bit's not (?:a|an|the) \w+ at all\b",
        r"\bdouble[- ]?checked\b|\b(?:checked|looked|counted|asked|measured|calculated) (?:it |that |them )?(?:again|up|once more|properly)\b",
        r"\b(?:must have|must've|might have|may have|i) (?:dreamt|dreamed|imagined|hallucinated|invented|conjured|made (?:that|it|this) up|plucked|pulled)\b|\b(?:out of thin air|from nowhere|pure invention|figment)\b",
        r"\b(?:checked|checking|dug (?:out|up)|looked (?:at|up|through)|consulted|found|reread|re-read|went through|pulled (?:out|up)|opened|fished out|unearthed|asked) (?:the|my|our|his|her) (?:\w+ ){0,2}(?:papers?|paperwork|passport|certificate|tickets?|label|box|packet|letter|e-?mail|card|form|receipt|contract|invoice|invitation|booking|confirmation|prescription|diary|calendar|logbook|manual|badge|bill|documents?|statement|file|records?)\b.{0,40}\b(?:actually|really|it's|it is|it says|is|was)\b",
        r"\b(?:swapped|transposed|reversed|jumbled|flipped|switched|misplaced|scrambled) (?:the |two |my |some |a )*(?:digits?|numbers?|letters?|figures?|decimals?|names?|dates?)\b|\b(?:digits?|numbers?|letters?) (?:the wrong way|back to front|in the wrong)\b|\bsilly (?:old )?(?:me|moo|sausage|billy)\b|\b(?:name|it|that)(?:'s| is) (?:actually )?(?:spelt|spelled|written|pronounced)\b",
        r"\b(?:to check|checked|checking|double-checking|looked again|looked closer|on closer inspection)\b.{0,40}\b(?:it's|it is|its|turns out|it says|it reads|they're)\b",
        r"\b(?:i was|i'm|i am|was|am) (?:\w+ ){0,3}(?:out|off)(?: by (?:\w+ )?\w+)?(?= *(?:$|[,.:;!]))|\b(?:feel|felt|am|i'm) (?:so |very |rather |a bit )?(?:daft|foolish|like (?:a fool|an idiot)|such an idiot|an idiot|mortified)\b|\bstrikes again\b|\b(?:autofill|auto-?complete|spell-?check|predictive text|dictation|voice typing|fat fingers?|fat thumbs?|my (?:thumbs?|fingers) (?:slipped|are))\b|"
        r"\b(?:senior|blonde|dumb) moment\b|\bd'?oh\b|\bduh\b|\bkick myself\b|\bred face\b|\bblushing\b|\bmemory like a sieve\b|\bneed (?:new|my|better|stronger) (?:glasses|specs)\b|\bmy own (?:hand)?writing\b|\begg on my face\b|\bwhere'?s my head\b|\bdon't listen to me\b|\bi've gone and (?:\w+ed|given|got|put|made)\b|"
        r"\bwith (?:a|an|one|two|no|double) [a-z]{1,2}\b(?= *(?:$|[,.;!]))|\b(?:and )?(?:he|she|they) (?:should|ought to|would) know\b|\bmix(?:ed|ing)? (?:'?em|them|those|these|it|the two) up\b",
        r"\bbrain (?:fog|freeze|glitch)\b|\bfat[- ]fingered\b|\bgot (?:it|that|this|them) (?:all )?(?:wrong|backwards|mixed)\b|\bmy mistake\b|\bignore what i\b",
        r"\bi (?:said|wrote|typed|told you|called (?:it|him|her))\b.{1,40}\b(?:but|when|though)\b",
        r"\blet me (?:rephrase|fix)\b|\bto be (?:precise|exact)\b|\bi keep (?:saying|calling|writing|mixing)\b|\bspell(?:ed|t|ing)? .{0,25}wrong\b|\bwrongly\b|\bnot .{2,25}, (?:it's|he's|she's)\b",
        r"\bwas (?:off|wrong) (?:by|about)\b|\bgot .{1,25} wrong\b|\bscratch (?:what|the)\b.{0,20}\b(?:said|earlier)\b",
        r"\bcorrection\b|\b(?:i )?tell a lie\b|\bi lied\b|\bi (?:can't|cannot|never could) (?:count|read|spell|type|add|do maths|tell)\b|\bwhat (?:am|was) i (?:on about|saying|like|thinking|on)\b|\bin the doghouse\b|\b(?:over my shoulder|rolled (?:his|her|their) eyes|laughed at me|facepalm\w*|red[- ]faced|how embarrassing|embarrassingly)\b|\b(?:got|had) (?:my|the) \w+ (?:crossed|wrong|muddled|mixed|in a twist)\b|\bblame (?:it on )?(?:my|the|auto)\w*\b|\bi (?:must have|must've) been (?:thinking|looking|half)\b|\b(?:isn't|wasn't|was never) .{2,30} at all\b|\bmy apologies\b|\bi(?:'ve| have)? (?:always |keep |kept |just )?(?:muddle|mix|confuse|confused|conflate|conflated|mixing|muddling|confusing)\w*\b.{0,20}\b(?:them|up|two|both|those|these)\b|\bignore (?:that|the|my)\b|\bscrap that\b",
        r"\b(?:all this time|all along|been (?:saying|writing|typing) (?=\w+ (?:for|all|since|this))|been (?:calling|spelling|pronouncing) (?:it|him|her|them|that|my \w+|our \w+|the \w+))\b|\bcalling (?:it|him|her|them) (?:a |an |the )?\w+ for nothing\b|\bwhat was i (?:thinking|on)\b|\bi was (?:looking at|thinking of(?! (?:just |maybe )?\w+ing\b)|going by|reading)\b|\bwas last year\b",
        r"\b(?:papers?|paperwork|passport|certificate|ticket|tickets|label|box|packet|letter|email|e-mail|card|form|receipt|contract|invoice|website|invitation|booking|confirmation|prescription|diary|calendar|scale|scales|test|tests|results?|vet|doctor|chip|logbook|manual|badge|bill) (?:actually |clearly |definitely |does )?(?:says?|reads?|states?|shows?|confirm(?:s|ed)?|disagrees?|has it as|came back)\b",
        r"(?<!\blike\s)(?<!\bas\s)(?<!\bwhat\s)(?<!\bthat\s)\bi (?:told you|said|wrote|typed|put|called (?:it|him|her|them)) (?:it was |he was |she was |in |at |on )?(?:a |an |the )?(?!so\b|that\b|it\b|yes\b|no\b|hi\b|ok\b)[\w'-]+(?: [\w'-]+){0,3}?(?= *(?:$|[.!,]| instead\b| before\b| earlier\b| last time\b))",
        r"\bi (?:really )?meant\b",
        r"\bmeant to (?:say|write|type)\b",
        r"\b(?:to|let me|i need to|i have to|i must) correct\b",
        r"\bmis(?:spoke|typed|remember\w*|read|heard|took|labell?ed|stated|spelled|spelt|named)\b",
        r"\b(?:by|a|our|the|bit of a|small|silly|stupid|slight) mistake\b|\bmistaken\b|\bmistake(?:,|:| on my| in (?:my|what))",
        r"\bmix(?:ed|ing|-)? ?.{0,15}\bup\b",
        r"(?<!go\s)(?<!went\s)(?<!i\sgot\s)(?<!we\sgot\s)\bwrong(?:ly)?\b",  # "the questions I got wrong"
        r"\btypo\b",
        r"\bturns? out\b|\bturned out\b",
        r"\boops\b|\bwhoops\b|\boopsie\b",
        r"\bscratch that\b",
        r"\bmy bad\b",
        r"\bslip(?:ped)?\b",
        r"\bautocorrect\w*\b",
        r"\b(?:no idea|no clue|god knows|goodness knows|heaven knows|don't know|dunno|who knows|beats me|mystery to me) (?:why|how|where|what (?:made|possessed))\b|\b(?:confused|conflated|mixed up|muddled) (?:the |my |two |up )",
        r"\bbrain ?fart\b",
        r"\bstrike that\b",
        r"\bmisinformed\b",
        r"\bcorrected\b",
        r"\b(?:that|it|this|which|there|name|number|date|one) should (?:have been|be|read)\b|\bshould have been\b|^\W*should be\b|\bshould read\b",
        r"\bi stand corrected\b",
        r"\bset the record straight\b",
        r"\bdon't know why\b",
    ),
    murmur=one_of(
        r"^ugh\b|\b(?:sorry|actually|nope|in fact|confused|gosh|hang on|hold on|ahem)\b|^(?:(?:oh|hmm+|ah|um|uh|er|err|well)\W+)*(?:no[,.]|wait\b)"
    ),
    memory=one_of(
        r"\b(?:you know|(?:bit|thing|part|stuff|piece|detail|info) (?:about|on|with|with regard)|(?<!some)(?<!any)(?<!every)(?:bit|thing|stuff|detail|part)\b(?= *(?:$|[,.!?]|please|from|again|for good))|your (?:\w+ )?(?:memory|memories|notes?|records?|files?|mind|head|data|logs?|database)|memory|about me|i (?:said|told|mentioned|shared|wrote)|(?:you|you've|have) (?:remember|stored|saved|noted|kept|got (?:on|about)|have on|hold on|written)|everything about|anything about|all about|(?:whatever|everything|anything|all|what) .{0,12}(?:concern\w*|relat\w+|regard\w*|involv\w*|to do with|pertain\w*|connected|touch\w*|with)|the fact that|that i|what i|the (?:info|information|details?) (?:on|about)|mention)\b"
    ),
    copula=one_of(r"is|are|'s|s|called|named|was"),
    slip=one_of(
        r"\binstead of\b|\brather than\b",
        r"\bwrong\b|\bmistaken?\b|\berror\b|\btypo\b",
        r"\b(?:typed|wrote|said|told|put|mentioned|called it|called (?:him|her)|named|claimed|blurted)\b",
        r"\bcame up with\b|\bcame out\b|\bgot .{1,20} from\b",
        r"\bslip\w*|\bmix\w*|\bconfus\w*|\bmistook\b",
        r"\bdifferent\b|\banother\b",
        r"\bimagin\w*|\bmade .{0,10}up\b|\binvent\w*",
        r"\blabel\b",
        r"\bautocorrect\w*",
        r"\bmis(?:spoke|typed|remembered|labell?ed|heard|read|took|named|spelled|spelt)\b",
        r"\bthought\b",
        r"['’]s (?:one |old one )?(?:is|was) (?:the|a|an)\b|\b(?:his|hers|theirs) (?:is|was) (?:the|a|an)\b",
        r"\b(?:dreamt|dreamed|hallucinated|conjured|plucked|pulled out of)\b",
        r"\bused to be\b|\bwas (?:the|my|a) (?:old|ex|previous|former)\b",
        r"\bwas just\b|\bwas only\b|\bcalling (?:it|him|her|them)\b|\bbeen (?:saying|writing|spelling)\b|\bignore\b|\bnever had\b|\bwas last (?:year|time|month|week)\b",
        r"\bbelongs? to\b",
        r"\b(?:was|is) (?:what|where|who|when|how|for|our|my|his|her|the one|the other|from)\b",
        r"\bprevious\b|\bformer\b",
    ),
    denial=one_of(r"(?:\b(?:not|no|isn't|wasn't|aren't)|there's no|there is no) (?:\w+ ){0,2}$"),
    amend=one_of(
        r"^(?:(?:no|oh|oh dear|oh no|dear me|wait|sorry|actually|well|oops|whoops|correction|hmm|ah|nope|scratch that|tell a lie|i tell a lie|hang on|hold on|argh|ugh|damn|doh|gosh|silly me|my bad|my mistake|apologies|ok so|so|turns out|and|but|right|er|erm|um|uh)\W+)*(?:actually )?(?:it's|it is|it was|its|that's|i (?:really |actually )?meant|meant|i meant to (?:say|write)|make (?:that|it)|i mean|or rather|mine(?:'s| is)|ours(?:'s| is)|(?:he|she)(?:'s| is) (?:called|named)|(?:his|her|the|its) name(?:'s| is)|(?:it |(?:the|my|his|her|its|their|our) (?:\w+(?:'s)? ){1,3}?)(?:actually |clearly )?(?:says?|reads?|states?|shows?|confirms?)|should be|that should be|should have been)(?: (?:actually|really|in|at|on|the|a|an|called|to|say|be|with|for))* (?P<new>(?:\d{1,2}:\d\d|[\w][\w.&'+#-]*)(?: [\w][\w.&'+#-]*){0,4})"
    ),
    contrast=(
        one_of(
            r"\b(?:is|are|'s|was|be|meant|called|named|in|at|with|to|for|from|it's|its|thats|hes|shes|im|i'm|we're) (?:\w+ ){0,3}?(?P<new>[\w .&'-]{2,40}?),? (?:and )?not (?!only\b|just\b|simply\b|merely\b|necessarily\b|even\b)(?:a |an |the |in |at |with |to |for |from |my |our )*(?P<old>[\w .&'-]{2,30})"
        ),
        one_of(
            r"\b(?:isn't|not|aren't|wasn't|no) (?!only|just|simply|merely|longer|more\b)(?:a |an |the |in |at |with |called |named )*(?P<old>[\w .&'-]{2,30}?),? (?:but|it's|its|it is|he's|hes|shes|she's|they're|rather) (?:a |an |the |in |at |with |rather |actually |really )*(?P<new>[\w .&'-]{2,30})"
        ),
    ),
    source=one_of(
        r"\boff $",
        r"\b(?:chopp?(?:ed|ing) in|trad(?:ed|ing) in|part[- ]exchang(?:ed|ing)|px'd|handed (?:in|over|back)|swopp(?:ed|ing)|gave up|giving up|in place of|in lieu of|in exchange for) "
        + _DET
        + "$",
        r"(?:from|instead of|rather than|away from|left|leaving|ditch(?:ed|ing)|dropp(?:ed|ing)|dump(?:ed|ing)|replac(?:e|ed|es|ing)|swap(?:ped|ping)?(?: out)?|trad(?:e|ed|ing)(?: in)?|exchang(?:e|ed|ing)|outgrew|out of|sold|gave up|quit|retired|goodbye to|bye,?|after (?:\w+ ){1,3}(?:years?|months|weeks|decades?) (?:with|at|of|as|in|on)|after (?:\w+ )?(?:ages|a lifetime|donkey's years|all these years) (?:with|at|of|as|in|on)|no longer) "
        + _DET
        + "$",
    ),
    source_after=one_of(
        r"^ (?:→|->|(?:was|is|got|has been|have been|been) (?:replaced|swapped|succeeded|traded|exchanged)(?: by| for| with| to)|(?:(?:has|have|had) )?(?:made|given|gave) way(?: by| for| with| to))\b",
        r"^ ?(?:→|->)",
    ),
    switch=one_of(
        r"\boff [\w ]{2,25},? (?:and )?on(?:to)? ",
        r"\bswitch",
        r"\bmov(?:e|ed|ing)\b",
        r"\bmigrat|\bport(?:ed|ing)\b|\bshift(?:ed|ing)\b|\b(?:defected|decamped|graduated|relocated|hopped|crossed over|came over|gone over|turned to)\b",
        r"\bchang",
        r"\bswap",
        r"\btrad(?:e|ed|ing)\b",
        r"\breplac",
        r"\bexchang",
        r"\bconvert",
        r"→|->",
        r"\bw(?:ent|ent over) from\b|\bgo(?:ne|ing)? from\b",
        r"\bjump(?:ed)?\b",
        r"\binstead of\b",
        r"\bleft\b",
        r"\bditch",
        r"\btransfer",
        r"\b(?:up|down)grad",
        r"\bdump",
        r"\bmade way\b|\bgave way\b",
        r"\bpicked .{1,30} over\b",
        r"\bnew (?:job|employer|home|car)\b",
        r"\bchopp?ed in\b|\bpart[- ]exchang|\bswopp|\bin place of\b|\bin lieu of\b",
        r"\bpromoted\b|\bretrain(?:ed|ing)\b|\bbecame\b|\btook over\b|\bput me on\b|\bstarted me on\b",
        r"\bsold .{1,40} and (?:bought|got)\b",
        r"\bsucceed",
        r"\bin favou?r of\b",
    ),
    target=one_of(
        r"\b(?:to|for|with|by|at|into|onto|against|towards|put me on|started me on|became|promoted to|retrained as|in favou?r of|→|->|bought|got|started (?:at|with|using|on)|joined|now (?:use|using|take|taking|drive|ride|have|at|with|in|on|live in|work (?:for|at))|using|is|meant|called|named|it's|am|i'm at) (?:(?:a|an|the|my|our|her|his|new|some|using|working|living|called|named) ){0,3}(?P<new>[\w][\w.&'+#-]*(?: [\w][\w.&'+#-]*){0,4})"
    ),
    asks=one_of(
        r"how would (?:one|you|i|we)\b",
        r"(?:should|shall|would|could|can|will|do|does|did|is|are|am|was|were|has|have|may|might) (?:i|we|you|it|there|he|she|they|my|the|this|that|anyone|someone)\b",
        r"(?:what|which|who|whom|whose|why|how)\b(?! a\b)",
        r"(?:when|where)(?:'s| (?:do|does|did|is|are|was|were|will|would|can|could|should|shall|may|might|has|have|had|am|to|exactly|else|on earth|in)\b|$)",
        r"(?:any (?:idea|tips|suggestion|recommendation))",
        r"do you\b",
        r"what if\b",
        r"anyone\b",
    ),
    kin=one_of(KIN),
    many=one_of(
        r"^(?:.* )?(?:brother|sister|cousin|uncle|aunt|nephew|niece|friend|colleague|coworker|neighbou?r|son|daughter|kid|child|children|dog|cat|pet|parrot|rabbit|horse|hamster|puppy|kitten|hobby|hobbies|language|allergy|allergies|instrument|project|subscription|medication|flatmate|roommate|grandson|granddaughter|sport|plant|fish|bird|client|student|team ?mate|course|class|tool|app|magazine|problem|question|issue|idea|opinion|recent|previous|next|last|first|second|other|own|new|old|former|ex)s?$",
        r"^(?:goal|skill|interest|book|song|show|point|plan|friend|life|day|week|weekend|time|way|mind|god|head|house|team|thing|stuff)s?$",
    ),
    slot=one_of(
        r"favou?rite|fav|fave|usual|go-to|colou?r|size|job|profession|occupation|diet|breed|degree|weight|height|star|sign|handle|nickname|username|blood|religion|faith|nationality|birthday|shift|bedtime|budget"
    ),
    link=one_of(
        r"(?:is|are|'s|s|name|=|:|called|named|the|a|an|at|in|with|from|by|number|no|now|currently|always|named|on|under|it's|reads|has|goes|went|to|changed|new|my|of)"
    ),
    owned=one_of(
        r"\b(?:my|our)\b",
        r"\b(?:i'm|i am|we're|we are|i (?:live|sit|stay|work|sleep)) (?:in|at|on)(?: the)?\b(?= (?:room|desk|office|apartment|flat|unit|floor|gate|seat|building|ward|cabin|locker|booth|dorm)\b)",
    ),
    statements=ENGLISH_STATEMENTS,
)
