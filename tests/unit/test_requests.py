"""Asking for runs: one a worklist, and nobody is forgotten over another's trouble or a crash."""

import pytest

from stackroom.errors import StoreUnavailable
from tests.unit.pipeline import CATALOG, KEY, SHARED_WORKLIST, Pipeline, place_of

OTHER = "bob/letters/first.txt"
BOBS = place_of(OTHER).catalog_id


@pytest.fixture
def shared() -> Pipeline:
    pipeline = Pipeline(shared=True)
    for key in (KEY, OTHER):
        upload(pipeline, key)
    return pipeline


def upload(pipeline: Pipeline, key: str) -> None:
    """Its record is written, and whoever wrote it has yet to ask."""
    pipeline.clock.pass_by(1)
    pipeline.bucket.upload(key, "text")
    pipeline.uploads.reconcile(key, correlation_id="event-1")


def entered(pipeline: Pipeline) -> list[str]:
    return [each.catalog_id for each in pipeline.worklists.entries(SHARED_WORKLIST, limit=100)]


def requested(pipeline: Pipeline) -> dict[str, int]:
    """How often each worklist's run was asked for."""
    return {name: lease.requested for name, lease in pipeline.leases.kept.items()}


def test_catalogs_of_one_shared_data_source_ask_for_one_run_once(shared: Pipeline) -> None:
    failures = shared.requests.ask_all([CATALOG, BOBS])

    assert failures == {}
    assert entered(shared) == sorted([CATALOG, BOBS])
    assert requested(shared) == {SHARED_WORKLIST: 1}
    assert list(shared.executions.started) == [f"{SHARED_WORKLIST}-1"]


def test_the_trouble_of_one_catalog_is_no_others(shared: Pipeline) -> None:
    error = StoreUnavailable("PutItem", "ThrottlingException")
    shared.worklists.fails("add", error, times=1)

    failures = shared.requests.ask_all([CATALOG, BOBS])

    assert failures == {CATALOG: error}
    assert entered(shared) == [BOBS]
    assert requested(shared) == {SHARED_WORKLIST: 1}


def test_nothing_is_asked_for_a_catalog_that_is_gone(shared: Pipeline) -> None:
    assert shared.requests.ask_all(["cat-gone"]) == {}

    assert (entered(shared), requested(shared)) == ([], {})


def test_who_asks_is_told_what_went_wrong_and_a_reminder_mends_it(shared: Pipeline) -> None:
    shared.leases.fails("ask", StoreUnavailable("UpdateItem", "ThrottlingException"), times=1)
    with pytest.raises(StoreUnavailable):
        shared.requests.ask(CATALOG)

    reminded = shared.requests.remind()

    assert reminded == [SHARED_WORKLIST]
    assert list(shared.executions.started) == [f"{SHARED_WORKLIST}-1"]


def test_nobody_is_reminded_of_an_empty_worklist_or_one_under_way(shared: Pipeline) -> None:
    while_empty = shared.requests.remind()
    shared.requests.ask(CATALOG)

    assert while_empty == shared.requests.remind() == []
    assert requested(shared) == {SHARED_WORKLIST: 1}
