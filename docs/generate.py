"""
Pages and parts of pages that `make docs` generates from the code that they describe.

Tests fail when a page is out of date. Configuration comes from the functions' settings classes.
"""

import importlib
from pathlib import Path

from docs.cli import CLI, CLI_SCHEMA, cli, cli_schema
from docs.clients import SHOWN, clients
from docs.fidelity import FIDELITY, FIDELITY_DATA, fidelity, fidelity_data
from docs.messages import MESSAGES, messages
from docs.state_machine import state_machine
from docs.tables import replaced, table

PAGES = Path(__file__).parent
CONFIGURATION = PAGES / "configuration.md"
HOW_IT_WORKS = PAGES / "how-it-works.md"
FUNCTIONS = {
    "upload_handler": "UploadSettings",
    "inspect": "InspectSettings",
    "ingest": "IngestSettings",
    "status_poller": "PollerSettings",
    "reconciler": "ReconcilerSettings",
    "event_publisher": "PublisherSettings",
    "search_index": "SearchIndexSettings",
    "retrieve": "RetrieveSettings",
    "catalog_tools": "CatalogToolsSettings",
    "identity_interceptor": "InterceptorSettings",
    "console": "ConsoleSettings",
    "agent_runner": "RunnerSettings",
    "webhook_sender": "WebhookSenderSettings",
    "opensearch_retrieve": "OpenSearchRetrieveSettings",
}
MEANINGS = {
    "KB_CATALOG_TABLE": "DynamoDB table of catalogs and documents",
    "KB_CONTROL_TABLE": (
        "DynamoDB table of leases, slots, admission, receipts, inspections, events"
    ),
    "KB_DOCS_BUCKET": "S3 bucket of the documents",
    "KB_POOL": (
        "JSON list of `knowledge_base_id`, `data_source_id`, `type` and `index`; or, shorter, an"
        " object with `ids` (`KB/DS` each), `indexes` (an ARN without each one's number) and common"
        " fields"
    ),
    "STATE_MACHINE_ARN": "state machine that ingests a catalog",
    "ADMISSION_JOBS": "concurrent ingestion jobs in the account",
    "ADMISSION_DIRECT_CALLS": "concurrent direct ingestions and deletions in the account",
    "ADMISSION_SECONDS_BETWEEN_STARTS": "seconds between starts of ingestion jobs",
    "INGEST_SPEED": "AWS seconds per second in the local mode",
    "VECTOR_INGESTION": (
        "JSON `vectorIngestionConfiguration` of new data sources: parsing and chunking"
    ),
    "KB_DOCS_OWNER": "AWS account of that bucket; for `MANAGED` knowledge bases",
    "PARSES_IMAGES": "`true` if the knowledge bases read images: scanned PDFs are then accepted",
    "OCR": "what reads PDF pages without text: `textract` or `none`",
    "INSPECT_SECONDS_PER_FILE": "time limit of one of three readings of a file",
    "RETRIEVE_MAX_TOKENS": "token budget of an answer's passages, unless the caller sets one",
    "RETRIEVE_PRIORITIZE_BY": (
        "order of passages, unless the caller sets one: `similarity`, `recency` or `balanced`"
    ),
    "RETRIEVE_LEAST_SCORE": "minimum score of passages, unless the caller sets one",
    "RERANK_MODEL_ARN": "Bedrock model that reranks passages",
    "RETRIEVE_VIA": "`s3vectors`: search the indexes directly; `bedrock`: through Retrieve",
    "EMBEDDING_MODEL": "model that embeds documents and questions",
    "EMBEDDING_DIMENSIONS": "dimensions of its vectors",
    "REDIS_URL": "Valkey or Redis that caches questions' vectors, else process memory",
    "RETRIEVE_FIRST_PAGE": "number that Bedrock gives a document's first page",
    "SEARCH_INDEXES": "JSON list of indexes to make searchable by words",
    "SEARCH_LANGUAGE": "language of their words, or `none`",
    "VECTOR_BUCKET_ARN": "their S3 Vectors bucket",
    "GUARDRAIL_ID": "Bedrock guardrail for questions, passages and answers",
    "GUARDRAIL_VERSION": "its version: a number, or `DRAFT`",
    "ANSWER_MODEL_ARN": "foundation model or inference profile that writes answers",
    "ANSWER_PROMPT": "its prompt, else that in src/stackroom/aws/bedrock/answer_prompt.py",
    "RETRIEVE_SHARING": "`on`: callers also find what others share with their groups",
    "KNOWLEDGE_BASES_CONFIG": (
        "JSON list of knowledge bases that agents may link to, and how to search each; or the one"
        " collection"
    ),
    "QUEUE_URLS": "JSON list of the SQS queues that invoke the function",
    "QUEUE_BATCH": "messages in a full batch",
    "INSPECTIONS_QUEUE_URL": "SQS queue of inspections",
    "AGENT_RUNS_QUEUE_URL": "SQS queue of agents' runs",
    "AGENT_MODELS": (
        "JSON list of models for agents, the default first; else any, by default `ANSWER_MODEL_ARN`"
    ),
    "WEBHOOKS_QUEUE_URL": "SQS queue of webhook deliveries",
    "WEBHOOK_KEY_ARN": "secret from which webhooks' secrets are derived",
    "WEBHOOK_REACH": (
        "`public`: Internet addresses only; `anywhere`: also private addresses, plain HTTP and any"
        " port"
    ),
    "DASHBOARD_NAME": "CloudWatch dashboard that operators see",
    "CONSOLE_URL": "the console's address, without a path",
    "CONSOLE_CLIENT_ID": "app client of the console's sign-in",
    "CONSOLE_KEY_ARN": "secret that encrypts sessions",
    "MCP_URL": "the gateway's address for clients",
    "COMMAND_LINE": ("the local mode's command, with `{}` for the command; else a deployment's"),
    "IDENTITY_ISSUER": "only issuer of valid tokens",
    "IDENTITY_JWKS_URL": "address of its public keys",
    "IDENTITY_AUDIENCES": "JSON list of valid audiences (URLs); `*` ends a gateway's id",
    "IDENTITY_CLIENT_IDS": "JSON list of valid app clients",
}
# The page's names for groups of functions that read the same variables.
SHARED = {
    "*search*": ("retrieve", "catalog_tools", "console", "agent_runner"),
    "*admission*": ("ingest", "status_poller", "catalog_tools", "console"),
}
_HEAD = """\
# Environment variables of the functions

`make deploy` and `make up` set these variables. To change a deployment, set the CDK context that
most of them follow from ([deploy.md](deploy.md)). `make docs` writes this page. Defaults stand in
parentheses; variables without one are required.

"""


