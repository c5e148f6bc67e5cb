"""
A local mode with a catalog for each set, which the pipeline ingests once and which is then kept.

A catalog's name has a hash of its files, so that other files make another catalog. Vectors are
cached by model and text next to the local mode, so that repeated ingestion needs no embedding.
"""

import hashlib
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from bedrock_kb_simulator.embedding_models import DEFAULT_MODEL, KEPT_VECTORS, ModelName
from benchmarks.answers.corpus import CACHE
from benchmarks.serving import NotMeasured, free_ports
from stackroom.model.keys import catalog_id_of
from stackroom.model.records import DocumentStatus
from stackroom_cli.sites.site_records import SiteRecords
from stackroom_local.project_files import ROOT
from stackroom_local.servers import Ports
from stackroom_local.state import Instance, StateDirectory
from stackroom_local.supervisor import LocalMode

USER = "alice"
SPEED = 20  # the simulator scales Retrieve's 20 a second and account with it
_PATIENCE, _LOOK_SECONDS = 3_600.0, 5.0
_SIMULATOR = "simulator/src/bedrock_kb_simulator"
# The code that determines a text's vectors, a document's text, and its chunks.
_EMBEDDED_BY = tuple(f"{_SIMULATOR}/{name}.py" for name in ("e5_graph", "embedder", "multilingual"))
_READ_BY = ("src/stackroom/text",)
_CHUNKED_BY = tuple(
    f"{_SIMULATOR}/{name}.py"
    for name in ("chunk_strategies", "file_pages", "parsing", "parser_process")
)


@contextmanager
def local_mode(model: ModelName = DEFAULT_MODEL) -> Iterator[Instance]:
    """Run a local mode whose data is kept until the code that reads, chunks or embeds changes."""
    folder = CACHE / f"local-{model}"
    made_of, label = _fingerprint(*_EMBEDDED_BY, *_READ_BY, *_CHUNKED_BY), folder / "made-of"
    if not _has(label, made_of):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        label.write_text(made_of)
    state = StateDirectory(folder / "state")
    mode = LocalMode(
        state=state,
        ports=Ports(aws=free_ports()),
        speed=SPEED,
        model=model,
        announce=lambda text: print(f"local mode: {text}", flush=True),
    )
    vectors = CACHE / f"vectors-{_fingerprint(*_EMBEDDED_BY)[:12]}.sqlite"
    with (
        patch.dict(os.environ, {KEPT_VECTORS: str(vectors)}),
        state.held(),
        mode.running() as instance,
    ):
        yield instance


def ingested(instance: Instance, name: str, files: Mapping[str, bytes]) -> str:
    """Return the id of a catalog with these files, all indexed."""
    digest = hashlib.sha256()
    for file, body in sorted(files.items()):
        digest.update(f"{file} {hashlib.sha256(body).hexdigest()}\n".encode())
    catalog = f"{name}-{digest.hexdigest()[:8]}"
    keys = {f"{USER}/{catalog}/{file}": body for file, body in files.items()}
    began, s3 = time.monotonic(), instance.client("s3")
    known = _statuses(instance)
    for key in keys.keys() - known.keys():
        s3.put_object(Bucket=instance.bucket, Key=key, Body=keys[key])
    while waiting := {key for key in keys if known.get(key) is not DocumentStatus.INDEXED}:
        print(f"ingesting {name}: {len(waiting)} of {len(keys)} documents to go", flush=True)
        if failed := [key for key in waiting if known.get(key) is DocumentStatus.FAILED]:
            raise NotMeasured(f"{', '.join(failed)} failed")
        if time.monotonic() - began > _PATIENCE:
            raise NotMeasured(f"{len(waiting)} documents not indexed in {_PATIENCE:g} s")
        time.sleep(_LOOK_SECONDS)
        known = _statuses(instance)
    return catalog_id_of(USER, catalog)


def _statuses(instance: Instance) -> dict[str, DocumentStatus]:
    """Return the documents' statuses by the keys of their objects."""
    return {each.s3_key: each.status for each in SiteRecords(instance).documents(USER)}


def _has(label: Path, made_of: str) -> bool:
    return label.exists() and label.read_text() == made_of


def _fingerprint(*makers: str) -> str:
    digest = hashlib.sha256()
    for maker in makers:
        path = ROOT / maker
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.read_bytes())
    return digest.hexdigest()
