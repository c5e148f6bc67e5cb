"""The base of all builders: settings, clients, catalogs and the bucket."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from stackroom.app.function_settings import Settings
from stackroom.aws import session
from stackroom.aws.dynamodb.catalog_records import DynamoCatalogRegister, DynamoCatalogs
from stackroom.aws.s3.document_bucket import S3DocumentBucket
from stackroom.aws.s3.document_texts import S3DocumentTexts
from stackroom.clock import Pace, utc_now
from stackroom.concurrency import RunParallel, among_writers, run_in_threads
from stackroom.model.records import PoolMember

if TYPE_CHECKING:  # few functions search
    from stackroom.search.cached_embeddings import CacheTally


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """
    The shared parts of a deployment.

    `client` returns the boto3 client of a service. `cache_tally` counts how often the vector of a
    question was cached. `now`, `run_parallel` and `pause_among_writers` are the clock, the threads
    and the pauses, for callers that have others than these.

    A use case that needs a variable which `settings` doesn't have raises SettingMissing when it is
    asked for.
    """

    settings: Settings
    client: Callable[[str], Any] = session.client
    cache_tally: "CacheTally | None" = None
    now: Callable[[], datetime] = utc_now
    run_parallel: RunParallel = run_in_threads
    pause_among_writers: Callable[[int], None] = among_writers

    @cached_property
    def catalogs(self) -> DynamoCatalogs:
        """Return catalogs to be read and changed; `register` opens and closes them, too."""
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

    @property
    def pool(self) -> tuple[PoolMember, ...]:
        return tuple(self.settings.need("kb_pool"))

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
