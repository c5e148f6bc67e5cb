"""What is read of a document before it is indexed: its text, piece by piece, and its attributes."""

from dataclasses import dataclass

from bedrock_kb_simulator.errors import Unindexable
from bedrock_kb_simulator.objects import ObjectMissing, Objects, S3Object, format_of
from bedrock_kb_simulator.parsing import Parser
from bedrock_kb_simulator.rules import FILE_FORMAT, FILE_UNREADABLE
from bedrock_kb_simulator.sidecars import Attributes, parsed
from bedrock_kb_simulator.vector_ingestion import VectorIngestion


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A document that was read and can be indexed; no chunk spans two of its `pieces`."""

    identifier: str
    pieces: tuple[str, ...]
    attributes: Attributes
    etag: str
    sidecar_etag: str | None = None
    uri: str | None = None  # where the content lies, unless it came with the request


@dataclass(frozen=True, kw_only=True)
class Drafts:
    """Reads them, from S3 or from a request."""

    objects: Objects
    parser: Parser

    def read(self, ingestion: VectorIngestion, found: S3Object, sidecar: S3Object | None) -> Draft:
        """From S3. Raises Unindexable; what it says is all that AWS would say."""
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
        return parsed(body, ingestion.bounds), etag

    def pieces(self, ingestion: VectorIngestion, body: bytes, filename: str) -> tuple[str, ...]:
        """What is to be read in a file, page by page where it is looked at; raises Unindexable."""
        if body.startswith(b"#!") or format_of(filename) not in ingestion.formats:
            raise Unindexable(FILE_FORMAT.message)  # rules file.format, file.script
        if not ingestion.is_seen(format_of(filename)):
            return (self.parser.text(body, filename),)
        try:
            return self.parser.seen(body, filename)
        except Unindexable:  # rule parse.fallback
            return (self.parser.text(body, filename),)

    def _body(self, found: S3Object) -> tuple[bytes, str]:
        try:
            return self.objects.read(found.bucket, found.key)
        except ObjectMissing as error:
            raise Unindexable(FILE_UNREADABLE.message) from error
