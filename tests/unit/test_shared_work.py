"""One run for all catalogs of a shared data source: whose turn it is, and that nobody is lost."""

from datetime import timedelta

import pytest

from stackroom.admission.demand import BATCH
from stackroom.errors import ServiceRefused, StoreUnavailable
from stackroom.ingestion.catalog_looks import CatalogLooks
from stackroom.ingestion.shared_work import SharedWork
from stackroom.model import CatalogStatus, DataSource, DataSourceType, DocumentStatus, PoolMember
from stackroom.ports.worklists import Entry
from stackroom.runs.progress import RunOutcome
from tests.unit.pipeline import CATALOG, KEY, SHARED_WORKLIST, Pipeline, place_of
from tests.unit.test_schedule import a_job

POOL = tuple(
    PoolMember(knowledge_base_id=f"KB{number}", data_source_id=f"SHARED{number}")
    for number in (1, 2)
)
WHALE = "alice/whale"


@pytest.fixture
def shared() -> Pipeline:
    """Where every catalog goes to the shared data source."""
    return Pipeline(shared_first=True)


def work_of(pipeline: Pipeline) -> SharedWork:
    return SharedWork(
        looks=CatalogLooks(
            worklist_id=SHARED_WORKLIST,
            worklists=pipeline.worklists,
            catalogs=pipeline.catalogs,
            documents=pipeline.documents,
            finish=lambda _: True,
        )
    )


def drop_whale(pipeline: Pipeline, count: int) -> None:
    for number in range(count):
        pipeline.drop(f"{WHALE}/{number}.txt")


def taken(work: SharedWork, count: int) -> list[str]:
    """The keys of the next so many documents, ten a call."""
    keys: list[str] = []
    while len(keys) < count and work.fill(BATCH):
        keys += [each.s3_key for each in work.take(BATCH)]
    return keys


def entries(pipeline: Pipeline) -> set[str]:
    return set(pipeline.worklists.kept.get(SHARED_WORKLIST, {}))


def status(pipeline: Pipeline, key: str) -> DocumentStatus:
    return pipeline.document(key).status


def test_one_run_puts_documents_of_many_catalogs_into_the_same_calls(shared: Pipeline) -> None:
    keys = [f"user-{number}/notes/a.txt" for number in range(60)]
    for key in keys:
        shared.drop(key)

    run, _ = shared.work_shared()

    assert run.progress.outcome is RunOutcome.RELEASED
    assert set(shared.executions.started) == {f"{SHARED_WORKLIST}-1"}
    assert len(shared.bedrock.direct_calls) < 30
    assert {status(shared, key) for key in keys} == {DocumentStatus.INDEXED}
    assert {each.status for each in shared.catalogs.kept.values()} == {CatalogStatus.READY}
    assert entries(shared) == set()


def test_catalogs_of_one_document_have_their_turn_beside_a_whale(shared: Pipeline) -> None:
    drop_whale(shared, 1000)
    small = [f"user-{number:03}/notes/a.txt" for number in range(250)]  # pages of the worklist
    for key in small:
        shared.drop(key)

    keys = taken(work_of(shared), 400)

    assert set(small) <= set(keys)
    assert {each for each in keys if each.startswith(WHALE)}


def test_a_whale_has_its_turns_beside_many_others(shared: Pipeline) -> None:
    drop_whale(shared, 1000)
    for number in range(50):
        for each in range(40):
            shared.drop(f"user-{number:03}/notes/{each}.txt")

    keys = taken(work_of(shared), 51 * BATCH * 2)

    assert len([each for each in keys if each.startswith(WHALE)]) == 2 * BATCH


def test_who_comes_later_does_not_wait_for_a_whale_to_be_done(shared: Pipeline) -> None:
    drop_whale(shared, 1000)
    work = work_of(shared)
    taken(work, 50)
    shared.drop("bob/notes/a.txt")
    work.look_again()

    assert "bob/notes/a.txt" in taken(work, 3 * BATCH)


