"""
What is known of each document, gathered once from everyone who knows something.

Bedrock's word on the document comes first, and how far that word goes. A job that is COMPLETE says
nothing of a single document: every job goes over all that lies under the prefix, and leaves the
status of what it finds unchanged as an earlier one wrote it. After a direct call the word counts
from the moment when Bedrock accepted it, by its own clock. Our own inspection and searches
complete it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from stackroom.access.tenancy import Leftovers, Owners, document_id_in, key_of
from stackroom.clock import REAL_TIME, Pace, utc_now
from stackroom.concurrency import Beside, chunks, in_threads
from stackroom.model.filters import Conditions, Has, any_of
from stackroom.model.keys import document_id_of
from stackroom.model.passages import KnowledgeBase, Passage
from stackroom.model.records import UNEXPLAINED_FAILURE, Catalog, Document, DocumentStatus
from stackroom.model.repositories import Inspected, InspectionResults
from stackroom.runs.bedrock_calls import NOT_FOUND, DocumentDetail, Job, JobState
from stackroom.runs.outages import NOT_POSTPONED, Unexplained

T = TypeVar("T")

# Bedrock's DocumentStatus, sorted by what it means for us: the twelve values [API model
# bedrock-agent, KnowledgeBaseDocumentDetail].
INDEXED = frozenset({"INDEXED"})
INGESTING = frozenset({"PENDING", "STARTING", "IN_PROGRESS"})
UNDER_WAY = INGESTING | {"DELETING", "DELETE_IN_PROGRESS"}
ABSENT = frozenset({"NOT_FOUND"})
# With what we tell if Bedrock gives no reason.
FAILURES = {
    "FAILED": UNEXPLAINED_FAILURE,
    "PARTIALLY_INDEXED": "Bedrock indexed only a part of the file; drop it again to retry",
    "METADATA_PARTIALLY_INDEXED": (
        "Bedrock indexed only a part of the file's attributes; drop it again to retry"
    ),
    "METADATA_UPDATE_FAILED": (
        "Bedrock could not store the file's attributes; drop it again to retry"
    ),
    "IGNORED": "Bedrock does not take this file; save it in another format",
}
# Nothing of the document is in the index.
_WITHOUT_PASSAGES = ABSENT | {"FAILED", "IGNORED"}
KNOWN_STATUSES = INDEXED | UNDER_WAY | ABSENT | FAILURES.keys()


def may_be_found(status: str) -> bool:
    """Whether the index may hold passages of a document of that status, now or soon."""
    return status not in _WITHOUT_PASSAGES


def failure_of(status: str) -> str:
    """One that we don't know is its own document's affair, and not the whole round's."""
    return FAILURES.get(
        status,
        f"Bedrock gives the file a status that Stackroom doesn't know, {status}; tell your "
        "operator, and drop it again to retry",
    )


MAX_ATTEMPTS = 3
# Seconds from when Bedrock accepted a job; waiting for a grant has no deadline. The largest job
# allowed (100 GB, 5,000,000 files) is far from a catalog's size.
JOB_DEADLINE = 12 * 3600.0
# Seconds from when it accepted a direct call, whose files are at most 50 MB each.
_CALL_DEADLINE = 2 * 3600.0
# Seconds on AWS in which what a direct call has brought may not be seen: neither by
# GetKnowledgeBaseDocuments nor by a search. That it happens is measured by a user (rules
# document.unseen, retrieve.filtered-lag); how long, nobody has told. A document that is sent again
# while it is at work starts anew, so this is longer than any ingestion that was seen: 330 s, of a
# PDF of 1.5 MB [Boise-State-Development/agentcore-public-stack, PR 901, 2026]. Not longer than
# REMOVAL_DEADLINE, for a removal waits for it, too. [assumed: document.unseen]
UNSEEN = 600.0
# Seconds in which what has been removed must be out of every search: "a few minutes" [Bedrock user
# guide: kb-data-source-sync-ingest]. Then it is removed again, for others wait behind it.
# [assumed: deletion.searches]
REMOVAL_DEADLINE = 600.0
_CUT_SHORT = {JobState.FAILED, JobState.STOPPED}
_NEVER_TAKEN_UP = f"{MAX_ATTEMPTS} ingestion jobs did not take the file up; drop it again to retry"


