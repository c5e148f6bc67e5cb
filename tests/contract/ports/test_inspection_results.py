"""What every `InspectionResults` promises: what is wrong with just the versions asked about."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from stackroom.aws.inspections import DynamoInspections
from stackroom.model import Document
from stackroom.ports.inspection import InspectionResults
from tests.aws.stores import CONTROL_TABLE
from tests.fakes.pipeline import FakeInspectionResults
from tests.records import a_document


@dataclass(frozen=True)
class Inspected:
    """InspectionResults, and the inspection that makes them."""

    port: InspectionResults
    find: Callable[[Document, str], None]


@pytest.fixture(params=["fake", "dynamodb"])
def inspected(request: pytest.FixtureRequest) -> Inspected:
    if request.param == "fake":
        fake = FakeInspectionResults()
        return Inspected(fake, lambda document, why: fake.reasons.update({document.etag: why}))
    kept = DynamoInspections(client=request.getfixturevalue("dynamodb"), table=CONTROL_TABLE)
    return Inspected(kept, lambda each, why: kept.record(each.document_id, each.etag, why))


def test_defects_are_told_by_document_and_are_those_of_the_version_that_has_them(
    inspected: Inspected,
) -> None:
    inspected.find(a_document(1, etag="etag-1"), "the PDF is encrypted")
    inspected.find(a_document(2, etag="of the old"), "the PDF is damaged")

    old = inspected.port.reasons_for(
        [a_document(1, etag="etag-1"), a_document(2, etag="of the old")]
    )
    new = inspected.port.reasons_for(
        [a_document(1, etag="etag-1"), a_document(2, etag="of the new"), a_document(3, etag="any")]
    )

    assert old == {"doc-0001": "the PDF is encrypted", "doc-0002": "the PDF is damaged"}
    assert new == {"doc-0001": "the PDF is encrypted"}
    assert inspected.port.reasons_for([]) == {}


def test_more_documents_than_one_request_takes_are_all_told_of(inspected: Inspected) -> None:
    documents = [a_document(number, etag=f"etag-{number}") for number in range(120)]
    for document in documents:
        inspected.find(document, f"of {document.document_id}")

    reasons = inspected.port.reasons_for(document for document in documents)

    assert reasons == {each.document_id: f"of {each.document_id}" for each in documents}
