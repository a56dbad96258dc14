"""XML parsed without entities, document types or anything from elsewhere."""

from __future__ import annotations

from typing import Any

from proxy.media.base import MediaRefused


def parsed(data: bytes) -> Any:
    """Return the root element.

    Raises:
        MediaRefused: ``malformed``, or ``bomb`` where entities of its own are declared.
    """
    from lxml import etree  # noqa: PLC0415 -- only in the process that reads files

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=True)
    root = etree.fromstring(data, parser)
    if root is None:
        raise MediaRefused("A part of the file is not well-formed XML.", "malformed")
    dtd = root.getroottree().docinfo.internalDTD
    if dtd is not None and any(True for _ in dtd.iterentities()):
        raise MediaRefused("The file declares entities of its own, as an entity bomb does.", "bomb")
    return root
