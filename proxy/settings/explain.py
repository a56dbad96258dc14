"""Says what is wrong with a configuration, where it stands, and how to mend it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from yaml.nodes import MappingNode, Node, SequenceNode

from proxy.errors import ConfigError
from proxy.settings.gone import gone

ENV_PREFIX = "THROUGHLINE_"
MAX_SHOWN = 60  # characters of a wrong value
MAX_PROBLEMS = 4

_FLAGS = {
    "server.host": "--host",
    "server.port": "--port",
    "server.data_dir": "--data-dir",
    "server.workers": "--workers",
}
_FLAGS |= {"upstream.url": "--upstream"}


def read_file(path: Path) -> Node | None:
    """Return the nodes of a YAML file, None where it is empty.

    Raises:
        ConfigError: If it is missing, a folder, not readable, no YAML, or no mapping.
    """
    if path.is_dir():
        raise ConfigError(f"The config file {str(path)!r} is a folder. Name a YAML file; see config.example.yaml.")
    if not path.is_file():
        raise ConfigError(
            f"The config file {str(path)!r} does not exist. Copy config.example.yaml, or leave --config out."
        )
    try:
        node = yaml.compose(path.read_text("utf-8"), Loader=yaml.SafeLoader)
        yaml.safe_load(path.read_text("utf-8"))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ConfigError(
            f"The config file {str(path)!r} is no valid YAML{where}: {error.problem or error.context}. Mend that line "
            "or the one before it: brackets and quotes closed, what belongs together indented alike."
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"The config file {str(path)!r} is no valid YAML in UTF-8 ({error}).") from error
    except OSError as error:
        raise ConfigError(f"The config file {str(path)!r} cannot be read ({error.strerror}).") from error
    if node is not None and not isinstance(node, MappingNode):
        line = node.start_mark.line + 1
        raise ConfigError(
            f"The config file {str(path)!r}, line {line}, holds no `section:` with settings. See config.example.yaml."
        )
    return node


def explain(
    error: ValidationError, *, path: Path | None, node: Node | None, flags: Mapping[str, Any], known: list[str]
) -> str:
    """Return what is wrong with the settings, each problem with its place.

    Args:
        error: Of the settings.
        path: The YAML file, if there is one.
        node: Its nodes.
        flags: As given, by section.
        known: Names of all settings and sections, with dots.
    """
    lines = []
    for problem in error.errors()[:MAX_PROBLEMS]:
        loc = tuple(str(part) for part in problem["loc"])
        name = ".".join(loc) or "the file"
        where = _place(loc, path, node, flags)
        if problem["type"] == "extra_forbidden":
            near = get_close_matches(name, known, 1, 0.7)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            mend = gone(name) or f"there is no such setting{hint}; see config.example.yaml for all of them"
            lines.append(f"{name}{where}: {mend}.")
        else:
            shown = str(problem.get("input"))[:MAX_SHOWN]
            text = problem["msg"].removeprefix("Value error, ")
            lines.append(f"{name}{where}: {text} (got {shown!r}).")
    return "The configuration is not valid.\n  " + "\n  ".join(lines)


def is_web_address(url: str) -> bool:
    """Return whether a URL has the scheme http or https and a host, and no blanks.

    >>> [is_web_address(url) for url in ("http://h/v1", "h:1/v1", "my provider", "https://", "http://h:x")]
    [True, False, False, False, False]
    """
    from urllib.parse import urlsplit  # noqa: PLC0415 - with the IP parser it needs

    try:
        parts = urlsplit(url.strip())
        has_port = parts.port is None or parts.port > 0
    except ValueError:
        return False
    is_one_word = not any(char.isspace() for char in url.strip())
    return parts.scheme.lower() in ("http", "https") and bool(parts.hostname) and has_port and is_one_word


def _place(loc: tuple[str, ...], path: Path | None, node: Node | None, flags: Mapping[str, Any]) -> str:
    """Return where a value stands: a flag, a variable, or a line of the file, in the order in which they count."""
    name = ".".join(loc[:2])
    section = flags.get(loc[0]) if loc else None
    if isinstance(section, Mapping) and len(loc) > 1 and section.get(loc[1]) is not None:
        return f" ({_FLAGS.get(name, 'a flag')})"
    variable = f"{ENV_PREFIX}{'__'.join(loc[:2])}".upper()
    if any(one.upper() == variable for one in os.environ):  # noqa: TID251 - names alone
        return f" ({variable})"
    line = _line(loc, node)
    return f" ({path}, line {line})" if path is not None and line else ""


def _line(loc: tuple[str, ...], node: Node | None) -> int:
    line = 0
    for part in loc:
        if isinstance(node, MappingNode):
            pair = next(((key, value) for key, value in node.value if str(key.value) == part), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, SequenceNode) and part.isdecimal() and int(part) < len(node.value):
            node = node.value[int(part)]
            line = node.start_mark.line + 1
        else:
            break
    return line
