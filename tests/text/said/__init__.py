"""Messages with and without a secret: data shared by the redaction tests."""

from __future__ import annotations

import re
from pathlib import Path

_FOLDER = Path(__file__).parent
_MIXED = "aB3dE9xQ7zP1mN5kL0wR2tYvC4uS8hJ6fG" * 3
_SECRET = re.compile(r"\{\{(.+?)\}\}(?!\})")


def _lines(name: str) -> list[str]:
    lines = (_FOLDER / name).read_text("utf-8").splitlines()
    return [line.replace("\\n", "\n") for line in lines if line and not line.startswith("# ")]


def _written(secret: str) -> str:
    """Return a secret with its mixed characters; a full key in the files would trigger secret scanners."""
    return re.sub(r"@(\d+)", lambda match: _MIXED[: int(match[1])], secret)


def _case(line: str) -> tuple[str, list[str]]:
    text = _SECRET.sub(lambda match: _written(match[1]), line)
    return text, [_written(match[1]) for match in _SECRET.finditer(line)]


def is_explained(before: str, secret: str) -> bool:
    """Return whether the preceding text may present a secret as a hash or another number."""
    return (
        bool(
            re.search(
                r"(?i)\b(?:hash|sha|uuid|commit|digest|etag|trace|request|address|tag|checksum|integrity)", before
            )
        )
        and len(secret) >= 16
    )


ORDINARY = _lines("ordinary.txt")
SECRETS = [_case(line) for line in _lines("secrets.txt")]
SHAPES = [
    "hunter2!x", "S3cret!", "correct-horse-battery-staple-9", "Zx9!kL", "pa55word", "qwertz123", "abc123", "Pa$$w0rd",
    "kjhgfdsaqwertyuiop", "7hG$2k", "MyDog_Rex1!", "пароль123", "Summer2024", "x7-Kp9-mQ2", "fluffy.bunny.7", "r00tbeer",
    "a#b#c#d1", "Winter-2024!", "Tr0ub4dor&3", "letmein!now", "P@ssw0rd", "J8(kd)2,x!", "x^2+y^2=z", "p4ß-Wort!9",
    "1234abcd", "test1234", "green;Tea:9", "9f8e7d6c5b4a39281706f5e4d3c2b1a0",
]  # fmt: skip
FRAMES = [
    "my password is {}", "I changed the password to {} today", "{} is my password", "Mein Passwort lautet {}.",
    "Ich habe mein Passwort auf {} geändert", "Cambié mi contraseña a {}", "mon mot de passe est {}", "Мой пароль {}",
    "我的密码是{}", "password: {}", "PASSWORD={}", "password is:\n{}", "use {} as password", "minha senha é {}",
    "パスワードは{}です", "pass: {}", "I logged in with the password {} and it worked", "My password? {}", "new pw: `{}`",
]  # fmt: skip
