"""
The commands' answers with --json, from which docs/cli.md and docs/cli-schema.json are generated.

Keys are never renamed and keep their meaning; later versions may add keys. Times are ISO 8601 in
UTC, sizes are bytes.
"""

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field

from stackroom.catalogs.webhooks import Webhook
from stackroom.model.records import CatalogStatus, Document, DocumentStatus, Receipt
from stackroom_cli.sites.aws_sidecars import AdoptionOutcome

_PERSON = "null for a signed-in user"


class JsonAnswer(BaseModel):
    """The base of all answers; `model_validate` also takes an object with these attributes."""

    model_config = ConfigDict(frozen=True, extra="forbid", from_attributes=True)


class ErrorTold(JsonAnswer):
    type: Annotated[str, Field(description="the kind of error, a name of Stackroom's own")]
    message: Annotated[str, Field(description="a sentence for people that says what to do")]


class Failed(JsonAnswer):
    """Printed on standard error by a command that failed."""

    error: ErrorTold


class DocumentTold(JsonAnswer):
    user_id: str
    catalog: Annotated[
        str | None, Field(description="the catalog's name; null if it belongs to none")
    ]
    document_id: str
    filename: str
    key: Annotated[str | None, Field(description=f"in the bucket; {_PERSON}")]
    size: Annotated[int, Field(description="rounded for a signed-in user")]
    status: DocumentStatus
    status_reason: Annotated[
        str | None, Field(description="why it failed, or that it waits over a cap")
    ]
    gaps: Annotated[tuple[str, ...], Field(description="what of its text cannot be found")] = ()
    stage: Annotated[str | None, Field(description="current stage, until it has settled")] = None
    eta_seconds: Annotated[int | None, Field(description="AWS's estimate; null if unknown")] = None
    uploaded_at: datetime
    updated_at: Annotated[datetime | None, Field(description=_PERSON)]
    indexed_at: Annotated[datetime | None, Field(description=_PERSON)]

    @classmethod
    def of(cls, document: Document, catalog: str | None, **more: Any) -> Self:
        return cls(
            user_id=document.s3_key.partition("/")[0],
            catalog=catalog,
            document_id=document.document_id,
            filename=document.filename,
            key=document.s3_key,
            size=document.size,
            status=document.status,
            status_reason=document.status_reason,
            gaps=document.shown_gaps,
            uploaded_at=document.uploaded_at,
            updated_at=document.updated_at,
            indexed_at=document.indexed_at,
            **more,
        )


class Trouble(JsonAnswer):
    user_id: str
    catalog: str
    reason: str


class StatusAnswer(JsonAnswer):
    documents: list[DocumentTold]
    unlisted: Annotated[int, Field(description="number of unlisted documents of large catalogs")]
    waiting: Annotated[list[str], Field(description="keys of uploads that wait to be processed")]
    left_out: Annotated[
        list[str], Field(description="keys of junk, which systems and programs keep for themselves")
    ]
    troubles: Annotated[list[Trouble], Field(description="catalogs whose records can't be read")]


class Changed(JsonAnswer):
    """A line of `--watch` or `--until-settled`: each document at first, then each change."""

    document: DocumentTold
    gone: Annotated[bool, Field(description="whether its record is gone")] = False


class KnowledgeBaseTold(JsonAnswer):
    knowledge_base_id: str
    own_sources: Annotated[list[str], Field(description="catalogs with a data source of their own")]
    own_sources_taken: int
    own_sources_most: int
    shared: Annotated[list[str], Field(description="catalogs on the shared data source")]
    running: Annotated[list[str], Field(description="catalogs with active runs")]
    waiting: Annotated[list[str], Field(description="catalogs with waiting runs, the oldest first")]


class PoolAnswer(JsonAnswer):
    knowledge_bases: list[KnowledgeBaseTold]


class FileTold(JsonAnswer):
    filename: Annotated[str, Field(description="name within the catalog")]
    key: Annotated[str | None, Field(description=f"in the bucket; {_PERSON}")]
    dropped: bool
    version_id: str | None = None
    reason: Annotated[str | None, Field(description="why it was not dropped, or failed")] = None
    status: Annotated[
        DocumentStatus | None, Field(description="with --wait: indexed or failed")
    ] = None


class DropAnswer(JsonAnswer):
    prefix: Annotated[str | None, Field(description=f"in the bucket; {_PERSON}")]
    files: list[FileTold]
    left_out: Annotated[
        list[str], Field(description="hidden files, junk and sidecars, which are skipped")
    ]


class AdoptedTold(JsonAnswer):
    filename: Annotated[str, Field(description="name within the source")]
    outcome: Annotated[AdoptionOutcome, Field(description="`to_adopt` without `--apply`")]
    reason: Annotated[str | None, Field(description="why it is refused")]
    attributes: dict[str, str | bool | int | float | list[str]]
    notes: Annotated[tuple[str, ...], Field(description="attributes that are changed or left out")]


