"""How English speakers state facts, tastes, tasks and instructions."""

from __future__ import annotations

from proxy.memory.learn.extract_builtin.lexicon import Statement, one_of
from proxy.memory.learn.extract_builtin.numbers import NUMBER

KIN = r"brother|sister|mother|father|mom|mum|dad|wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|son|daughter|cousin|uncle|aunt|nephew|niece|grandma|grandpa|grandmother|grandfather|gran|granny|nan|nana|grandad|granddad|grandson|granddaughter|step(?:mother|father|mum|mom|dad|son|daughter|brother|sister)|parents|friend|flatmate|roommate|housemate|neighbou?r|colleague|coworker|boss|manager|dog|cat|parrot|rabbit|horse|tortoise|hamster|puppy|kitten|landlord|landlady|eldest|youngest|oldest|little one|other half|missus|hubby|boyf|bf|gf|teenager|toddler|stepson|lad|lass|baby|twins?|kids?|child|children"

_ADVERBS = r"(?: (?:also|now|still|currently|just|usually|often|always|mostly|mainly|really|only|recently|both|have|'ve|been|do|generally|normally|regularly|sometimes|finally|already|absolutely))*"
_I = r"\b(?:i|we)(?:'ve|'m|'re)?" + _ADVERBS
# What is done in a reply.
_TELLING = (
    "use|answer|reply|respond|give|keep|write|call|include|format|explain|start|begin|end|finish|avoid|address|speak|talk|"
    "provide|mention|highlight|list|show|add|cite|quote|tell|remind|offer|suggest|recommend|check|make|put|ask|assume|"
    "refer|translate|return|print|sign|spell|specify|state|summari[sz]e|warn|wrap|note|convert|round|order|sort|rank|"
    "break|do|skip|leave|stick|stay|be|present|describe|point|define|attach|double[- ]check|verify|limit|separate|"
    "emphasi[sz]e|clarify|compare|name|reference|consider|prioriti[sz]e|output|label|number|indicate"
)

_TRADE = (
    r"(?:(?:retired|freelance|junior|senior|trainee|apprentice|part[- ]time|full[- ]time|qualified|head|assistant|deputy|primary|school|staff|civil|software|web|data|graphic|social|dental|veterinary|legal|sales|project|product|taxi|bus|lorry|truck|train|van|police|fire|delivery|chartered|pastry|sous|line|care|support|teaching|lab|music|language|stay[- ]at[- ]home|estate|travel|insurance|call[- ]centre) ){0,2}"
    r"(?:accountant|actor|actress|actuary|agent|analyst|anaesthetist|archaeologist|architect|archivist|artist|assistant|auditor|author|baker|banker|barber|barista|barrister|bartender|beautician|biologist|bookkeeper|bookseller|bricklayer|builder|butcher|caretaker|carer|carpenter|cashier|caterer|chef|chemist|cleaner|clerk|composer|conductor|consultant|cook|counsellor|courier|curator|dancer|dentist|designer|developer|dietician|doctor|driver|economist|editor|electrician|engineer|farmer|firefighter|fisherman|florist|gardener|geologist|guide|hairdresser|historian|illustrator|janitor|jeweller|joiner|journalist|judge|lawyer|lecturer|librarian|locksmith|manager|mason|mechanic|midwife|miner|model|musician|nanny|nurse|nutritionist|optician|painter|paralegal|paramedic|pharmacist|photographer|physicist|physiotherapist|pilot|plasterer|plumber|postman|potter|printer|producer|programmer|psychiatrist|psychologist|publisher|radiographer|realtor|receptionist|reporter|researcher|roofer|sailor|salesman|salesperson|scientist|secretary|security guard|seamstress|shoemaker|singer|solicitor|sommelier|surgeon|surveyor|tailor|teacher|technician|therapist|tiler|trader|translator|tutor|undertaker|vet|veterinarian|waiter|waitress|warden|watchmaker|welder|writer|zookeeper)"
)

