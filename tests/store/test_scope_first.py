"""Public methods that touch a scope's data take the scope first; the few for the operator are listed."""

from __future__ import annotations

import inspect
from importlib import import_module
from pkgutil import iter_modules
from typing import get_type_hints

import pytest

from proxy import store
from proxy.store import keys
from proxy.types import Scope

OPERATOR_WIDE = {
    "Incidents.happened": "whether the database was ever lost, so that files without rows are not swept",
    "Incidents.see": "the operator has seen what was damaged, returns a count",
    "Incidents.unseen": "what was damaged, for the operator: names of parts and counts, no content",
    "Destructions.awaits_scrub": "the database's file is one for all owners",
    "Destructions.erased": "whose tables may be gone, so that they are not mended",
    "Destructions.over": "what was destroyed has left the files, which are one for all owners",
    "Destructions.unfinished": "upkeep ends what a dead process began, whoever's it is; it gets each one's scope",
    "Handed.prune": "retention by age, the same for all, returns a count",
    "Journal.claim": "the worker serves whichever owner has due work, and gets that owner's scope with it",
    "Journal.depth": "counts for the operator's metrics, no content",
    "Jobs.claim": "the worker does whichever owner's job is oldest, and gets that owner's scope with it",
    "Jobs.note": "gets a job, which holds its scope",
    "Jobs.open_ids": "ids of files that are still needed, no content",
    "Jobs.put_off": "gets a job, which holds its scope",
    "Journal.revive_all": "a new start gives every owner's dead rows another chance, returns a count",
    "Journal.prune": "retention by age, the same for all, returns a count",
    "Journal.to_judge": "the judge serves whichever owners are due, and gets each row's scope with it",
    "Erasure.holds": "tells whether anybody's rows still hold some bytes, so that others' words are no left-overs",
    "Ledger.drop_shared": "what is no longer shared leaves the conversations of the whole team; gets ids of shares",
    "Media.blobs": "names of bytes in use, so that what a dead process left can be swept",
    "Media.claim": "the worker serves whichever owner has something to read, and gets that owner's scope with it",
    "Sessions.idle": "conversations end by the clock whoever owns them; it gets each one's scope",
    "Sessions.prune": "retention by age, the same for all, returns a count",
    "Shares.of_teams": "what the users of a team show each other; gets the teams of the asking key, by their ids",
    "Uses.flush": "writes what was noted, each use under its own owner, returns a count",
    "Receipts.prune": "retention by age, the same for all, returns a count",
}
OPERATOR_CLASSES = {keys.Keys: "keys stand for tenants; they are read before there is a scope"}

NOUNS = [
    noun
    for found in iter_modules(store.__path__, "proxy.store.")
    for _, noun in inspect.getmembers(import_module(found.name), inspect.isclass)
    if noun.__module__ == found.name and "db" in inspect.signature(noun).parameters
]
METHODS = [
    (f"{noun.__name__}.{name}", method)
    for noun in NOUNS
    if noun not in OPERATOR_CLASSES
    for name, method in inspect.getmembers(noun, inspect.isfunction)
    if not name.startswith("_")
]


@pytest.mark.parametrize(("name", "method"), METHODS, ids=[name for name, _ in METHODS])
def test_scope_comes_first(name: str, method: object) -> None:
    parameters = [*inspect.signature(method).parameters, "", ""]
    takes_scope = parameters[1] == "scope" and get_type_hints(method)["scope"] is Scope
    assert takes_scope != (name in OPERATOR_WIDE)


def test_list_of_exceptions_is_not_too_long() -> None:
    assert set(OPERATOR_WIDE) <= {name for name, _ in METHODS}
    assert set(OPERATOR_CLASSES) <= set(NOUNS)
