"""
A local mode that holds the documents: ingested once by the pipeline, as anyone's, and kept.

What is kept goes with what it was made of: another document, or other code that reads, cuts or
embeds them, and they are ingested anew. Place maps alone are made anew in seconds.
"""

import hashlib
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bedrock_kb_simulator.embedding_models import DEFAULT_MODEL, ModelName
from benchmarks.answers.corpus import CACHE, Document
from benchmarks.serving import NotMeasured, free_ports
from stackroom.documents.model import Document as Record
from stackroom.documents.model import DocumentStatus
from stackroom_local.project_files import ROOT
from stackroom_local.servers import Ports
from stackroom_local.sites.site_records import SiteRecords
from stackroom_local.state import Instance, StateDirectory
from stackroom_local.supervisor import LocalMode

USER, CATALOG = "alice", "library"
SPEED = 20  # the simulator scales Retrieve's 20 a second and account with it
_PATIENCE, _LOOK_SECONDS = 3_600.0, 10.0
# What decides on the chunks and their vectors; a change of it, and they are made anew.
_CHUNKED_BY = (
    "simulator/src/bedrock_kb_simulator/chunk_strategies.py",
    "simulator/src/bedrock_kb_simulator/e5_graph.py",
    "simulator/src/bedrock_kb_simulator/embedder.py",
    "simulator/src/bedrock_kb_simulator/file_pages.py",
    "simulator/src/bedrock_kb_simulator/multilingual.py",
    "simulator/src/bedrock_kb_simulator/parsing.py",
    "simulator/src/bedrock_kb_simulator/parser_process.py",
)
_INSPECTED_BY = ("src/stackroom/inspection",)  # what decides on the place maps


@dataclass(frozen=True)
class _Label:
    """What something was made of, beside it."""

    folder: Path
    name: str
    made_of: str

    def is_there(self) -> bool:
        return self._file.exists() and self._file.read_text() == self.made_of

    def put(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._file.write_text(self.made_of)

    @property
    def _file(self) -> Path:
        return self.folder / self.name


@contextmanager
def library(
    documents: Sequence[Document], *, name: str = "library", model: ModelName = DEFAULT_MODEL
) -> Iterator[Instance]:
    """A local mode that has indexed all of them; it is kept under its name and its model's."""
    name = name if model == DEFAULT_MODEL else f"{name}-{model}"
    folder = CACHE / name
    vectors = _Label(folder, "made-of", _fingerprint(documents, _CHUNKED_BY))
    if not vectors.is_there():
        shutil.rmtree(folder, ignore_errors=True)
    vectors.put()  # at once, for what an interrupted run has ingested counts, too
    state = StateDirectory(folder / "state")
    mode = LocalMode(
        state=state,
        ports=Ports(aws=free_ports()),
        speed=SPEED,
        model=model,
        announce=lambda _text: None,
    )
    with state.held(), mode.running() as instance:
        _ingest(instance, documents)
        _inspect(instance, documents, folder)
        yield instance


def _ingest(instance: Instance, documents: Sequence[Document]) -> None:
    began = time.monotonic()
    keys = {_key(document): document for document in documents}
    known = _known(instance)
    s3 = instance.client("s3")
    for key in keys.keys() - known.keys():
        s3.put_object(Bucket=instance.bucket, Key=key, Body=keys[key].body)
    while waiting := keys.keys() - _indexed(instance):
        print(
            f"ingesting, once: {len(waiting)} of {len(keys)} documents to go,"
            f" {time.monotonic() - began:.0f} s",
            flush=True,
        )
        if time.monotonic() - began > _PATIENCE:
            raise NotMeasured(f"{', '.join(sorted(waiting))} not indexed in {_PATIENCE:g} s")
        time.sleep(_LOOK_SECONDS)


def _indexed(instance: Instance) -> set[str]:
    """Raises NotMeasured for one that failed."""
    known = _known(instance)
    for document in known.values():
        if document.status is DocumentStatus.FAILED:
            raise NotMeasured(f"{document.s3_key} failed: {document.status_reason}")
    return {key for key, each in known.items() if each.status is DocumentStatus.INDEXED}


def _known(instance: Instance) -> dict[str, Record]:
    listings = SiteRecords(instance).listings(USER)
    return {each.s3_key: each for listing in listings for each in listing.documents}


def _inspect(instance: Instance, documents: Sequence[Document], folder: Path) -> None:
    """As the inspection would that an upload starts, of what was uploaded before it changed."""
    places = _Label(folder, "inspected-by", _fingerprint(documents, _INSPECTED_BY))
    if places.is_there():
        return
    # Imported here, because its logger takes the environment as it is then.
    from functions.inspect.handler import InspectSettings, inspection_of  # noqa: PLC0415 - see above

    settings = InspectSettings(
        kb_catalog_table=instance.catalog_table,
        kb_control_table=instance.control_table,
        kb_docs_bucket=instance.bucket,
        inspect_seconds_per_file=_PATIENCE,
    )
    inspection = inspection_of(settings, instance.client)
    for document in documents:
        inspection.inspect(_key(document))
    places.put()


def _key(document: Document) -> str:
    return f"{USER}/{CATALOG}/{document.name}"


def _fingerprint(documents: Sequence[Document], makers: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for document in documents:
        digest.update(f"{document.name} {document.sha256}\n".encode())
    for maker in makers:
        for file in _sources(ROOT / maker):
            digest.update(file.read_bytes())
    return digest.hexdigest()


def _sources(maker: Path) -> list[Path]:
    return sorted(maker.rglob("*.py")) if maker.is_dir() else [maker]
