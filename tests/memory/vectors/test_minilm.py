"""The built-in model: equal to the published one, and independent of the rest of the batch."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import numpy as np
import pytest

from proxy.memory.vectors.minilm import DIMENSION, GRAPH, MODELS, MiniLM

TEXTS = [
    "I moved to Lisbon last spring and work from a small office near the river.",
    "Where do I live?",
    "¿Dónde vivo ahora?",
    "我住在里斯本,每天骑自行车上班。",
    "день рождения моей сестры в июне",
    "🎉🎂 see you at 7? 👩‍👩‍👧‍👦",
    "def area(radius):\n    return 3.14159 * radius ** 2",
    "id 7f3a-99, ref #2041, £12.50, 50%",
    "",
    "   \n\t ",
    "a\x00b\x07",
    "half an emoji \ud83d",
    "x" * 5000,
    "a very long story " * 2000,
    "很长的故事" * 3000,
]


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM.load()


def test_published_similarities_are_reproduced(minilm):
    # The documentation of sentence-transformers prints these for the float model.
    rows = minilm.vectors(["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."])
    found = [rows[0] @ rows[1], rows[0] @ rows[2], rows[1] @ rows[2]]
    assert found == pytest.approx([0.6660, 0.1046, 0.1411], abs=0.02)


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_any_text_has_a_vector_of_length_one(minilm, text):
    rows = minilm.vectors([text])
    assert rows.shape == (1, DIMENSION)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows[0]) == pytest.approx(1, abs=1e-5)


def test_word_vectors_are_mapped_from_the_file(minilm, tmp_path):
    assert any(f"{GRAPH}\n" in line for line in Path("/proc/self/maps").read_text().splitlines(keepends=True))
    names = {"another.onnx": GRAPH, "tokenizer.json": "tokenizer.json", "NOTICE": "NOTICE"}
    for name, source in names.items():
        shutil.copy(MODELS / source, tmp_path / name)  # a graph of another name is read whole
    whole = MiniLM.load(tmp_path, graph="another.onnx")
    assert whole.vectors(TEXTS[:6]).tobytes() == minilm.vectors(TEXTS[:6]).tobytes()


def test_same_text_gives_the_same_bits(minilm):
    assert minilm.vectors(TEXTS[:4]).tobytes() == minilm.vectors(TEXTS[:4]).tobytes()


def test_vector_does_not_depend_on_the_batch(minilm):
    batch = minilm.vectors(TEXTS)
    alone = np.concatenate([minilm.vectors([text]) for text in TEXTS])
    assert np.abs(batch - alone).max() < 1e-4


def test_words_beyond_the_window_change_nothing(minilm):
    story = "Our cat climbed the old pear tree and would not come down. " * 40
    assert np.array_equal(minilm.vectors([story + "Then it rained."]), minilm.vectors([story + "My key is lost."]))


def test_spacing_pushes_no_words_out_of_the_window(minilm):
    spaced = minilm.vectors(["tea" + " " * 3000 + "and" + "\n" * 3000 + "cake"])
    assert np.array_equal(spaced, minilm.vectors(["tea and cake"]))


@pytest.mark.parametrize(
    ("statement", "paraphrase", "unrelated"),
    [
        ("I am allergic to peanuts.", "Peanuts make me ill.", "The train leaves at nine."),
        ("My sister's birthday is in June.", "When was my sister born?", "How do I sort a list in Python?"),
        ("We adopted a dog called Bruno.", "What is the name of our pet?", "The invoice was paid on Monday."),
        ("I stopped drinking coffee.", "I no longer have coffee.", "The museum is closed on Mondays."),
    ],
)
def test_paraphrase_is_nearer_than_the_unrelated(minilm, statement, paraphrase, unrelated):
    first, near, far = minilm.vectors([statement, paraphrase, unrelated])
    assert first @ near > first @ far + 0.2


def test_notice_names_the_files_as_they_are():
    notice = (MODELS / "NOTICE").read_text(encoding="utf-8")
    for name in ("all-MiniLM-L6-v2.int8.onnx", "tokenizer.json"):
        assert f"{hashlib.sha256((MODELS / name).read_bytes()).hexdigest()}  {name}" in notice


def test_damaged_file_is_refused_by_name(tmp_path):
    shutil.copytree(MODELS, tmp_path, dirs_exist_ok=True)
    with (tmp_path / "all-MiniLM-L6-v2.int8.onnx").open("r+b") as file:
        file.truncate(1000)
    with pytest.raises(ValueError, match=r"int8\.onnx.*install"):
        MiniLM.load(tmp_path)


def test_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        MiniLM.load(tmp_path)
