"""Rich text as Word, WordPad and TextEdit write it, and malformed rich text."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.media.base import Content, MediaRefused, Sniffed
from proxy.media.document import read
from proxy.media.limits import Limits
from proxy.media.sniff import sniff

LIMITS = Limits()


def said(folder: Path, data: bytes | str) -> Content:
    path = folder / "a.rtf"
    path.write_bytes(data if isinstance(data, bytes) else data.encode("ascii"))
    return read(path, sniff(path.read_bytes(), path.name), LIMITS, lambda _: None)


def text(folder: Path, data: bytes | str) -> str:
    return "\n\f\n".join(page.text for page in said(folder, data).pages)


def test_only_text_with_its_structure_comes_out(tmp_path):
    content = said(
        tmp_path,
        r"""{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fswiss Helvetica;}}{\colortbl;\red1\green2\blue3;}
{\stylesheet{\s1 heading 1;}}{\info{\title The Mill}{\author Nobody At All}}{\*\generator Writer 7;}
{\header Page head\par}\pard\outlinelevel0\b The mill\b0\par\pard
The {\i mill} at Torvik {\field{\*\fldinst HYPERLINK "http://example.org"}{\fldrslt is here}}.\line It turns.\par
{\pict\pngblip 89504e470d0a}{\v hidden words}Weir \{7\}\~m.\page Second page.}""",
    )
    assert content.title == "The Mill"
    assert [page.text for page in content.pages] == [
        "# The mill\n\nThe mill at Torvik is here.\nIt turns.\n\nWeir {7}\u00a0m.",
        "Second page.",
    ]


def test_a_table_is_a_table(tmp_path):
    rows = r"\trowd\cellx1\cellx2\pard\intbl Tea\cell 3\cell\row\trowd\pard\intbl Cake, \par plum\cell 4\cell\row"
    assert text(tmp_path, r"{\rtf1 Bill\par " + rows + r"\pard After.\par}") == (
        "Bill\n\n| Tea | 3 |\n| --- | --- |\n| Cake, plum | 4 |\n\nAfter."
    )


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (rb"{\rtf1\ansi\ansicpg1252 caf\'e9 \'80}", "café €"),
        (rb"{\rtf1\ansi\ansicpg1251 \'ef\'e8\'f0\'ee\'e3}", "пирог"),
        (rb"{\rtf1\ansi\uc1 \u1087?\u1080?\u1088?\u1086?\u1075?}", "пирог"),
        (rb"{\rtf1\ansi\uc0 \u-10179 \u-8704  x}", "😀 x"),
        (rb"{\rtf1\ansi{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset204 B;}}\f1 \'ef\'e8\'f0\'ee\'e3 \f0 tea}", "пирог tea"),
        (rb"{\rtf1\ansi{\fonttbl{\f0\fcharset128 A;}}\f0 \'93\'fa\'96\'7b}", "日本"),
        (rb"{\rtf1\mac caf\'8e}", "café"),
        (rb"{\rtf1 a\bin4 }}}}b \emdash  \ldblquote c\rdblquote}", "ab — “c”"),
        (rb"{\rtf1 one\
two}", "one\n\ntwo"),
    ],
)  # fmt: skip
def test_letters_of_every_code_page(tmp_path, data, expected):
    assert text(tmp_path, data) == expected


def test_an_empty_one_is_refused(tmp_path):
    with pytest.raises(MediaRefused, match="no text"):
        said(tmp_path, r"{\rtf1\ansi{\pict 89504e47}}")


def test_only_a_bomb_of_groups_is_refused(tmp_path):
    with pytest.raises(MediaRefused, match="nests"):
        said(tmp_path, r"{\rtf1 " + "{" * 2_000_000)
    assert text(tmp_path, r"{\rtf1 {\b tea}}}}} and cake") == "tea and cake"


@given(st.lists(st.sampled_from([b"{", b"}", b"\\", b"par ", b"\\u-1 ", b"\\'e", b"\\*", b"\\bin9 ", b"\\cell", b"\\row",
                                 b"\\page", b"\\uc99 ", b"\\title ", b"\\f1", b"\\ansicpg9999 ", b"x", b"\xff", b"\n"])))  # fmt: skip
def test_whatever_stands_there_it_is_read_or_refused(tmp_path_factory, pieces):
    path = tmp_path_factory.getbasetemp() / "any.rtf"
    path.write_bytes(b"{\\rtf1 " + b"".join(pieces))
    with suppress(MediaRefused):
        read(path, Sniffed("document", "application/rtf", "rtf"), LIMITS, lambda _: None)
