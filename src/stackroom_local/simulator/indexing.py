"""One document into the index: read, chunk, embed, write."""

from dataclasses import dataclass
from functools import partial

from stackroom_local.simulator.chunking import Chunking
from stackroom_local.simulator.clock import Signal
from stackroom_local.simulator.disturbances import Kind
from stackroom_local.simulator.embedding import Embedder
from stackroom_local.simulator.errors import Unindexable
from stackroom_local.simulator.faults import Faults
from stackroom_local.simulator.indexes import Index, index_of
from stackroom_local.simulator.long_work import while_wanted
from stackroom_local.simulator.memory_index import Owner
from stackroom_local.simulator.metadata import refusal, refuse_excess, refused
from stackroom_local.simulator.objects import ObjectMissing, Objects, S3Object, is_there
from stackroom_local.simulator.parsing import Parser
from stackroom_local.simulator.records import Records
from stackroom_local.simulator.rules import (
    FILE_FORMAT,
    FILE_SIZE,
    FILE_UNREADABLE,
    FILTERABLE_METADATA_SIZE,
    VECTOR_INDEX_MISSING,
)
from stackroom_local.simulator.sidecars import Attributes, parsed
from stackroom_local.simulator.store import Store
from stackroom_local.simulator.vectors import Passage, Vectors, new_key


@dataclass(frozen=True, kw_only=True)
class Destination:
    """Where documents of a data source go, how they are cut, and which operation brings them."""

    knowledge_base_id: str
    data_source_id: str
    chunking: Chunking
    operation: str

    def owner(self, identifier: str) -> Owner:
        return (self.data_source_id, identifier)


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A document that was read and can be indexed."""

    identifier: str
    text: str
    attributes: Attributes
    etag: str
    sidecar_etag: str | None = None
    uri: str | None = None  # where the content lies, unless it came with the request


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What the document's status says, and what the job's failure reasons say, if anything."""

    status: str
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Indexing:
    store: Store
    records: Records
    vectors: Vectors
    objects: Objects
    parser: Parser
    embedder: Embedder
    faults: Faults

    def read(self, found: S3Object, sidecar: S3Object | None) -> Draft:
        """From S3. Raises Unindexable; what it says is all that AWS would say."""
        if not found.is_supported:
            raise Unindexable(FILE_FORMAT.message)
        if found.size > FILE_SIZE.limit:
            raise Unindexable(FILE_SIZE.message)
        attributes, sidecar_etag = self.attributes(sidecar)
        body, etag = self._body(found)
        return Draft(
            identifier=found.uri,
            text=self.text(body, found.key),
            attributes=attributes,
            etag=etag,
            sidecar_etag=sidecar_etag,
            uri=found.uri,
        )

    def attributes(self, sidecar: S3Object | None) -> tuple[Attributes, str | None]:
        if sidecar is None:
            return Attributes(), None
        body, etag = self._body(sidecar)
        return parsed(body), etag

    def text(self, body: bytes, filename: str) -> str:
        if body.startswith(b"#!"):
            raise Unindexable(FILE_FORMAT.message)  # rule file.script
        return self.parser.text(body, filename)

    def index(self, destination: Destination, draft: Draft, *, stop: Signal) -> Outcome:
        """Write a document with all its passages, or none. Raises Unindexable or Stopped."""
        fault = self.faults.of_made(destination.operation, draft.identifier)
        kind = fault.kind if fault else None
        if kind is Kind.FAILED:
            raise Unindexable(FILE_UNREADABLE.message)
        owner, values = destination.owner(draft.identifier), draft.attributes.values
        index = self._index(destination)
        keyed = [(new_key(), chunk) for chunk in destination.chunking.split(draft.text)]
        if not keyed:
            raise Unindexable(FILE_UNREADABLE.message)
        refuse_excess(values, keyed[0][0])
        refusals = {key: refusal(index, owner, key, chunk, values) for key, chunk in keyed}
        if kind is Kind.REFUSED:
            refusals = {key: refused(FILTERABLE_METADATA_SIZE, key) for key in refusals}
        there = partial(is_there, self.objects, draft.uri)
        preamble = draft.attributes.preamble()
        passages = [
            Passage(key=key, text=chunk, vector=self.embedder.embed(preamble + chunk))
            for key, chunk in while_wanted(keyed, is_there=there, stop=stop)
            if refusals[key] is None
        ]
        outcome = _outcome(refusals, "PARTIALLY_INDEXED")
        with self.store.transaction():
            self.records.mark(destination.data_source_id, [draft.identifier], outcome.status)
            if passages:  # else it has failed, whatever it reads, and the next job tries it again
                self.records.stamp(*owner, etag=draft.etag, sidecar_etag=draft.sidecar_etag)
            self.vectors.replace(
                destination.knowledge_base_id,
                owner,
                index=index,
                passages=passages,
                attributes=values,
            )
        if fault and kind is Kind.LATE:
            self.records.mark_later(*owner, outcome.status, seconds=fault.seconds)
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
        """New attributes for a document whose content did not change: nothing is embedded."""
        owner, values = destination.owner(identifier), attributes.values
        index = self._index(destination)
        texts = self.vectors.texts(owner)
        if texts:
            refuse_excess(values, next(iter(texts)))
        refusals = {key: refusal(index, owner, key, text, values) for key, text in texts.items()}
        outcome = _outcome(refusals, "METADATA_PARTIALLY_INDEXED")
        with self.store.transaction():
            self.records.mark(destination.data_source_id, [identifier], outcome.status)
            self.records.stamp(*owner, etag=etag, sidecar_etag=sidecar)
            self.vectors.describe(destination.knowledge_base_id, owner, values)
        return outcome

    def fail(self, destination: Destination, identifier: str, error: Unindexable) -> None:
        """Mark a document as failed, and remove the passages of its earlier version."""
        status, reason = "FAILED", None
        if error.cause == FILE_FORMAT.message:  # rule document.status-reason
            status, reason = "IGNORED", error.cause.format(count=1)
        with self.store.transaction():
            self.records.mark(destination.data_source_id, [identifier], status, reason=reason)
            self.vectors.remove(destination.knowledge_base_id, destination.owner(identifier))

    def remove(self, destination: Destination, identifier: str) -> None:
        with self.store.transaction():
            self.vectors.remove(destination.knowledge_base_id, destination.owner(identifier))
            self.records.forget(destination.data_source_id, identifier)

    def _body(self, found: S3Object) -> tuple[bytes, str]:
        try:
            return self.objects.read(found.bucket, found.key)
        except ObjectMissing as error:
            raise Unindexable(FILE_UNREADABLE.message) from error

    def _index(self, destination: Destination) -> Index:
        index = index_of(self.store, destination.knowledge_base_id)
        if index is None:
            raise Unindexable(VECTOR_INDEX_MISSING.message, at_store=True)
        return index


def _outcome(refusals: dict[str, str | None], partly: str) -> Outcome:
    """With all passages refused it still reads INDEXED: rule job.indexed-in-spite."""
    reasons = [reason for reason in refusals.values() if reason is not None]
    if not reasons:
        return Outcome(status="INDEXED")
    status = "INDEXED" if len(reasons) == len(refusals) else partly
    return Outcome(status=status, reason=reasons[0])
