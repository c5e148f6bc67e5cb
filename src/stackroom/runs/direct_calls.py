"""Direct calls: documents are bound to each, then sent, ten at most."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

from stackroom.access.tenancy import REJECTED
from stackroom.clock import REAL_TIME, Pace, utc_now
from stackroom.concurrency import Beside, tried
from stackroom.errors import (
    DocumentsRefused,
    KnowledgeBaseThrottled,
    KnowledgeBaseUnavailable,
    is_everybodys,
)
from stackroom.model.attributes import TEXT_ID, Attribute
from stackroom.model.bucket import DocumentBucket
from stackroom.model.keys import TextName, locate
from stackroom.model.records import (
    STILL_ANSWERS,
    Catalog,
    DataSource,
    Document,
    DocumentStatus,
)
from stackroom.model.repositories import Documents
from stackroom.model.usage import Call, UsageBook, count_ingested
from stackroom.runs.bedrock_calls import Busy, DirectDocuments, Submission, client_token
from stackroom.runs.evidence import INGESTING, MAX_ATTEMPTS, UNSEEN
from stackroom.runs.run import DirectCall, DocumentName, Run, until_next_try
from stackroom.runs.verdicts import DocumentOutcome, Verdict
from stackroom.runs.work_queue import OpenWork, name_of
from stackroom.runs.workload import is_large
from stackroom.uploads import descriptions

_TAKEN = (DocumentStatus.INDEXING, DocumentStatus.DELETING, DocumentStatus.FAILED)
_NAME = 16  # characters of a call's token that tell it from the others of its round
_ROUND = "direct-"  # no job's id of Bedrock's has a hyphen [API model bedrock-agent: Id]


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
    """
    Without `sends_texts` Bedrock gets the files themselves, because somebody chose how it reads
    them; as it does where we could not read a file.
    """

    documents: Documents
    bucket: DocumentBucket
    direct: DirectDocuments
    usage: UsageBook
    sends_texts: bool = True
    pace: Pace = REAL_TIME
    now: Callable[[], datetime] = utc_now

    def bind(self, batch: list[Document], round_id: str) -> Bound:
        """
        `round_id` stands for the calls of one task in the records of their documents.

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
        there = {new.document_id: new for new, old in pairs if new == old}
        saved = self.documents.save_all(new for new, old in pairs if new != old)
        there |= {each.document_id: each for each in saved}
        ids = (each.document_id for each in bound if each.document_id in there)
        return Bound(documents={each: there[each] for each in ids}, submissions=submissions)

    def unbind(self, bound: Bound, *, has_tried: bool = False) -> list[Document]:
        """As before a call that Bedrock didn't take; if it `has_tried` them, that counts."""
        before = []
        for each in bound.documents.values():
            waits = each.status is DocumentStatus.INDEXING
            changes = {
                "status": DocumentStatus.PENDING if waits else each.status,
                "attempts": each.attempts if has_tried else max(0, each.attempts - 1),
                "ingestion_job_id": None,
            }
            before.append(each.model_copy(update=changes))
        return self.documents.save_all(before)

    def send(self, source: DataSource, bound: Bound, round_id: str) -> datetime | Busy:
        """When the call was accepted, by the knowledge base's own clock."""
        token = self.token_of(bound, round_id)
        if bound.submissions is None:
            answer = self.direct.delete(source, list(bound.documents), token=token)
        else:
            submitted = [bound.submissions[each] for each in bound.documents]
            answer = self.direct.ingest(source, submitted, token=token)
        if isinstance(answer, Busy):
            return answer
        said_at = [each.updated_at for each in answer.values() if each.updated_at is not None]
        return min(said_at, default=self.now())

    def at_work(
        self, source: DataSource, batch: Iterable[Document], bound: Bound
    ) -> dict[str, datetime]:
        """
        Return since when Bedrock works on documents that an earlier call brought, by document id.

        An older version may still be at work, so only what Bedrock says since this version was
        bound counts, or, of one that is tried again after it was accepted, since it lies there.
        """
        since = {
            each.document_id: each.updated_at
            if each.status is DocumentStatus.INDEXING
            else each.present_since
            for each in batch
            if each.attempts > 0 and is_of_calls(each) and each.document_id in bound.documents
        }
        if bound.submissions is None or not since:
            return {}
        return {
            document_id: detail.updated_at
            for document_id, detail in self.direct.details(source, since).items()
            if detail.status in INGESTING
            and detail.updated_at is not None
            and (begun := since[document_id]) is not None
            and detail.updated_at >= begun
        }

    @staticmethod
    def token_of(bound: Bound, round_id: str) -> str:
        """The same for the same call, however often a task that broke makes it."""
        versions = (
            f"{each.document_id} {each.version} {each.attempts}"
            for each in bound.documents.values()
        )
        return client_token(round_id, *versions)

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
                uri=self.bucket.uri_of(self._content_of(by_key[key])),
                # Whose it is, by where it lies: a sidecar says what whoever wrote it says.
                attributes={
                    **attributes,
                    "user_id": locate(key).user_id,
                    "catalog_id": by_key[key].catalog_id,
                    "document_id": by_key[key].document_id,
                    "filename": by_key[key].filename,
                    **_text_attribute(by_key[key]),
                },
            )
            for key, kept in self.bucket.sidecars_of(list(by_key)).items()
            if (attributes := descriptions.attributes_in(kept.body)) is not None
            and attributes.get("user_id") != REJECTED
        }

    def _content_of(self, document: Document) -> str:
        """Return the key of what Bedrock is to read: the document's text, or its file."""
        if document.text_id is None or not self.sends_texts:
            return document.s3_key
        user_id = locate(document.s3_key).user_id
        return TextName(user_id, document.catalog_id, document.document_id, document.text_id).key


