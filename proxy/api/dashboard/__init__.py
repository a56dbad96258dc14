"""The dashboard at ``/``: pages for people, made of the same HTTP API that every client may use.

Open first: ``pages``. Imports: what ``api`` imports. Pages ask the API in this process: they know no store, and show
nothing that the key of their reader may not see.
"""

from __future__ import annotations

from fastapi import FastAPI

from proxy.api.dashboard import files, memories, moving, pages, queues, talks

MODULES = (pages, memories, talks, files, queues, moving)


def install(app: FastAPI) -> None:
    """Add the pages."""
    for module in MODULES:
        app.include_router(module.router)
