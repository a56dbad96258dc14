"""How Spanish speakers say that something of theirs is over, by what becomes of it."""

from __future__ import annotations

_NOW = r"(?:ahora|ya|desde \w+(?: \w+)?|a partir de \w+|hoy por hoy)"
_SHOP = r"(?:supermercado|súper|tienda|bar|cafetería|local|gimnasio|banco|farmacia|restaurante|pizzería|hamburguesería|peluquería|bazar|chino|parking|aparcamiento|hotel|oficinas?|pisos|apartamentos|franquicia|casa de apuestas|salón de juegos|almacén|frutería|lavandería|inmobiliaria|kebab|estanco|panadería|clínica|solar|garaje|taller)"
_STOP = r"(?:dej|abandon|cancel|vend|cerr|regal|borr|quit|renunci|despedi|despid|sacrific|devolv|entreg|solt|suspend|jubil|tal|arranc|rescat|sacar|derrib|despej|saldar|vaci|apag|clausur|tir|ced|traspas|liquid|anul|rescind|desmont|prescind|sal|ape|desapunt|colg|don|retir|bajar|desprend|deshac|cort|aparc|interrump|apart)"

SPANISH_ENDED = (
    # its place is taken: "where X was they have put a shop", "in X there is a shop now"
    rf"\b(?:donde|en (?:el|la)?|del?) .{{2,40}}\b(?:hay|han (?:puesto|abierto|montado)|pusieron|abrieron|montaron|está) (?:{_NOW} )?(?:un|una|unos|unas|otr[oa]) {_SHOP}\b",
    rf"\bse (?:ha )?(?:convertido|convirtió|transformado|transformó) en (?:un|una) {_SHOP}\b",
    # it stays behind
    r"\b(?:se )?(?:queda|quedan|quedó|quedaron|quedará|quedarán|ha quedado|han quedado) (?:ya )?(?:para el recuerdo|para la historia|para el arrastre|en el (?:cajón|olvido|recuerdo|pasado|camino|tintero|dique seco|banquillo|armario|baúl)|en (?:nada|agua de borrajas|el baúl|la cuneta|vía muerta)|atrás|fuera|relegad\w+|descartad\w+|arrinconad\w+|aparcad\w+|obsolet\w+|sin (?:uso|efecto|vigor|plaza))",
    r"\b(?:se fue|se ha ido|se fueron|acabó|se va) (?:todo )?(?:al (?:garete|traste|carajo|cuerno|diablo|hoyo|cubo|olvido|agua)|a (?:pique|tomar \w+|hacer gárgaras|la porra)|por la borda)\b|\b(?:pasa|pasaron|pasó|ha pasado) a (?:la historia|mejor vida|otro dueño|otras manos|ser historia)\b",
    r"\btampoco (?:sigue|siguen|sigo|seguimos|continúa|continúo|voy|vamos|hay|existe|queda)\b|\b(?:toca|tocó|llegó) a su fin\b|\b(?:tiene|tienen) los días contados\b|\bha dejado de (?:existir|funcionar|publicarse|emitirse|operar|atender)\b|\bdejó de (?:existir|funcionar|publicarse|emitirse|operar|atender)\b",
    r"\bestá (?:ya )?(?:jubilad|retirad|finiquitad|amortizad|liquidad|extint|clausurad|desmantelad)[oa]\b|\b(?:ha sido|fue|fueron|han sido) (?:\w+ )?(?:cerrad|clausurad|desmantelad|suprimid|eliminad|vendid|subastad|derribad|retirad|destituid|cesad|embargad|traspasad|despedid)[oa]s?\b",
    r"\bfuera del? (?!casa|control|servicio|plazo|lugar|horario|alcance|temporada|juego|peligro|trabajo|serie|la ciudad|la ley|españa|aquí)|\bdur(?:ó|aron) (?:solo |apenas )?hasta\b|\bno (?:me|nos) (?:necesita|necesitan|hace falta|hacen falta)(?: (?:ya|más))?(?= *(?:$|[,.!;]))|\bno (?:me|nos) (?:l[oae]s?) renuev\w+\b|\bya no (?:me|nos) \w+",
    r"\b(?:resulta|salió|ha salido) (?:ya )?(?:extinguid|cancelad|anulad)[oa]\b|\bha(?:n)? (?:pasado a mejor vida|llegado a su fin|dicho basta|dicho adiós)\b|\bdijo (?:basta|adiós)\b",
    r"\bse (?:ha )?(?:desmantelad|extinguid|clausurad)[oa]\b|\bse (?:desmanteló|extinguió|clausuró)\b|\bha(?:n)? (?:echado el cierre|bajado la persiana|colgado el cartel)\b|\bcolgaron el cartel\b",
)
SPANISH_CEASED = (
    # decided or forced to
    rf"\b(?:tuve que|tuvimos que|he tenido que|hemos tenido que|tocó|ha tocado|obligad[oa]s? a|obligó a|obliga a|obligaron a|forzad[oa]s? a|forzó a|decidí|decidimos|he decidido|hemos decidido|acabé por|opté por|he optado por|optamos por|otra que|más remedio que|terminé por|convenció (?:de|para)|convencieron (?:de|para)|animé a) (?:\w+ )?{_STOP}(?:ar|er|ir)(?:me|nos|l[oae]s?|se|mel[oae]s?)*\b",
    r"\b(?:me|nos|le|les) (?:ha|han) (?:retirado|revocado|quitado|rescindido|cancelado|denegado|suprimido|cortado)\b",
    r"\b(?:rescat|tal|arranqu|desmont|derrib|vaci|sald)(?:é|amos|ado)\b (?=(?:el|la|los|las|mi)\b)|\bl[oae]s? (?:rescaté|rescatamos|talé|talamos|arranqué|arrancamos|saldé)\b|\bha(?:n)? colgado (?:el|la|los|las)\b",
    r"\b(?:me|nos) (?:l[oae]s? )?(?:robaron|robó|han robado|ha robado|birlaron|mangaron)\b",
    r"\b(?:hemos|he) (?:llevado|mandado|enviado) (?:\w+ ){0,3}al? (?:desguace|chatarra|punto limpio|perrera|protectora|tinte de la historia)\b|\b(?:lo|la|los|las) (?:hemos|he) (?:llevado|mandado|enviado) al? (?:desguace|chatarra|punto limpio|protectora)\b",
)
