"""Opens the parts of ``Services``: settings in, a bag with everything that is quick to open out."""

from __future__ import annotations

from dataclasses import dataclass

import structlog

from proxy.access.auth import Hasher
from proxy.access.folder import open_folder
from proxy.access.limits import Limits
from proxy.clock import Clock
from proxy.media.limits import Limits as ReadingLimits
from proxy.memory.conversations.summary_model import ModelSummarizer, select_summarizer
from proxy.memory.library.caption import Captioner, captioner
from proxy.memory.library.library import Library
from proxy.memory.model.judge import ModelJudge, select_judge
from proxy.memory.model.model_call import connect
from proxy.memory.recall.team import TeamMemory
from proxy.memory.vectors.embed import Embedder
from proxy.process.pace import Pace
from proxy.process.precedence import Precedence
from proxy.services import Services, chosen
from proxy.settings.load import Settings, environment, make_data_dir, quiet_libraries
from proxy.store.agents import Agents
from proxy.store.bindings import Bindings
from proxy.store.blobs import Blobs, DiskBlobs, RamBlobs
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
from proxy.store.leases import Leases
from proxy.store.ledger import Ledger
from proxy.store.media import Media
from proxy.store.projects import Projects
from proxy.store.quarantine import Quarantine
from proxy.store.ram import RamStore
from proxy.store.receipts import Receipts
from proxy.store.replies import Replies
from proxy.store.sessions import Sessions
from proxy.store.shares import Shares
from proxy.store.silenced import Silenced
from proxy.store.spool import Spool
from proxy.store.sql import Database
from proxy.store.uses import Uses
from proxy.telemetry.access import AccessLog, open_access_log
from proxy.telemetry.otel import Tracing, open_tracing
from proxy.upstream.route import Routes

_log = structlog.get_logger(__name__)


async def open_services(settings: Settings, *, clock: Clock | None = None) -> Services:
    """Open the journal and everything else that is quick; ``Services.warm`` does the rest.

    Raises:
        ConfigError: If a setting cannot work, or the stores of the data folder do not belong together.
        StoreUnavailable: If the journal cannot be opened.
    """
    quiet_libraries()
    if settings.without_effect:
        _log.warning("settings of LiteLLM that have no effect here", names=", ".join(settings.without_effect))
    make_data_dir(settings)
    clock = clock or Clock()
    routes = chosen.routes(settings, clock)
    precedence = Precedence()
    folder = await open_folder(settings, clock)
    shared = _Shared(
        settings,
        clock,
        folder.hasher,
        chosen.embedder(settings, precedence),
        precedence,
        select_judge(settings.memory, environment(), connect),
        select_summarizer(settings.memory, environment(), connect),
        routes,
        Limits(clock, processes=settings.server.workers),
        open_tracing(settings.telemetry, environment()),
        open_access_log(settings.telemetry),
        captioner(settings.media, environment()),
    )
    lasting = _assemble(shared, folder.database, DiskBlobs(settings.server.data_dir / "blobs"))
    lasting.ephemeral = _assemble(shared, await Database.open("sqlite://"), RamBlobs())
    lasting.ephemeral.use_store(RamStore(shared.embedder.dimension))
    lasting.ephemeral.looked_over.set()
    return lasting


@dataclass(frozen=True, slots=True)
class _Shared:
    """Parts shared by the lasting and the ephemeral services."""

    settings: Settings
    clock: Clock
    hasher: Hasher
    embedder: Embedder
    precedence: Precedence
    judge: ModelJudge | None
    summarizer: ModelSummarizer | None
    routes: Routes
    limits: Limits
    tracing: Tracing | None
    access: AccessLog | None
    captioner: Captioner | None


def _assemble(shared: _Shared, database: Database, blobs: Blobs) -> Services:
    pace = Pace(lease_s=shared.settings.worker.lease_s, judge_s=shared.settings.memory.model_debounce_s)
    media, files, shares = Media(database), Files(database), Shares(database)
    return Services(
        settings=shared.settings,
        pace=pace,
        reading=ReadingLimits.of(shared.settings.media),
        clock=shared.clock,
        hasher=shared.hasher,
        embedder=shared.embedder,
        precedence=shared.precedence,
        routes=shared.routes,
        limits=shared.limits,
        tracing=shared.tracing,
        access=shared.access,
        captioner=shared.captioner,
        database=database,
        media=media,
        files=files,
        blobs=blobs,
        library=Library(media, files, blobs, shared.settings.media),
        jobs=Jobs(database),
        spool=Spool(shared.settings.server.data_dir / "imports"),
        silenced=Silenced(database),
        destructions=Destructions(database),
        shares=shares,
        team_memory=TeamMemory(shares, model=shared.embedder.model),
        journal=Journal(database, debounce_s=pace.learn_s, max_wait_s=pace.busy_s),
        sessions=Sessions(database),
        ledger=Ledger(database),
        bindings=Bindings(database),
        receipts=Receipts(database),
        uses=Uses(database),
        projects=Projects(database),
        agents=Agents(database),
        quarantine=Quarantine(database),
        replies=Replies(database),
        handed=Handed(database),
        compactions=Compactions(database),
        judge=shared.judge,
        summarizer=shared.summarizer,
        costs=Costs(database),
        history=History(database),
        incidents=Incidents(database),
        keys=Keys(database),
        leases=Leases(database, shared.clock, lease_s=pace.lease_s),
    )
