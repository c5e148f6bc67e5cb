"""
What the verbs answer with --json: the keys that programs may count on, held to docs/cli.md.

A key is never renamed and never changes its meaning; later versions may add some. Times are ISO
8601 in UTC, sizes bytes.
"""

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field

from stackroom.documents.model import Catalog, CatalogStatus, Document, DocumentStatus, Receipt
from stackroom.events.webhooks import Webhook

_PERSON = "null where a signed-in person asks"


class JsonAnswer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ErrorTold(JsonAnswer):
    type: Annotated[str, Field(description="what kind of error it is: a name of our own")]
    message: Annotated[str, Field(description="a sentence for people, with what to do")]


class Failed(JsonAnswer):
    """On standard error, of any verb that failed; its own answer may stand on standard output."""

    error: ErrorTold


class DocumentTold(JsonAnswer):
    user_id: str
    catalog: Annotated[str | None, Field(description="its name; null of what belongs to none")]
    document_id: str
    filename: str
    key: Annotated[str | None, Field(description=f"in the bucket; {_PERSON}")]
    size: Annotated[int, Field(description="rounded where a signed-in person asks")]
    status: DocumentStatus
    status_reason: Annotated[str | None, Field(description="why it failed, or waits over a cap")]
    gaps: Annotated[tuple[str, ...], Field(description="what of its text can't be found")] = ()
    stage: Annotated[str | None, Field(description="how far it is, until it has settled")] = None
    eta_seconds: Annotated[int | None, Field(description="AWS's; null if nobody knows")] = None
    uploaded_at: datetime
    updated_at: Annotated[datetime | None, Field(description=_PERSON)]
    indexed_at: Annotated[datetime | None, Field(description=_PERSON)]

    @classmethod
    def of(cls, document: Document, catalog: str | None, **told: Any) -> Self:
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
            **told,
        )


class Trouble(JsonAnswer):
    user_id: str
    catalog: str
    reason: str


class StatusAnswer(JsonAnswer):
    documents: list[DocumentTold]
    unlisted: Annotated[int, Field(description="documents of large catalogs, most of them indexed")]
    waiting: Annotated[list[str], Field(description="keys of uploads that wait to be taken up")]
    troubles: Annotated[list[Trouble], Field(description="catalogs whose records can't be read")]


class Changed(JsonAnswer):
    """Of `--watch`: a line for each document at first, and then for each change of one."""

    document: DocumentTold
    gone: Annotated[bool, Field(description="whether it has no record any more")] = False


class KnowledgeBaseTold(JsonAnswer):
    knowledge_base_id: str
    own_sources: Annotated[list[str], Field(description="catalogs with a data source of their own")]
    own_sources_taken: int
    own_sources_most: int
    shared: Annotated[list[str], Field(description="catalogs on the shared data source")]
    running: Annotated[list[str], Field(description="whose runs are at work")]
    waiting: Annotated[list[str], Field(description="whose runs wait, the oldest first")]


class PoolAnswer(JsonAnswer):
    knowledge_bases: list[KnowledgeBaseTold]


class FileTold(JsonAnswer):
    filename: Annotated[str, Field(description="within the catalog")]
    key: Annotated[str | None, Field(description=f"in the bucket; {_PERSON}")]
    dropped: bool
    version_id: str | None = None
    reason: Annotated[str | None, Field(description="why it was not dropped, or failed")] = None
    status: Annotated[DocumentStatus | None, Field(description="with --wait: indexed, failed")] = (
        None
    )


class DropAnswer(JsonAnswer):
    prefix: Annotated[str | None, Field(description=f"in the bucket; {_PERSON}")]
    files: list[FileTold]
    left_out: Annotated[list[str], Field(description="hidden files, and sidecars")]


class ReceiptsAnswer(JsonAnswer):
    receipts: Annotated[list[Receipt], Field(description="the newest first")]


