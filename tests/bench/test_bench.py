from __future__ import annotations

import sys

import pytest

from tests.bench.figures import Figures, table
from tests.bench.files import Chats, Row, chats_table, files_table
from tests.bench.manager import ITEMS, PASSAGES
from tests.bench.manager import items as manager_items
from tests.bench.processes import Load, Process, free_port, running
from tests.bench.shown import Kind, kinds
from tests.bench.upstream import CHUNKS, completion, stream


def test_each_passage_stands_in_one_item():
    contents = list(manager_items())
    assert len(contents) == ITEMS
    for kind, (_, passage) in PASSAGES.items():
        assert [found for found, content in contents if passage in content] == [kind]


def test_stream_has_the_announced_chunks_and_ends_once():
    whole = b"".join(stream())
    assert whole.count(b"chat.completion.chunk") == CHUNKS
    assert whole.count(b"data: [DONE]") == 1
    assert whole.endswith(b"0\r\n\r\n")
    assert completion().startswith(b"HTTP/1.1 200 OK\r\n")


@pytest.mark.parametrize("is_stream", [False, True])
def test_load_client_counts_every_reply(is_stream, tmp_path):
    port = free_port()
    with running([]) as processes:
        upstream = Process([sys.executable, "-m", "tests.bench.upstream", str(port)], tmp_path / "log")
        processes.append(upstream)
        upstream.wait_listening(port)
        load = Load()
        processes.append(load)
        result = load.burst(port=port, clients=4, seconds=20.0, most=40, is_stream=is_stream, headers={})
        assert (result["done"], result["failed"], len(result["end_ms"])) == (40, 0, 40)
        assert all(first <= end for first, end in zip(result["first_ms"], result["end_ms"], strict=True))
        assert upstream.rss_bytes() > 2**20


def test_table_compares_with_direct_and_peer():
    figures = [Figures("direct"), Figures("off"), Figures("LiteLLM")]
    for one, ms in zip(figures, (1.0, 2.0, 21.0), strict=True):
        burst = {"first_ms": [ms], "end_ms": [ms], "embed_ms": [0.0], "done": 10, "failed": 0, "wall_s": ms}
        one.add(burst, ms / 100, clients=1, is_stream=False)
        one.add(burst, ms / 100, clients=1, is_stream=True)
    lines = {line.split("  ")[0].strip(): line.split() for line in table(figures).splitlines()}
    assert lines["whole reply p50, to direct"][-3:] == ["1x", "2x", "21x"]
    assert lines["added to whole reply p50, to LiteLLM"][-2:] == ["0.05x", "1x"]
    assert lines["CPU-ms a request"][-2:] == ["2.00", "21.00"]


def test_every_kind_has_files_without_public_ones(tmp_path, monkeypatch):
    """The kinds are the same with public files."""
    here = [kind.name for kind in kinds()]
    monkeypatch.setattr("tests.bench.shown.DATA", tmp_path)
    own = kinds()
    assert [kind.name for kind in own] == here
    assert all(kind.is_own and all(data for _, data in kind.files) for kind in own)


def test_images_delay_is_told_beside_direct():
    chats = Chats()
    for name, first_ms in (("direct, text", 1.0), ("direct, image", 2.0), ("ours, text", 9.0), ("ours, image", 12.5)):
        chats.add(name, (first_ms, 2 * first_ms))
    lines = {line.split("  ")[0]: line.split() for line in chats_table(chats).splitlines()}
    assert lines["ours, image"][-4:] == ["+3.5", "+7.0", "+2.5", "+5.0"]
    assert lines["direct, image"][-2:] == ["-", "-"]


def test_file_table_counts_pages_of_both_halves():
    row = Row(Kind("PDF", (("a.pdf", b"a"),)), 10.0, 2.0, 5.0, 0.5, 3.0, 1.0, (2**20, 2 * 2**20))
    cells = files_table([row]).splitlines()[1].split()
    assert cells == ["PDF", "1", "10", "5.0", "2.0", "50", "3.0", "1.0", "2", "1"]
