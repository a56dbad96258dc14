"""Long-lived services, opened once per process: the fast ones at once, the heavy ones in the background."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import structlog

from proxy.access.auth import Hasher
from proxy.access.limits import Limits
from proxy.clock import Clock
from proxy.errors import ProxyError, StoreUnavailable
from proxy.media.fetch import Fetch, fetch
from proxy.media.limits import Limits as ReadingLimits
from proxy.memory.changes.book import Book
from proxy.memory.conversations.sizes import Sizes
from proxy.memory.conversations.summary_model import ModelSummarizer
from proxy.memory.index.cache import IndexCache
from proxy.memory.library.caption import Captioner
from proxy.memory.library.library import Library
from proxy.memory.model.judge import ModelJudge
from proxy.memory.recall.team import TeamMemory
from proxy.memory.vectors.cached import CachedEmbedder
from proxy.memory.vectors.embed import Embedder
from proxy.process.pace import Pace
from proxy.process.precedence import Precedence
from proxy.process.threads import in_thread
from proxy.settings.load import Settings
from proxy.store.agents import Agents
from proxy.store.bindings import Bindings
from proxy.store.blobs import Blobs
from proxy.store.compactions import Compactions
from proxy.store.costs import Costs
from proxy.store.destructions import Destructions
from proxy.store.files import Files
from proxy.store.handed import Handed
from proxy.store.history import History
from proxy.store.incidents import Incidents
from proxy.store.jobs import Jobs
from proxy.store.journal import Journal
from proxy.store.keys import Keys
from proxy.store.lance import LanceStore
from proxy.store.leases import Leases
from proxy.store.ledger import Ledger
from proxy.store.media import Media
from proxy.store.projects import Projects
from proxy.store.quarantine import Quarantine
from proxy.store.ram import Rows
from proxy.store.receipts import Receipts
from proxy.store.replies import Replies
from proxy.store.sessions import Sessions
from proxy.store.shares import Shares
from proxy.store.silenced import Silenced
from proxy.store.spool import Spool
from proxy.store.sql import Database, FailedWrite
from proxy.store.uses import Uses
from proxy.telemetry.access import AccessLog
from proxy.telemetry.metrics import CACHE_BYTES, JOURNAL_TURNS, READY
from proxy.telemetry.otel import Tracing
from proxy.text import tokens
from proxy.text.languages import languages
from proxy.types import Mode, Scope
from proxy.upstream import model_map
from proxy.upstream.route import Routes

_log = structlog.get_logger(__name__)
_REOPEN_S = 5.0


@dataclass(slots=True)
class _Heavy:
    """Parts that take seconds to open; ``warm`` opens them in the background."""

    store: Rows
    index: IndexCache
    book: Book


def _set() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


@dataclass(slots=True)
class Services:
    """All services of requests and jobs.

    Attributes:
        fetch: Downloads from public addresses only; tests replace it, as their servers are on this machine.
        arrived: Set when an item waits for ingestion.
        asked: Set when a job waits.
        wake: Set when a turn waits for the worker.
        warmed: Set once the store is open.
        is_whole: Cleared while tables that could not be read are checked.
        looked_over: Set once the tables were checked for damage at the start.
        summing_up: Sessions whose summary a model is writing.
        last_used: Last use of each ephemeral session, by the monotonic clock.
    """

    settings: Settings
    clock: Clock
    pace: Pace
    reading: ReadingLimits
    hasher: Hasher
    database: Database
    journal: Journal
    sessions: Sessions
    ledger: Ledger
    bindings: Bindings
    receipts: Receipts
    uses: Uses
    projects: Projects
    agents: Agents
    quarantine: Quarantine
    replies: Replies
    handed: Handed
    judge: ModelJudge | None
    summarizer: ModelSummarizer | None
    compactions: Compactions
    costs: Costs
    history: History
    incidents: Incidents
    keys: Keys
    leases: Leases
    embedder: Embedder
    precedence: Precedence
    routes: Routes
    limits: Limits
    media: Media
    files: Files
    blobs: Blobs
    library: Library
    jobs: Jobs
    spool: Spool
    silenced: Silenced
    destructions: Destructions
    shares: Shares
    team_memory: TeamMemory
    captioner: Captioner | None = None
    tracing: Tracing | None = None
    access: AccessLog | None = None
    fetch: Fetch = fetch
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    warmed: asyncio.Event = field(default_factory=asyncio.Event)
    is_whole: asyncio.Event = field(default_factory=_set)
    looked_over: asyncio.Event = field(default_factory=asyncio.Event)
    is_embedder_warm: bool = False
    is_draining: bool = False
    written: set[Scope] = field(default_factory=set)
    ephemeral: Services | None = None
    sizes: Sizes = field(default_factory=Sizes)
    summing_up: set[Scope] = field(default_factory=set)
    last_used: dict[Scope, float] = field(default_factory=dict)
    _heavy: _Heavy | None = None

    @property
    def store(self) -> Rows:
        """Store of memories, episodes and chunks; raises ``StoreUnavailable`` while it is not open."""
        return self._opened.store

    @property
    def index(self) -> IndexCache:
        """Search indexes of recently active users; raises as ``store`` does."""
        return self._opened.index

    @property
    def book(self) -> Book:
        """Writer of the rows; raises as ``store`` does."""
        return self._opened.book

    @property
    def is_ready(self) -> bool:
        """Return whether store and embedder are warm, and tables found damaged at the start are mended."""
        return self._heavy is not None and self.is_embedder_warm and self.looked_over.is_set()

    async def probe(self) -> None:
        """Test whether stores with a failed last write are writable again; costs nothing if none failed."""
        await self.database.probe()
        if self._heavy is not None and isinstance(self._heavy.store, LanceStore):
            await self._heavy.store.probe()

    def failed_writes(self) -> dict[str, FailedWrite]:
        """Return the failed last write of each store that was not written since."""
        found = {"journal": self.database.failed_write}
        if self._heavy is not None and isinstance(self._heavy.store, LanceStore):
            found["store"] = self._heavy.store.failed_write
        return {part: failed for part, failed in found.items() if failed is not None}

    def note_written(self, scope: Scope) -> None:
        """Wake the worker for a new turn of this user."""
        self.written.add(Scope(scope.tenant, scope.user))
        self.wake.set()

    def note_shown(self, scope: Scope) -> None:
        """Queue upkeep of a user's tables: rows were written, and some may lack vectors."""
        self.written.add(Scope(scope.tenant, scope.user))

    @property
    def is_ephemeral(self) -> bool:
        """Return whether these services never touch a disk."""
        return self.ephemeral is None

    def of(self, mode: Mode) -> Services:
        """Return the services for requests of a memory mode."""
        return self.ephemeral if mode == "ephemeral" and self.ephemeral is not None else self

    def both(self) -> tuple[Services, ...]:
        """Return the lasting services and the ephemeral ones."""
        return (self,) if self.ephemeral is None else (self, self.ephemeral)

    def take_written(self) -> list[Scope]:
        """Return the users written for since the last call."""
        taken = list(self.written)
        self.written.clear()
        return taken

    async def measure(self) -> None:
        """Update the gauges."""
        READY.set(self.is_ready)
        if self._heavy is not None:
            CACHE_BYTES.labels("index").set(self._heavy.index.size_bytes)
        if isinstance(self.embedder, CachedEmbedder):
            CACHE_BYTES.labels("embeddings").set(self.embedder.size_bytes)
        for state, turns in (await self.journal.depth()).items():
            JOURNAL_TURNS.labels(state).set(turns)

    async def warm(self) -> None:
        """Open the store and load the embedder; retry both until they succeed."""
        await in_thread("load", tokens.load)
        await in_thread("load", model_map.load)
        await asyncio.gather(self._warm_embedder(), self._open_store())
        await in_thread("learn", languages)

    async def close(self) -> None:
        """Close all services, the last opened first."""
        await self.routes.aclose()
        if self.ephemeral is not None:
            await self.ephemeral.database.close()
        if self._heavy is not None:
            self._heavy.store.close()
        await self.embedder.close()
        await self.database.close()
        for sink in (self.access, self.tracing):
            if sink is not None:
                await in_thread("load", sink.close)

    @property
    def _opened(self) -> _Heavy:
        if self._heavy is None:
            raise StoreUnavailable(
                "The memory store is not open (yet). Try again shortly; `throughline check` tells more."
            )
        return self._heavy

    async def _warm_embedder(self) -> None:
        while True:
            try:
                await self.embedder.warm()
            except ProxyError as error:
                _log.error("the embedder does not load, words alone find memories", error=error.code)
                await asyncio.sleep(_REOPEN_S)
            else:
                for part in self.both():
                    part.is_embedder_warm = True
                return

    async def open_store(self) -> None:
        """Open the store in one attempt.

        Raises:
            StoreUnavailable: If its folder cannot be read or written.
        """
        settings = self.settings
        store = await LanceStore.open(
            settings.server.data_dir / "lance",
            dimension=self.embedder.dimension,
        )
        self.use_store(store)

    def use_store(self, store: Rows) -> None:
        """Use this store from now on."""
        index = IndexCache(store, model=self.embedder.model, max_bytes=self.settings.store.index_cache_bytes)
        self._heavy = _Heavy(store, index, Book(index, self.embedder, self.history, self.ledger, self.compactions))
        self.warmed.set()

    async def _open_store(self) -> None:
        while self._heavy is None:
            try:
                await self.open_store()
            except (ProxyError, OSError) as error:
                _log.error("the memory store does not open, trying again", error=type(error).__name__)
                await asyncio.sleep(_REOPEN_S)
