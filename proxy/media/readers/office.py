"""Title of Office files."""

from __future__ import annotations

from proxy.media.archive import Archive
from proxy.media.readers.xml import parsed

_CORE = "docProps/core.xml"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"


def title_of(archive: Archive) -> str:
    """Return the title in a file's properties, if any."""
    if not archive.has(_CORE):
        return ""
    found = parsed(archive.read(_CORE)).find(_TITLE)
    return (found.text or "").strip() if found is not None else ""
