"""Construction of ``Services`` from settings, without the parts that are slow to open."""

from __future__ import annotations

from dataclasses import dataclass, replace

import structlog

from proxy.access.auth import Hasher
from proxy.access.folder import open_folder
from proxy.access.limits import Limits
from proxy.clock import Clock
from proxy.media.limits import Limits as ReadingLimits
from proxy.memory.conversations.summary_model import ModelSummarizer, select_summarizer
from proxy.memory.library.caption import Captioner, captioner
from proxy.memory.library.library import Library
from proxy.memory.model.call import connect
from proxy.memory.model.judge import ModelJudge, select_judge
from proxy.memory.recall.team import TeamMemory
from proxy.memory.vectors.cached import CachedEmbedder
from proxy.memory.vectors.embed import EmbeddedEmbedder, Embedder, LiteLLMEmbedder
from proxy.memory.vectors.hub import HubEmbedder
from proxy.process.pace import Pace
from proxy.process.precedence import Precedence
from proxy.services import Services
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
from proxy.upstream import litellm
from proxy.upstream.litellm_callbacks import Callbacks
from proxy.upstream.providers import elsewhere
from proxy.upstream.route import Routes

_log = structlog.get_logger(__name__)

_CACHE_BYTES = 16 * 2**20  # for about 10,000 vectors of texts embedded before


async def open_services(settings: Settings, *, clock: Clock | None = None, pace: Pace | None = None) -> Services:
    """Open the journal and all other services that open quickly; ``Services.warm`` opens the rest.

    Raises:
        ConfigError: If a setting cannot work, or the stores of the data folder do not belong together.
        StoreUnavailable: If the journal cannot be opened.
    """
    quiet_libraries()
    if settings.without_effect:
        _log.warning("settings of LiteLLM that have no effect here", names=", ".join(settings.without_effect))
    make_data_dir(settings)
    clock = clock or Clock()
    routes = _routes(settings, clock)
    precedence = Precedence()
    folder = await open_folder(settings, clock)
    shared = _Shared(
        settings,
        clock,
        replace(pace or Pace(), lease_s=settings.worker.lease_s, judge_s=settings.memory.model_debounce_s),
        folder.hasher,
        _embedder(settings, precedence),
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
    """Services shared by the lasting and the ephemeral ones."""

    settings: Settings
    clock: Clock
    pace: Pace
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
    media, files, shares = Media(database), Files(database), Shares(database)
    return Services(
        settings=shared.settings,
        pace=shared.pace,
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
        journal=Journal(database, debounce_s=shared.pace.learn_s, max_wait_s=shared.pace.busy_s),
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
        leases=Leases(database, shared.clock, lease_s=shared.pace.lease_s),
    )


def _routes(settings: Settings, clock: Clock) -> Routes:
    """Return the routes to the providers."""
    upstream = settings.upstream
    return Routes.from_settings(
        model_list=settings.model_list,
        upstream_url=upstream.url,
        upstream_api_key=upstream.api_key.get_secret_value() if upstream.api_key else None,
        environ={
            **elsewhere(environment(), settings.server.port),
            **{name: str(value) for name, value in settings.environment_variables.items()},
        },
        auth_mode=settings.auth.mode,
        placeholder_keys=[*settings.auth.placeholder_keys, *_master_key(settings)],
        connect_timeout_s=upstream.connect_timeout_s,
        router=settings.router_settings,
        clock=clock,
        context_windows=upstream.context_windows,
        is_chat_only=upstream.chat_only,
        callbacks=callbacks(settings),
    )


def callbacks(settings: Settings) -> Callbacks:
    """Return the callbacks that the configuration names for routes through LiteLLM."""
    named = settings.litellm_callbacks
    return Callbacks(
        success=tuple(named.get("success", ())),
        failure=tuple(named.get("failure", ())),
        both=tuple(named.get("both", ())),
        hides_messages=named.get("hides_messages", False),
        folder=settings.config_folder,
        variables={
            name: str(value)
            for name, value in settings.environment_variables.items()
            if not str(value).startswith("os.environ/")
        },
    )


def _master_key(settings: Settings) -> list[str]:
    """Return LiteLLM's master key, which clients may still send; it must not be forwarded to a provider."""
    key = settings.litellm_master_key.get_secret_value() if settings.litellm_master_key else ""
    return [environment().get(key.removeprefix("os.environ/"), "") if key.startswith("os.environ/") else key]


def _embedder(settings: Settings, precedence: Precedence) -> Embedder:
    """Return the embedder; ``warm`` loads its model."""
    chosen = settings.embedder
    if chosen.model == "builtin":
        inner: Embedder = EmbeddedEmbedder(precedence=precedence)
    elif chosen.model == "multilingual":
        folder = settings.server.data_dir / "models" / "multilingual"
        inner = HubEmbedder(folder, chosen.hub_url, precedence=precedence)
    else:
        inner = LiteLLMEmbedder(
            chosen.model,
            api_key=chosen.api_key.get_secret_value() if chosen.api_key else None,
            api_base=chosen.base_url,
            dimension=chosen.dimension,
            load=litellm.load,
        )
    return CachedEmbedder(inner, max_bytes=_CACHE_BYTES)
