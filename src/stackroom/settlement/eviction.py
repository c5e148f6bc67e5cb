"""
Taking rejected files out of the index at a catalog's own data source.

A job can't: whatever lies under its prefix, it ingests, a rejected file as nobody's. So they are
deleted directly, and again after the next job.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stackroom.model import DataSource, Document
from stackroom.ports.bucket import DocumentBucket
from stackroom.ports.ingestion import Busy, LocatedDocuments

_BATCH = 10  # documents of a call [API model bedrock-agent: DocumentIdentifiers]


@dataclass(frozen=True, kw_only=True)
class Eviction:
    located: LocatedDocuments
    bucket: DocumentBucket

    def can_name(self, document: Document) -> bool:
        """Whether a direct call can tell Bedrock of the document: not if its key is too long."""
        return self.located.takes(self.bucket.uri_of(document.s3_key))

    def ask(self, source: DataSource, documents: Sequence[Document]) -> Busy | None:
        """Have these deleted, which all can be named. Safe to repeat, as after a Busy."""
        for start in range(0, len(documents), _BATCH):
            batch = documents[start : start + _BATCH]
            uris = {each.document_id: self.bucket.uri_of(each.s3_key) for each in batch}
            answer = self.located.at(uris).delete(source, list(uris), token=_token(batch))
            if isinstance(answer, Busy):
                return answer
        return None


def _token(documents: Iterable[Document]) -> str:
    """Of exactly these tries: a repeated call is the same call, a later one never is."""
    tries = (f"{each.document_id} {each.version} {each.attempts}" for each in documents)
    # clientToken: 33 to 256 characters [API model]; a SHA-256 in hex has 64.
    return hashlib.sha256("\x00".join(("evict", *tries)).encode()).hexdigest()
