"""Users' caps: what they hold back and release, and whom they never affect."""

from decimal import Decimal
from itertools import pairwise

import pytest

from stackroom.catalogs.progress import Progress
from stackroom.model.caps import EVERYBODY, Caps
from stackroom.model.records import CapKind, CatalogStatus, Document, DocumentStatus
from stackroom.reconciler.discrepancies import Kind
from stackroom.runs import estimates
from stackroom.runs.estimates import DocumentStage
from stackroom.tools.document_definitions import GET_INDEXING_STATUS
from tests.unit.pipeline import KEY, Pipeline, place_of
from tests.unit.reconciling import LONG, Reconciled

BOB = "bob/own/b.txt"
AT_CAP = "Over the document cap (3 of 3). Delete some, or ask an operator to raise it."


def drop(pipeline: Pipeline, count: int, *, catalog: str = "research", first: int = 0) -> list[str]:
    keys = [f"alice/{catalog}/{number:03}.txt" for number in range(first, first + count)]
    for key in keys:
        pipeline.drop(key)
    return keys


def go(pipeline: Pipeline) -> None:
    """Every live run, to its end."""
    while live := [each for each in pipeline.leases.kept.values() if each.held]:
        for lease in live:
            pipeline.execute(lease.worklist_id)


def waiting(pipeline: Pipeline) -> list[str]:
    return sorted(each.s3_key for each in pipeline.documents.kept.values() if each.over_cap)


def indexed(pipeline: Pipeline) -> list[Document]:
    kept = pipeline.documents.kept.values()
    return [each for each in kept if each.status is DocumentStatus.INDEXED]


def test_newest_document_over_a_cap_is_held_back_with_the_reason(pipeline: Pipeline) -> None:
    pipeline.cap_book.keep("alice", Caps(documents=3))
    keys = drop(pipeline, 5)

    go(pipeline)

    assert waiting(pipeline) == keys[3:]
    assert sorted(each.s3_key for each in indexed(pipeline)) == keys[:3]
    last = pipeline.document(keys[4])
    assert (last.status, last.over_cap) == (DocumentStatus.PENDING, CapKind.DOCUMENTS)
    assert last.status_reason == AT_CAP
    assert pipeline.catalogs.kept[last.catalog_id].status is CatalogStatus.READY


def test_cap_covers_all_catalogs_of_its_user_only(pipeline: Pipeline) -> None:
    pipeline.cap_book.keep(EVERYBODY, Caps(documents=3))
    first = drop(pipeline, 2)
    go(pipeline)
    second = drop(pipeline, 2, catalog="more")
    pipeline.drop(BOB)

    go(pipeline)

    assert waiting(pipeline) == second[1:]
    assert pipeline.document(BOB).status is DocumentStatus.INDEXED
    assert len(indexed(pipeline)) == len(first) + 2


def test_bytes_are_counted_too(pipeline: Pipeline) -> None:
    pipeline.cap_book.keep("alice", Caps(bytes=10))
    keys = drop(pipeline, 4)  # of four bytes each

    go(pipeline)

    assert waiting(pipeline) == keys[2:]
    assert pipeline.document(keys[3]).status_reason == (
        "Over the byte cap (8 of 10). Delete some, or ask an operator to raise it."
    )
    noted = [(each.percent, int(each.used)) for each in pipeline.cap_book.noted.values()]
    assert noted == [(80, 8), (100, 8)], "documents that wait mark it as reached"


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_deletion_makes_room_at_once(pipeline: Pipeline, elsewhere: bool) -> None:
    pipeline.cap_book.keep("alice", Caps(documents=3))
    kept = drop(pipeline, 3)
    go(pipeline)
    more = drop(pipeline, 2, catalog="more" if elsewhere else "research", first=10)
    go(pipeline)

    pipeline.delete(kept[0])
    go(pipeline)

    assert waiting(pipeline) == more[1:]
    assert pipeline.document(more[0]).status is DocumentStatus.INDEXED


def test_document_that_outgrows_the_cap_waits_and_frees_no_room(pipeline: Pipeline) -> None:
    pipeline.cap_book.keep("alice", Caps(bytes=12))
    keys = drop(pipeline, 3)
    go(pipeline)

    pipeline.drop(keys[0], "a longer text")
    new = drop(pipeline, 1, first=10)
    go(pipeline)

    assert waiting(pipeline) == [keys[0], *new]
    pipeline.delete(keys[1])
    pipeline.delete(keys[2])
    go(pipeline)
    assert waiting(pipeline) == [keys[0], *new]  # 13 bytes alone
    pipeline.drop(keys[0], "short")
    go(pipeline)
    assert pipeline.document(keys[0]).status is DocumentStatus.INDEXED


