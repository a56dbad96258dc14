from __future__ import annotations

import json
import signal
import subprocess
import sys
import types

import pytest
from typer.testing import CliRunner

from proxy.errors import ConfigError
from proxy.evals.abstain import PROMPTS, abstain
from proxy.evals.cache import cache
from proxy.evals.cases import load_scenarios
from proxy.evals.client import Client
from proxy.evals.command import Options, Work, app, measure
from proxy.evals.forget import load_cases
from proxy.evals.junk import junk
from proxy.evals.play import play
from proxy.evals.recall import recall
from proxy.evals.report import Report
from tests.launch import wait_until

pytestmark = pytest.mark.anyio


def every_part(options: Options) -> Work:
    dataset = options.dataset()
    assert options.data is not None
    told = load_cases(options.data)

    async def work(client: Client) -> Report:
        report = await recall(client, dataset, options.budgets, 2)
        report.add(await play(client, told, 1, "forget"))
        report.add(await play(client, load_scenarios(options.data), 2))
        report.add(await junk(client, dataset, 1, PROMPTS["en"][:2]))
        report.add(await abstain(client, dataset, 1, {"en": PROMPTS["en"][:2]}))
        report.add(await cache(client, dataset, 1))
        return report

    return work


async def test_small_set_is_replayed_against_a_real_server(sample):
    found = await measure([every_part], Options(data=sample, budgets=(400,)))
    tables = {table.title: table for table in found.tables}
    table = tables["own: evidence injected in 400 tokens"]
    every = dict(zip(table.columns, table.rows[1], strict=True))
    assert (every["category"], every["questions"], every["evidence"]) == ("all", 2, 1.0)
    assert 0 < every["tokens"] <= 400
    assert "8-grams of other users injected: 0" in table.notes[0]
    assert tables["own: ranking, from the receipts"].rows[-1] == ("all", 2, 1.0, 1.0, 1.0, 1.0)
    assert [item["strict"] for item in found.items if "case" in item] == [True] * 4
    learned = tables["forget: learned and closed"]
    assert dict(zip(learned.columns, learned.rows[0], strict=True))["CPU-ms a message"] > 0
    assert tables["cases, by kind"].rows[-1] == ("all", 2, 2, 1.0, 1.0, 1.0, None, None)
    assert tables["cases: questions of stories"].rows[-1] == ("all", 1, 1, 1.0, 1.0, 1.0, None, None)
    assert tables["cases: learned and closed"].rows[0][0] == 5
    assert tables["own: learned and closed"].rows[0][:2] == (4, 4)
    assert tables["own: memory injected"].rows[0][:2] == ("unrelated prompts (en)", 2)
    assert tables["own: input cost with prompt caching"].rows[0][0] == "no memory"


async def test_questions_follow_the_end_of_earlier_conversations(sample):
    async def work(client: Client) -> Report:
        dataset = Options(data=sample).dataset()
        report = await recall(client, dataset, (400,), 1)
        for person in dataset.people:
            page = await client.get("/v1/sessions", person.id, limit="1000")
            ended = {one["name"]: one["ended_at"] for one in page["data"]}
            assert all(ended[session.id] for session in person.sessions)
        return report

    await measure([lambda _: work], Options(data=sample))


def test_interrupted_evaluation_leaves_nothing_behind(sample, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    command = [sys.executable, "-m", "proxy", "eval", "forget", "--data", str(sample)]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: any(log.stat().st_size for log in tmp_path.glob("throughline-eval-*/server.log")))
    running.terminate()
    assert running.wait(60) == 128 + signal.SIGTERM
    assert list(tmp_path.glob("throughline-eval-*")) == []


def test_missing_data_is_explained(tmp_path):
    with pytest.raises(ConfigError, match="sessions"):
        CliRunner().invoke(app, ["recall", "--data", str(tmp_path)], catch_exceptions=False)


@pytest.mark.parametrize("part", ["forget", "questions", "cases"])
def test_folder_without_cases_is_refused_before_anything_starts(part, tmp_path):
    with pytest.raises(ConfigError, match="holds n"):
        CliRunner().invoke(app, [part, "--data", str(tmp_path)], catch_exceptions=False)


def test_judge_is_asked_with_what_it_needs(monkeypatch, tmp_path):
    async def judge(base_url, model, path):
        return {"asked": [base_url, model, str(path)]}

    monkeypatch.setitem(sys.modules, "proxy.evals.judge", types.SimpleNamespace(judge=judge))
    arguments = ["judge", "--base-url", "http://127.0.0.1:1/v1", "--model", "small", "--data", str(tmp_path)]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert json.loads(result.stdout) == {"asked": ["http://127.0.0.1:1/v1", "small", str(tmp_path)]}


def test_version_without_a_judge_says_so(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "proxy.evals.judge", None)
    result = CliRunner().invoke(app, ["judge", "--base-url", "u", "--model", "m", "--data", str(tmp_path)])
    assert result.exit_code == 2
    assert "cannot ask a judge" in result.output
