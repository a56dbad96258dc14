"""Outlook messages, and the compound files that contain them."""

from __future__ import annotations

import struct
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.media.base import Content, MediaRefused
from proxy.media.compound import Compound
from proxy.media.document import read
from proxy.media.limits import Limits
from proxy.media.sniff import sniff
from tests.media import made

LIMITS = Limits()


def wide(text: str) -> bytes:
    return text.encode("utf-16-le")


def properties(*entries: tuple[int, int, int]) -> bytes:
    return bytes(32) + b"".join(struct.pack("<HHIQ", kind, number, 6, value) for number, kind, value in entries)


def message(**streams: bytes) -> bytes:
    parts = {"__nameid_version1.0/__substg1.0_00020102": b"\0" * 8}
    return made.compound({**parts, **{f"__substg1.0_{name}": data for name, data in streams.items()}})


def said(folder: Path, data: bytes) -> Content:
    path = folder / "a.msg"
    path.write_bytes(data)
    return read(path, sniff(data, path.name), LIMITS, lambda _: None)


def test_a_message_says_who_when_and_what(tmp_path):
    long = "Dear all,\r\n\r\n" + "the ferry to Kelmsund leaves at noon. " * 200
    data = made.compound(
        {
            "__properties_version1.0": properties((0x0039, 0x40, 133_800_000_000_000_000)),
            "__substg1.0_0037001F": wide("Ferry"),
            "__substg1.0_0C1A001F": wide("Ana Sule"),
            "__substg1.0_5D01001F": wide("ana@example.org"),
            "__substg1.0_0E04001F": wide("Bo; Cy"),
            "__substg1.0_1000001F": wide(long),
            "__nameid_version1.0/__substg1.0_00020102": bytes(8),
            "__attach_version1.0_#00000000/__substg1.0_3707001F": wide("timetable.pdf"),
            "__attach_version1.0_#00000000/__substg1.0_37010102": b"%PDF-1.7 " * 900,
        }
    )
    content = said(tmp_path, data)
    assert content.title == "Ferry"
    assert content.notes == ("attachments were not read: timetable.pdf",)
    text = content.pages[0].text
    assert text.startswith(
        "Subject: Ferry\nFrom: Ana Sule <ana@example.org>\nTo: Bo; Cy\nDate: Mon, 30 Dec 2024 02:40:00 +0000\n\nDear all,"
    )
    assert text.count("Kelmsund") == 200
    assert text.endswith("Attachments: timetable.pdf")


def test_code_pages_and_html_bodies_are_read(tmp_path):
    parts = {
        "__properties_version1.0": properties((0x3FFD, 3, 1251)),
        "__nameid_version1.0/a": b"a",
        "__substg1.0_0037001E": "Пирог".encode("cp1251"),
        "__substg1.0_10130102": b"<html><head><meta charset=utf-8></head><body><p>Green <b>tea</b>.</p></body></html>",
    }
    assert said(tmp_path, made.compound(parts)).pages[0].text == "Subject: Пирог\n\nGreen tea."


def test_packed_rich_text_alone_is_told(tmp_path):
    assert "save it as EML" in said(tmp_path, message(**{"0037001F": wide("A"), "10090102": b"x" * 20})).notes[0]


def test_an_empty_message_is_refused(tmp_path):
    with pytest.raises(MediaRefused, match="no text"):
        said(tmp_path, message())


@pytest.mark.parametrize("at", [30, 48, 60, 76])
def test_a_file_that_leads_nowhere_is_refused(tmp_path, at):
    data = bytearray(message(**{"0037001F": wide("A" * 4000)}))
    data[at : at + 4] = b"\x77\x77\x77\x07"
    with pytest.raises(MediaRefused) as caught:
        said(tmp_path, bytes(data))
    assert caught.value.reason == "malformed"


def test_chains_that_run_in_circles_end(tmp_path):
    data = bytearray(message(**{"0037001F": wide("A" * 4000)}))
    table = struct.unpack_from("<I", data, 76)[0]
    at = (table + 1) * 512
    struct.pack_into("<I", data, at, 0)  # the first sector's next sector is itself
    with pytest.raises(MediaRefused):
        said(tmp_path, bytes(data))


@given(st.binary(max_size=3), st.integers(0, 6000), st.integers(0, 6000))
def test_whatever_is_broken_it_is_read_or_refused(tmp_path_factory, noise, at, cut):
    data = bytearray(message(**{"0037001F": wide("A" * 900), "1000001F": wide("b" * 90)}))
    data[at : at + len(noise)] = noise
    path = tmp_path_factory.getbasetemp() / "any.msg"
    path.write_bytes(bytes(data[: len(data) - cut]))
    with suppress(MediaRefused):
        file = Compound(path)
        for name in file.streams:
            file.read(name)
