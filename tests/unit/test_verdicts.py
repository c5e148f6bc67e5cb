"""The rules by which documents are settled: reasons, evidence, and what a search proves."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from stackroom.errors import KnowledgeBaseUnavailable
from stackroom.model.keys import Location
from stackroom.model.records import Catalog, Document, DocumentStatus
from stackroom.runs.bedrock_calls import DocumentDetail
from stackroom.runs.by_job import reasons_by_uri
from stackroom.runs.evidence import (
    MAX_ATTEMPTS,
    UNSEEN,
    BedrockEvidence,
    DocumentOutcome,
    Evidence,
    Investigation,
    verdict,
)
from stackroom.runs.polling import call_evidence
from stackroom.runs.search_check import SearchCheck
from tests.fakes.knowledge_base import FakeKnowledgeBase
from tests.fakes.pipeline import FakeInspectionResults
from tests.support import records
from tests.support.records import NOW, a_catalog
from tests.unit.pipeline import CATALOG, KEY, document_at, place_of, text_of

URIS = ["s3://b/a.txt", "s3://b/a.txt copy.txt", "s3://b/a.txt, old.txt", "s3://b/résumé.pdf"]


@pytest.mark.parametrize(
    ("reason", "named"),
    [
        ("Ignored 1 file [Files: s3://b/a.txt]. Call failed.", ["s3://b/a.txt"]),
        ("Issue occurred while processing file: s3://b/a.txt. Call failed.", ["s3://b/a.txt"]),
        ("file: s3://b/a.txt copy.txt", ["s3://b/a.txt copy.txt"]),
        ("[Files: s3://b/a.txt, s3://b/a.txt copy.txt]", ["s3://b/a.txt", "s3://b/a.txt copy.txt"]),
        ("[Files: s3://b/a.txt, old.txt]", ["s3://b/a.txt, old.txt"]),
        ("file: s3://b/r%C3%A9sum%C3%A9.pdf", ["s3://b/résumé.pdf"]),
        ("file: s3://b/a.txt.bak", []),
        ("the role may not", []),
    ],
)
def test_failure_reason_applies_only_to_the_files_it_names(reason: str, named: list[str]) -> None:
    assert sorted(reasons_by_uri(URIS, [reason])) == sorted(named)


def test_failure_reason_leaves_out_the_other_files_of_the_job() -> None:
    found = reasons_by_uri(
        URIS, ["Ignored 2 files as too large [Files: s3://b/a.txt, s3://b/x]. Bye."]
    )

    assert found == {"s3://b/a.txt": "Ignored 2 files as too large"}


def a_document(status: DocumentStatus = DocumentStatus.INDEXING, attempts: int = 1) -> Document:
    return records.a_document(status=status, attempts=attempts, size=0)


def evidence(
    status: str, *, is_found: Callable[[], bool] = lambda: False, **fields: object
) -> Evidence:
    known: dict[str, object] = {
        "detail": DocumentDetail(status=status, updated_at=NOW),
        "is_removal": False,
        "is_out": False,
        "is_current": True,
        "may_change": False,
        "is_overdue": False,
        "why_never_taken_up": "nobody took it up",
    }
    said: Any = {**known, **fields}
    return Evidence(bedrock=BedrockEvidence(**said), is_found=is_found, is_earlier_found=is_found)


def test_verdict_without_evidence_is_too_early() -> None:
    assert verdict(a_document(), None).outcome is DocumentOutcome.WAIT


def test_a_removal_is_believed_only_of_a_search() -> None:
    deleting = a_document(DocumentStatus.DELETING, attempts=MAX_ATTEMPTS)

    gone = verdict(deleting, evidence("NOT_FOUND", is_removal=True, is_out=True))
    found = verdict(
        deleting, evidence("NOT_FOUND", is_removal=True, is_out=True, is_found=lambda: True)
    )

    assert gone.outcome is DocumentOutcome.GONE
    assert found.outcome is DocumentOutcome.LEFT


def after(document: Document, status: str, *, said: float | None, at: float) -> DocumentOutcome:
    """Return the outcome of a call accepted at NOW, seconds later; no search finds anything."""
    said_at = None if said is None else NOW + timedelta(seconds=said)
    detail = DocumentDetail(status=status, updated_at=said_at)
    now = call_evidence(document, detail, accepted_at=NOW, at=NOW + timedelta(seconds=at))
    return verdict(
        document, Evidence(bedrock=now, is_found=lambda: False, is_earlier_found=lambda: False)
    ).outcome


WAIT, AGAIN = DocumentOutcome.WAIT, DocumentOutcome.AGAIN


@pytest.mark.parametrize(
    ("status", "said", "at", "outcome"),
    [
        ("INDEXED", 5, 5, DocumentOutcome.INDEXED),
        ("INDEXED", -1, 5, WAIT),  # of the version before
        ("INDEXED", -1, 7201, DocumentOutcome.FAILED),  # it never took the new one up
        ("STARTING", 0, 7200, WAIT),
        ("STARTING", 0, 7201, DocumentOutcome.FAILED),
        ("NOT_FOUND", None, UNSEEN, WAIT),  # it may not be shown yet
        ("NOT_FOUND", None, UNSEEN + 1, AGAIN),
        ("FAILED", 5, 5, AGAIN),
        ("IGNORED", 5, 5, DocumentOutcome.FAILED),
    ],
)
def test_statuses_after_an_ingesting_call(
    status: str, said: float | None, at: float, outcome: DocumentOutcome
) -> None:
    assert after(a_document(), status, said=said, at=at) is outcome


@pytest.mark.parametrize(
    ("status", "at", "attempts", "outcome"),
    [
        ("NOT_FOUND", 5, 1, DocumentOutcome.GONE),
        ("NOT_FOUND", 5, 0, WAIT),  # of a call that ingests it, and doesn't show it yet
        ("INDEXED", 5, 0, AGAIN),  # that call is over: now it can be removed
        ("INDEXED", 5, 1, AGAIN),  # an ingestion from before came in after it
        ("DELETING", 600, 1, WAIT),
        ("DELETING", 601, 1, AGAIN),
        ("DELETING", 601, MAX_ATTEMPTS, DocumentOutcome.LEFT),
    ],
)
def test_statuses_after_a_removing_call(
    status: str, at: float, attempts: int, outcome: DocumentOutcome
) -> None:
    document = a_document(DocumentStatus.DELETING, attempts=attempts)

    assert after(document, status, said=0, at=at) is outcome


@pytest.mark.parametrize(("at", "outcome"), [(119, WAIT), (120, DocumentOutcome.GONE)])
def test_document_that_may_still_arrive_is_gone_only_later(
    at: float, outcome: DocumentOutcome
) -> None:
    until = NOW + timedelta(seconds=120)
    document = a_document(DocumentStatus.DELETING).model_copy(update={"unseen_until": until})

    assert after(document, "NOT_FOUND", said=None, at=at) is outcome


PLACE = place_of(KEY)
DOCUMENT_ID = PLACE.document_id
TEXT_KEY = text_of(PLACE).key


@pytest.fixture
def knowledge_base() -> FakeKnowledgeBase:
    return FakeKnowledgeBase()


def put(
    knowledge_base: FakeKnowledgeBase,
    user_id: str = PLACE.user_id,
    *,
    text_id: str | None = None,
    **source: Any,
) -> None:
    """Put a passage of the document, sent with its text's id if there is one."""
    named = {} if text_id is None else {"text_id": text_id}
    knowledge_base.put(
        "report",
        user_id=user_id,
        catalog_id=CATALOG,
        filename=PLACE.filename,
        attributes={"document_id": DOCUMENT_ID, **named},
        **source,
    )


