"""Documents in messages: what AWS takes, and their texts, which a model reads."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bedrock_kb_simulator.errors import Unindexable
from bedrock_kb_simulator.messages import Block, Document, Text
from bedrock_kb_simulator.parsing import Parser
from bedrock_kb_simulator.rules import (
    DOCUMENT_COUNT,
    DOCUMENT_NAME,
    DOCUMENT_NAMES,
    DOCUMENT_SIZE,
    DOCUMENT_SOURCE,
    DOCUMENT_TEXT,
    DOCUMENT_UNREADABLE,
    NOT_SIMULATED,
)

# Underscores are taken, too, though AWS's text doesn't name them: see the rule.
_NAME = re.compile(r"(?:[A-Za-z0-9_()\[\]-]| (?! ))+")
_PLAIN = "txt"
_UNREAD = ("doc", "xls")  # of AWS's formats; ingestion reads neither, as Stackroom takes neither


@dataclass(frozen=True, kw_only=True)
class Attachments:
    """`parser` is the one that ingestion reads files with."""

    parser: Parser

    def document(self, block: Mapping[str, Any], at: str) -> Document:
        """Of a DocumentBlock at `at`; raises ServiceError."""
        name = block["name"]
        if not _NAME.fullmatch(name):
            raise DOCUMENT_NAME.broken()
        if (block.get("citations") or {}).get("enabled"):
            raise NOT_SIMULATED.broken(what="citations of documents")
        if "s3Location" in block["source"]:
            raise NOT_SIMULATED.broken(what="documents in S3 in a message")
        body = block["source"].get("bytes")
        if not body:
            raise DOCUMENT_SOURCE.broken(at=at)
        if len(body) > DOCUMENT_SIZE.limit:
            raise DOCUMENT_SIZE.broken(name=name)
        form = block.get("format") or _PLAIN
        if form in _UNREAD:
            raise NOT_SIMULATED.broken(what=f"documents in the format {form}")
        try:
            text = self.parser.text(body, f"document.{form}")
        except Unindexable:
            raise DOCUMENT_UNREADABLE.broken(at=at) from None
        return Document(name=name, text=text)


def check(documents: Sequence[Document]) -> None:
    """Those of a whole request; raises ServiceError."""
    if len(documents) > DOCUMENT_COUNT.limit:
        raise DOCUMENT_COUNT.broken()
    if len({document.name for document in documents}) < len(documents):
        raise DOCUMENT_NAMES.broken()


def check_beside(blocks: Sequence[Block]) -> None:
    """Where a message has documents, it has a text, too; raises ServiceError."""
    has_document = any(isinstance(block, Document) for block in blocks)
    if has_document and not any(isinstance(block, Text) for block in blocks):
        raise DOCUMENT_TEXT.broken()