class AdoptAnswer(JsonAnswer):
    prefix: Annotated[str, Field(description="in the bucket")]
    applied: bool
    files: list[AdoptedTold]
    not_taken: Annotated[list[str], Field(description="files of other types")]
    left_out: Annotated[list[str], Field(description="hidden files and junk")]
    sidecars_alone: Annotated[list[str], Field(description="sidecars without their file")]


class ReceiptsAnswer(JsonAnswer):
    receipts: Annotated[list[Receipt], Field(description="newest first")]


class DeleteAnswer(JsonAnswer):
    receipts: Annotated[list[Receipt], Field(description="receipts of the requested deletions")]
    removed: Annotated[
        list[str], Field(description="keys of deleted objects that belonged to no catalog")
    ] = []
    catalog: Annotated[
        str | None, Field(description="the catalog's id, if the whole catalog is deleted")
    ] = None
    catalog_status: Annotated[
        CatalogStatus | None, Field(description="that catalog's status; null once it is gone")
    ] = None


class NotAgain(JsonAnswer):
    key: str
    reason: str


class RetryAnswer(JsonAnswer):
    again: Annotated[list[str], Field(description="keys of retried documents")]
    refused: list[NotAgain]


class RereadAnswer(JsonAnswer):
    again: Annotated[list[str], Field(description="keys of documents that are read anew")]
    refused: list[NotAgain]


class DiscrepancyTold(JsonAnswer):
    kind: str
    what: str
    remedy: Annotated[str, Field(description="what was done about it, or would be in a dry run")]
    outcome: str


class ReconcileAnswer(JsonAnswer):
    dry_run: bool
    discrepancies: list[DiscrepancyTold]


class CatalogTold(JsonAnswer):
    user_id: str
    catalog_id: str
    name: str
    status: CatalogStatus
    document_count: int
    total_bytes: Annotated[int, Field(description="rounded for a signed-in user")]
    updated_at: datetime


class CatalogsAnswer(JsonAnswer):
    catalogs: list[CatalogTold]


class TokenAnswer(JsonAnswer):
    access_token: str
    user_id: str
    expires_at: datetime


class WhoamiAnswer(JsonAnswer):
    user_id: str
    prefix: Annotated[str, Field(description="s3://bucket/user/")]


class CheckTold(JsonAnswer):
    good: bool
    text: str


class DoctorAnswer(JsonAnswer):
    checks: list[CheckTold]


class StepTold(JsonAnswer):
    name: str
    outcome: Annotated[str, Field(description="done, failed or not here")]
    seconds: float
    text: Annotated[str, Field(description="what was seen, or why nothing was")]


class AssumptionTold(JsonAnswer):
    """An assumption about AWS; docs/fidelity.json has every field of it."""

    name: str
    believed: str
    step: Annotated[str, Field(description="the step of the smoke that settles it")]
    verdict: Annotated[str, Field(description="confirmed, refuted or not seen")]
    seen: str
    do: Annotated[str | None, Field(description="what to do about it, if it is refuted")]


class SmokeAnswer(JsonAnswer):
    """The report of a smoke run, also written to a file."""

    deployment: str
    run: Annotated[str, Field(description="id that is part of the name of everything the run made")]
    began: datetime
    seconds: float
    steps: list[StepTold]
    measured: Annotated[dict[str, float], Field(description="seconds by what was measured")]
    assumptions: list[AssumptionTold]
    left: Annotated[list[str], Field(description="what could not be removed, and why")]


class VariablesAnswer(JsonAnswer):
    """The environment variables to export, including secrets."""

    variables: dict[str, str]


class ServingAnswer(JsonAnswer):
    """Printed by `up` once it serves; it then runs until Ctrl-C."""

    aws_endpoint: str
    simulator_endpoint: str
    mcp_url: str
    console_url: Annotated[str | None, Field(description="null if the console was left out")]
    bucket: str
    state_dir: str


class DoneAnswer(JsonAnswer):
    """The answer of a command that returns nothing else."""

    done: bool = True


class DemoAnswer(JsonAnswer):
    seconds: Annotated[dict[str, float], Field(description="seconds that each part took")]


class LineTold(JsonAnswer):
    label: str
    points: list[tuple[datetime, float]]
    trouble: Annotated[str | None, Field(description="why it has no points, if known")]


class WidgetTold(JsonAnswer):
    title: str
    lines: list[LineTold]


class DashboardAnswer(JsonAnswer):
    dashboard: str
    start: datetime
    end: datetime
    alarms: Annotated[
        dict[str, str | None],
        Field(description="states; null for an alarm that is not deployed here"),
    ]
    alarms_trouble: Annotated[str | None, Field(description="why the alarms could not be read")]
    widgets: list[WidgetTold]


class LoadAnswer(JsonAnswer):
    loaded: Annotated[list[str], Field(description="names of loaded files")]
    unchanged: list[str]
    not_loaded: dict[str, str]
    passages: int


