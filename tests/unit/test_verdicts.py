"""The rules alone: what holds whatever the type of the data source."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from stackroom.model import Catalog, Document, DocumentStatus
from stackroom.ports.ingestion import DocumentDetail
from stackroom.settlement.evidence import Evidence, Investigation, Standing
from stackroom.settlement.search_check import SearchCheck
from stackroom.settlement.shared_source import DEADLINE, SharedSource
from stackroom.settlement.verdicts import MAX_ATTEMPTS, DocumentOutcome, verdict
from tests.fakes.knowledge_base import FakeKnowledgeBase
from tests.fakes.pipeline import FakeInspectionResults

NOW = datetime(2026, 11, 22, tzinfo=UTC)


A_CATALOG = Catalog(
    catalog_id="cat",
    user_id="alice",
    name="research",
    s3_prefix="alice/research/",
    knowledge_base_id="KB1",
    data_source_id="DS1",
    created_at=NOW,
    updated_at=NOW,
)


def a_document(status: DocumentStatus = DocumentStatus.INDEXING, attempts: int = 1) -> Document:
    return Document(
        catalog_id="cat",
        document_id="doc",
        filename="a.txt",
        s3_key="alice/research/a.txt",
        status=status,
        attempts=attempts,
        uploaded_at=NOW,
        updated_at=NOW,
    )


def evidence(
    status: str, *, is_found: Callable[[], bool] = lambda: False, **standing: object
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
    standings: Any = {**known, **standing}
    return Evidence(standing=Standing(**standings), is_found=is_found)


def test_without_evidence_it_is_too_early() -> None:
    assert verdict(a_document(), None).outcome is DocumentOutcome.WAIT


def test_a_status_that_nobody_knows_is_no_proof_of_a_removal() -> None:
    said = evidence("THINKING", is_removal=True)
    tired = a_document(DocumentStatus.DELETING, attempts=MAX_ATTEMPTS)

    assert verdict(a_document(DocumentStatus.DELETING), said).outcome is DocumentOutcome.AGAIN
    assert verdict(tired, said).outcome is DocumentOutcome.LEFT


def test_one_task_proves_five_hundred_removals_and_leaves_the_others_to_the_next() -> None:
    investigation = Investigation(
        inspections=FakeInspectionResults(),
        search_check=SearchCheck(knowledge_base=lambda _: FakeKnowledgeBase()),
    )
    standing = evidence("NOT_FOUND", is_removal=True, is_out=True).standing
    removed = [(a_document(DocumentStatus.DELETING), standing)] * 502
    ingested = (a_document(), evidence("INDEXED").standing)

    known = investigation.complete(A_CATALOG, [*removed, ingested])

    assert [each is None for _, each in known].count(True) == 2
    assert (a_document(), None) not in known  # what needs no search waits for none


@pytest.mark.parametrize("status", ["INDEXED", "FAILED", "IGNORED"])
def test_what_is_said_of_another_version_settles_nothing(status: str) -> None:
    late = verdict(a_document(), evidence(status, is_current=False, is_overdue=True))
    in_time = verdict(a_document(), evidence(status, is_current=False))
    tired = verdict(a_document(attempts=MAX_ATTEMPTS), evidence(status, is_current=False))

    assert in_time.outcome is DocumentOutcome.AGAIN
    assert (late.outcome, tired.outcome) == (DocumentOutcome.FAILED, DocumentOutcome.FAILED)
    assert "did not finish in time" in str(late.reason)
    assert tired.reason == "nobody took it up"


def test_a_removal_is_believed_only_of_a_search() -> None:
    deleting = a_document(DocumentStatus.DELETING, attempts=MAX_ATTEMPTS)

    gone = verdict(deleting, evidence("NOT_FOUND", is_removal=True, is_out=True))
    found = verdict(
        deleting, evidence("NOT_FOUND", is_removal=True, is_out=True, is_found=lambda: True)
    )

    assert gone.outcome is DocumentOutcome.GONE
    assert found.outcome is DocumentOutcome.LEFT


@pytest.mark.parametrize(("is_final", "outcome"), [(True, "again"), (False, "failed")])
def test_a_failure_nobody_explains_is_tried_again_where_bedrock_does_not(
    *, is_final: bool, outcome: str
) -> None:
    told = verdict(a_document(), evidence("FAILED", is_final=is_final, is_overdue=True))

    assert told.outcome == outcome


def test_calls_that_are_overdue_never_let_an_earlier_version_count() -> None:
    catalog = Catalog(
        catalog_id="cat",
        user_id="alice",
        name="research",
        s3_prefix="alice/research/",
        created_at=NOW,
        updated_at=NOW,
    )
    nobody = FakeKnowledgeBase()
    shared = SharedSource(
        investigation=Investigation(
            inspections=FakeInspectionResults(),
            search_check=SearchCheck(knowledge_base=lambda _: nobody),
        ),
        now=lambda: NOW + timedelta(seconds=DEADLINE + 1),
    )
    earlier = {"doc": DocumentDetail(status="INDEXED", updated_at=NOW - timedelta(seconds=1))}

    [(_, told)] = shared.decide_on(catalog, [a_document()], earlier, accepted_at=NOW)

    assert told.outcome is DocumentOutcome.FAILED