@dataclass(frozen=True, kw_only=True)
class BedrockEvidence:
    """
    How what Bedrock says of a document stands to what the run did with it.

    `is_removal`: it was to be removed. `is_out`: it is out of the index, if no search finds it.
    `is_current`: what is said is of this version. `may_change`: ask again later. `is_unproven`:
    INDEXED may be left from before. `is_final`: Bedrock does not try it again by itself.
    `is_overdue`: past its deadline. `by_owner`: out is what its owner finds no more, though it
    stays there as nobody's.
    """

    detail: DocumentDetail
    is_removal: bool
    is_out: bool
    is_current: bool
    may_change: bool
    is_overdue: bool
    why_never_taken_up: str = _NEVER_TAKEN_UP  # the reason, should it not be tried again
    fell_with_job: bool = False  # which was cut short without a reason
    is_unproven: bool = False
    is_final: bool = False
    by_owner: bool = False
    job_failure_reason: str | None = None  # the one that names the document


DocumentEvidence = tuple[Catalog, Document, BedrockEvidence]


def job_evidence(
    document: Document,
    detail: DocumentDetail,
    job: Job | None,
    *,
    failure_reason: str | None,
    at: datetime,
) -> BedrockEvidence:
    """`job` is None if Bedrock doesn't know it any more; `failure_reason` names the document."""
    told = _is_of_this_version(document, detail, job) or _is_passed_over(
        document, detail, job, failure_reason
    )
    return BedrockEvidence(
        detail=detail,
        is_removal=document.status is DocumentStatus.DELETING or document.is_to_evict,
        is_out=_went_over(document, job) if document.is_to_evict else detail.status in ABSENT,
        by_owner=document.is_to_evict,
        is_current=told and not _fell_with_its_job(detail, job, failure_reason),
        may_change=job is not None and _may_change(document, detail, job, told=told, at=at),
        is_unproven=_is_unproven(document, detail, job),
        is_overdue=job is not None and is_overdue(job.started_at, at, JOB_DEADLINE),
        why_never_taken_up=_why_never_taken_up(job),
        fell_with_job=job is not None and job.state in _CUT_SHORT and not job.failure_reasons,
        job_failure_reason=failure_reason,
    )


def call_evidence(
    document: Document, detail: DocumentDetail, *, accepted_at: datetime, at: datetime
) -> BedrockEvidence:
    """
    No later call tries a document again unless we do. Of one whose ingestion may be on its way in,
    seen by nobody, NOT_FOUND says nothing yet.
    """
    removal = document.status is not DocumentStatus.INDEXING
    # What was deleted while a call ingested it: nobody has asked Bedrock yet to remove it.
    is_asked_for = not removal or document.attempts > 0
    early = detail.updated_at is not None and detail.updated_at < accepted_at
    overdue = is_overdue(accepted_at, at, _CALL_DEADLINE)
    if removal and is_asked_for:
        is_on_its_way = early or detail.status in UNDER_WAY | ABSENT
        may_change = is_on_its_way and not is_overdue(accepted_at, at, REMOVAL_DEADLINE)
    else:
        unseen = detail.status in ABSENT and not is_overdue(accepted_at, at, UNSEEN)
        may_change = unseen or ((detail.status in UNDER_WAY or early) and not overdue)
    return BedrockEvidence(
        detail=detail,
        is_removal=removal,
        is_out=is_asked_for and detail.status in ABSENT and not may_turn_up(document, at),
        is_current=not early,
        may_change=may_change,
        is_final=True,
        is_overdue=overdue,
    )


def data_source_evidence(document: Document, *, at: datetime) -> BedrockEvidence:
    """Of a document whose data source is gone, with all that it had in the index."""
    return BedrockEvidence(
        detail=NOT_FOUND,
        is_removal=True,
        is_out=True,
        is_current=True,
        may_change=not is_overdue(document.updated_at, at, REMOVAL_DEADLINE),
        is_overdue=False,
    )


def may_turn_up(document: Document, at: datetime) -> bool:
    """Whether an ingestion of it may be at work that shows nowhere."""
    return document.unseen_until is not None and at < document.unseen_until


def is_overdue(started_at: datetime, now: datetime, deadline_seconds: float) -> bool:
    return (now - started_at).total_seconds() > deadline_seconds


