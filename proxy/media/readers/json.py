"""Reader of JSON as indented text, and of notebooks cell by cell."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from proxy.media.base import Content, Page, Sniffed
from proxy.media.limits import Limits
from proxy.media.readers.plain import decoded

_MAX_OUTPUT_CHARS = 2000


def read(path: Path, sniffed: Sniffed, limits: Limits, tell: Callable[[float], None]) -> Content:
    """Return indented JSON, or a notebook's cells; invalid JSON is returned unchanged."""
    del limits, tell
    text = decoded(path.read_bytes())
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return Content(sniffed.media_type, (Page(1, text),), notes=("the JSON is not well formed",))
    if sniffed.reader == "notebook" and isinstance(value, dict):
        text = "\n\n".join(_cells(value))
    elif text.count("\n") < len(text) / 200:  # minified
        text = json.dumps(value, ensure_ascii=False, indent=1)
    return Content(sniffed.media_type, (Page(1, text),))


def _cells(notebook: dict[str, Any]) -> Iterator[str]:
    language = str(notebook.get("metadata", {}).get("kernelspec", {}).get("language", ""))
    for cell in notebook.get("cells", []):
        source = _joined(cell.get("source"))
        if cell.get("cell_type") == "code" and source:
            yield f"```{language}\n{source}\n```"
            for output in cell.get("outputs", []):
                said = _joined(output.get("text")) or _joined(output.get("data", {}).get("text/plain"))
                if said.strip():
                    yield said[:_MAX_OUTPUT_CHARS]
        elif source:
            yield source


def _joined(value: Any) -> str:
    return "".join(map(str, value)) if isinstance(value, list) else str(value or "")
