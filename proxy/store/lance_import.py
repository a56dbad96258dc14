"""Import of LanceDB without the parts of its Python code and of Arrow that an embedded store never uses.

The generated REST client of its cloud service is about two hundred pydantic models: two thirds of the import's CPU time
(3.3 s against 1.0) and 19 MB. Arrow's data sets and file systems serve a few type checks (10 to 15 MB). During the
import of LanceDB, empty modules replace them; later imports of Arrow's modules get the real ones.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from proxy.settings.load import set_default_variable

_CLIENT = "lance_namespace_urllib3_client"
_ARROW = ("pyarrow.dataset", "pyarrow.fs")


def import_lancedb() -> ModuleType:
    """Return LanceDB's module; if it fails to import without the omitted parts, import it with them."""
    if "lancedb" in sys.modules or _CLIENT in sys.modules:
        return importlib.import_module("lancedb")
    set_default_variable("ARROW_DEFAULT_MEMORY_POOL", "system")  # Arrow's own allocator keeps 4 MB of freed memory
    finder = _StandIns([_CLIENT, *(name for name in _ARROW if name not in sys.modules)])
    sys.meta_path.insert(0, finder)
    try:
        return importlib.import_module("lancedb")
    except (ImportError, AttributeError, TypeError):
        # The native module stays loaded: it cannot be initialised twice.
        begun = [name for name in sys.modules if name.partition(".")[0] in (_CLIENT, "lancedb", "lance_namespace")]
        for name in begun:
            if name != "lancedb._lancedb":
                del sys.modules[name]
        finder.leave()
        return importlib.import_module("lancedb")
    finally:
        finder.leave()


class _StandIns(MetaPathFinder, Loader):
    """Importer of empty modules for some names and their submodules; any attribute of them is an empty class."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a specification for the omitted modules, None for others."""
        del path, target
        is_left_out = any(f"{fullname}.".startswith(f"{name}.") for name in self._names)
        return ModuleSpec(fullname, self, is_package=True) if is_left_out else None

    def exec_module(self, module: ModuleType) -> None:
        """Give the module a ``__getattr__`` that makes an empty class."""

        def made_up(name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            setattr(module, name, type(name, (), {}))
            return getattr(module, name)

        module.__getattr__ = made_up  # type: ignore[method-assign]

    def leave(self) -> None:
        """Remove the importer and its Arrow modules, so that the real ones can be imported."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        for name in _ARROW:
            if getattr(sys.modules.get(name), "__loader__", None) is self:
                del sys.modules[name]