def _text_attribute(document: Document) -> dict[str, Attribute]:
    return {} if document.text_id is None else {TEXT_ID: document.text_id}


# Documents that a run's progress names; it may have 256 KB [Step Functions quotas]. More that are
# set aside is no single document's trouble.
_MOST_ASIDE = 200
AFTER_REFUSAL = 60  # seconds, where Bedrock takes nothing else of this run


@dataclass(kw_only=True)
class CallSender:
    """
    Sends the calls of one start, and sees to what Bedrock answers.

    Bedrock refuses a call as a whole, so that one document would keep nine others waiting for ever.
    Those of a refused call are sent again, each alone. What is refused alone is sent alone again,
    for Bedrock may have been busy in words that nobody has read yet: it is at fault itself if other
    calls were accepted in that start, or since.

    `retry_after` are seconds after which a call may be taken that was not; `is_in_doubt` tells that
    a document was refused alone that may not be at fault.
    """

    calls: DirectCalls
    run: Run
    source: DataSource
    work: OpenWork
    now: datetime
    beside: Beside
    alone: list[DocumentName]
    set_aside: list[DocumentName]
    sent: list[DirectCall] = field(default_factory=list)
    refused: list[tuple[Catalog, Document, Verdict]] = field(default_factory=list)
    retry_after: int | None = None
    is_in_doubt: bool = False

    def send(self, found: Sequence[list[Document]]) -> None:
        """Bound beside each other; sent one after another, for five a second are the account's."""
        round_id = f"{_ROUND}{self.run.epoch}-{self.run.progress.round}"
        # Told with its documents; whose trouble it is, is decided there.
        bindings = [partial(tried, partial(self.calls.bind, each, round_id)) for each in found]
        for batch, bound in zip(found, self.beside(bindings), strict=True):
            self._send(batch, bound, round_id)

    def _send(self, batch: list[Document], bound: Bound | Exception, round_id: str) -> None:
        if isinstance(bound, Exception):
            self._failed_over(batch, bound)
            return
        # Whoever changed those meanwhile, or brings their sidecars, asks for a run.
        self._put_aside(each for each in batch if each.document_id not in bound.documents)
        if not bound.documents:
            return
        if self.retry_after is not None:  # after a call that was not taken
            self.calls.unbind(bound)
            self.work.is_more = True
            return
        try:
            bound = self._followed(batch, bound)
            if not bound.documents:
                return
            answer = self.calls.send(self.source, bound, round_id)
        except DocumentsRefused as refusal:
            self._was_refused(bound, refusal)
        except (KnowledgeBaseThrottled, KnowledgeBaseUnavailable) as error:
            self._was_unavailable(bound, error)
        except Exception as error:
            if is_everybodys(error):
                raise
            self._failed_over(self.calls.unbind(bound), error)
        else:
            self._was_answered(bound, answer, round_id)

    def _followed(self, batch: list[Document], bound: Bound) -> Bound:
        """
        Return what is to be sent, without what Bedrock still works on for an earlier call.

        Bedrock would begin that anew [Boise-State-Development/agentcore-public-stack, PR 901], so
        the earlier call is followed instead.
        """
        known = self.calls.at_work(self.source, batch, bound)
        if not known:
            return bound
        followed = [bound.documents[each] for each in known]
        began_at = min(min(bound.documents[each].updated_at, at) for each, at in known.items())
        self._add_call(followed, accepted_at=began_at, began_at=began_at)
        left = {each: it for each, it in bound.documents.items() if each not in known}
        return replace(bound, documents=left)

    def _was_answered(self, bound: Bound, answer: datetime | Busy, round_id: str) -> None:
        if isinstance(answer, Busy):
            self.calls.unbind(bound)
            self._wait()
            return
        documents = list(bound.documents.values())
        if bound.submissions is not None:
            users = {each: self.work.catalogs[each].user_id for each in self.work.catalogs}
            call = Call(round_id, self.calls.token_of(bound, round_id)[:_NAME])
            count_ingested(self.calls.usage, users, documents, at=self.now, call=call)
        self._add_call(documents, accepted_at=answer, began_at=self.now)

    def _add_call(
        self, documents: Sequence[Document], *, accepted_at: datetime, began_at: datetime
    ) -> None:
        self._not_alone(documents)
        at_work = (*(each for each in self.run.progress.calls if not each.is_over), *self.sent)
        self.sent.append(
            DirectCall(
                accepted_at=accepted_at,
                began_at=began_at,
                documents=tuple(map(name_of, documents)),
                size=sum(each.text_size for each in documents),
                size_ahead=sum(each.size for each in at_work),
                is_large=any(map(is_large, documents)),
                is_removal=not documents[0].is_to_ingest,
                is_probe=any(each.failing_since is not None for each in documents),
            )
        )

    def _was_refused(self, bound: Bound, refusal: DocumentsRefused) -> None:
        """
        No document fails for its first refusal alone, nor, before MAX_ATTEMPTS, while Bedrock
        takes nothing else: that may be no document's fault.
        """
        documents = list(bound.documents.values())
        self.work.is_more = True
        if len(documents) > 1:
            self.alone += map(name_of, self.calls.unbind(bound))
            return
        [document] = documents
        accepted = self.run.progress.accepted_calls + len(self.sent)
        before = self._refused_after(document)
        if before is None or (before == accepted and document.attempts < MAX_ATTEMPTS):
            self._alone_again(
                self.calls.unbind(bound, has_tried=True),
                refused_after=self.run.progress.accepted_calls,
            )
            self.is_in_doubt = True
            if not accepted:
                self.retry_after = AFTER_REFUSAL
            return
        self._not_alone(documents)
        reason = (
            f"Bedrock refuses the file ({refusal.why}); give it another name or other attributes, "
            "and drop it again"
        )
        if document.indexed_at is not None:
            reason += STILL_ANSWERS
        verdict = Verdict(outcome=DocumentOutcome.FAILED, reason=reason)
        self.refused.append((self.work.catalogs[document.catalog_id], document, verdict))

    def _was_unavailable(self, bound: Bound, error: Exception) -> None:
        """
        Bedrock is busy, or it fails over a document in the call: those go alone then, and one that
        it fails over time after time is left to a later run.
        """
        self._wait()
        documents = list(bound.documents.values())
        if isinstance(error, KnowledgeBaseThrottled):
            self.calls.unbind(bound)
        elif len(documents) > 1:
            self.alone += map(name_of, self.calls.unbind(bound))
        elif documents[0].attempts < MAX_ATTEMPTS:
            self._alone_again(self.calls.unbind(bound, has_tried=True))
        else:
            self._failed_over(self.calls.unbind(bound), error)

    def _failed_over(self, documents: Sequence[Document], error: Exception) -> None:
        """Whatever went wrong is one document's at most; that one is left to a later run."""
        if len(documents) > 1:
            self.alone += map(name_of, documents)
            self.work.is_more = True
            return
        self._not_alone(documents)
        self._put_aside(documents)
        self.work.failures |= dict.fromkeys((each.catalog_id for each in documents), error)

    def _wait(self) -> None:
        self.work.is_more = True
        self.retry_after = until_next_try(self.run.progress.waits, jitter=True)

    def _put_aside(self, documents: Iterable[Document]) -> None:
        self.set_aside += map(name_of, documents)
        if len(self.set_aside) > _MOST_ASIDE:
            raise KnowledgeBaseUnavailable("ingestion", f"{len(self.set_aside)} set aside")

    def _alone_again(self, documents: Sequence[Document], refused_after: int | None = None) -> None:
        self._not_alone(documents)
        changes = {"refused_after": refused_after}
        self.alone += [name_of(each).model_copy(update=changes) for each in documents]

    def _refused_after(self, document: Document) -> int | None:
        key = (document.catalog_id, document.document_id)
        found = (each for each in self.alone if (each.catalog_id, each.document_id) == key)
        return next((each.refused_after for each in found), None)

    def _not_alone(self, documents: Sequence[Document]) -> None:
        done = {(each.catalog_id, each.document_id) for each in documents}
        self.alone = [
            each for each in self.alone if (each.catalog_id, each.document_id) not in done
        ]
