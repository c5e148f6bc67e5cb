"""Each operation of AWS that the product calls, through the adapters that call it."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest import mock

import functions.webhook_sender.handler as webhook_sender
from stackroom.aws.bedrock.bedrock_adapter import BedrockKnowledgeBase
from stackroom.aws.bedrock.bedrock_data_sources import BedrockDataSources
from stackroom.aws.bedrock.bedrock_ingestion_jobs import BedrockIngestionJobs
from stackroom.aws.bedrock.bedrock_reranking import BedrockReranker
from stackroom.aws.bedrock.converse import ConverseWriter
from stackroom.aws.bedrock.direct_documents import BedrockDirectDocuments
from stackroom.aws.bedrock.guardrail import Guardrail
from stackroom.aws.bedrock.question_embeddings import BedrockEmbeddings
from stackroom.aws.bedrock.question_guard import QuestionGuard
from stackroom.aws.cloudwatch.cloudwatch_boards import CloudWatchBoards
from stackroom.aws.dynamodb.inspection_records import DynamoInspections
from stackroom.aws.dynamodb.items import get_all, query, scan
from stackroom.aws.dynamodb.table import DynamoTable, transact
from stackroom.aws.error_mapping import model_errors
from stackroom.aws.eventbridge.event_bus import DefaultEventBus
from stackroom.aws.listed_inventory import AwsInventory
from stackroom.aws.s3.document_bucket import S3DocumentBucket, S3Files
from stackroom.aws.s3.document_texts import S3DocumentTexts
from stackroom.aws.s3.foreign_objects import S3Objects, SqsAnswers
from stackroom.aws.s3.presigned_transfers import S3Transfers
from stackroom.aws.s3vectors.index_creation import S3VectorsIndexes
from stackroom.aws.s3vectors.index_presence import IndexPresence
from stackroom.aws.session import secret_text
from stackroom.aws.sqs.object_events import SqsInspectionRequests
from stackroom.aws.sqs.webhook_queue import SqsWebhookQueue
from stackroom.aws.stepfunctions.executions import StepFunctionsExecutions, StepFunctionsTaskTokens
from stackroom.aws.textract.text_detection import TextractDetection
from stackroom.catalogs.changes import change_of
from stackroom.catalogs.webhooks import WebhookCall
from stackroom.model.keys import TextName
from stackroom.model.records import DataSource, DataSourceType
from stackroom.model.repositories import Inspected
from stackroom.runs.bedrock_calls import Submission
from stackroom.text.document_text import text_of
from stackroom.text.extraction import Page
from stackroom_agents.agent_sessions import AgentSessions
from tests.support.records import NOW, a_document

Call = Callable[[Any], object]

KB, DS, TOKEN = "KB12345678", "DS12345678", "t" * 64
S3 = DataSource(knowledge_base_id=KB, data_source_id=DS)
CUSTOM = DataSource(knowledge_base_id=KB, data_source_id=DS, type=DataSourceType.CUSTOM)
SUBMISSION = Submission(
    document_id="doc-1", uri="s3://docs/alice/cat-1/a.txt", attributes={"user_id": "alice"}
)
MODEL = "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-lite-v1:0"
INDEX = "arn:aws:s3vectors:us-east-1:123456789012:bucket/vectors/index/documents"
MACHINE = "arn:aws:states:us-east-1:123456789012:stateMachine:ingest"
KEY = {"pk": {"S": "a"}}
TEXT = TextName("alice", "cat-1", "doc-1", "0123456789abcdef")
QUEUE = "https://sqs.us-east-1.amazonaws.com/123456789012/queue"
EVENT: Any = change_of(None, a_document(1), event_id="e-1", at=NOW)
MESSAGE = {"receiptHandle": "r", "attributes": {"ApproximateReceiveCount": "1"}}


def _table(client: Any) -> DynamoTable:
    return DynamoTable(client=client, table="table")


def _inventory(client: Any) -> AwsInventory:
    """Return an inventory with one service's client."""
    return AwsInventory(
        s3=client, dynamodb=client, bedrock_agent=client, bucket="docs", catalog_table="table"
    )


def _objects(client: Any) -> S3DocumentBucket:
    return S3DocumentBucket(client=client, bucket="docs")


def _files(client: Any) -> S3Files:
    return S3Files(client=client, bucket="docs")


def _texts(client: Any) -> S3DocumentTexts:
    return S3DocumentTexts(client, "docs")


def _sources(client: Any) -> BedrockDataSources:
    return BedrockDataSources(client=client, bucket="docs")


def _jobs(client: Any) -> BedrockIngestionJobs:
    return BedrockIngestionJobs(client=client)


def _direct(client: Any) -> BedrockDirectDocuments:
    return BedrockDirectDocuments(client=client)


def _executions(client: Any) -> StepFunctionsExecutions:
    return StepFunctionsExecutions(client=client, state_machine_arn=MACHINE)


def _indexes(client: Any) -> S3VectorsIndexes:
    return S3VectorsIndexes(client)


