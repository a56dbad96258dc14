"""Column types of the SQL tables: any text, any JSON value."""

from __future__ import annotations

import re
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Dialect

from proxy.store import codec

_ESCAPED = re.compile(r"\\(\\|0|ud[89a-f][0-9a-f]{2})")
_TAME = re.compile(r"[^\x00\\\ud800-\udfff]*")


class Text(sa.TypeDecorator[str]):
    """Any Python string, in a readable column: NUL and lone surrogates, which the engines refuse, are escaped."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Escape what cannot be stored."""
        if value is None or (value.isascii() and "\\" not in value and "\0" not in value) or _TAME.fullmatch(value):
            return value
        return value.replace("\\", "\\\\").replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        """Undo the escapes."""
        if value is None or "\\" not in value:
            return value
        return _ESCAPED.sub(_unescape, value)


class Json(sa.TypeDecorator[Any]):
    """A JSON value as bytes; None is NULL."""

    impl = sa.LargeBinary
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> bytes | None:
        """Write the value as JSON."""
        return None if value is None else codec.dumps(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        """Read the value back."""
        return None if value is None else codec.loads(value)


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    if code == "\\":
        return code
    return "\0" if code == "0" else chr(int(code[1:], 16))
