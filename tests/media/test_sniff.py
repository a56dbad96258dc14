"""The type of a file follows from its bytes, whatever its name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.media.base import MediaRefused
from proxy.media.sniff import sniff
from tests.media import made

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600


def ole(entry: str) -> bytes:
    return OLE + entry.encode("utf-16-le") + b"\x00" * 600


@pytest.mark.parametrize(
    ("data", "name", "reader"),
    [
        (made.pdf("tea"), "tea.txt", "pdf"),
        (b"\n\n" + made.pdf("tea"), "", "pdf"),
        (made.docx("tea"), "tea.zip", "docx"),
        (made.xlsx({"tea": [["a"]]}), "", "sheet"),
        (made.pptx(("tea", "", "")), "", "pptx"),
        (made.odt(""), "", "odt"),
        (made.odt("", kind="spreadsheet"), "", "sheet"),
        (made.epub("tea"), "", "epub"),
        (ole("Workbook"), "", "sheet"),
        (made.png(2, 2), "tea.pdf", "image"),
        (b"GIF89a\x01\x00\x01\x00", "", "image"),
        (b"RIFF\x10\x00\x00\x00WEBPVP8 ", "", "image"),
        (b"II*\x00\x08\x00\x00\x00", "", "image"),
        (b"<!DOCTYPE html><html><p>tea", "", "html"),
        (b'<?xml version="1.0"?><html xmlns="x"><body>tea', "", "html"),
        (b"<!-- %PDF-1.4 --><html><body>tea</body></html>", "tea.pdf", "html"),
        (b'<?xml version="1.0"?><tea/>', "", "code"),
        (b'<svg xmlns="x"><text>tea</text></svg>', "", "code"),
        (b"a,b\n1,2\n", "tea.CSV", "csv"),
        (b"# Tea\n", "tea.md", "markdown"),
        (b"def tea():\n    pass\n", "tea.py", "code"),
        (b'{"tea": 1}', "tea.json", "json"),
        (b'{"cells": [], "nbformat": 4}', "", "notebook"),
        (b"From: a@b.c\r\nTo: d@e.f\r\nSubject: tea\r\n\r\nhello", "", "mail"),
        ("tea and пирог".encode(), "", "text"),
        ("пирог".encode("cp1251"), "", "text"),
        ("tea and cake".encode("utf-16"), "", "text"),
        ("tea and cake, a lot of it".encode("utf-16-le"), "", "text"),
    ],
)
def test_file_is_known_by_its_bytes(data, name, reader):
    assert sniff(data, name).reader == reader


def test_declared_type_decides_between_texts_only():
    assert sniff(b"a,b\n1,2\n", "", "text/csv; charset=utf-8").reader == "csv"
    assert sniff(made.png(2, 2), "", "text/csv").reader == "image"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b" \r\n\t", "empty"),
        (b"\x00" * 100, "empty"),
        (ole("EncryptedPackage"), "encrypted"),
        (ole("WordDocument"), "unsupported"),
        (ole("nothing known"), "unsupported"),
        (made.zipped({"a.txt": "tea"}), "unsupported"),
        (made.zipped({"a.pdf": made.pdf("tea")}, stored=("a.pdf",)), "ambiguous"),
        (b"\x00\x00\x00\x18ftypheic", "unsupported"),
        (b"\x00\x00\x00\x18ftypisom", "unsupported"),
        (b"\x7fELF\x02\x01", "unsupported"),
        (b"\x1f\x8b\x08\x00", "unsupported"),
        (bytes(range(256)) * 4, "unsupported"),
    ],
)
def test_other_files_are_refused_with_the_reason(data, reason):
    with pytest.raises(MediaRefused) as caught:
        sniff(data, "tea.bin")
    assert caught.value.reason == reason
    assert len(str(caught.value)) > 15


@given(st.binary(max_size=300), st.text(max_size=10), st.text(max_size=10))
def test_any_bytes_are_known_or_refused(data, name, declared):
    for head in (data, b"PK\x03\x04" + data, OLE[:8] + data, b"%PDF-" + data, b"<" + data):
        assert reader_or_reason(head, name, declared)


def reader_or_reason(head: bytes, name: str, declared: str) -> str:
    try:
        return sniff(head, name, declared).reader
    except MediaRefused as refused:
        return refused.reason


@pytest.mark.parametrize(
    ("entry", "mend"), [("WordDocument", "Save it as DOCX"), ("PowerPoint Document", "Save it as PPTX")]
)
def test_old_office_files_are_refused_with_mend(entry, mend):
    with pytest.raises(MediaRefused, match=mend):
        sniff(ole(entry), "a.bin")


def test_message_with_an_old_document_is_a_message():
    data = OLE + "WordDocument".encode("utf-16-le") + "__nameid_version1.0".encode("utf-16-le")
    assert sniff(data).reader == "msg"
