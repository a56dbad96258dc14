"""Redaction of secrets before a text is stored: keys, tokens, passwords, private keys, cards, IBANs.

Open first: this file. A secret needs a cue ("password", in many languages) and a word that looks like a secret, unless
its form identifies it; words and providers' prefixes are data: ``data.toml``.
"""

from __future__ import annotations

from typing import Any

from proxy.text.secrets import cued, forms

REDACTED = "[redacted]"
_DEEPEST = 64
_MAX_ROUNDS = 4
_MIN_LENGTH = 4
_NARROW = {
    0xFF00 + one: 0x20 + one for one in range(1, 0x5F) if chr(0x20 + one).isalnum()
}  # full-width letters, digits
_MAX_QUESTION, _MAX_ANSWER = 400, 200  # characters


def redact(text: str) -> str:
    """Return ``text`` with every secret replaced by ``[redacted]``; idempotent."""
    return _redacted(text, is_name=False)


def holds_credential(text: str) -> bool:
    """Return whether a text holds a credential: a key, a token, a password; cards and accounts do not count."""
    seen = text if text.isascii() else text.translate(_NARROW)
    found = (*forms.credentials(seen), *cued.spans(seen))
    return any(REDACTED not in text[start:end] for start, end in found)


def redact_answer(text: str, asked: str) -> str:
    """Return the text of a message without secrets; a question for one in the previous message serves as a cue.

    Args:
        text: The message.
        asked: The previous message, "" if there is none.
    """
    question = asked[-_MAX_QUESTION:].rstrip().rpartition("\n")[2]
    if not question or len(text) > _MAX_ANSWER or "?" not in question:
        return redact(text)
    begun = f"{redact(question)}\n"
    both = redact(begun + text)
    return both.removeprefix(begun) if both.startswith(begun) else redact(text)


def redact_name(name: str) -> str:
    """Return a client's id or name without secrets; randomness alone does not make it a secret."""
    return _redacted(name, is_name=True)


def redact_values(value: Any, name: str = "", *, depth: int = 0) -> Any:
    """Return a JSON value with every text in it redacted; a field name such as "password" is a cue.

    Raises:
        ValueError: If the value is nested too deeply to be stored.
    """
    if depth > _DEEPEST:
        raise ValueError(f"it is nested more than {_DEEPEST} levels deep")
    if isinstance(value, dict):
        return {redact(key): redact_values(inner, key, depth=depth + 1) for key, inner in value.items()}
    if isinstance(value, list):
        return [redact_values(inner, name, depth=depth + 1) for inner in value]
    if not isinstance(value, str):
        return value
    named = redact(f"{name}: {value}")
    return named.removeprefix(f"{name}: ") if named.startswith(f"{name}: ") else redact(value)


def _redacted(text: str, *, is_name: bool) -> str:
    for _ in range(_MAX_ROUNDS):  # the remaining text may bind to another cue than before
        cleaned = _once(text, is_name=is_name)
        if cleaned == text:
            break
        text = cleaned
    return text


def _once(text: str, *, is_name: bool) -> str:
    if len(text) < _MIN_LENGTH:
        return text
    seen = text if text.isascii() else text.translate(_NARROW)
    found = sorted([*forms.spans(seen, is_name=is_name), *cued.spans(seen)])
    kept, done = list[str](), 0
    for start, end in found:
        if end <= done or REDACTED in text[start:end]:
            continue
        if start > done or not kept:
            kept += (text[done:start], REDACTED)
        done = end
    return "".join((*kept, text[done:])) if kept else text
