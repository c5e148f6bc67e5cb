"""
The README's tables, made from what they describe.

    make docs       writes them anew; tests fail when they are out of step

Configuration comes from the functions' settings classes, permissions from the synthesised roles.
"""

import importlib
import json
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from docs.cli import CLI, cli
from docs.fidelity import FIDELITY, fidelity
from docs.state_machine import state_machine
from stackroom_local.cli.verbs import EXIT_CODES, FAILS_WHEN

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
FUNCTIONS = {
    "upload_handler": "handler.UploadSettings",
    "inspect": "handler.InspectSettings",
    "ingest": "deployed.IngestSettings",
    "status_poller": "handler.PollerSettings",
    "reconciler": "handler.ReconcilerSettings",
    "search_index": "handler.SearchIndexSettings",
    "retrieve": "handler.RetrieveSettings",
    "catalog_tools": "handler.CatalogToolsSettings",
    "identity_interceptor": "handler.InterceptorSettings",
    "console": "handler.ConsoleSettings",
    "agent_runner": "handler.RunnerSettings",
    "prewarm": "handler.PrewarmSettings",
    "opensearch_retrieve": "handler.OpenSearchRetrieveSettings",
}
# In the templates only if the context says so, or in an app of its own; test_search.py and
# test_opensearch_retrieve.py of tests/infra hold it to this.
UNDEPLOYED = {
    "prewarm": (
        "`bedrock:InvokeModel` · `bedrock:Retrieve` · `cloudwatch:GetMetricData` ·"
        " `s3vectors:GetIndex` · `s3vectors:GetVectors` · `s3vectors:QueryVectors`, there only with"
        " `prewarm_minutes`"
    ),
    "opensearch_retrieve": (
        "`aoss:APIAccessAll` · `bedrock:InvokeModel`, in a stack of its own (docs/opensearch.md)"
    ),
}
MEANINGS = {
    "KB_CATALOG_TABLE": "DynamoDB table of catalogs and documents",
    "KB_CONTROL_TABLE": "DynamoDB table of leases, slots, admission, receipts, inspections, turns",
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
    "RETRIEVE_MIN_SCORE": "passages below are left out, unless the caller says otherwise",
    "RETRIEVE_MAX_TOKENS": "budget of an answer's passages, unless the caller says otherwise",
    "RETRIEVE_PRIORITIZE_BY": (
        "which passages come first in it, unless the caller says otherwise: `similarity`, `recency`"
        " or `balanced`"
    ),
    "RETRIEVE_CALIBRATION": (
        "what is too little to be an answer, by embedding model and language: a name in"
        " `src/stackroom/retrieval/calibrations.py`"
    ),
    "RETRIEVE_LEAST_SCORE": "that the best passage must have; else nothing found is an answer",
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
    "ANSWER_VIA": "`converse`: from what a search finds; or `retrieve_and_generate`: by Bedrock",
    "ANSWER_MODEL_ARN": "foundation model or inference profile that answers questions",
    "ANSWER_PROMPT": "template of what it is told; the one in src/stackroom/aws/answer_prompt.py",
    "RETRIEVE_SHARING": "`on`: callers find what others share with their groups, too",
    "KNOWLEDGE_BASES_CONFIG": (
        "JSON list of knowledge bases and how each is searched: what everybody's agents may be"
        " linked to; or the one collection"
    ),
    "QUEUE_URL": "SQS queue that the function takes from; a full batch is sent there once more",
    "QUEUE_BATCH": "how many messages a full batch of it has",
    "INSPECTIONS_QUEUE_URL": "SQS queue of what is to be inspected",
    "AGENT_RUNS_QUEUE_URL": "SQS queue of what users have told their agents",
    "AGENT_MODELS": "JSON list of the models that agents may be given, the usual one first",
    "DASHBOARD_NAME": "the CloudWatch dashboard whose figures operators are shown",
    "CONSOLE_URL": "where browsers find the console, without a path",
    "CONSOLE_CLIENT_ID": "the app client that signs people in there",
    "CONSOLE_KEY_ARN": "the secret that sessions are encrypted with",
    "PREWARM_MINUTES": "for how long nobody must have asked, to be asked by the schedule",
    "IDENTITY_ISSUER": "the only issuer whose tokens count",
    "IDENTITY_JWKS_URL": "where that issuer's public keys are",
    "IDENTITY_CLIENT_IDS": "JSON list of the app clients whose tokens count",
}
_ROLE_OF = re.compile(r"functions\.(?P<package>\w+)\.handler\.handler")
# Every function has these for its log group, its traces and its queue.
_HOUSE = ("logs:", "xray:", "sqs:")


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
    return _table(("variable", "what it is", "default", "read by"), rows)


def exit_codes() -> str:
    """What each exit code means, and of each verb what it fails at."""
    codes = _table(
        ("exit code", "meaning"), ((f"`{code}`", text) for code, text in EXIT_CODES.items())
    )
    verbs = _table(
        ("verb", "exits with 1 when"),
        ((f"`{verb}`", when) for verb, when in FAILS_WHEN.items()),
    )
    return f"{codes}\n\n{verbs}"


def permissions(templates: Iterable[Mapping[str, Any]]) -> str:
    """A row for each function, from the policies of its role."""
    allowed: dict[str, set[str]] = {}
    for template in templates:
        resources = template["Resources"]
        for resource in resources.values():
            handler = str(resource.get("Properties", {}).get("Handler", ""))
            if found := _ROLE_OF.fullmatch(handler):
                role = resource["Properties"]["Role"]["Fn::GetAtt"][0]
                allowed[found["package"]] = set(_actions(resources, role))
    rows = (
        (
            f"`{package}`",
            " · ".join(f"`{each}`" for each in sorted(allowed[package])) or "none"
            if package in allowed
            else UNDEPLOYED[package],
        )
        for package in FUNCTIONS
    )
    return _table(("function", "actions"), rows)


def section(text: str, name: str) -> str:
    """What stands between the marks of this name."""
    return text.split(f"<!-- {name} -->")[1].split(f"<!-- /{name} -->", maxsplit=1)[0].strip()


def replaced(text: str, name: str, by: str) -> str:
    """The text with something else between the marks of this name."""
    old = text.split(f"<!-- {name} -->")[1].split(f"<!-- /{name} -->", maxsplit=1)[0]
    return text.replace(f"<!-- {name} -->{old}<!-- /", f"<!-- {name} -->\n{by}\n<!-- /")


def _actions(resources: Mapping[str, Any], role: str) -> Iterable[str]:
    for resource in resources.values():
        properties = resource.get("Properties", {})
        if resource["Type"] == "AWS::IAM::Policy" and {"Ref": role} in properties["Roles"]:
            for statement in properties["PolicyDocument"]["Statement"]:
                actions = statement["Action"]
                listed = [actions] if isinstance(actions, str) else actions
                yield from (each for each in listed if not each.startswith(_HOUSE))


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def main(assembly: Path) -> None:
    templates = [json.loads(path.read_text("utf-8")) for path in assembly.glob("*.template.json")]
    text = README.read_text("utf-8")
    for name, table in {
        "configuration": configuration(),
        "permissions": permissions(templates),
        "state-machine": state_machine(),
        "exit-codes": exit_codes(),
    }.items():
        text = replaced(text, name, table)
    README.write_text(text, "utf-8")
    FIDELITY.write_text(fidelity(), "utf-8")
    CLI.write_text(cli(), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
