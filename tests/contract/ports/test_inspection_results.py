"""What every `InspectionResults` promises: what is wrong with just the versions asked about."""

from dataclasses import dataclass
from typing import Protocol

import pytest

from stackroom.aws.inspections import DynamoInspections
from stackroom.model import Document
from stackroom.ports.inspection import InspectionResults
from tests.aws.stores import CONTROL_TABLE
from tests.fakes.pipeline import FakeInspectionResults
from tests.records import a_document


class InspectionResult(Protocol):
    """InspectionResults, and the inspection that makes them."""

    @property
    def port(self) -> InspectionResults: ...

    def find(self, document: Document, reason: str) -> None: ...


@dataclass(frozen=True)
class FakeInspected:
    port: FakeInspectionResults

    def find(self, document: Document, reason: str) -> None:
        self.port.reasons[document.etag] = reason


@dataclass(frozen=True)
class DynamoInspected:
    port: DynamoInspections

    def find(self, document: Document, reason: str) -> None:
        self.port.record(document.document_id, document.etag, reason)


@pytest.fixture(params=["fake", "dynamodb"])
def inspected(request: pytest.FixtureRequest) -> InspectionResult:
    if request.param == "fake":
        return FakeInspected(FakeInspectionResults())
    client = request.getfixturevalue("dynamodb")
    return DynamoInspected(DynamoInspections(client=client, table=CONTROL_TABLE))


def test_defects_are_told_by_document_and_are_those_of_the_version_that_has_them(
    inspected: InspectionResult,
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


def test_more_documents_than_one_request_takes_are_all_told_of(inspected: InspectionResult) -> None:
    documents = [a_document(number, etag=f"etag-{number}") for number in range(120)]
    for document in documents:
        inspected.find(document, f"of {document.document_id}")

    reasons = inspected.port.reasons_for(document for document in documents)

    assert reasons == {each.document_id: f"of {each.document_id}" for each in documents}
