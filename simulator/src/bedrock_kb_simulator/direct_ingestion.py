"""
Direct ingestion and deletion: Ingest- and DeleteKnowledgeBaseDocuments.

AWS responds at once and works in the background. It limits concurrent requests, and refuses jobs
and direct requests at the same time in a knowledge base.
"""

import hashlib
import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.aws_clock import Clock, Signal, Work
from bedrock_kb_simulator.bucket_objects import (
    Attributes,
    Bounds,
    ObjectMissing,
    attributes,
    bucket_and_key,
)
from bedrock_kb_simulator.data_sources import RUNNING, refuse_deleted, refuse_unavailable
from bedrock_kb_simulator.dispatcher import Parameters
from bedrock_kb_simulator.document_records import (
    detail,
    key_of,
    kind_of,
    refuse_unsynced,
    usable_data_source,
)
from bedrock_kb_simulator.faults import AT_ACCEPTANCE, Kind
from bedrock_kb_simulator.identifiers import ClientTokens
from bedrock_kb_simulator.indexes import is_managed
from bedrock_kb_simulator.indexing import Destination, Draft, Indexing
from bedrock_kb_simulator.ingestion_settings import VectorIngestion, ingestion_of
from bedrock_kb_simulator.knowledge_bases import knowledge_base
from bedrock_kb_simulator.service_errors import ServiceError, Stopped, Unindexable
from bedrock_kb_simulator.store import Row, Store, loaded

# Where jobs and direct requests exclude each other: rule managed.direct-or-job.

_JOBS = f"SELECT count(*) FROM ingestion_jobs WHERE {RUNNING}"  # noqa: S608 - a constant


@dataclass(frozen=True, kw_only=True)
class ExclusionScope:
    """A knowledge base, or a data source of a managed one, by `id`."""

    id: str
    is_managed: bool

    @classmethod
    def of(cls, store: Store, source: Row) -> "ExclusionScope":
        """Return the scope of a data source."""
        managed = is_managed(knowledge_base(store, source["knowledge_base_id"]))
        return cls(id=source["id" if managed else "knowledge_base_id"], is_managed=managed)

    def running_jobs(self, store: Store) -> int:
        column = "data_source_id" if self.is_managed else "knowledge_base_id"
        return store.count(f"{_JOBS} AND {column} = ?", self.id)