class DraftAnswer(JsonAnswer):
    path: Annotated[str, Field(description="the file that was written")]
    questions: int
    documents: Annotated[list[str], Field(description="names of the files that were read")]


class LeftOut(JsonAnswer):
    page: int | None
    text: Annotated[str, Field(description="always empty, of a page without text")]
    reason: str


class PassageTold(JsonAnswer):
    number: Annotated[int, Field(description="in the order of the document, from 1")]
    page: Annotated[int | None, Field(description="the page with most of it; null if unknown")]
    page_first: int | None
    page_last: int | None
    section: Annotated[str | None, Field(description="the heading above it")]
    tokens: Annotated[int, Field(description="counted as in chunking")]
    is_navigation: Annotated[
        bool,
        Field(
            description="whether it is a table of contents or an index, which come last in answers"
        ),
    ]
    text: Annotated[
        str, Field(description="with its context lines, which are searched and never cited")
    ]


class PassagesAnswer(JsonAnswer):
    filename: str
    parser: Annotated[
        str, Field(description="always local; on AWS Bedrock cuts, perhaps differently")
    ]
    max_tokens: Annotated[int | None, Field(description="maximum tokens of a passage")]
    overlap_percentage: Annotated[int, Field(description="overlap of neighbouring passages")]
    pages: Annotated[
        int | None, Field(description="number of pages; null for a format without pages")
    ]
    passages: list[PassageTold]
    left_out: Annotated[list[LeftOut], Field(description="the pages without text")]
    gaps: Annotated[tuple[str, ...], Field(description="what of its text cannot be found")]


class KeptAnswer(JsonAnswer):
    path: Annotated[str, Field(description="the file of questions")]
    added: Annotated[int, Field(description="number of questions written, none accepted yet")]
    unanswered: Annotated[int, Field(description="those whose answer must be filled in")]
    known: Annotated[int, Field(description="number of questions that were there already")]


class EventTold(JsonAnswer):
    """One event, as docs/events.md describes it."""

    sequence: Annotated[int, Field(description="the event's number in the log")]
    id: str
    detail_type: str
    time: str
    detail: dict[str, Any]


class DeploymentTold(JsonAnswer):
    name: str
    project: str
    region: str
    bucket: str
    mcp_url: str
    issuer: str
    client_id: str


class DeploymentsAnswer(JsonAnswer):
    deployments: list[DeploymentTold]


class WebhookAnswer(JsonAnswer):
    webhook: Webhook
    secret: Annotated[
        str, Field(description="the secret that signs its calls; its receiver needs it")
    ]


class WebhooksAnswer(JsonAnswer):
    webhooks: list[Webhook]


class RedeliveredAnswer(JsonAnswer):
    calls: Annotated[int, Field(description="number of retried deliveries")]


class CapsTold(JsonAnswer):
    user_id: Annotated[str, Field(description='"*": everybody without caps of their own')]
    documents: Annotated[int | None, Field(description="at most; null means unlimited")]
    bytes: Annotated[int | None, Field(description="at most; null means unlimited")]
    dollars: Annotated[float | None, Field(description="per month; null means unlimited")]


class CapsAnswer(JsonAnswer):
    caps: list[CapsTold]


class UsedTold(JsonAnswer):
    documents: Annotated[int, Field(description="ingestions that Bedrock accepted")]
    bytes: int
    passages: Annotated[int, Field(description="estimated")]
    embedded_tokens: Annotated[int, Field(description="estimated, of the texts of documents")]
    questions: int
    question_tokens: Annotated[int, Field(description="embedded; estimated")]
    model_input_tokens: Annotated[int, Field(description="used by answers and agents' runs")]
    model_output_tokens: int


class CatalogUsageTold(JsonAnswer):
    catalog_id: Annotated[str, Field(description='"-": questions to several catalogs')]
    catalog_name: Annotated[str | None, Field(description="null if the catalog is gone")]
    documents: Annotated[int, Field(description="now")]
    bytes: Annotated[int, Field(description="now")]
    waiting: Annotated[int, Field(description="number of documents waiting over a cap")]
    dollars: Annotated[float, Field(description="cost of the month, by the price list")]
    used: Annotated[UsedTold, Field(description="in the month")]


class UsageTold(JsonAnswer):
    user_id: str
    documents: Annotated[int, Field(description="now, without waiting documents")]
    bytes: Annotated[int, Field(description="now, without waiting documents")]
    waiting: Annotated[int, Field(description="number of documents waiting over a cap")]
    dollars: Annotated[float, Field(description="cost of the month, by the price list")]
    prices_of: Annotated[str, Field(description="date of the price list")]
    caps: Annotated[CapsTold, Field(description="caps that apply to the user")]
    used: Annotated[UsedTold, Field(description="in the month")]
    catalogs: list[CatalogUsageTold]


class UsageAnswer(JsonAnswer):
    month: str
    users: list[UsageTold]