def configuration() -> str:
    """Return a table with a row for each variable that any function reads."""
    readers: dict[str, list[str]] = {}
    defaults: dict[str, str] = {}
    for package, name in FUNCTIONS.items():
        settings = getattr(importlib.import_module(f"functions.{package}.handler"), name)
        for field, about in settings.model_fields.items():
            readers.setdefault(field.upper(), []).append(package)
            defaults[field.upper()] = "" if about.is_required() else _default(about.default)
    rows = (
        (f"`{name}`", MEANINGS[name] + defaults[name], _readers(readers[name])) for name in readers
    )
    shared = (f"{name}: {', '.join(found)}" for name, found in SHARED.items())
    return f"{_HEAD}{'; '.join(shared)}.\n\n{table(('variable', 'meaning', 'read by'), rows)}"


def _readers(packages: list[str]) -> str:
    for name, shared in SHARED.items():
        if set(shared) <= set(packages):
            return ", ".join([name, *(each for each in packages if each not in shared)])
    return ", ".join(packages)


def _default(value: object) -> str:
    return " (none)" if value in (None, "", ()) else f" (`{value}`)"


def main() -> None:
    CONFIGURATION.write_text(configuration(), "utf-8")
    FIDELITY.write_text(fidelity(), "utf-8")
    FIDELITY_DATA.write_text(fidelity_data(), "utf-8")
    CLI.write_text(cli(), "utf-8")
    CLI_SCHEMA.write_text(cli_schema(), "utf-8")
    SHOWN.write_text(clients(), "utf-8")
    MESSAGES.write_text(messages(), "utf-8")
    text = HOW_IT_WORKS.read_text("utf-8")
    HOW_IT_WORKS.write_text(replaced(text, "state-machine", state_machine()), "utf-8")


if __name__ == "__main__":
    main()