def _boards(client: Any) -> object:
    return CloudWatchBoards(client=client, name="board").read(end=NOW)


def _create(client: Any) -> object:
    return _sources(client).create(
        KB, "cat-1", source_type=DataSourceType.S3, prefix="alice/cat-1/", token=TOKEN
    )


def _removed(client: Any, status: str) -> bool:
    found: dict[str, Any] = {
        "knowledgeBaseId": KB,
        "dataSourceId": DS,
        "status": status,
        "name": "cat-1",
    }
    found["dataSourceConfiguration"] = {"type": "CUSTOM"}
    with mock.patch.object(BedrockDataSources, "_get", return_value=found):
        return _sources(client).remove(KB, DS)


def _query_vectors(client: Any) -> object:
    presence = IndexPresence(client, INDEX)
    vars(presence)["_any_vector"] = [1.0]  # as if GetIndex had been asked
    return presence.retrieve("", None, 5)


def _put(client: Any) -> object:
    transfers = S3Transfers(client=client, bucket="docs")
    return transfers.put("a", b"a", content_type="text/plain", attributes={}, replace=True)


def _converse_stream(client: Any) -> None:
    """Strands makes the call; what becomes of its error is ours (event_conversation.py)."""
    with model_errors("ConverseStream"):
        client.converse_stream(
            modelId=MODEL, messages=[{"role": "user", "content": [{"text": "?"}]}]
        )


def _put_off(client: Any) -> None:
    settings = SimpleNamespace(ingest_speed=1.0, webhooks_queue_url=QUEUE)
    with mock.patch.multiple(webhook_sender, client=lambda _: client, settings=lambda: settings):
        webhook_sender.delay(MESSAGE)


