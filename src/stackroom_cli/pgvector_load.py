"""The `load` command: load a folder's documents into a knowledge base in PostgreSQL."""

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from rich.markup import escape

from bedrock_kb_simulator.bucket_objects import OF_VECTOR, Attributes, parse_sidecar
from bedrock_kb_simulator.chunk_strategies import Chunking
from bedrock_kb_simulator.service_errors import Unindexable
from stackroom.aws import session
from stackroom.aws.bedrock.question_embeddings import BedrockEmbeddings
from stackroom.concurrency import random_pauses, retried
from stackroom.errors import (
    KnowledgeBaseNotFound,
    KnowledgeBaseThrottled,
    KnowledgeBaseUnavailable,
    SearchRefused,
    Unavailable,
    Unreadable,
    ValidationError,
)
from stackroom.model.formats import MAX_FILE_BYTES
from stackroom.model.keys import SIDECAR_SUFFIX
from stackroom.search.cached_embeddings import Embeddings, Vector
from stackroom.text.extraction import read_pages
from stackroom.tools.texts import counted
from stackroom_cli.callers import checked
from stackroom_cli.json_output import LoadAnswer
from stackroom_cli.output import Output, TerminalConsole, counting
from stackroom_cli.sites.file_drop import DroppableFile, find
from stackroom_cli.untrusted_text import one_line
from stackroom_local.local_errors import LocalModeError
from stackroom_stores.pgvector.connections import Connections
from stackroom_stores.pgvector.document_loading import Chunk, Documents, NewDocument
from stackroom_stores.pgvector.pgvector_entry import ROOT_CERTIFICATES, Address
from stackroom_stores.pgvector.schema import Tables, create

# Loading files into PostgreSQL: they are read, cut, embedded, and written.
#
# They are read as the product reads them and cut as the simulator cuts them, so that the same
# files make the same passages in every store.

_AT_ONCE = 8  # passages of a document that are embedded side by side
_TRIES = 6
_pause = random_pauses(first=1, longest=20)


@dataclass(frozen=True)
class Loaded:
    name: str
    chunks: int


@dataclass(frozen=True)
class Unchanged:
    """A document that is there already, and would be the same now."""

    name: str


@dataclass(frozen=True)
class NotLoaded:
    """A document that could not be loaded; an earlier version of it stays."""

    name: str
    reason: str


Outcome = Loaded | Unchanged | NotLoaded


@dataclass(frozen=True, kw_only=True)
class Loading:
    """
    Reads, cuts, embeds and writes documents.

    A document's URI is `source` followed by its name, or without `source` the URI of the loaded
    file. `pause` takes the number of failed attempts to embed a passage.
    """

    documents: Documents
    embeddings: Embeddings
    chunking: Chunking = field(default_factory=Chunking)
    source: str | None = None
    pause: Callable[[int], None] = _pause

    def load(self, files: Iterable[DroppableFile]) -> Iterator[Outcome]:
        """
        Load each file and yield its outcome; one that can't be loaded doesn't stop the others.

        Raises SearchRefused if no file could be loaded.
        """
        for file in files:
            try:
                yield self._loaded(file)
            except (Unreadable, Unindexable, Unavailable, OSError) as error:
                yield NotLoaded(file.name, str(error))

    def _loaded(self, file: DroppableFile) -> Outcome:
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
        attributes = Attributes() if sidecar is None else parse_sidecar(sidecar, OF_VECTOR)
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

    def _uri(self, file: DroppableFile) -> str:
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
        """Return a digest of everything that makes a document, including the size of its chunks."""
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


_PARTS = {"host", "port", "user", "dbname"}


class SomeNotLoaded(LocalModeError):
    def __init__(self, count: int, of: int) -> None:
        super().__init__(f"{count} of {counted(of, 'file')} were not loaded; see above")


@dataclass(frozen=True, kw_only=True)
class LoadTarget:
    """
    The knowledge base to load. `url` is libpq's, without a password; no `user` means everybody.
    """

    url: str
    knowledge_base_id: str
    user: str | None
    schema: str = "public"
    is_local: bool = False
    ssl_root_cert: str = ROOT_CERTIFICATES
    makes_tables: bool = False
    readers: Sequence[str] = ()
    language: str = "english"


@dataclass(frozen=True, kw_only=True)
class Way:
    """The way documents are cut and embedded."""

    model: str
    dimensions: int
    max_tokens: int
    overlap_percentage: int
    source: str | None = None