def test_raising_a_cap_has_all_documents_judged_again(pipeline: Pipeline) -> None:
    pipeline.cap_book.keep("alice", Caps(documents=3))
    keys = drop(pipeline, 6)
    go(pipeline)

    pipeline.cap_book.keep("alice", Caps(documents=4))
    pipeline.caps.reassess(pipeline.catalogs.of_user("alice"))
    go(pipeline)

    assert waiting(pipeline) == keys[4:]
    assert "4 of 4" in str(pipeline.document(keys[5]).status_reason)
    pipeline.cap_book.remove("alice")
    pipeline.caps.reassess(pipeline.catalogs.of_user("alice"))
    go(pipeline)
    assert waiting(pipeline) == []
    assert len(indexed(pipeline)) == 6


def test_lowered_cap_removes_no_document(pipeline: Pipeline) -> None:
    keys = drop(pipeline, 4)
    go(pipeline)
    pipeline.cap_book.keep("alice", Caps(documents=2))
    more = drop(pipeline, 1, first=10)

    go(pipeline)

    assert len(indexed(pipeline)) == len(keys)
    assert waiting(pipeline) == more
    assert "Over the document cap (4 of 2)" in str(pipeline.document(more[0]).status_reason)


def test_lowered_document_cap_lets_nothing_past_the_byte_cap(pipeline: Pipeline) -> None:
    first, *_ = drop(pipeline, 3)
    go(pipeline)
    pipeline.cap_book.keep("alice", Caps(documents=2, bytes=20))

    pipeline.drop(first, "longer than all that there may be")
    go(pipeline)

    assert waiting(pipeline) == [first]
    assert pipeline.document(first).over_cap is CapKind.BYTES
    pipeline.drop(first, "short")
    go(pipeline)
    assert waiting(pipeline) == []


def test_concurrent_runs_never_send_more_than_the_cap_allows() -> None:
    pipeline = Pipeline()  # each catalog has a run of its own
    pipeline.cap_book.keep("alice", Caps(documents=25))
    keys = [each for name in ("a", "b", "c") for each in drop(pipeline, 20, catalog=name)]

    runs = [pipeline.work(pipeline.worklist_of(key)) for key in keys[::20]]

    at_work = [each for each in pipeline.documents.kept.values() if each.ingestion_job_id]
    assert len(at_work) == 25
    for run in runs:
        if run.progress.calls:
            pipeline.go_on(run)
    assert len(indexed(pipeline)) == 25
    assert len(waiting(pipeline)) == 35


@pytest.mark.parametrize("before", [2, 5])
def test_document_added_after_the_count_has_no_place_yet(pipeline: Pipeline, before: int) -> None:
    pipeline.cap_book.keep("alice", Caps(documents=3))
    keys = drop(pipeline, before)
    pipeline.catalogs.after("of_user", lambda _: drop(pipeline, 6, first=10), times=1)

    go(pipeline)

    assert sorted(each.s3_key for each in indexed(pipeline))[:2] == keys[:2]
    assert len(indexed(pipeline)) == 3
    assert len(waiting(pipeline)) == before + 3


def test_documents_beyond_one_turn_are_all_held_back() -> None:
    pipeline = Pipeline(shared=True)
    pipeline.cap_book.keep("alice", Caps(documents=5))
    drop(pipeline, 700)
    pipeline.drop(BOB)

    run = pipeline.work()

    assert pipeline.document(BOB).status is DocumentStatus.INDEXING  # with the first call
    pipeline.go_on(run)
    go(pipeline)
    assert len(indexed(pipeline)) == 6
    assert len(waiting(pipeline)) == 695


def test_documents_over_the_cap_are_not_stalled_and_resume_when_raised() -> None:
    pipeline = Reconciled()
    pipeline.cap_book.keep("alice", Caps(documents=3))
    keys = drop(pipeline, 5)
    go(pipeline)
    for key in keys:
        if not pipeline.document(key).over_cap:
            pipeline.is_searchable(key)
    pipeline.clock.pass_by(LONG)
    assert list(pipeline.reconciliation().resume()) == []

    pipeline.cap_book.keep("alice", Caps(documents=4))  # and the command line died
    found = list(pipeline.reconciliation().resume())
    go(pipeline)

    assert [each.kind for each in found] == [Kind.STALE_CAP_WAIT]
    assert waiting(pipeline) == keys[4:]


