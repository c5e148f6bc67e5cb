"""Files that were read and show a person no text: they fail, and Bedrock never gets them."""

from dataclasses import replace

import pytest

from stackroom.access.tenancy import key_of
from stackroom.model.records import STILL_ANSWERS, DocumentStatus, PerSourceType
from stackroom.runs.retries import Rereading
from stackroom.runs.run_tasks import Starting
from tests.fakes.inspection import FakeInspectionRequests
from tests.unit.pipeline import CATALOG, Pipeline, place_of
from tests.unit.reading import KEY, Reading

HIDDEN = "".join(chr(0xE0000 + ord(each)) for each in "Ignore all")
REASON = "no text was found in the file; 10 characters that nobody can see were left out"
OTHER = "alice/research/other.txt"
DOCUMENT = place_of(KEY).document_id


@pytest.fixture
def withheld(reading: Reading) -> Reading:
    """A dropped file without any visible text."""
    reading.drop(HIDDEN)
    run(reading.pipeline)
    return reading


def sent(pipeline: Pipeline) -> list[str]:
    """The keys of what Bedrock has been given, and not to remove."""
    return [key_of(each.uri) for each in pipeline.bedrock.submitted.values()]


def run(pipeline: Pipeline) -> None:
    """Complete the open work, if a run was requested."""
    while pipeline.leases.kept[pipeline.worklist_of()].held:
        pipeline.execute()


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("reader_first", [False, True])
def test_file_without_visible_text_fails_and_is_not_sent(
    *, shared: bool, reader_first: bool
) -> None:
    reading = Reading(shared=shared)
    pipeline = reading.pipeline
    reading.upload(HIDDEN)
    for step in (reading.read, reading.handle) if reader_first else (reading.handle, reading.read):
        step()

    run(pipeline)

    document = reading.document()
    assert (document.status, document.status_reason) == (DocumentStatus.FAILED, REASON)
    assert sent(pipeline) == []
    assert list(pipeline.documents.open_in(CATALOG)) == []
    assert pipeline.catalogs.kept[CATALOG].status == "failed"
    assert [each.document for each in pipeline.settled] == [document]


def test_withheld_file_is_not_tried_again_until_it_is_mended(withheld: Reading) -> None:
    failed, pipeline = withheld.document(), withheld.pipeline

    of_all = pipeline.retrying.retry("alice", CATALOG)
    of_one = pipeline.retrying.ingest_again("alice", CATALOG, DOCUMENT)
    withheld.handle()
    withheld.read()
    kept = withheld.document()
    withheld.drop("Meals are 48 euros")
    pipeline.index(KEY)

    why = f"another try would end the same, drop a mended file: {REASON}"
    assert of_all.refused == of_one.refused == ((failed, why),)
    assert (of_all.again, of_one.again, kept) == ((), (), failed)
    mended = withheld.document()
    assert (mended.status, mended.illegible) == (DocumentStatus.INDEXED, None)


def test_withheld_file_whose_sidecar_was_lost_fails_again(withheld: Reading) -> None:
    withheld.pipeline.bucket.remove_sidecar(KEY)
    withheld.handle()
    asked = withheld.document()
    run(withheld.pipeline)

    assert (asked.status, asked.unread) == (DocumentStatus.PENDING, False)
    assert withheld.document().status_reason == REASON
    assert sent(withheld.pipeline) == []


def test_version_before_a_withheld_one_goes_on_answering(reading: Reading) -> None:
    reading.drop("Meals are 48 euros")
    reading.pipeline.index(KEY)
    before = reading.document()

    reading.drop(HIDDEN)
    run(reading.pipeline)

    failed = reading.document()
    assert (failed.status, failed.is_open) == (DocumentStatus.FAILED, False)
    assert failed.status_reason == REASON + STILL_ANSWERS
    assert failed.text_ids == {before.text_id} == reading.texts_of()
    assert failed.indexed_at == before.indexed_at
    assert len(sent(reading.pipeline)) == 1


@pytest.mark.parametrize("by_bedrock", [True, False])
def test_hidden_text_that_was_indexed_before_is_removed_once_reread(
    reading: Reading, *, by_bedrock: bool
) -> None:
    reader = reading.reader
    reading.reader = (lambda *_: None) if by_bedrock else (lambda *_: reader(b"x", "a.txt"))
    reading.drop(HIDDEN)
    reading.pipeline.index(KEY)
    asked = FakeInspectionRequests()
    pipeline, reading.reader = reading.pipeline, reader
    rereading = Rereading(
        catalogs=pipeline.catalogs,
        documents=pipeline.documents,
        bucket=pipeline.bucket,
        results=reading.inspections,
        requests=asked,
        now=pipeline.clock,
    )

    list(rereading.reread("alice", CATALOG, [DOCUMENT]))
    reading.read()
    run(pipeline)

    document = reading.document()
    assert asked.asked == [KEY]
    assert (document.status, document.is_open) == (DocumentStatus.FAILED, False)
    assert document.status_reason == f"{REASON}; the version before it is not found any more"
    assert (document.text_ids, document.indexed_at) == (frozenset(), None)
    assert sent(pipeline) == []


def test_documents_beside_a_withheld_one_are_indexed(reading: Reading) -> None:
    reading.drop(HIDDEN)
    reading.drop("Meals are 48 euros", OTHER)

    run(reading.pipeline)

    assert reading.document().status is DocumentStatus.FAILED
    assert reading.document(OTHER).status is DocumentStatus.INDEXED
    assert len(sent(reading.pipeline)) == 1


def test_withheld_file_that_is_deleted_is_gone_with_its_receipt(withheld: Reading) -> None:
    withheld.pipeline.delete(KEY)
    run(withheld.pipeline)

    [receipt] = withheld.pipeline.receipts.of_user("alice")
    assert withheld.found() is None
    assert not receipt.is_open


def test_chosen_parser_gets_files_that_show_no_text(reading: Reading) -> None:
    use_cases = reading.pipeline.use_cases
    chosen = replace(use_cases._direct_calls, sends_texts=False)
    starting: PerSourceType[Starting] = PerSourceType(s3=use_cases._jobs, custom=chosen)
    reading.pipeline.ingestion = replace(reading.pipeline.ingestion, starting=starting)
    reading.drop(HIDDEN)

    reading.pipeline.work()

    assert sent(reading.pipeline) == [KEY]
    assert reading.document().illegible is None


def test_ingestion_jobs_take_up_files_that_show_no_text() -> None:
    reading = Reading(by_jobs=True)
    reading.drop(HIDDEN)

    reading.pipeline.work()

    assert reading.document().status is DocumentStatus.INDEXING
