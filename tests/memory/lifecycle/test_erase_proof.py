"""The search that verifies an erasure finds a text at any offset of a file."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from proxy.memory.lifecycle import erase_proof
from proxy.memory.lifecycle.erase_proof import MIN_FRAGMENT, fragments, search

FRAGMENTS = st.binary(min_size=MIN_FRAGMENT, max_size=erase_proof.MAX_FRAGMENT)


@given(st.sets(FRAGMENTS, min_size=1, max_size=20), st.binary(max_size=300), st.binary(max_size=300))
def test_search_finds_exactly_what_a_file_holds(wanted: set[bytes], before: bytes, after: bytes) -> None:
    data = before + min(wanted) + after
    with TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(data)
        searched = search(Path(folder), wanted)
    assert dict(searched.found) == {one: {path} for one in wanted if one in data}
    assert (searched.files, searched.size_bytes) == (1, len(data))


def test_search_finds_what_lies_across_two_blocks(tmp_path: Path) -> None:
    fragment = b"across the border"
    for shift in range(len(fragment) + 1):
        data = b"." * (4 * 2**20 - shift) + fragment
        (tmp_path / "file").write_bytes(data)
        assert set(search(tmp_path, {fragment}).found) == {fragment}


def test_fragments_are_of_texts_and_ids_only() -> None:
    values = [b'{"role": "user_confirmed", "text": "a \\"quoted\\" sentence that goes on"}', "mem_" + "0" * 24, "short"]
    assert fragments(values) == {b"sentence that goes on", b"mem_" + b"0" * 24}
