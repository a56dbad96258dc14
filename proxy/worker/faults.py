"""Classification of failures: of a part that was away and may come back, or of the work itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from proxy.errors import RateLimited, StoreUnavailable, UpstreamTimeout, UpstreamUnreachable
from proxy.memory.vectors.embed import EmbeddingFailed
from proxy.store.journal_rows import Item

_OUTAGES = (StoreUnavailable, UpstreamUnreachable, UpstreamTimeout, RateLimited, EmbeddingFailed, TimeoutError, OSError)


class WorkFailed(Exception):
    """These items cannot be done as they are; ``__cause__`` says why."""

    def __init__(self, items: Sequence[Item]) -> None:
        super().__init__(f"{len(items)} items of work failed")
        self.seqs = frozenset(item.seq for item in items)


def is_outage(error: BaseException) -> bool:
    """Whether a part that the work needs was away, so that trying again later is all there is to do."""
    return isinstance(error, _OUTAGES)


@contextmanager
def blaming(*items: Item) -> Iterator[None]:
    """Raise whatever fails in the block, save for outages, as ``WorkFailed`` of these items."""
    try:
        yield
    except Exception as error:
        if is_outage(error):
            raise
        raise WorkFailed(items) from error
