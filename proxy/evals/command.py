"""``throughline eval``: the command line of the evaluations."""

from __future__ import annotations

import asyncio
import json
import secrets
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from proxy.evals.abstain import abstain, abstain_in_languages
from proxy.evals.cache import cache
from proxy.evals.cases import Scenario, load_scenarios
from proxy.evals.client import Client, http_session
from proxy.evals.dataset import Dataset, data_folder, default_set, load_set
from proxy.evals.forget import has_cases, load_cases, load_questions
from proxy.evals.junk import junk
from proxy.evals.long import WINDOWS, long, long_set
from proxy.evals.play import play
from proxy.evals.recall import recall
from proxy.evals.report import Report
from proxy.evals.server import ScriptedUpstream, served
from proxy.settings.load import quiet_libraries
from proxy.text import tokens

T = TypeVar("T")
BUDGETS = (600, 2000)

app = typer.Typer(
    help="Replay conversations as traffic and measure what reaches the model.", pretty_exceptions_enable=False
)

Data = Annotated[Path | None, typer.Option("--data", help="Folder with conversations; else THROUGHLINE_DATA.")]
SetName = Annotated[
    str | None,
    typer.Option("--set", help="locomo, beam100k, realmem, halumem3, memdaily_zh, or own for the folder's own files."),
]
Budgets = Annotated[list[int] | None, typer.Option("--budget", help="Tokens of memory; may be repeated.")]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="A quick look: so many questions or cases.")]
BaseUrl = Annotated[str | None, typer.Option("--base-url", help="A server that runs already; needs --upstream-port.")]
UpstreamPort = Annotated[
    int, typer.Option("--upstream-port", help="Port of the scripted provider; 0 takes a free one.")
]
Config = Annotated[Path | None, typer.Option("--config", help="Settings of the server under test.")]
Concurrency = Annotated[int, typer.Option("--concurrency", min=1, help="Users replayed at a time.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, with one record for each question or case.")]
ReportFile = Annotated[Path | None, typer.Option("--report", help="Also write a self-contained HTML page.")]


@dataclass(frozen=True, slots=True)
class Options:
    """Options of all evaluations."""

    data: Path | None = None
    name: str | None = None
    budgets: Sequence[int] = BUDGETS
    limit: int | None = None
    base_url: str | None = None
    upstream_port: int = 0
    config: Path | None = None
    concurrency: int = 2
    as_json: bool = False
    report: Path | None = None

    def dataset(self) -> Dataset:
        """Return the dataset to replay."""
        folder = data_folder(self.data)
        return load_set(folder, self.name or default_set(folder)).limited(self.limit)


Work = Callable[[Client], Awaitable[Report]]
Part = Callable[[Options], Work]  # loads its data first, so that no server starts if that fails


def _recall(options: Options) -> Work:
    dataset = options.dataset()
    return lambda client: recall(client, dataset, options.budgets, options.concurrency)


