"""Every public method that touches data of a scope takes the scope first; the few that serve the operator are listed."""

from __future__ import annotations

import inspect
from typing import get_type_hints

import pytest

from proxy.store import (
    compactions,
    costs,
    erase,
    files,
    history,
    journal,
    keys,
    leases,
    ledger,
    media,
    receipts,
    replies,
    sessions,
)
from proxy.types import Scope

CLASSES = [
    compactions.Compactions,
    costs.Costs,
    erase.Erasure,
    files.Files,
    history.History,
    journal.Journal,
    leases.Leases,
    ledger.Ledger,
    media.Media,
    receipts.Receipts,
    replies.Replies,
    sessions.Sessions,
]
OPERATOR_WIDE = {
    "Journal.claim": "the worker serves whichever owner has due work, and gets that owner's scope with it",
    "Journal.depth": "counts for the operator's metrics, no content",
    "Journal.revive_all": "a new start gives every owner's dead rows another chance, returns a count",
    "Journal.prune": "retention by age, the same for all, returns a count",
    "Media.blobs": "names of bytes in use, so that what a dead process left can be swept",
    "Media.claim": "the worker serves whichever owner has something to read, and gets that owner's scope with it",
    "Sessions.idle": "conversations end by the clock whoever owns them; it gets each one's scope",
    "Receipts.prune": "retention by age, the same for all, returns a count",
}
OPERATOR_CLASSES = {keys.Keys: "keys stand for tenants; they are read before there is a scope"}

METHODS = [
    (f"{noun.__name__}.{name}", method)
    for noun in CLASSES
    for name, method in inspect.getmembers(noun, inspect.isfunction)
    if not name.startswith("_")
]


@pytest.mark.parametrize(("name", "method"), METHODS, ids=[name for name, _ in METHODS])
def test_scope_comes_first(name: str, method: object) -> None:
    parameters = [*inspect.signature(method).parameters, "", ""]
    takes_scope = parameters[1] == "scope" and get_type_hints(method)["scope"] is Scope
    assert takes_scope != (name in OPERATOR_WIDE)


def test_every_class_that_keeps_a_database_is_checked() -> None:
    modules = [
        compactions,
        costs,
        erase,
        files,
        history,
        journal,
        keys,
        leases,
        ledger,
        media,
        receipts,
        replies,
        sessions,
    ]
    nouns = {
        noun
        for module in modules
        for _, noun in inspect.getmembers(module, inspect.isclass)
        if noun.__module__ == module.__name__ and "db" in inspect.signature(noun).parameters
    }
    assert nouns == {*CLASSES, *OPERATOR_CLASSES}


def test_the_list_of_exceptions_is_not_longer_than_needed() -> None:
    assert set(OPERATOR_WIDE) <= {name for name, _ in METHODS}
