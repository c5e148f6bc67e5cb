"""
What a catalog's work asks of its knowledge base, by the type of its data source.

How long a document takes goes by its text, which nobody knows before it is read; its size and its
format tell enough to keep the large ones from holding up the small.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from stackroom.model import Document, DocumentStatus, PerSourceType
from stackroom.ports.admission import Mode

BATCH = 10  # documents of an Ingest- or DeleteKnowledgeBaseDocuments call [API model]
# Bytes of text, from which a document is large: it has a call of its own, after all small ones.
LARGE = 1_000_000
# Bytes of text in a byte of the file, assumed: pictures and fonts count, and so does compression.
_TEXT_SHARE = {"pdf": 0.2, "doc": 0.5, "docx": 0.5, "xlsx": 2.0}
_TO_INGEST = (DocumentStatus.PENDING, DocumentStatus.INDEXING)


@dataclass(frozen=True, kw_only=True)
class Want:
    """`calls` are direct calls, 1 for a job; `size` is in bytes of text, about."""

    calls: int = 1
    size: int = 0
    is_large: bool = False


class Demand(Protocol):
    @property
    def mode(self) -> Mode: ...

    def of(self, documents: Iterable[Document]) -> Want:
        """What all that is open asks for; of direct calls, large documents only if all are."""
        ...


@dataclass(frozen=True)
class _OneJob:
    mode: Mode = Mode.EXCLUSIVE

    def of(self, documents: Iterable[Document]) -> Want:
        sizes = [text_size(each) for each in documents]
        return Want(size=sum(sizes), is_large=max(sizes, default=0) >= LARGE)


@dataclass(frozen=True)
class _DirectCalls:
    mode: Mode = Mode.SHARED

    def of(self, documents: Iterable[Document]) -> Want:
        documents = list(documents)
        small = [each for each in documents if not is_large(each)]
        if documents and not small:
            return Want(size=text_size(first_of(documents)), is_large=True)
        removed = sum(not is_to_ingest(each) for each in small)
        calls = math.ceil(removed / BATCH) + math.ceil((len(small) - removed) / BATCH)
        return Want(calls=max(1, calls), size=sum(map(text_size, small)))


DEMANDS: PerSourceType[Demand] = PerSourceType(own=_OneJob(), shared=_DirectCalls())


def is_to_ingest(document: Document) -> bool:
    """Else it is to be removed."""
    return document.status in _TO_INGEST


def text_size(document: Document) -> int:
    """About how many bytes of text there are to ingest; none in what is to be removed."""
    if not is_to_ingest(document):
        return 0
    extension = document.filename.rpartition(".")[2].lower()
    return round(document.size * _TEXT_SHARE.get(extension, 1.0))


def is_large(document: Document) -> bool:
    return text_size(document) >= LARGE


def first_of(documents: Iterable[Document]) -> Document:
    """Of large ones, which have a call each: the longest pending."""
    return min(documents, key=lambda each: (each.updated_at, each.document_id))
