"""Indexing of a document: chunk, embed, write."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.assumptions import CustomTells
from bedrock_kb_simulator.aws_clock import Signal
from bedrock_kb_simulator.bucket_objects import (
    Attributes,
    ObjectMissing,
    Objects,
    S3Object,
    format_of,
    parse_sidecar,
)
from bedrock_kb_simulator.chunk_strategies import Chunk
from bedrock_kb_simulator.document_records import DocumentRecords
from bedrock_kb_simulator.embedder import Embedder, Vector
from bedrock_kb_simulator.faults import Faults, Kind
from bedrock_kb_simulator.indexes import Index, index_of
from bedrock_kb_simulator.ingestion_settings import VectorIngestion
from bedrock_kb_simulator.memory_indexes import Owner
from bedrock_kb_simulator.metadata import SOURCE_URI, OwnKeys, refusal, refusal_text, refuse_excess
from bedrock_kb_simulator.parsing import Parser
from bedrock_kb_simulator.service_errors import Stopped, Unindexable
from bedrock_kb_simulator.store import Store
from bedrock_kb_simulator.vector_bucket_policies import refusal_of_role
from bedrock_kb_simulator.vectors import Passage, Vectors, new_key

# Limits of long work: thousands of passages take a laptop minutes.

_CHARACTERS = 2000  # a longer passage counts as several


def limited(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
    """Yield chunks; raises Unindexable at the first over the limit."""
    work = 0
    for each in chunks:
        work += 1 + len(each.text) // _CHARACTERS
        if work > rules.DOCUMENT_WORK.limit:
            raise Unindexable(rules.DOCUMENT_WORK.message)
        yield each


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A document that was read; no chunk spans two of its `pieces`."""

    identifier: str
    pieces: tuple[str, ...]
    attributes: Attributes
    etag: str
    sidecar_etag: str | None = None
    uri: str | None = None  # where the content lies, unless it came with the request


@dataclass(frozen=True, kw_only=True)
class DraftReader:
    """Reads documents from S3 or from a request."""

    objects: Objects
    parser: Parser

    def read(self, ingestion: VectorIngestion, found: S3Object, sidecar: S3Object | None) -> Draft:
        """Load and parse a document of S3. Raises Unindexable with AWS's text."""
        most = ingestion.most_bytes(found.format)
        if found.format in ingestion.formats and found.size > most.limit:
            raise Unindexable(most.message)
        attributes, sidecar_etag = self.attributes(ingestion, sidecar)
        body, etag = self._body(found)
        return Draft(
            identifier=found.uri,
            pieces=self.pieces(ingestion, body, found.key),
            attributes=attributes,
            etag=etag,
            sidecar_etag=sidecar_etag,
            uri=found.uri,
        )

    def attributes(
        self, ingestion: VectorIngestion, sidecar: S3Object | None
    ) -> tuple[Attributes, str | None]:
        if sidecar is None:
            return Attributes(), None
        body, etag = self._body(sidecar)
        return parse_sidecar(body, ingestion.bounds), etag

    def pieces(self, ingestion: VectorIngestion, body: bytes, filename: str) -> tuple[str, ...]:
        """Return the text of a file, by page where images are read; raises Unindexable."""
        if body.startswith(b"#!") or format_of(filename) not in ingestion.formats:
            raise Unindexable(rules.FILE_FORMAT.message)  # rule file.format
        if not ingestion.is_seen(format_of(filename)):
            return (self.parser.text(body, filename),)
        try:
            return self.parser.page_texts(body, filename)
        except Unindexable:  # rule parse.fallback
            return (self.parser.text(body, filename),)

    def _body(self, found: S3Object) -> tuple[bytes, str]:
        try:
            return self.objects.read(found.bucket, found.key)
        except ObjectMissing as error:
            raise Unindexable(rules.FILE_UNREADABLE.message) from error