class DirectCalls:
    """Counts running direct requests, from acceptance until their documents are settled."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: Counter[str] = Counter()

    def begin(self, realm: ExclusionScope) -> None:
        """
        Count a request. Too many raise ValidationException, not ThrottlingException.

        Requests into managed knowledge bases count, too: rule managed.in-account.
        """
        with self._lock:
            if self._running.total() >= rules.DIRECT_CONCURRENCY.limit:
                raise rules.DIRECT_CONCURRENCY.broken()
            self._running[realm.id] += 1

    def end(self, realm: ExclusionScope) -> None:
        with self._lock:
            self._running[realm.id] -= 1

    def refuse_job(self, realm: ExclusionScope) -> None:
        with self._lock:
            if self._running[realm.id]:
                raise rules.JOB_DURING_DIRECT.broken()


# The documents of an IngestKnowledgeBaseDocuments request. One with a known identifier replaces
# that document: rule document.by-uri.

_EXTENSIONS = {
    "application/pdf": "pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "image/jpeg": "jpg",
    "image/png": "png",
    "text/csv": "csv",
    "text/html": "html",
    "text/markdown": "md",
    "text/plain": "txt",
}


@dataclass(frozen=True, kw_only=True)
class Content:
    """A document: its content at `uri` or in `body`, attributes at `sidecar_uri` or `given`."""

    identifier: str
    uri: str | None = None
    body: bytes = b""
    filename: str = ""
    sidecar_uri: str | None = None
    given: Attributes = field(default_factory=Attributes)


def refuse_too_much(documents: Iterable[dict[str, Any]]) -> None:
    """Raise ValidationException for more inline content than a request may have."""
    total = sum(_inline_size(document["content"].get("custom") or {}) for document in documents)
    if total > rules.DIRECT_PAYLOAD.limit:
        raise rules.DIRECT_PAYLOAD.broken()


def read_draft(indexing: Indexing, ingestion: VectorIngestion, content: Content) -> Draft:
    """Load and parse a document. Raises Unindexable."""
    drafts, objects = indexing.drafts, indexing.drafts.objects
    if content.uri is None:
        return Draft(
            identifier=content.identifier,
            pieces=drafts.pieces(ingestion, content.body, content.filename),
            attributes=content.given,
            etag=hashlib.md5(content.body, usedforsecurity=False).hexdigest(),
        )
    try:
        found = objects.find(*bucket_and_key(content.uri))
        sidecar = (
            objects.find(*bucket_and_key(content.sidecar_uri)) if content.sidecar_uri else None
        )
    except ObjectMissing as error:
        raise Unindexable(rules.FILE_UNREADABLE.message) from error
    draft = drafts.read(ingestion, found, sidecar)
    given = draft.attributes if sidecar else content.given
    return replace(draft, identifier=content.identifier, attributes=given)


def _content(source: Row, document: dict[str, Any]) -> Content:
    """Return a document's content. Raises ValidationException if it doesn't suit the source."""
    content, metadata = document["content"], document.get("metadata") or {}
    kind = content["dataSourceType"]
    custom = content.get("custom") or {}
    identifier = {
        "dataSourceType": kind,
        "s3": (content.get("s3") or {}).get("s3Location"),
        "custom": custom.get("customDocumentIdentifier"),
    }
    key = key_of(source, identifier)
    sidecar_uri = (metadata.get("s3Location") or {}).get("uri")
    _check(kind_of(source), custom, metadata)
    if kind == "S3":  # rule document.by-uri: wherever it lies
        return Content(identifier=key, uri=key, sidecar_uri=sidecar_uri)
    bounds = ingestion_of(loaded(source["body"])).bounds
    given = _inline_attributes(metadata.get("inlineAttributes") or (), bounds)
    if custom["sourceType"] == "S3_LOCATION":
        uri = custom["s3Location"]["uri"]
        return Content(identifier=key, uri=uri, sidecar_uri=sidecar_uri, given=given)
    body, filename = _inline(custom.get("inlineContent") or {})
    return Content(identifier=key, body=body, filename=filename, given=given)


def _inline_size(custom: dict[str, Any]) -> int:
    content = custom.get("inlineContent") or {}
    text = (content.get("textContent") or {}).get("data") or ""
    body = (content.get("byteContent") or {}).get("data") or b""
    return len(text.encode()) + len(body)


def _check(kind: str, custom: dict[str, Any], metadata: dict[str, Any]) -> None:
    by_location = metadata.get("type") in (None, "S3_LOCATION")
    if kind == "S3" and not by_location:
        raise rules.DOCUMENT_CONTENT.broken(problem="An S3 data source takes metadata from S3 only")
    if custom.get("sourceType") == "IN_LINE" and metadata and by_location:
        raise rules.DOCUMENT_CONTENT.broken(problem="Inline content needs inline metadata")
    if custom.get("sourceType") == "S3_LOCATION" and not custom.get("s3Location"):
        raise rules.DOCUMENT_CONTENT.broken(problem="s3Location is missing")
    if metadata.get("type") == "S3_LOCATION" and not metadata.get("s3Location"):
        raise rules.DOCUMENT_CONTENT.broken(problem="s3Location of the metadata is missing")
    if custom.get("sourceType") == "IN_LINE" and not _has_content(custom):
        raise rules.DOCUMENT_CONTENT.broken(problem="inlineContent is missing")


def _has_content(custom: dict[str, Any]) -> bool:
    content = custom.get("inlineContent") or {}
    member = {"TEXT": "textContent", "BYTE": "byteContent"}.get(content.get("type", ""))
    return member is not None and content.get(member) is not None


def _inline_attributes(inline: Iterable[dict[str, Any]], bounds: Bounds) -> Attributes:
    pairs = ((attribute["key"], {"value": attribute["value"]}) for attribute in inline)
    try:
        return attributes(pairs, bounds)
    except (ValueError, KeyError) as error:
        problem = "The inline attributes are invalid"
        raise ServiceError("ValidationException", problem) from error


def _inline(content: dict[str, Any]) -> tuple[bytes, str]:
    if content.get("type") == "TEXT":
        return content["textContent"]["data"].encode(), "inline.txt"
    given = content["byteContent"]
    extension = _EXTENSIONS.get(given["mimeType"])
    if extension is None:
        raise rules.DOCUMENT_CONTENT.broken(problem=rules.FILE_FORMAT.message.format(count=1))
    return given["data"], f"inline.{extension}"


logger = logging.getLogger(__name__)

_INGEST = "IngestKnowledgeBaseDocuments"
# The status of documents after acceptance, and in the second half of a request's duration (rule
# document.statuses).
_SECOND_STATUS = {"STARTING": "IN_PROGRESS", "DELETING": "DELETE_IN_PROGRESS"}


@dataclass(frozen=True, kw_only=True)
class Direct:
    """
    Direct requests.

    Each takes `duration` AWS seconds, or `pdf_duration` with a PDF among its documents, plus the
    time to index them: rule document.duration.
    """

    store: Store
    clock: Clock
    tokens: ClientTokens
    calls: DirectCalls
    indexing: Indexing
    duration: float
    pdf_duration: float
    _numbers: Iterator[int] = field(default_factory=count)
    _lives: dict[int, Work] = field(default_factory=dict)
    _closing: Signal = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_closing", self.clock.signal())

    def ingest(self, parameters: Parameters) -> Parameters:
        source = self._source(parameters)
        refuse_too_much(parameters["documents"])
        contents = [_content(source, document) for document in parameters["documents"]]
        keys = [content.identifier for content in contents]

        def work(destination: Destination) -> None:
            for content in contents:
                self._index(destination, content)

        slower = partial(self._slowness, source["id"], keys)
        has_pdf = any((each.uri or each.filename).endswith(".pdf") for each in contents)
        return self._accept(
            parameters,
            source,
            keys=keys,
            named=keys,
            status="STARTING",
            work=work,
            duration=self.pdf_duration if has_pdf else self.duration,
            slower=slower,
        )

    def delete(self, parameters: Parameters) -> Parameters:
        source = self._source(parameters)
        named = [key_of(source, given) for given in parameters["documentIdentifiers"]]
        records = self.indexing.records
        keys = [key for key in named if records.find(source["id"], key) is not None]

        def work(destination: Destination) -> None:
            for key in keys:
                self.indexing.remove(destination, key)

        return self._accept(
            parameters,
            source,
            keys=keys,
            named=named,
            status="DELETING",
            work=work,
            duration=self.duration,
        )

    def close(self) -> None:
        """Stop running requests; the next start marks their documents as FAILED."""
        self._closing.set()
        for life in tuple(self._lives.values()):
            life.join(timeout=5)

    def _source(self, parameters: Parameters) -> Row:
        """Return the request's data source; raises ServiceError if it takes no requests."""
        source = usable_data_source(self.store, parameters)
        refuse_deleted(source)
        refuse_unavailable(source)
        return source

    def _accept(
        self,
        parameters: Parameters,
        source: Row,
        *,
        keys: list[str],
        named: list[str],
        status: str,
        work: Callable[[Destination], None],
        duration: float,
        slower: Callable[[], float] = lambda: 1.0,
    ) -> Parameters:
        """Begin the work, unless its client token did before; return the documents' details."""
        scope, token = f"documents/{status}/{source['id']}", parameters.get("clientToken")
        realm = ExclusionScope.of(self.store, source)
        destination = Destination(
            knowledge_base_id=source["knowledge_base_id"],
            data_source_id=source["id"],
            ingestion=ingestion_of(loaded(source["body"])),
            operation=_INGEST,
        )
        mark = partial(self.indexing.records.mark, destination.data_source_id, keys)
        with self.store.transaction():
            if self.tokens.resource_of(scope, token) is not None:
                return {"documentDetails": self._details(source, named)}
            if realm.running_jobs(self.store):
                raise rules.DIRECT_DURING_JOB.broken()
            refuse_unsynced(self.store, source)
            self.calls.begin(realm)
            self.tokens.remember(scope, token, source["id"])
            mark(status)
            accepted = {"documentDetails": self._details(source, named)}
        number, half = next(self._numbers), duration * slower() / 2

        def live() -> None:
            try:
                if self.clock.wait(half, self._closing):
                    return
                mark(_SECOND_STATUS[status])
                if not self.clock.wait(half, self._closing):
                    work(destination)
            except Stopped:
                logger.info("direct request stopped")
            except Exception as error:
                logger.warning("direct request failed", exc_info=error)
            finally:
                self.calls.end(realm)
                self._lives.pop(number, None)

        self._lives[number] = self.clock.spawn(live)
        return accepted

    def _slowness(self, data_source_id: str, keys: Sequence[str]) -> float:
        """Return the factor of a request's duration, by faults of its accepted documents."""
        times = 1.0
        for key in keys:
            fault = self.indexing.faults.inject_into(_INGEST, key, AT_ACCEPTANCE)
            if fault is not None and fault.kind is Kind.UNSEEN:
                self.indexing.records.hide(data_source_id, key, seconds=fault.seconds)
            elif fault is not None:
                times = rules.DOCUMENT_SLOW.value
        return times

    def _index(self, destination: Destination, content: Content) -> None:
        try:
            draft = read_draft(self.indexing, destination.ingestion, content)
            self.indexing.index(destination, draft, stop=self._closing)
        except Stopped:
            raise
        except Unindexable as error:
            self.indexing.fail(destination, content.identifier, error)
        except Exception as error:  # such as an unreadable bucket; other documents go on
            logger.warning("document could not be read", exc_info=error)
            self.indexing.fail(
                destination, content.identifier, Unindexable(rules.FILE_UNREADABLE.message)
            )

    def _details(self, source: Row, keys: list[str]) -> list[dict[str, object]]:
        records = self.indexing.records
        return [detail(source, key, records.find(source["id"], key)) for key in keys]