class DeleteAnswer(JsonAnswer):
    receipts: Annotated[list[Receipt], Field(description="of what was asked for")]
    removed: Annotated[list[str], Field(description="keys of what belonged to no catalog")] = []
    catalog: Annotated[str | None, Field(description="its id, if all of it was meant")] = None
    catalog_status: Annotated[
        CatalogStatus | None, Field(description="of that catalog; null once it is gone")
    ] = None


class NotAgain(JsonAnswer):
    key: str
    reason: str


class RetryAnswer(JsonAnswer):
    again: Annotated[list[str], Field(description="keys of what is tried again")]
    refused: list[NotAgain]


class DiscrepancyTold(JsonAnswer):
    kind: str
    what: str
    remedy: Annotated[str, Field(description="what was done about it, or would be")]
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
    total_bytes: Annotated[int, Field(description="rounded where a signed-in person asks")]
    updated_at: datetime

    @classmethod
    def of(cls, catalog: Catalog) -> Self:
        return cls.model_validate({name: getattr(catalog, name) for name in cls.model_fields})


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
    text: Annotated[str, Field(description="what was seen, or why it was not")]


class AssumptionTold(JsonAnswer):
    """An assumption about AWS; docs/fidelity.json has every field of it."""

    name: str
    believed: str
    step: Annotated[str, Field(description="that settles it")]
    verdict: Annotated[str, Field(description="confirmed, refuted or not seen")]
    seen: str
    do: Annotated[str | None, Field(description="of one that is refuted: what to do about it")]


class SmokeAnswer(JsonAnswer):
    """The report of a run, also written to a file."""

    deployment: str
    run: Annotated[str, Field(description="what the names of all that it made hold")]
    began: datetime
    seconds: float
    steps: list[StepTold]
    measured: Annotated[dict[str, float], Field(description="seconds, of what is said")]
    assumptions: list[AssumptionTold]
    left: Annotated[list[str], Field(description="what could not be swept up, and why")]


class VariablesAnswer(JsonAnswer):
    """Of `env`: what a shell would export, secrets among it."""

    variables: dict[str, str]


class ServingAnswer(JsonAnswer):
    """Of `up`, once it serves; it then goes on until Ctrl-C."""

    aws_endpoint: str
    simulator_endpoint: str
    mcp_url: str
    console_url: Annotated[str | None, Field(description="null if it was left out")]
    bucket: str
    state_dir: str


class DoneAnswer(JsonAnswer):
    """Of a verb that has nothing else to tell."""

    done: bool = True


class DemoAnswer(JsonAnswer):
    seconds: Annotated[dict[str, float], Field(description="what each part of it took")]


class LineTold(JsonAnswer):
    label: str
    points: list[tuple[datetime, float]]
    trouble: Annotated[str | None, Field(description="why it has no points, if that is known")]


class WidgetTold(JsonAnswer):
    title: str
    lines: list[LineTold]


class DashboardAnswer(JsonAnswer):
    dashboard: str
    start: datetime
    end: datetime
    alarms: Annotated[dict[str, str | None], Field(description="states; null of one not made here")]
    alarms_trouble: Annotated[str | None, Field(description="why alarms could not be read")]
    widgets: list[WidgetTold]


class LoadAnswer(JsonAnswer):
    loaded: Annotated[list[str], Field(description="names of files")]
    unchanged: list[str]
    not_loaded: dict[str, str]
    passages: int


class InsteadTold(JsonAnswer):
    file: str
    page: int | None
    score: float
    text: Annotated[str, Field(description="its beginning")]


class MissTold(JsonAnswer):
    question: str
    rank: Annotated[int | None, Field(description="of the right passage; null if it did not come")]
    file: Annotated[str | None, Field(description="that answers; null if none does")]
    shown: Annotated[list[InsteadTold], Field(description="the first three that came")]


