"""
The `drop`, `status`, `delete` and `catalogs` commands for a person signed in to a deployment.

They call the gateway's tools and need no AWS credentials. Fields that the tools don't return are
null in the answers.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import typer
from rich.console import RenderableType
from rich.text import Text

from stackroom.errors import ValidationError
from stackroom.model.keys import canonical_name
from stackroom.model.records import CatalogStatus, DocumentStatus, with_gaps
from stackroom.tools.texts import counted, size
from stackroom_cli import operator_documents
from stackroom_cli.callers import Asker, user_of
from stackroom_cli.document_tables import STYLES, Rows
from stackroom_cli.failures import WrongUsage
from stackroom_cli.json_output import (
    CatalogTold,
    Changed,
    DeleteAnswer,
    DocumentTold,
    DropAnswer,
    FileTold,
    StatusAnswer,
)
from stackroom_cli.operator_documents import (
    SomeFailed,
    found_at,
    tell_left_out,
    tell_reasons,
    uploading,
)
from stackroom_cli.output import Output
from stackroom_cli.sites.site import Site
from stackroom_cli.untrusted_text import one_line
from stackroom_client import Client
from stackroom_client.answers import Catalog, Upload
from stackroom_client.errors import GatewayError, Refused, Unavailable

POLL_SECONDS = 2.0
_ENDED = {DocumentStatus.INDEXED, DocumentStatus.FAILED}
_KB, _MB = 1024, 1024**2  # in the tools' answers


@dataclass(frozen=True)
class SignedInPerson:
    site: Site
    asker: Asker
    user_id: str

    @classmethod
    def at(cls, site: Site) -> Self:
        """
        Return the person signed in to a deployment. Raises SignInNeeded, or WrongUsage in the local
        mode.
        """
        asker = Asker(site=site, user=None)
        return cls(site=site, asker=asker, user_id=user_of(site, asker.token))

    @property
    def client(self) -> Client:
        return self.asker.client

    def documents(self, catalog: Catalog) -> Iterator[DocumentTold]:
        for each in self.client.documents(catalog.catalog_id):
            yield DocumentTold(
                user_id=self.user_id,
                catalog=catalog.catalog_name,
                document_id=each.document_id,
                filename=each.filename,
                key=None,
                size=round(each.file_size_kb * _KB),
                status=DocumentStatus(each.indexing_status),
                status_reason=each.status_reason,
                gaps=each.gaps,
                uploaded_at=each.uploaded_at,
                updated_at=None,
                indexed_at=None,
            )

    def every_document(self) -> list[DocumentTold]:
        return [one for each in self.client.catalogs() for one in self.documents(each)]


def catalogs(person: SignedInPerson, *, output: Output) -> None:
    found = [
        CatalogTold(
            user_id=person.user_id,
            catalog_id=each.catalog_id,
            name=each.catalog_name,
            status=CatalogStatus(each.indexing_status),
            document_count=each.document_count,
            total_bytes=round(each.total_size_mb * _MB),
            updated_at=each.last_updated,
        )
        for each in person.client.catalogs()
    ]
    operator_documents.tell(found, output)


def status(person: SignedInPerson, *, watch: bool, until_settled: bool, output: Output) -> None:
    shown: dict[str, DocumentTold] = {}
    while True:
        documents = person.every_document()
        now = {each.document_id: each for each in documents}
        if not watch and not until_settled:
            output.people.print(table_of(documents))
            output.answer(
                StatusAnswer(documents=documents, unlisted=0, waiting=[], left_out=[], troubles=[])
            )
            return
        if now != shown:
            output.people.print(table_of(documents))
        for each in documents:
            if shown.get(each.document_id) != each:
                output.line(Changed(document=each))
        for gone in shown.keys() - now.keys():
            output.line(Changed(document=shown[gone], gone=True))
        shown = now
        if until_settled and all(map(_is_settled, documents)):
            return
        time.sleep(POLL_SECONDS)


def delete(
    person: SignedInPerson,
    targets: Sequence[str],
    *,
    catalog: str | None,
    yes: bool,
    wait: bool,
    output: Output,
) -> None:
    if catalog is None:
        raise WrongUsage("name your catalog with --catalog, or as an operator a user with --user")
    client, catalog_id = person.client, person.asker.catalog_id(catalog)
    if targets:
        there = {canonical_name(each.filename): each for each in client.documents(catalog_id)}
        if unknown := [each for each in targets if canonical_name(each) not in there]:
            raise ValidationError(f"there is no document {unknown[0]!r} in {catalog!r}")
        meant = [there[each] for each in dict.fromkeys(map(canonical_name, targets))]
        for each in meant:
            client.delete(each)
        if wait:
            client.wait_deleted(meant)
        output.people.print(
            f"deleted {counted(len(targets), 'document')} from {catalog}", markup=False
        )
        output.answer(DeleteAnswer(receipts=[], removed=list(targets)))
        return
    if not yes:
        typer.confirm(f"Delete {catalog} and all its documents?", abort=True, err=True)
    client.delete_catalog(catalog_id, timeout=math.inf if wait else None)
    is_there = not wait and any(each.catalog_id == catalog_id for each in client.catalogs())
    output.people.print(
        f"{catalog} {'is being deleted' if is_there else 'is deleted'}", markup=False
    )
    left = CatalogStatus.DELETING if is_there else None
    output.answer(DeleteAnswer(receipts=[], catalog=catalog_id, catalog_status=left))


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
                Text(one_line(each.status_reason or with_gaps(each.gaps))),
            )
            for each in documents
        ],
    )


# drop for whoever is signed in to a deployment: by links that a tool gives, over MCP.


def drop(
    person: SignedInPerson, paths: list[Path], *, catalog: str, wait: bool, output: Output
) -> None:
    found = found_at(paths)
    catalog_id = person.client.open_catalog(catalog).catalog_id
    sent: dict[str, Upload] = {}
    refused: dict[str, str] = {}
    with uploading(found.files, out=output.people) as advance:
        for each in found.files:
            try:  # by the link that the tool gives, for which the bucket asks no credentials
                sent[each.name] = person.client.upload(
                    catalog_id, each.path, name=each.name, replace=True, progress=_of_one(advance)
                )
            except (OSError, GatewayError, Refused, Unavailable) as error:
                refused[each.name] = str(error)
    tell_left_out(output.people, found)
    output.people.print(f"dropped {len(sent)} of {counted(len(found.files), 'file')}")
    ended = {}
    if wait and sent:
        over = person.client.wait(catalog_id, sent.values())
        ended = {canonical_name(each.filename): each for each in over}
    tell_reasons(output.people, "not dropped", refused.items(), style="red")
    files = [
        FileTold(key=None, filename=name, dropped=False, reason=why)
        for name, why in refused.items()
    ]
    for name in sent:
        end = ended.get(canonical_name(name))
        status = DocumentStatus(end.indexing_status) if end is not None else None
        reason = end.status_reason if end is not None else None
        files.append(FileTold(key=None, filename=name, dropped=True, status=status, reason=reason))
    for status in (DocumentStatus.FAILED, DocumentStatus.PENDING):
        of_it = [(each.filename, str(each.reason)) for each in files if each.status is status]
        tell_reasons(output.people, str(status), of_it, style=STYLES[status])
    left_out = [str(path) for path in found.left_out]
    output.answer(DropAnswer(prefix=None, files=files, left_out=left_out))
    if bad := sum(not each.dropped or each.status is DocumentStatus.FAILED for each in files):
        raise SomeFailed(bad, len(files))


def _of_one(advance: Callable[[int], None]) -> Callable[[int, int], None]:
    """
    Return a callback for one file's progress, which may start again when the upload is retried.
    """
    so_far = 0

    def progress(done: int, _: int) -> None:
        nonlocal so_far
        advance(done - so_far)
        so_far = done

    return progress


def _is_settled(document: DocumentTold) -> bool:
    """
    Return whether a document is indexed, failed or postponed; a pending one with a reason is
    postponed.
    """
    is_postponed = document.status is DocumentStatus.PENDING and document.status_reason is not None
    return document.status in _ENDED or is_postponed
