from __future__ import annotations

import json

import pytest

from proxy.errors import ConfigError
from proxy.evals.forget import load_cases, load_questions

SCRIPT = """
from lib import nothing
FACTS = [
  ("en", "I live in Bonn.", "Where do I live?", ["Bonn"], ["Where do I live?", "Why?"], ["I forgot.", "It rains."]),
  ("zh", "我住在厦门。", "我住在哪?", ["厦门"], ["我住在哪?"], ["我老是忘记。"]),
]
ENDINGS = [("en", "I live in Bonn.", "Where do I live?", ["Bonn"], ["Ulm"], "I moved to Ulm. And now?")]
nothing.runs()
"""


def test_scripts_lists_are_read_without_running_it(tmp_path):
    (tmp_path / "clients").mkdir()
    (tmp_path / "clients" / "question_plus_sentence.py").write_text(SCRIPT, encoding="utf-8")
    cases = load_questions(tmp_path)
    assert [case.steps[1]["user"][0] for case in cases] == [
        "Where do I live? I forgot.",
        "Where do I live? It rains.",
        "Why? I forgot.",
        "It rains. Why?",
        "我住在哪?我老是忘记。",
        "I moved to Ulm. And now?",
    ]
    assert [case.ends_nothing for case in cases] == [True] * 5 + [False]
    ending = cases[-1].probes[0]
    assert (ending["present"], ending["absent"], len({case.id for case in cases})) == (["Ulm"], ["Bonn"], 6)


def test_lines_are_read_before_a_script(tmp_path):
    row = {"lang": "en", "fact": "I live in Bonn.", "message": "Hm. Where?", "probe": "Where?", "present": ["Bonn"]}
    (tmp_path / "question_plus_sentence.py").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "question_plus_sentence.jsonl").write_text(json.dumps(row), encoding="utf-8")
    (case,) = load_questions(tmp_path)
    assert [step["user"] for step in case.steps] == [["I live in Bonn."], ["Hm. Where?"]]


@pytest.mark.parametrize("text", ["FACTS = [1]", "FACTS = [f()]", "ENDINGS = []", "("])
def test_script_of_another_form_is_refused(tmp_path, text):
    (tmp_path / "question_plus_sentence.py").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="not of the format"):
        load_questions(tmp_path)


def test_folder_without_questions_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="holds none of"):
        load_questions(tmp_path)


def test_cases_are_told_two_days_apart(sample):
    (case,) = load_cases(sample)
    assert [step["time"][:10] for step in (*case.steps, *case.probes)] == ["2026-01-05", "2026-01-07", "2026-01-09"]
    assert (case.kind, case.whole_words, case.ends_nothing) == ("correct", False, False)


def test_cases_of_another_format_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="holds none of"):
        load_cases(tmp_path)
    (tmp_path / "retract.jsonl").write_text('{"id": 1}', encoding="utf-8")
    with pytest.raises(ConfigError, match="conversations"):
        load_cases(tmp_path)
