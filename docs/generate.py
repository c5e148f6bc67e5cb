"""
Pages, and parts of pages, made from what they describe.

    make docs       writes them anew; tests fail when they are out of step

Configuration comes from the functions' settings classes.
"""

import importlib
from pathlib import Path

from docs.cli import CLI, cli
from docs.clients import SHOWN, clients
from docs.fidelity import FIDELITY, FIDELITY_DATA, fidelity, fidelity_data
from docs.state_machine import state_machine
from docs.tables import replaced, table

PAGES = Path(__file__).parent
CONFIGURATION = PAGES / "configuration.md"
HOW_IT_WORKS = PAGES / "how-it-works.md"
FUNCTIONS = {
    "upload_handler": "handler.UploadSettings",
    "inspect": "handler.InspectSettings",
    "ingest": "deployed.IngestSettings",
    "status_poller": "handler.PollerSettings",
    "reconciler": "handler.ReconcilerSettings",
    "event_publisher": "handler.PublisherSettings",
    "search_index": "handler.SearchIndexSettings",
    "retrieve": "handler.RetrieveSettings",
    "catalog_tools": "handler.CatalogToolsSettings",
    "identity_interceptor": "handler.InterceptorSettings",
    "console": "handler.ConsoleSettings",
    "agent_runner": "handler.RunnerSettings",
    "webhook_sender": "handler.WebhookSenderSettings",
    "prewarm": "handler.PrewarmSettings",
    "opensearch_retrieve": "handler.OpenSearchRetrieveSettings",
}
MEANINGS = {
    "KB_CATALOG_TABLE": "DynamoDB table of catalogs and documents",
    "KB_CONTROL_TABLE": (
        "DynamoDB table of leases, slots, admission, receipts, inspections, turns, events"
    ),
    "KB_DOCS_BUCKET": "S3 bucket of the documents",
    "KB_POOL": (
        "JSON list of `knowledge_base_id`, `data_source_id`, `type` and `index`; or, shorter, an"
        " object of `ids` (`KB/DS` of each), `indexes` (an ARN up to the number of each) and what"
        " all have in common"
    ),
    "STATE_MACHINE_ARN": "state machine that ingests a catalog",
    "ADMISSION_JOBS": "ingestion jobs at a time in the account",
    "ADMISSION_DIRECT_CALLS": "direct calls, ingesting or deleting, at a time in the account",
    "ADMISSION_SECONDS_BETWEEN_STARTS": "from the start of one ingestion job to the next",
    "RECONCILER_REQUESTS_A_SECOND": "of the reconciler for documents of knowledge bases; below 5",
    "INGEST_SPEED": "how much faster than AWS the simulator's clock is, in the local mode",
    "VECTOR_INGESTION": (
        "JSON of the API's `vectorIngestionConfiguration` for the data sources it makes: how their"
        " documents are read and cut"
    ),
    "KB_DOCS_OWNER": (
        "the AWS account that has that bucket; where a knowledge base of the pool is `MANAGED`"
    ),
    "PARSES_IMAGES": "`true`: the knowledge bases read images, so a PDF of scans is no defect",
    "INSPECT_SECONDS_PER_FILE": "how long one file may be looked at",
    "RETRIEVE_MAX_TOKENS": "budget of an answer's passages, unless the caller says otherwise",
    "RETRIEVE_PRIORITIZE_BY": (
        "which passages come first in it, unless the caller says otherwise: `similarity`, `recency`"
        " or `balanced`"
    ),
    "RETRIEVE_LEAST_SCORE": (
        "passages that score less are left out, unless the caller says otherwise"
    ),
    "RERANK_MODEL_ARN": "a model of Bedrock that puts what was found in order",
    "RETRIEVE_VIA": "`s3vectors`: search each index itself; `bedrock`: through Retrieve",
    "EMBEDDING_MODEL": "model of the documents' vectors, and so of the questions'",
    "EMBEDDING_DIMENSIONS": "how many numbers such a vector has",
    "REDIS_URL": "Valkey or Redis, where questions' vectors are kept; in the process if not set",
    "RETRIEVE_FIRST_PAGE": "the number that Bedrock gives a document's first page",
    "SEARCH_INDEXES": "JSON list of the names of indexes that are to be searched by words",
    "SEARCH_LANGUAGE": "the language of their words, or `none`",
    "VECTOR_BUCKET_ARN": "the S3 Vectors bucket that they are in",
    "GUARDRAIL_ID": "Bedrock guardrail over questions, passages and answers; none if not set",
    "GUARDRAIL_VERSION": "its version: a number, or `DRAFT`",
    "ANSWER_MODEL_ARN": "foundation model or inference profile that answers questions",
    "ANSWER_PROMPT": (
        "template of what it is told; the one in src/stackroom/aws/bedrock/answer_prompt.py"
    ),
    "RETRIEVE_SHARING": "`on`: callers find what others share with their groups, too",
    "KNOWLEDGE_BASES_CONFIG": (
        "JSON list of knowledge bases and how each is searched: what everybody's agents may be"
        " linked to; or the one collection"
    ),
    "QUEUE_URL": "SQS queue that the function takes from; a full batch is sent there once more",
    "QUEUE_BATCH": "how many messages a full batch of it has",
    "INSPECTIONS_QUEUE_URL": "SQS queue of what is to be inspected",
    "AGENT_RUNS_QUEUE_URL": "SQS queue of what users have told their agents",
    "AGENT_MODELS": "JSON list of the models that agents may be given, the usual one first; without"
    " any, they may have any model, and the usual one is that of `ANSWER_MODEL_ARN`",
    "WEBHOOKS_QUEUE_URL": "SQS queue of what webhooks are to be told",
    "WEBHOOK_KEY_ARN": "the secret that webhooks' secrets are derived from",
    "WEBHOOK_REACH": (
        "`public`: addresses of the Internet alone; `anywhere`: private ones, plain HTTP and every"
        " port, too, as in the local mode"
    ),
    "DASHBOARD_NAME": "the CloudWatch dashboard whose figures operators are shown",
    "CONSOLE_URL": "where browsers find the console, without a path",
    "CONSOLE_CLIENT_ID": "the app client that signs people in there",
    "CONSOLE_KEY_ARN": "the secret that sessions are encrypted with",
    "MCP_URL": "the gateway's address, as clients are told it",
    "COMMAND_LINE": (
        "how the local mode's command line is called, `{}` in place of the verb; a deployment's, if"
        " not set"
    ),
    "IDENTITY_ISSUER": "the only issuer whose tokens count",
    "IDENTITY_JWKS_URL": "where that issuer's public keys are",
    "IDENTITY_AUDIENCES": "JSON list of URLs that a token may be for; `*` ends a gateway's id",
    "IDENTITY_CLIENT_IDS": "JSON list of the app clients whose tokens count",
}
_HEAD = """\
# What the functions read

Made by `make docs` from the settings classes of functions: environment variables, which
`make deploy` and `make up` set. What you choose is CDK context, of which most of them follow
([deploy.md](deploy.md#settings)).

"""


def configuration() -> str:
    """A row for each variable that any function reads."""
    readers: dict[str, list[str]] = {}
    defaults: dict[str, str] = {}
    for package, place in FUNCTIONS.items():
        module, name = place.split(".")
        settings = getattr(importlib.import_module(f"functions.{package}.{module}"), name)
        for field, about in settings.model_fields.items():
            readers.setdefault(field.upper(), []).append(package)
            defaults[field.upper()] = "" if about.is_required() else f"`{about.default}`"
    rows = (
        (f"`{name}`", MEANINGS[name], defaults[name], ", ".join(readers[name])) for name in readers
    )
    return _HEAD + table(("variable", "what it is", "default", "read by"), rows)


def main() -> None:
    CONFIGURATION.write_text(configuration(), "utf-8")
    FIDELITY.write_text(fidelity(), "utf-8")
    FIDELITY_DATA.write_text(fidelity_data(), "utf-8")
    CLI.write_text(cli(), "utf-8")
    SHOWN.write_text(clients(), "utf-8")
    text = HOW_IT_WORKS.read_text("utf-8")
    HOW_IT_WORKS.write_text(replaced(text, "state-machine", state_machine()), "utf-8")


if __name__ == "__main__":
    main()
