"""What Stackroom knows: catalogs, their documents, and the knowledge bases they lie in."""

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
    """Anything we own both ends of: immutable, and nothing unknown in it."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class CatalogStatus(StrEnum):
    READY = "ready"
    INDEXING = "indexing"
    FAILED = "failed"
    DELETING = "deleting"


class DataSourceType(StrEnum):
    """Of what kind a knowledge base's data source is, in Bedrock's words."""

    S3 = "S3"  # ingestion jobs crawl a prefix
    CUSTOM = "CUSTOM"  # documents are ingested by direct calls


class CatalogDataSources(StrEnum):
    """What new catalogs get while there is room: a data source of their own, or none."""

    CUSTOM = "custom"
    S3 = "s3"
    SHARED = "shared"


@dataclass(frozen=True, kw_only=True)
class DataSource:
    """
    Where in the pool a catalog's documents are ingested. One that `is_shared` came with its
    knowledge base; any other was made for one catalog, and goes with it.
    """

    knowledge_base_id: str
    data_source_id: str
    type: DataSourceType = DataSourceType.S3
    # Of what Bedrock lists nobody can tell it: two that are equal are the same data source.
    is_shared: bool = field(default=False, compare=False)


@dataclass(frozen=True, kw_only=True)
class PerSourceType(Generic[T]):
    """
    One of something for each type of data source; nobody else needs to ask for the type.

    A new type is a field here, and mypy then names every place that has to offer something for it.
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
    # What its documents' own attributes are, as stackroom.model.attributes.recorded has them.
    attribute_types: frozenset[str] = frozenset()

    @property
    def source(self) -> DataSource | None:
        """Where its documents are ingested; None until its first run has placed it."""
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
    """What a user's cap counts."""

    DOCUMENTS = "documents"
    BYTES = "bytes"
    DOLLARS = "dollars"  # of this month


class Counted(Record):
    """What a catalog counts of one of its documents."""

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

# What Bedrock failed over for a day and that our own inspection reads well. The reconciler has it
# tried again once Bedrock takes others; only this reason tells it so.
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
    """All that an indexed document lacks."""
    by_folder = (NOT_BY_FOLDER,) if lacks_folder else ()
    return (*gaps, *by_folder, *((NOT_BY_THEIRS,) if lost_sidecar else ()))


# What ends the reason of a replacement that failed.
STILL_ANSWERS = "; the version before it goes on answering"
# How long the bucket keeps a version that was replaced (infra/data.py).
_REPLACED_KEPT = timedelta(days=30)


def with_gaps(gaps: Sequence[str]) -> str:
    """Return what follows a status, where something of a document can't be found."""
    return f"with gaps: {'; '.join(gaps)}" if gaps else ""


# Bytes of text in a token, as the tokens of answers are estimated (search/excerpts.py).
BYTES_A_TOKEN = 4
# Bytes of text in a byte of the file, assumed: pictures and fonts count, and so does compression.
_TEXT_SHARE = {"pdf": 0.2, "doc": 0.5, "docx": 0.5, "xlsx": 2.0}


