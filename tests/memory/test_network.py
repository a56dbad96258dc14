"""The network of endings: reads two texts as one, whatever they hold, and knows an end from mere mention."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.memory.learn.extract_builtin.lexicons import LEXICONS
from proxy.memory.learn.extract_builtin.looks import places_of
from proxy.memory.learn.extract_builtin.network import GRAPH, LANGUAGES, Network, load, network
from proxy.memory.learn.extract_builtin.reading import read
from proxy.memory.learn.extract_builtin.verdicts import Verdicts
from proxy.memory.vectors.minilm import MODELS, MiniLM
from proxy.memory.vectors.pieces import PIECES

FOLDER = Path(__file__).parent / "endings" / "plain"  # of which nothing was learned
TOLD = ("We live in Metz with our cat Pip.", "Metz", "Pip")
LEAST = {"en": 0.9, "de": 0.8, "es": 0.73, "ru": 0.75, "zh": 0.85}


def the_network() -> Network:
    found = network()
    assert found is not None
    return found


def total(code: str, line: dict[str, str]) -> float:
    at, places = line["said"].index(line["value"]), places_of(line["value"], line["text"])
    return the_network().totals(line["said"], line["text"], code, [((at, at + len(line["value"])), places)])[0]


@pytest.mark.parametrize("code", LANGUAGES)
def test_what_ends_gets_a_higher_number_than_what_lasts(code: str) -> None:
    lines = [json.loads(line) for line in (FOLDER / f"{code}.jsonl").read_text("utf-8").splitlines()]
    lines = [line for line in lines if line["value"] in line["said"]]
    ends = [total(code, line) for line in [line for line in lines if line["ends"]][:80]]
    lasts = [total(code, line) for line in [line for line in lines if not line["ends"]][:80]]
    ordered = sum(a > b for a in ends for b in lasts) / (len(ends) * len(lasts))
    assert ordered >= LEAST[code]  # of pairs; one in two by chance


def test_a_value_gets_the_same_number_alone_and_among_others() -> None:
    told, *values = TOLD
    places = [((told.index(value), told.index(value) + len(value)), []) for value in values]
    message = "We left the place in May."
    both = the_network().totals(told, message, "en", places)
    alone = [the_network().totals(told, message, "en", [one])[0] for one in places]
    assert both == pytest.approx(alone, abs=1e-4)
    assert both[0] != pytest.approx(both[1], abs=1e-2)


@settings(max_examples=25)
@given(st.text(max_size=200), st.text(max_size=200), st.sampled_from(LANGUAGES))
def test_any_two_texts_are_read(told: str, message: str, code: str) -> None:
    spans = [((0, len(told)), [(0, len(message))]), ((len(told), len(told) + 9), [])]
    assert all(map(math.isfinite, the_network().totals(told, message, code, spans)))


def test_what_lies_behind_the_last_token_gets_a_number_all_the_same() -> None:
    told = "word " * 400 + "Metz."
    assert math.isfinite(
        the_network().totals(told, "We left. \ud83d " * 200, "en", [((2000, 2004), [(1600, 1604)])])[0]
    )


@pytest.mark.parametrize("name", [GRAPH, PIECES])
def test_a_damaged_file_is_refused_by_name(tmp_path: Path, name: str) -> None:
    shutil.copytree(MODELS, tmp_path, dirs_exist_ok=True)
    with (tmp_path / name).open("r+b") as file:
        file.truncate(1000)
    with pytest.raises(ValueError, match=rf"{name}.*install"):
        load(tmp_path)


def test_without_its_file_endings_are_weighed_by_the_weights_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.memory.learn.extract_builtin.network.MODELS", tmp_path)
    network.cache_clear()
    try:
        verdicts = Verdicts(read("We moved from Metz to Lyon.", LEXICONS), ["We live in Metz."])
        assert network() is None
        assert 0 < (verdicts.odds("Metz", ruled=True) or 0) < 1
    finally:
        network.cache_clear()


def test_a_process_holds_the_embedders_model_once() -> None:
    held = MiniLM.shared()
    assert MiniLM.shared() is held
    assert MiniLM.shared(threads=2) is held