class ComparedTold(JsonAnswer):
    """Of two runs, or of one and plain Retrieve, in pairs, over the questions that both have."""

    measure: Annotated[str, Field(description="as in `figures`")]
    questions: int
    before: Annotated[float, Field(description="of the run that was named, or plain Retrieve's")]
    after: float
    low: Annotated[float, Field(description="of the difference, with 95 % up to `high`")]
    high: float
    chance: Annotated[float, Field(description="how often chance makes as large a difference")]
    noise: Annotated[bool, Field(description="whether that is more often than one in twenty")]


class BarTold(JsonAnswer):
    """With `--calibrate`: a least score that a passage may be held to; 0 if none is worth it."""

    least_score: float
    unanswerable_nothing: Annotated[
        float, Field(description="share of the unanswerable that get nothing, 0 to 1")
    ]
    answerable_lost: Annotated[
        float, Field(description="share of the answerable that lose every right passage, 0 to 1")
    ]
    context: Annotated[str, Field(description="to deploy it: `-c` and this")]


class GateTold(JsonAnswer):
    measure: Annotated[str, Field(description="as in `figures`")]
    threshold: Annotated[float, Field(description="of shares in percent")]
    measured: Annotated[float | None, Field(description="in the same; null if nothing tells")]
    passed: bool


class EvaluateAnswer(JsonAnswer):
    answerable: Annotated[int, Field(description="questions that have an answer")]
    unanswerable: int
    unaccepted: Annotated[int, Field(description="questions left out, for nobody accepted them")]
    figures: Annotated[
        dict[str, float | None],
        Field(
            description="`top1`, `top3`, `top5`, `top10`, `mrr`, `nothing`, `answerable_weak`,"
            " `unanswerable_weak`, `pages`: 0 to 1; `p50`: seconds; null where no question tells"
        ),
    ]
    plain: Annotated[
        list[ComparedTold],
        Field(description="`top1` to `top10` of plain Retrieve (`before`) and of this run"),
    ]
    not_compared: Annotated[
        str | None, Field(description="why plain Retrieve could not be asked; else null")
    ]
    misses: list[MissTold]
    compared: Annotated[list[ComparedTold], Field(description="with `--compare`")]
    bar: BarTold | None
    gates: list[GateTold]


class DraftAnswer(JsonAnswer):
    path: Annotated[str, Field(description="the file that was written")]
    questions: int
    documents: Annotated[list[str], Field(description="names of the files that were read")]


class LeftOut(JsonAnswer):
    page: int | None
    text: Annotated[str, Field(description="the line; empty of a page that has none")]
    reason: str


class PassageTold(JsonAnswer):
    number: Annotated[int, Field(description="in the order of the document, from 1")]
    page: Annotated[int | None, Field(description="that has most of it; null where none is known")]
    page_first: int | None
    page_last: int | None
    section: Annotated[str | None, Field(description="the heading above it")]
    tokens: Annotated[int, Field(description="as they are counted where documents are cut")]
    is_navigation: Annotated[bool, Field(description="contents or index: comes last in answers")]
    text: str
    left_out: Annotated[list[LeftOut], Field(description="of it, where it is shown")]


class PassagesAnswer(JsonAnswer):
    filename: str
    parser: Annotated[str, Field(description="local: on AWS Bedrock parses, maybe otherwise")]
    max_tokens: Annotated[int | None, Field(description="of a passage")]
    overlap_percentage: Annotated[int, Field(description="of it, that neighbours share")]
    pages: Annotated[int | None, Field(description="null of a format without pages")]
    passages: list[PassageTold]
    left_out: Annotated[list[LeftOut], Field(description="what no passage has")]


class KeptAnswer(JsonAnswer):
    path: Annotated[str, Field(description="the file of questions")]
    added: Annotated[int, Field(description="questions that were written, none accepted")]
    unanswered: Annotated[int, Field(description="those of them whose answer is to be filled in")]
    known: Annotated[int, Field(description="questions that stood there already")]


class EventTold(JsonAnswer):
    """A line for each event; docs/events.md says what is in it."""

    sequence: Annotated[int, Field(description="its number in the log")]
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
    secret: Annotated[str, Field(description="what its calls are signed with: tell its receiver")]