ENGLISH_STATEMENTS = (
    Statement(
        "name",
        one_of(
            r"\bmy (?:first |full |last |real )?name is ",
            r"\b(?:i am|i'm) called ",
            r"\b(?:please |just |you can )?call me ",
        ),
        single=True,
        profile=True,
    ),
    Statement(
        "reply language",
        one_of(
            r"\b(?:always |please )?(?:answer|reply|respond|write)(?: to me)? (?:always |only )?in (?P<v>english|german|french|spanish|italian|portuguese|russian|chinese|mandarin|japanese|korean|dutch|polish|turkish|arabic|hindi|swedish|danish|norwegian|finnish|ukrainian|czech|greek|hebrew)\b"
        ),
        "procedure",
        single=True,
        profile=True,
    ),
    Statement(
        "live in",
        one_of(
            _I + r" (?:live|living|reside|based|moved|relocated|settled)(?: over| back)? (?:in|to|near) ",
            rf"\bmy (?P<who>{KIN})(?: \w+)? (?:now |currently )?(?:lives?|is (?:now )?living|moved) (?:in|to|near) ",
        ),
        single=True,
    ),
    Statement(
        "address",
        one_of(
            _I
            + r" (?:live|living|moved)(?: over)? (?:at|on|to) (?=\d+\w? \w+|(?:\w+ ){1,3}(?:street|road|lane|avenue|close|drive|st|rd|ave|crescent|terrace|way|gardens|court|place|square|mews|grove|row|hill|walk|boulevard)\b)"
        ),
        single=True,
    ),
    Statement(
        "profession",
        one_of(
            _I
            + r" (?:work|working|worked|serve|serving|employed|practi[sc]e|earn (?:my|a|our) (?:living|keep|crust|bread|money)|earning (?:my|a) living|make (?:my|a) living|making (?:my|a) living|pay the (?:bills|rent)|make ends meet|get by) as (?:a |an |the )?",
            r"\bmy (?:day )?(?:job|trade|profession|occupation|line of work) is (?:being |that of |as )?(?:a |an )",
            r"\b(?:i|we) (?P<v>(?!do\b)\w+ \w+(?: \w+)?) for a living\b",
            _I + r" (?:a|an) (?=(?:\w+ ){0,3}(?:by (?:trade|profession)|for a living))",
            rf"\bi(?:'m| am)(?: (?:now|currently|still|actually))* (?:a |an )(?P<v>{_TRADE})\b(?! (?:fan|friend|type|kind))",
            rf"\bi(?:'m| am) \w+(?: \w+)?, (?:a|an) (?:\d+[- ]year[- ]old )?(?P<v>(?:[\w/-]+ )?{_TRADE})(?= *(?:$|[.,;!]|(?:(?:in|at|from) (?!my\b|our\b|the\b)|(?:for|by|and|based|working|living)\b)))",
            r"\bi(?:'m| am) (?:\w+(?: \w+)?, )?a \d+[- ]year[- ]old (?P<v>(?!man\b|woman\b|boy\b|girl\b|guy\b|male\b|female\b|single\b|mother\b|father\b|mum\b|mom\b|dad\b)\w+(?: \w+)?)(?= (?:from|in|based|living|working)\b)",
            rf"\bmy (?P<who>{KIN})(?: \w+)? (?:now |currently )?(?:works|is working) as (?:a |an |the )?",
        ),
        single=True,
    ),
    Statement(
        "employer",
        one_of(
            _I + r" (?:work|working|employed)(?: \w+)? (?:at|for) ",
            _I
            + r" (?:started (?:working )?at|(?:got|landed|found|have|started) (?:a|my) (?:new )?(?:job|position|role) (?:at|with)|got hired (?:at|by)) ",
            rf"\bmy (?P<who>{KIN})(?: \w+)? (?:now |currently )?(?:works|is working|started)(?: \w+)? (?:at|for) ",
        ),
        single=True,
    ),
    Statement("desk", one_of(_I + r" sit(?:ting)? at (?=desk )"), single=True),
    Statement(
        "use",
        one_of(
            _I
            + r" (?:use|using|rely on|relying on|started using|switched to|swear by|running on|subscribe to|subscribed to|signed up for|commute on|commute by|program in|code in|write in)(?: (?:a|an|the|my))? ",
            _I
            + r" (?:keep|store|organi[sz]e|edit|write|track|manage|plan|do|make|build|host|run|save|back up|draw|record) (?:everything|all my \w+|my \w+(?: \w+)?|most of my \w+) (?:in|with|on|using) ",
        ),
    ),
    Statement("work with", one_of(_I + r" (?:work|working) with(?: (?:a|an|the|my))? ")),
    Statement("play", one_of(_I + r" (?:play|playing|played)(?: (?:a|an|the))? ")),
    Statement("speak", one_of(_I + r" (?:speak|speaking|fluent in)(?: fluent)? ")),
    Statement("learn", one_of(_I + r" (?:learn|learning|study|studying|started learning|taking lessons in)(?: to)? ")),
    Statement(
        "like",
        one_of(
            _I
            + r" (?:love|(?<!'m\s)(?<!'re\s)like|enjoy|adore|prefer|fond of|a (?:big |huge )?fan of|into|obsessed with|crazy about)(?: to)? "
        ),
        "preference",
    ),
    Statement(
        "dislike",
        one_of(
            _I + r" (?:hate|dislike|can't stand|cannot stand|don't like|do not like|don't enjoy|detest|loathe)(?: to)? "
        ),
        "preference",
    ),
    Statement(
        "allergic to", one_of(_I + r" (?:severely |mildly |slightly )?(?:allergic to|intolerant to|intolerant of) ")
    ),
    Statement(
        "take",
        one_of(
            _I
            + r" (?:take|taking|on|was put on|prescribed|need|swear by) (?:(?:my|the|some|a|an|daily|low[- ]dose|a low dose of|\d+ ?(?:mg|mcg|g) (?:of )?) )*(?=\w{2,}(?:pril|sartan|statin|azole|pam|lam|cin|mycin|cillin|oxetine|traline|pram|azine|triptan|lukast|parin|farin|xaban|gliptin|glutide|formin|mab|tidine|olol|dipine|thyroxine|amate|trigine|gabalin|pentin|etine|apine|idone|afil|oxin|terol|asone|isone|olone|profen|amol|codeine|opium|thiazide|semide|lactone|ronate|purine|rexate|yline|zolam|zepam|phenidate|fetamine|nidine|rizine|tadine|nadine|tonin|flavin|bital|toin)\b|(?:lithium|insulin|aspirin|magnesium|iron|zinc|iodine|morphine|ketamine|steroids|statins|antidepressants|beta ?blockers|blood thinners|vitamin \w+|the pill|hrt|ritalin|xanax|prozac|zoloft|lexapro|ozempic|wegovy|metformin|warfarin|melatonin|turmeric|creatine|collagen|probiotics)\b)",
            _I
            + r" (?:take|taking|on|was put on|prescribed) (?=\w+ (?:every|each|daily|twice|once|for my|for the|in the|before|at night|mg)|\d+ ?mg)",
        ),
    ),
    Statement(
        "eat",
        one_of(
            _I + r" (?:eat|have)(?: only)? (?=[\w ]{2,30} (?:for (?:breakfast|lunch|dinner)|every)\b)",
            _I + r" eat(?: a lot of| lots of| mostly)? (?!out|in|at|when|too|well|less|more|healthy)",
        ),
    ),
    Statement("drink", one_of(_I + r" drink(?: a lot of| lots of| mostly)? (?!too|more|less|alone|socially|it)")),
    Statement(
        "currently reading",
        one_of(
            r"\b(?:i'm|i am|we're|we are) (?:currently |now |still |just |in the middle of |halfway through |partway through |deep into )*(?:re-?reading|reading|working my way through|in the middle of|halfway through) (?!about|up|it|this|that|your|through|everything|between|a |an |some|more|the (?:news|paper))",
            r"\b(?:the book|the novel|the book that)(?: that)? (?:i'm|i am|we're) (?:currently |now )?(?:reading|on)(?: (?:right now|now|at the moment))? is ",
        ),
        single=True,
    ),
    Statement(
        "currently watching",
        one_of(
            r"\b(?:i'm|i am|we're|we are) (?:currently |now )(?:watching|bingeing|binge-watching) (?!it|this|that|your|what|how|the (?:news|kids))",
        ),
        single=True,
    ),
    Statement(
        "currently playing",
        one_of(
            r"\b(?:i'm|i am|we're|we are) (?:currently |now )playing (?!it|this|that|your|with|in|for|at|the )",
        ),
        single=True,
    ),
    Statement(
        "read",
        one_of(
            _I
            + r" (?:read|subscribe to|follow)(?: the)? (?=[A-Za-z])(?!about|that|your|it|on|in|somewhere|up|along|everything|through|and)"
        ),
    ),
    Statement("watch", one_of(_I + r" (?:watch|listen to)(?: the)? (?!your|it|out|what|how|when|and|too|more|less)")),
    Statement(
        "collect",
        one_of(
            _I
            + r" (?:collect|bake|brew|knit|sew|teach|coach|breed|grow) (?!it|them|up|more|less|my|at|in|data|from|you)"
        ),
    ),
    Statement(
        "shop at",
        one_of(
            _I
            + r" (?:shop|bank|buy (?:my|our) \w+|buy (?:most|all) of (?:my|our) \w+|am a customer|get (?:my|our) \w+) (?:at|with|from) "
        ),
    ),
    Statement("drive", one_of(_I + r" (?:drive|driving|ride|riding)(?: (?:a|an|my|the))? ")),
    Statement(
        "have",
        one_of(
            _I + r" (?:have|own|keep|adopted|have got)(?: got)? (?:a|an|two|three|four|five|\d+) ",
            _I
            + r" (?:have|suffer from|diagnosed with|been diagnosed with)(?: (?:a|an))? (?=[\w -]{0,25}(?:allergy|disease|syndrome|disorder|diabetes|asthma|migraine|itis|osis|adhd|autism|celiac|coeliac|condition))",
        ),
    ),
    Statement(
        "be",
        one_of(
            _I
            + r" (?=(?:fully |strictly |mostly )?(?:vegan|vegetarian|pescatarian|gluten[- ]free|married|single|divorced|engaged|pregnant|retired|left-handed|diabetic|lactose))"
        ),
    ),
    Statement(
        "age",
        one_of(
            rf"\b(?:i'm|i am|i(?:'ve)? (?:just )?turned) (?P<v>{NUMBER})(?:(?: years?)?(?: old)?| yo\b)(?= *(?:$|[,.!?;]|now|today|yesterday|last|this|on|in|and|so|but))",
            rf"\bmy (?P<who>{KIN}) (?:is|(?:has )?(?:just )?turned) (?:now |already )?(?P<v>{NUMBER}(?: (?:years?|months?)(?: old)?)?)(?= *(?:$|[,.!?;]|now|today|and|so|already))",
        ),
        single=True,
    ),
    Statement(
        "weight",
        one_of(
            rf"\bi (?:now |currently )?(?:weigh|am at|'m at) (?:about |around |roughly )?(?P<v>{NUMBER} ?(?:kilos?|kgs?|pounds|lbs?|stone)\b)"
        ),
        single=True,
    ),
    Statement(
        "height",
        one_of(r"\bi(?:'m| am) (?P<v>\d(?:[.,]\d\d?)? ?m\b|\d{2,3} ?cm\b|\d ?(?:ft|feet|foot)(?: ?\d+)?)(?: tall)?"),
        single=True,
    ),
    Statement(
        "wear size",
        one_of(r"\bi (?:now |usually )?(?:wear|take|need|am|'m)(?: a| an)? (?P<v>size (?:\d+(?:[.,]5)?|x*s|m|x*l)\b)"),
        single=True,
    ),
    Statement(
        "study",
        one_of(rf"\bmy (?P<who>{KIN})(?: \w+)? (?:(?:is )?(?:now |currently )?(?:studies|studying)) "),
        single=True,
    ),
    Statement(
        "earn",
        one_of(
            r"\b(?:i|we) (?:now |currently )?(?:earn|make|take home|get paid|bring home) (?:about |around |roughly )?(?P<v>[$€£]? ?\d[\d.,]*k?(?: (?:dollars|euros|pounds))?)(?= (?:a|per|every|after|before|net|gross|an))"
        ),
        single=True,
    ),
    Statement(
        "member of",
        one_of(
            _I
            + r" (?:a member of|in the (?=[\w -]{2,30}(?:choir|band|team|club|gym|group|society|orchestra|league|union)\b)|sing in|volunteer (?:at|for|with)|go to the|train at|work out at|rejoined|back in|back at|coach at)(?: (?:a|an|the))? "
        ),
    ),
    Statement(
        "born in",
        one_of(_I + r" (?:was |were )?(?:born in|born on|from|grew up in|come from|originally from) "),
        single=False,
    ),
    Statement("task", one_of(r"\b(?:please )?remind me (?:to|that|about) "), "task", reach="clause"),
    Statement(
        "instruction",
        one_of(
            r"^(?:please )?(?=(?:from now on|going forward|in future|in the future),? (?!i\b|we\b))",
            r"^(?:please )?(?=(?:always|never) (?:please )?(?:"
            + _TELLING
            + r")\b(?![^.?!]* (?:he|she|they|it) (?:said|says|told|reads?)\b))",
            r"^(?=(?:when|whenever|if|every time|each time) i ask\b[^.?!]+?,? (?:please )?(?:(?:always|never|do not|don't) )?(?:"
            + _TELLING
            + r")\b)",
            r"^(?=i(?:'d| would)? (?:want|like|need|prefer) you to (?:always|never) \w)",
        ),
        "procedure",
        profile=True,
        reach="sentence",
    ),
)