def test_a_whale_has_no_more_turns_for_being_asked_for_again_and_again(shared: Pipeline) -> None:
    drop_whale(shared, 500)
    for each in range(40):
        shared.drop(f"bob/notes/{each}.txt")
    work = work_of(shared)
    for _ in range(8):
        work.look_again()
        taken(work, BATCH)

    keys = taken(work, 20 * BATCH)

    assert len([each for each in keys if each.startswith("bob/")]) >= 40 - 8 * BATCH / 2 - BATCH
    assert not [each for each in keys[10 * BATCH :] if each.startswith("bob/")]


def test_in_a_run_the_late_comer_is_indexed_long_before_the_whale(shared: Pipeline) -> None:
    drop_whale(shared, 400)
    shared.clock.after("sleep", lambda _: shared.drop("bob/notes/a.txt"), times=1)

    shared.work_shared_off()

    bobs = shared.document("bob/notes/a.txt").indexed_at
    last = max(each.indexed_at for each in shared.documents.kept.values() if each.indexed_at)
    assert bobs is not None
    assert last - bobs > timedelta(seconds=5)
    assert {each.status for each in shared.documents.kept.values()} == {DocumentStatus.INDEXED}


def test_documents_that_are_passed_over_hide_none_behind_them(shared: Pipeline) -> None:
    for number in range(3 * BATCH):
        key = f"alice/research/{number}.txt"
        shared.drop(key)
        shared.bucket.write_sidecar(key, b"no sidecar of ours")
    shared.drop(KEY)

    run, _ = shared.work_shared()

    assert run.progress.outcome is RunOutcome.RELEASED
    assert status(shared, KEY) is DocumentStatus.INDEXED
    assert entries(shared) == {CATALOG}


def test_what_is_passed_over_is_taken_up_once_somebody_has_changed_it(shared: Pipeline) -> None:
    shared.drop(KEY)
    shared.drop("bob/notes/a.txt")
    work = work_of(shared)
    work.fill(BATCH)
    work.pass_over(work.take(BATCH))
    work.look_again()
    assert work.fill(BATCH) == 0

    shared.drop(KEY, "newer")
    work.look_again()

    assert taken(work, 1) == [KEY]


def test_what_is_set_aside_is_left_however_it_changes(shared: Pipeline) -> None:
    shared.drop(KEY)
    work = work_of(shared)
    work.fill(BATCH)
    work.set_aside(work.take(BATCH), RuntimeError("it is broken"))

    shared.drop(KEY, "newer")
    work.look_again()

    assert work.fill(BATCH) == 0
    assert entries(shared) == {CATALOG}


def test_who_asks_between_the_listing_and_the_dropping_keeps_the_entry(shared: Pipeline) -> None:
    shared.drop(KEY)
    shared.worklists.before("drop", lambda *_: shared.drop("alice/research/late.txt"), times=1)

    run, _ = shared.work_shared()
    kept = entries(shared)
    shared.ingestion.begin(run)

    assert kept == {CATALOG}
    assert status(shared, "alice/research/late.txt") is DocumentStatus.INDEXED
    assert entries(shared) == set()


def test_who_asks_before_the_run_is_released_has_it_go_on(shared: Pipeline) -> None:
    shared.drop(KEY)
    shared.leases.before("release", lambda *_, **__: shared.drop("bob/notes/a.txt"), times=1)

    run, _ = shared.work_shared()
    then, _ = shared.ingestion.begin(run)

    assert run.progress.outcome is RunOutcome.MORE
    assert then.progress.outcome is RunOutcome.RELEASED
    assert status(shared, "bob/notes/a.txt") is DocumentStatus.INDEXED
    assert entries(shared) == set()


def test_who_asks_after_the_run_is_released_has_another(shared: Pipeline) -> None:
    shared.drop(KEY)
    shared.leases.after("release", lambda *_, **__: shared.drop("bob/notes/a.txt"), times=1)

    shared.work_shared()

    assert f"{SHARED_WORKLIST}-2" in shared.executions.started
    assert entries(shared) == {place_of("bob/notes/a.txt").catalog_id}


