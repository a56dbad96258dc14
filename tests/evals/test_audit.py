from __future__ import annotations

import os
import subprocess
import sys

import pytest

from proxy.evals.audit import Audit, closed, is_subsequence
from proxy.evals.metrics import units
from proxy.evals.server import cpu_s


@pytest.mark.parametrize(
    ("text", "message", "expected"),
    [
        ("I use Magnet as a tool", "By the way, I use Shram and Magnet as a tool.", True),
        ("I use Magnet", "Magnet is what I use", False),
        ("I live in Rome", "I live in Oslo", False),
        ("My key is [redacted]", "My key is sk-123, keep it", True),
        ("我用Magnet", "我用Shram和Magnet作为效率工具。", True),
        ("我住上海", "我住在北京", False),
        ("i don\u2019t smoke", "I don't smoke", True),
    ],
)
def test_subsequence_may_leave_words_out_and_change_none(text, message, expected):
    assert is_subsequence(text, units(message)) == expected


def test_only_turns_memories_are_compared_with_their_message():
    audit = Audit(messages=2, cpu_s=0.5)
    memories = [
        {"text": "I like tea", "source": "turn:1"},
        {"text": "I like rum", "source": "turn:2"},
        {"text": "I like milk", "source": "api"},
    ]
    audit.look(memories, ["I like tea.", "My aunt likes rum."])
    assert (audit.learned, audit.invented) == (2, ["I like rum"])
    audit.ending_nothing, audit.closed = 4, ["I like tea"]
    table = audit.table("x")
    assert dict(zip(table.columns, table.rows[0], strict=True)) == {
        "messages": 2,
        "ending nothing": 4,
        "closed by them": 1,
        "false endings": 0.25,
        "memories": 2,
        "invented": 1,
        "fidelity": 0.5,
        "CPU s": 0.5,
        "CPU-ms a message": 250.0,
    }
    assert [note.partition(":")[0] for note in table.notes] == [
        "false endings",
        "fidelity",
        "invented",
        "CPU-ms a message",
    ]
    assert [item["wrong"] for item in audit.items("x")] == ["invented", "closed"]


def test_shares_of_nothing_are_unknown():
    assert Audit().table("x").rows == ((0, 0, 0, None, 0, 0, None, None, None),)


def test_closed_memories_go_by_new_and_old_names():
    rows = [{"id": str(at), "status": name} for at, name in enumerate(("active", "closed", "retracted", "review"))]
    assert list(closed(rows)) == ["1", "2"]


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")
def test_cpu_time_includes_children():
    before = cpu_s(os.getpid())
    subprocess.run([sys.executable, "-c", "sum(range(3_000_000))"], check=True)
    after = cpu_s(os.getpid())
    assert before is not None
    assert after is not None
    assert after > before
    assert cpu_s(2**30) is None