def found(knowledge_base: FakeKnowledgeBase) -> set[str]:
    return SearchCheck(knowledge_base=lambda _: knowledge_base).found(
        [(_catalog(), document_at(KEY))]
    )


@pytest.mark.parametrize(
    ("sent", "on_record", "is_found"),
    [
        ("a" * 16, "a" * 16, True),
        ("b" * 16, "a" * 16, False),
        ("b" * 16, None, False),
        (None, "a" * 16, False),
        (None, None, True),
    ],
)
def test_only_a_passage_of_the_text_on_record_proves_that_it_is_indexed(
    knowledge_base: FakeKnowledgeBase, *, sent: str | None, on_record: str | None, is_found: bool
) -> None:
    put(knowledge_base, text_id=sent, custom_id=DOCUMENT_ID)
    check = SearchCheck(knowledge_base=lambda _: knowledge_base)

    indexed = document_at(KEY, text_id=on_record)
    deleted = document_at(KEY, text_id=on_record, status=DocumentStatus.DELETING)

    assert check.found([(_catalog(), indexed)]) == ({DOCUMENT_ID} if is_found else set())
    assert check.found([(_catalog(), deleted)]) == {DOCUMENT_ID}


def test_version_before_is_looked_for_by_the_text_that_was_indexed(
    knowledge_base: FakeKnowledgeBase,
) -> None:
    put(knowledge_base, text_id="b" * 16, custom_id=DOCUMENT_ID)
    investigation = Investigation(
        inspections=FakeInspectionResults(everything=True),
        search_check=SearchCheck(knowledge_base=lambda _: knowledge_base),
    )
    document = document_at(
        KEY, text_id="a" * 16, indexed_text_id="b" * 16, status=DocumentStatus.INDEXING
    )

    [(_, _, known)] = investigation.complete([(_catalog(), document, evidence("FAILED").bedrock)])

    assert known is not None
    assert (known.is_found(), known.is_earlier_found()) == (False, True)


