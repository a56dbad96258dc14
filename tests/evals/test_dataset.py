from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from proxy.errors import ConfigError
from proxy.evals.dataset import DATA_VARIABLE, data_folder, default_set, load_set


def test_own_files_are_read_by_person_and_time(sample):
    dataset = load_set(sample, default_set(sample))
    assert [person.id for person in dataset.people] == ["ada", "bo"]
    assert [session.id for session in dataset.people[0].sessions] == ["ada/1", "ada/2"]
    assert dataset.people[0].questions[0].gold == ("1:1",)


def test_packed_set_lies_below_traffic(sample):
    place = sample / "traffic" / "locomo"
    place.mkdir(parents=True)
    for noun in ("sessions", "questions"):
        (place / f"{noun}.open.jsonl.gz").write_bytes(gzip.compress((sample / f"{noun}.jsonl").read_bytes()))
    assert default_set(sample) == "locomo"
    assert len(load_set(sample, "locomo").people) == 2


def test_quick_look_spreads_one_persons_questions(sample):
    few = load_set(sample, "own").limited(1)
    assert len(few.people) == 1
    assert len(few.people[0].questions) == 1
    assert len(few.people[0].sessions) == 2


def test_quick_look_takes_as_few_people_as_possible(sample):
    assert [len(person.questions) for person in load_set(sample, "own").limited(3).people] == [2, 1]


def test_missing_folder_tells_the_format(monkeypatch, tmp_path):
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(ConfigError, match="gold_src_ids"):
        data_folder(None)


def test_folder_is_given_or_found_in_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    assert data_folder(None) == tmp_path
    assert data_folder(Path("/")) == Path("/")


def test_line_of_another_format_is_named(sample):
    (sample / "sessions.jsonl").write_text('{"user": "ada"}\n', encoding="utf-8")
    with pytest.raises(ConfigError, match="session_id"):
        load_set(sample, "own")


def test_missing_files_are_named(tmp_path):
    with pytest.raises(ConfigError, match=r"sessions\.jsonl"):
        load_set(tmp_path, "own")


def test_dated_statements_become_one_conversation_a_day(tmp_path):
    said = [
        {"mid": 0, "message": "我的手机是旧的。", "time": "2024年04月01日 周一 08:00", "place": ""},
        {"mid": 1, "message": "我的车是红色的。", "time": "2024年04月02日 周二 08:00", "place": ""},
    ]
    asked = [{"qid": 0, "question": "我的车是什么颜色？", "answer": "红色", "target_step_id": [1]}]
    (tmp_path / "memdaily_zh").mkdir()
    body = json.dumps([{"tid": 4, "message_list": said, "question_list": asked}])
    (tmp_path / "memdaily_zh" / "items.json").write_text(body, encoding="utf-8")
    person = load_set(tmp_path, "memdaily_zh").people[0]
    assert [session.date for session in person.sessions] == ["2024-04-01T12:00:00", "2024-04-02T12:00:00"]
    assert person.questions[0].gold == person.sessions[1].lines[0].labels
