"""
Files of this machine into a knowledge base in PostgreSQL: read, cut, embedded, and written.

They are read as the product reads them and cut as the simulator cuts them, so that the same files
make the same passages in every store.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from bedrock_kb_simulator.chunking import Chunking
from bedrock_kb_simulator.errors import Unindexable
from bedrock_kb_simulator.sidecars import OF_VECTOR, Attributes, parsed
from stackroom.errors import (
    KnowledgeBaseThrottled,
    KnowledgeBaseUnavailable,
    Unavailable,
    Unreadable,
)
from stackroom.formats import MAX_FILE_BYTES
from stackroom.inspection.extraction import read_pages
from stackroom.keys import SIDECAR_SUFFIX
from stackroom.ports.embeddings import Embeddings, Vector
from stackroom.retries import random_pauses, retried
from stackroom.stores.pgvector.document_loading import Chunk, Documents, NewDocument
from stackroom_local.dropping import File

_AT_ONCE = 8  # passages of a document that are embedded side by side
_TRIES = 6
_pause = random_pauses(first=1, longest=20)


@dataclass(frozen=True)
class Loaded:
    name: str
    chunks: int


@dataclass(frozen=True)
class Unchanged:
    """It is there already, as it would be made now."""

    name: str


@dataclass(frozen=True)
class NotLoaded:
    """What was there of that name is there still."""

    name: str
    reason: str


Outcome = Loaded | Unchanged | NotLoaded


@dataclass(frozen=True, kw_only=True)
class Loading:
    """
    `source` is the beginning of each document's URI, to which its name is added; without it that is
    the URI of the file that was loaded. `pause` is told how often an embedding was tried in vain.
    """

    documents: Documents
    embeddings: Embeddings
    chunking: Chunking = field(default_factory=Chunking)
    source: str | None = None
    pause: Callable[[int], None] = _pause

    def load(self, files: Iterable[File]) -> Iterator[Outcome]:
        """
        What becomes of each: one that can't be loaded does not keep the others back.

        Raises SearchRefused for what would keep all of them back.
        """
        for file in files:
            try:
                yield self._loaded(file)
            except (Unreadable, Unindexable, Unavailable, OSError) as error:
                yield NotLoaded(file.name, str(error))

    def _loaded(self, file: File) -> Outcome:
        try:
            file.name.encode()
        except UnicodeEncodeError:
            raise Unreadable("its name is not UTF-8; rename the file") from None
        if file.path.stat().st_size > MAX_FILE_BYTES:
            raise Unreadable(f"the file exceeds {MAX_FILE_BYTES // 1024**2} MB")
        body, sidecar = file.path.read_bytes(), _sidecar(file.path)
        uri = self._uri(file)
        digest = self._digest(body, sidecar, uri)
        if self.documents.digest(file.name) == digest:
            return Unchanged(file.name)
        attributes = Attributes() if sidecar is None else parsed(sidecar, OF_VECTOR)
        chunks = self._chunks(body, file.name, attributes)
        self.documents.put(
            NewDocument(
                name=file.name,
                digest=digest,
                chunks=chunks,
                source_uri=uri,
                attributes=attributes.values,
            )
        )
        return Loaded(file.name, len(chunks))

    def _uri(self, file: File) -> str:
        return file.path.absolute().as_uri() if self.source is None else self.source + file.name

    def _chunks(self, body: bytes, name: str, attributes: Attributes) -> Sequence[Chunk]:
        cut = [
            (text, page.number)
            for page in read_pages(body, name)
            for text in self.chunking.split(page.text)
        ]
        preamble = attributes.preamble()
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            vectors = list(threads.map(self._embedded, (preamble + text for text, _ in cut)))
        return [
            Chunk(content=text, page=page, embedding=vector)
            for (text, page), vector in zip(cut, vectors, strict=True)
        ]

    def _embedded(self, text: str) -> Vector:
        return retried(
            lambda: self.embeddings.embed(text),
            tries=_TRIES,
            pause=self.pause,
            after=(KnowledgeBaseThrottled, KnowledgeBaseUnavailable),
        )

    def _digest(self, body: bytes, sidecar: bytes | None, uri: str) -> str:
        """Of all that a document is made of: another size of chunks makes another version."""
        made_with = [
            self.embeddings.model,
            self.embeddings.dimensions,
            self.chunking.max_tokens,
            self.chunking.overlap_percentage,
            uri,
        ]
        parts = (body, sidecar or b"", json.dumps(made_with).encode())
        whole = b"".join(hashlib.sha256(part).digest() for part in parts)
        return hashlib.sha256(whole).hexdigest()


def _sidecar(path: Path) -> bytes | None:
    beside = path.with_name(path.name + SIDECAR_SUFFIX)
    return beside.read_bytes() if beside.is_file() else None
