"""The records of catalogs, documents, receipts and knowledge bases."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Generic, Self, TypeVar

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    NonNegativeInt,
)

T = TypeVar("T")


class Record(BaseModel):
    """A record that only this project reads and writes: immutable, without unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class CatalogStatus(StrEnum):
    READY = "ready"
    INDEXING = "indexing"
    FAILED = "failed"
    DELETING = "deleting"


class DataSourceType(StrEnum):
    """The type of a knowledge base's data source, named as Bedrock does."""

    S3 = "S3"  # ingestion jobs crawl a prefix
    CUSTOM = "CUSTOM"  # documents are ingested by direct calls


class CatalogDataSources(StrEnum):
    """The kind of data source that new catalogs get while there is room for one."""

    CUSTOM = "custom"
    S3 = "s3"
    SHARED = "shared"


@dataclass(frozen=True, kw_only=True)
class DataSource:
    """
    The data source in the pool into which a catalog's documents are ingested. One that `is_shared`
    belongs to its knowledge base; any other was created for one catalog and is deleted with it.
    """

    knowledge_base_id: str
    data_source_id: str
    type: DataSourceType = DataSourceType.S3
    # Bedrock doesn't list this: two that are equal are the same data source.
    is_shared: bool = field(default=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class PerSourceType(Generic[T]):
    """
    One value for each type of data source, so that no other code tests the type.

    A new type is a new field here, and mypy then reports every place that must provide a value for
    it.
    """

    s3: T
    custom: T

    def of(self, source: DataSource) -> T:
        return {DataSourceType.S3: self.s3, DataSourceType.CUSTOM: self.custom}[source.type]


class Catalog(Record):
    """One user's documents under one name; everything under `s3_prefix` belongs to it."""

    catalog_id: str
    user_id: str
    name: str
    description: str = ""
    s3_prefix: str
    status: CatalogStatus = CatalogStatus.READY
    # Counted with each write of a document (stackroom.model.catalog_counts).
    document_count: NonNegativeInt = 0
    total_bytes: NonNegativeInt = 0
    failed_count: NonNegativeInt = 0
    waiting_count: NonNegativeInt = 0  # of those that count: not searchable yet, and not failed
    open_count: NonNegativeInt = 0  # whether or not they count
    # Those that wait over a cap; and of them what was never indexed, which uses nothing of the cap.
    over_count: NonNegativeInt = 0
    over_new_count: NonNegativeInt = 0
    over_new_bytes: NonNegativeInt = 0
    indexed_at: AwareDatetime | None = None  # when a document of it was, last
    knowledge_base_id: str | None = None
    data_source_id: str | None = None
    data_source_type: DataSourceType = DataSourceType.S3  # of that data source
    data_source_shared: bool = False
    created_at: AwareDatetime
    updated_at: AwareDatetime
    deleting_since: AwareDatetime | None = None
    # The types of its documents' own attributes, from stackroom.model.attributes.record_entries.
    attribute_types: frozenset[str] = frozenset()

    @property
    def source(self) -> DataSource | None:
        """The data source of its documents; None until its first run has placed it."""
        if self.knowledge_base_id is None or self.data_source_id is None:
            return None
        return DataSource(
            knowledge_base_id=self.knowledge_base_id,
            data_source_id=self.data_source_id,
            type=self.data_source_type,
            is_shared=self.data_source_shared,
        )


class DocumentStatus(StrEnum):
    UPLOADING = "uploading"
    PENDING = "pending"
    INDEXING = "indexing"
    INDEXED = "indexed"
    FAILED = "failed"
    DELETING = "deleting"


class CapKind(StrEnum):
    """The subjects of a user's caps."""

    DOCUMENTS = "documents"
    BYTES = "bytes"
    DOLLARS = "dollars"  # of this month


class Counted(Record):
    """The counts of one document in its catalog."""

    size: NonNegativeInt
    failed: bool = False
    waiting: bool = False  # for its event, or to be indexed
    over_since: AwareDatetime | None = None  # it was open, if it waits over a cap now
    over_new: bool = False  # and was never indexed


# The reason of a failure that nobody explains.
UNEXPLAINED_FAILURE = (
    "Bedrock could not ingest the file and gave no reason; "
    "check that it opens and has text, then drop it again"
)

# The reason of a file that Bedrock failed over for a day and that our own inspection reads well.
# The reconciler has it tried again once Bedrock takes others, and recognises it by this reason
# alone.
SERVICE_FAILURE = (
    "Bedrock failed for a day and gave no reason, though the file reads well; "
    "it is tried again once Bedrock takes other files"
)
_BEHIND_ALL = timedelta(days=2)  # longer than anything waits for Bedrock to recover

# The gap of a document whose sidecar has no room for its folders (stackroom.uploads.descriptions).
NOT_BY_FOLDER = (
    "not by the filter 'folder', since its folders' names don't fit beside its other attributes"
)
# The gap of a document beside which somebody else wrote a sidecar, which ours has replaced.
NOT_BY_THEIRS = (
    "not by the attributes of the metadata.json that was put beside it, which was not taken; "
    "`stackroom adopt` takes such files"
)


def gaps_of(gaps: Iterable[str], *, lacks_folder: bool, lost_sidecar: bool) -> tuple[str, ...]:
    """Return all gaps of an indexed document."""
    by_folder = (NOT_BY_FOLDER,) if lacks_folder else ()
    return (*gaps, *by_folder, *((NOT_BY_THEIRS,) if lost_sidecar else ()))


# The end of the reason of a replacement that failed.
STILL_ANSWERS = "; the version before it goes on answering"
# The time for which the bucket keeps a version that was replaced (infra/data.py).
_REPLACED_KEPT = timedelta(days=30)


def with_gaps(gaps: Sequence[str]) -> str:
    """Return the words that follow a status if parts of a document can't be found."""
    return f"with gaps: {'; '.join(gaps)}" if gaps else ""


# Bytes of text in a token, as the tokens of answers are estimated (search/excerpts.py).
BYTES_A_TOKEN = 4
LARGE = 1_000_000  # bytes of text, from which a document is large
# Bytes of text in a byte of the file, assumed: pictures and fonts count, and so does compression.
_TEXT_SHARE = {"pdf": 0.2, "doc": 0.5, "docx": 0.5, "xlsx": 2.0}


class Document(Record):
    """
    A file in a catalog, and how far its ingestion has come.

    Immutable: `model_copy` or `moved` returns the next state; the repository's `save` stores it and
    increments `version`. `present_since` is when object and sidecar, both as described here, lay in
    the bucket: an ingestion job that started later has seen exactly this version. `unseen_until` is
    set from when the document is sent until a search finds it: before that moment, a search that
    finds nothing does not prove its removal. While it is `uploading`, the object may arrive until
    `upload_until`; its event does the rest.

    `over_cap`: it is `pending` and waits for that cap of its user's, as its reason says; no run
    takes it up until it is released (stackroom.runs.user_caps). `unread`: its file has not been
    read yet; no run takes it up before. `text_id` is None if the file could not be read, and
    Bedrock gets the file itself (stackroom.text.inspection). `illegible` says why a person would
    see no text in a file that was read: it is sent to Bedrock only where originals are
    (stackroom.runs.direct_calls). `failing_since`: Bedrock has failed over it since then without
    a reason; while it is `pending` for that, no run retries it before `retry_at`, unless Bedrock
    accepts others that it failed over.

    `opened_at`, when it became open, and `counted`, what its catalog counts of it, are maintained
    by the repository with every write. They belong to their `version`, so a new description of the
    document takes all three over by `following`.
    """

    catalog_id: str
    document_id: str
    filename: str
    s3_key: str
    size: NonNegativeInt = 0
    etag: str = ""
    version_id: str | None = None
    content_type: str = ""
    fingerprint: str = ""  # of etag and sidecar: equal means a re-drop that changes nothing
    unread: bool = False  # it is `pending`, and its text has yet to be written
    text_id: str | None = None  # of this version's text
    text_tokens: NonNegativeInt | None = None  # in it, about
    indexed_text_id: str | None = None  # of the text of the version that was indexed last
    illegible: str | None = None
    indexed_version_id: str | None = None  # of that version's file
    status: DocumentStatus
    status_reason: str | None = None
    over_cap: CapKind | None = None
    failing_since: AwareDatetime | None = None
    retry_at: AwareDatetime | None = None
    attempts: NonNegativeInt = 0
    uploaded_at: AwareDatetime
    updated_at: AwareDatetime
    upload_until: AwareDatetime | None = None
    present_since: AwareDatetime | None = None
    indexed_at: AwareDatetime | None = None
    ingestion_job_id: str | None = None
    unseen_until: AwareDatetime | None = None
    lingering: bool = False  # the index may hold a rejected version, or a deleted one
    title_words: str = ""  # of the beginning of its text, by which a question may name it
    gaps: tuple[str, ...] = ()  # sentences: what of this version can't be found
    lacks_folder: bool = False  # its sidecar has no room for its folders
    lost_sidecar: bool = False  # somebody else's lay beside it
    receipt_id: str | None = None  # of its deletion
    correlation_id: str | None = None
    opened_at: AwareDatetime | None = None
    counted: Counted | None = None
    version: NonNegativeInt = 0  # 0 until first saved

    def following(self, kept: "Document | None") -> Self:
        """Return the document as the next state of `kept`, at its version and with its counts."""
        if kept is None:
            return self
        books = {name: getattr(kept, name) for name in ("opened_at", "counted", "version")}
        return self.model_copy(update=books)

    @property
    def is_to_ingest(self) -> bool:
        """Return False for a document that is to be removed."""
        return self.status in (DocumentStatus.PENDING, DocumentStatus.INDEXING)

    @property
    def text_size(self) -> int:
        """
        Bytes of text to ingest: counted where the file was read, else estimated from its size and
        format; 0 if the document is to be removed.
        """
        if not self.is_to_ingest:
            return 0
        if self.text_tokens is not None:
            return self.text_tokens * BYTES_A_TOKEN
        extension = self.filename.rpartition(".")[2].lower()
        return round(self.size * _TEXT_SHARE.get(extension, 1.0))

    @property
    def should_be_absent(self) -> bool:
        """Only a search proves that something is not there any more."""
        return self.status in (DocumentStatus.DELETING, DocumentStatus.FAILED)

    @property
    def is_large(self) -> bool:
        """Return True if the document has a direct call of its own."""
        return self.text_size >= LARGE

    @property
    def is_open(self) -> bool:
        """True if a run has yet to take it up, or to settle what it took up."""
        return self.is_unfinished or self.status is DocumentStatus.DELETING

    @property
    def is_unfinished(self) -> bool:
        is_under_way = self.status in (DocumentStatus.PENDING, DocumentStatus.INDEXING)
        is_waiting = self.unread or self.over_cap is not None
        return not is_waiting and (self.lingering or is_under_way)

    @property
    def text_ids(self) -> frozenset[str]:
        """
        The ids of the texts whose passages a search may show: this version's and the indexed one's.
        """
        return frozenset(filter(None, (self.text_id, self.indexed_text_id)))

    def answering_version_id(self, at: AwareDatetime) -> str | None:
        """
        Return the version of the file that answers come from, if another is current. None once the
        bucket no longer has it.
        """
        is_kept = at - self.uploaded_at < _REPLACED_KEPT
        is_earlier = self.indexed_at is not None and self.indexed_version_id != self.version_id
        return self.indexed_version_id if is_kept and is_earlier else None

    @property
    def is_postponed(self) -> bool:
        """True if it waits, as its reason says, for something outside its run."""
        return self.over_cap is not None or self.retry_at is not None

    @property
    def due_since(self) -> AwareDatetime | None:
        """Return when a run could or can take the document up; None if none has to."""
        if self.opened_at is None:
            return None
        return self.retry_at or min(self.opened_at, self.updated_at)

    def opens_at(self, opened_at: AwareDatetime | None) -> AwareDatetime:
        """
        Return its position among open documents, by when it became open. One that Bedrock failed
        over comes after all that Bedrock has not tried.
        """
        if self.failing_since is not None:
            return self.failing_since + _BEHIND_ALL
        return min(opened_at or self.updated_at, self.updated_at)

    @property
    def is_rejected(self) -> bool:
        """True if we rejected it: it never lay in the bucket with a sidecar of its own."""
        return self.status is DocumentStatus.FAILED and self.present_since is None

    @property
    def is_withheld(self) -> bool:
        """True if it failed without being sent, because a person would see no text in it."""
        return self.status is DocumentStatus.FAILED and self.illegible is not None

    @property
    def needs_mending(self) -> bool:
        """True if only another file can fix the failure."""
        return self.is_rejected or self.is_withheld

    @property
    def is_to_evict(self) -> bool:
        """True if it was rejected and the index may have a version of it."""
        return self.status is DocumentStatus.FAILED and self.lingering

    def has_lapsed(self, at: AwareDatetime) -> bool:
        """Return True if its upload did not happen in time, so the document doesn't exist."""
        is_announced = self.status is DocumentStatus.UPLOADING
        return is_announced and self.upload_until is not None and self.upload_until <= at

    @property
    def is_counted(self) -> bool:
        """True if its catalog counts it: not while it is being uploaded or deleted."""
        return self.status is not DocumentStatus.DELETING and not self.is_to_come

    @property
    def is_to_come(self) -> bool:
        """True if it is `uploading` by a link; a file that a tool has written is there."""
        return self.status is DocumentStatus.UPLOADING and not self.etag

    @property
    def shown_status(self) -> DocumentStatus:
        """The status for its owner: a file that a tool has written waits for its event."""
        is_written = self.status is DocumentStatus.UPLOADING and not self.is_to_come
        return DocumentStatus.PENDING if is_written else self.status

    @property
    def shown_gaps(self) -> tuple[str, ...]:
        """Sentences about parts of an indexed document that can't be found."""
        if self.status is not DocumentStatus.INDEXED:
            return ()
        return gaps_of(self.gaps, lacks_folder=self.lacks_folder, lost_sidecar=self.lost_sidecar)

    @property
    def remark(self) -> str | None:
        """The reason of a failure, or what can't be found, for its owner."""
        return with_gaps(self.shown_gaps) or self.status_reason

    @property
    def may_be_indexed(self) -> bool:
        """
        True if the index may have any version of it.

        Once it has lain in the bucket with a sidecar of its own, a job may have crawled it, whether
        or not a round has taken it up.
        """
        return self.lingering or self.present_since is not None or self.indexed_at is not None

    def moved(
        self, status: DocumentStatus, *, at: AwareDatetime, reason: str | None = None
    ) -> Self:
        """
        Return the document in another status, over no cap and not postponed. `failed` requires a
        reason, and no other status has one. A document sent to Bedrock is not withheld any more.
        """
        assert (status is DocumentStatus.FAILED) == (reason is not None), (
            "failed, and only failed, says why"
        )
        changes = {"status": status, "status_reason": reason, "over_cap": None, "retry_at": None}
        unread = self.unread and status is DocumentStatus.PENDING
        is_sent = status is DocumentStatus.INDEXING
        return self.model_copy(
            update={
                **changes,
                "unread": unread,
                "failing_since": self.failing_since if is_sent else None,
                "illegible": None if is_sent else self.illegible,
                "updated_at": at,
            }
        )


class Receipt(Record):
    """
    The proof of one document's deletion, for the person who requested it.

    `searchable_before` is when the document was last found, `not_found_at` when the knowledge base
    no longer knew it, `unsearchable_since` when a search found nothing: only then is it removed.
    `superseded_at` is set instead if the file came back meanwhile. `waited_until` is set if the
    document had not been found yet when it was to be removed: searches before that moment did not
    count, because its text might have appeared later. `found_again_at` is set if a search found the
    document afterwards: it is removed again, and the times above are those of that removal. `lost`:
    nobody requested it; the file was missing at `asked_at`, and no deletion of it was seen.
    """

    receipt_id: str
    user_id: str
    catalog_id: str
    document_id: str
    filename: str
    s3_key: str | None = None  # tells the catalog by its name
    asked_at: AwareDatetime
    searchable_before: AwareDatetime | None = None
    not_found_at: AwareDatetime | None = None
    unsearchable_since: AwareDatetime | None = None
    superseded_at: AwareDatetime | None = None
    waited_until: AwareDatetime | None = None
    found_again_at: AwareDatetime | None = None
    lost: bool = False

    @property
    def is_open(self) -> bool:
        return self.unsearchable_since is None and self.superseded_at is None


class PoolMember(Record):
    """
    A knowledge base of the pool: an element of the `KB_POOL` JSON list.

    `type` is a name in app/pool_builder.py and in runs/capacity.py. Other fields of the element are
    ignored.
    """

    model_config = ConfigDict(extra="ignore")

    knowledge_base_id: str
    data_source_id: str  # the shared CUSTOM data source
    type: str = "BEDROCK"  # in Bedrock's words, VECTOR
    index: str | None = None  # the ARN of its index in S3 Vectors, if it has one
    catalog_data_sources: CatalogDataSources = CatalogDataSources.CUSTOM

    @property
    def shared_source(self) -> DataSource:
        return DataSource(
            knowledge_base_id=self.knowledge_base_id,
            data_source_id=self.data_source_id,
            type=DataSourceType.CUSTOM,
            is_shared=True,
        )

    @property
    def own_source_type(self) -> DataSourceType:
        """
        The type of catalogs' own data sources; MANAGED knowledge bases use their S3 connector.
        """
        is_custom = self.catalog_data_sources is CatalogDataSources.CUSTOM
        return DataSourceType.CUSTOM if is_custom and not self.is_managed else DataSourceType.S3

    @property
    def is_managed(self) -> bool:
        """True if Bedrock stores the vectors: the knowledge base has type MANAGED, not VECTOR."""
        return self.type == "MANAGED"
