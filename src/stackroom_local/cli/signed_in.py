"""
status, delete, catalogs for whoever is signed in to a deployment: by its tools, over MCP.

Nobody needs AWS credentials for it. What the tools don't tell is null in the answers.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

import typer

from stackroom.errors import ValidationError
from stackroom.model import CatalogStatus, DocumentStatus
from stackroom_local.cli import cataloguing
from stackroom_local.cli.answers import (
    CatalogTold,
    Changed,
    DeleteAnswer,
    DocumentTold,
    StatusAnswer,
)
from stackroom_local.cli.callers import Asker, user_of
from stackroom_local.cli.console import Output
from stackroom_local.cli.owned_table import table_of
from stackroom_local.cli.usage import WrongUsage
from stackroom_local.sites.site import Site
from stackroom_local.sites.tools import PersonsTools

POLL_SECONDS = 2.0
SETTLED = {DocumentStatus.INDEXED, DocumentStatus.FAILED}
_KB, _MB = 1024, 1024**2  # in the tools' answers


@dataclass(frozen=True)
class Person:
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


def catalogs(person: Person, *, told: Output) -> None:
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
    cataloguing.tell(found, told)


def status(person: Person, *, watch: bool, until_settled: bool, told: Output) -> None:
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
    person: Person,
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