class WebhooksAnswer(JsonAnswer):
    webhooks: list[Webhook]


class RedeliveredAnswer(JsonAnswer):
    calls: Annotated[int, Field(description="that are tried again")]


class CapsTold(JsonAnswer):
    user_id: Annotated[str, Field(description='"*" for whoever has none of their own')]
    documents: Annotated[int | None, Field(description="at most; null without end")]
    bytes: Annotated[int | None, Field(description="at most; null without end")]
    dollars: Annotated[float | None, Field(description="a month; null without end")]


class CapsAnswer(JsonAnswer):
    caps: list[CapsTold]


class UsedTold(JsonAnswer):
    documents: Annotated[int, Field(description="that Bedrock took to ingest, each time")]
    bytes: int
    passages: Annotated[int, Field(description="estimated")]
    embedded_tokens: Annotated[int, Field(description="estimated, of the texts of documents")]
    questions: int
    question_tokens: Annotated[int, Field(description="embedded; estimated")]
    model_input_tokens: Annotated[int, Field(description="of answers and agents' runs")]
    model_output_tokens: int


class CatalogUsageTold(JsonAnswer):
    catalog_id: Annotated[str, Field(description='"-" for questions to several')]
    catalog_name: Annotated[str | None, Field(description="null if it is gone")]
    documents: Annotated[int, Field(description="now")]
    bytes: Annotated[int, Field(description="now")]
    waiting: Annotated[int, Field(description="documents over a cap")]
    dollars: Annotated[float, Field(description="of the month, by the price list")]
    used: Annotated[UsedTold, Field(description="in the month")]


class UsageTold(JsonAnswer):
    user_id: str
    documents: Annotated[int, Field(description="now, without those that wait")]
    bytes: Annotated[int, Field(description="now, without those that wait")]
    waiting: Annotated[int, Field(description="documents over a cap")]
    dollars: Annotated[float, Field(description="of the month, by the price list")]
    prices_of: Annotated[str, Field(description="when the price list was read")]
    caps: Annotated[CapsTold, Field(description="that hold for the user")]
    used: Annotated[UsedTold, Field(description="in the month")]
    catalogs: list[CatalogUsageTold]


class UsageAnswer(JsonAnswer):
    month: str
    users: list[UsageTold]


# By what is typed; None where it is the retrieve tool's own answer.
ANSWERS: dict[str, type[JsonAnswer] | None] = {
    "up": ServingAnswer,
    "down": DoneAnswer,
    "env": VariablesAnswer,
    "doctor": DoctorAnswer,
    "doctor --smoke": SmokeAnswer,
    "drop": DropAnswer,
    "status": StatusAnswer,
    "status --pool": PoolAnswer,
    "delete": DeleteAnswer,
    "catalogs": CatalogsAnswer,
    "receipts": ReceiptsAnswer,
    "retry": RetryAnswer,
    "reconcile": ReconcileAnswer,
    "dashboard": DashboardAnswer,
    "ask": None,
    "retrieve": None,
    "evaluate": EvaluateAnswer,
    "evaluate --draft": DraftAnswer,
    "evaluate --kept": KeptAnswer,
    "events": EventTold,
    "login": TokenAnswer,
    "logout": DoneAnswer,
    "token": TokenAnswer,
    "whoami": WhoamiAnswer,
    "load": LoadAnswer,
    "passages": PassagesAnswer,
    "demo": DemoAnswer,
    "usage": UsageAnswer,
    "caps set": CapsAnswer,
    "caps list": CapsAnswer,
    "caps remove": CapsAnswer,
    "deployments add": DeploymentTold,
    "deployments list": DeploymentsAnswer,
    "deployments remove": DoneAnswer,
    "webhooks add": WebhookAnswer,
    "webhooks list": WebhooksAnswer,
    "webhooks remove": DoneAnswer,
    "webhooks secret": WebhookAnswer,
    "webhooks redeliver": RedeliveredAnswer,
}
