"""The schemas of events are those of the models, valid as what they are registered as, and hold."""

import json
from typing import Any

import jsonschema
import pytest

from functions.event_publisher.schemas import schema_file
from stackroom.catalogs.changes import DETAIL_TYPES, Stated, change_of
from stackroom.model.records import CatalogStatus, DocumentStatus
from tests.support.records import NOW, REACHED, a_catalog, a_document, a_receipt

FAILED = a_document(status=DocumentStatus.FAILED, status_reason="it has no text", receipt_id="r")
READY, DELETING = a_catalog(), a_catalog(status=CatalogStatus.DELETING)


@pytest.mark.parametrize("detail_type", DETAIL_TYPES)
def test_the_schema_is_one_that_the_registry_takes(detail_type: str) -> None:
    jsonschema.Draft4Validator.check_schema(json.loads(schema_file(detail_type)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (None, a_document(correlation_id="c")),
        (a_document(status=DocumentStatus.DELETING), None),
        (None, READY),
        (DELETING, None),
        (a_receipt(), a_receipt(superseded_at=NOW)),
        (None, REACHED),
    ],
)
def test_only_events_that_match_the_schema_are_valid(
    old: Stated | None, new: Stated | None
) -> None:
    event = change_of(old, new, event_id="e-1", at=NOW)
    assert event is not None
    schema = json.loads(schema_file(event.detail_type))
    validator = jsonschema.Draft4Validator(
        schema, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER
    )

    validator.validate(event.to_json())

    for wrong in ({"state": "lost"}, {"user_id": None}, {"schema_version": "2"}):
        told: dict[str, Any] = event.to_json()
        assert not validator.is_valid({**told, "detail": {**told["detail"], **wrong}})
    for lacking in ("source", "time"):
        assert not validator.is_valid({k: v for k, v in event.to_json().items() if k != lacking})
    detail = {k: v for k, v in event.to_json()["detail"].items() if k != "schema_version"}
    assert not validator.is_valid({**event.to_json(), "detail": detail})
