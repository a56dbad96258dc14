"""LanceDB imports without its cloud client; in a separate process, as imports cannot be undone."""

from __future__ import annotations

import subprocess
import sys

LEAN = """
import asyncio, sys, tempfile
from proxy.store.lance_import import import_lancedb
lancedb = import_lancedb()
client = [name for name in sys.modules if name.startswith("lance_namespace_urllib3_client.")]
assert all(sys.modules[name].__file__ is None if hasattr(sys.modules[name], "__file__") else True for name in client)
assert not [finder for finder in sys.meta_path if type(finder).__name__ == "_StandIns"]

async def rows():
    table = await (await lancedb.connect_async(tempfile.mkdtemp())).create_table("t", [{"id": "a"}])
    return await table.count_rows()

print(asyncio.run(rows()))
"""

LATER = """
import sys
from proxy.store.lance_import import import_lancedb
lancedb = import_lancedb()
import pyarrow
loaded = [name for name in ("pyarrow.dataset", "pyarrow.fs", "pyarrow._dataset", "pyarrow._fs") if name in sys.modules]
import pyarrow.dataset
import pyarrow.fs
print(loaded, pyarrow.dataset.Dataset.__module__, pyarrow.fs.LocalFileSystem().get_file_info(".").type.name)
"""

REFUSED = """
import sys
from proxy.store import lance_import

class Broken(lance_import._StandIns):
    def exec_module(self, module):
        raise ImportError("no stand-in for this version")

lance_import._StandIns = Broken
lancedb = lance_import.import_lancedb()
print(sys.modules["lance_namespace_urllib3_client"].__file__ is not None, hasattr(lancedb, "connect_async"))
"""


def run(script: str) -> str:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_it_works_without_the_client_of_its_cloud() -> None:
    assert run(LEAN) == "1"


def test_omitted_arrow_modules_can_be_imported_later() -> None:
    assert run(LATER) == "[] pyarrow._dataset Directory"


def test_a_version_that_needs_its_client_gets_it() -> None:
    assert run(REFUSED) == "True True"
