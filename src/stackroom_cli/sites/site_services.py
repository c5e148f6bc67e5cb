"""The product's use cases over a deployed site, for commands."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from stackroom.app.function_settings import (
    AdmissionSettings,
    DocumentSettings,
    LimitSettings,
    Settings,
)
from stackroom.app.reconciler_builder import ReconcilerBuilder
from stackroom.app.tool_builder import ToolBuilder
from stackroom.aws.dynamodb.webhook_records import DynamoWebhooks
from stackroom.aws.sqs.object_events import SqsInspectionRequests
from stackroom.runs.retries import Rereading
from stackroom.text.ocr import OcrEngine
from stackroom_cli.sites.site import Site


class StoreSettings(DocumentSettings, LimitSettings):
    """The settings that a site itself provides, which are enough to read its records."""

    ingest_speed: float


class DeployedSettings(AdmissionSettings, DocumentSettings):
    """The environment of the deployed `ingest` function, which has all that the commands need."""

    kb_docs_owner: str | None = None
    state_machine_arn: str


class ReaderSettings(Settings):
    """The environment of the deployed `inspect` function, as far as it changes a file's text."""

    ocr: OcrEngine = "none"


class SiteUseCases(ToolBuilder, ReconcilerBuilder):
    """All use cases that commands call."""


@dataclass(frozen=True)
class SiteServices:
    """
    The use cases over a site. `stores` serves commands that only read, without asking any function.
    """

    site: Site

    @cached_property
    def stores(self) -> SiteUseCases:
        settings = StoreSettings(
            kb_catalog_table=self.site.catalog_table,
            kb_control_table=self.site.control_table,
            kb_docs_bucket=self.site.bucket,
            ingest_speed=self.site.speed,
        )
        return SiteUseCases(settings=settings, client=self.site.client)

    @cached_property
    def webhooks(self) -> DynamoWebhooks:
        return DynamoWebhooks(client=self.site.client("dynamodb"), table=self.site.control_table)

    @cached_property
    def inspection_requests(self) -> SqsInspectionRequests:
        sqs = self.site.client("sqs")
        url = sqs.get_queue_url(QueueName=f"{self.site.project}-inspections")["QueueUrl"]
        return SqsInspectionRequests(client=sqs, url=url, bucket=self.site.bucket)

    @cached_property
    def rereading(self) -> Rereading:
        return Rereading(
            catalogs=self.stores.catalogs,
            documents=self.stores.documents,
            bucket=self.stores.bucket,
            results=self.stores.inspections,
            requests=self.inspection_requests,
            ocr=self.ocr,
        )

    @cached_property
    def ocr(self) -> OcrEngine:
        return ReaderSettings.from_env(self._variables_of("inspect")).ocr

    @cached_property
    def use_cases(self) -> SiteUseCases:
        settings = DeployedSettings.from_env(self._variables_of("ingest"))
        return SiteUseCases(settings=settings, client=self.site.client)

    def _variables_of(self, function: str) -> Mapping[str, str]:
        name = f"{self.site.project}-{function}"
        answer = self.site.client("lambda").get_function_configuration(FunctionName=name)
        variables: Mapping[str, str] = answer["Environment"]["Variables"]
        return variables