@dataclass(frozen=True, kw_only=True)
class Destination:
    """The target of documents: knowledge base, data source, settings and calling operation."""

    knowledge_base_id: str
    data_source_id: str
    ingestion: VectorIngestion
    operation: str

    def owner(self, identifier: str) -> Owner:
        return (self.data_source_id, identifier)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A document's status, and a reason for the job's failure reasons, if any."""

    status: str
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Indexing:
    store: Store
    records: DocumentRecords
    vectors: Vectors
    drafts: DraftReader
    embedder: Embedder
    faults: Faults
    own_keys: OwnKeys

    def index(self, destination: Destination, draft: Draft, *, stop: Signal) -> Outcome:
        """Index a document with all its passages, or none. Raises Unindexable or Stopped."""
        fault = self.faults.inject_into(destination.operation, draft.identifier)
        kind = fault.kind if fault else None
        if kind is Kind.FAILED:
            raise Unindexable(rules.FILE_UNREADABLE.message)
        owner, values = destination.owner(draft.identifier), draft.attributes.values
        index = self._index(destination)
        chunks = destination.ingestion.strategy(draft.pieces, self._embedding(stop))
        keyed = [(new_key(), chunk) for chunk in limited(chunks)]
        if not keyed:
            raise Unindexable(rules.FILE_UNREADABLE.message)
        refuse_excess(index, values, keyed[0][0])
        if (
            self.own_keys.custom_tells is CustomTells.LOCATION
            and draft.uri
            and not index.is_managed
        ):
            values = {**values, SOURCE_URI: draft.uri}  # rule retrieve.custom-location
        written = partial(self.own_keys.written, owner)
        refusals = {
            key: refusal(index, key, written(key, chunk.text, values, parent=chunk.parent))
            for key, chunk in keyed
        }
        if kind is Kind.REFUSED:
            refusals = {key: refusal_text(rules.FILTERABLE_METADATA_SIZE, key) for key in refusals}
        preamble, embed = draft.attributes.preamble(), self._embedding(stop)
        passages = [
            Passage(
                key=key,
                text=chunk.text,
                parent=chunk.parent,
                preamble=preamble,
                vector=embed(preamble + chunk.text),
            )
            for key, chunk in keyed
            if refusals[key] is None
        ]
        outcome = _outcome(refusals, "PARTIALLY_INDEXED")
        with self.store.transaction():
            self.records.mark(destination.data_source_id, [draft.identifier], outcome.status)
            if passages:  # otherwise it failed, whatever its status, and the next job retries it
                self.records.stamp(*owner, etag=draft.etag, sidecar_etag=draft.sidecar_etag)
            self.vectors.replace(
                destination.knowledge_base_id,
                owner,
                index=index,
                passages=passages,
                attributes=values,
                late=fault.seconds if fault and kind is Kind.MISSED else 0.0,
            )
        return outcome

    def redescribe(
        self,
        destination: Destination,
        identifier: str,
        attributes: Attributes,
        *,
        etag: str,
        sidecar: str | None,
    ) -> Outcome:
        """Replace the attributes of a document with unchanged content, without embedding."""
        owner, values = destination.owner(identifier), attributes.values
        index = self._index(destination)
        texts = self.vectors.texts(owner)
        if texts:
            refuse_excess(index, values, next(iter(texts)))
        written = partial(self.own_keys.written, owner)
        refusals = {
            key: refusal(index, key, written(key, text, values, parent=parent))
            for key, (text, parent) in texts.items()
        }
        outcome = _outcome(refusals, "METADATA_PARTIALLY_INDEXED")
        with self.store.transaction():
            self.records.mark(destination.data_source_id, [identifier], outcome.status)
            self.records.stamp(*owner, etag=etag, sidecar_etag=sidecar)
            self.vectors.describe(destination.knowledge_base_id, owner, values)
        return outcome

    def fail(self, destination: Destination, identifier: str, error: Unindexable) -> None:
        """Mark a document as failed, and remove the passages of its earlier version."""
        status, reason = "FAILED", None
        if error.cause in (rules.FILE_FORMAT.message, rules.DOCUMENT_WORK.message):
            # Rule document.status-reason.
            status, reason = "IGNORED", error.cause.format(count=1)
        with self.store.transaction():
            self.records.mark(destination.data_source_id, [identifier], status, reason=reason)
            self.vectors.remove(destination.knowledge_base_id, destination.owner(identifier))

    def remove(self, destination: Destination, identifier: str) -> None:
        with self.store.transaction():
            self.vectors.remove(destination.knowledge_base_id, destination.owner(identifier))
            self.records.forget(destination.data_source_id, identifier)

    def _embedding(self, stop: Signal) -> Callable[[str], Vector]:
        """Return the embedding of a document's texts; it raises Stopped or Unindexable."""
        numbers = count(1)

        def embedded(text: str) -> Vector:
            if stop.is_set():
                raise Stopped
            if next(numbers) > rules.DOCUMENT_WORK.limit:
                raise Unindexable(rules.DOCUMENT_WORK.message)
            return self.embedder.embed(text)

        return embedded

    def _index(self, destination: Destination) -> Index:
        index = index_of(self.store, destination.knowledge_base_id)
        if index is None:
            raise Unindexable(rules.VECTOR_INDEX_MISSING.message, at_store=True)
        denied = refusal_of_role(self.store, destination.knowledge_base_id, "PutVectors")
        if denied is not None:
            raise Unindexable(denied.message, at_store=True)
        return index


def _outcome(refusals: dict[str, str | None], partly: str) -> Outcome:
    """Return the outcome; with all passages refused it is INDEXED: rule job.indexed-in-spite."""
    reasons = [reason for reason in refusals.values() if reason is not None]
    if not reasons:
        return Outcome(status="INDEXED")
    status = "INDEXED" if len(reasons) == len(refusals) else partly
    return Outcome(status=status, reason=reasons[0])
