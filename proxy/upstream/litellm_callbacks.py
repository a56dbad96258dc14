"""LiteLLM's callbacks (Langfuse, Helicone …), named as in its configuration and started with its first use.

The operator enables them: they send prompts and replies of routes through LiteLLM, including injected memory, to the
services in the configuration. Throughline's own background calls are not sent there.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog

from proxy.settings.load import set_default_variable

_log = structlog.get_logger(__name__)

QUIETLY = {"no-log": True}  # argument of a call that is hidden from callbacks

# Names that LiteLLM starts in one function, and those whose package it would install by itself.
_STARTED_TOGETHER = frozenset(
    {
        "athina", "datadog", "dynamodb", "greenscale", "helicone", "langfuse", "logfire", "lunary", "openmeter",
        "promptlayer", "s3", "sentry", "slack", "supabase", "traceloop", "wandb",
    }
)  # fmt: skip
_PACKAGES = {"sentry": "sentry_sdk", "slack": "slack_bolt"}


class _Unusable(Exception):
    """A callback cannot be started."""


_TELLING = (_Unusable, ImportError)  # their messages hold no keys, and name the package to install
_COLOUR = re.compile(r"\x1b\[\d*m")


@dataclass(frozen=True, slots=True)
class Callbacks:
    """Callbacks named in ``litellm_settings``.

    Args:
        success: Called with replies; names of integrations, or ``module.instance`` of a file beside the configuration.
        failure: Called with failures.
        both: Called with either.
        hides_messages: Hide the messages' contents from callbacks.
        folder: Folder of the configuration file.
        variables: Environment variables to set unless they are set: integrations read their keys from them.
    """

    success: tuple[str, ...] = ()
    failure: tuple[str, ...] = ()
    both: tuple[str, ...] = ()
    hides_messages: bool = False
    folder: Path | None = None
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __bool__(self) -> bool:
        """Return whether any callback is named."""
        return bool(self.success or self.failure or self.both)

    def start(self, litellm: Any) -> None:
        """Register them with LiteLLM; skip and log one that cannot start, as every request would fail with it."""
        if not self:
            return
        for name, value in self.variables.items():
            set_default_variable(name, value)
        litellm.turn_off_message_logging = self.hides_messages
        manager = litellm.logging_callback_manager
        ready = {name: self._ready(litellm, name) for name in {*self.success, *self.failure, *self.both}}
        success = [*self.success, *(name for name in self.both if name in _STARTED_TOGETHER)]
        failure = [*self.failure, *(name for name in self.both if name in _STARTED_TOGETHER)]
        both = [name for name in self.both if name not in _STARTED_TOGETHER]
        for names, add in (
            (success, manager.add_litellm_success_callback),
            (failure, manager.add_litellm_failure_callback),
            (both, manager.add_litellm_callback),
        ):
            for name in dict.fromkeys(names):
                if ready[name] is not None:
                    add(ready[name])

    def _ready(self, litellm: Any, name: str) -> Any:
        try:
            if "." in name:
                return self._own(name)
            _try_out(litellm, name)
        except Exception as error:  # noqa: BLE001 - an integration's own troubles must not reach the chats
            cause = _COLOUR.sub("", str(error)) if isinstance(error, _TELLING) else type(error).__name__
            _log.error("a callback of LiteLLM does not start and is left out", callback=name, error=cause)
            return None
        return name

    def _own(self, name: str) -> Any:
        """Return an operator's own callback; a named class is instantiated."""
        module_name, _, attribute = name.rpartition(".")
        file = self.folder.joinpath(*module_name.split(".")).with_suffix(".py") if self.folder is not None else None
        if file is not None and file.is_file():
            spec = importlib.util.spec_from_file_location(module_name, file)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        else:
            module = importlib.import_module(module_name)
        found = getattr(module, attribute)
        return found() if inspect.isclass(found) else found


def _try_out(litellm: Any, name: str) -> None:
    """Start an integration as LiteLLM would with the first request.

    Raises:
        _Unusable: If it is unknown, or its package or key is missing.
    """
    logging = importlib.import_module("litellm.litellm_core_utils.litellm_logging")
    package = _PACKAGES.get(name)
    if package is not None and importlib.util.find_spec(package) is None:
        raise _Unusable(f"pip install {package.replace('_', '-')}")
    if name in _STARTED_TOGETHER:
        logging.set_callbacks([name])
    elif name not in litellm._known_custom_logger_compatible_callbacks:
        raise _Unusable("there is none of this name")
    elif logging._init_custom_logger_compatible_class(name, None, None) is None:
        raise _Unusable("its package or its key is missing")