def test_a_job_begins_for_new_documents_only_if_all_fit() -> None:
    pipeline = Pipeline(by_jobs=True)
    pipeline.cap_book.keep("alice", Caps(documents=3))
    keys = drop(pipeline, 5)
    go(pipeline)
    assert waiting(pipeline) == keys
    assert pipeline.document(keys[0]).status_reason == (
        "Over the document cap with its whole catalog (5 of 3). Delete some, or ask an operator"
        " to raise it."
    )

    pipeline.cap_book.keep("alice", Caps(documents=5))
    pipeline.caps.reassess(pipeline.catalogs.of_user("alice"))
    pipeline.index(*keys)

    assert waiting(pipeline) == []
    assert len(indexed(pipeline)) == 5


def test_a_job_that_begins_for_what_came_again_takes_up_what_waits() -> None:
    pipeline = Pipeline(by_jobs=True)
    pipeline.cap_book.keep("alice", Caps(documents=2))
    keys = drop(pipeline, 2)
    pipeline.index(*keys)
    new = drop(pipeline, 1, first=10)
    go(pipeline)
    assert waiting(pipeline) == new

    pipeline.drop(keys[0], "another text")
    pipeline.index(*keys, *new)

    assert waiting(pipeline) == []
    assert len(indexed(pipeline)) == 3


def test_no_job_begins_if_it_would_ingest_documents_over_the_cap() -> None:
    pipeline = Pipeline(by_jobs=True)
    pipeline.cap_book.keep("alice", Caps(bytes=10))
    keys = drop(pipeline, 1)  # of four bytes
    pipeline.index(*keys)
    large, small = "alice/research/large.txt", "alice/research/small.txt"
    pipeline.drop(large, "nine bytes")
    go(pipeline)
    pipeline.drop(small, "two")

    go(pipeline)

    assert waiting(pipeline) == [large, small]
    assert "Over the byte cap with its whole catalog (17 of 10)" in str(
        pipeline.document(small).status_reason
    )
    pipeline.delete(large)
    pipeline.index(*keys, small)
    assert waiting(pipeline) == []
    assert len(indexed(pipeline)) == 2


def test_ingestion_jobs_also_resume_placed_documents_next_month() -> None:
    pipeline = Pipeline(by_jobs=True)
    keys = drop(pipeline, 2)
    pipeline.index(*keys)
    pipeline.cap_book.keep("alice", Caps(documents=1, dollars=Decimal("0.00000001")))
    pipeline.drop(keys[0], "another text")
    go(pipeline)
    assert waiting(pipeline) == keys[:1]

    pipeline.clock.pass_by(30 * 86_400)
    pipeline.caps.release("alice")
    pipeline.index(*keys)

    assert waiting(pipeline) == []


def test_documents_with_a_place_do_not_hide_those_without(pipeline: Pipeline) -> None:
    keys = drop(pipeline, 400)
    go(pipeline)
    pipeline.cap_book.keep("alice", Caps(documents=400))
    [new] = drop(pipeline, 1, first=900)
    for key in keys:
        pipeline.drop(key, "another text")

    go(pipeline)

    assert waiting(pipeline) == [new]
    assert len(indexed(pipeline)) == 400


def test_failed_count_of_one_user_affects_nobody_else() -> None:
    pipeline = Pipeline(shared=True)
    pipeline.cap_book.keep("alice", Caps(documents=5))
    drop(pipeline, 2)
    pipeline.drop(BOB)
    pipeline.catalogs.fails("of_user", ValueError("malformed"))

    go(pipeline)

    assert pipeline.document(BOB).status is DocumentStatus.INDEXED
    assert indexed(pipeline) == [pipeline.document(BOB)]
    assert list(pipeline.failures) == [place_of(KEY).catalog_id]


def test_once_the_months_dollars_are_spent_all_waits_until_the_next() -> None:
    pipeline = Reconciled()
    pipeline.cap_book.keep("alice", Caps(dollars=Decimal("0.000001")))
    [first] = drop(pipeline, 1)
    pipeline.drop(first, "x" * 400)  # a hundred tokens
    go(pipeline)
    pipeline.is_searchable(first)
    pipeline.drop(first, "another text")
    [second] = drop(pipeline, 1, first=10)
    pipeline.drop(BOB)

    go(pipeline)

    assert waiting(pipeline) == [first, second]
    assert pipeline.document(second).status_reason == (
        "Over the monthly cap ($0.000002 of $0.000001). Wait until 1 March, or ask an operator to"
        " raise it."
    )
    assert pipeline.document(BOB).status is DocumentStatus.INDEXED
    pipeline.is_searchable(BOB)
    pipeline.clock.pass_by(30 * 86_400)
    found = list(pipeline.reconciliation().resume())
    go(pipeline)
    assert [each.kind for each in found] == [Kind.STALE_CAP_WAIT]
    assert waiting(pipeline) == []