def _on_cases(load: Callable[[Path], Sequence[Scenario]], name: str) -> Part:
    def prepare(options: Options) -> Work:
        loaded = load(data_folder(options.data))
        step = max(1, len(loaded) // options.limit) if options.limit else 1
        return lambda client: play(client, loaded[::step][: options.limit], options.concurrency, name)

    return prepare


_forget = _on_cases(load_cases, "forget")
_questions = _on_cases(load_questions, "questions")
_cases = _on_cases(load_scenarios, "cases")


def _abstain(options: Options) -> Work:
    dataset, folder = options.dataset(), data_folder(options.data)
    played = load_cases(folder) if has_cases(folder) and not options.limit else []

    async def work(client: Client) -> Report:
        report = await abstain(client, dataset, options.concurrency)
        if played:
            report.add(await abstain_in_languages(client, played, options.concurrency))
        return report

    return work


def _on_set(part: Callable[[Client, Dataset, int], Awaitable[Report]]) -> Part:
    def prepare(options: Options) -> Work:
        dataset = options.dataset()
        return lambda client: part(client, dataset, options.concurrency)

    return prepare


def _command(doc: str, *parts: Part) -> Callable[..., None]:
    """Return a command that runs some parts; all commands have the same options."""

    def command(
        context: typer.Context,
        data: Data = None,
        name: SetName = None,
        budget: Budgets = None,
        limit: Limit = None,
        base_url: BaseUrl = None,
        upstream_port: UpstreamPort = 0,
        config: Config = None,
        concurrency: Concurrency = 2,
        as_json: AsJson = False,  # noqa: FBT002 - a flag of the command line
        report: ReportFile = None,
    ) -> None:
        budgets = tuple(budget or BUDGETS)
        options = Options(data, name, budgets, limit, base_url, upstream_port, config, concurrency, as_json, report)
        if context.invoked_subcommand is not None:
            _refuse_misplaced(options, context.invoked_subcommand)
            return
        try:
            found = asyncio.run(_ended_in_order(measure(parts, options)))
        except asyncio.CancelledError:
            raise typer.Exit(128 + signal.SIGTERM) from None
        _show(found, options)

    command.__doc__ = doc
    return command


def _long(options: Options) -> Work:
    folder = data_folder(options.data)
    dataset = load_set(folder, options.name or long_set(folder))
    windows = [size for size in WINDOWS if options.limit is None or size <= options.limit]
    return lambda client: long(client, dataset, windows)


app.callback(invoke_without_command=True)(
    _command(
        "Replay conversations as traffic and measure what reaches the model: recall and forgetting.", _recall, _forget
    )
)
app.command("recall")(_command("Share of the evidence for a question that is injected, within a budget.", _recall))
app.command("forget")(
    _command("Ended statements stay away, nothing else goes with them, and nothing ends without reason.", _forget)
)
app.command("cases")(_command("Cases and stories of one's own: what is injected and learned is right.", _cases))
app.command("questions")(
    _command("A fact stands when a question with one more sentence follows that ends nothing.", _questions)
)
app.command("junk")(
    _command("Memories learned or closed that should not be, and the CPU time of learning.", _on_set(junk))
)
app.command("abstain")(_command("Memory keeps quiet when it knows nothing that matters.", _abstain))
app.command("cache")(_command("Cost of memory where a repeated prefix is billed at a discount.", _on_set(cache)))

app.command("long")(
    _command("Conversations of 1, 5, 10 and 80 windows: what is found, sent and kept (--limit: most windows).", _long)
)


@app.command("judge")
def ask_judge(
    base_url: Annotated[str, typer.Option("--base-url", help="An OpenAI-compatible server that runs the model.")],
    model: Annotated[str, typer.Option("--model", help="Name of the model there.")],
    data: Annotated[Path, typer.Option("--data", help="File with the cases to judge.")],
) -> None:
    """Ask a model, as memory does, which statements a message ends; print what it got right as JSON."""
    try:
        judge = import_module("proxy.evals.judge").judge  # imported here, as only this command needs it
    except ModuleNotFoundError as error:
        raise typer.BadParameter("This version cannot ask a judge: proxy.evals.judge is missing.") from error
    typer.echo(json.dumps(asyncio.run(_ended_in_order(judge(base_url, model, data))), ensure_ascii=False, indent=1))


async def measure(parts: Sequence[Part], options: Options) -> Report:
    """Run parts against one server, each with its own key, and return their combined report."""
    prepared = [part(options) for part in parts]
    quiet_libraries()
    tokens.load()
    whole = Report(settings=_described(parts, options))
    async with _server(options) as (base_url, pid, upstream), http_session() as http:
        for work in prepared:
            whole.add(await work(Client(http, base_url, upstream, f"eval-{secrets.token_hex(16)}", pid)))
    return whole


async def _ended_in_order(work: Coroutine[Any, Any, T]) -> T:
    """Await work and cancel it on SIGTERM, so that the server under test is stopped too."""
    task = asyncio.ensure_future(work)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await task


@asynccontextmanager
async def _server(options: Options) -> AsyncIterator[tuple[str, int | None, ScriptedUpstream]]:
    async with ScriptedUpstream(options.upstream_port) as upstream:
        if options.base_url:
            yield options.base_url, None, upstream
            return
        async with served(upstream.url, options.config) as (base_url, pid):
            yield base_url, pid, upstream


def _refuse_misplaced(options: Options, part: str) -> None:
    if options != Options():
        raise typer.BadParameter(f"Put the options behind the part's name: throughline eval {part} --limit 20.")


def _described(parts: Sequence[Part], options: Options) -> dict[str, str]:
    described = {"budgets": ", ".join(map(str, options.budgets))} if _recall in parts else {}
    described |= {} if {_forget, _questions, _cases}.issuperset(parts) else {"set": options.name or "default"}
    described |= {"limit": str(options.limit)} if options.limit else {}
    described |= {"config": options.config.name} if options.config else {}
    return described


def _show(report: Report, options: Options) -> None:
    typer.echo(report.json() if options.as_json else report.text())
    if options.report is not None:
        options.report.write_text(report.html(), encoding="utf-8")
