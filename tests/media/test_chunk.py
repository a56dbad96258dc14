"""Chunks: laws for any document, and expectations for tables, headings and code."""

from __future__ import annotations

import itertools
import re

from hypothesis import given
from hypothesis import strategies as st

from proxy.media.base import Content, Page
from proxy.media.chunk import MAX_CHARS, chunks, outline

words = st.text(st.sampled_from("WWWW漢字。.,!? "), max_size=40)
lines = st.one_of(
    words,
    st.builds(lambda level, text: "#" * level + " " + text, st.integers(1, 7), words),
    st.builds(lambda cells: "| " + " | ".join(cells) + " |", st.lists(words, min_size=1, max_size=4)),
    st.sampled_from(["", "", "```", "| --- | --- |", "- item", "x" * 300, "~~~"]),
)
texts = st.lists(lines, max_size=30).map("\n".join)
pages = st.lists(st.tuples(texts, st.sampled_from(["", "", "Sheet 1"])), min_size=1, max_size=4)


def content(*texts: str, media_type: str = "text/markdown") -> Content:
    return Content(media_type, tuple(Page(number, text) for number, text in enumerate(texts, 1)))


def numbered(pages: list[tuple[str, str]]) -> Content:
    """Return a document in which each word occurs once."""
    number = itertools.count()
    return Content(
        "text/markdown",
        tuple(
            Page(at, re.sub("W", lambda _: f"w{next(number)}e ", text), label=label)
            for at, (text, label) in enumerate(pages, 1)
        ),
    )


def said(text: str) -> list[str]:
    return re.findall(r"w\d+e", text)


@given(pages, st.integers(60, 400), st.integers(0, 300), st.integers(0, 120))
def test_laws(pages, target, more, overlap):
    document = numbered(pages)
    pieces = chunks(document, target, target + more, overlap)
    assert [piece.seq for piece in pieces] == list(range(len(pieces)))
    assert [piece.page for piece in pieces] == sorted(piece.page for piece in pieces)
    assert all(piece.text.strip() and len(piece.text) <= target + more for piece in pieces)
    for page in document.pages:
        mine = [piece for piece in pieces if piece.page == page.number]
        heard = list(dict.fromkeys(word for piece in mine for word in said(f"{piece.heading} {piece.text}")))
        assert [word for word in heard if word in set(said(page.text))] == said(page.text)
        assert sum(piece.text.count("x") for piece in mine) >= page.text.count("x")


def test_short_document_is_one_passage():
    [piece] = chunks(content("# Tea\n\nShe likes green tea."))
    assert (piece.heading, piece.text, piece.page) == ("Tea", "She likes green tea.", 1)


def test_headings_are_carried_outermost_first():
    text = "# House\n\n## Kitchen\n\n" + "The kettle is blue. " * 60 + "\n\n## Garden\n\n" + "Roses. " * 60
    pieces = chunks(content(text))
    assert {piece.heading for piece in pieces} == {"House > Kitchen", "House > Garden"}
    assert not any("Roses" in piece.text and "kettle" in piece.text for piece in pieces)


def test_table_splits_between_rows_and_repeats_head():
    rows = [f"| item {number} | {number * 3} pieces on the shelf |" for number in range(200)]
    pieces = chunks(content("\n".join(["| Name | Stock |", "| --- | --- |", *rows])))
    assert len(pieces) > 5
    for piece in pieces:
        assert piece.text.startswith("| Name | Stock |\n| --- | --- |\n| item ")
        assert all(line.endswith("|") for line in piece.text.splitlines())
    assert sum(piece.text.count("| item ") for piece in pieces) == 200


def test_a_sentence_is_repeated_between_passages():
    text = " ".join(f"This is sentence number {number} of the long story." for number in range(100))
    pieces = chunks(content(text))
    for one, other in itertools.pairwise(pieces):
        first = other.text.split(".")[0]
        assert first in one.text
        assert len(one.text) <= MAX_CHARS


def test_sentence_across_pages_is_whole_once():
    pieces = chunks(content("It ends here. The parcel was sent on", "Tuesday by the red van. It arrived."))
    assert pieces[1].text == "The parcel was sent on\nTuesday by the red van. It arrived."
    assert pieces[1].page == 2


def test_chapters_of_plain_text_are_headings():
    text = "BOOK ONE: 1805\n\nCHAPTER I\n\nWell, Prince.\n\nCHAPTER II\n\nThe chapter I mean is long.\n"
    text = text.replace("Well, Prince.", "Well, Prince. " * 40)
    pieces = chunks(content(text, media_type="text/plain"))
    assert {piece.heading for piece in pieces} == {"BOOK ONE: 1805 > CHAPTER I", "BOOK ONE: 1805 > CHAPTER II"}


def test_comments_of_source_code_are_no_headings():
    code = "# settings\nport = 1\n\n\ndef main():\n    # starts\n    return port\n"
    [piece] = chunks(content(code, media_type="text/x-source"))
    assert (piece.heading, piece.text) == ("", code.strip())


def test_headings_in_fenced_code_are_code():
    [piece] = chunks(content("# Setup\n\n```sh\n# install\nmake install\n```"))
    assert (piece.heading, piece.text) == ("Setup", "```sh\n# install\nmake install\n```")


def test_chunking_takes_linear_time():
    assert len(chunks(content("word\n\n" * 60_000))) > 300
    assert len(chunks(content("x" * 200_000))) > 150


def test_outline_names_headings_with_their_pages():
    text = outline(content("# One\n\n## Inner\ntext", "# Two\ntext"))
    assert text == "One (p. 1)\n  Inner (p. 1)\nTwo (p. 2)"


def test_outline_leaves_deep_headings_out_first():
    text = outline(content("\n".join(f"# H{number}\n## deep {number}\nx" for number in range(100))), 900)
    assert "H99" in text
    assert "deep" not in text