def left(knowledge_base: FakeKnowledgeBase) -> set[str]:
    return SearchCheck(knowledge_base=lambda _: knowledge_base).left(_catalog(), [document_at(KEY)])


def _catalog() -> Catalog:
    return a_catalog(catalog_id=CATALOG, s3_prefix=PLACE.prefix, knowledge_base_id="KB1")


@pytest.mark.parametrize("source", [{"key": KEY}, {"custom_id": DOCUMENT_ID}, {"key": TEXT_KEY}])
def test_a_documents_own_passage_is_found(
    knowledge_base: FakeKnowledgeBase, source: dict[str, str]
) -> None:
    put(knowledge_base, **source)

    assert found(knowledge_base) == left(knowledge_base) == {DOCUMENT_ID}


@pytest.mark.parametrize(
    "source",
    [
        {"key": f"mallory/{KEY}"},
        {"key": TEXT_KEY.replace(DOCUMENT_ID, "doc-" + "0" * 24)},
        {"custom_id": "doc-" + "0" * 24},
        {"custom_id": "a.txt"},
    ],
)
def test_passage_from_anothers_document_is_no_proof_despite_attributes(
    knowledge_base: FakeKnowledgeBase, source: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    put(knowledge_base, **source)

    assert found(knowledge_base) == left(knowledge_base) == set()
    assert source.popitem()[1] in caplog.text


def test_a_rejected_files_passage_is_left(knowledge_base: FakeKnowledgeBase) -> None:
    put(knowledge_base, user_id="!rejected", key=KEY)

    assert found(knowledge_base) == set()
    assert left(knowledge_base) == {DOCUMENT_ID}


def test_a_store_that_ignores_the_filter_proves_nothing(knowledge_base: FakeKnowledgeBase) -> None:
    knowledge_base.ignores_filters = True
    knowledge_base.put("report", user_id="bob")

    for ask in (found, left):
        with pytest.raises(KnowledgeBaseUnavailable, match="outside the filter"):
            ask(knowledge_base)


def of_many(knowledge_base: FakeKnowledgeBase, count: int) -> list[tuple[Catalog, Document]]:
    """Documents of as many users, each with a passage."""
    documents = []
    for number in range(count):
        place = place_of(f"user-{number}/shelf/a.txt")
        catalog = a_catalog(
            user_id=place.user_id,
            catalog_id=place.catalog_id,
            s3_prefix=place.prefix,
            knowledge_base_id="KB1",
        )
        put_passage(knowledge_base, place)
        documents.append((catalog, document_at(place.key)))
    return documents


def put_passage(knowledge_base: FakeKnowledgeBase, place: Location) -> None:
    knowledge_base.put(
        "document",
        user_id=place.user_id,
        catalog_id=place.catalog_id,
        filename=place.filename,
        attributes={"document_id": place.document_id},
        custom_id=place.document_id,
    )


def test_many_owners_documents_are_asked_for_at_once(knowledge_base: FakeKnowledgeBase) -> None:
    documents = of_many(knowledge_base, 12)
    check = SearchCheck(knowledge_base=lambda _: knowledge_base, at_once=lambda _: 10)

    found = check.found(documents)

    assert found == {document.document_id for _, document in documents}
    assert len(knowledge_base.filters) == 2


def test_document_with_many_passages_hides_no_other(knowledge_base: FakeKnowledgeBase) -> None:
    documents = of_many(knowledge_base, 2)
    for _ in range(100):
        put_passage(knowledge_base, place_of("user-0/shelf/a.txt"))

    found = SearchCheck(knowledge_base=lambda _: knowledge_base).found(documents)

    assert found == {document.document_id for _, document in documents}
