"""Several keys at a time: what becomes of each is its own, and one catalog is written once."""

from collections.abc import Iterable

import pytest

from stackroom.errors import RecordChanged, StoreUnavailable
from stackroom.model import Document, DocumentStatus
from stackroom.uploads.steps import Plan, UploadOutcome
from tests.unit.pipeline import CATALOG, KEY, Pipeline

KEYS = [f"alice/research/{number}.txt" for number in range(5)]
OTHER = "bob/law/c.txt"


def reconciled(pipeline: Pipeline, *keys: str) -> dict[str, Plan | Exception]:
    return pipeline.uploads.reconcile_all({key: f"event of {key}" for key in keys})


def dropped(pipeline: Pipeline, *keys: str) -> dict[str, Plan | Exception]:
    for key in keys:
        pipeline.bucket.upload(key)
    return reconciled(pipeline, *keys)


def outcomes(found: dict[str, Plan | Exception]) -> dict[str, object]:
    """By key; the kind of what went wrong."""
    return {
        key: each.outcome if isinstance(each, Plan) else type(each) for key, each in found.items()
    }


@pytest.fixture
def saved(pipeline: Pipeline) -> list[list[str]]:
    """The files of each `save_all`."""
    calls: list[list[str]] = []
    save_all = pipeline.documents.save_all

    def note(documents: Iterable[Document]) -> list[Document]:
        given = list(documents)
        calls.append([each.filename for each in given])
        return save_all(given)

    pipeline.documents.save_all = note  # type: ignore[method-assign]
    return calls


def test_files_of_one_catalog_are_saved_together(
    pipeline: Pipeline, saved: list[list[str]]
) -> None:
    found = dropped(pipeline, *KEYS, OTHER)

    assert outcomes(found) == dict.fromkeys([*KEYS, OTHER], UploadOutcome.REGISTERED)
    assert sorted(map(len, saved)) == [1, 5]
    assert pipeline.catalogs.kept[CATALOG].document_count == 5
    assert {pipeline.document(key).status for key in KEYS} == {DocumentStatus.PENDING}
    assert {pipeline.document(key).correlation_id for key in KEYS} == {
        f"event of {key}" for key in KEYS
    }


def test_each_sidecar_is_there_before_its_record(pipeline: Pipeline) -> None:
    seen: list[bool] = []
    pipeline.documents.before("save", lambda each: seen.append(each.s3_key in sidecars))
    sidecars = pipeline.bucket.sidecars

    dropped(pipeline, *KEYS)

    assert seen == [True] * 5


def test_what_somebody_else_has_written_meanwhile_is_looked_at_anew(pipeline: Pipeline) -> None:
    dropped(pipeline, *KEYS)
    for key in KEYS[:2]:
        pipeline.bucket.upload(key, "other")

    def meddle(_: object) -> None:
        pipeline.documents.overwrite(pipeline.document(KEYS[0]).model_copy(update={"version": 7}))

    pipeline.documents.before("save_all", meddle, times=1)
    found = reconciled(pipeline, *KEYS[:2])

    assert outcomes(found) == dict.fromkeys(KEYS[:2], UploadOutcome.REGISTERED)
    assert pipeline.document(KEYS[0]).version == 8
    assert {pipeline.document(key).etag for key in KEYS[:2]} == {
        pipeline.bucket.objects[key].etag for key in KEYS[:2]
    }


@pytest.mark.parametrize("error", [ValueError("no store takes it"), RecordChanged("for ever")])
def test_a_record_that_can_not_be_saved_keeps_no_other_from_being_saved(
    pipeline: Pipeline, error: Exception
) -> None:
    def refuse(document: Document) -> None:
        if document.s3_key == KEYS[1]:
            raise error

    pipeline.documents.before("save", refuse)

    found = dropped(pipeline, *KEYS)

    failed = {key: each for key, each in found.items() if isinstance(each, Exception)}
    assert failed == {KEYS[1]: error}
    assert {each.s3_key for each in pipeline.documents.of_catalog(CATALOG)} == {*KEYS} - {KEYS[1]}


def test_a_store_that_does_not_answer_fails_those_of_that_catalog(pipeline: Pipeline) -> None:
    def fail(documents: Iterable[Document]) -> None:
        if CATALOG in {each.catalog_id for each in documents}:
            raise StoreUnavailable("TransactWriteItems", "ThrottlingError")

    pipeline.documents.before("save_all", fail)

    found = dropped(pipeline, *KEYS, OTHER)

    expected = dict.fromkeys(KEYS, StoreUnavailable)
    assert outcomes(found) == {**expected, OTHER: UploadOutcome.REGISTERED}


def test_removals_rejections_and_strangers_go_the_same_way(pipeline: Pipeline) -> None:
    dropped(pipeline, KEY)
    pipeline.bucket.delete(KEY)
    rejected, loose = "alice/research/a.exe", "alice/loose.txt"

    found = dropped(pipeline, rejected, loose)
    gone = reconciled(pipeline, KEY, "alice/research/never.txt", f"{KEY}.metadata.json")

    assert outcomes(found) == dict.fromkeys([rejected, loose], UploadOutcome.REJECTED)
    assert outcomes(gone) == {
        KEY: UploadOutcome.DELETING,
        "alice/research/never.txt": UploadOutcome.IGNORED,
        f"{KEY}.metadata.json": UploadOutcome.IGNORED,
    }
    assert pipeline.document(KEY).receipt_id is not None