class Poisoned(Exception):
    """What nobody has thought of."""


def poison(pipeline: Pipeline, fake: object, method: str, name: str) -> None:
    def fail(*given: object, **_: object) -> None:
        if any(name in str(each) for each in given):
            raise Poisoned(name)

    fake.before(method, fail)  # type: ignore[attr-defined]


def test_a_catalog_that_can_not_be_read_keeps_nobody_else_waiting(shared: Pipeline) -> None:
    poisoned = place_of("bob/notes/a.txt").catalog_id
    for key in (KEY, "bob/notes/a.txt", "zoe/notes/a.txt"):
        shared.drop(key)
    poison(shared, shared.documents, "open_in", poisoned)

    run, work = shared.work_shared()

    assert run.progress.outcome is RunOutcome.RELEASED
    assert {key: type(error) for key, error in work.failures.items()} == {poisoned: Poisoned}
    assert status(shared, KEY) is status(shared, "zoe/notes/a.txt") is DocumentStatus.INDEXED
    assert entries(shared) == {poisoned}


@pytest.mark.parametrize("method", ["ingest", "details"])
def test_documents_that_a_call_breaks_over_are_set_aside_with_their_catalogs(
    shared: Pipeline, method: str
) -> None:
    shared.drop("bob/notes/a.txt")
    disturbed = shared.bedrock.fails(method, Poisoned("bob"), times=1)

    run, work = shared.work_shared()
    shared.drop(KEY)
    shared.work_shared()

    assert disturbed.left == 0
    assert run.progress.outcome is RunOutcome.RELEASED
    assert set(work.failures) == {place_of("bob/notes/a.txt").catalog_id}
    assert status(shared, KEY) is DocumentStatus.INDEXED
    assert status(shared, "bob/notes/a.txt") is DocumentStatus.INDEXED  # by the second run


@pytest.mark.parametrize(
    "error",
    [StoreUnavailable("Query", "ThrottlingException"), ServiceRefused("Query", "ExpiredToken")],
    ids=lambda error: type(error).__name__,
)
def test_what_nobody_can_do_without_ends_the_task(shared: Pipeline, error: Exception) -> None:
    shared.drop(KEY)
    shared.documents.fails("open_in", error)

    with pytest.raises(type(error)):
        shared.work_shared()

    assert entries(shared) == {CATALOG}
    assert shared.leases.kept[SHARED_WORKLIST].held


def test_the_sweep_asks_for_what_was_set_aside(shared: Pipeline) -> None:
    shared.drop(KEY)
    disturbed = shared.documents.fails("open_in", Poisoned("alice"))
    shared.work_shared()
    assert not shared.leases.kept[SHARED_WORKLIST].held
    disturbed.end()

    swept = shared.broken_runs.sweep(shared.runs.expired())
    shared.work_shared()

    assert swept.failures == {}
    assert status(shared, KEY) is DocumentStatus.INDEXED


def test_a_catalog_that_is_to_go_is_taken_down_once_it_is_empty(shared: Pipeline) -> None:
    shared.drop(KEY)
    shared.work_shared()
    shared.catalogs.mark_deleting(CATALOG, at=shared.clock())
    shared.delete()

    run, _ = shared.work_shared()

    assert run.progress.outcome is RunOutcome.RELEASED
    assert shared.catalogs.kept == {}
    assert entries(shared) == set()


def test_an_entry_of_a_catalog_that_is_gone_is_dropped(shared: Pipeline) -> None:
    shared.drop(KEY)
    shared.worklists.add(SHARED_WORKLIST, "cat-gone")

    run, work = shared.work_shared()

    assert (run.progress.outcome, work.failures) == (RunOutcome.RELEASED, {})
    assert entries(shared) == set()


