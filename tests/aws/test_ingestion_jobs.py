"""Ingestion jobs, direct ingestion and documents' verdicts, against botocore's own model."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from stackroom.aws.bedrock.bedrock_ingestion_jobs import _STATES, BedrockIngestionJobs
from stackroom.aws.bedrock.direct_documents import BedrockDirectDocuments
from stackroom.errors import DocumentsRefused, KnowledgeBaseUnavailable
from stackroom.model.records import DataSource, DataSourceType
from stackroom.runs.bedrock_calls import Busy, DocumentDetail, Job, JobState, Submission
from stackroom.runs.evidence import KNOWN_STATUSES

# As users met them: AWS re:Post, HatmanStack/RAGStack-Lambda lib/ragstack_common/ingestion.py
BUSY = [
    ("ConflictException", "maximum number of concurrent ingestion jobs per knowledge base: 1", 409),
    ("ThrottlingException", "Rate exceeded", 429),
    ("ServiceQuotaExceededException", "5 ingestion jobs run in this account", 402),
    ("ValidationException", "There is an ongoing KnowledgeBaseDocuments API request", 400),
    ("ValidationException", "There is at least one running ingestion job", 400),
    (
        "ValidationException",
        "sum of concurrent IngestKnowledgeBaseDocuments and DeleteKnowledgeBaseDocuments "
        "requests can't exceed (10)",
        400,
    ),
    ("ValidationException", "An ingestion is already In Progress for this data source", 400),
    ("ValidationException", "Exceeded the number of concurrent requests", 400),
    ("ValidationException", "The data source is being updated, try again later", 400),
]
NOT_BUSY = [
    ("ValidationException", "clientToken must have a length of 33 or more", 400),
    ("ResourceNotFoundException", "Data source DS12345678 is not found", 404),
    ("AccessDeniedException", "not authorized for ongoing/running role that can't exceed", 403),
]


SERVICE = "bedrock-agent"  # of the fixture `client`

SOURCE = DataSource(knowledge_base_id="KB12345678", data_source_id="DS12345678")
IDS = {"knowledgeBaseId": "KB12345678", "dataSourceId": "DS12345678"}
TOKEN = "t" * 64
NOW = datetime(2026, 2, 3, 10, 30, tzinfo=UTC)


@pytest.fixture
def jobs(client: Any) -> BedrockIngestionJobs:
    return BedrockIngestionJobs(client=client)


def start(jobs: BedrockIngestionJobs) -> Job | Busy:
    return jobs.start(SOURCE, token=TOKEN, description="cat-1 run 1 round 0")


def a_job(status: str = "STARTING", job_id: str = "JOB1234567", **members: Any) -> dict[str, Any]:
    return {
        **IDS,
        "ingestionJobId": job_id,
        "status": status,
        "startedAt": NOW,
        "updatedAt": NOW,
        **members,
    }


def a_document(uri: str, status: str = "INDEXED", **members: Any) -> dict[str, Any]:
    identifier = {"dataSourceType": "S3", "s3": {"uri": uri}}
    return {**IDS, "identifier": identifier, "status": status, "updatedAt": NOW, **members}


def test_busy_answers_are_back_pressure_and_other_errors_are_raised(
    jobs: BedrockIngestionJobs, stubber: Stubber
) -> None:
    for code, message, status in BUSY:
        stubber.add_client_error("start_ingestion_job", code, message, status)
        assert start(jobs) == Busy(why=f"{code}: {message}")
    for code, message, status in NOT_BUSY:
        stubber.add_client_error("start_ingestion_job", code, message, status)
        with pytest.raises(ClientError, match=code):
            start(jobs)


def test_each_status_of_the_api_model_is_known(client: Any) -> None:
    model = client.meta.service_model

    assert set(_STATES) == set(model.shape_for("IngestionJobStatus").enum)
    assert set(KNOWN_STATUSES) == set(model.shape_for("DocumentStatus").enum)
    over = {"COMPLETE": JobState.COMPLETE, "FAILED": JobState.FAILED, "STOPPED": JobState.STOPPED}
    for status, state in _STATES.items():
        assert state is over.get(status, JobState.RUNNING)


def test_job_statistics_and_reasons_are_read_and_unknown_job_is_none(
    jobs: BedrockIngestionJobs, stubber: Stubber
) -> None:
    reasons = ["one", '["two", "three"]', "4"]
    job = a_job("FAILED", statistics={"numberOfDocumentsFailed": 2}, failureReasons=reasons)
    asked = {**IDS, "ingestionJobId": "JOB1234567"}
    stubber.add_response("get_ingestion_job", {"ingestionJob": job}, asked)
    stubber.add_client_error("get_ingestion_job", "ResourceNotFoundException", "no job", 404)

    found = jobs.get(SOURCE, "JOB1234567")

    assert found is not None
    assert (found.state, found.failed_documents) == (JobState.FAILED, 2)
    assert found.failure_reasons == ("one", "two", "three", "4")
    assert jobs.get(SOURCE, "JOB1234567") is None


def test_our_own_job_is_looked_for_among_the_newest(
    jobs: BedrockIngestionJobs, stubber: Stubber
) -> None:
    summaries = [a_job("IN_PROGRESS", "JOB0000003", description="ours"), a_job("COMPLETE")]
    newest_first = {"attribute": "STARTED_AT", "order": "DESCENDING"}
    listed = {"ingestionJobSummaries": summaries}
    stubber.add_response("list_ingestion_jobs", listed, {**IDS, "sortBy": newest_first})

    found = jobs.running(SOURCE, description="ours")

    assert found is not None
    assert found.job_id == "JOB0000003"


def test_statuses_of_documents_are_requested_ten_at_a_time(
    jobs: BedrockIngestionJobs, stubber: Stubber
) -> None:
    uris = [f"s3://docs/alice/r/{number:02} é.txt" for number in range(12)]
    for part in (uris[:10], uris[10:]):
        identifiers = [{"dataSourceType": "S3", "s3": {"uri": uri}} for uri in part]
        stubber.add_response(
            "get_knowledge_base_documents",
            {"documentDetails": [a_document(uri) for uri in part]},
            {**IDS, "documentIdentifiers": identifiers},
        )

    verdicts = jobs.details(SOURCE, uris)

    assert verdicts == {uri: DocumentDetail(status="INDEXED", updated_at=NOW) for uri in uris}


def test_details_of_many_documents_are_listed_and_only_asked_ones_returned(
    jobs: BedrockIngestionJobs, stubber: Stubber
) -> None:
    uris = [f"s3://docs/alice/r/{number:02}.txt" for number in range(51)]
    ignored = a_document(uris[0], "IGNORED", statusReason="too large")
    custom = {**a_document(""), "identifier": {"dataSourceType": "CUSTOM", "custom": {"id": "x"}}}
    first = {"documentDetails": [ignored, custom], "nextToken": "more"}
    rest = [a_document(uri) for uri in [*uris[1:50], "s3://docs/alice/r/other.txt"]]
    asked = {**IDS, "maxResults": 1000}
    stubber.add_response("list_knowledge_base_documents", first, asked)
    stubber.add_response(
        "list_knowledge_base_documents", {"documentDetails": rest}, {**asked, "nextToken": "more"}
    )

    verdicts = jobs.details(SOURCE, uris)

    assert set(verdicts) == set(uris[:50])
    assert verdicts[uris[0]] == DocumentDetail(status="IGNORED", updated_at=NOW, reason="too large")


def test_verdicts_are_listed_where_an_identifier_would_be_too_long(
    jobs: BedrockIngestionJobs, stubber: Stubber
) -> None:
    # S3BucketUri [API model]: s3://.{1,128}
    uris = ["s3://docs/alice/r/short.txt", f"s3://docs/{'x' * 124}"]
    stubber.add_response(
        "list_knowledge_base_documents",
        {"documentDetails": [a_document(uri) for uri in uris]},
        {**IDS, "maxResults": 1000},
    )

    assert set(jobs.details(SOURCE, uris)) == set(uris)


@pytest.mark.parametrize(
    ("managed", "most"), [(frozenset(), 1000), ({SOURCE.knowledge_base_id}, 100)]
)
def test_a_managed_knowledge_base_lists_shorter_pages(
    client: Any, stubber: Stubber, managed: Any, most: int
) -> None:
    asked = {**IDS, "maxResults": most}
    stubber.add_response("list_knowledge_base_documents", {"documentDetails": []}, asked)
    jobs = BedrockIngestionJobs(client=client, managed=managed)

    assert jobs.details(SOURCE, [f"s3://docs/{number}" for number in range(51)]) == {}
    stubber.assert_no_pending_responses()


CUSTOM = DataSource(
    knowledge_base_id="KB12345678", data_source_id="DS12345678", type=DataSourceType.CUSTOM
)
SUBMISSION = Submission(
    document_id="doc-1",
    uri=f"s3://docs/alice/{'x' * 500} é.pdf",  # longer than an S3 data source's identifiers may be
    attributes={"user_id": "alice", "domain": ["law", "tax"], "year": 2026, "public": True},
)
UNAVAILABLE = ("ServiceUnavailableException", "Service is unable to process request", 503)
OPERATIONS = ["ingest_knowledge_base_documents", "delete_knowledge_base_documents"]


@pytest.fixture
def direct(client: Any) -> BedrockDirectDocuments:
    return BedrockDirectDocuments(client=client)


def call(direct: BedrockDirectDocuments, operation: str) -> dict[str, DocumentDetail] | Busy:
    calls: dict[str, Callable[[], dict[str, DocumentDetail] | Busy]] = {
        "ingest_knowledge_base_documents": lambda: direct.ingest(CUSTOM, [SUBMISSION], token=TOKEN),
        "delete_knowledge_base_documents": lambda: direct.delete(CUSTOM, ["doc-1"], token=TOKEN),
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
                {"key": "year", "value": {"type": "NUMBER", "numberValue": 2026}},
                {"key": "public", "value": {"type": "BOOLEAN", "booleanValue": True}},
            ],
        },
    }
    stubber.add_response(
        "ingest_knowledge_base_documents",
        {"documentDetails": [a_detail("doc-1", "STARTING")]},
        {**IDS, "clientToken": TOKEN, "documents": [document]},
    )

    answer = direct.ingest(CUSTOM, [SUBMISSION], token=TOKEN)

    assert answer == {"doc-1": DocumentDetail(status="STARTING", updated_at=NOW)}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_answers_to_direct_calls_that_mean_later_are_back_pressure(
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


def test_a_refusal_that_repeats_a_uri_is_not_read_by_its_words(
    direct: BedrockDirectDocuments, stubber: Stubber
) -> None:
    running = replace(SUBMISSION, uri="s3://docs/alice/cat-1/running in progress.txt")
    message = f"Value '{running.uri}' must satisfy a pattern"
    operation = "ingest_knowledge_base_documents"
    stubber.add_client_error(operation, "ValidationException", message, 400)

    with pytest.raises(DocumentsRefused, match="must satisfy a pattern"):
        direct.ingest(CUSTOM, [running], token=TOKEN)


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

    verdicts = direct.details(CUSTOM, [*document_ids, "doc-000"])

    assert verdicts == {
        each: DocumentDetail(status="INDEXED", updated_at=NOW) for each in document_ids
    }