def _may_change(
    document: Document, detail: DocumentDetail, job: Job, *, told: bool, at: datetime
) -> bool:
    if document.status is DocumentStatus.DELETING:
        # One that is no longer known may be found for some seconds yet.
        overdue = is_overdue(job.updated_at, at, REMOVAL_DEADLINE)
        return detail.status in UNDER_WAY | ABSENT and not overdue
    if document.is_to_evict:
        return False  # the job has gone over it, or another must
    return told and detail.status in UNDER_WAY and not is_overdue(job.started_at, at, JOB_DEADLINE)


def _went_over(document: Document, job: Job | None) -> bool:
    """Whether the job has seen the whole prefix since the file was rejected."""
    if job is None or job.state is not JobState.COMPLETE:
        return False
    return job.started_at >= document.updated_at


def _is_of_this_version(document: Document, detail: DocumentDetail, job: Job | None) -> bool:
    """
    Either the job has written the status, or an earlier one did and this one, having gone over the
    whole bucket to its end, found that nothing has changed since.

    A job that started before this version lay there says nothing of it: a run that adopts such a
    job, after a crash, has newer documents to bind to it.
    """
    said_at = detail.updated_at
    if said_at is None or job is None:
        return detail.status not in INDEXED
    if document.present_since is None or job.started_at < document.present_since:
        return False
    by_this_job = said_at >= job.started_at
    unchanged = said_at >= document.present_since and job.state is JobState.COMPLETE
    return by_this_job or unchanged


def _is_passed_over(
    document: Document, detail: DocumentDetail, job: Job | None, failure_reason: str | None
) -> bool:
    """
    Whether job after job has gone over all that lies there and found nothing to do.

    Each began after this version lay there, so what is indexed is this version; only its status is
    older than we know the sidecar to be, for it may have been written twice.
    """
    present_since = document.present_since
    if job is None or present_since is None or failure_reason is not None:
        return False
    said_so_often = detail.status in INDEXED and document.attempts >= MAX_ATTEMPTS
    return said_so_often and job.state is JobState.COMPLETE and job.started_at >= present_since


def _fell_with_its_job(detail: DocumentDetail, job: Job | None, failure_reason: str | None) -> bool:
    """Then nothing need be wrong with the file, which another job may well index."""
    cut_short = job is not None and job.state in _CUT_SHORT
    return cut_short and detail.status == "FAILED" and failure_reason is None


def _is_unproven(document: Document, detail: DocumentDetail, job: Job | None) -> bool:
    """
    Whether `INDEXED` is left from before this job, and no search has ever proved it.

    A document whose vectors were refused reads so too [one project's finding], and the jobs that
    find it unchanged don't say it again.
    """
    if detail.status not in INDEXED or document.indexed_at is not None or job is None:
        return False
    return detail.updated_at is None or detail.updated_at < job.started_at


def _why_never_taken_up(job: Job | None) -> str:
    if job is None or job.state is JobState.COMPLETE:
        return _NEVER_TAKEN_UP
    said = "; ".join(job.failure_reasons) or "Bedrock gave no reason"
    return f"{MAX_ATTEMPTS} ingestion jobs ended {job.state} ({said}); drop it again to retry"


# Of searches.
_QUERY = "document"  # any: the filter says what is looked for
_GROUP = 5  # filters in a group [Bedrock user guide: kb-test-config]
_MOST = 100  # results of one Retrieve [API model: numberOfResults]


