"""Every store that the promises are kept by, and how a test names those that it is for."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.contract.stores import bedrock, fake, opensearch, pgvector
from tests.contract.stores.worlds import Store, Trouble

STORES = {
    **fake.STORES,
    **bedrock.STORES,
    **opensearch.STORES,
    **pgvector.STORES,
}


def no_variant(store: Store) -> bool:
    """Return whether the store is the first with its engine."""
    return not store.is_variant


def every(wanted: Callable[[Store], bool] = no_variant) -> list[Any]:
    """A parameter of each store that is wanted; its id is the store's name."""
    return [
        pytest.param(name, marks=_marks(store), id=name)
        for name, store in STORES.items()
        if wanted(store)
    ]


def each(wanted: Callable[[Store], bool]) -> pytest.MarkDecorator:
    """Run a test for some stores only, or for variants too: `@each(lambda store: ...)`."""
    return pytest.mark.parametrize("store", every(wanted), indirect=True)


def each_in(*troubles: Trouble) -> pytest.MarkDecorator:
    """One store of each engine in every one of these troubles that it can have."""
    parameters = [
        pytest.param(name, trouble, marks=_marks(store), id=f"{name}, {trouble}")
        for name, store in STORES.items()
        for trouble in troubles
        if no_variant(store) and trouble in store.troubles
    ]
    return pytest.mark.parametrize(("store", "trouble"), parameters, indirect=["store"])


def _marks(store: Store) -> tuple[pytest.MarkDecorator, ...]:
    return (pytest.mark.processes,) if store.is_process else ()


ALL = each(lambda _store: True)
