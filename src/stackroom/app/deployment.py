"""What all builders share: settings, clients, and the adapters of searches and runs alike."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from stackroom.app.function_settings import Settings
from stackroom.aws import session
from stackroom.aws.bedrock.question_embeddings import cache_at, question_embeddings
from stackroom.aws.dynamodb.cap_records import DynamoCaps
from stackroom.aws.dynamodb.catalog_records import DynamoCatalogRegister, DynamoCatalogs
from stackroom.aws.dynamodb.usage_records import DynamoUsage
from stackroom.aws.s3.document_bucket import S3DocumentBucket
from stackroom.aws.s3.document_texts import S3DocumentTexts
from stackroom.clock import Pace, utc_now
from stackroom.concurrency import Beside, among_writers, in_threads
from stackroom.model.caps import CapWatch
from stackroom.model.passages import KnowledgeBase
from stackroom.model.records import PoolMember
from stackroom.search.cached_embeddings import CachedEmbeddings, CacheTally
from stackroom.search.rate_limiter import TokenBucket
from stackroom.stores.entries import PoolSearch
from stackroom.stores.store_registry import documents_at_once, of_pool


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """
    `client` returns the boto3 client of a service. `cache_tally` counts how often the vector of a
    question was cached. `now`, `beside` and `pause_among_writers` are the clock, the threads and
    the pauses of whoever has others than these.

    What needs a variable that `settings` doesn't have raises SettingMissing when it is asked for.
    """

    settings: Settings
    client: Callable[[str], Any] = session.client
    cache_tally: CacheTally | None = None
    now: Callable[[], datetime] = utc_now
    beside: Beside = in_threads
    pause_among_writers: Callable[[int], None] = among_writers

    @cached_property
    def catalogs(self) -> DynamoCatalogs:
        """Catalogs to be read and changed; `register` opens and closes them, too."""
        return DynamoCatalogs(client=self._dynamodb, table=self._catalog_table)

    @cached_property
    def register(self) -> DynamoCatalogRegister:
        return DynamoCatalogRegister(
            client=self._dynamodb, table=self._catalog_table, control_table=self._control_table
        )

    @cached_property
    def bucket(self) -> S3DocumentBucket:
        return S3DocumentBucket(client=self.client("s3"), bucket=self._bucket_name)

    @cached_property
    def texts(self) -> S3DocumentTexts:
        return S3DocumentTexts(client=self.client("s3"), bucket=self._bucket_name)

    @cached_property
    def usage(self) -> DynamoUsage:
        return DynamoUsage(client=self._dynamodb, table=self._control_table)

    @cached_property
    def caps(self) -> DynamoCaps:
        return DynamoCaps(client=self._dynamodb, table=self._control_table)

    @cached_property
    def cap_watch(self) -> CapWatch:
        return CapWatch(book=self.caps)

    @property
    def pool(self) -> tuple[PoolMember, ...]:
        return tuple(self.settings.need("kb_pool"))

    def knowledge_base(self, knowledge_base_id: str) -> KnowledgeBase:
        """Return one of the pool; one that has left the pool meanwhile is taken for Bedrock's."""
        return of_pool(self.pool, knowledge_base_id, self._pool_search)

    def documents_at_once(self, knowledge_base_id: str) -> int:
        """Return how many documents one check of presence can name."""
        return documents_at_once(self.pool, knowledge_base_id)

    @cached_property
    def embeddings(self) -> CachedEmbeddings:
        """Vectors of questions, each kept for when it is asked again."""
        return question_embeddings(
            self.client,
            model=self.settings.need("embedding_model"),
            dimensions=self.settings.need("embedding_dimensions"),
            cache=cache_at(self.settings.need("redis_url")),
            tally=self.cache_tally,
        )

    def token_bucket(self, operation: str, per_second: float) -> TokenBucket:
        """Return the bucket of a rate that AWS gives, one for all knowledge bases that share it."""
        if operation not in self._token_buckets:
            self._token_buckets[operation] = TokenBucket(operation, per_second)
        return self._token_buckets[operation]

    @cached_property
    def _token_buckets(self) -> dict[str, TokenBucket]:
        return {}

    @cached_property
    def _pool_search(self) -> PoolSearch:
        there = self.settings
        return PoolSearch(
            client=self.client,
            embeddings=lambda: self.embeddings,
            via=getattr(there, "retrieve_via", None),
            # Pages are for those who ask; a check of presence reads none.
            first_page=getattr(there, "retrieve_first_page", 1),
            guardrail=getattr(there, "guardrail", None),
            rerank_model_arn=getattr(there, "rerank_model_arn", None),
            token_bucket=self.token_bucket,
        )

    @property
    def _pace(self) -> Pace:
        return Pace(self.settings.need("ingest_speed"))

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
