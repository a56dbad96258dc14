"""The README's walk-through, run verbatim against a server on another port."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.running import Running

README = Path(__file__).resolve().parents[2] / "README.md"


def _blocks() -> list[str]:
    return re.findall(r"^```(?:\w*)\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL)


def test_the_walk_through_works_as_it_stands(tmp_path: Path) -> None:
    (script,) = [block for block in _blocks() if block.startswith("say()")]
    with Running(tmp_path) as server:
        lines = script.replace("http://127.0.0.1:8787", server.origin).replace(" sleep 1;", "").splitlines()
        define, steps = "\n".join(lines[:2]), [line for line in lines[2:] if line.strip()]
        answers = []
        for step in steps:
            answers.append(
                subprocess.run(["bash", "-c", f"{define}\n{step}"], capture_output=True, text=True, check=True).stdout
            )
            server.wait_learned("no-key")
    both, without, again, listed = answers[1], answers[3], answers[5], answers[6]
    assert {name for name in ("Shram", "Magnet") if name in both} == {"Shram", "Magnet"}
    assert {name for name in ("Shram", "Magnet") if name in without} == {"Shram"}
    assert {name for name in ("Shram", "Magnet") if name in again} == {"Shram", "Magnet"}
    assert '"object":"memory"' in listed


def test_the_make_targets_that_it_names_exist() -> None:
    makefile = (README.parent / "Makefile").read_text()
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", README.read_text(), re.MULTILINE))
    assert named >= {"run", "test"}
    for target in named:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
