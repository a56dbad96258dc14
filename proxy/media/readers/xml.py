"""XML parsing without entities, document types or external resources, and the title of Office files."""

from __future__ import annotations

from typing import Any

from proxy.media.archive import Archive
from proxy.media.base import MediaRefused

_CORE = "docProps/core.xml"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"


def parsed(data: bytes) -> Any:
    """Return the root element.

    Raises:
        MediaRefused: ``malformed``, or ``bomb`` if it declares entities.
    """
    from lxml import etree  # noqa: PLC0415 -- only in the child process

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=True)
    root = etree.fromstring(data, parser)
    if root is None:
        raise MediaRefused("A part of the file is not well-formed XML.", "malformed")
    dtd = root.getroottree().docinfo.internalDTD
    if dtd is not None and any(True for _ in dtd.iterentities()):
        raise MediaRefused("The file declares entities of its own, as an entity bomb does.", "bomb")
    return root


def title_of(archive: Archive) -> str:
    """Return the title in a file's properties, if any."""
    if not archive.has(_CORE):
        return ""
    found = parsed(archive.read(_CORE)).find(_TITLE)
    return (found.text or "").strip() if found is not None else ""