def test_the_catalogs_of_a_knowledge_base_that_left_the_pool_wait_for_its_return() -> None:
    shared = Pipeline(shared_first=True)
    shared.drop(KEY)
    shared.worklists.add("shared-KB9", "cat-elsewhere")
    shared.runs.ask("shared-KB9")

    run, _ = shared.ingestion.begin(shared.live_run("shared-KB9"))

    assert run.progress.outcome is RunOutcome.RELEASED
    entry = next(shared.worklists.entries("shared-KB9", limit=1))
    assert entry == Entry(catalog_id="cat-elsewhere", stamp=entry.stamp)
    assert shared.bedrock.direct_calls == []


def test_a_run_waits_for_its_turn_behind_a_job_and_then_begins(shared: Pipeline) -> None:
    shared.drop(KEY)
    shared.admission.enter(a_job("job", 0, since=shared.clock()))

    run, _ = shared.work_shared()
    shared.ingestion.admit(run, "token of the shared run")
    before = list(shared.task_tokens.woken)
    shared.clock.pass_by(30)
    shared.admission.leave("job", 1)
    done, _ = shared.ingestion.start(run)

    assert run.progress.outcome is RunOutcome.PLACED
    assert "token of the shared run" not in before
    assert "token of the shared run" in shared.task_tokens.woken
    assert done.progress.outcome is RunOutcome.RELEASED
    assert status(shared, KEY) is DocumentStatus.INDEXED


def test_a_job_that_came_later_has_its_turn_before_all_is_ingested(shared: Pipeline) -> None:
    drop_whale(shared, 900)
    job = a_job("job", 0, since=shared.clock())
    shared.clock.after("sleep", lambda _: shared.admission.enter(job), times=1)

    run = shared.work_shared_off()

    assert run.progress.outcome is RunOutcome.PLACED
    assert "token of job" in shared.task_tokens.woken
    assert {each.mode for each in shared.book.read().grants} == {job.mode}
    assert run.progress.waiting_since is not None
    assert run.progress.waiting_since > job.since
    left = {each.status for each in shared.documents.kept.values()}
    assert left == {DocumentStatus.INDEXED, DocumentStatus.PENDING}


def test_runs_of_two_knowledge_bases_share_the_calls_of_the_account() -> None:
    shared = Pipeline(pool=POOL)
    for user, member, count in (("alice", POOL[0], 180), ("bob", POOL[1], 3)):
        keys = [f"{user}/notes/{number}.txt" for number in range(count)]
        for key in keys:
            shared.drop(key)
        catalog_id = place_of(keys[0]).catalog_id
        source = DataSource(
            knowledge_base_id=member.knowledge_base_id,
            data_source_id=member.data_source_id,
            type=DataSourceType.CUSTOM,
        )
        shared.catalogs.place(catalog_id, source)
        shared.requests.ask(catalog_id)
    shared.bedrock.direct_seconds = 30.0
    second = shared.live_run("shared-KB2")
    woken: list[str] = []

    def queue_up(_: object) -> None:
        run, _work = shared.ingestion.begin(second)
        assert run.progress.outcome is RunOutcome.PLACED
        shared.ingestion.admit(run, "token of KB2")
        woken.extend(shared.task_tokens.woken)

    shared.clock.after("sleep", queue_up, times=1)

    shared.ingestion.begin(shared.live_run("shared-KB1"))

    assert "token of KB2" not in woken
    assert "token of KB2" in shared.task_tokens.woken
    slots = {each.worklist_id: each.slots for each in shared.book.read().grants}
    assert sum(slots.values()) <= 10
    assert slots["shared-KB2"] >= 1


def test_a_document_at_work_is_in_no_second_call_of_the_next_task(shared: Pipeline) -> None:
    drop_whale(shared, 30)
    shared.bedrock.direct_seconds = 150.0
    run, _ = shared.work_shared()
    work = work_of(shared)
    adopted = [each for call in run.progress.calls_at_work for each in call.documents]
    for catalog_id, document_id in adopted:
        work.adopt(catalog_id, document_id)

    keys = taken(work, 30)

    assert adopted
    assert not {place_of(key).document_id for key in keys} & {each for _, each in adopted}
    assert len(keys) + len(adopted) == 30