CALLS: dict[str, tuple[Call, ...]] = {
    "s3.GetObject": (
        lambda client: _objects(client).sidecar_of("alice/cat-1/a.txt"),
        lambda client: _files(client).read("a", limit=9),
        lambda client: _texts(client).get(TEXT),
        lambda client: AgentSessions(client=client, bucket="sessions").read("alice", "s-1"),
    ),
    "s3.HeadObject": (
        lambda client: _objects(client).head("alice/cat-1/a.txt"),
        lambda client: _files(client).version_of("a"),
        lambda client: S3Objects(client=client).read("others", "a", limit=9),
    ),
    "s3.PutObject": (
        _put,
        lambda client: _objects(client).write_sidecar("alice/cat-1/a.txt", b"{}"),
        lambda client: _texts(client).put(TEXT, text_of([Page(None, "a")], "a.txt")),
        lambda client: AgentSessions(client=client, bucket="docs").write("alice", "s-1", b"{}"),
    ),
    "s3.DeleteObject": (lambda client: _objects(client).remove("alice/cat-1/a.txt"),),
    "s3.DeleteObjects": (
        lambda client: _objects(client)._delete([{"Key": "a", "VersionId": "v"}]),
        lambda client: _texts(client).remove([TEXT]),
    ),
    "s3.ListObjectsV2": (
        lambda client: _inventory(client).objects(),
        lambda client: _objects(client).holds_any("alice/"),
        lambda client: _texts(client).names("alice", "cat-1", "doc-1"),
    ),
    "s3.ListObjectVersions": (
        lambda client: _objects(client).versions_since("alice/", NOW),
        lambda client: list(_objects(client)._pages_of_versions("alice/")),
        lambda client: _objects(client).version_of("alice/cat-1/a.txt"),
    ),
    "dynamodb.GetItem": (lambda client: _table(client)._get(KEY),),
    "dynamodb.PutItem": (
        lambda client: _table(client)._keep(KEY),
        lambda client: _table(client)._put(KEY, condition="attribute_not_exists(pk)"),
        lambda client: DynamoInspections(client=client, table="table").record(
            "doc-1", "e", Inspected()
        ),
    ),
    "dynamodb.UpdateItem": (lambda client: _table(client)._update(KEY, "SET a = :a", {":a": 1}),),
    "dynamodb.DeleteItem": (
        lambda client: _table(client)._remove(KEY),
        lambda client: _table(client)._delete(KEY, condition="a = :a", values={":a": 1}),
    ),
    "dynamodb.Query": (lambda client: list(query(client, TableName="table")),),
    "dynamodb.Scan": (
        lambda client: list(scan(client, TableName="table")),
        lambda client: _inventory(client).records(None),
        lambda client: _inventory(client).all_catalogs(None),
    ),
    "dynamodb.BatchGetItem": (lambda client: list(get_all(client, "table", [KEY])),),
    "dynamodb.TransactWriteItems": (
        lambda client: transact(client, {"Put": {"TableName": "table", "Item": KEY}}),
    ),
    "bedrock-agent.CreateDataSource": (_create,),
    "bedrock-agent.ListDataSources": (
        lambda client: _sources(client).all(KB),
        lambda client: _inventory(client).source_ids(KB),
    ),
    "bedrock-agent.GetDataSource": (
        lambda client: _sources(client).is_available(KB, DS),
        lambda client: _inventory(client).source(KB, DS),
    ),
    "bedrock-agent.UpdateDataSource": (
        lambda client: _removed(client, status="DELETE_UNSUCCESSFUL"),
    ),
    "bedrock-agent.DeleteDataSource": (lambda client: _removed(client, status="AVAILABLE"),),
    "bedrock-agent.StartIngestionJob": (
        lambda client: _jobs(client).start(S3, token=TOKEN, description="d"),
    ),
    "bedrock-agent.ListIngestionJobs": (lambda client: _jobs(client).running(S3, description="d"),),
    "bedrock-agent.GetIngestionJob": (lambda client: _jobs(client).get(S3, "JOB1234567"),),
    "bedrock-agent.StopIngestionJob": (lambda client: _jobs(client).stop(S3, "JOB1234567"),),
    "bedrock-agent.GetKnowledgeBaseDocuments": (
        lambda client: _jobs(client).details(S3, [SUBMISSION.uri]),
        lambda client: _direct(client).details(CUSTOM, ["doc-1"]),
    ),
    "bedrock-agent.ListKnowledgeBaseDocuments": (
        lambda client: _jobs(client).details(S3, [f"{SUBMISSION.uri}{'x' * 128}"]),
        lambda client: _inventory(client).indexed(S3, "page-2"),
    ),
    "bedrock-agent.IngestKnowledgeBaseDocuments": (
        lambda client: _direct(client).ingest(CUSTOM, [SUBMISSION], token=TOKEN),
    ),
    "bedrock-agent.DeleteKnowledgeBaseDocuments": (
        lambda client: _direct(client).delete(CUSTOM, ["doc-1"], token=TOKEN),
    ),
    "bedrock-agent-runtime.Retrieve": (
        lambda client: BedrockKnowledgeBase(client, KB).retrieve("leave", None, 5),
    ),
    "bedrock-agent-runtime.Rerank": (
        lambda client: BedrockReranker(client, model_arn=MODEL).rank("leave", ["a", "b"]),
    ),
    "s3vectors.GetIndex": (
        lambda client: _indexes(client).state(INDEX),
        lambda client: IndexPresence(client, INDEX)._any_vector,
    ),
    "s3vectors.UpdateIndexMode": (lambda client: _indexes(client).enhance(INDEX),),
    "s3vectors.UpdateMetadataConfiguration": (
        lambda client: _indexes(client).add_text_search(INDEX, None),
    ),
    "s3vectors.QueryVectors": (_query_vectors,),
    "s3vectors.PutVectorBucketDefaultIndexMode": (
        lambda client: _indexes(client).enhance_those_to_come(INDEX.partition("/index/")[0]),
    ),
    "bedrock-runtime.InvokeModel": (
        lambda client: BedrockEmbeddings(client=client, model=MODEL, dimensions=2).embed("a"),
    ),
    "bedrock-runtime.ApplyGuardrail": (
        lambda client: QuestionGuard(
            client=client, guardrail=Guardrail(id="gr1", version="1")
        ).lets_through("leave"),
    ),
    "bedrock-runtime.Converse": (
        lambda client: ConverseWriter(client, model_arn=MODEL).write("leave", ["30 days"]),
    ),
    "bedrock-runtime.ConverseStream": (_converse_stream,),
    "sqs.ChangeMessageVisibility": (_put_off,),
    "sqs.SendMessage": (
        lambda client: SqsWebhookQueue(client=client, url=QUEUE).put(
            WebhookCall(webhook_id="wh-1", event={"id": "e-1"}), record="doc-1"
        ),
        lambda client: SqsAnswers(client=client, url=QUEUE).send("{}", message_id="m-1"),
    ),
    "sqs.SendMessageBatch": (
        lambda client: SqsInspectionRequests(client=client, url=QUEUE, bucket="docs").ask("a"),
    ),
    "events.PutEvents": (lambda client: DefaultEventBus(client=client).put([EVENT]),),
    "secretsmanager.GetSecretValue": (lambda client: secret_text(client, "secret"),),
    "cloudwatch.GetDashboard": (_boards,),
    "cloudwatch.DescribeAlarms": (_boards,),
    "cloudwatch.GetMetricData": (_boards,),
    "stepfunctions.StartExecution": (lambda client: _executions(client).start("cat-1-1", {}),),
    "stepfunctions.ListExecutions": (lambda client: _executions(client).newest(limit=5, failed=5),),
    "stepfunctions.GetExecutionHistory": (
        lambda client: _executions(client).newest(limit=5, failed=5),
    ),
    "stepfunctions.DescribeExecution": (lambda client: _executions(client).is_running("cat-1-1"),),
    "stepfunctions.SendTaskSuccess": (
        lambda client: StepFunctionsTaskTokens(client=client).wake("token"),
    ),
    "textract.DetectDocumentText": (
        lambda client: TextractDetection(client=client).lines(b"picture"),
    ),
}
