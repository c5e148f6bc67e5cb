"""
What documents ask of their knowledge base, by how much text they have.

How long a document takes goes by its text, which nobody knows before it is read; its size and its
format tell enough to keep the large ones from holding up the small.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from stackroom.model import Document, DocumentStatus

BATCH = 10  # documents of an Ingest- or DeleteKnowledgeBaseDocuments call [API model]
# Bytes of text, from which a document is large: it has a call of its own.
LARGE = 1_000_000
# Bytes of text in a byte of the file, assumed: pictures and fonts count, and so does compression.
_TEXT_SHARE = {"pdf": 0.2, "doc": 0.5, "docx": 0.5, "xlsx": 2.0}
_TO_INGEST = (DocumentStatus.PENDING, DocumentStatus.INDEXING)


@dataclass(frozen=True, kw_only=True)
class Demand:
    """`size` is in bytes of text, about; `is_large` if any document is."""

    size: int = 0
    is_large: bool = False


def demand_of_job(documents: Iterable[Document]) -> Demand:
    """Of one job that takes all of them."""
    sizes = [text_size(each) for each in documents]
    return Demand(size=sum(sizes), is_large=max(sizes, default=0) >= LARGE)


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
