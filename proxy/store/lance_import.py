"""Imports LanceDB without the generated REST client that it loads for its cloud service.

That client is some two hundred pydantic models for requests that an embedded store never makes: two thirds of the
import's CPU time (3.3 s against 1.0) and 19 MB. While LanceDB is imported, its modules are stood in for by empty ones.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_CLIENT = "lance_namespace_urllib3_client"


def import_lancedb() -> ModuleType:
    """Return LanceDB's module; should it refuse to do without its client, with it."""
    if "lancedb" in sys.modules or _CLIENT in sys.modules:
        return importlib.import_module("lancedb")
    finder = _StandIns()
    sys.meta_path.insert(0, finder)
    try:
        return importlib.import_module("lancedb")
    except (ImportError, AttributeError, TypeError):
        # The native part stays: it cannot be initialised twice.
        begun = [name for name in sys.modules if name.partition(".")[0] in (_CLIENT, "lancedb", "lance_namespace")]
        for name in begun:
            if name != "lancedb._lancedb":
                del sys.modules[name]
        sys.meta_path.remove(finder)
        return importlib.import_module("lancedb")
    finally:
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)


class _StandIns(MetaPathFinder, Loader):
    """Finds any module of the client, each with a class of every name that is asked for."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a specification for the client's modules only."""
        del path, target
        return ModuleSpec(fullname, self, is_package=True) if fullname.partition(".")[0] == _CLIENT else None

    def exec_module(self, module: ModuleType) -> None:
        """Let the module make classes up."""

        def made_up(name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            setattr(module, name, type(name, (), {}))
            return getattr(module, name)

        module.__getattr__ = made_up  # type: ignore[method-assign]
