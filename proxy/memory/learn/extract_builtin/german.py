"""What German speakers say when something ends, changes, begins or is a mere thought."""

from __future__ import annotations

from proxy.memory.learn.extract_builtin.german_endings import GERMAN_CEASED, GERMAN_ENDED
from proxy.memory.learn.extract_builtin.german_facts import GERMAN_STATEMENTS, KIN
from proxy.memory.learn.extract_builtin.lexicon import Lexicon, one_of
from proxy.text.words import word_set

GERMAN = Lexicon(
    code="de",
    stop=word_set(
        """ich mich mir mein meine meinen meinem meiner meines wir uns unser unsere unserem unseren du dich dir dein deine deinem
        er ihn ihm sein seine seinem seinen sie ihr ihre ihrem es man der die das den dem des ein eine einen einem einer eines
        kein keine keinen keinem und oder aber sondern denn weil dass ob wenn als wie so also auch noch nur schon sehr mehr
        nicht nie nein ja doch mal bitte danke hallo hey moin was wer wo wann warum welche welcher welches welchen
        bin bist ist sind seid war waren gewesen habe hast hat haben hatte hatten hab wird werden wurde worden kann kannst
        könnte muss soll sollte will möchte mag darf in im ins an am auf aus bei beim mit nach seit von vom vor zu zum zur für
        gegen ohne um über unter durch zwischen jetzt nun da dann dort hier heute gestern morgen immer wieder alles alle etwas
        nichts viel viele ganz gar eigentlich übrigens endlich endgültig zwei drei woche monat jahr tag tage zeit mache macht
        gemacht nutze benutze nutzen nehme esse trinke spiele lerne lese gehe fahre arbeite wohne heißt heisst heiße gibt gibts sammle koche male singe tanze schwimme laufe schaue höre sehe backe pflege trage schreibe
        dir daheim halt eben isch händ hend nöd nid ned net nimma nümme gsi öppis öppe hob hamma koa euse eusi euses wia wos oba"""
    ),
    generic=word_set(
        """dr prof doktor zahlung tausch gegenzug umtausch antwort ding schwager hotel restaurant café klinik krankenhaus uni universität straße weg platz bank bibliothek bus bahn professorin professor frau herr kita
        app apps programm programme tool tools abo abos abonnement konto konten vertrag verträge mitgliedschaft dienst
        dienste gebühr gebühren software verein club klub studio karte job arbeit firma büro stadt ort haus wohnung nummer
        telefonnummer adresse leute freund freunde familie kinder kind hund katze haustier medikament tabletten tablette
        arzt kurs kurse sprache instrument sport buch film musik auto wagen rad gruppe band chor schule kiste beitrag kasse
        geschenk sache info infos information daten angabe angaben rest urlaub praxis gedächtnis speicher notizen liste"""
    ),
    first=one_of(
        r"\b(?:i(?= (?:hob|hab|bin|han|kann|ko|mog|geh|tua|nimm|brauch))|euse\w?|hob|hamma|händ|ich|wir|mich|mir|uns|mein(?:e[nmrs]?)?|unser\w*|hab|bin)\b"
    ),
    third=one_of(
        r"^(?:\W|und |aber |weil )*(?:der|die) (?P<who>\w+) hat (?!.*\b(?:mir|uns|mich|mein\w*|unser\w*|ich|wir)\b).{2,40}\b(?:verlassen|gekündigt|hingeschmissen)\b",
        r"^(?:\W|und |aber |also |denn |weil |dass |obwohl )*(?:ein|eine|irgendein|irgendeine|manche|mancher) (?!hund|katze|kater)(?P<who>\w+) (?:\w+ ){0,3}(?:hat|ist|haben|sind|will|macht|hört)\b",
        r"^(?:\W|und |aber |also |denn |weil |dass |obwohl |übrigens |gestern |heute |auch |ja )*(?:(?:mein|meine|meinem|meiner|unser|unsere|sein|seine|ihr|ihre|der|die|das|den|dem|ein|eine|jeder|alle|viele|manche) )?(?:\w+ ){0,2}?(?P<who>"
        + KIN
        + r"|freunde|freundinnen|kumpel|nachbarn|nachbarskater|nachbarshund|kollegen|kolleginnen|team|trainer(?:in)?|lehrer(?:in)?|leute|jemand|niemand|viele|alle|kunden|direktor|forum|blog|artikel|firma|die anderen)\b",
        r"^(?:\W|und |aber |also |denn |weil |dass |obwohl )*(?P<whom>er|sie(?! ist| sind)|man)\b",
    ),
    ended=one_of(
        r"\bhat (?:jetzt |nun )?(?:mein|meine|unser|unsere|der|die|ein|eine) \w+ (?:\w+ )?(?:bekommen|gekriegt|geerbt|abgekriegt)\b|\blebt (?:jetzt|nun|seit \w+) (?:bei|mit) (?:einer|einem|meiner|meinem)\b|\b(?:nun|jetzt|inzwischen) (?:jemand )?andere[rn]?\b(?= *(?:$|[,.!]))",
        r"\b(?:ist|sind|war) (?:\w+ ){0,3}(?:rum|ausgestanden|futschikato)\b(?= *(?:$|[,.!;]))|\bdas w(?:ar|är)'?s\b|\bkeinen cent mehr\b|\bsagt nein zu\w*\b|\bohne (?:mich|uns)\b(?= *(?:$|[,.!;]|weiter))",
        r"\bzum letzten mal\b|\bein letztes mal\b|\bkann (?:ich|man) (?:\w+ ){0,3}verzichten\b|\bwar gestern\b(?= *(?:$|[,.!]))|\bist (?:\w+ ){0,3}verschwunden\b(?= und| *(?:$|[,.!]))",
        r"(?<!weiß)\bnicht weiter\b(?! (?:schlimm|tragisch|wichtig|wild|dramatisch|darüber|stört|auffällig|verwunderlich|nach))",
        r"\bin (?:pension|rente|den (?:wohlverdienten )?ruhestand|altersteilzeit) (?:gegangen|geschickt|verabschiedet)\b",
        r"\b(?:meinen|unseren|seinen|ihren|den) (?:austritt|ausstieg|abschied|rücktritt)\b(?=.*\b(?:mitgeteilt|erklärt|eingereicht|verkündet|geschickt|gegeben|genommen|bekannt\w*)\b)|\b(?:meine|unsere|seine|ihre|die) (?:kündigung|abmeldung)\b(?=.*\b(?:mitgeteilt|hingelegt|hingeschickt|geschickt|gegeben|bestätigt|zugestellt|übergeben|abgeschickt)\b)",
        r"\bnimmer\b|\b(?:nix|net|ned|nich|nit|nöd|nid) (?:mehr|meh|länger|lenger)\b|\b(?:nimma|nüm|nümm|nümme|nömme|nüme)\b|\bk(?:oa|oan|ei|a|an|ane|oane)n? .{1,30}\b(?:mehr|meh)\b",
        r"\bgstorb(?:e|n|m)\b|\b(?:ei|i|ein)gschläf(?:er|r)(?:e)?t\b|\beingang(?:e|n|en)\b|\bverreckt\b|\bhi(?:n)?gmacht\b",
        r"\bkieloben\b|\bmit dem bauch nach oben\b|\bleblos\b|\b(?:lag|liegt) tot\b|\bist (?:das|es|die sache|der fall) (?:für (?:mich|uns) )?(?:rum|durch|gelaufen|erledigt|vorbei|gegessen)\b|\bsendepause\b|\bfunkstille\b|\bende gelände\b|\baus die maus\b|\baus und vorbei\b|\bschnee von gestern\b|\bweg vom fenster\b|\bkein thema mehr\b|\bauf nimmerwiedersehen\b",
        r"\b(?:ist|sind) (?:\w+ ){0,3}(?:gegessen|futsch|dahin|perdu|geplatzt|gelaufen|abgelaufen|pleite|insolvent|tot|entlaufen|weggelaufen)\b(?= *(?:$|[,.!;]|und|weil|seit))",
        r"\bkann(?:st|ste)? (?:\w+ ){0,3}(?:knicken|abhaken|abschreiben)\b",
        r"\bhinter (?:uns|sich)\b(?= *(?:$|[,.!;]|gelassen))|\bregenbogenbrücke\b|\bvon uns gegangen\b|\bhimmel gegangen\b",
        r"\bauf dem gewissen\b|\btotalschaden\b|\bschrottplatz\b|\bauf den schrott\b|\bin die schrottpresse\b",
        r"\bvertrag (?:\w+ ){0,3}endet\b|\bhat sich (?:\w+ ){0,3}aus(?:ge\w+t|gejoggt|gespielt|getanzt)\b|\b(?:kein|keinen) (?:bock|lust|nerv) mehr\b",
        r"\bmit (?:\w+ ){1,4}hab(?:e|en)? (?:ich|wir) (?:\w+ ){0,5}(?:gebrochen|abgeschlossen|schluss|aufgehört|nichts mehr am hut)\b|\bnichts mehr am hut\b",
        r"\b(?:kündigung|austritt|abmeldung|rücktritt|ausstieg)(?:sschreiben|serklärung)? (?:\w+ ){0,4}(?:raus|eingereicht|abgeschickt|geschrieben|unterschrieben|abgegeben|verschickt|eingeworfen|bestätigt|erklärt|verkündet|durch)\b|\b(?:eingereicht|unterschrieben) .{0,20}\bkündigung\b",
        r"\bwar (?:letzte[nrsm]?|voriges|vorige[nr]?|vergangene[nsr]?) (?:jahr|woche|monat|mal|sommer|winter|saison)\b",
        r"\b(?:bin|sind) (?:ich|wir) (?:\w+ ){1,4}(?:untreu|abtrünnig) geworden\b|\bkeins mehr\b|\bvertrocknet\b|\bverwelkt\b|\bverendet\b|\bbraucht mich nicht mehr\b",
        r"\bin rente\b|\babgekauft\b|\bweggezogen\b(?=.*\b(?:jetzt|nun|seitdem)\b)|\bhat sich (?:\w+ ){0,3}aufgelöst\b|\blas(?:se|s)? .{0,30}\bweg\b|\bgestrichen\b|\bgewichen\b|\b(?:bin|sind) (?:\w+ ){0,2}raus\b",
        r"\bist (?:\w+ ){0,3}(?:raus|weg|gestrichen|abgehakt|passé)\b(?= *(?:$|[,.!;]|und|weil|da|jetzt))",
        r"\bhat sich (?:\w+ ){0,2}erledigt\b|\bhat (?:\w+ ){0,2}ausgedient\b|\bläuft (?:\w+ ){0,2}nicht weiter\b",
        r"\b(?:den|einen) laufpass\b|\bin (?:rente|den ruhestand) (?:geschickt|gegangen)\b|\bin die tonne\b|\bin den müll\b|\bauf den müll\b",
        r"\bbin ich (?:\w+ ){0,2}(?:weg|durch)\b|\bhabe?n? (?:\w+ ){0,4}satt\b|\bhängt? .{0,25}am nagel\b",
        r"\bkaputt(?:gegangen)?\b(?=.*\b(?:weg|entsorgt|ersetzt|müll)\b)|\bgeklaut\b|\bgestohlen worden\b",
        r"\bnicht (?:verlängert|erneuert|fortgesetzt|weitergeführt|weiterbezahlt)\b",
        r"\bnicht (?:länger|mehr)\b(?! (?:ganz )?(?:so|allzu|sonderlich|besonders|sehr|der jüngste|die jüngste|taufrisch)\b)",
        r"\bkein(?:e|en|em|er)? .{0,40}\bmehr\b",
        r"\bnie (?:wieder|mehr)\b",
        r"\bschluss\b",
        r"\bvorbei\b",
        r"\bgeschichte\b(?= *$|[,.!])",
        r"\bpassé\b",
        r"\bvergangenheit\b",
        r"\bade\b|\btschüss\b|\blebe? ?wohl\b|\badieu\b|\bbye\b",
        r"\bhinter mir\b",
        r"\bweg\b(?= *$|[,.!])",
        r"\berledigt\b(?= *$|[,.!])",
        r"\bgestorben\b|\bverstorben\b|\beingeschläfert\b",
        r"\bvom tisch\b",
        r"\bist raus\b|\bfliegt raus\b|\brausgeflogen\b",
        r"\bnichts mehr\b",
        r"\bkann mir gestohlen bleiben\b",
        r"\bhabe? ich durch\b",
        r"\b(?:ex|früherer|ehemalige[rsn]?)\b",
        r"\b(?:bin|sind|wurde|wurden|endlich|ihn|sie|es) .{0,40}\blos(?:geworden)?\b(?= *$|[,.!])",
        r"\bohne (?:ihn|sie|es) (?:weiter|aus)\b",
        r"\bdie nase voll\b",
        r"\babgehakt\b",
        r"\bzu ende\b",
        r"\bruhestand\b",
        r"\beingegangen\b",
        *GERMAN_ENDED,
    ),
    ceased=one_of(
        r"\b(?:ver|va)(?:ch|k)(?:au|aa|ou|a)ft\b|\b(?:auf|uf)gh(?:ö|e|ee|öö)rt\b|\b(?:weg|wäg|furt|fort|ab|her|hi|hin|zrugg|zruck|zruckg|uf|auf|us|aus|usse|aussa|nous|naus|raus|use)(?:g(?:ä|e|eh|ee|ebn|äbe|äh|schmisse?n?|worfe?n?|worfa|schenkt|haut|noh|nomma|brocht|bracht|stiegn|stige|schtige|trete?|zoge|rissn|riss[ae]|steckt|löscht|keit|heit))\b|\b(?:ch|k)ünd(?:e|ig)t\b|\bgchündet\b|\b(?:reiß|hau|schmeiß|gib|gim) (?:i|ma|mir) .{0,20}\b(?:aussa|außa|aussi|weg|ausse|her)\b",
        r"\b(?:gepfeffert|gefeuert|geknallt|gekickt|abgesägt|abgestoßen|abgelehnt und gekündigt|eingeäschert|verfüttert|verbrannt|kompostiert|verramscht|weggekippt|ausgeschüttet|rausgekippt|abgebrochen|aufgesagt|beerdigt|ausgetauscht)\b|\bin den händen von\b|\b(?:ins|in ein|in das) (?:pflegeheim|altersheim|heim|hospiz) (?:\w+ ){0,3}(?:verlegt|gekommen|gezogen|umgezogen)\b",
        r"\b(?:durften?|konnten?|mussten?|darf|habe? .{1,40}) .{0,60}\b(?:absetzen|streichen|abgeben|verkaufen|kündigen|aufgeben|weglassen|abbestellen|hergeben|weggeben|abmelden|einstellen|ausziehen|entlassen|abschaffen|einschläfern(?: lassen)?|beenden|verlassen|abbrechen|loslassen|zurückgeben|abtreten|aufhören|entsorgen|wegwerfen|verschenken|stilllegen|auflösen|schließen|ausschleichen|rausnehmen|räumen)\b(?= *(?:$|[,.!;]|müssen|dürfen|können|und|weil))",
        r"\b(?:aus dem (?:programm|sortiment|plan|team|verein|kader|repertoire|haus|kurs)|vom (?:plan|hof|acker|zettel)) (?:\w+ )?(?:gekippt|geflogen|gestrichen|genommen|geworfen|geworfen worden)\b|\bgekippt\b(?= *(?:$|[,.!;]))|\b(?:durchgespielt|ausgelesen|fertiggelesen|durchgelesen|durchgeguckt|durchgeschaut|ausgetrunken)\b(?= *(?:$|[,.!;]|und))|\b(?:zu ende|fertig) (?:gelesen|geguckt|geschaut|gespielt)\b",
        r"\baus (?:der|dem|unserer|unserem) .{3,45}\b(?:bin|sind) (?:ich|wir) .{0,25}\b(?:gegangen|raus|weg|geflogen|ausgestiegen)\b|\b(?:lass\w*|ließ\w*) .{0,40}\bverfallen\b|\b(?:weggenommen|entzogen|abgeknöpft|eingezogen|einkassiert|weggeholt|abgeholt und behalten)\b",
        r"\bgeschlachtet\b|\bentfolgt\b|\bdeabonniert\b|\bentabonniert\b|\bentfreundet\b|\bblockiert\b(?= *(?:$|[,.!]))",
        r"\b(?:macht|machen) .{0,30}\bzu\b(?= *(?:$|[,.!]))|\bschließt (?:\w+ ){0,4}(?:für immer|endgültig|ihre türen|seine türen|die pforten|ihre pforten)\b",
        r"\bläuft (?:\w+ ){0,4}aus\b|\bläuft (?:\w+ ){0,3}ab\b|\b(?:der|meiner|einer|unserer|dem|meinem|einem) \w+ (?:\w+ )?überlassen\b|\bvermietet\b|\babgebucht\b(?=.*letzte)|\bgefeuert\b|\bvor die tür\b|\brunter vom\b|\bherausgenommen\b|\brausgekürzt\b|\bersatzlos\b",
        r"\babgeblasen\b|\babgehakt\b|\babgeklemmt\b|\babgelegt\b(?=.*\b(?:endgültig|für immer)\b)|\babgeschrieben\b(?= *$)|\babgestöpselt\b|\babgewählt\b|\baufgekündigt\b|\bausgeklinkt\b|\bausgemistet\b|\bausgeschlichen\b|\baussortiert\b|\bausgesteckt\b|\bdrangegeben\b|\beingestampft\b|\bentsagt\b|\bhergeschenkt\b",
        r"\b(?:fallen|fahren|sausen|auslaufen|einschlafen|ziehen|gehen) (?:ge)?lassen\b|\bgekappt\b|\bgeräumt\b|\blosgesagt\b|\bplatt ?gemacht\b|\bverscherbelt\b|\bverkloppt\b|\bverscheuert\b|\bversilbert\b|\bvermacht\b|\bweggelassen\b|\bweggeschickt\b|\bweitergereicht\b|\bzerrissen\b|\bzerschnitten\b|\bgeschreddert\b|\bzugeklappt\b|\bzugemacht\b|\bzugesperrt\b|\bzurückgeschickt\b|\bausgebaut\b(?=.*\b(?:stelle|stattdessen|dafür|jetzt|nun)\b)",
        r"\b(?:zu meine[rm] \w+|zu unsere[rm] \w+|in (?:den|die) (?:müll|tonne|container|altkleider\w*)|zum (?:wertstoffhof|sperrmüll|schrott|flohmarkt|tierschutz)) (?:gewandert|gegangen|gekommen|geflogen|gebracht)\b",
        r"\b(?:stecker|reißleine) gezogen\b|\bschlussstrich\b|\bhandtuch (?:geworfen|geschmissen)\b|\bden hahn (?:zu|ab)gedreht\b|\bin den wind geschossen\b|\bin die wüste geschickt\b|\babgeschossen\b|\ban die luft gesetzt\b|\bvor die tür gesetzt\b|\bzu den akten\b|\bad acta\b|\bein ende (?:gesetzt|gemacht|bereitet)\b|\bden garaus\b|\bden stift fallen\b|\bkehrt gemacht\b|\bden dienst quittiert\b|\bin die ecke gestellt\b|\bdie segel gestrichen\b",
        r"\b(?:gesperrt|entzogen|ausgeredet|abgenommen|weggenommen) (?:worden|bekommen)\b|\bhat (?:mir|uns) .{0,40}\b(?:abgesetzt|gestrichen|entzogen|ausgeredet|abgenommen|weggenommen)\b|\bbetrieb eingestellt\b|\binsolvenz angemeldet\b|\bpleite ?gegangen\b|\bumfunktioniert\b|\bumgeschult\b|\bzur adoption\b|\bin gute hände\b",
        r"\bzugeschüttet\b|\bzuschütten\b|\babgerissen\b|\bgefällt\b(?= *$|[,.!])|\babgebaut\b|\brausgerissen\b|\bausgegraben\b|\babgeholzt\b|\bdemontiert\b",
        r"\bdichtgemacht\b|\bstillgelegt\b|\babgeschlossen mit\b",
        r"\baus .{2,30} genommen\b|\bzurückgetreten\b|\bexportiert\b(?=.*\braus\b)|\brausgenommen\b|\babgekauft\b|\bsein lassen\b|\bhingehängt\b",
        r"\bverboten\b|\buntersagt\b|\bgekillt\b|\bgekickt\b|\brausgekickt\b|\babserviert\b|\bbegraben\b|\bverbannt\b|\bversteigert\b|\bvererbt\b|\bweitergegeben\b|\bweiterverschenkt\b|\bübergeben\b|\babgetreten\b|\bniedergelegt\b|\bverschrottet\b|\brausgeschmissen\b",
        r"\babgesagt\b|\bdrangegeben\b|\ban den haken\b|\bauf eis gelegt\b|\babgestellt\b|\babgeschaltet\b|\bgecancelt\b|\bgekanzelt\b|\bgelöst\b(?= *$|[,.!])|\bweggebracht\b|\bins tierheim\b|\bhingeworfen\b|\bausgetragen\b|\babgewickelt\b|\bverlernt\b|\bverlegt\b(?= *$)|\beingemottet\b|\bvertickt\b|\bverhökert\b|\babgestiegen\b|\braus aus\b",
        r"\b(?:gebe?|werfe?|schmeiße?|stelle?|melde) .{0,40}\b(?:auf|weg|ein|ab|hin)(?= *$|[,.!])|\bsteige? .{0,30}aus\b(?= *$|[,.!])|\bkündige\b|\bbeende\b|\bverkaufe\b",
        r"\b(?:auf|ab)gehört\b|\bhöre? .{0,30}\bauf\b",
        r"\b(?:ge|auf|ab)?kündigt\b|\bgekündigt\b|\bkündigte\b",
        r"\bauf(?:ge)geben\b|\baufgegeben\b|\bgebe? .{0,30} auf\b",
        r"\babgegeben\b|\bweggegeben\b|\bhergegeben\b|\bzurückgegeben\b|\bverschenkt\b|\bverkauft\b|\bgespendet\b|\bverkaufte\b",
        r"\babgemeldet\b|\babbestellt\b|\babbestellte\b|\bstorniert\b|\bwiderrufen\b|\bausgetreten\b|\btrat .{0,30} aus\b|\bbeendet\b|\beingestellt\b|\babgebrochen\b|\babgesetzt\b",
        r"\b(?:de|des)?installiert\b(?<!installiert)|\bdeinstalliert\b|\bgelöscht\b|\brunter(?:geworfen|geschmissen|genommen)\b|\b(?:raus|weg|hin|über bord )(?:geworfen|geschmissen)\b|\bentsorgt\b|\bentfernt\b|\babgeschafft\b|\bausgemustert\b|\bentlassen\b|\bgefeuert\b",
        r"\bverlassen\b|\bverließ\b",
        r"\bausgestiegen\b|\bausgezogen\b|\babgesprungen\b|\bausgeschieden\b",
        r"\bsein (?:ge)?lassen\b|\bsein lassen\b|\bbleiben (?:ge)?lassen\b|\blasse? .{0,40}\b(?:sein|bleiben)\b",
        r"\bhingeschmissen\b|\bgeschmissen\b|\ban den nagel\b|\bverabschiedet\b|\bden rücken gekehrt\b|\btrenn(?:e|te|en)\b|\bgetrennt\b",
        r"\babgewöhnt\b|\bverzichte\b|\babgeschworen\b|\bausgelaufen\b|\babgelaufen\b|\bverlängert .{0,20}nicht\b|\bnicht verlängert\b|\bstillgelegt\b|\bquittiert\b|\babgestoßen\b|\bin zahlung\b|\bweggetan\b|\bexmatrikuliert\b|\bgeschlossen\b|\baufgelöst\b|\bausrangiert\b|\babgewandt\b|\bweggefallen\b|\bfällt weg\b|\bgestrichen\b",
        *GERMAN_CEASED,
    ),
    negation=one_of(
        r"\bnie\b", r"\bniemals\b", r"\bnicht\b(?! mehr)", r"\bkein(?:e|en|em|er)?\b", r"\bohne\b", r"\bweder\b"
    ),
    parted=one_of(
        r"\bgetrennt\b",
        r"\bschluss gemacht\b",
        r"\bauseinander(?:gegangen)?\b",
        r"\bgeschieden\b",
        r"\bausgezogen\b",
        r"\bverlassen\b",
        r"\bkein paar mehr\b",
        r"\bist aus\b(?= *(?:$|[,.!;]|zwischen|mit))",
        r"\bist vorbei\b",
        r"\bnicht mehr zusammen\b",
        r"\bzerstritten\b|\bverkracht\b|\btrennung\b|\bscheidung\b|\bentlobt\b",
    ),
    hedge=one_of(
        r"\bbehauptet\b|\bhätt(?:e|en|st)?\b|\bso tun\b|\bangeblich\b|\bheißt es\b",
        r"\bals (?:wäre|wär|hätte|ob)\b|\bwie ein\w* (?:fünf|sechs|\d)",
        r"\bdu (?:hast|hattest|sagst|meinst|schreibst|sagtest)\b|\bstell dir vor\b|\bspiel(?:e|en)? (?:einen?|den|die)\b",
        r"\b(?:müsste|müssten|dürfte|könntest|bräuchte|ginge|gäbe)\b",
        r"\b(?:sagt|meint|behauptet|erzählt)\b(?= (?:er|sie|dass)|,? (?:er|sie)\b| *$)",
        r"\b(?:nie|nicht|niemals|kein\w*) (?:\w+ ){0,3}(?:gesagt|behauptet|erzählt|gemeint|geschrieben|angedeutet)\b|\b(?:sage|behaupte|meine|heißt) (?:\w+ ){0,2}nicht\b",
        r"\bim (?:film|roman|buch|lied|song|spiel)\b|\btheoretisch\b|\bgesetzt den fall\b",
        r"\b(?:wenn|falls|ob|würde|würden|sollten?(?! (?:da|es|das)? ?(?:stehen|heißen|lauten|sein)\b)|sollen|soll|könnte|könnten|vielleicht|eventuell|womöglich|angenommen|hätte|wäre|möchte|wollte|überlege|überlegt|überlegen|nachdenken|erwäge|spiele mit dem gedanken|mal sehen|hoffentlich|fast|beinahe|demnächst|irgendwann|bald)\b",
        r"\bdenke .{0,20}(?:nach|daran|darüber)\b",
        r"\bwill\b|\bwollen\b|\bwerde\b(?! ich nie)",
        r"\bhabe? vor\b|\bplane\b|\bversuch(?:e|t|en)\b",
        r"\bmeint, ich\b|\bsagt, ich\b|\brät\b|\braten\b|\bempfiehlt\b|\bverlangt\b|\bdroht\b",
        r"\bscherz\b|\bwitz\b|\btraum\b|\bgeträumt\b|\btu(?:e|n)? so\b",
    ),
    past=one_of(
        r"\bfrüher\b(?!e)",
        r"\bals kind(?:er)?\b",
        r"\bals (?:jugendliche[rs]?|teenager|schüler(?:in)?|student(?:in)?)\b",
        r"\bdamals\b",
        r"\bin meiner (?:jugend|kindheit|schulzeit)\b",
        r"\bals ich (?:klein|jung|noch)\b",
        r"\beinst\b",
    ),
    limited=one_of(
        r"\b(?:früh|früher|vorzeitig|zeitig|mittendrin)(?= (?:beendet|abgebrochen|aufgehört|schluss|zugemacht|geschlossen))|\bfür heute\b|\bdiesmal\b",
        r"\bam wochenende\b|\ban? wochenenden\b",
        r"\bim urlaub\b|\bin den ferien\b|\bauf (?:reisen|dienstreisen?)\b|\bunterwegs\b",
        r"\b(?:mon|diens|mitt?woch|donners|frei|sams|sonn)(?:tag)?s\b|\bsonntags\b|\bfeiertags\b|\bwerktags\b|\bwochentags\b",
        r"\bnachts\b|\babends\b|\bmorgens\b|\bvormittags\b|\bnachmittags\b|\bmittags\b",
        r"\bwährend\b",
        r"\bnach \d|\bab \d{1,2} uhr\b|\bvor dem (?:schlafen|essen)\b",
        r"\b(?:diese|für eine|für zwei|ein paar|nur) (?:woche|wochen|tage|tag)\b|\bheute\b",
        r"\bvorübergehend\b|\bpausier|\bpause\b",
        r"\bin der fastenzeit\b",
        r"\bbeim (?:essen|fahren|sport)\b",
        r"\bim (?:auto|bett|sommer|winter|meeting)\b",
        r"\bauf dem handy\b",
    ),
    again=one_of(
        r"\bwieder\b",
        r"\bzurück(?:gekehrt|gewechselt|gekommen)?\b(?! (?:nach|in (?:die|ihre|seine)|aufs) \w+)",
        r"\berneut\b",
        r"\bnochmal\b|\bnoch einmal\b",
        r"\breaktiviert\b",
    ),
    additive=one_of(
        r"\b(?:andere[rsn]?|neulich .{0,20}angefangen|genauso gern|ebenso|auch noch)\b",
        r"\b(?:auch|außerdem|ausserdem|zusätzlich|ebenfalls|zudem|zweite[rsn]?|dritte[rsn]?|weitere[rsn]?|noch ein\w*|noch dazu|obendrein|neben|dazu|beide)\b",
        r"\bnicht (?:mehr|länger) (?:allein\w*|einzelkind|alleine)\b|\b(?:gesellschaft|zuwachs|verstärkung|nachwuchs|geschwisterchen) (?:bekommen|gekriegt)\b|\b(?:hat|haben|kriegt|bekommt|bekommen) (?:\w+ )?(?:gesellschaft|zuwachs|verstärkung|nachwuchs)\b",
    ),
    forget=one_of(
        r"\bnichts (?:\w+ ){0,3}(?:über|von|zu) .{1,30} (?:aufheben|speichern|merken|behalten|festhalten|notieren|aufbewahren)\b|\bso tun\b.{0,5}\bals\b",
        r"\blässt du .{1,50}\b(?:weg|raus|beiseite|außen vor)\b|\bhätte (?:hier |da )?(?:nicht|nie) (?:hier )?(?:reingehört|hergehört|hineingehört|gesagt gehört)\b|\bgehört (?:hier )?nicht (?:hier)?(?:rein|her|hierher)\b",
        r"\b(?:wohler|lieber|lieb|beruhigter|recht|froh|dankbar)\b.{0,40}\bwenn\b.{0,70}\b(?:nirgends|nirgendwo|nicht|nie|keiner|niemand)\b.{0,30}\b(?:auftaucht|auftauchen|steht|gespeichert|vorkommt|bleibt|erfährt|merkst|behältst|festhältst)\b",
        r"\b(?:bleibt|bleiben|bleibe) (?:bitte )?(?:nirgends|nirgendwo|nicht) (?:hängen|gespeichert|stehen|haften|liegen)\b|\bunter den tisch fallen\b|\bschwamm drüber\b|\bunter uns\b(?=.*\b(?:bleib\w*|vergiss|ja)\b)",
        r"\b(?:hast|hättest) du (?:\w+ ){0,4}(?:nie|nicht) (?:gehört|gelesen|gesehen|mitbekommen)\b|\bdu (?:\w+ ){0,3}nie (?:gehört|gelesen|gesehen)\b|\bals (?:gäbe|gäb) es .{0,40}(?:nicht|nie)\b",
        r"\bhätte ich .{0,50}(?:für mich behalten|nicht (?:erzählen|sagen|schreiben|erwähnen|verraten|ausplaudern)|besser nicht|lieber nicht|nie erwähnt)\b",
        r"\b(?:erwähn\w*|sprich|fang) .{1,60}\b(?:nicht|nie) (?:mehr|wieder)\b|\bausblenden\b|\bausradier\w*|\bunerwähnt\b|(?<!wie\s)\bblende? .{1,50}\baus\b",
        r"\blass .{1,40}\b(?:raus|weg|außen vor|draußen)\b",
        r"\b(?:wär\w*|fänd\w*|hätte) .{0,25}(?:lieber|besser)\b.{0,40}\b(?:nichts|nicht|keine\w*)\b|\bwüsstest (?:du )?nichts\b",
        r"\bwill (?:ich )?(?:\w+ ){0,3}(?:nirgends|nirgendwo|nicht) (?:\w+ ){0,3}(?:gespeichert|stehen|haben|wissen)\b|\bnirgends\b.{0,30}\bgespeichert\b|\b(?:nimm|nehm|nehmt) .{1,60}\braus\b",
        r"\b(?:magst|willst|kannst|könntest) du .{1,40}\bvergessen\b",
        r"\b(?:brauchst|musst|sollst|solltest|darfst|kannst)\b.{0,80}\b(?:nicht|nie|nirgends|nix|nichts|kein\w*|besser nicht)\b.{0,40}\b(?:merken|speichern|behalten|notieren|wissen|abspeichern|festhalten|aufheben|erinnern)\b",
        r"\braus damit\b|\bweg damit\b|\b(?:schmeiß|schmeiss|wirf|nimm|hau) .{0,60}\b(?:raus|weg)\b|\bwieder vergessen\b",
        r"\b(?:soll|darf|muss)\b.{0,60}\b(?:nicht|nie|nirgends)\b.{0,40}\b(?:gespeichert|gemerkt|notiert|bleiben|stehen)\b|\bvertraulich\b.{0,60}\bvergiss\b",
        r"\bvergisst? (?:bitte |du |mal |einfach |doch )*(?:das|alles|den|die|was|dass)\b",
        r"\b(?:nirgends|nirgendwo|nie|niemals)\b.{0,30}\b(?:merken|speichern|behalten|notieren|abspeichern|festhalten)\b",
        r"\b(?:kannst|könntest|würdest|magst|kann|können|könnten|bitte|möchte|will|wäre)\b.{0,80}\b(?:vergessen|vergisst|löschen|löschst|entfernen|streichen|tilgen|rausnehmen|ausradieren)\b",
        r"\b(?:vergiss|vergesst|vergessen sie)\b",
        r"\b(?:lösch|lösche|löschen|tilge|tilgen|entferne?|entfernen|streich|streiche|streichen|radiere?|bereinige)\b.{0,80}",
        r"\b(?:merk|merke|speicher|speichere|behalte?|notier|notiere|protokollier\w*|bewahre?|schreib|halte?)\b.{1,80}\b(?:auf (?:gar )?keinen fall|unter (?:gar )?keinen umständen|um gottes willen nicht|um himmels willen nicht)\b",
        r"\b(?:auf (?:gar )?keinen fall|unter (?:gar )?keinen umständen|keinesfalls)\b.{0,60}\b(?:merken|merkst|speichern|speicherst|behalten|behältst|notieren|notierst|festhalten|aufschreiben|abspeichern|aufheben|aufbewahren|auftauchen|stehen)\b",
        r"\b(?:merk|merke|speicher|speichere|behalte?|notier|notiere|protokollier\w*|bewahre?)\b.{1,80}\b(?:nicht|nie|keinesfalls|bloß nicht)\b",
        r"\bnicht .{0,40}\b(?:merken|speichern|behalten|notieren|abspeichern|festhalten|aufheben|aufbewahren)\b",
        r"\btu(?:e|n sie)? (?:bitte |doch |einfach |mal )*so\b.{0,20}\bals\b",
        r"\bals (?:hätte|wäre|ob|hätten) .{0,60}\b(?:nie|nicht)\b",
        r"\b(?:aus|von) (?:deinem|deinen|dem|den) (?:speicher|gedächtnis|notizen|erinnerungen|kopf|aufzeichnungen|daten)\b",
        r"\b(?:soll|darf|möchte|will) .{0,60}\b(?:nirgends|nirgendwo|nicht|nie|keinem)\b.{0,40}(?:gespeichert|gemerkt|auftauch|stehen|festgehalten)",
        r"\bnicht\b.{0,60}\b(?:speicherst|merkst|behältst|notierst|aufhebst)\b",
        r"\bstreichst du\b|\bvergisst du\b",
        r"\baus dem gedächtnis\b",
    ),
    remember=one_of(
        r"\b(?:vergiss|vergesst|vergessen sie) (?:\w+ ){0,3}(?:nicht|nie|niemals|keinesfalls|auf keinen fall)\b",
        r"\bnicht vergessen\b|\bnie vergessen\b",
        r"\bvergesse (?:ich|immer|nie)\b",
        r"\bich (?:habe? .{0,20}vergessen|vergesse)\b",
        r"\bwie (?:kann|lösche|entferne)\b",
        r"\blösch\w* .{0,20}(?:datei|dateien|zeile|zeilen|spalte|ordner|absatz|satz|tabelle|cache|cookies|fotos|e-?mails)\b",
        r"\bgelöscht\b|\bgestrichen\b",
    ),
    correction=one_of(
        r"\b(?:nach|um)gerechnet\b|\bnachgelesen\b|\bkaputt ?gelacht\b|\btotgelacht\b",
        r"\bstimmt (?:also|nämlich|ja|wohl|einfach|leider) nicht\b|\bbring\w* ich (?:immer|ständig|dauernd|gern)? ?durcheinander\b",
        r"\bwie (?:peinlich|blöd|doof)\b|\bpeinlich\b|\bich (?:dödel|esel|schaf|schussel|hirsch|banause|honk|horst|blödmann|dumme kuh|nuss|schlafmütze)\b|\boh mann\b|\bach du (?:liebe|meine|grüne)\b|\bhoppla\b|\bmein fehler\b",
        r"\b(?:merke?|sehe?|lese?) ich (?:ja |doch )?(?:grad|gerade|jetzt|eben|erst)\b|\bfällt mir (?:grad|gerade|jetzt|eben) (?:erst )?(?:auf|ein)\b|\bwie ich (?:grad|gerade|eben|jetzt) (?:sehe|merke|lese|feststelle)\b|\bhabe? (?:grad|gerade|eben|noch ?mal) .{0,40}(?:gelinst|gelesen|gesehen|rausgesucht|nachgelesen|rausgekramt)\b|\bgelinst\b|\brausgesucht\b",
        r"\bvon wegen\b|\bwie ich auf .{2,30} (?:komme|kam|gekommen bin)\b|\bnie die rede\b|\bim kopf gehabt\b|\bzusammengereimt\b|\bdurcheinander ?gebracht\b|\bunfug\b|\bmumpitz\b|\bhumbug\b|\bgelogen\b|\bzahlendreher\b|\bversehen\b|\bfehlinformation\b",
        r"\bhat(?:ten?)? (?:\w+ ){0,4}(?:ausgelacht|gelacht|kopf geschüttelt|geschimpft|korrigiert|berichtigt|belehrt|eines besseren belehrt)\b|\bfalsch (?:verstanden|gehört|gelesen|abgeschrieben|gemerkt|abgetippt)\b|\bkeinen (?:mist|quatsch|blödsinn|unsinn)\b|\bhandelt sich (?:\w+ )?um\b",
        r"\b(?:auf|in) (?:der|dem|meine[mr]|unsere[mr]|den) [\w-]+ steht\b|\bda steht\b|\bda stehen\b",
        r"\bkeine ahnung,? (?:warum|wieso|wie)\b|\bich (?:dummerchen|depp|idiot|trottel)\b|\bkeinen schimmer\b",
        r"\bhätte .{1,30}(?:sagen|schreiben) (?:sollen|müssen)\b|\bhat mich (?:verbessert|korrigiert|aufgeklärt)\b|\bverguckt\b|\bgemessen\b(?=.*\bnicht\b)|\bpassiert mir (?:ständig|immer|dauernd)\b",
        r"\b(?:nochmal|noch mal|noch einmal|genauer) (?:nach)?(?:geschaut|gesehen|gezählt|geguckt|gefragt|gemessen|gerechnet)\b|\bnachgeschaut\b|\bnachgezählt\b|\bnachgeguckt\b|\bnachgemessen\b",
        r"\bstimmt (?:gar |so |doch )?nicht\b|\bverrechnet\b|\bverzählt\b|\bverlesen\b|\bvergriffen\b|\bnicht ganz richtig\b|\bbesser gesagt\b|\bgenauer gesagt\b|\bgenau genommen\b|\bkorrekt (?:ist|wäre)\b|\brichtig (?:ist|wäre|muss)\b|\bvertauscht\b|\bdussel\b|\bpatzer\b|\bschussel\b",
        r"\bkorrektur\b|\bkorrigier\w*\b|\bberichtig\w*\b|\brichtigstell\w*\b",
        r"\bquatsch\b|\bunsinn\b|\bblödsinn\b",
        r"\bmeinte\b|\bich meine\b",
        r"\bvertan\b|\bverschrieben\b|\bvertippt\b|\bverwechselt\b|\bgeirrt\b|\birrtum\b|\birrtümlich\b|\bversehentlich\b|\bfehler\b|\bfalsch\b|\bverhört\b|\bvertauscht\b|\bdurcheinander\b",
        r"\btatsächlich\b|\bin wirklichkeit\b|\bin wahrheit\b|\bstellt sich heraus\b|\bherausgestellt\b|\bwie sich zeigt\b",
        r"\bnö\b|\bdreher\b|\b(?:autsch|auweia|oje|ojemine|herrje|hups|oha|jessas|uff|mei o mei)\b|\bwas (?:erzähl|red|schreib|sag)e? ich (?:da|denn)\b|\bsorry\b|\bentschuldige?\b|\bentschuldigung\b|\bpardon\b|\bmoment\b|\bhalt\b|\bstopp?\b|\bups\b|\bnee\b|^nein\b|\bach\b",
        r"\bsondern\b",
        r"\bgar nicht\b|\bgar kein\w*\b",
        r"\brecht\b",
        r"\bich hatte .{0,40}(?:geschrieben|gesagt|erzählt|getippt)\b",
        r"\bwar (?:nur |bloß |noch )?(?:der|die|das) (?:alte|vorige|frühere|vorherige|vorgänger\w*|vom letzten|von früher)\b|\b(?:etwas|was) ander(?:e|)s als ich (?:dachte|sagte|schrieb|meinte)\b|\bverwechs(?:le|el) ich (?:\w+ )?(?:immer|ständig|dauernd|gern)\b|\bausgerutscht\b|\brausgerutscht\b|\beingebildet\b|\bnicht (?!mehr\b).{2,40}, (?:es ist|das ist)\b",
    ),
    kept=one_of(
        r"\b(?:darf|dürfen|kann|können|soll|sollen) (?:(?!nicht|nie|nix|nirgend)\w+ ){0,4}(?:drin|stehen|gespeichert|gerne?|ruhig)? ?bleiben\b|\bist (?:(?!nicht)\w+ ){0,2}(?:okay|ok|kein geheimnis|kein problem|in ordnung|unkritisch)\b|\bbleibt (?:\w+ ){0,2}(?:drin|stehen|gespeichert|bestehen)\b|"
        r"\b(?:kannst|darfst|können sie) (?:du )?(?:(?!nicht|nie|nix|nirgend)\w+ ){0,4}(?:behalten|dir merken|stehen lassen|stehenlassen|drinlassen|wissen)\b|\blass (?:\w+ ){0,3}(?:stehen|drin)\b"
    ),
    loose=one_of(
        r"\b(?:liegt|steht|hängt|verstaubt|gammelt|parkt) .{0,30}\b(?:im schrank|im keller|im flur|im schuppen|auf dem (?:dach)?boden|in der (?:ecke|garage|schublade|abstellkammer)|ungenutzt|unbenutzt|rum|herum)\b|\bzu (?:teuer|toxisch|toxic|weit|laut|voll|anstrengend|stressig|unzuverlässig|kompliziert) (?:geworden)?\b|\b(?:die preise|den preis|den beitrag) .{0,20}\b(?:verdoppelt|erhöht|angezogen|raufgesetzt)\b",
    ),
    gained=one_of(
        r"\bverliebt\b|\b(?:komplett|ganz|voll|nur noch) (?:auf|bei|mit)\b|\bmacht (?:jetzt|nun|seither|ab jetzt)\b|\bläuft (?:jetzt |nun |alles )*über\b",
        r"\buntergebracht\b|\buntergekommen\b|\beingeschult\b|\bergattert\b|\bgegönnt\b|\bunter vertrag\b|\bzugelaufen\b|\bnachgerückt\b|\beingewechselt\b|\bzugeschlagen\b|\baufgenommen worden\b|\bin der neuen\b",
    ),
    murmur=one_of(
        r"\b(?:sorry|entschuldig\w*|pardon|moment|halt|stopp?|ups|nee|ach|eigentlich|äh+|öhm)\b|^(?:(?:äh+|oh|ach|hm+|öh|ah|och)\W+)*nein\b"
    ),
    memory=one_of(
        r"\b(?:du (?:\w+ ){0,4}(?:weißt|wissen|kennst|gespeichert|gemerkt)|weißt|gespeichert\w*|gedächtnis|speicher|notizen|erinnerung\w*|aufzeichnung\w*|daten|über mich|dass ich|was ich|alles (?:zu|über|von)|die (?:info|information|angabe|sache)\w*|erzählt|gesagt|erwähnt)\b"
    ),
    copula=one_of(r"ist|sind|heißt|heisst|lautet|war|namens|endet"),
    slip=one_of(
        r"\bstimmt (?:\w+ ){0,2}nicht\b|\bist (?:\w+ )?falsch\b|\bhat (?:mein|meine) \w+(?= *(?:$|[,.!]))",
        r"\bdas mit (?:der|dem|den)\b|\bvon wegen\b|\bwie ich auf\b|\bnie die rede\b|\bim kopf\b|\bzusammengereimt\b|\bunfug\b|\bim sinn\b|\baufgeschnappt\b|\bdurcheinander\w*\b|\bkeine spur\b|\bnichts zu tun\b|\bist doch (?:der|die|das)\b|\bgelogen\b|\bgeraten\b|\bhatte ich .{0,30}(?:gelesen|gehört|verstanden|abgespeichert)\b|\b(?:war|waren) (?:ein |mein )?(?:irrtum|versehen|fehler|quatsch|unsinn|blödsinn)\b|\bversehen\b",
        r"\bstatt\b|\banstatt\b",
        r"\bfalsch\b|\bfehler\b|\birrtum\b|\btippfehler\b",
        r"\b(?:geschrieben|gesagt|getippt|genannt|erzählt|behauptet|erwähnt|schrieb|sagte|hingeschrieben|eingegeben)\b",
        r"\brausgerutscht\b|\bherausgerutscht\b|\bausgerutscht\b|\beingebildet\b|\bausgedacht\b|\bverwechs\w*|\bvertan\b|\bvertippt\b|\bverschrieben\b",
        r"\bautokorrektur\b",
        r"\bdachte\b|\bmeinte nur\b",
        r"\bwar (?:ein|eine|nur|bloß)\b|\bwar früher\b|\bist (?:jemand|etwas|was) ander",
        r"\bgehört\b|\bkam (?:mir|von)\b",
    ),
    denial=one_of(r"\b(?:nicht|kein(?:e|en|em|er)?|nie)\s+(?:\w+\s+){0,2}$"),
    amend=one_of(
        r"^(?:(?:nein|nee|halt|moment|sorry|quatsch|korrektur|ups|ach|eigentlich|unsinn|tatsächlich)\W+)*(?:es ist|das ist|es war|ich meinte|gemeint (?:war|ist)|besser gesagt|genauer gesagt|vielmehr|(?:er|sie) heißt|richtig (?:ist|wäre)|es heißt|ist es|(?:auf|im|in) (?:\w+ ){1,2}steht)(?: (?:eigentlich|doch|in|bei|der|die|das|ein|eine|einen|natürlich))* (?P<new>[\w][\w.&'+#-]*(?: [\w][\w.&'+#-]*){0,4})",
        r"^(?:quatsch|nein|nee|nö|sorry|halt)?\W*(?P<new>[\w.-]+(?: [\w-]+)?) (?:(?:meinte|meine) ich|heißt (?:er|sie|es|der|die|das)\b|muss es heißen|ist (?:es|richtig)\b)",
    ),
    contrast=(
        one_of(
            r"(?:\b(?:ist|sind|heißt|heisst|war|meinte|in|bei|nehme|fahre|eine?n?|der|die|das)\b )(?P<new>[\w .&'-]{2,40}?)(?:, (?:und )?| und )(?:nicht|kein|keine|keinen) (?:ein |eine |einen |der |die |das |den |in |bei |zu |aus )*(?P<old>[\w .&'-]{2,30})"
        ),
        one_of(
            r"\b(?:nicht|kein|keine|keinen|keiner) (?!nur|bloß)(?:ein |eine |einen |der |die |das |den |in |bei |zu |aus |mehr )*(?P<old>[\w .&'-]{2,30}?),? sondern (?:ein |eine |einen |der |die |das |den |in |bei |zu |aus )*(?P<new>[\w .&'-]{2,30})"
        ),
    ),
    source=one_of(
        r"\bwo (?:früher|bisher|sonst|bis(?:her|lang)|vorher|zuletzt|mal|einst|immer)(?: (?:immer|noch|mal|der|die|das|mein\w*|unser\w*|ein\w*))* $",
        r"\b(?:an|in) (?:die stelle|den platz) (?:vo[nm]|des|der|meine[rs]|unsere[rs])(?: (?:alten|guten))? $",
        r"(?:statt|anstatt|anstelle) (?:mit|in|bei|auf|zu|von|nach|an|aus|für|im|am|beim|zum|zur)(?: (?:der|die|das|den|dem|meinem|meiner))? $",
        r"(?:statt|anstatt|anstelle) (?:\w+ ){0,2}(?:von|der|aus|vom) $",
        r"(?:von|vom|aus|statt|anstatt|anstelle|weg von|durch|gegen|ersetz(?:e|t|te)|tausch(?:e|te)|gewechselt von|wechsel von|habe|hab|wechselte von)(?: (?:der|die|das|den|dem|des|mein|meine|meinen|meinem|alten|alte|altes|guten|von|der firma)){0,3} $",
    ),
    source_after=one_of(
        r"^ (?:durch|gegen) .{2,40}(?:ersetzt|getauscht|eingetauscht|ausgetauscht|ausgewechselt)",
        r"^ (?:in zahlung|eingetauscht|ausgetauscht|ersetzt|abgelöst)",
        r"^ (?:habe?|haben|hat) (?:ich|wir|er|sie|es|mein\w* \w+|unser\w* \w+) (?:\w+ ){0,3}?(?:gegen|durch|für) .{2,40}(?:tauscht|ersetzt|gewechselt|hergegeben)",
        r"^ ?(?:→|->)",
        r"^ (?:wurde|ist|wird) .{0,20}(?:durch|von) .{2,40}(?:ersetzt|abgelöst)",
        r"^ (?:wich|weicht|musste .{0,20}weichen)",
    ),
    switch=one_of(
        r"\ban die stelle\b|\buntreu geworden\b|\babtrünnig\b|\bverlegt\b|\bversetzt\b|\bumgemeldet\b|\bübertragen\b",
        r"\bgewechselt\b|\bwechs(?:le|el|eln|elte)\b|\bumgestiegen\b|\bumgezogen\b|\bgezogen\b|\bumgestellt\b|\bgetauscht\b|\bein(?:ge)?tausch\w*|\bersetz\w*|\bstatt\b|\banstatt\b|\banstelle\b|\bin zahlung\b|\bweg von\b|\bwechsel\b|\bmigrier\w*|\bübergelaufen\b|\bvon .{2,30} (?:zu|nach|auf) .{2,30} gegangen\b|\bgewichen\b|\brüber\w*\b|\bumgesattelt\b|\bausgetauscht\b|\bsteige? .{0,20}um\b|\bziehe?n? .{0,40}um\b|\bverlassen\b|\bumgeschwenkt\b|\bgelandet\b|\babgelöst\b|\bübergesiedelt\b|\bgeholt\b|\bwegge\w+",
    ),
    target=one_of(
        r"\b(?:auf|zu|zum|zur|nach|gegen|durch|mit|bei|in|ist|heißt|heisst|meinte|sondern|ein|eine|einen|jetzt|nun|inzwischen|dafür|den|hin zu) (?:(?:ein|eine|einen|der|die|das|den|dem|neuen?|jetzt|zu|zur|zum|bei|mir|uns|(?:gebraucht|neu|klein|größer|kleiner|jünger|älter|günstiger|gewiss|ander|nett|jung|erfahren)e[nrsm]?) ){0,3}(?P<new>[\w][\w.&'+#-]*(?: [\w][\w.&'+#-]*){0,3})"
    ),
    asks=one_of(
        r"(?:soll|sollte|kann|könnte|könntest|kannst|muss|darf|hast|hat|habe ich|bin ich|ist das|ist es|sind|gibt es|gibts|gibt's|würdest|weißt|würde|magst|findest|meinst|denkst|glaubst|passt|braucht|brauche|lohnt|macht|stimmt|reicht|steht) ",
        r"(?:was|wer|wen|wem|wie|wo|wohin|woher|wann|warum|wieso|weshalb|welche[rsnm]?|womit|wofür|worauf)\b",
        r"(?:und )?(?:hast|passt|kennst) du\b",
    ),
    kin=one_of(r"\b(?:" + KIN + r")\b"),
    many=one_of(
        r"^(?:.* )?(?:bruder|schwester|cousine?|onkel|tante|neffe|nichte|kollege|kollegin|nachbar(?:in)?|sohn|tochter|kind|hund|katze|kater|haustier|papagei|hobby|sprache|allergie|instrument|projekt|abo|medikament|mitbewohner(?:in)?|enkel(?:in)?|sport|pflanze|ziel|kurs|tool|app|frage|problem|idee|plan|leben|tag|woche|zeit|meinung|kopf|haus|team|schwager|schwägerin)e?n?s?$"
    ),
    slot=one_of(
        r"liebling\w*|lieblings\w+|farbe|größe|schuhgröße|beruf|job|ernährung|rasse|gewicht|spitzname|sternzeichen|blutgruppe|religion|studienfach|hauptfach|schicht|budget"
    ),
    link=one_of(
        r"(?:ist|sind|war|lautet|heißt|heisst|name|der|die|das|ein|eine|den|dem|im|in|bei|von|vom|aus|nummer|jetzt|nun|aktuell|auf|hat|endet|steht|namens|mit|neu|neue|amt|sitzt|liegt)"
    ),
    owned=one_of(
        r"\b(?:mein|meine|meinen|meinem|meiner|meines|unser|unsere|unserem|unseren|unserer|seine|ihre)\b",
        r"\b(?:ich (?:bin|wohne|sitze|arbeite|liege)|bin ich|wohne ich|sitze ich) (?:im|in|an|am|auf)(?: der| dem)?\b(?= (?:zimmer|büro|wohnung|haus|stock|platz|tisch|gleis|tor|station|raum|spind)\b)",
    ),
    statements=GERMAN_STATEMENTS,
)
