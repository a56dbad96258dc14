"""``/memory-manager``: an interface that users of an earlier memory manager know, over the same services.

Open first: ``items``. Its lists are bare arrays, as those of that manager were.
"""

from __future__ import annotations

from proxy.api.manager import items, state, work

ROUTERS = (items.router, state.router, work.router)
