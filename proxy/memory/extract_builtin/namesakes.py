"""Signs that a German or Spanish word which names something of the speaker's stands for another thing."""

from __future__ import annotations

import re

THE = re.compile(r"\b(?:der|die|das|ein|eine|einen|den)\s+$")
SOMEWHERE = re.compile(
    r"\s+(?:im|in (?:der|dem|unserem|unserer)|am|an (?:der|dem)|auf (?:der|dem)|aus (?:der|dem)|vom|von (?:der|dem))\b"
)
TITLE_BEFORE = re.compile(r"\b(?:Frau|Herrn?|Dr\.|Prof\.|Familie) [A-ZÄÖÜ]")
ORDINAL = re.compile(  # of a section, a desk, a team: "our second viola has retired"
    r"\b(?:erste|zweite|dritte|vierte|stellvertretende)[nrs]?\s+$|\b(?:primer|segund|tercer|cuart)[oa]?\s+$"
)
CAPITALS = re.compile(r"[A-ZÁÉÍÓÚÑ]")
BESIDE_IT = re.compile(  # another thing, known by where it is
    r"\b(?:(?:al lado|enfrente|cerca|detrás|delante|encima|debajo|a la vuelta) del?|junto al?|frente al?|pegad[oa] al?|neben|gegenüber(?: vo[nm])?|hinter|unweit von|in der nähe von) (?:(?:el|la|los|las|dem|der|den) )?$"
)
