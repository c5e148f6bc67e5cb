"""
drop, status, delete, catalogs for whoever is signed in to a deployment: by tools, over MCP.

Nobody needs AWS credentials for it. What the tools don't tell is null in the answers.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Self

import httpx
import typer
from rich.console import RenderableType
from rich.text import Text

from stackroom.documents.keys import catalog_id_of
from stackroom.documents.model import CatalogStatus, DocumentStatus
from stackroom.errors import ValidationError
from stackroom.tools.texts import counted, size
from stackroom_local.cli import operator_documents
from stackroom_local.cli.callers import Asker, user_of
from stackroom_local.cli.document_tables import STYLES, Rows
from stackroom_local.cli.failures import WrongUsage
from stackroom_local.cli.json_output import (
    CatalogTold,
    Changed,
    DeleteAnswer,
    DocumentTold,
    DropAnswer,
    FileTold,
    StatusAnswer,
)
from stackroom_local.cli.operator_documents import SomeFailed, found_at, tell_not_dropped
from stackroom_local.cli.output import Output
from stackroom_local.cli.untrusted_text import one_line
from stackroom_local.sites.file_drop import DroppableFile
from stackroom_local.sites.person_tools import PersonsTools
from stackroom_local.sites.site import Site
from stackroom_local.sites.site_errors import ToolRefused

POLL_SECONDS = 2.0
SETTLED = {DocumentStatus.INDEXED, DocumentStatus.FAILED}
_KB, _MB = 1024, 1024**2  # in the tools' answers


@dataclass(frozen=True)
class SignedInPerson:
    site: Site
    asker: Asker
    user_id: str

    @classmethod
    def at(cls, site: Site) -> Self:
        """Raises SignInNeeded; of a local mode, which has no sign-in, WrongUsage."""
        asker = Asker(site=site, user=None)
        return cls(site=site, asker=asker, user_id=user_of(site, asker.token))

    @property
    def tools(self) -> PersonsTools:
        return self.asker.tools

    def documents(self, catalog: dict[str, Any]) -> Iterator[DocumentTold]:
        for each in self.tools.documents(catalog["catalog_id"]):
            yield DocumentTold(
                user_id=self.user_id,
                catalog=catalog["catalog_name"],
                document_id=each["document_id"],
                filename=each["filename"],
                key=None,
                size=round(each["file_size_kb"] * _KB),
                status=DocumentStatus(each["indexing_status"]),
                status_reason=each["status_reason"],
                uploaded_at=datetime.fromisoformat(each["uploaded_at"]),
                updated_at=None,
                indexed_at=None,
            )

    def every_document(self) -> list[DocumentTold]:
        return [one for each in self.tools.catalogs() for one in self.documents(each)]


def catalogs(person: SignedInPerson, *, told: Output) -> None:
    found = [
        CatalogTold(
            user_id=person.user_id,
            catalog_id=each["catalog_id"],
            name=each["catalog_name"],
            status=CatalogStatus(each["indexing_status"]),
            document_count=each["document_count"],
            total_bytes=round(each["total_size_mb"] * _MB),
            updated_at=datetime.fromisoformat(each["last_updated"]),
        )
        for each in person.tools.catalogs()
    ]
    operator_documents.tell(found, told)


def status(person: SignedInPerson, *, watch: bool, until_settled: bool, told: Output) -> None:
    shown: dict[str, DocumentTold] = {}
    while True:
        documents = person.every_document()
        now = {each.document_id: each for each in documents}
        if not watch and not until_settled:
            told.people.print(table_of(documents))
            told.answer(StatusAnswer(documents=documents, unlisted=0, waiting=[], troubles=[]))
            return
        if now != shown:
            told.people.print(table_of(documents))
        for each in documents:
            if shown.get(each.document_id) != each:
                told.line(Changed(document=each))
        for gone in shown.keys() - now.keys():
            told.line(Changed(document=shown[gone], gone=True))
        shown = now
        if until_settled and all(each.status in SETTLED for each in documents):
            return
        time.sleep(POLL_SECONDS)


def delete(
    person: SignedInPerson,
    targets: Sequence[str],
    *,
    catalog: str | None,
    yes: bool,
    wait: bool,
    told: Output,
) -> None:
    if catalog is None:
        raise WrongUsage("name your catalog with --catalog, or --user for an operator's deletion")
    catalog_id = person.asker.catalog_id(catalog)
    at = {"catalog_id": catalog_id, "catalog_name": catalog}
    if targets:
        there = {each.filename: each.document_id for each in person.documents(at)}
        if unknown := [each for each in targets if each not in there]:
            raise ValidationError(f"there is no document {unknown[0]!r} in {catalog!r}")
        for each in targets:
            person.tools.call(
                "delete_catalog_document", catalog_id=catalog_id, document_id=there[each]
            )
        while wait and {each.filename for each in person.documents(at)} & set(targets):
            time.sleep(POLL_SECONDS)
        told.people.print(f"deleted {len(targets)} of {catalog}", markup=False)
        told.answer(DeleteAnswer(receipts=[], removed=list(targets)))
        return
    if not yes:
        typer.confirm(f"Delete {catalog} and all in it?", abort=True, err=True)
    person.tools.call("delete_catalog", catalog_id=catalog_id, confirm=True)
    while is_there := any(each["catalog_id"] == catalog_id for each in person.tools.catalogs()):
        if not wait:
            break
        time.sleep(POLL_SECONDS)
    told.people.print(f"{catalog} {'is being deleted' if is_there else 'is gone'}", markup=False)
    left = CatalogStatus.DELETING if is_there else None
    told.answer(DeleteAnswer(receipts=[], catalog=catalog_id, catalog_status=left))


# A signed-in person's documents, as a table.


def table_of(documents: Sequence[DocumentTold]) -> RenderableType:
    if not documents:
        return Text("no documents yet")
    return Rows(
        ("Status", "Document", "Size", "Reason"),
        [
            (
                Text(str(each.status), style=STYLES[each.status]),
                Text(
                    one_line(f"{each.catalog}/{each.filename}" if each.catalog else each.filename)
                ),
                size(each.size),
                Text(one_line(each.status_reason or "")),
            )
            for each in documents
        ],
    )


# drop for whoever is signed in to a deployment: by links that a tool gives, over MCP.

_UPLOAD_SECONDS = 120.0
_UNCHANGED_SECONDS = 60.0  # after which a file that was there already is taken to be the same


def drop(
    person: SignedInPerson, paths: list[Path], *, catalog: str, wait: bool, told: Output
) -> None:
    found = found_at(paths)
    at = _opened(person, catalog)
    before = {each.filename: each for each in person.documents(at)}
    files = [_sent(person, at["catalog_id"], each) for each in found.files]
    told.people.print(
        f"dropped {sum(each.dropped for each in files)} of {counted(len(files), 'file')}"
    )
    if wait:
        files = _settled(person, at, files, before)
    refused = [(each.filename, each.reason or "") for each in files if not each.dropped]
    tell_not_dropped(told.people, refused)
    for each in files:
        if each.dropped and each.reason is not None:
            told.people.print(f"{each.filename}: {each.reason}", markup=False)
    left_out = [str(path) for path in found.left_out]
    told.answer(DropAnswer(prefix=None, files=files, left_out=left_out))
    if bad := sum(not each.dropped or each.status is DocumentStatus.FAILED for each in files):
        raise SomeFailed(bad, len(files))


def _opened(person: SignedInPerson, catalog: str) -> dict[str, Any]:
    """The catalog of that name or id; made if there is none of that name."""
    wanted = {catalog, catalog_id_of(person.user_id, catalog)}
    for each in person.tools.catalogs():
        if each["catalog_id"] in wanted:
            return each
    return person.tools.call("create_catalog", catalog_name=catalog)


def _sent(person: SignedInPerson, catalog_id: str, file: DroppableFile) -> FileTold:
    """By the link that the tool gives: the bucket takes it, and no credentials are asked for."""
    try:
        link = person.tools.call(
            "upload_to_catalog", catalog_id=catalog_id, filename=file.name, replace=True
        )
        with file.path.open("rb") as body:
            answer = httpx.post(
                link["upload_url"],
                data=link["upload_fields"],
                files={"file": (file.path.name, body)},
                timeout=_UPLOAD_SECONDS,
            )
        answer.raise_for_status()
    except (OSError, httpx.HTTPError, ToolRefused) as error:
        return FileTold(key=None, filename=file.name, dropped=False, reason=str(error))
    return FileTold(key=None, filename=file.name, dropped=True)


@dataclass(frozen=True)
class _Settling:
    """What was sent, and what was there of it before."""

    files: Sequence[FileTold]
    before: Mapping[str, DocumentTold]

    def is_over(self, now: Mapping[str, DocumentTold], seconds: float) -> bool:
        """Whether each is indexed or failed; what is as it was before stays so after a while."""
        for each in self.files:
            record = now.get(each.filename)
            if each.dropped and (record is None or record.status not in SETTLED):
                return False
            is_as_before = record is not None and record == self.before.get(each.filename)
            if each.dropped and is_as_before and seconds < _UNCHANGED_SECONDS:
                return False
        return True


def _settled(
    person: SignedInPerson,
    catalog: dict[str, Any],
    files: Sequence[FileTold],
    before: Mapping[str, DocumentTold],
) -> list[FileTold]:
    settling, began = _Settling(files, before), time.monotonic()
    while True:
        now = {each.filename: each for each in person.documents(catalog)}
        if settling.is_over(now, time.monotonic() - began):
            return [_ended(each, now) for each in files]
        time.sleep(POLL_SECONDS)


def _ended(file: FileTold, now: Mapping[str, DocumentTold]) -> FileTold:
    if not file.dropped:
        return file
    record = now[file.filename]
    return file.model_copy(update={"status": record.status, "reason": record.status_reason})
