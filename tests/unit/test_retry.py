import pytest

from stackroom.errors import CatalogNotFound, DocumentNotFound
from stackroom.model import DocumentStatus
from tests.unit.pipeline import CATALOG, KEY, Pipeline, place_of

DOCUMENT = place_of(KEY).document_id
REJECTED = "alice/research/a.exe"


def failed(pipeline: Pipeline, *keys: str) -> None:
    """Dropped, taken up three times, and failed by the knowledge base."""
    for key in keys:
        pipeline.drop(key)
        tried = pipeline.document(key).moved(
            DocumentStatus.FAILED, at=pipeline.clock(), reason="Bedrock gave no reason"
        )
        pipeline.documents.save(tried.model_copy(update={"attempts": 3}))


def requests(pipeline: Pipeline) -> int:
    return pipeline.leases.kept[CATALOG].requested


def test_what_failed_waits_for_another_run_as_if_it_were_new(pipeline: Pipeline) -> None:
    failed(pipeline, KEY)
    asked_before = requests(pipeline)

    retried = pipeline.retrying.retry("alice", CATALOG, [DOCUMENT])

    document = pipeline.document()
    assert (document.status, document.attempts) == (DocumentStatus.PENDING, 0)
    assert retried.again == (document,)
    assert requests(pipeline) == asked_before + 1


def test_a_rejected_file_is_not_tried_again_and_its_owner_told_why(pipeline: Pipeline) -> None:
    pipeline.drop(REJECTED)

    retried = pipeline.retrying.retry("alice", CATALOG)

    ((document, why),) = retried.refused
    assert document.filename == "a.exe"
    assert (
        "another try would end the same, drop a mended file: File type '.exe' not supported" in why
    )
    assert pipeline.document(REJECTED).status is DocumentStatus.FAILED
    assert CATALOG not in pipeline.leases.kept


def test_a_retry_repeated_after_a_crash_asks_for_the_missing_run(pipeline: Pipeline) -> None:
    failed(pipeline, KEY)

    pipeline.leases.fails("ask", ConnectionError(), times=1)
    with pytest.raises(ConnectionError):
        pipeline.retrying.retry("alice", CATALOG, [DOCUMENT])
    asked_before = requests(pipeline)
    pipeline.retrying.retry("alice", CATALOG, [DOCUMENT])

    assert pipeline.document().status is DocumentStatus.PENDING
    assert requests(pipeline) == asked_before + 1


def test_a_document_that_changes_meanwhile_is_decided_as_it_is_then(pipeline: Pipeline) -> None:
    failed(pipeline, KEY)

    pipeline.documents.before("save", lambda _: pipeline.drop(KEY, "mended"), times=1)
    retried = pipeline.retrying.retry("alice", CATALOG, [DOCUMENT])

    assert [why for _, why in retried.refused] == ["it has not failed: it is pending"]
    assert pipeline.document().etag == "etag of mended"


def test_a_document_removed_meanwhile_is_told_of(pipeline: Pipeline) -> None:
    failed(pipeline, KEY)

    pipeline.documents.before("save", lambda _: pipeline.documents.lose())
    retried = pipeline.retrying.retry("alice", CATALOG, [DOCUMENT])

    assert [why for _, why in retried.refused] == ["it has been removed meanwhile"]


def test_nothing_of_a_catalog_that_is_being_deleted_is_tried_again(pipeline: Pipeline) -> None:
    failed(pipeline, KEY)
    pipeline.catalogs.mark_deleting(CATALOG, at=pipeline.clock())

    retried = pipeline.retrying.retry("alice", CATALOG)

    assert [why for _, why in retried.refused] == ["its catalog is being deleted"]
    assert pipeline.document().status is DocumentStatus.FAILED


def test_an_unknown_document_or_somebody_elses_catalog_is_not_found(pipeline: Pipeline) -> None:
    failed(pipeline, KEY)

    with pytest.raises(CatalogNotFound):
        pipeline.retrying.retry("bob", CATALOG)
    with pytest.raises(DocumentNotFound):
        pipeline.retrying.retry("alice", CATALOG, [DOCUMENT, "doc-none"])

    assert pipeline.document().status is DocumentStatus.FAILED