@dataclass(frozen=True, kw_only=True)
class SearchCheck:
    """
    Searching for documents to see whether they are found: the proof of every other word about them.

    Searches are for people first, so documents are asked for together where that can be: those that
    should be found by their ids, whatever catalogs they are of; of those that should not be, a
    whole catalog first.

    `knowledge_base` answers the searchable one of that id, and `at_once` how many documents one
    question of it can name. Raises what a search raises.
    """

    knowledge_base: Callable[[str], KnowledgeBase]
    at_once: Callable[[str], int] = lambda _: _GROUP
    beside: Beside = in_threads

    def found(self, documents: Iterable[tuple[Catalog, Document]]) -> set[str]:
        """The ids of those documents of which their owners find any passage."""
        by_home: dict[str, list[tuple[Catalog, Document]]] = {}
        for catalog, document in documents:
            by_home.setdefault(str(catalog.knowledge_base_id), []).append((catalog, document))
        found: set[str] = set()
        questions = [
            partial(self._found_of, home, group)
            for home, wanted in by_home.items()
            for group in chunks(wanted, of=self.at_once(home))
        ]
        return found.union(*self.beside(questions))

    def left(self, catalog: Catalog, documents: Iterable[Document]) -> set[str]:
        """The ids of those of which anybody would find a passage, whoever's it says it is."""
        wanted = list(documents)
        if not wanted or not self._leftovers(catalog, (), limit=1):
            return set()

        def ask(group: Sequence[Document]) -> set[str]:
            any_of_them = any_of(Has("document_id", each.document_id) for each in group)
            return self._leftovers(catalog, (any_of_them,), limit=_MOST)

        groups = chunks(wanted, of=_GROUP)
        return set[str]().union(
            *(_all_of(each, lambda each: each.document_id, ask) for each in groups)
        )

    def _found_of(self, home: str, group: Sequence[tuple[Catalog, Document]]) -> set[str]:
        homes = {catalog.catalog_id: catalog for catalog, _ in group}

        def ask(some: Sequence[tuple[Catalog, Document]]) -> set[str]:
            owners = Owners.of(some)
            answer = self.knowledge_base(home).retrieve(_QUERY, owners.filter(), _MOST)
            proven = owners.proven(answer.passages)
            wanted = {document.document_id: document for _, document in some}
            ids = ((_document_id(homes[where], each), each) for where, each in proven)
            return {
                document_id
                for document_id, each in ids
                if document_id in wanted and _is_sought(each, wanted[document_id])
            }

        return _all_of(group, lambda each: each[1].document_id, ask)

    def _leftovers(self, catalog: Catalog, narrowed: Conditions, *, limit: int) -> set[str]:
        """The ids of documents of which there are passages left."""
        view, searched = Leftovers.of(catalog), self.knowledge_base(str(catalog.knowledge_base_id))
        answer = searched.retrieve(_QUERY, view.filter(narrowed), limit)
        passages = view.proven(answer.passages, catalog_of=lambda _: catalog)
        return {_document_id(catalog, each) for each in passages}


def _all_of(
    group: Sequence[T], id_of: Callable[[T], str], ask: Callable[[Sequence[T]], set[str]]
) -> set[str]:
    """What is found of a group: one document's passages may have left no room for the others'."""
    found = ask(group)
    unseen = [each for each in group if id_of(each) not in found]
    if len(group) > 1 and found and unseen:
        return found.union(*(ask([each]) for each in unseen))
    return found


def _is_sought(passage: Passage, document: Document) -> bool:
    """
    A late call can bring back the text of an earlier version, which proves nothing. Any passage
    proves that a removal has not taken effect. A job's passages have no text id, but a URI.
    """
    is_crawled = passage.sent_text_id is None and passage.uri is not None
    return _is_removed(document) or is_crawled or passage.sent_text_id == document.text_id


def _document_id(catalog: Catalog, passage: Passage) -> str:
    """By its source: an attribute is what whoever wrote the sidecar says, unless it is proven."""
    if (ingested := document_id_in(passage)) is not None:
        return ingested
    filename = key_of(str(passage.uri)).removeprefix(catalog.s3_prefix)
    return document_id_of(catalog.catalog_id, filename)


# Documents that one task proves by searches; the others wait for the next task.
_MOST_PROVED = 500
# Seconds on AWS from Bedrock's word until a search should find the document: "the passages of a
# document that is INDEXED were found 3.4 s later" (rule job.searchable-lag), users of S3 Vectors
# saw longer. Of a file that our inspection has something against, nobody waits as long.
# [assumed: retrieve.filtered-lag]
FOUND_WITHIN, _DOUBTED = 60.0, 10.0


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """
    `inspected` is what our own inspection knows of this version. `is_found` asks the knowledge base
    whether a search finds it, and `is_due` tells that it should by now; `is_earlier_found` asks for
    the version that was indexed before.
    """

    bedrock: BedrockEvidence
    is_found: Callable[[], bool]
    is_earlier_found: Callable[[], bool]
    is_due: bool = True
    inspected: Inspected = field(default_factory=Inspected)
    unexplained: Unexplained = NOT_POSTPONED


