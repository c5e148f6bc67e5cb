"""Find the documents that a command's arguments name: by key, or by a file's name in a catalog."""

import difflib
import shlex
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Self

from stackroom.errors import ValidationError
from stackroom.model.formats import MAX_FILE_BYTES
from stackroom.model.keys import (
    TextName,
    Unplaced,
    canonical_name,
    catalog_id_of,
    is_unplaced,
    locate,
)
from stackroom.model.records import Catalog, Document
from stackroom.model.repositories import Catalogs, Documents
from stackroom.text.document_text import DocumentText
from stackroom_cli.callers import Asker, checked
from stackroom_cli.sites.site_services import SiteServices
from stackroom_local.state import Instance

if TYPE_CHECKING:
    from stackroom_client.answers import Document as FoundDocument

_LOOKED_THROUGH = 1000  # documents of a catalog, for a name that is alike


@dataclass(frozen=True, kw_only=True)
class DocumentLookup:
    catalogs: Catalogs
    documents: Documents
    bucket: str

    @classmethod
    def among(cls, services: SiteServices) -> Self:
        return cls(
            catalogs=services.stores.catalogs,
            documents=services.stores.documents,
            bucket=services.site.bucket,
        )

    def catalog(self, user: str | None, catalog: str) -> Catalog:
        """
        Return the user's catalog of this name or id. Raises ValidationError naming the existing
        ones.
        """
        if user is None:
            raise ValidationError(f"--catalog {catalog!r} requires --user, the catalog's owner")
        is_id = catalog.startswith("cat-")
        found = self.catalogs.get(catalog) if is_id else self.named(checked(user), catalog)
        if found is None or found.user_id != user:
            names = sorted(each.name for each in self.catalogs.of_user(user))
            others = f"; there are: {', '.join(map(repr, names))}" if names else ", and no other"
            raise ValidationError(f"{user!r} has no catalog {catalog!r}{others}")
        return found

    def named(self, user: str, name: str) -> Catalog | None:
        """Return the user's catalog that had this name at first or, after a rename, has it now."""
        wanted = catalog_id_of(user, name)
        if (found := self.catalogs.get(wanted)) is not None:
            return found
        owned = self.catalogs.of_user(user)
        return next((each for each in owned if catalog_id_of(user, each.name) == wanted), None)

    def chosen(
        self, targets: Iterable[str], *, user: str | None, catalog: str | None
    ) -> list[Document]:
        """
        Return the document of each target, which is a key or, with a catalog, a file's name in it.

        Raises ValidationError naming the target, before anything is done to any document.
        """
        within = self.catalog(user, catalog) if catalog is not None else None
        keys = dict.fromkeys(self._key(each, user=user, within=within) for each in targets)
        documents = [self._document(key, is_name=within is not None) for key in keys]
        return list({(each.catalog_id, each.document_id): each for each in documents}.values())

    def by_catalog(
        self, targets: Iterable[str], *, user: str | None, catalog: str | None
    ) -> dict[str, list[Document]]:
        """
        Return the chosen documents by their catalogs' ids.

        Raises ValidationError also for a document that belongs to no catalog.
        """
        found: dict[str, list[Document]] = {}
        for document in self.chosen(targets, user=user, catalog=catalog):
            if is_unplaced(document.catalog_id):
                raise ValidationError(
                    f"{document.s3_key!r} belongs to no catalog: {document.status_reason}"
                )
            found.setdefault(document.catalog_id, []).append(document)
        return found

    def _key(self, target: str, *, user: str | None, within: Catalog | None) -> str:
        uri = f"s3://{self.bucket}/"
        if target.startswith("s3://") and not target.startswith(uri):
            raise ValidationError(f"{target!r} is not in this bucket, {uri}")
        key = target.removeprefix(uri)
        if within is not None:
            prefix = canonical_name(within.s3_prefix)
            return key if canonical_name(key).startswith(prefix) else within.s3_prefix + key
        if user is not None and not key.startswith(f"{user}/"):
            raise ValidationError(
                f"{target!r} is not a key under {user}/; name the key, or the file with --catalog"
            )
        return key

    def _document(self, key: str, *, is_name: bool) -> Document:
        """
        Return the document at a key.

        If both a catalog's document and a rejected file exist there, a name means the document and
        a key means the rejected file.
        """
        location = locate(key)
        rejected = location.unplaced()
        unplaced = self.documents.get(rejected.partition, rejected.document_id)
        if isinstance(location, Unplaced):
            if unplaced is None:
                raise ValidationError(self._no_documents(key))
            return unplaced
        placed = self.documents.get(location.catalog_id, location.document_id)
        if placed is not None and canonical_name(placed.s3_key) != canonical_name(key):
            placed = None
        found = (placed or unplaced) if is_name else (unplaced or placed)
        if found is None:
            raise ValidationError(
                f"there is no document {key!r}{self._alike(location.catalog_id, key)}"
            )
        return found

    def _no_documents(self, key: str) -> str:
        """Explain why a key names no document, and how to name the catalog that it seems to be."""
        user, _, name = key.removesuffix("/").partition("/")
        found = self.catalogs.get(catalog_id_of(user, name)) if user and name else None
        if found is not None and found.user_id == user:
            name = shlex.quote(found.name)
            return (
                f"{key!r} is a catalog, not a document; name the catalog with: -u {user} -c {name}"
            )
        return (
            f"{key!r} is not a document's key, {{user}}/{{catalog}}/{{file}}; see: stackroom status"
        )

    def _alike(self, catalog_id: str, key: str) -> str:
        """Suggest the catalog's keys with a similar name, whatever their type."""
        page = self.documents.page(catalog_id, after=None, limit=_LOOKED_THROUGH)
        keys: dict[str, list[str]] = {}
        for each in page.documents:
            keys.setdefault(_stem(each.s3_key), []).append(each.s3_key)
        near = difflib.get_close_matches(_stem(key), keys, n=3)
        alike = [one for stem in near for one in keys[stem]][:3]
        if not alike:
            return "; see: stackroom status"
        return f"; did you mean {' or '.join(map(repr, alike))}?"


