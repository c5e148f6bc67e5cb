"""Which changes of a record are events of its owner's, and what they tell."""

from datetime import timedelta
from typing import Any

import pytest

from stackroom.catalogs.changes import DocumentChanged, Stated, change_of
from stackroom.model.records import CatalogStatus, DocumentStatus
from tests.support.records import NEAR, NOW, REACHED, a_catalog, a_document, a_receipt

LATER = NOW + timedelta(hours=1)
INDEXING = a_document(status=DocumentStatus.INDEXING, version=8)
TO_COME = a_document(status=DocumentStatus.UPLOADING, upload_until=LATER)
REMOVED = a_receipt(not_found_at=NOW, unsearchable_since=NOW)


def event_details(old: Stated | None, new: Stated | None) -> dict[str, Any] | None:
    event = change_of(old, new, event_id="e-1", at=NOW)
    return event.to_json() if event else None


@pytest.mark.parametrize(
    ("old", "new", "states"),
    [
        (None, a_document(), (None, "pending")),
        (a_document(), INDEXING, ("pending", "indexing")),
        (None, TO_COME, (None, "uploading")),
        # What a tool has written itself waits like any other, its event yet to come.
        (a_document(status="uploading", etag="e"), a_document(etag="e"), None),
        (INDEXING, INDEXING.model_copy(update={"version": 9}), None),
        (a_document(status="deleting"), None, ("deleting", "deleted")),
        (TO_COME, None, ("uploading", "deleted")),
        (TO_COME.model_copy(update={"upload_until": NOW}), None, None),
        (None, a_catalog(), (None, "ready")),
        (a_catalog(), a_catalog(status=CatalogStatus.INDEXING), ("ready", "indexing")),
        (a_catalog(), a_catalog(document_count=3), None),
        (a_catalog(status=CatalogStatus.DELETING), None, ("deleting", "deleted")),
        (None, a_receipt(), (None, "asked")),
        (a_receipt(), a_receipt(not_found_at=NOW), None),
        (a_receipt(not_found_at=NOW), REMOVED, ("asked", "removed")),
        (a_receipt(), a_receipt(superseded_at=NOW), ("asked", "superseded")),
        (REMOVED, a_receipt(found_again_at=NOW), ("removed", "found_again")),
        (REMOVED, None, None),
        (None, NEAR, (None, "near")),
        (None, REACHED, (None, "reached")),
        (NEAR, None, None),
        (None, None, None),
    ],
)
def test_change_that_the_owner_can_see_is_an_event(
    old: Stated | None, new: Stated | None, states: tuple[str | None, str] | None
) -> None:
    found = event_details(old, new)

    seen = found and (found["detail"].get("previous_state"), found["detail"]["state"])
    assert seen == states


def test_document_event_has_its_owner_reason_and_version() -> None:
    failed = a_document(
        status=DocumentStatus.FAILED,
        status_reason="it has no text",
        version=9,
        updated_at=LATER,
        correlation_id="c-1",
    )

    assert event_details(INDEXING, failed) == {
        "id": "e-1",
        "source": "stackroom",
        "detail-type": "Document State Changed",
        "time": "2026-02-03T10:30:00Z",
        "detail": {
            "schema_version": "1",
            "event_id": "e-1",
            "user_id": "alice",
            "at": "2026-02-03T11:30:00Z",
            "catalog_id": "cat-1",
            "document_id": "doc-0001",
            "filename": "Résumé 1.pdf",
            "state": "failed",
            "previous_state": "indexing",
            "reason": "it has no text",
            "version": 9,
            "correlation_id": "c-1",
        },
    }


def test_gaps_that_are_found_after_a_document_was_indexed_are_an_event() -> None:
    gaps = ("1 of 2 pages looks garbled: 2",)
    indexed = a_document(status=DocumentStatus.INDEXED)

    found = event_details(indexed, indexed.model_copy(update={"gaps": gaps}))

    assert found is not None
    assert (found["detail"]["state"], found["detail"]["gaps"]) == ("indexed", list(gaps))
    assert event_details(indexed, indexed) is None


def test_a_removal_comes_after_the_last_version_of_what_was_removed() -> None:
    event = change_of(a_document(version=9, status="deleting"), None, event_id="e-1", at=NOW)

    assert event is not None
    assert isinstance(event.detail, DocumentChanged)
    assert event.detail.version == 10


def test_a_file_that_lies_in_no_catalog_is_its_users_all_the_same() -> None:
    stray = a_document(catalog_id="REJECTED#alice", s3_key="alice/stray.pdf", status="failed")

    found = event_details(None, stray)

    assert found is not None
    assert found["detail"]["user_id"] == "alice"
    assert "catalog_id" not in found["detail"]
