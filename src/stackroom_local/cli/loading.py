"""load: a folder's documents into a knowledge base in PostgreSQL, with a line for each."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from bedrock_kb_simulator.chunking import Chunking
from stackroom.aws import session
from stackroom.aws.bedrock.question_embeddings import BedrockEmbeddings
from stackroom.catalog_tools.texts import counted
from stackroom.errors import KnowledgeBaseNotFound, SearchRefused, ValidationError
from stackroom.stores.pgvector.connections import Connections
from stackroom.stores.pgvector.document_loading import Documents
from stackroom.stores.pgvector.pgvector_entry import ROOT_CERTIFICATES, Address
from stackroom.stores.pgvector.schema import Tables, create
from stackroom_local.cli.answers import LoadAnswer
from stackroom_local.cli.asking import checked
from stackroom_local.cli.console import Console, Output
from stackroom_local.cli.foreign import one_line
from stackroom_local.dropping import File, find
from stackroom_local.loading import Loaded, Loading, NotLoaded, Outcome, Unchanged
from stackroom_local.problems import LocalModeError

_PARTS = {"host", "port", "user", "dbname"}


class SomeNotLoaded(LocalModeError):
    def __init__(self, count: int, of: int) -> None:
        super().__init__(f"{count} of {counted(of, 'file')} were not loaded; see above")


@dataclass(frozen=True, kw_only=True)
class Target:
    """Where documents go. `url` is libpq's, without a password; `user` None is for everybody."""

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
    """How documents are cut and embedded."""

    model: str
    dimensions: int
    max_tokens: int
    overlap_percentage: int
    source: str | None = None


def load(folder: Path, target: Target, way: Way, *, told: Output) -> None:
    out = told.people
    if target.user is not None:
        checked(target.user)
    if not target.knowledge_base_id.strip():
        raise ValidationError("--knowledge-base must not be blank")
    files = _files(folder)
    connecting = _address(target).connecting(session.client)
    tables = Tables(schema=target.schema)
    if target.makes_tables:
        _make(tables, connecting(), target, way)
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
    told.answer(_answer(outcomes))
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


def _begin(documents: Documents, target: Target) -> None:
    try:
        documents.make_knowledge_base(target.knowledge_base_id)
    except KnowledgeBaseNotFound:
        raise LocalModeError(
            f"knowledge base {target.knowledge_base_id!r} is another user's; name another one with"
            " --knowledge-base (one that was begun with --shared takes everybody's documents)"
        ) from None
    except SearchRefused as error:
        raise LocalModeError(
            f"{error}; --create-tables makes tables where there are none, --schema names others"
        ) from None


def _make(tables: Tables, connecting: dict[str, object], target: Target, way: Way) -> None:
    try:
        # psycopg's own parameters, which are of many types
        connection = psycopg.connect("", **connecting, autocommit=True)  # type: ignore[arg-type]
    except psycopg.Error as error:
        raise LocalModeError(f"the database can't be connected to: {error}") from None
    with connection:
        create(
            connection,
            tables,
            dimensions=way.dimensions,
            language=target.language,
            readers=target.readers,
        )


def _loaded(out: Console, loading: Loading, files: Sequence[File]) -> list[Outcome]:
    """Tells of each as it comes, with a bar on a terminal."""
    started = time.monotonic()
    outcomes: list[Outcome] = []
    columns = (TextColumn("loading"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=out, transient=True, disable=not out.is_terminal) as progress:
        bar = progress.add_task("", total=len(files))
        for outcome in loading.load(files):
            outcomes.append(outcome)
            progress.advance(bar)
            if isinstance(outcome, NotLoaded):
                told = one_line(f"not loaded: {outcome.name}: {outcome.reason}")
                out.print(escape(told), style="red")
    loaded = [each for each in outcomes if isinstance(each, Loaded)]
    unchanged = sum(isinstance(each, Unchanged) for each in outcomes)
    passages = counted(sum(each.chunks for each in loaded), "passage")
    out.print(
        f"loaded {len(loaded)} of {counted(len(outcomes), 'file')} as {passages}"
        f" in {time.monotonic() - started:.1f} s; {unchanged} were there already"
    )
    return outcomes


def _files(folder: Path) -> tuple[File, ...]:
    if not folder.is_dir():
        raise ValidationError(f"no such folder: {folder}")
    found = find([folder]).files
    if not found:
        raise ValidationError(f"there is no file to load in {folder}")
    return found


def _address(target: Target) -> Address:
    """Raises ValidationError, which repeats nothing of a URL that may hold a password."""
    shown = "--to must be postgresql://USER@HOST:PORT/DATABASE"
    try:
        parts = conninfo_to_dict(target.url)
    except psycopg.Error:
        raise ValidationError(shown) from None
    if unknown := sorted(set(parts) - _PARTS):
        raise ValidationError(f"{shown}, without {', '.join(unknown)}")
    if missing := sorted(_PARTS - {"port"} - set(parts)):
        raise ValidationError(f"{shown}: {', '.join(missing)} left out")
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
