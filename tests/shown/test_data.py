"""Public files of every kind, sent over HTTP: a later conversation recalls their text with the file's name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.provider import FakeProvider
from tests.running import Running
from tests.shown.files import show
from tests.shown.standins import DATA, public
from tests.talking import Speaker, speaking

DOCUMENTS, IMAGES = DATA / "documents", DATA / "images"
_ALL = [
    (public("documents/pdf/multi_page.pdf"), "What was the IBM MT/ST?", "MT/ST"),
    (DOCUMENTS / "docx" / "docx_multipage.docx", "What content follows the header image?", "This text is after the image"),
    (DOCUMENTS / "xlsx" / "xlsx_01.xlsx", "What is in the table of xlsx_01.xlsx?", "| 1 | 5 | 9 |"),
    (DOCUMENTS / "pptx" / "test.pptx", "Who wrote the slides on AutoGen multi-agent conversation?", "Gagan Bansal"),
    (DOCUMENTS / "html" / "test_blog.html", "How does tuning inference parameters matter on math problems?", "gpt-4"),
    (DOCUMENTS / "pdf" / "right_to_left_01.pdf", "ما هي البرمجة بلغة R وPython؟", "Python"),
    (DOCUMENTS / "pdf" / "pdflatex-outline.pdf", "What does page 3 of pdflatex-outline.pdf say?", "pdflatex-outline.pdf, page 3"),
    (DOCUMENTS / "email" / "fake-email-image-embedded.eml", "Which important points did the test email have?", "Roses are red"),
    (DOCUMENTS / "other" / "test_notebook.ipynb", "What does the test notebook print?", "markitdown"),
    (IMAGES / "images_ocr" / "phototest.tif", "Whom did the quick brown dog jump over in the picture?", "lazy fox"),
    (IMAGES / "images_screenshot" / "test.jpg", "Who are the authors in the screenshot on AutoGen?", "Qingyun Wu"),
]  # fmt: skip
CASES = [case for case in _ALL if case[0].is_file()]


@pytest.mark.parametrize(("path", "question", "words"), CASES, ids=[case[0].name for case in CASES])
def test_it_is_recalled(server: Running, upstream: FakeProvider, path: Path, question: str, words: str) -> None:
    with speaking(server) as speaker:
        shown = show(speaker, path)
        assert (shown["status"], shown["error"]) == ("ready", None)
        speaker.say(question)
        sent = upstream.last.json["messages"][-1]["content"]
        assert words in sent
        assert path.name in sent


@pytest.fixture(scope="module")
def reader(server: Running) -> Iterator[Speaker]:
    """Return a client that has sent several files, which take long to ingest."""
    with speaking(server) as speaker:
        for name in ("pptx/test.pptx", "html/test_blog.html", "docx/docx_multipage.docx"):
            path = DOCUMENTS / name
            show(speaker, path if path.is_file() else public("documents/pdf/multi_page.pdf"))
        yield speaker


@pytest.mark.parametrize(
    "text", ["What is the capital of Peru?", "Thanks, that was helpful!", "How do I sort a list in Rust?"]
)
def test_nothing_is_quoted_where_it_does_not_matter(reader: Speaker, upstream: FakeProvider, text: str) -> None:
    response = reader.say(text)
    assert reader.receipt(response)["injected"] == []
    assert upstream.last.json["messages"][-1]["content"] == text
