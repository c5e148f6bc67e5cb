"""
What is deployed, behind the ports: an adapter for each store and service, made of settings.

Each is made when it is first asked for, and its module imported then: a function pays for what it
uses, in time (`make bench-cold`) as in settings. The use cases over them: app/use_cases.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from stackroom.aws import session

if TYPE_CHECKING:
    from collections.abc import Callable

    from stackroom.app.function_settings import Settings
    from stackroom.aws.bedrock.bedrock_data_sources import BedrockDataSources
    from stackroom.aws.bedrock.bedrock_ingestion_jobs import BedrockIngestionJobs
    from stackroom.aws.bedrock.direct_documents import BedrockDirectDocuments
    from stackroom.aws.cloudwatch.cloudwatch_boards import CloudWatchBoards
    from stackroom.aws.dynamodb.admission_records import DynamoAdmissionBook
    from stackroom.aws.dynamodb.agent_records import (
        DynamoAgentRuns,
        DynamoAgents,
        DynamoChats,
        SqsAgentRunQueue,
    )
    from stackroom.aws.dynamodb.bookmark import DynamoBookmark, DynamoIdParts
    from stackroom.aws.dynamodb.cap_records import DynamoCaps
    from stackroom.aws.dynamodb.catalog_records import DynamoCatalogRegister, DynamoCatalogs
    from stackroom.aws.dynamodb.document_names import DynamoDocumentNames
    from stackroom.aws.dynamodb.document_records import DynamoDocuments
    from stackroom.aws.dynamodb.event_records import DynamoEvents
    from stackroom.aws.dynamodb.feedback_records import DynamoFeedback
    from stackroom.aws.dynamodb.inspection_records import DynamoInspections
    from stackroom.aws.dynamodb.lease_records import DynamoLeases
    from stackroom.aws.dynamodb.receipt_records import DynamoReceipts
    from stackroom.aws.dynamodb.selection_records import DynamoSelections
    from stackroom.aws.dynamodb.slot_records import DynamoSlots
    from stackroom.aws.dynamodb.staying_documents import DynamoStayingDocuments
    from stackroom.aws.dynamodb.usage_records import DynamoUsage
    from stackroom.aws.dynamodb.webhook_records import DynamoWebhooks
    from stackroom.aws.dynamodb.worklist_records import DynamoWorklists
    from stackroom.aws.eventbridge.event_bus import DefaultEventBus
    from stackroom.aws.listed_inventory import AwsInventory
    from stackroom.aws.s3.document_bucket import S3DocumentBucket, S3Files
    from stackroom.aws.s3.document_texts import S3DocumentTexts
    from stackroom.aws.s3.presigned_transfers import S3Transfers
    from stackroom.aws.sqs.object_events import SqsInspectionRequests
    from stackroom.aws.sqs.webhook_queue import SqsWebhookQueue
    from stackroom.aws.stepfunctions.executions import (
        StepFunctionsExecutions,
        StepFunctionsTaskTokens,
    )
    from stackroom.model.passages import KnowledgeBase
    from stackroom.model.records import PoolMember
    from stackroom.reconciler.audit_rounds import Rounds
    from stackroom.search.cached_embeddings import CachedEmbeddings, CacheTally
    from stackroom.search.rate_limiter import TokenBucket
    from stackroom.stores.entries import PoolSearch
    from stackroom.stores.s3vectors.index_creation import S3VectorsIndexes


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """
    `client` answers the boto3 client of a service; in `cache_tally` is counted how often the vector
    of a question was there already.

    Asking for what needs a variable that `settings` doesn't have raises SettingMissing.
    """

    settings: Settings
    client: Callable[[str], Any] = session.client
    cache_tally: CacheTally | None = None

    @cached_property
    def catalogs(self) -> DynamoCatalogs:
        """To be read and changed; `register` opens and closes them, too."""
        from stackroom.aws.dynamodb.catalog_records import DynamoCatalogs

        return DynamoCatalogs(client=self._dynamodb, table=self._catalog_table)

    @cached_property
    def register(self) -> DynamoCatalogRegister:
        from stackroom.aws.dynamodb.catalog_records import DynamoCatalogRegister

        return DynamoCatalogRegister(
            client=self._dynamodb, table=self._catalog_table, control_table=self._control_table
        )

    @cached_property
    def documents(self) -> DynamoDocuments:
        from stackroom.aws.dynamodb.document_records import DynamoDocuments

        return DynamoDocuments(client=self._dynamodb, table=self._catalog_table)

    @cached_property
    def document_names(self) -> DynamoDocumentNames:
        from stackroom.aws.dynamodb.document_names import DynamoDocumentNames

        return DynamoDocumentNames(client=self._dynamodb, table=self._catalog_table)

    @cached_property
    def staying_documents(self) -> DynamoStayingDocuments:
        from stackroom.aws.dynamodb.staying_documents import DynamoStayingDocuments

        return DynamoStayingDocuments(client=self._dynamodb, table=self._catalog_table)

    @cached_property
    def receipts(self) -> DynamoReceipts:
        from stackroom.aws.dynamodb.receipt_records import DynamoReceipts

        return DynamoReceipts(client=self._dynamodb, table=self._control_table)

    @cached_property
    def leases(self) -> DynamoLeases:
        from stackroom.aws.dynamodb.lease_records import DynamoLeases

        return DynamoLeases(client=self._dynamodb, table=self._control_table)

    @cached_property
    def slots(self) -> DynamoSlots:
        from stackroom.aws.dynamodb.slot_records import DynamoSlots

        return DynamoSlots(client=self._dynamodb, table=self._control_table)

    @cached_property
    def worklists(self) -> DynamoWorklists:
        from stackroom.aws.dynamodb.worklist_records import DynamoWorklists

        return DynamoWorklists(client=self._dynamodb, table=self._control_table)

    @cached_property
    def caps(self) -> DynamoCaps:
        from stackroom.aws.dynamodb.cap_records import DynamoCaps

        return DynamoCaps(client=self._dynamodb, table=self._control_table)

    @cached_property
    def usage(self) -> DynamoUsage:
        from stackroom.aws.dynamodb.usage_records import DynamoUsage

        return DynamoUsage(client=self._dynamodb, table=self._control_table)

    @cached_property
    def admission_book(self) -> DynamoAdmissionBook:
        from stackroom.aws.dynamodb.admission_records import DynamoAdmissionBook

        return DynamoAdmissionBook(client=self._dynamodb, table=self._control_table)

    @cached_property
    def selections(self) -> DynamoSelections:
        from stackroom.aws.dynamodb.selection_records import DynamoSelections

        return DynamoSelections(client=self._dynamodb, table=self._control_table)

    @cached_property
    def feedback(self) -> DynamoFeedback:
        from stackroom.aws.dynamodb.feedback_records import DynamoFeedback

        return DynamoFeedback(client=self._dynamodb, table=self._control_table)

    @cached_property
    def events(self) -> DynamoEvents:
        from stackroom.aws.dynamodb.event_records import DynamoEvents

        return DynamoEvents(client=self._dynamodb, table=self._control_table)

    @cached_property
    def event_bus(self) -> DefaultEventBus:
        from stackroom.aws.eventbridge.event_bus import DefaultEventBus

        return DefaultEventBus(client=self.client("events"))

    @cached_property
    def webhooks(self) -> DynamoWebhooks:
        from stackroom.aws.dynamodb.webhook_records import DynamoWebhooks

        return DynamoWebhooks(client=self._dynamodb, table=self._control_table)

    @cached_property
    def webhook_queue(self) -> SqsWebhookQueue:
        from stackroom.aws.sqs.webhook_queue import SqsWebhookQueue

        return SqsWebhookQueue(
            client=self.client("sqs"), url=self.settings.need("webhooks_queue_url")
        )

    @cached_property
    def agents(self) -> DynamoAgents:
        from stackroom.aws.dynamodb.agent_records import DynamoAgents

        return DynamoAgents(client=self._dynamodb, table=self._control_table)

    @cached_property
    def agent_runs(self) -> DynamoAgentRuns:
        from stackroom.aws.dynamodb.agent_records import DynamoAgentRuns

        return DynamoAgentRuns(client=self._dynamodb, table=self._control_table)

    @cached_property
    def chats(self) -> DynamoChats:
        from stackroom.aws.dynamodb.agent_records import DynamoChats

        return DynamoChats(client=self._dynamodb, table=self._control_table)

    @cached_property
    def agent_run_queue(self) -> SqsAgentRunQueue:
        from stackroom.aws.dynamodb.agent_records import SqsAgentRunQueue

        return SqsAgentRunQueue(
            client=self.client("sqs"), url=self.settings.need("agent_runs_queue_url")
        )

    @cached_property
    def inspections(self) -> DynamoInspections:
        from stackroom.aws.dynamodb.inspection_records import DynamoInspections

        return DynamoInspections(client=self._dynamodb, table=self._control_table)

    @cached_property
    def inspection_requests(self) -> SqsInspectionRequests:
        from stackroom.aws.sqs.object_events import SqsInspectionRequests

        return SqsInspectionRequests(
            client=self.client("sqs"),
            url=self.settings.need("inspections_queue_url"),
            bucket=self._bucket_name,
        )

    @cached_property
    def id_parts(self) -> DynamoIdParts:
        from stackroom.aws.dynamodb.bookmark import DynamoIdParts

        return DynamoIdParts(client=self._dynamodb, table=self._control_table)

    @cached_property
    def bookmark(self) -> DynamoBookmark:
        from stackroom.aws.dynamodb.bookmark import DynamoBookmark

        return DynamoBookmark(client=self._dynamodb, table=self._control_table)

    @cached_property
    def rounds(self) -> Rounds:
        """Of the reconciler."""
        from stackroom.aws.dynamodb.bookmark import ROUND, DynamoBookmark
        from stackroom.reconciler.audit_rounds import Rounds

        kept = DynamoBookmark(client=self._dynamodb, table=self._control_table, name=ROUND)
        return Rounds(kept=kept)

    @cached_property
    def bucket(self) -> S3DocumentBucket:
        from stackroom.aws.s3.document_bucket import S3DocumentBucket

        return S3DocumentBucket(client=self.client("s3"), bucket=self._bucket_name)

    @cached_property
    def files(self) -> S3Files:
        from stackroom.aws.s3.document_bucket import S3Files

        return S3Files(client=self.client("s3"), bucket=self._bucket_name)

    @cached_property
    def transfers(self) -> S3Transfers:
        from stackroom.aws.s3.presigned_transfers import S3Transfers

        return S3Transfers(client=self.client("s3"), bucket=self._bucket_name)

    @cached_property
    def texts(self) -> S3DocumentTexts:
        from stackroom.aws.s3.document_texts import S3DocumentTexts

        return S3DocumentTexts(client=self.client("s3"), bucket=self._bucket_name)

    @cached_property
    def embeddings(self) -> CachedEmbeddings:
        """Of questions, each kept for when it is asked again."""
        from stackroom.aws.bedrock.question_embeddings import cache_at, question_embeddings

        return question_embeddings(
            self.client,
            model=self.settings.need("embedding_model"),
            dimensions=self.settings.need("embedding_dimensions"),
            cache=cache_at(self.settings.need("redis_url")),
            tally=self.cache_tally,
        )

    @cached_property
    def boards(self) -> CloudWatchBoards:
        from stackroom.aws.cloudwatch.cloudwatch_boards import CloudWatchBoards

        return CloudWatchBoards(
            client=self.client("cloudwatch"), name=self.settings.need("dashboard_name")
        )

    def token_bucket(self, operation: str, per_second: float) -> TokenBucket:
        """Of a rate that AWS gives; one for all knowledge bases that it is for."""
        from stackroom.search.rate_limiter import TokenBucket

        if operation not in self._token_buckets:
            self._token_buckets[operation] = TokenBucket(operation, per_second)
        return self._token_buckets[operation]

    @cached_property
    def _token_buckets(self) -> dict[str, TokenBucket]:
        return {}

    @cached_property
    def search_indexes(self) -> S3VectorsIndexes:
        from stackroom.stores.s3vectors.index_creation import S3VectorsIndexes

        return S3VectorsIndexes(self.client("s3vectors"))

    @cached_property
    def inventory(self) -> AwsInventory:
        from stackroom.aws.listed_inventory import AwsInventory

        return AwsInventory(
            s3=self.client("s3"),
            dynamodb=self._dynamodb,
            bedrock_agent=self.client("bedrock-agent"),
            bucket=self._bucket_name,
            catalog_table=self._catalog_table,
            # Who lists objects and records alone knows of no pool.
            managed=self._managed if hasattr(self.settings, "kb_pool") else frozenset(),
        )

    @cached_property
    def executions(self) -> StepFunctionsExecutions:
        from stackroom.aws.stepfunctions.executions import StepFunctionsExecutions

        return StepFunctionsExecutions(
            client=self.client("stepfunctions"),
            state_machine_arn=self.settings.need("state_machine_arn"),
        )

    @cached_property
    def task_tokens(self) -> StepFunctionsTaskTokens:
        from stackroom.aws.stepfunctions.executions import StepFunctionsTaskTokens

        return StepFunctionsTaskTokens(client=self.client("stepfunctions"))

    @cached_property
    def data_sources(self) -> BedrockDataSources:
        from stackroom.aws.bedrock.bedrock_data_sources import BedrockDataSources

        return BedrockDataSources(
            client=self.client("bedrock-agent"),
            bucket=self._bucket_name,
            # Of the one function that makes them; the others find and remove.
            ingestion=getattr(self.settings, "vector_ingestion", None),
            managed=self._managed,
            bucket_owner=getattr(self.settings, "kb_docs_owner", None),
        )

    @cached_property
    def jobs(self) -> BedrockIngestionJobs:
        from stackroom.aws.bedrock.bedrock_ingestion_jobs import BedrockIngestionJobs

        return BedrockIngestionJobs(client=self.client("bedrock-agent"), managed=self._managed)

    @cached_property
    def direct_documents(self) -> BedrockDirectDocuments:
        from stackroom.aws.bedrock.direct_documents import BedrockDirectDocuments

        return BedrockDirectDocuments(client=self.client("bedrock-agent"))

    @property
    def pool(self) -> tuple[PoolMember, ...]:
        return tuple(self.settings.need("kb_pool"))

    def knowledge_base(self, knowledge_base_id: str) -> KnowledgeBase:
        """Of the pool, by its type; one that has left the pool meanwhile is taken for Bedrock's."""
        from stackroom.stores.store_registry import of_pool

        return of_pool(self.pool, knowledge_base_id, self.pool_search)

    @cached_property
    def pool_search(self) -> PoolSearch:
        from stackroom.stores.entries import PoolSearch

        there = self.settings
        return PoolSearch(
            client=self.client,
            embeddings=lambda: self.embeddings,
            via=getattr(there, "retrieve_via", None),
            # Pages are for those who ask; whoever only looks reads none.
            first_page=getattr(there, "retrieve_first_page", 1),
            guardrail=getattr(there, "guardrail", None),
            rerank_model_arn=getattr(there, "rerank_model_arn", None),
            token_bucket=self.token_bucket,
        )

    def documents_at_once(self, knowledge_base_id: str) -> int:
        """How many documents one question of whoever looks what is there can name."""
        from stackroom.stores.store_registry import documents_at_once

        return documents_at_once(self.pool, knowledge_base_id)

    @property
    def _managed(self) -> frozenset[str]:
        # Who only looks at buckets and tables is told of no pool, and asks no knowledge base.
        pool: tuple[PoolMember, ...] = getattr(self.settings, "kb_pool", ())
        return frozenset(each.knowledge_base_id for each in pool if each.is_managed)

    @property
    def _dynamodb(self) -> Any:
        return self.client("dynamodb")

    @property
    def _catalog_table(self) -> Any:
        return self.settings.need("kb_catalog_table")

    @property
    def _control_table(self) -> Any:
        return self.settings.need("kb_control_table")

    @property
    def _bucket_name(self) -> Any:
        return self.settings.need("kb_docs_bucket")