def load(folder: Path, target: LoadTarget, way: Way, *, output: Output) -> None:
    out = output.people
    if target.user is not None:
        checked(target.user)
    if not target.knowledge_base_id.strip():
        raise ValidationError("--knowledge-base must not be blank")
    files = _files(folder)
    connecting = _address(target).connecting(session.client)
    tables = Tables(schema=target.schema)
    with _connected(connecting) as connection:
        if target.makes_tables:
            create(
                connection,
                tables,
                dimensions=way.dimensions,
                language=target.language,
                readers=target.readers,
            )
    connections = Connections(connecting)
    try:
        documents = Documents(
            connections=connections,
            knowledge_base_id=target.knowledge_base_id,
            dimensions=way.dimensions,
            user_id=target.user,
            tables=tables,
        )
        _begin(documents, target)
        loading = Loading(
            documents=documents,
            embeddings=BedrockEmbeddings(
                client=session.client("embeddings"), model=way.model, dimensions=way.dimensions
            ),
            chunking=Chunking(max_tokens=way.max_tokens, overlap_percentage=way.overlap_percentage),
            source=way.source,
        )
        outcomes = _loaded(out, loading, files)
    finally:
        connections.close()
    output.answer(_answer(outcomes))
    if bad := sum(isinstance(each, NotLoaded) for each in outcomes):
        raise SomeNotLoaded(bad, len(outcomes))


def _answer(outcomes: Sequence[Outcome]) -> LoadAnswer:
    loaded = [each for each in outcomes if isinstance(each, Loaded)]
    return LoadAnswer(
        loaded=[each.name for each in loaded],
        unchanged=[each.name for each in outcomes if isinstance(each, Unchanged)],
        not_loaded={each.name: each.reason for each in outcomes if isinstance(each, NotLoaded)},
        passages=sum(each.chunks for each in loaded),
    )


def _begin(documents: Documents, target: LoadTarget) -> None:
    try:
        documents.make_knowledge_base(target.knowledge_base_id)
    except KnowledgeBaseNotFound:
        raise LocalModeError(
            f"knowledge base {target.knowledge_base_id!r} belongs to another user; name another"
            " one with --knowledge-base, or one that was created with --shared"
        ) from None
    except SearchRefused as error:
        raise LocalModeError(
            f"{error}; create the tables with --create-tables, or name another schema with --schema"
        ) from None


def _connected(connecting: Callable[[], dict[str, Any]]) -> psycopg.Connection:
    """Return a connection of its own, for the pool's repeats what fails and logs it."""
    try:
        return psycopg.connect("", **connecting(), autocommit=True)
    except psycopg.Error as error:
        raise LocalModeError(f"can't connect to the database: {error}") from None
    except SearchRefused as error:
        raise LocalModeError(f"{error}; name AWS's bundle with --ssl-root-cert") from None


def _loaded(
    out: TerminalConsole, loading: Loading, files: Sequence[DroppableFile]
) -> list[Outcome]:
    """Load the files, report each that fails, and show a progress bar on a terminal."""
    started = time.monotonic()
    outcomes: list[Outcome] = []
    with counting(out, "loading", len(files)) as advance:
        for outcome in loading.load(files):
            outcomes.append(outcome)
            advance(len(outcomes))
            if isinstance(outcome, NotLoaded):
                line = one_line(f"not loaded: {outcome.name}: {outcome.reason}")
                out.print(escape(line), style="red")
    loaded = [each for each in outcomes if isinstance(each, Loaded)]
    unchanged = sum(isinstance(each, Unchanged) for each in outcomes)
    passages = counted(sum(each.chunks for each in loaded), "passage")
    out.print(
        f"loaded {len(loaded)} of {counted(len(outcomes), 'file')} as {passages}"
        f" in {time.monotonic() - started:.1f} s; {unchanged} unchanged"
    )
    return outcomes


def _files(folder: Path) -> tuple[DroppableFile, ...]:
    if not folder.is_dir():
        raise ValidationError(f"folder {str(folder)!r} does not exist")
    found = find([folder]).files
    if not found:
        raise ValidationError(f"no files to load in {folder}")
    return found


def _address(target: LoadTarget) -> Address:
    """
    Parse the URL. Raises ValidationError, which never repeats a URL that may contain a password.
    """
    shown = "--to must be postgresql://USER@HOST:PORT/DATABASE"
    try:
        parts = conninfo_to_dict(target.url)
    except psycopg.Error:
        raise ValidationError(shown) from None
    if unknown := sorted(set(parts) - _PARTS):
        raise ValidationError(f"{shown}, without {', '.join(unknown)}")
    if missing := sorted(_PARTS - {"port"} - set(parts)):
        raise ValidationError(f"{shown}: {', '.join(missing)} missing")
    try:
        return Address(
            host=str(parts["host"]),
            port=int(parts.get("port") or 5432),
            database=str(parts["dbname"]),
            user=str(parts["user"]),
            ssl_root_cert=target.ssl_root_cert,
            is_local=target.is_local,
        )
    except ValueError as error:
        raise ValidationError(f"--to: {error}") from None
