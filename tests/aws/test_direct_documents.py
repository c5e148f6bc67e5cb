"""Direct ingestion, against botocore's own model of bedrock-agent."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from stackroom.aws.direct_documents import BedrockDirectDocuments
from stackroom.errors import DocumentsRefused, KnowledgeBaseThrottled, KnowledgeBaseUnavailable
from stackroom.model import DataSource, DataSourceType
from stackroom.ports.ingestion import Busy, DocumentDetail, Submission
from tests.aws.refusals import BUSY, NOT_BUSY

SERVICE = "bedrock-agent"  # of the fixture `client`

SOURCE = DataSource(
    knowledge_base_id="KB12345678", data_source_id="DS12345678", type=DataSourceType.CUSTOM
)
IDS = {"knowledgeBaseId": "KB12345678", "dataSourceId": "DS12345678"}
TOKEN = "t" * 64
NOW = datetime(2026, 2, 3, 10, 30, tzinfo=UTC)
SUBMISSION = Submission(
    document_id="doc-1",
    uri=f"s3://docs/alice/{'x' * 500} é.pdf",  # longer than an S3 data source's identifiers may be
    attributes={"user_id": "alice", "domain": ["law", "tax"]},
)
UNAVAILABLE = ("ServiceUnavailableException", "Service is unable to process request", 503)
OPERATIONS = ["ingest_knowledge_base_documents", "delete_knowledge_base_documents"]


@pytest.fixture
def direct(client: Any) -> BedrockDirectDocuments:
    return BedrockDirectDocuments(client=client)


def call(direct: BedrockDirectDocuments, operation: str) -> dict[str, DocumentDetail] | Busy:
    calls: dict[str, Callable[[], dict[str, DocumentDetail] | Busy]] = {
        "ingest_knowledge_base_documents": lambda: direct.ingest(SOURCE, [SUBMISSION], token=TOKEN),
        "delete_knowledge_base_documents": lambda: direct.delete(SOURCE, ["doc-1"], token=TOKEN),
    }
    return calls[operation]()


def named(document_id: str) -> dict[str, Any]:
    return {"dataSourceType": "CUSTOM", "custom": {"id": document_id}}


def a_detail(document_id: str, status: str, **members: Any) -> dict[str, Any]:
    return {
        **IDS,
        "identifier": named(document_id),
        "status": status,
        "updatedAt": NOW,
        **members,
    }


def test_a_document_is_named_by_its_id_and_carries_its_attributes(
    direct: BedrockDirectDocuments, stubber: Stubber
) -> None:
    document = {
        "content": {
            "dataSourceType": "CUSTOM",
            "custom": {
                "customDocumentIdentifier": {"id": "doc-1"},
                "sourceType": "S3_LOCATION",
                "s3Location": {"uri": SUBMISSION.uri},
            },
        },
        "metadata": {
            "type": "IN_LINE_ATTRIBUTE",
            "inlineAttributes": [
                {"key": "user_id", "value": {"type": "STRING", "stringValue": "alice"}},
                {
                    "key": "domain",
                    "value": {"type": "STRING_LIST", "stringListValue": ["law", "tax"]},
                },
            ],
        },
    }
    stubber.add_response(
        "ingest_knowledge_base_documents",
        {"documentDetails": [a_detail("doc-1", "STARTING")]},
        {**IDS, "clientToken": TOKEN, "documents": [document]},
    )

    answer = direct.ingest(SOURCE, [SUBMISSION], token=TOKEN)

    assert answer == {"doc-1": DocumentDetail(status="STARTING", updated_at=NOW)}


def test_documents_are_deleted_by_their_ids(
    direct: BedrockDirectDocuments, stubber: Stubber
) -> None:
    details = [a_detail("doc-1", "DELETING"), a_detail("doc-2", "NOT_FOUND")]
    stubber.add_response(
        "delete_knowledge_base_documents",
        {"documentDetails": details},
        {**IDS, "clientToken": TOKEN, "documentIdentifiers": [named("doc-1"), named("doc-2")]},
    )

    answer = direct.delete(SOURCE, ["doc-1", "doc-2"], token=TOKEN)

    assert isinstance(answer, dict)
    assert {name: each.status for name, each in answer.items()} == {
        "doc-1": "DELETING",
        "doc-2": "NOT_FOUND",
    }


@pytest.mark.parametrize("count", [0, 11])
def test_a_call_takes_one_to_ten_documents(direct: BedrockDirectDocuments, count: int) -> None:
    with pytest.raises(AssertionError, match="one to ten"):
        direct.ingest(SOURCE, [SUBMISSION] * count, token=TOKEN)
    with pytest.raises(AssertionError, match="one to ten"):
        direct.delete(SOURCE, ["doc-1"] * count, token=TOKEN)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_answers_that_mean_later_are_back_pressure_and_those_that_mean_never_are_not(
    direct: BedrockDirectDocuments, stubber: Stubber, operation: str
) -> None:
    for code, message, status in (*BUSY, UNAVAILABLE):
        stubber.add_client_error(operation, code, message, status)
        assert call(direct, operation) == Busy(why=f"{code}: {message}")
    for code, message, status in NOT_BUSY:
        stubber.add_client_error(operation, code, message, status)
        is_of_documents = code == "ValidationException" and operation.startswith("ingest")
        with pytest.raises(DocumentsRefused if is_of_documents else ClientError) as refused:
            call(direct, operation)
        assert message in str(refused.value)
    stubber.add_client_error(operation, "InternalServerException", "oops", 500)
    with pytest.raises(KnowledgeBaseUnavailable):  # tried again under its token
        call(direct, operation)


def test_verdicts_are_asked_for_in_tens_and_never_listed(
    direct: BedrockDirectDocuments, stubber: Stubber
) -> None:
    document_ids = [f"doc-{number:03}" for number in range(61)]
    for start in range(0, 61, 10):
        part = document_ids[start : start + 10]
        stubber.add_response(
            "get_knowledge_base_documents",
            {"documentDetails": [a_detail(each, "INDEXED") for each in part]},
            {**IDS, "documentIdentifiers": [named(each) for each in part]},
        )

    verdicts = direct.details(SOURCE, [*document_ids, "doc-000"])

    assert verdicts == {
        each: DocumentDetail(status="INDEXED", updated_at=NOW) for each in document_ids
    }


def test_what_an_answer_says_and_leaves_out_is_read(
    direct: BedrockDirectDocuments, stubber: Stubber
) -> None:
    ignored = a_detail("doc-1", "IGNORED", statusReason="too large")
    stubber.add_response("get_knowledge_base_documents", {"documentDetails": [ignored]})

    verdicts = direct.details(SOURCE, ["doc-1", "doc-2"])

    assert verdicts == {
        "doc-1": DocumentDetail(status="IGNORED", updated_at=NOW, reason="too large"),
        "doc-2": DocumentDetail(status="NOT_FOUND", updated_at=None),
    }


def test_throttled_reads_are_tried_again_later(
    direct: BedrockDirectDocuments, stubber: Stubber
) -> None:
    operation = "get_knowledge_base_documents"
    stubber.add_client_error(operation, "ThrottlingException", "slow", 429)
    stubber.add_client_error(operation, "ServiceUnavailableException", "busy", 503)

    with pytest.raises(KnowledgeBaseThrottled, match="GetKnowledgeBaseDocuments"):
        direct.details(SOURCE, ["doc-1"])
    with pytest.raises(KnowledgeBaseUnavailable, match="GetKnowledgeBaseDocuments"):
        direct.details(SOURCE, ["doc-1"])
