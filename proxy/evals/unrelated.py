"""Everyday prompts that say nothing about who asks, and that no memory helps with: a hundred, and 25 a language."""

from __future__ import annotations

from importlib import resources


def _read() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in resources.files("proxy.evals").joinpath("prompts.txt").read_text("utf-8").splitlines():
        if line.startswith("# "):
            lines = found.setdefault(line[2:], [])
        elif line:
            lines.append(line)
    return {code: tuple(prompts) for code, prompts in found.items()}


PROMPTS = _read()  # by language
EVERY_PROMPT: tuple[str, ...] = tuple(prompt for prompts in PROMPTS.values() for prompt in prompts)
