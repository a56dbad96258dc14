from __future__ import annotations

import json

import pytest

from proxy.errors import ConfigError
from proxy.evals.forget import Case, Outcome, assess, load_cases, tabulate
from proxy.evals.questions import load_questions

SCRIPT = """
from lib import nothing
FACTS = [
  ("en", "I live in Bonn.", "Where do I live?", ["Bonn"], ["Where do I live?", "Why?"], ["I forgot.", "It rains."]),
  ("zh", "我住在厦门。", "我住在哪?", ["厦门"], ["我住在哪?"], ["我老是忘记。"]),
]
ENDINGS = [("en", "I live in Bonn.", "Where do I live?", ["Bonn"], ["Ulm"], "I moved to Ulm. And now?")]
nothing.runs()
"""


def test_lists_of_a_script_are_read_without_running_it(tmp_path):
    (tmp_path / "clients").mkdir()
    (tmp_path / "clients" / "question_plus_sentence.py").write_text(SCRIPT, encoding="utf-8")
    cases = load_questions(tmp_path)
    assert [case.conversations[1][0] for case in cases] == [
        "Where do I live? I forgot.",
        "Where do I live? It rains.",
        "Why? I forgot.",
        "It rains. Why?",
        "我住在哪?我老是忘记。",
        "I moved to Ulm. And now?",
    ]
    assert [case.ends_nothing for case in cases] == [True] * 5 + [False]
    assert (cases[-1].present, cases[-1].absent, len({case.id for case in cases})) == (("Ulm",), ("Bonn",), 6)


def test_lines_are_read_before_a_script(tmp_path):
    row = {"lang": "en", "fact": "I live in Bonn.", "message": "Hm. Where?", "probe": "Where?", "present": ["Bonn"]}
    (tmp_path / "question_plus_sentence.py").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "question_plus_sentence.jsonl").write_text(json.dumps(row), encoding="utf-8")
    assert [case.conversations for case in load_questions(tmp_path)] == [(("I live in Bonn.",), ("Hm. Where?",))]


@pytest.mark.parametrize("text", ["FACTS = [1]", "FACTS = [f()]", "ENDINGS = []", "("])
def test_script_of_another_form_is_refused(tmp_path, text):
    (tmp_path / "question_plus_sentence.py").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="not of the format"):
        load_questions(tmp_path)


def test_folder_without_questions_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="holds none of"):
        load_questions(tmp_path)


def test_table_counts_each_measure_where_it_applies(sample):
    case = load_cases(sample)[0]
    request = Case("gone", "de", "forget_request", (("Ich habe Asthma.",), ("Vergiss es.",)), "?", (), ("Asthma",))
    near = Case("near", "de", "near_miss", (("Ich mag Tee.",), ("Bo mag keinen Tee.",)), "?", ("Tee",), ())
    outcomes = [
        Outcome(case, assess(case, "plays the bassoon")),
        Outcome(request, assess(request, "Asthma")),
        Outcome(near, assess(near, "Tee"), ("Ich mag Tee",)),
    ]
    kinds, languages = tabulate(outcomes).tables
    assert kinds.columns == ("kind", "cases", "kept", "resolved", "strict", "withheld", "false endings")
    assert kinds.rows == (
        ("correct", 1, 1.0, 1.0, 1.0, None, None),
        ("forget_request", 1, 1.0, 0.0, 0.0, 0.0, None),
        ("near_miss", 1, 1.0, 1.0, 1.0, None, 1.0),
        ("all", 3, 1.0, 2 / 3, 2 / 3, 0.0, 1.0),
    )
    assert [row[0] for row in languages.rows] == ["de", "en", "all"]
    assert [miss.title for miss in tabulate(outcomes).misses] == ["gone", "near"]
    assert [note.partition(":")[0] for note in kinds.notes] == ["kept", "resolved", "strict", "withheld"]


def test_restated_fact_may_close_only_what_took_it_back():
    said = (("I'm vegan.",), ("I'm not vegan any more.",), ("I'm vegan again.",))
    case = Case("r", "en", "restate", said, "Diet?", ("vegan",), ())
    assert case.may_end({"text": "I'm not vegan any more"})
    assert case.may_end({"text": "The user eats anything", "quote": "I'm not vegan any more."})
    assert not case.may_end({"text": "I'm vegan again"})