def test_placed_documents_resume_next_month_despite_the_document_cap() -> None:
    pipeline = Reconciled()
    first, second = drop(pipeline, 2)
    go(pipeline)
    for key in (first, second):
        pipeline.is_searchable(key)
    pipeline.cap_book.keep("alice", Caps(documents=1, dollars=Decimal("0.00000001")))
    pipeline.drop(first, "another text")
    go(pipeline)
    assert waiting(pipeline) == [first]

    pipeline.clock.pass_by(30 * 86_400)
    found = list(pipeline.reconciliation().resume())
    go(pipeline)

    assert [each.kind for each in found] == [Kind.STALE_CAP_WAIT]
    assert waiting(pipeline) == []


@pytest.mark.parametrize("by_operator", [False, True])
def test_run_is_requested_on_repetition_after_a_crash_before_the_request(by_operator: bool) -> None:
    pipeline = Pipeline()
    pipeline.cap_book.keep("alice", Caps(documents=1))
    drop(pipeline, 3)
    go(pipeline)
    pipeline.cap_book.remove("alice")
    pipeline.leases.fails("claim", ValueError("died"), times=1)

    def release() -> None:
        if by_operator:
            pipeline.caps.reassess(pipeline.catalogs.of_user("alice"))
        else:
            pipeline.caps.release("alice")

    with pytest.raises(ValueError, match="died"):
        release()

    release()
    go(pipeline)

    assert len(indexed(pipeline)) == 3


@pytest.mark.parametrize("is_large", [False, True])
def test_owner_sees_which_documents_wait_for_the_cap_and_no_others(
    is_large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline = Pipeline()
    pipeline.cap_book.keep("alice", Caps(documents=3))
    drop(pipeline, 5)
    go(pipeline)
    if is_large:
        monkeypatch.setattr(estimates, "PAGE", 1)

    told = Progress(catalogs=pipeline.catalogs, estimates=pipeline.estimates).of(
        "alice", place_of(KEY).catalog_id
    )

    assert (told.overall, told.indexed, told.pending) == (CatalogStatus.READY, 3, 2)
    assert (told.indexing, told.failed, told.eta_seconds, told.more) == (0, 0, 0, 0)
    assert {each.stage for each in told.unready} == {DocumentStage.OVER_CAP}
    assert AT_CAP in GET_INDEXING_STATUS.render(told).text


def test_a_user_comes_to_a_part_of_a_cap_once_a_month(pipeline: Pipeline) -> None:
    pipeline.cap_book.keep(EVERYBODY, Caps(documents=5))
    drop(pipeline, 3)
    pipeline.drop(BOB)
    go(pipeline)
    assert pipeline.cap_book.noted == {}

    drop(pipeline, 1, first=10)
    go(pipeline)
    [near] = pipeline.cap_book.noted.values()
    drop(pipeline, 3, first=20)
    go(pipeline)
    drop(pipeline, 1, first=30)
    go(pipeline)

    [first, reached] = pipeline.cap_book.noted.values()
    assert first == near
    assert (near.user_id, near.month, near.percent, int(near.used)) == ("alice", "2026-02", 80, 4)
    assert (reached.percent, int(reached.used), int(reached.limit)) == (100, 5, 5)


def test_document_larger_than_the_cap_is_reported_without_a_warning(pipeline: Pipeline) -> None:
    pipeline.cap_book.keep("alice", Caps(bytes=3))
    [large] = drop(pipeline, 1)  # of four bytes

    go(pipeline)

    assert pipeline.document(large).status_reason == (
        "Larger than the cap of 3 bytes. Ask an operator to raise it."
    )
    noted = [(each.percent, int(each.used)) for each in pipeline.cap_book.noted.values()]
    assert noted == [(100, 0)]


def test_places_are_taken_in_the_order_of_dropping(pipeline: Pipeline) -> None:
    pipeline.cap_book.keep("alice", Caps(documents=1))
    keys = drop(pipeline, 4)
    go(pipeline)

    order = []
    for key, _ in pairwise(keys):
        pipeline.delete(key)
        go(pipeline)
        order += [each.s3_key for each in indexed(pipeline)]

    assert order == keys[1:]


def test_documents_held_back_later_do_not_count_as_used() -> None:
    pipeline = Pipeline()  # each catalog has a run of its own
    pipeline.cap_book.keep("alice", Caps(documents=3))
    [first, *_] = drop(pipeline, 5)
    drop(pipeline, 20, catalog="more")

    pipeline.work(pipeline.worklist_of(first))

    assert {int(each.used) for each in pipeline.cap_book.noted.values()} == {3}
