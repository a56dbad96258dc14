"""Path decoded to a fixed point, so that no two servers on its way read it differently. Pure."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import unquote_to_bytes

from proxy.errors import NotFound

# Left over after decoding once, these would be read as something else by a server that decodes again, or leniently.
_MOVING = re.compile(r"[%\\\x00-\x1f\x7f]")
_SEPARATING = re.compile(r"[/?#]")
_DOTS = re.compile(r"\.{1,2}(?:;.*)?", re.DOTALL)  # also with parameters, which some servers drop
_MODELS = "models"


def settled(path: str) -> tuple[str, ...]:
    """Return the decoded segments of a path.

    The slashes in a model's name may be encoded, as in ``/models/org%2Fname``, and so may a question mark.

    Args:
        path: What follows ``/v1``, as the client wrote it.

    Raises:
        NotFound: If to decode it again, to fold its letters or to resolve its dots would make another path of it.
    """
    raw = path.split("/")[1:]
    segments = tuple(map(_decoded, raw))
    for at, segment in enumerate(segments):
        if any(_is_shifty(form, is_name=at > 0 and segments[0] == _MODELS) for form in _forms(segment)):
            raise NotFound("There is nothing at a path that reads differently once it is decoded again.")
    return segments


def _decoded(raw: str) -> str:
    try:
        return unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        raise NotFound("There is nothing at a path that is not UTF-8.") from None


def _forms(segment: str) -> set[str]:
    """Return a segment as servers may read it that fold letters or drop what cannot be seen."""
    folded = unicodedata.normalize("NFKC", segment)
    return {segment, folded, "".join(one for one in folded if unicodedata.category(one) != "Cf").strip()}


def _is_shifty(segment: str, *, is_name: bool) -> bool:
    parts = segment.split("/") if is_name else [segment]
    if _MOVING.search(segment) or any(map(_DOTS.fullmatch, parts)) or (len(parts) > 1 and "" in parts):
        return True
    return not is_name and _SEPARATING.search(segment) is not None
