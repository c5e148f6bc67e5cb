"""Chunking, parsing and OCR of documents, from the CDK context; the same for every data source."""

import json
import re
from dataclasses import dataclass
from typing import Any, Literal, Self

import aws_cdk as cdk
from constructs import Construct

from infra.contexts import choice
from infra.pool_type import vector_store
from stackroom_constructs.argument_checks import InvalidArgument
from stackroom_constructs.chunking import Chunking, Strategy
from stackroom_constructs.created_knowledge_base import vector_ingestion
from stackroom_constructs.parsing import Parsing

_NUMBER = re.compile(r"[0-9]{1,5}")
_TWO = re.compile(r"(?P<parent>[0-9]{1,5}),(?P<child>[0-9]{1,5})")
# Settings by their names in `stackroom_constructs`; values are their names in the context.
_CONTEXT_NAMES = {
    "chunking": "chunking",
    "max_tokens": "chunk_tokens",
    "parent_tokens": "chunk_tokens",
    "child_tokens": "chunk_tokens",
    "overlap_percentage": "chunk_overlap",
    "overlap_tokens": "chunk_overlap",
    "parsing": "parsing",
    "parsing_model": "parsing_model",
}


@dataclass(frozen=True, kw_only=True)
class Ingestion:
    chunking: Chunking
    parsing: Parsing
    store: str
    ocr: str  # "textract": reads the pages of PDFs that have no text; "none": no OCR

    @classmethod
    def from_context(cls, app: cdk.App) -> Self:
        store = vector_store(app)
        try:
            chunking = _chunking(app)
            chunking.check_store(store)
            model = str(app.node.get_context("parsing_model"))
            parsing = Parsing(parser=app.node.get_context("parsing"), model=model or None)
            parsing.check_store(store)
        except InvalidArgument as error:
            name = _CONTEXT_NAMES[error.argument]
            raise ValueError(f"context {name} {error.value!r} must be {error.allowed}") from error
        if (
            chunking.strategy == "hierarchical"
            and app.node.get_context("retrieve_via") != "bedrock"
        ):
            raise ValueError(
                "context chunking 'hierarchical' must be used with retrieve_via 'bedrock': a query"
                " of the index itself would return the small chunks without those around them"
            )
        if store == "MANAGED" and chunking.strategy != "default":
            raise ValueError(
                f"context chunking {chunking.strategy!r} must be empty with knowledge_base_type"
                " 'managed': users report that one which chooses its embedding model refuses any"
            )
        return cls(
            chunking=chunking, parsing=parsing, store=store, ocr=_ocr(app, parsing.parser, store)
        )

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of KnowledgeBaseCreation."""
        return {
            "chunking": self.chunking.strategy,
            "max_tokens": self.chunking.max_tokens,
            "overlap_percentage": self.chunking.overlap_percentage,
            "parent_tokens": self.chunking.parent_tokens,
            "child_tokens": self.chunking.child_tokens,
            "overlap_tokens": self.chunking.overlap_tokens,
            "parsing": self.parsing.parser,
            "parsing_model": self.parsing.model,
        }

    def data_source_environment(self, scope: Construct) -> dict[str, str]:
        """
        Return the variables of the function that creates data sources; empty for default ingestion.
        """
        chosen = vector_ingestion(scope, self.chunking, self.parsing)
        return {} if chosen is None else {"VECTOR_INGESTION": json.dumps(chosen)}

    @property
    def inspection_environment(self) -> dict[str, str]:
        """
        The variables of the function that reads files.

        It reports a PDF without text as defective, unless Bedrock reads its images, as MANAGED
        knowledge bases always do.
        https://docs.aws.amazon.com/bedrock/latest/userguide/kb-managed-customize-ingestion.html
        """
        reads_images = self.store == "MANAGED" or self.parsing.parser != "default"
        ocr = {} if self.ocr == "none" else {"OCR": self.ocr}
        return {"PARSES_IMAGES": "true"} if reads_images else ocr


def _ocr(app: cdk.App, parser: str, store: str) -> str:
    """Return the OCR engine. Raises ValueError if Bedrock reads the files itself."""
    chosen = choice(app, "ocr", ("none", "textract"))
    conflicts = {
        f"parsing {parser!r}": parser != "default",
        "knowledge_base_type 'managed'": store == "MANAGED",
        "catalog_data_sources 's3'": app.node.get_context("catalog_data_sources") == "s3",
    }
    if chosen != "none" and (others := [each for each, is_set in conflicts.items() if is_set]):
        raise ValueError(
            f"context ocr {chosen!r} must be 'none' with {others[0]}: Bedrock then reads the files"
            " itself, not the text to which OCR contributes"
        )
    return chosen


def _chunking(app: cdk.App) -> Chunking:
    strategy: Strategy | Literal[""] = choice(
        app, "chunking", ("", "fixed", "hierarchical", "semantic", "none")
    )
    tokens = str(app.node.get_context("chunk_tokens"))
    overlap = str(app.node.get_context("chunk_overlap"))
    numbers: dict[str, Any] = {}
    match strategy:
        case "fixed":
            numbers |= _one("chunk_tokens", tokens, "max_tokens")
            numbers |= _one("chunk_overlap", overlap, "overlap_percentage")
        case "semantic":
            numbers |= _one("chunk_tokens", tokens, "max_tokens")
            _require_empty("chunk_overlap", overlap, strategy)
        case "hierarchical":
            numbers |= _two(tokens)
            numbers |= _one("chunk_overlap", overlap, "overlap_tokens")
        case _:
            _require_empty("chunk_tokens", tokens, strategy)
            _require_empty("chunk_overlap", overlap, strategy)
    return Chunking(strategy=strategy or "default", **numbers)


def _one(name: str, text: str, argument: str) -> dict[str, int]:
    if not text:
        return {}
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"context {name} {text!r} must be a whole number, or empty")
    return {argument: int(text)}


def _two(text: str) -> dict[str, int]:
    if not text:
        return {}
    match = _TWO.fullmatch(text)
    if match is None:
        raise ValueError(
            f"context chunk_tokens {text!r} must be the parent's and the child's, such as 1500,300"
        )
    return {"parent_tokens": int(match["parent"]), "child_tokens": int(match["child"])}


def _require_empty(name: str, text: str, strategy: str) -> None:
    if text:
        raise ValueError(f"context {name} {text!r} must be empty with chunking {strategy!r}")