def document_of(asker: Asker, catalog: str, filename: str) -> "FoundDocument":
    """Return the asker's document of this name. Raises ValidationError if there is none."""
    found = asker.client.documents(asker.catalog_id(catalog))
    documents = {canonical_name(each.filename): each for each in found}
    document = documents.get(canonical_name(filename))
    if document is None:
        near = did_you_mean(filename, [each.filename for each in documents.values()])
        raise ValidationError(f"there is no document {filename!r} in {catalog!r}{near}")
    return document


def kept_text(asker: Asker, document: "FoundDocument") -> DocumentText | None:
    """
    Return a document's indexed text, or None if there is none.

    On a deployment it is always None, because a signed-in person can't read objects.
    """
    if not isinstance(asker.site, Instance):
        return None
    there = SiteServices(asker.site).stores
    catalog = there.catalogs.get(document.catalog_id)
    record = there.documents.get(document.catalog_id, document.document_id)
    if catalog is None or record is None or record.text_id is None:
        return None
    ids = (catalog.user_id, record.catalog_id, record.document_id)
    name = TextName(*ids, record.text_id)
    text, places = there.texts.text(name), there.texts.get(name)
    if text is None or places is None:
        return None
    tokens = record.text_tokens or 0
    return DocumentText(markdown=text, tokens=tokens, places=places, gaps=record.gaps)


def downloaded(asker: Asker, document: "FoundDocument") -> bytes:
    """Return a document's bytes. Raises ValidationError if it is larger than any accepted file."""
    if document.file_size_kb * 1024 > MAX_FILE_BYTES:
        raise ValidationError(f"{document.filename!r} is larger than Stackroom accepts")
    body = BytesIO()
    asker.client.download(document, body)
    return body.getvalue()


def did_you_mean(file: str, files: Collection[str]) -> str:
    alike = difflib.get_close_matches(file[:200], list(files)[:_LOOKED_THROUGH], n=1)
    return f"; did you mean {alike[0]!r}?" if alike else ""


def _stem(key: str) -> str:
    return PurePosixPath(key).stem.casefold()
