"""A file that adds nothing: the job fails and names the likely format and the remedy."""

from __future__ import annotations

import gzip
import json

import pytest

from tests.api.test_transfer import CHATGPT, MEM0, bring, exported, zipped
from tests.media.made import png
from tests.talking import Speaker

ARCHIVE = zipped("conversations.json", json.dumps(CHATGPT).encode())
UNREADABLE = [{"title": 5, "mapping": {"a": 5}, "current_node": 7}, {"mapping": {}}]


@pytest.mark.parametrize(
    ("content", "format_", "seems", "mend"),
    [
        (ARCHIVE[: len(ARCHIVE) // 2], "", "a ZIP archive that is cut off", "Download it again"),
        (ARCHIVE[: len(ARCHIVE) // 2], "chatgpt", "a ZIP archive that is cut off", "Download it again"),
        (gzip.compress(exported()), "", "packed by gzip", "gunzip"),
        (png(2, 2), "", "not text in UTF-8", "send the export itself"),
        ("I like tea".encode("utf-16"), "", "not text in UTF-8", "Save it"),
        (b"%PDF-1.7\n1 0 obj\n", "", "a PDF", "/v1/documents"),
        (b"<!DOCTYPE html>\n<html><body>\n<p>Sign in</p>\n</body></html>", "", "a web page", "Download the export"),
        (b"\n<HTML>\n<p>Sign in</p>\n", "list", "a web page", "Download the export"),
        (b"null", "", "no export that is known", "a list with a memory on each line"),
        (b" 5\n", "", "no export that is known", "a list with a memory on each line"),
        (json.dumps(CHATGPT).encode(), "claude", "seems to be of the format 'chatgpt'", "without `format`"),
        (json.dumps(CHATGPT).encode(), "mem0", "seems to be of the format 'chatgpt'", "without `format`"),
        (json.dumps(MEM0).encode(), "chatgpt", "seems to be of the format 'mem0'", "without `format`"),
        (ARCHIVE, "claude", "seems to be of the format 'chatgpt'", "without `format`"),
        (json.dumps(UNREADABLE).encode(), "", "none of its entries can be read", "as chatgpt wrote it"),
        (b"[]", "chatgpt", "no export that is known", "conversations.json"),
    ],
)
def test_file_without_entries_is_refused_with_mend(
    alice: Speaker, content: bytes, format_: str, seems: str, mend: str
) -> None:
    job = bring(alice, content, **({"format": format_} if format_ else {}))
    assert job["status"] == "failed"
    assert seems in job["error"]
    assert mend in job["error"]
    assert alice.memories(status="all") == []
    assert alice.sessions() == []


def test_list_about_numbers_and_pages_is_imported(alice: Speaker) -> None:
    lines = ("5 is my lucky number", "null hypotheses bore me", "<html> is the tag I type most")
    job = bring(alice, "\n".join(lines).encode())
    assert (job["status"], job["counts"]) == ("done", {"memories": 3})
