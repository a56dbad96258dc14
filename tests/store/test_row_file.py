"""Rows are read from a file as they were written."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.errors import StoreUnavailable
from proxy.store.row_file import RowFile
from proxy.store.schema import EPISODES, to_arrow
from proxy.types import Episode
from tests.memory.rows import DIMENSION, MODEL, NOW, turn_vectors

TURNS = st.lists(st.text(min_size=1), min_size=1, max_size=12)


def turns(*texts: str) -> list[Episode]:
    return [Episode(f"ses-{at}", "ses", "t", at, "user", text, NOW) for at, text in enumerate(texts)]


def put(file: RowFile[Episode], rows: list[Episode], pairs: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
    columns = {name: [pairs[row.id][at] for row in rows] for at, name in enumerate(EPISODES.vectors)}
    table = to_arrow(EPISODES, rows, columns, [MODEL] * len(rows), dimension=DIMENSION, stamp=1)
    lines = {name: np.array(columns[name], dtype=np.float32) for name in EPISODES.vectors}
    file.extend(table.column("record").to_pylist(), lines)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("rows")


@given(texts=TURNS, cut=st.integers(0, 12), data=st.data())
def test_rows_come_back_however_they_arrived(folder, texts, cut, data):
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    rows, file = turns(*texts), RowFile(folder, EPISODES, DIMENSION)
    pairs = turn_vectors(rows)
    for some in (rows[:cut], rows[cut:]):
        if some:
            put(file, some, pairs)
    lines = data.draw(st.lists(st.integers(0, len(rows) - 1)))
    found = file.take(lines, MODEL)
    assert found.items == [rows[at] for at in lines]
    for place, name in enumerate(EPISODES.vectors):
        assert found.vectors[name].shape == (len(lines), DIMENSION)
        for at, vector in zip(lines, found.vectors[name], strict=True):
            assert np.allclose(vector, pairs[rows[at].id][place], atol=1e-3)


def test_a_row_without_vectors_is_of_no_model(folder):
    file = RowFile(folder, EPISODES, DIMENSION)
    table = to_arrow(
        EPISODES, turns("tea"), {name: [None] for name in EPISODES.vectors}, [None], dimension=DIMENSION, stamp=1
    )
    file.extend(
        table.column("record").to_pylist(), {name: np.zeros((1, DIMENSION), np.float32) for name in EPISODES.vectors}
    )
    assert file.take([0], MODEL).models == [""]


def test_the_file_is_closed_with_its_last_user(folder):
    file = RowFile(folder, EPISODES, DIMENSION)
    descriptor = file._file
    assert os.fstat(descriptor).st_nlink == 0
    del file
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(descriptor)


def test_unwritable_folder_is_reported(tmp_path):
    with pytest.raises(StoreUnavailable, match="open a file for rows"):
        RowFile(tmp_path / "none", EPISODES, DIMENSION)
