"""One direct call: documents are bound to it, then sent, ten at most."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from stackroom.clock import Pace, RealTime, utc_now
from stackroom.keys import locate
from stackroom.model import DataSource, Document, DocumentStatus
from stackroom.ports.bucket import DocumentBucket
from stackroom.ports.documents import Documents
from stackroom.ports.ingestion import Busy, DirectDocuments, Submission
from stackroom.runs.progress import Run
from stackroom.settlement.standings import UNSEEN
from stackroom.tenancy import REJECTED
from stackroom.uploads import sidecars

_TAKEN = (DocumentStatus.INDEXING, DocumentStatus.DELETING, DocumentStatus.FAILED)


_ROUND = "direct-"  # no job's id of Bedrock's has a hyphen [API model bedrock-agent: Id]


def round_id_of(run: Run) -> str:
    """What stands for the calls of one task in the records of their documents."""
    return f"{_ROUND}{run.epoch}-{run.progress.round}"


def is_of_calls(document: Document) -> bool:
    """Whether direct calls have taken it up, and no job."""
    return document.ingestion_job_id is not None and document.ingestion_job_id.startswith(_ROUND)


@dataclass(frozen=True, kw_only=True)
class Bound:
    """Documents by id, as saved; `submissions` is None if they are to be removed."""

    documents: dict[str, Document]
    submissions: Mapping[str, Submission] | None


@dataclass(frozen=True, kw_only=True)
class DirectCalls:
    documents: Documents
    bucket: DocumentBucket
    direct: DirectDocuments
    pace: Pace = field(default_factory=RealTime)
    now: Callable[[], datetime] = utc_now

    def bind(self, batch: list[Document], round_id: str) -> Bound:
        """
        Before the call, so that what a crash leaves behind is known to be under way.

        What someone else has changed meanwhile, or has no sidecar, is left out: whoever brings a
        record in step asks for a run.
        """
        bound = [self._bound(each, round_id) for each in batch]
        removing = bound[0].status is not DocumentStatus.INDEXING
        submissions = None if removing else self._submissions(bound)
        pairs = [
            (new, old)
            for new, old in zip(bound, batch, strict=True)
            if submissions is None or new.document_id in submissions
        ]
        unchanged = {new.document_id for new, old in pairs if new == old}
        saved = self.documents.save_all(new for new, old in pairs if new != old)
        by_id = {each.document_id: each for each in saved}
        documents = {
            new.document_id: by_id.get(new.document_id, new)
            for new, _ in pairs
            if new.document_id in by_id or new.document_id in unchanged
        }
        return Bound(documents=documents, submissions=submissions)

    def unbind(self, bound: Bound, *, has_tried: bool = False) -> list[Document]:
        """As before a call that Bedrock didn't take; if it `has_tried` them, that counts."""
        before = [
            each.model_copy(
                update={
                    "status": DocumentStatus.PENDING
                    if each.status is DocumentStatus.INDEXING
                    else each.status,
                    "attempts": each.attempts if has_tried else max(0, each.attempts - 1),
                    "ingestion_job_id": None,
                }
            )
            for each in bound.documents.values()
        ]
        return self.documents.save_all(before)

    def send(self, source: DataSource, bound: Bound, round_id: str) -> datetime | Busy:
        """When the call was accepted, by the knowledge base's own clock."""
        token = _token(round_id, bound.documents.values())
        if bound.submissions is None:
            answer = self.direct.delete(source, list(bound.documents), token=token)
        else:
            submitted = [bound.submissions[each] for each in bound.documents]
            answer = self.direct.ingest(source, submitted, token=token)
        if isinstance(answer, Busy):
            return answer
        said_at = [each.updated_at for each in answer.values() if each.updated_at is not None]
        return min(said_at, default=self.now())

    def _bound(self, document: Document, round_id: str) -> Document:
        is_bound = document.ingestion_job_id == round_id and document.attempts > 0
        if is_bound and document.status in _TAKEN:
            return document
        taken, now = document, self.now()
        if document.status is DocumentStatus.PENDING:
            until = now + timedelta(seconds=self.pace.here(UNSEEN))
            taken = document.moved(DocumentStatus.INDEXING, at=now)
            taken = taken.model_copy(update={"unseen_until": until})
        return taken.model_copy(
            update={"ingestion_job_id": round_id, "attempts": document.attempts + 1}
        )

    def _submissions(self, documents: Iterable[Document]) -> dict[str, Submission]:
        """By document id, with the attributes of its sidecar; of those that have one."""
        by_key = {each.s3_key: each for each in documents}
        return {
            by_key[key].document_id: Submission(
                document_id=by_key[key].document_id,
                uri=self.bucket.uri_of(key),
                attributes={**attributes, **_identity(by_key[key])},
            )
            for key, kept in self.bucket.sidecars_of(list(by_key)).items()
            if (attributes := sidecars.attributes_in(kept.body)) is not None
            and attributes.get("user_id") != REJECTED
        }


def _identity(document: Document) -> dict[str, str]:
    """Whose it is, by where it lies: a sidecar says what whoever wrote it says."""
    return {
        "user_id": locate(document.s3_key).user_id,
        "catalog_id": document.catalog_id,
        "document_id": document.document_id,
        "filename": document.filename,
    }


def _token(round_id: str, documents: Iterable[Document]) -> str:
    """Of exactly these versions: a repeated call is the same call, a later one never is."""
    versions = (f"{each.document_id} {each.version} {each.attempts}" for each in documents)
    # clientToken: 33 to 256 characters [API model]; a SHA-256 in hex has 64.
    return hashlib.sha256("\x00".join((round_id, *versions)).encode()).hexdigest()
