"""What Spanish speakers say when something ends, changes, begins or is a mere thought."""

from __future__ import annotations

from proxy.memory.learn.extract_builtin.lexicon import Lexicon, one_of
from proxy.memory.learn.extract_builtin.spanish_endings import SPANISH_CEASED, SPANISH_ENDED
from proxy.memory.learn.extract_builtin.spanish_facts import KIN, SPANISH_STATEMENTS
from proxy.text.words import word_set

SPANISH = Lexicon(
    code="es",
    stop=word_set(
        """yo me mí mi mis nosotros nos nuestro nuestra nuestros nuestras tú te ti tu tus usted él ella lo la le los las les
        su sus se un una unos unas el al del de a ante con contra desde en entre hacia hasta para por según sin sobre tras y e
        o u pero sino que qué quién cuál cuándo cómo dónde porque si sí no ni ya muy más menos tan tanto también tampoco
        además aunque mientras cuando como donde es son era soy eres somos estoy está están estaba fue ser estar he ha han
        hemos había hay tengo tiene tienen tenemos voy va vamos puedo puede puedes quiero hago hace hacer uso usar tomo como
        toco hablo vivo trabajo estudio llevo gusta gustan encanta esto eso este esta ese esa aquí allí hoy ayer mañana semana
        mes año día días tiempo vez veces siempre nunca todo toda todos todas algo nada alguien bien mal bueno buena hola
        gracias favor porfa oye vale ok pues entonces luego así dos tres otra otro llama llaman llamo nuevo nueva tenido dejado doy colecciono canto bailo corro nado leo escribo pinto cocino ceno desayuno veo escucho pago gano
        compro bebo conduzco monto practico entreno colaboro comparto calzo peso doy salgo preparo
        dejo dejé he"""
    ),
    generic=word_set(
        """don doña dr dra sr sra hotel restaurante bar café clínica hospital universidad calle avenida banco biblioteca autobús tren doctor doctora profesor profesora señor señora guardería
        app apps aplicación aplicaciones herramienta herramientas suscripción suscripciones cuenta cuentas servicio servicios
        cuota recibo plan planes programa programas club gimnasio tarjeta trabajo empresa oficina ciudad pueblo lugar casa piso
        número teléfono correo dirección gente persona personas amigo amiga amigos familia niños niña niño hijo hija perro
        perra gato gata mascota medicamento pastilla pastillas médico clase clases curso idioma lengua instrumento deporte
        libro película música juego coche moto bici grupo banda coro colegio escuela memoria notas datos dato información
        detalle resto editorial dieta revista planta plaza mañanas tostada desayuno"""
    ),
    first=one_of(
        r"(?:^|[,;:]|\b(?:y|que|ahora|siempre|también|pero|además|ya|no|todavía|aún|ahí|aquí|allí))\W*\b(?:l[oae]s? )?(?!cuando|como|pero|mucho|poco|todo|todos|otro|mismo|sólo|solo|bueno|claro|luego|pronto|nuevo)(?:[a-záéíóúñ]{2,}o|doy|voy|estoy|soy)\b",
        r"\b(?:yo|me|mí|mi|mis|nos|nosotr[oa]s|nuestr[oa]s?|he|hemos|conmigo)\b",
        r"\b\w{3,}(?:é|í)\b(?= )",
        r"\b(?:tengo|estoy|soy|voy|hago|puedo|quiero|uso|vivo|vuelvo|dejo|sigo)\b",
        r"\b\w+(?:amos|emos|imos)\b",
    ),
    third=one_of(
        r"^(?:\W|y |pero |que )*(?:el|la) (?P<who>\w+) (?:se )?(?:ha (?:dejado|abandonado|ido de|salido de|marchado de)|dejó|abandonó|se fue de|se marchó de) (?!a? ?(?:me|nos|mi|nuestr\w)\b)",
        r"^(?:\W|y |pero |que )*(?:una?|unos|unas|algunos|algunas|algún|alguna) (?!perr|gat)(?P<who>\w+) (?:\w+ ){0,3}(?:ha|han|dejó|abandonó|vendió|canceló|quitó|quiere|dejaron)\b",
        r"^(?:\W|y |pero |porque |que |es que |resulta que |ayer |hoy |también |bueno |pues )*(?:(?:mi|mis|nuestr[oa]s?|su|sus|el|la|los|las|un|una|otro|otra|cada|todos los|muchos) )(?:\w+ ){0,1}?(?P<who>"
        + KIN
        + r"|herman[oa]s|amig[oa]s?|vecin[oa]s|compañer[oa]s|coleg[ao]s?|director[a]?|entrenador[a]?|profesor[a]?|profe|equipo|clientes?|gente|blog|foro|artículo|empresa|tipo|señor[a]?)\b",
        r"^(?:\W|y |pero |es que )*a (?:mi|mis|su|sus|la|el|un|una) (?:\w+ )?(?P<who>"
        + KIN
        + r"|amig[oa]s?|coleg[ao]s?|vecin[oa]s) les? ",
        r"^(?:\W|y |pero |porque |que )*(?P<whom>él|ella|ellos|ellas|alguien|nadie|todos|muchos)\b",
    ),
    ended=one_of(
        r"\bse (?:lo|la|los|las) (?:quedó|quedaron|ha quedado|llevó|llevaron)\b|\b(?:lo|la) (?:lleva|tiene|cuida|cultiva|usa) (?:ahora|ya) (?:otr\w+|mi|un|una)\b|\bvive (?:ahora|desde \w+) con (?:una|otra|un|otro|mi)\b|\b(?:ha|han) desaparecido de\b|\bde patitas en la calle\b|\bpor última vez\b|\bpuedo prescindir\b|\bprescindo de\b|\bes chatarra\b",
        r"\bno hace falta que (?:siga|sigamos|continúe|la tome|lo tome)\b|\bno (?:sigo|sigue|siguen|seguimos|continúa|continúo) (?:con|en|más|adelante|tomando|yendo|usando)\b|\bse (?:descuelga|descolgó|desentendió|desentiende|desapuntó|desapunta|salió|sale|retira|retiró|borró|baja|bajó)\b(?= *(?:$|[,.!]|de|del|por|porque))",
        r"\bvoló\b(?= de|,|\.|$)|\bse (?:me |nos )?acaba (?:el|la) (?:contrato|suscripción|abono|matrícula|cuota|permiso)\b|\bse ha (?:descolgado|desentendido|desapuntado|borrado|salido|retirado)\b|\bse lo cargaron\b",
        r"\b(?:acabó|terminó|fue|ha ido|acabaron|ha acabado) (?:a parar )?(?:en|a|al) (?:el |la )?(?:desguace|basura|contenedor|chatarra|papelera|punto limpio|trastero)\b|\bcruzó el arco ?íris\b|\barco ?[ií]ris\b|\bse nos fue\b|\bhasta nunca\b|\bcha[ou]\b(?= *(?:$|[,.!]))",
        r"\bno quiero saber (?:nada )?(?:más )?(?:de|con)\b|\bni en pintura\b|\bni regalad[oa]s?\b|\bse quedó (?:a medias|en la página)\b|\b(?:echó|bajó|echaron) (?:el cierre|la persiana|el telón)\b|\bcerró (?:el chiringuito|sus puertas|el negocio|para siempre)\b|\bquebró\b|\bnos (?:abandona|abandonó|deja|ha dejado)\b(?! (?:sol|plantad|en paz))",
        r"\bme (?:piré|abrí|rajé|desenganché|desvinculé|descolgué|apeé|bajé)\b|\bme he (?:pirado|desenganchado|desvinculado|descolgado|apeado)\b|\bpas[oé] (?:totalmente |completamente )?del? .{2,30}(?= *(?:$|[,.!]))",
        r"\bfue(?:ron)? (?:el año|la semana|el mes|el verano|la vez) (?:pasad[oa]|anterior)\b",
        r"\bse (?:me |nos )?(?:secó|marchitó|ahogó|pudrió|rompió|murieron)\b|\bperdimos el contacto\b|\bperdí el contacto\b",
        r"\bse (?:disolvió|separó|desintegró|deshizo)\b|\bse (?:volvió|fue|marchó) a\b(?=.*\bahora\b)|\bse ha jubilado\b|\bse jubiló\b|\basí que fuera\b",
        r"\b(?:a|al) (?:paseo|la porra|freír espárragos|la basura|la mierda|carajo|contenedor|punto limpio)\b",
        r"\bnada de .{1,25}\b(?:ya|más|para mí)\b|\bni .{1,20} más\b|\bno más\b",
        r"\bno (?:pienso volver|vuelvo|volvemos|volveré|volveremos)\b(?! (?:\w+ )?(?:a casa|hasta|tarde|pronto|antes|el \w+es)\b)(?!.*\bhasta\b)|\bno (?:\w+ )?(?:piso|pisamos|pisaré) más\b|\bcha[ou] (?:a (?:la |el |los |las )?|al )?(?!a todos|gente|y gracias)(?=\w)",
        r"\bamaneció (?:muert|ties)\w+\b|\bapareció muert\w+\b|\bpartido peras\b|\bpartimos peras\b|\bestá(?:n)? muert[oa]s?\b(?! de)",
        r"\b(?:pasaron|pasó|ha pasado|han pasado) a (?:mejor vida|la historia)\b|\b(?:llegaron|ha llegado|han llegado) a su fin\b|\bse (?:me |nos )?(?:secaron|marchitaron|rompieron|estropearon|escaparon|pudrieron|ahogaron)\b|\b(?:murieron|fallecieron)\b|\bestiró la pata\b",
        r"\bpasó a mejor vida\b|\bha pasado a la historia\b|\bllegó a su fin\b|\bse terminó\b|\bse (?:nos |me )?(?:murió|ha muerto|escapó|estropeó|marchó|mudó|ha mudado|ha ido|ha marchado)\b(?! (?:más cerca|de (?:casa|piso)|al lado|a (?:otro|una) (?:piso|casa)))",
        r"\b(?:me|nos) (?:harté|cansé|aburrí|hartamos|cansamos|deshicimos|libramos|hemos deshecho|hemos librado|he librado|he hartado|he cansado) de\b|\bperdí (?:todo )?el interés\b",
        r"\bno (?:lo |la |los |las |me |nos )?(?:hemos |he |han )?(?:renov|prorrog)\w*\b",
        r"\b(?:es|son|queda|quedan|está|están) (?:ya )?(?:agua|cosa|cosas) pasada\w*\b|\bcapítulo cerrado\b|\betapa cerrada\b|\bse acabó lo de\b|\bni loc[oa] (?:vuelvo|sigo)\b",
        r"\bya no\b(?!.*\btant[oa]s?\b| (?:\w+ ){1,2}tan\b| (?:me |se |le )?(?:est\w+|siento|siente|duele|encuentr\w+) (?:tan |muy )?(?:enfadad|enojad|cansad|preocupad|asustad|mal|enferm|triste|nervios|resfriad|castigad|agobiad|molest))",
        r"\b(?:murió|falleció)\b",
        r"\bno .{1,40} (?:más|nunca más)\b",
        r"\bnunca más\b",
        r"\bse (?:me )?(?:acabó|terminó|ha acabado|ha terminado|murió|ha muerto|fue|rompió)\b|\bha muerto\b|\bfalleció\b|\bha fallecido\b",
        r"\bfuera\b(?= *$|[,.!])",
        r"\bes historia\b|\bpasó a la historia\b|\bcosa del pasado\b|\bquedó atrás\b|\bquedan? atrás\b",
        r"\badiós (?:a|al)\b|\badiós\b",
        r"\bhe terminado con\b|\bterminé con\b|\bacabé con\b|\bhe acabado con\b",
        r"\bpara siempre\b",
        r"\bdefinitivamente\b",
        r"\bex\b|\bantigu[oa] \b",
        r"\bse acabó\b",
        r"\bno pienso (?:volver|seguir|renovar)\b",
        r"\bpunto final\b",
        r"\bme (?:deshice|he deshecho|libré|desprendí|he desprendido) de\b",
        r"\bestoy hart[oa] de\b(?=.*(?:dejo|fuera|baja))",
        r"\b(?:está|queda|quedó) (?:cancelad|descartad|vendid|cerrad|anulad)[oa]\b",
        r"\bharé sin\b|\bsin .{2,20} desde\b",
        *SPANISH_ENDED,
    ),
    ceased=one_of(
        r"\b(?:me|nos) (?:quit|recog|retir|sac|cort|cancel|revoc|cerr|arrebat|embarg)(?:aron|ieron|ó|ió|an|en)\b|\bcolgu[eé]\b (?:el|la|los|las)\b|\b(?:ya )?(?:han|ha) puesto a otr[oa]\b|\b(?:pusieron|puso) a otr[oa]\b|\bno (?:me|nos) (?:renovaron|renovó|han renovado|ha renovado)\b",
        r"\b(?:termin|acab)(?:é|amos) (?!con\b|de\b|por\b|en\b|agot|cansad|hart|muert|mal\b|bien\b|tarde|\w+ndo\b|\w+ad[oa]s?\b)(?:de (?:leer|ver|jugar) )?(?:el libro |la serie |la novela )?(?=\w)|\bpanza arriba\b",
        r"\bcorr(?:í|imos|ieron) al?\b|\b(?:me|nos) (?:cargué|cargamos) (?:a |el |la )?(?=\w)|\b(?:terminó|acabó|fue a parar|terminaron|acabaron) en (?:la olla|el asador|la parrilla|la cazuela|el horno|el rastro|wallapop|la tienda de empeño|una casa de empeño|el olvido)\b|\b(?:largué|largamos|corté|mandamos a volar|mandé a volar|mandé al diablo|mandamos al diablo|boté|botamos|deseché|desinscrib\w+|desafili\w+|desafilié)\b(?! (?:el pelo|una|un|el césped))|\bme (?:desinscribí|desafilié|desvinculé|desmarqué)\b|\bdi de (?:baja|lado)\b",
        r"\bsacrific(?:amos|ué|ado)\b|\b(?:lo|la|los|las) (?:he|hemos) (?:sustituido|cambiado|reemplazado)\b|\b(?:lo|la|los|las) (?:sustituí|cambié|reemplacé|sustituimos|cambiamos)\b(?! de)",
        r"\b(?:se )?(?:lo|la|los|las) (?:pasé|pasamos|cedí|dejé|endosé|traspasé) a (?:mi|un|una|la|el|los|las)\b|\bcomuni(?:qué|cado|camos) (?:\w+ )?(?:baja|renuncia|salida|dimisión)\b|\bentreg(?:ué|amos|ado) (?:el|la|mi|nuestr[oa]) .{2,25} (?:y )?a cambio\b|\bvendió su parte\b|\bjubilamos\b|\bda(?:do|mos)? por (?:terminad|acabad|cerrad|perdid)\w+\b|\bdi por (?:terminad|acabad|cerrad)\w+\b",
        r"\bendos(?:é|ado)\b|\bmalbarat\w+\b|\bbot(?:é|ado)\b|\bparti(?:do)? (?:en dos|por la mitad)\b|\bpartí en dos\b|\bdesguac\w+\b|\b(?:lo|la) planté\b|\bdescambi(?:é|ado)\b|\bremat(?:é|ado)\b|\bme deshice\b",
        r"\bcort(?:é|ado|amos) (?:amarras|por lo sano|lazos|relaciones|el grifo)\b|\b(?:dado|di|dimos|dio) (?:matarile|carpetazo|boleta|puerta|pasaporte|el finiquito|de lado)\b|\bdej(?:é|ado) atrás\b|\bpas(?:é|ado) página\b|\b(?:tir(?:é|ado)|arroj(?:é|ado)) la toalla\b",
        r"\b(?:present|entreg|firm|mand|envi|tramit|solicit|ped|hice|curs|puse)\w* (?:ya )?(?:mi |la |una |nuestra )?(?:carta de )?(?:renuncia|dimisión|baja|cancelación)\b|\b(?:puse|pusimos|puesto) (?:punto (?:y )?final|fin)\b|\b(?:entreg(?:ué|amos|ado)|devolv(?:í|imos)|devuelto) (?:\w+ )?llaves\b",
        r"\b(?:mandado|mandó|ordenó|ordenado|hecho|hizo) (?:parar|dejar|suspender|quitar|retirar|cortar)\b|\bme corrieron\b|\btronamos\b|\bme salí\b|\bme zafé\b|\bal carajo\b",
        r"\brellen(?:é|ar|ado|amos)\b|\btapi(?:é|ado|amos)\b|\bderrib(?:é|ado|amos)\b|\bdemol\w+\b|\btal(?:é|ado|amos)\b|\barranc(?:é|ado|amos)\b|\bcerró\b(?! (?:temprano|tarde|(?:ayer |hoy |anoche )?(?:ya )?a las|antes|por|la puerta))",
        r"\b(?:lo|la|los|las|le) (?:sacamos|saqué|quitamos|hemos sacado|hemos quitado) de\b|\bsaqué todo de\b|\bdimit(?:í|imos)\b|\b(?:se )?(?:lo|la|los|las) (?:vendí|regalé|di)\b",
        r"\bmand(?:é|ado|amos) (?:\w+ ){0,4}a (?:paseo|la porra|la basura|freír)\b",
        r"\bdesactiv(?:é|ado|amos)\b|\bfiniquit\w+\b|\ben adopción\b|\bprescind(?:í|ido|imos)\b|\btraspas(?:é|ado|amos)\b|\bced(?:í|ido|imos)\b|\bdesech(?:é|ado|amos)\b|\bdeshic(?:e|imos)\b|\brescind(?:í|ido)\b|\bdesmont(?:é|ado|amos)\b|\bces(?:é|ado)\b|\bempeñ(?:é|ado)\b|\bliquid(?:é|ado)\b",
        r"\b(?:lo|la|los|las) (?:di|dimos|he dado|hemos dado|llevé al|he llevado al)\b|\b(?:di|dimos|he dado|hemos dado) (?:el|la|los|las|mi|mis|nuestr[oa]s?) .{1,30} a (?:mi|un|una|unos|la|el|los)\b",
        r"\bdar(?:me|nos)? de baja\b|\bdesapuntar(?:me|nos)\b|\b(?:tuve|tuvimos|he tenido|decidí|decidimos|hemos decidido|he decidido|toca|tocó|acabé por|terminé por) (?:que )?(?:dejar|abandonar|cancelar|vender|cerrar|regalar|borrar|quitar|renunciar)\w*\b|\b(?:acabé|terminé) (?:dejando|vendiendo|cancelando|regalando|abandonando|borrando|cerrando)\w*\b",
        r"\b(?:hemos|han|ha|he) (?:quitado|cerrado|tirado|soltado|largado|echado|cortado con)\b|\bsolt(?:é|amos)\b|\bme larg(?:ué|o)\b|\bme despedí de\b|\bnos (?:salimos|fuimos|desapuntamos|borramos|despedimos)\b",
        r"\b(?:he|hemos|ha) dejado\b|\bdejé\b|\bdejamos\b|\bdejado\b|\bdejo\b",
        r"\babandon(?:é|ado|amos|o)\b",
        r"\bcancel(?:é|ado|ada|amos|o)\b|\banul(?:é|ado|ada|amos)\b",
        r"\b(?:di|dio|dimos|dado|dada|dar(?:me)?) (?:de )?baja\b",
        r"\b(?:mal|re)?vend(?:í|ido|ida|imos)\b|\b(?:lo|la|los|las) (?:mal|re)?vendi(?:ó|eron)\b|\b(?:malbarat|liquid|traspas|subast|remat)(?:é|amos|ado|aron|ó)\b|\b(?:a|en) manos de (?:mi|un|una|otr\w|el|la)\b",
        r"\bregal(?:é|ado|ada|amos)\b|\bdon(?:é|ado|ada)\b",
        r"\b(?:des|de)?instal(?:é|ado|ada)\b(?<!instalado)(?<!instalada)(?<!instalé)|\bdesinstal(?:é|ado|ada|amos)\b",
        r"\bborr(?:é|ado|ada)\b|\belimin(?:é|ado|ada)\b|\bquit(?:é|ado|ada|amos)\b|(?<!dejó\s)(?<!dejado\s)\btir(?:é|ado|ada)\b",
        r"\bcerr(?:é|ado|ada|amos)\b",
        r"\brompí\b|\broto\b|\brompimos\b",
        r"\bme (?:fui|he ido|salí|he salido|borré|marché|retiré|jubilé|divorcié)\b",
        r"\bdesapunt(?:é|ado|ada|amos)\b|\bapunté de baja\b",
        r"\brenunci(?:é|ado|amos)\b|\bdimit(?:í|ido)\b",
        r"\bcolg(?:ué|ado)\b",
        r"\bsac(?:amos|ué|ado)\b",
        r"\bdevolv(?:í|imos)\b|\bdevuelto\b",
        r"\bcaduc(?:ó|ado)\b|\bvenci(?:ó|do)\b|\bexpir(?:ó|ado)\b|\bno (?:la|lo|he|les)? ?renov(?:é|ado)\b",
        r"\babandono\b",
        r"\bretir(?:é|ado)\b",
        r"\bsuspend(?:í|ido) definitivamente\b",
        r"\bdespedí\b|\bme despidieron\b|\bme echaron\b|\bme han (?:echado|despedido)\b",
        r"\bjubil(?:é|ado)\b",
        r"\bdescart(?:é|ado)\b|\baparqu(?:é|ado)\b",
        r"\b(?:me (?:lo|la)|nos (?:lo|la)) (?:quitó|retiró|ha quitado|ha retirado)\b",
        r"\bdar de baja\b",
        r"(?<!\bse\s)\bme (?:ha )?(?:quitó|quitado|retiró|retirado|suspendió|suspendido|prohibió|prohibido)\b",
        *SPANISH_CEASED,
    ),
    negation=one_of(r"\bno\b", r"\bnunca\b", r"\bjamás\b", r"\bsin\b", r"\btampoco\b", r"\bni\b"),
    parted=one_of(
        r"\bromp(?:í|imos|ió|ido)\b|\broto con\b|\bcort(?:é|amos|ado)\b",
        r"\bnos (?:hemos )?(?:separa(?:do|mos)|divorcia(?:do|mos)|dejado)\b|\bnos dejamos\b",
        r"\blo mío con\b|\blo nuestro\b",
        r"\bse (?:fue|ha ido|mudó|ha mudado) (?:de casa|del piso|el|ayer|la)\b",
        r"\bme dej(?:ó|ado)\b(?! (?:\w+ndo|tirad[oa]|plantad[oa]|sol[oa]|sin|muy|helad[oa]|caer|pasar|claro|(?:el|la|los|las|un|una)(?! (?:lunes|martes|miércoles|jueves|viernes|sábado|domingo|año|verano|invierno|mes|semana|otr\w+|día|noche)))\b)",
        r"\bterminamos\b|\bhemos terminado\b",
        r"\bya no (?:estamos|estoy|somos|vivimos|salgo|salimos)\b",
        r"\bdivorci(?:é|ado|ada|amos)\b",
    ),
    hedge=one_of(
        r"\b(?:estuve|estuvimos|estaba) a (?:esto|nada|un tris|un pelo) de\b|\b(?:va|anda|van|andan) (?:diciendo|contando)\b|\bpor poco\b|\bfaltó poco\b|\bjura que\b|\basegura que\b",
        r"\bcomo si\b",
        r"\b(?:dijiste|has dicho|dices|escribiste|mencionaste)\b|\bimagínate\b|\bactúa\b|\bhaz de\b",
        r"\b(?:dice|dicen|(?<!en\s)cuenta|cree|afirma) que\b(?! .{0,20}\bya no soy\b)(?! no (?:es|son|era|eran)\b)",
        r"\btendríamos\b|\bpodríais\b|\bdebieras?\b",
        r"\b(?:nunca|jamás|no) (?:te |os |le )?(?:dije|he dicho|digo|dijimos|conté|he contado|insinué|afirmé|mencioné|significa|quiere decir)\b(?! (?:bien|la verdad|el nombre))",
        r"\ben (?:la|una|el|un) (?:película|peli|serie|novela|libro|canción)\b|\bhipotétic\w+\b|\bpongamos que\b|\bsupongamos\b",
        r"(?<!\w)si\b",
        r"\b(?:debería|deberíamos|podría|podríamos|quizás?|tal vez|a lo mejor|igual|ojalá|sería|habría|tendría|dejaría)\b",
        r"\b(?:pienso|pensando|pensado|planeo|quiero(?! saber (?:nada|más))|quería|querría|me gustaría|considero|planteo|planteando|planteado|estoy pensando|v(?:oy|amos) a(?= \w+(?:ar|er|ir)(?:me|se|nos|l[oae]s?)*\b)|a punto de|casi|tentad[oa]|intento|intentando|dudo|dudando|dudo si|imagina|suponiendo)\b(?! volver)",
        r"\bdice que (?:deje|debo|tengo)\b|\brecomienda\b|\baconseja\b|\bsugiere\b|\bme pide\b|\binsiste\b",
        r"\bcómo\b",
        r"\bbroma\b|\bsoñé\b|\ben sueños\b",
        r"\baunque quisiera\b",
    ),
    past=one_of(
        r"\bde (?:pequeñ[oa]|niñ[oa]|joven|chic[oa]|crí[oa]|adolescente)\b",
        r"\bcuando era\b",
        r"\bantes (?:no |lo |la |me )?\w+(?:aba|ía)\b",
        r"\ben mi (?:infancia|juventud)\b",
        r"\bhace (?:muchos )?años\b",
        r"\bsolía\b",
        r"\ben aquella época\b|\bpor entonces\b",
    ),
    limited=one_of(
        r"\b(?:por|hasta) (?:ese día|hoy|mañana|el (?:lunes|día siguiente)|ahora)\b|\besta (?:semana|vez|tarde|noche)\b",
        r"\blos (?:fines de semana|findes?|lunes|martes|miércoles|jueves|viernes|sábados|domingos|festivos)\b",
        r"\ben (?:vacaciones|verano|invierno|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|navidad(?:es)?|fiestas|cuaresma|reuniones|el coche|la cama)\b",
        r"\bde (?:viaje|vacaciones|noche|lunes a)\b",
        r"\bpor (?:la|las) (?:noche|noches|tarde|tardes|mañanas)\b",
        r"\b(?:durante|mientras)\b",
        r"\bdespués de las\b|\ba partir de las\b|\bantes de (?:dormir|acostarme|comer)\b",
        r"\b(?:hoy|esta (?:noche|tarde|mañana))\b(?= (?:ya )?no|.{0,15}$)",
        r"\bfuera de casa\b|\bfuera del trabajo\b",
        r"\bel fin de semana\b",
        r"\btemporal|\bpausa\b",
        r"\bcuando (?:viajo|estoy|conduzco|salgo|voy)\b",
        r"\b(?:una|un par de|dos|esta) semanas?\b(?! después)",
    ),
    again=one_of(
        r"\bya sí\b|\bde nuevo\b|\botra vez\b|\bnuevamente\b",
        r"\b(?:he )?v(?:uelvo|olví|uelto|olvemos|olvimos|olver)\b",
        r"\bretom(?:o|é|ado|amos)\b|\breanud\w+\b|\bregres(?:o|é|ado)\b|\breinstal\w+\b|\bme reincorpor\w+\b",
        r"\bcomo antes\b",
    ),
    additive=one_of(
        r"\b(?:también|además|otr[oa]s?(?! vez| veces)|segund[oa]|tercer[oa]?|encima de (?:eso|esto|ello)|aparte|asimismo|añad\w+|igualmente|suma\w*|sumo|otra más|crece)\b",
        r"\bya no est\w+ (?:tan )?sol[oa]s?\b|\b(?:tiene|tienen|tendrá|llegó) (?:nueva )?(?:compañía|compañer[oa]|hermanit[oa])\b|\bse l[ea]s? (?:han? )?(?:unid|sumad|unió|unieron|sumó|sumaron|junt)\w*",
    ),
    forget=one_of(
        r"\bno lo (?:puede|debe) saber nadie\b|\bnadie (?:puede|debe) saberlo\b|\btampoco lo sepas\b|\bnadie (?:\w+ ){0,2}se entere\b(?=.*\b(?:borr|olvid|ni tú)\w*)",
        r"\bno conserv\w+ nada\b|\bnada de .{1,20} (?:guardad|anotad|registrad)\w+\b",
        r"\b(?:tranquil[oa]|mejor|agradecería|preferiría|gustaría|encantaría)\b.{0,20}\bsi\b.{0,60}\bno (?:\w+ )?(?:apareciera|saliera|constara|figurara|quedara|estuviera|guardaras|recordaras|supieras)\w*",
        r"\bdéja\w+ (?:fuera|aparte|de lado|al margen)\b|\bfuera con (?:él|ella|eso|ello|ellos|ellas)\b|\bno pinta(?:ba)? nada aquí\b",
        r"\b(?:quisiera|desearía|querría|rogaría|ruego|le pido|te pido|pediría|necesito|agradecería|gustaría)\b.{0,30}\b(?:borr|olvid|elimin|quit|suprim|sac|descart|omit)\w*",
        r"\b(?:puedes|podrías|puede|podría|quieres|favor de)\b.{0,20}\bsac\w*\b.{0,40}\b(?:notas|memoria|registros?|archivos?|cabeza|datos)\b|\bquít\w+\b.{0,30}\b(?:cabeza|memoria|mente)\b|\bni se te ocurra (?:guard|anot|apunt|record|memoriz|almacen)\w*",
        r"\bno se (?:\w+ )?quede (?:\w+ ){0,4}(?:guardad|registrad|anotad|apuntad|grabad)\w*\b|\btupido velo\b|\bborrón y cuenta nueva\b|\bquede entre (?:tú y yo|nosotr\w+)\b|\bno (?:\w+ )?(?:vuelvas|vuelva) a (?:mencionar|nombrar|sacar)\w*\b",
        r"\bten(?:ía|dría) que haber(?:lo|la|me)? ?callado\b|\bno (?:debí|debería|tendría que|tenía que) (?:\w+ )?(?:haber\w* )?(?:cont|dich|mencion|decir|escrib)\w*|\bme arrepiento de haber\w* (?:contado|dicho|mencionado|hablado)\b|\bhaz (?:de cuenta|como) que\b",
        r"\b(?:podrías|puedes|podría) no (?:record|guard|conserv|almacen|anot|memoriz)\w*|\bdeja (?:a )?.{1,40}\bfuera de\b",
        r"\b(?:preferiría|prefiero|me gustaría|ojalá) que (?:no|nunca) (?:supieras|tuvieras|recordaras|guardaras|sepas|tengas)\b|\bno (?:quiero|quisiera) que (?:lo |la )?(?:figur|aparez|qued|const)\w+",
        r"\bno (?:hace falta|es necesario|necesitas) que (?:lo |la |los |las )?(?:\w+ )?(?:record|recuerd|guard|conserv|sep|memoric|anot)\w*|\b(?:te importa(?:ría)?|podrías|puedes) olvidar\w*\b|\b(?:bórral[oa]s?|elimínal[oa]s?|olvídal[oa]s?|quítal[oa]s?)\b",
        r"\b(?:prefiero|preferiría|mejor|preferimos|mejor si|conviene|agradecería)\b.{0,25}\bno (?:lo |la |los |las )?(?:\w+ )?(?:guard|record|conserv|almacen|registr|apunt|sepas|teng|qued)\w*",
        r"\bno (?:hace falta|es necesario|necesitas|tienes por qué|debes|deberías) (?:que )?(?:guard|record|conserv|almacen|registr|apunt|sab|memoriz|acord)\w*",
        r"\bde .{2,40} no (?:guardes|recuerdes|conserves|anotes|apuntes|quede) (?:nada|ningún\w*|rastro)\b",
        r"\bno te (?:me )?quedes con\b",
        r"\b(?:saca|sácalo|sácala|tira|descarta|desecha|deshazte) .{1,60}\b(?:memoria|notas|registros|datos|archivo|cabeza)\b",
        r"\b(?:importaría|podrías|puedes|quieres|puede|podría|gustaría que|quiero que|necesito que|prefiero que|agradecería)\b.{0,40}\b(?:borr|olvid|elimin|quit|suprim)\w*",
        r"\bno (?:me |lo |la )?(?:dejes|dejés|deje|dejen) (?:\w+ ){0,2}(?:registrad|anotad|apuntad|guardad|escrit|grabad)[oa]s?\b",
        r"\b(?:favor de|toca|hay que|más vale|conviene|convendría|tienes que|debes|debés|tenés que|necesito|quiero|vendría bien)\b.{0,20}\b(?:olvid|borr|elimin|suprim)\w*",
        r"\b(?:olvida|olvídate|olvide|olvídese|olvidad|olvidá|olvidate|olviden|olvídense|olvidaos|olvidemos|borrá|borralo|borrala|eliminá|borren|eliminen|borrad|sacá .{1,40} de (?:tu|la) (?:memoria|cabeza)|hacé de cuenta)\b",
        r"\b(?:borra|bórrame|elimina|elimíname|quita|suprime|limpia|tacha|destruye|borre|elimine|bórralo|elimínalo)\b",
        r"\bno (?:\w+ )?(?:guardes|recuerdes|memorices|almacenes|registres|anotes|apuntes|conserves|retengas|guarde|recuerde|menciones|tengas en cuenta|guardés|recordés|anotés|registrés|menciones|mencionés|te acuerdes|te acordés|guarden|recuerden|anoten)\b",
        r"\b(?:haz|actúa|haga) (?:como )?(?:si|que|de cuenta)\b.{0,40}\b(?:nunca|no|jamás)\b|\bcomo si (?:nunca|no|jamás)\b",
        r"\b(?:puedes|podrías|quieres|puede) (?:\w+ )?(?:borrar|olvidar|eliminar|quitar|suprimir)\w*\b",
        r"\bno quiero que (?:\w+ )?(?:conste|guardes|recuerdes|quede|se guarde|aparezca)\b",
        r"(?<!para\s)\bque no (?:quede|conste|salga)\b",
    ),
    remember=one_of(
        r"\bno (?:te )?olvides\b|\bno (?:se )?olvide\b|\bno me olvid\w+\b|\bsin olvidar\b",
        r"\b(?:borr|elimin|quit)\w+ .{0,20}(?:archivos?|ficheros?|líneas?|filas?|columnas?|tabla|carpeta|párrafo|frase|cookies|caché|fotos|correos|mensajes|mancha|logo|fondo)\b",
        r"\bcómo (?:borro|elimino|quito|olvido|se borra|puedo)\b",
        r"\bquita el\b",
    ),
    correction=one_of(
        r"\brecalcul\w+\b|\becha(?:do|ndo) (?:bien )?(?:las )?cuentas\b|\brecont(?:é|ado)\b|\bqué (?:tontería|bobada|disparate)\b",
        r"\bdel? (?:\w+ ){1,3}nada\b(?= *(?:$|[,.!;]))|\b(?:me ha|me han|me) (?:aclar|correg|explic|desminti)\w+\b|\bsiempre l[oa]s (?:confundo|mezclo|cambio|lío)\b|^\W*digo,? (?!que\b)|\bera (?:el|la) (?:anterior|antigu[oa]|viej[oa]|de antes|del año pasado)\b|\b(?:pone|dice|figura) otra cosa\b|\b(?:se me )?(?:han )?bail(?:aron|ado) los números\b",
        r"\bqué (?:vergüenza|burr[oa]|tont[oa]|torpe|bochorno|apuro)\b|\bseré (?:burr|tont|bob|lel|idiot)\w+\b|\bsoy un (?:desastre|burro|despistado)\b|\bvaya cabeza\b|\bmadre mía\b|\bahora caigo\b|\bcaigo en la cuenta\b|\bme doy cuenta\b|\b(?:entendí|oí|leí|apunté|copié|escuché) (?:al revés|mal)\b|\bla edad no perdona\b|\bme falla la memoria\b|\bla memoria me (?:falla|traiciona)\b",
        r"\bde dónde (?:me )?(?:lo )?(?:habré )?sa(?:cado|qué|co)\b|\b(?:puso|puesto) el grito\b|\bse (?:ha )?(?:rio|rió|reído|reía|atacó de risa|partió|parte|troncha\w*) (?:de|con)?\b|\bmuert[oa] de (?:la )?risa\b|\bdeje de (?:contar|decir) (?:mentiras|tonterías|bobadas)\b|\bsacó de(?:l| mi) error\b|\bhe vuelto a mirar\b|\bmirándolo (?:bien|mejor)\b|\bcruc?z?\w+ los cables\b",
        r"\ben (?:la|el|mi|su) \w+ (?:pone|ponía|dice|figura|sale)\b|\bno tiene nada\b|\bni por asomo\b|^\W*lo que \w+ .{0,40}\bes\b|\bentendí al revés\b|\bes .{2,30} lo que \w+\b",
        r"\bdebí (?:decir|escribir|poner)\b|\btendría que haber (?:dicho|puesto|escrito)\b|\bme corrig(?:ió|ieron)\b|\bleí mal\b|\bme midieron\b|\bsiempre me pasa\b|\bconfund(?:í|ido|imos)\b",
        r"\b(?:he |lo he |la he |los he )?(?:mirado|comprobado|contado|revisado|consultado|medido|preguntado) (?:otra vez|de nuevo|bien|mejor)\b|\bacabo de (?:mirar|comprobar|revisar|ver)\w*\b|\b(?:lo|la) (?:comprobé|revisé|miré)\b|\bme expresé mal\b|\bme exp\w+ mal\b|\bmejor dicho\b|\bmás bien\b|\bpara ser exact[oa]s?\b|\bpatinazo\b|\bmetí la pata\b|\bmetedura de pata\b|\bqué cabeza\b|\bcabeza la mía\b|\bbailado\b|\btecleé mal\b|\bfe de erratas\b",
        r"\bqué despiste\b|\bdespiste\b",
        r"\bcorrijo\b|\bcorrección\b|\bcorregir\w*\b|\brectific\w+\b|\baclaro\b",
        r"\bquise decir\b|\bquería decir\b|\bme refería\b|\bquiero decir\b",
        r"\bme (?:equivoqué|confundí|he equivocado|he confundido|lié|he liado|colé)\b|\bequivocad[oa]\b|\berror\b|\berrata\b|\b(?:dije|puse|escribí|conté) mal\b|\bmal el nombre\b|\bpor error\b",
        r"\ben realidad\b|\bresulta que\b|\bal final resulta\b",
        r"\bperdona\b|\bperdón\b|\bdisculpa\b|\blo siento\b|\buy\b|\bay\b|\bups\b|\besper[ae]\b|^no[,.]",
        r"\bte (?:dije|puse|escribí|conté|he dicho)\b|\bdije\b|\bpuse\b(?! (?:a |fin|punto|(?:el|la|los|las) \w+ *(?:$|[,.;y])|la renuncia|gasolina))|\bescribí\b",
        r"\bsino\b",
        r"\bno sé (?:en qué|por qué|de dónde)\b",
        r"\bme (?:he )?inventé\b|\bme lo inventé\b|\bconfusión\b|\blapsus\b|\bdesliz\b",
        r"\bno es .{2,30}[,;:] (?:es|sino|resulta)\b",
    ),
    kept=one_of(
        r"(?<!no\s)\b(?:puedes|podés|puede|pueden) (?:(?!no\b|dejar|olvid|borr)\w+ ){0,3}(?:recordar|guardar|conservar|quedar|mantener|saber)\w*\b|\bd[eé]jal[oa]s?\b(?! (?:fuera|de lado|aparte))|\bno (?:es|son) (?:ningún )?secretos?\b|\b(?:guárdal|consérval|manten?l|manténl)[oa]s?\b|\b(?:eso|lo demás|el resto|lo otro) (?:sí|no importa|déjalo|dejalo|está bien)\b"
    ),
    loose=one_of(
        r"\bun (?:ojo de la cara|riñón|dineral|pastón)\b|\bhart[oa]s? de\b|\bno hay quien\b|\b(?:coge|coger|criando|cogiendo) polvo\b|\bmuerto de risa\b|\bdemasiad[oa] (?:car[oa]|lej[oa]s|tóxic[oa])\b",
    ),
    gained=one_of(
        r"\b(?:nos|me|les?) (?:metieron|pusieron|dieron|tocó|endosaron|pasaron)\b|\ba cada (?:uno|quien) (?:le|nos) (?:tocó|dieron)\b|\bahora (?:me|nos|le) \w+\b",
        r"\b(?:me|nos) (?:he|hemos) (?:metido|pasado|apuntado|cambiado|mudado|inscrito|matriculado|enganchado|aficionado) (?:en|a|al|con)\b|\b(?:me|nos) (?:metí|metimos|pasé|pasamos|apunté|apuntamos|inscribí|inscribimos|mudé|cambié|enganché) (?:en|a|al|con)\b|\b(?:entré|entramos|ingresé|arranqué|arrancamos) (?:en|a|al|con)\b|"
        r"\b(?:ahora|ya) (?:me|nos|lo|la|los|las|se) (?:l[oae]s? )?(?:hace|hago|atiende|lleva|llevo|da|doy|cuida|corta|pasea|sirve|manejo|guardo)\b|\ble (?:agarramos|agarré|cogimos|cogí|tomamos|tomé) (?:el gusto|cariño) a\b",
    ),
    murmur=one_of(
        r"\b(?:perdona|perdón|disculpa|lo siento|uy|ay|ups|espera|espere|de hecho|la verdad es que)\b|^\W*mal\b|(?<!sentaba\s)(?<!sienta\s)(?<!sentó\s)(?<!cae\s)(?<!cayó\s)(?<!queda\s)(?<!quedó\s)(?<!sabe\s)(?<!huele\s)(?<!duermo\s)(?<!encuentro\s)(?<!menos\s)\bmal\b|^(?:(?:ay|uy|ah|eh|oh|bueno|hmm+)\W+)*no[,.]|^\W*(?:bueno|huy|vaya|anda)\W+(?:\d|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|quince|veinte)"
    ),
    memory=one_of(
        r"\b(?:sepas|sabes|tu (?:memoria|registro\w*)|tus (?:notas|datos|registros|archivos)|memoria|notas|guardad[oa]s?|anotad[oa]s?|apuntad[oa]s?|registrad[oa]s?|teng[aá]s|sepás|recuerdes|recuerdas|que (?:te )?(?:conté|dije|he dicho|mencioné)|todo (?:lo|sobre|acerca)|lo de(?:l)?|que tengo|que soy|sobre mí|sobre|mi \w+|la información|los datos|hablado)\b"
    ),
    copula=one_of(r"es|son|era|llama|termina|está|queda"),
    slip=one_of(
        r"^\W*(?:el|la) .{2,25} es mi \w+ *$",
        r"\bno tiene nada\b|\bdel? (?:\w+ ){1,3}nada\b|\bningún problema\b|\bde dónde .{0,20}sa(?:cado|qué|co)\b|\ben la cabeza\b|\bcruz\w+ los cables\b|\bal revés\b|\bme sonaba\b|\bme lo saqué\b|\bni por asomo\b|^\W*(?:la|el) de .{2,30} es (?:mi|su|el|la)\b",
        r"\ben vez de\b|\ben lugar de\b",
        r"\bmal\b|\berror\b|\berrata\b|\bequivoc\w+|\bconfund\w+|\bconfusión\b|\blapsus\b|\bmezcl\w+",
        r"\b(?:dije|puse|escribí|conté|llamé|mencioné|dicho|puesto|escrito|tecleé|solté)\b(?! a )",
        r"\bme lo inventé\b|\binvent\w+",
        r"\b(?:ha|había) salido\b|\bsalió\b|\bse me (?:coló|escapó|fue|cruzó)\b",
        r"\blo de\b|\blo del\b",
        r"\bautocorrector\b",
        r"\bcreía\b|\bpensaba\b",
        r"\b(?:era|fue) (?:otr[oa]|mi antigu[oa]|el de|la de)\b",
    ),
    denial=one_of(r"\b(?:no|ni) (?:\w+ ){0,2}$"),
    amend=one_of(
        r"^(?:(?:no|perdona|perdón|uy|ay|espera|corrección|en realidad|de hecho|disculpa)\W+)*(?:en realidad )?(?:es|era|quise decir|quería decir|quiero decir|me refería a|debería ser|son|mejor dicho|o sea|más bien|digo|se llama|en (?:el|la) \w+ (?:pone|dice)|pone|ponía)(?: (?:en|a|el|la|un|una|con|que))* (?P<new>[\w][\w.&'+#-]*(?: [\w][\w.&'+#-]*){0,4})"
    ),
    contrast=(
        one_of(
            r"\b(?:es|está|son|era|llama|en|a|con|quise decir|tomo|uso|el|la) (?P<new>[\w .&'-]{2,40}?)(?:, (?:y )?| y )no (?:es )?(?:un |una |el |la |en |a |con |de |del )*(?P<old>[\w .&'-]{2,30})"
        ),
        one_of(
            r"\bno (?!sol[oa]|sólo|solamente|únicamente)(?:es |era |eran |fue |fueron |tiene |mide |pesa |son |está |en |se llama |tomo |uso |vivo |un |una |el |la |a |de )*(?P<old>[\w .&'-]{2,30}?)[,;]? (?:sino|es|son|eran|era|tiene|resulta que es|es que es|más bien) (?:que )?(?:es |un |una |el |la |en |a |de )*(?P<new>[\w .&'-]{2,30})"
        ),
    ),
    source=one_of(
        r"\bdonde (?:antes |siempre )?(?:estaba|estaban|había|teníamos|tenía|estuvo|solía estar|ponía|comía)(?: (?:el|la|los|las|mi|nuestr[oa]))? $",
        r"(?:de|del|desde|en vez de|en lugar de|en vez del|en lugar del|sustitu(?:í|ido|imos)|sustituyo|reemplac(?:é|ado|amos)|reemplazado|cambi(?:é|ado|amos|o)|troqué|dej(?:é|ado|amos|o)|vend(?:í|ido)|abandon(?:é|ado)|adiós a|fuera|por|ni)(?: (?:el|la|los|las|mi|nuestr[oa]|viej[oa]|antigu[oa]|a)){0,3} $",
    ),
    source_after=one_of(
        r"^ ?(?:→|->)",
        r"^ (?:(?:me |se |nos )?l[oae]s? )?(?:(?:he|hemos|ha|han) )?(?:cambi(?:é|ó|amos|ado|aron)|sustitu\w+|reempla[zc]\w+|tro[cq]u?\w+|permut\w+|rele[vg]\w+) por ",
        r"^ (?:dej(?:ó|aron)|(?:ha|han) dejado|ced(?:ió|ieron)|(?:da|dan|dio|dieron)) (?:el )?(?:paso|sitio|lugar|puesto|testigo|relevo) a",
        r"^ (?:fue|ha sido|quedó|está) (?:sustituid|reemplazad|cambiad)",
    ),
    switch=one_of(
        r"\bvolc(?:ado|ué|amos)\b|\b(?:he|hemos) .{0,25}\bdel? \w+ al? \w+",
        r"\bcambi(?:é|o|ado|amos|ando|arme|e)\b|\bme pas(?:é|o)\b|\bpasad[oa]\b|\bpasé\b|\bpasamos\b|\bmud(?:é|amos|ado|anza|a)\b|\btraslad\w+\b|\bsustitu\w+\b|\breemplaz\w+\b|\breemplac\w+\b|\btroqu\w+\b|\bmigr(?:é|ado|amos)\b|\ben vez del?\b|\ben lugar del?\b|\bsalt(?:é|amos)\b|\bnos hemos ido\b|\bme he ido\b|\bme fui\b|\bnos fuimos\b|\bsac(?:amos|ué)\b|\bdej(?:é|ado|amos)\b|\bsalt(?:é|ado)\b|\bpermut\w+|\bintercambi\w+|\bvend(?:í|ido)\b|\bpas(?:é|o|ado|ada)\b|\bentregu?é\b|\bahora\b|\bllev(?:é|ado|amos)\b|\bmov(?:í|ido|imos)\b|\btransfer(?:í|ido|imos)\b|\bdomicili\w+\b",
    ),
    target=one_of(
        r"\b(?:a|al|por|con|en|es|sino|ahora(?: uso| tomo| tengo| vivo en| conduzco| voy a| estoy en)?|llama|decir|una?|colegio|empresa) (?:(?:un|una|el|la|mi|nuev[oa]|es|a|en|al|colegio|empresa|que) ){0,3}(?P<new>[\w][\w.&'+#-]*(?: [\w][\w.&'+#-]*){0,3})"
    ),
    asks=one_of(
        r"(?:qué|quién|cuál|cuáles|cuándo|cómo|dónde|adónde|por qué|cuánt[oa]s?|me (?:ayudas|recomiendas|escribes|redactas|haces)|puedes|podrías|crees|tú crees|debería|debo|sabes|tienes|hay|alguna?|ideas|te acuerdas|y (?:para|si|qué|cómo)|se (?:puede|llevarán)|oye)\b"
    ),
    kin=one_of(r"\b(?:" + KIN + r")\b"),
    many=one_of(
        r"^(?:.* )?(?:herman[oa]|prim[oa]|tí[oa]|sobrin[oa]|amig[oa]|compañer[oa]|vecin[oa]|hij[oa]|perr[oa]|gat[oa]|mascota|loro|tortuga|afición|hobby|idioma|lengua|alergia|instrumento|proyecto|suscripción|medicamento|niet[oa]|deporte|planta|curso|herramienta|aplicación|app|pregunta|problema|idea|vida|día|semana|tiempo|opinión|cabeza|casa|equipo|cuñad[oa]|abuel[oa]|novela|lista|familia|dinero)s?$"
    ),
    slot=one_of(
        r"favorit[oa]|preferid[oa]|color|talla|profesión|oficio|trabajo|dieta|raza|peso|apodo|signo|religión|carrera|turno|presupuesto"
    ),
    link=one_of(
        r"(?:es|son|está|era|se|llama|nombre|el|la|los|un|una|en|de|del|con|número|ahora|actualmente|termina|tiene|queda|la|por|como|a|al|al|va)"
    ),
    owned=one_of(
        r"\b(?:mi|nuestr[oa]|su)\b",
        r"\b(?:el|la)\b(?= (?:niñera|canguro|nana|asistenta|casero|casera)\b)",
        r"\b(?:estoy|vivo|trabajo|duermo|me siento) en(?: el| la)?\b(?= (?:habitación|cuarto|despacho|piso|puerta|planta|mesa|sala|andén|butaca|taquilla)\b)",
    ),
    statements=SPANISH_STATEMENTS,
)