@dataclass(frozen=True, kw_only=True)
class Investigation:
    """What we find out by ourselves."""

    inspections: InspectionResults
    search_check: SearchCheck
    pace: Pace = REAL_TIME
    now: Callable[[], datetime] = utc_now

    def complete(
        self, said_of: Sequence[DocumentEvidence]
    ) -> list[tuple[Catalog, Document, Evidence | None]]:
        """None for a document whose searches are left to later. Raises what a search raises."""
        now, later = _share(said_of)
        results = self.inspections.results_for([document for _, document, _ in now])
        searches = _Searches(self.search_check, now)
        statuses = [said.detail.status for _, _, said in now]
        known: list[tuple[Catalog, Document, Evidence | None]] = []
        for catalog, document, said in now:
            found = results.get(document.document_id)
            # A result is kept for a month; after that, the record has what it said.
            inspected = found or Inspected(title_words=document.title_words, gaps=document.gaps)
            evidence = Evidence(
                bedrock=said,
                is_found=partial(searches.is_found, catalog, document),
                is_earlier_found=partial(searches.is_earlier_found, catalog, document),
                is_due=self._is_due(said, is_doubted=inspected.reason is not None),
                inspected=inspected,
                unexplained=Unexplained.of(
                    catalog, document, found, statuses, at=self.now(), pace=self.pace
                ),
            )
            known.append((catalog, document, evidence))
        return known + [(catalog, document, None) for catalog, document, _ in later]

    def _is_due(self, said: BedrockEvidence, *, is_doubted: bool) -> bool:
        said_at = said.detail.updated_at
        if said_at is None:
            return True
        seconds = self.pace.here(_DOUBTED if is_doubted else FOUND_WITHIN)
        return self.now() - said_at >= timedelta(seconds=seconds)


class _Searches:
    """Documents are searched for together when the first of them is asked for."""

    def __init__(self, search_check: SearchCheck, said_of: Sequence[DocumentEvidence]) -> None:
        self._search_check = search_check
        self._removed: dict[str, list[Document]] = {}  # by catalog
        self._indexed: dict[str, tuple[Catalog, Document]] = {}  # these by document
        for catalog, document, said in said_of:
            if _is_removed(document) and not said.by_owner:
                self._removed.setdefault(catalog.catalog_id, []).append(document)
            elif said.detail.status in INDEXED:
                self._indexed[document.document_id] = (catalog, document)
        self._left: dict[str, set[str]] = {}
        self._found: dict[str, bool] = {}

    def is_found(self, catalog: Catalog, document: Document) -> bool:
        """Of what is to be out, whoever's it says it is; else as its owner finds it."""
        if document in self._removed.get(catalog.catalog_id, ()):
            return document.document_id in self._left_of(catalog)
        if document.document_id not in self._found:
            is_one_of_many = document.document_id in self._indexed
            self._ask(list(self._indexed.values()) if is_one_of_many else [(catalog, document)])
        return self._found[document.document_id]

    def is_earlier_found(self, catalog: Catalog, document: Document) -> bool:
        earlier = document.model_copy(update={"text_id": document.indexed_text_id})
        return bool(self._search_check.found([(catalog, earlier)]))

    def _ask(self, documents: Sequence[tuple[Catalog, Document]]) -> None:
        found = self._search_check.found(documents)
        self._found |= {each.document_id: each.document_id in found for _, each in documents}

    def _left_of(self, catalog: Catalog) -> set[str]:
        if catalog.catalog_id not in self._left:
            removed = self._removed[catalog.catalog_id]
            self._left[catalog.catalog_id] = self._search_check.left(catalog, removed)
        return self._left[catalog.catalog_id]


def _share(
    said_of: Sequence[DocumentEvidence],
) -> tuple[list[DocumentEvidence], list[DocumentEvidence]]:
    """Those to decide on now, and those to be proved by a later task."""
    now: list[DocumentEvidence] = []
    later: list[DocumentEvidence] = []
    proved = 0
    for each in said_of:
        _, document, said = each
        needs = _is_removed(document) or said.detail.status in INDEXED
        proved += needs
        (later if needs and proved > _MOST_PROVED else now).append(each)
    return now, later


def _is_removed(document: Document) -> bool:
    """Only a search proves that something is not there any more."""
    return document.status in (DocumentStatus.DELETING, DocumentStatus.FAILED)