class Document(Record):
    """
    One file of a catalog and how far it has come.

    Immutable: `model_copy` or `moved` returns the next state, the repository's `save` keeps it and
    counts `version` up. `present_since` is when the object and its sidecar, both as described here,
    lay in the bucket: an ingestion job that started later has seen exactly this version.
    `unseen_until` is set from when it was sent to be ingested until a search has found it: before
    that moment no look that finds nothing proves that it is gone.
    While it is `uploading`, the object may come until `upload_until`; its event does the rest.
    `over_cap`: it is `pending` and waits over that cap of its user's, as its reason says; no run
    takes it up until it is let go (stackroom.runs.user_caps).
    `unread`: its file has yet to be read; no run takes it up before. `text_id` is None where the
    file could not be read, and Bedrock gets the file itself (stackroom.text.inspection).
    `illegible` says why a person would see no text in a file that was read: it goes to Bedrock only
    where originals do (stackroom.runs.by_direct_calls).
    `failing_since`: Bedrock has failed over it since then and gave no reason; while it is `pending`
    for that, no run tries it before `retry_at`, unless Bedrock takes others that it failed over.
    `opened_at`, since when it is open, and `counted`, what its catalog counts of it, are the
    repository's own, which keeps them right with every write: they belong to their `version`, so
    whoever describes a document anew takes all three over by `following`.
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
    lingering: bool = False  # the index may hold a version of a rejected file
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
        """
        Return the document as the next state of the one that is kept, at its version and with what
        is counted of it.
        """
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
    def is_open(self) -> bool:
        """Whether a run has yet to see to it: to take it up, or to settle what it took up."""
        return self.is_unfinished or self.status is DocumentStatus.DELETING

    @property
    def is_unfinished(self) -> bool:
        is_under_way = self.status in (DocumentStatus.PENDING, DocumentStatus.INDEXING)
        is_waiting = self.unread or self.over_cap is not None
        return not is_waiting and (self.lingering or is_under_way)

    @property
    def text_ids(self) -> frozenset[str]:
        """Of the texts whose passages a search may show: this version's, and the indexed one's."""
        return frozenset(filter(None, (self.text_id, self.indexed_text_id)))

    def answering_version_id(self, at: AwareDatetime) -> str | None:
        """
        Return the version of the file that answers are from, where another lies there by now. None
        also once the bucket no longer keeps it.
        """
        is_kept = at - self.uploaded_at < _REPLACED_KEPT
        is_earlier = self.indexed_at is not None and self.indexed_version_id != self.version_id
        return self.indexed_version_id if is_kept and is_earlier else None

    @property
    def is_postponed(self) -> bool:
        """Whether it waits, as its reason says, for nothing that its run does."""
        return self.over_cap is not None or self.retry_at is not None

    @property
    def due_since(self) -> AwareDatetime | None:
        """Since when a run could have seen to it, or from when one can; None if none has to."""
        if self.opened_at is None:
            return None
        return self.retry_at or min(self.opened_at, self.updated_at)

    def opens_at(self, opened_at: AwareDatetime | None) -> AwareDatetime:
        """
        Its place among what is open, by when it was open before this. One that Bedrock failed over
        stands behind all that Bedrock has not tried.
        """
        if self.failing_since is not None:
            return self.failing_since + _BEHIND_ALL
        return min(opened_at or self.updated_at, self.updated_at)

    @property
    def is_rejected(self) -> bool:
        """Whether we took it for none: it never lay there with a sidecar of its own."""
        return self.status is DocumentStatus.FAILED and self.present_since is None

    @property
    def is_withheld(self) -> bool:
        """True of a file that failed unsent, because a person would see no text in it."""
        return self.status is DocumentStatus.FAILED and self.illegible is not None

    @property
    def needs_mending(self) -> bool:
        """True of a failure that only another file can mend."""
        return self.is_rejected or self.is_withheld

    @property
    def is_to_evict(self) -> bool:
        """Whether it was rejected, and the index may hold a version of it."""
        return self.status is DocumentStatus.FAILED and self.lingering

    def has_lapsed(self, at: AwareDatetime) -> bool:
        """Whether it was to be uploaded, and nobody did in time: there is no such document."""
        is_announced = self.status is DocumentStatus.UPLOADING
        return is_announced and self.upload_until is not None and self.upload_until <= at

    @property
    def is_counted(self) -> bool:
        """Whether its catalog counts it: no more once it goes, and not yet while it is to come."""
        return self.status is not DocumentStatus.DELETING and not self.is_to_come

    @property
    def is_to_come(self) -> bool:
        """Whether it is `uploading` by a link; what a tool has written itself lies there."""
        return self.status is DocumentStatus.UPLOADING and not self.etag

    @property
    def shown_status(self) -> DocumentStatus:
        """For its owner: what a tool has written waits like any other, its event yet to come."""
        is_written = self.status is DocumentStatus.UPLOADING and not self.is_to_come
        return DocumentStatus.PENDING if is_written else self.status

    @property
    def shown_gaps(self) -> tuple[str, ...]:
        """What of an indexed document can't be found, in sentences."""
        if self.status is not DocumentStatus.INDEXED:
            return ()
        return gaps_of(self.gaps, lacks_folder=self.lacks_folder, lost_sidecar=self.lost_sidecar)

    @property
    def remark(self) -> str | None:
        """Why it has its status, for its owner: a failure's reason, or what can't be found."""
        return with_gaps(self.shown_gaps) or self.status_reason

    @property
    def may_be_indexed(self) -> bool:
        """
        Whether any version of it may be in the index.

        Once it has lain there with a sidecar of its own, a job may have crawled it, whether or not
        a round has taken it up.
        """
        return self.lingering or self.present_since is not None or self.indexed_at is not None

    def moved(
        self, status: DocumentStatus, *, at: AwareDatetime, reason: str | None = None
    ) -> Self:
        """
        The same document in another status, over no cap and not postponed; only `failed` carries
        a reason, and always does. What goes to Bedrock, legible or not, is no longer withheld.
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
    What is known of one document's deletion; whoever asked for it may keep it.

    `searchable_before` is when the document was last known to be found, `not_found_at` when the
    knowledge base no longer knew it, `unsearchable_since` when a search for it found nothing: only
    then is it removed. `superseded_at` is set instead if the file came back meanwhile.
    `waited_until` is set if the document had not been found yet when it was to go: no search before
    that moment counted, for its text might have turned up after it. `found_again_at` is set if a
    search found the document after that: it is removed once more, and the times above are those of
    that removal. `lost`: nobody asked for it; the file was found missing at `asked_at`, and no
    deletion of it was seen.
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
    A knowledge base of the pool: element of the `KB_POOL` JSON list.

    `type` is a name in stores/store_registry.py and in stackroom.runs.capacity. Whoever deploys
    may say more of it than is read here.
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
        """Of catalogs' own data sources; a MANAGED knowledge base has them by its S3 connector."""
        is_custom = self.catalog_data_sources is CatalogDataSources.CUSTOM
        return DataSourceType.CUSTOM if is_custom and not self.is_managed else DataSourceType.S3

    @property
    def is_managed(self) -> bool:
        """Whether Bedrock keeps its vectors itself: of Bedrock's type MANAGED, and not VECTOR."""
        return self.type == "MANAGED"
