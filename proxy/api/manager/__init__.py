"""``/memory-manager``: the interface of an earlier memory manager, over the same services.

Open first: ``items``. Its lists are bare arrays, as in that manager.
"""

from __future__ import annotations

from proxy.api.manager import items, state, work

ROUTERS = (items.router, state.router, work.router)
