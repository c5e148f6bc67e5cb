"""Whose turn it is among the catalogs of a worklist, and that nobody is lost."""

import pytest

from stackroom.admission.demand import BATCH, LARGE
from stackroom.ingestion.work_queue import OpenWork, WorkQueue, name_of
from stackroom.model import DocumentStatus, PoolMember
from stackroom.runs.progress import DocumentName, Progress, Run, RunOutcome
from tests.unit.pipeline import CATALOG, KEY, SHARED_WORKLIST, Pipeline, place_of
from tests.unit.test_schedule import a_waiter

BOB = "bob/notes/a.txt"
BOBS = place_of(BOB).catalog_id
WHALE = "alice/whale"


@pytest.fixture
def shared() -> Pipeline:
    """Where every catalog goes to the shared data source."""
    return Pipeline(shared=True)


def drop_many(pipeline: Pipeline, count: int, folder: str = WHALE) -> None:
    for number in range(count):
        pipeline.drop(f"{folder}/{number}.txt")


def queue_of(pipeline: Pipeline) -> WorkQueue:
    return WorkQueue(
        worklists=pipeline.worklists,
        catalogs=pipeline.catalogs,
        documents=pipeline.documents,
        now=pipeline.clock,
    )


def a_run(worklist_id: str = SHARED_WORKLIST, **progress: object) -> Run:
    return Run(worklist_id=worklist_id, epoch=1, progress=Progress.model_validate(progress))


def take(pipeline: Pipeline, run: Run | None = None, *, calls: int = 1) -> OpenWork:
    return queue_of(pipeline).take(run or a_run(), calls=calls)


def keys(work: OpenWork) -> list[str]:
    return [each.s3_key for each in work.small]


def names(pipeline: Pipeline, *some: str) -> tuple[DocumentName, ...]:
    return tuple(name_of(pipeline.document(key)) for key in some)


def entries(pipeline: Pipeline) -> set[str]:
    return set(pipeline.worklists.kept.get(SHARED_WORKLIST, {}))


# Fair turns


def test_each_catalog_has_a_turn_of_one_call_before_anybody_has_another(shared: Pipeline) -> None:
    drop_many(shared, 100)
    small = [f"user-{number:03}/notes/a.txt" for number in range(250)]  # pages of the worklist
    for key in small:
        shared.drop(key)

    work = take(shared, calls=30)

    found = keys(work)
    assert {*small} <= {*found}
    assert len([each for each in found if each.startswith(WHALE)]) == 300 - len(small)
    assert work.is_more


def test_where_few_calls_are_granted_each_catalog_has_them_in_turn(shared: Pipeline) -> None:
    for user in range(5):
        drop_many(shared, 3 * BATCH, f"user-{user}/notes")
    others = a_waiter("others", 0, knowledge_base_id="KB2", since=shared.clock(), calls=7)
    shared.admission.enter_at_once(others)

    shared.execute(SHARED_WORKLIST)

    whose = {each.document_id: each.catalog_id for each in shared.documents.kept.values()}
    turns = [{whose[name] for _, name in call.keys} for call in shared.bedrock.direct_calls]
    assert turns[:10] == [{each} for each in sorted(shared.catalogs.kept)] * 2


def test_a_catalog_alone_is_read_as_far_as_its_calls_go(pipeline: Pipeline) -> None:
    drop_many(pipeline, 45)
    alone = a_run(place_of(f"{WHALE}/0.txt").catalog_id)

    some = take(pipeline, alone, calls=3)
    all_of_it = take(pipeline, alone, calls=5)

    assert (len(some.small), some.is_more) == (30, True)
    assert (len(all_of_it.small), all_of_it.is_more) == (45, False)


# What is left out, and what goes apart


def test_what_is_set_aside_is_left_until_somebody_has_changed_it(shared: Pipeline) -> None:
    shared.drop(KEY)
    shared.drop(BOB)
    run = a_run(set_aside=names(shared, KEY, BOB))

    before = keys(take(shared, run)), queue_of(shared).has_work(run)
    shared.drop(KEY, "newer")
    after = keys(take(shared, run)), queue_of(shared).has_work(run)

    assert before == ([], False)
    assert after == ([KEY], True)
    assert entries(shared) == {CATALOG, BOBS}


def test_what_is_large_or_removed_or_to_go_alone_is_told_apart(shared: Pipeline) -> None:
    small, large, alone, removed = (f"alice/research/{name}.csv" for name in "abcd")
    for key in (small, alone, removed):
        shared.drop(key)
    shared.drop(large, "x" * LARGE)
    shared.execute(SHARED_WORKLIST)
    for key in (small, alone):
        shared.drop(key, "newer")
    shared.drop(large, "y" * LARGE)
    shared.delete(removed)

    work = take(shared, a_run(alone=names(shared, alone)))

    apart = (work.small, work.large, work.alone, work.removed)
    assert [[each.s3_key for each in some] for some in apart] == [
        [small],
        [large],
        [alone],
        [removed],
    ]


# What leaves the worklist


def test_a_catalog_with_nothing_open_leaves_unless_somebody_asked(shared: Pipeline) -> None:
    shared.drop(KEY)
    late = "alice/research/late.txt"
    shared.worklists.before("drop", lambda *_: shared.drop(late), times=1)

    run = shared.execute(SHARED_WORKLIST)

    assert run.progress.outcome is RunOutcome.RELEASED
    assert shared.document(late).status is DocumentStatus.INDEXED
    assert entries(shared) == set()


def test_who_asks_after_the_run_is_released_has_another(shared: Pipeline) -> None:
    shared.drop(KEY)
    shared.leases.after("release", lambda *_, **__: shared.drop(BOB), times=1)

    shared.execute(SHARED_WORKLIST)

    assert f"{SHARED_WORKLIST}-2" in shared.executions.started
    assert entries(shared) == {BOBS}


def test_a_catalog_that_is_to_go_is_closed_once_it_is_empty(shared: Pipeline) -> None:
    shared.drop(KEY)
    shared.execute(SHARED_WORKLIST)
    shared.catalogs.mark_deleting(CATALOG, at=shared.clock())
    shared.delete()

    shared.execute(SHARED_WORKLIST)

    assert shared.catalogs.kept == {}
    assert entries(shared) == set()


def test_catalogs_of_a_knowledge_base_that_left_wait_for_its_return(shared: Pipeline) -> None:
    elsewhere = PoolMember(knowledge_base_id="KB9", data_source_id="SHARED9").shared_source
    shared.bucket.upload(KEY)
    shared.uploads.reconcile(KEY, correlation_id="event-1")
    shared.catalogs.place(CATALOG, elsewhere)
    shared.requests.ask(CATALOG)

    run = shared.execute("shared-KB9")

    assert run.progress.outcome is RunOutcome.RELEASED
    assert shared.worklists.kept["shared-KB9"].keys() == {CATALOG}
    assert shared.document().status is DocumentStatus.PENDING
