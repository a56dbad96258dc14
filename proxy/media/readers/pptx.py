"""Reader of slides: title, text, tables and speaker notes of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from pptx import Presentation

from proxy.media.archive import Archive
from proxy.media.base import Content, MediaRefused, Page, Sniffed, place_of
from proxy.media.limits import Limits
from proxy.media.readers.markdown import table

_GROUP, _PICTURE = 6, 13  # MSO_SHAPE_TYPE
_MAX_DEPTH = 20


def read(path: Path, sniffed: Sniffed, limits: Limits, tell: Callable[[float], None]) -> Content:
    """Return a page for each slide."""
    with Archive(path, limits) as archive:
        archive.refuse_declarations()
    with path.open("rb") as file:
        deck = Presentation(file)
        slides = list(deck.slides)
        if len(slides) > limits.max_pages:
            raise MediaRefused(f"It has {len(slides)} slides; the limit is {limits.max_pages}.", "too_many_pages")
        pages = []
        for number, slide in enumerate(slides, 1):
            pages.append(_page(number, slide))
            tell(number / len(slides))
        title = deck.core_properties.title or ""
    return Content(sniffed.media_type, tuple(pages), title=title)


def _page(number: int, slide: Any) -> Page:
    title = " ".join(slide.shapes.title.text_frame.text.split()) if slide.shapes.title is not None else ""
    parts = [f"# {title}"] if title else []
    for shape in sorted(_flat(slide.shapes), key=lambda shape: (shape.top or 0, shape.left or 0)):
        if slide.shapes.title is not None and shape.shape_id == slide.shapes.title.shape_id:
            continue
        parts += _texts(shape)
    if slide.has_notes_slide and (said := slide.notes_slide.notes_text_frame):
        parts += [f"Notes: {said.text.strip()}"] if said.text.strip() else []
    return Page(number, "\n\n".join(parts), label=title)


def _flat(shapes: Iterable[Any], depth: int = 0) -> Iterator[Any]:
    for shape in shapes:
        if shape.shape_type == _GROUP and depth < _MAX_DEPTH:
            yield from _flat(shape.shapes, depth + 1)
        else:
            yield shape


def _texts(shape: Any) -> Iterator[str]:
    if shape.shape_type == _PICTURE:
        yield from _picture(shape)
    elif getattr(shape, "has_table", False) and shape.has_table:
        yield table([cell.text for cell in row.cells] for row in shape.table.rows)
    elif getattr(shape, "has_chart", False) and shape.has_chart:
        yield from _chart(shape.chart)
    elif shape.has_text_frame and shape.text_frame.text.strip():
        lines = (("  " * line.level + "- " if line.level else "") + line.text for line in shape.text_frame.paragraphs)
        yield "\n".join(line.replace("\v", "\n") for line in lines if line.strip())


def _picture(shape: Any) -> Iterator[str]:
    name = shape._element.blip_rId
    if name is not None:
        yield place_of(str(shape.part.related_part(name).partname).lstrip("/"))


def _chart(chart: Any) -> Iterator[str]:
    name = chart.chart_title.text_frame.text if chart.has_title and chart.chart_title.has_text_frame else ""
    plots = list(chart.plots)
    if not plots:
        return
    series = list(plots[0].series)
    header = [name or "chart", *(one.name for one in series)]
    rows = zip([str(one) for one in plots[0].categories], *(one.values for one in series), strict=False)
    yield table([header, *rows])
