"""Error messages for a configuration, with problem, place and remedy; and removed settings with their successors."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from yaml.nodes import MappingNode, Node, SequenceNode

from proxy.errors import ConfigError

ENV_PREFIX = "THROUGHLINE_"
MAX_SHOWN = 60  # characters of a wrong value in a message
MAX_PROBLEMS = 4

_SECRET = re.compile("key|secret|database_url")
_USER = re.compile(r"(?<=://).*@|^(?!.*://).*@", re.DOTALL)  # to the last @, as a password may contain @ or /
_NO_URL = "is no URL: it begins with http:// or https:// and names a host"
_NO_TEXT = {f"tag:yaml.org,2002:{kind}" for kind in ("bool", "int", "float", "null", "timestamp", "binary")}
_PLAIN = {
    "path_type": "A path is wanted here; leave the line out for the default",
    "model_type": "Settings are wanted below this name, indented, one in a line",
    "model_attributes_type": "Settings are wanted below this name, indented, one in a line",
}

_FLAGS = {
    "server.host": "--host",
    "server.port": "--port",
    "server.data_dir": "--data-dir",
    "server.workers": "--workers",
}
_MEDIA = "media.limits (`small`, `normal` or `large`) holds in its place"
_PACE = "nothing replaces it, the pause is a constant of the worker's now"

GONE = {
    "embedder.cache_bytes": "it is 16 MB now",
    "embedder.threads": "it is 1 now; server.workers uses more processors",
    "files.keep_purposes": "`user_data`, `vision`, `assistants` are kept; files.handling may be `forward`, for none",
    "limits.body_bytes": "server.max_body_bytes holds in its place, and `keys create --max-body` for one key",
    "media.caption_timeout_s": "it is 60 now; media.caption_deadline_ms bounds what a request waits",
    "media.document_tokens": "it is 4000 now",
    "media.fetch_max_redirects": "it is 3 now",
    "media.fetch_timeout_s": "it is 15 now",
    "memory.compact_at_models": "upstream.context_windows sets a model's window; memory.compact_at is a share of it",
    "memory.compact_to": "it is 0.2 now; memory.compact_at says when turns give way",
    "memory.excerpt_tokens": "it is 2000 now; `X-Memory-Budget` asks for more",
    "memory.keep_turns": "it is 2 now",
    "memory.max_closed_per_turn": "it is 12 now; what goes beyond waits for review",
    "memory.max_facts_per_turn": "every statement of a message is kept",
    "memory.profile_tokens": "it is 150 now, within memory.budget_tokens",
    "memory.summary_tokens": "it is 2000 now",
    "store.metadata_cache_bytes": "it is 32 MB now; store.index_cache_bytes is the larger share",
    "upstream.read_timeout_s": "router_settings.timeout holds in its place",
    "telemetry.otlp_headers": "OpenTelemetry's own variable OTEL_EXPORTER_OTLP_HEADERS holds in its place",
    "worker.max_attempts": "it is 6 now",
    **dict.fromkeys(("memory.builtin_debounce_s", "memory.max_wait_s"), _PACE),
    **dict.fromkeys(("worker.gather_s", "worker.poll_s", "worker.retry_base_s"), _PACE),
    **dict.fromkeys(
        (
            "media.max_cells", "media.max_pages", "media.max_pixels", "media.max_text_chars",
            "media.max_unpacked_bytes", "media.ocr_max_pages", "media.ocr_memory_bytes", "media.ocr_timeout_s",
            "media.parse_cpu_s", "media.parse_memory_bytes", "media.parse_timeout_s",
        ),
        _MEDIA,
    ),
}  # fmt: skip


_FLAGS |= {"upstream.url": "--upstream"}

_FOREIGN = ("router_settings", "general_settings", "litellm_settings")  # LiteLLM's sections, read before validation
_INNER = ("config_folder", "litellm_callbacks", "litellm_master_key", "without_effect")


def read_file(path: Path) -> Node | None:
    """Return the nodes of a YAML file, None if it is empty.

    Raises:
        ConfigError: If it is missing, a folder, unreadable, invalid YAML, or not a mapping.
    """
    if path.is_dir():
        raise ConfigError(f"The config file {str(path)!r} is a folder. Name a YAML file; see config.example.yaml.")
    if not path.is_file():
        raise ConfigError(
            f"The config file {str(path)!r} does not exist. Copy config.example.yaml, or leave --config out."
        )
    node = _parsed(path)
    if node is not None and not isinstance(node, MappingNode):
        line = node.start_mark.line + 1
        raise ConfigError(
            f"The config file {str(path)!r}, line {line}, holds no `section:` with settings. See config.example.yaml."
        )
    if node is not None:
        _refuse_unclear_names(path, node)
        for key, section in node.value:
            if isinstance(section, MappingNode):
                _refuse_unclear_names(path, section)
            _refuse_misplaced(path, str(key.value), key.start_mark.line + 1, section)
    return node


def _parsed(path: Path) -> Node | None:
    try:
        text = path.read_text("utf-8")
        yaml.safe_load(text)
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise ConfigError(
            f"The config file {str(path)!r} is no valid YAML{where}: {error.problem or error.context}. Mend that line "
            "or the one before it: brackets and quotes closed, what belongs together indented alike."
        ) from error
    except (yaml.YAMLError, ValueError) as error:  # an invalid date, or invalid UTF-8, raises ValueError
        raise ConfigError(
            f"The config file {str(path)!r} is no valid YAML in UTF-8 ({error}). Save it as UTF-8, and put quotes "
            "around what is no number and no date."
        ) from error
    except RecursionError as error:
        raise ConfigError(f"The config file {str(path)!r} is nested too deeply. See config.example.yaml.") from error
    except OSError as error:
        raise ConfigError(f"The config file {str(path)!r} cannot be read ({error.strerror}).") from error


def explain(
    error: ValidationError, *, path: Path | None, node: Node | None, flags: Mapping[str, Any], known: list[str]
) -> str:
    """Return the error message for invalid settings, each problem with its place.

    Args:
        error: Validation error of the settings.
        path: YAML file, if there is one.
        node: Nodes of the YAML file.
        flags: Flags of the command line, by section.
        known: Dotted names of all settings and sections.
    """
    lines = []
    for problem in error.errors()[:MAX_PROBLEMS]:
        loc = tuple(str(part) for part in problem["loc"])
        name = ".".join(loc) or "the file"
        where = _place(loc, path, node, flags)
        if problem["type"] == "extra_forbidden":
            lines.append(f"{name}{where}: {_unknown(name, loc, known)}.")
        else:
            text = _PLAIN.get(problem["type"]) or problem["msg"].removeprefix("Value error, ")
            lines.append(f"{name}{where}: {text}{_shown(name, problem.get('input'))}.")
    return "The configuration is not valid.\n  " + "\n  ".join(lines)


def _unknown(name: str, loc: tuple[str, ...], known: list[str]) -> str:
    """Return problem and remedy for an unknown name."""
    if len(loc) == 1 and "." in name and name in known:
        section, field = name.split(".")
        return f"a setting stands below its section: `{section}:`, and in the next line, indented, `{field}:`"
    near = get_close_matches(name.lower(), known, 1, 0.7)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return gone(name) or f"there is no such setting{hint}; see config.example.yaml for all of them"


def _shown(name: str, value: object) -> str:
    """Return a wrong value for a message, without secrets."""
    if isinstance(value, Mapping | list):
        return f" (got a {'list' if isinstance(value, list) else 'mapping'})"
    return "" if _SECRET.search(name) else f" (got {without_password(value)[:MAX_SHOWN]!r})"


def _refuse_unclear_names(path: Path, node: MappingNode) -> None:
    """Refuse a name that is not text or occurs twice: YAML would silently drop the first one."""
    lines: dict[str, int] = {}
    for key, _ in node.value:
        line, name = key.start_mark.line + 1, str(key.value)
        if key.tag in _NO_TEXT:
            raise ConfigError(
                f"The config file {str(path)!r}, line {line}: {name!r} is no name of a section or setting. See "
                "config.example.yaml."
            )
        if name in lines:
            raise ConfigError(
                f"The config file {str(path)!r} has {name!r} in line {lines[name]} and again in line {line}; the first "
                "would count for nothing. Put them together."
            )
        lines[name] = line


def _refuse_misplaced(path: Path, name: str, line: int, section: Node) -> None:
    """Refuse names without effect: a LiteLLM section that is not a mapping, or an internal field."""
    is_empty = section.tag == "tag:yaml.org,2002:null"
    if name in _FOREIGN and not is_empty and not isinstance(section, MappingNode):
        problem = _PLAIN["model_type"]
    elif name in _INNER:
        problem = _unknown(name, (name,), [])
    else:
        return
    raise ConfigError(f"The configuration is not valid.\n  {name} ({path}, line {line}): {problem}.")


def problem_of_url(url: str, *, takes_query: bool = True) -> str:
    """Return problem and remedy for the URL of a server, "" if it is valid.

    >>> [problem_of_url(url) == "" for url in ("http://h/v1", "h:1/v1", "my provider", "https://", "http://h:x")]
    [True, False, False, False, False]

    Args:
        url: The operator's URL.
        takes_query: False if paths are appended to the URL, which a query or fragment would break.
    """
    from urllib.parse import urlsplit  # noqa: PLC0415 - with the IP parser it needs

    try:
        parts = urlsplit(url.strip())
        has_port = parts.port is None or parts.port > 0
    except ValueError:
        return _NO_URL
    is_one_word = not any(char.isspace() for char in url.strip())
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname or not has_port or not is_one_word:
        return _NO_URL
    if takes_query:
        return ""
    if "@" in parts.netloc:
        return "names a user, which is not sent: leave out what stands before the @"
    return "has more than a path: leave out what follows it, from the ? or # on" if set("?#") & set(url) else ""


def without_password(value: object) -> str:
    """Return a value for display, without user and password of a URL.

    >>> without_password("http://anna:secret@h/v1")
    'http://…@h/v1'
    """
    return _USER.sub("…@", str(value))


def _place(loc: tuple[str, ...], path: Path | None, node: Node | None, flags: Mapping[str, Any]) -> str:
    """Return the source of a value: a flag, else an environment variable, else a line of the file."""
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


def gone(name: str) -> str | None:
    """Return the message for a removed setting, None for any other name.

    >>> gone("memory.keep_turns")
    'this setting is gone: it is 2 now; remove it'
    """
    return f"this setting is gone: {GONE[name]}; remove it" if name in GONE else None
