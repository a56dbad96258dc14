"""Takes secrets out of a text before it is written anywhere: keys, tokens, passwords, private keys, card numbers, IBANs."""

from __future__ import annotations

from typing import Any

from proxy.text.secrets import cued, forms

REDACTED = "[redacted]"
_DEEPEST = 64
_MOST_ROUNDS = 4


def redact(text: str) -> str:
    """Return ``text`` with every secret replaced by ``[redacted]``; doing it twice changes nothing more."""
    for _ in range(_MOST_ROUNDS):
        cleaned = _once(text)
        if cleaned == text:
            break
        text = cleaned
    return text


def redact_values(value: Any, name: str = "", *, depth: int = 0) -> Any:
    """Return a JSON value with every text in it redacted; a name such as "password" tells what its text is.

    Raises:
        ValueError: If the value is nested too deeply to be stored.
    """
    if depth > _DEEPEST:
        raise ValueError(f"it is nested more than {_DEEPEST} levels deep")
    if isinstance(value, dict):
        return {key: redact_values(inner, key, depth=depth + 1) for key, inner in value.items()}
    if isinstance(value, list):
        return [redact_values(inner, name, depth=depth + 1) for inner in value]
    if not isinstance(value, str):
        return value
    named = redact(f"{name}: {value}")
    return named.removeprefix(f"{name}: ") if named.startswith(f"{name}: ") else redact(value)


def _once(text: str) -> str:
    if len(text) < 4:
        return text
    found = sorted([*forms.spans(text), *cued.spans(text)])
    kept, done = list[str](), 0
    for start, end in found:
        if end <= done or REDACTED in text[start:end]:
            continue
        if start > done or not kept:
            kept += (text[done:start], REDACTED)
        done = end
    return "".join((*kept, text[done:])) if kept else text
