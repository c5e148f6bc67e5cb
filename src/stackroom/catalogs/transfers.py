"""Files on their way into the documents' bucket and out of it."""

import io
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from typing import Protocol

from stackroom.access.tenancy import in_use
from stackroom.catalogs.listing import DOCUMENTS, same_content_as
from stackroom.clock import utc_now
from stackroom.errors import (
    DocumentExists,
    DocumentNotFound,
    FileTooLarge,
    FileTypeUnsupported,
    RecordChanged,
    Unavailable,
    ValidationError,
)
from stackroom.model.attributes import Attribute
from stackroom.model.bucket import DocumentBucket
from stackroom.model.formats import MAX_FILE_BYTES, content_type_of, extension_of, unsupported
from stackroom.model.keys import Location, is_junk, is_ours, locate, path_problem
from stackroom.model.records import Catalog, Document, DocumentStatus
from stackroom.model.repositories import Catalogs, Documents
from stackroom.uploads.descriptions import (
    MAX_FILENAME_BYTES,
    object_metadata,
    own_sidecar,
    user_attributes,
)


@dataclass(frozen=True, kw_only=True)
class UploadForm:
    """A form to POST to `url`: the fields first, in any order, and the file last, as `file`."""

    url: str
    fields: Mapping[str, str]


class Transfers(Protocol):
    """
    Moves objects in and out. `attributes` are the object's metadata: names without `x-amz-meta-`,
    values as written.
    """

    def put(
        self,
        key: str,
        body: bytes,
        *,
        content_type: str,
        attributes: Mapping[str, str],
        replace: bool,
    ) -> str | None:
        """
        Write the object and return its ETag. Return None, and write nothing, if an object exists
        that is not to be replaced. Of two calls at once, one succeeds.
        """

    def form(
        self,
        key: str,
        *,
        content_type: str,
        attributes: Mapping[str, str],
        max_bytes: int,
        seconds: int,
    ) -> UploadForm:
        """
        Return a form that lets its holder put one object: under this key, of this type, with these
        attributes, of 1 to `max_bytes` bytes, within `seconds`. Makes no request.
        """

    def link(
        self,
        key: str,
        *,
        filename: str,
        seconds: int,
        shown_as: str | None = None,
        version_id: str | None = None,
    ) -> str:
        """
        Return a link that lets its holder read the object, or that version of it, to be saved under
        this name or shown by a browser as this content type. Makes no request.
        """


# A file sent into a catalog: within the call, or by a form that its owner's program posts.
#
# Either way the object lands where `aws s3 cp` would put it, and what follows is its event's
# business (stackroom.uploads). Until then its record is an announcement: where the event is
# quicker, its record stands.

FORM_SECONDS = 900  # contract
# The time that the record of a written file waits for the object's event. A minute is much even
# when AWS is busy; the reconciler registers files that never had one.
_EVENT = timedelta(hours=1)


@dataclass(frozen=True, kw_only=True)
class Sent:
    """
    A file that was sent, or is to be. `form` is None if the file is stored; `size` is None if it
    has yet to come. `twin` is the name of a document with the same bytes, among those on the first
    page of a list.
    """

    catalog: Catalog
    document_id: str
    filename: str
    size: int | None = None
    form: UploadForm | None = None
    twin: str | None = None


@dataclass(frozen=True, kw_only=True)
class Sending:
    catalogs: Catalogs
    documents: Documents
    bucket: DocumentBucket
    transfers: Transfers
    now: Callable[[], datetime] = utc_now

    def put(
        self,
        user_id: str,
        catalog_id: str,
        filename: str,
        content: bytes,
        *,
        replace: bool,
        attributes: Mapping[str, Attribute],
    ) -> Sent:
        """
        Write the file. Raises CatalogNotFound, CatalogDeleting, FileTypeUnsupported, FileTooLarge,
        DocumentExists, or ValidationError of the name, the content or the attributes.
        """
        catalog = in_use(self.catalogs, user_id, catalog_id)
        location = self._location(catalog, filename)
        metadata = self._metadata(location, attributes)
        size = len(content)
        if size > MAX_FILE_BYTES:
            raise FileTooLarge(MAX_FILE_BYTES)
        require_matching_content(filename, content)
        etag = self.transfers.put(
            location.key,
            content,
            content_type=content_type_of(filename),
            attributes=metadata,
            replace=replace,
        )
        if etag is None:
            raise DocumentExists(filename)
        self._written(location, size=size, etag=etag)
        return Sent(
            catalog=catalog,
            document_id=location.document_id,
            filename=filename,
            size=size,
            twin=self._twin(location, etag=etag, size=size),
        )

    def _twin(self, location: Location, *, etag: str, size: int) -> str | None:
        """
        Return the name of a document with the same bytes; None, too, if that can't be read: the
        file is stored all the same.
        """
        try:
            page = self.documents.page(location.catalog_id, after=None, limit=DOCUMENTS)
        except Unavailable:
            return None
        return same_content_as(location.document_id, page.documents, etag=etag, size=size)

    def form(
        self,
        user_id: str,
        catalog_id: str,
        filename: str,
        *,
        replace: bool,
        attributes: Mapping[str, Attribute],
        md5: str = "",
    ) -> Sent:
        """
        Return a form to send the file within FORM_SECONDS; it takes only this file name, type and
        attributes. Raises what `put` raises. A form that nobody posts leaves nothing behind.

        There is none if the stored object has this MD5, which is S3's ETag of an object sent in one
        piece.
        """
        catalog = in_use(self.catalogs, user_id, catalog_id)
        location = self._location(catalog, filename)
        metadata = self._metadata(location, attributes)
        lies_there = None if replace else self.bucket.head(location.key)
        if lies_there is not None:
            if not md5 or lies_there.etag != md5:
                raise DocumentExists(filename)
            return Sent(
                catalog=catalog,
                document_id=location.document_id,
                filename=filename,
                size=lies_there.size,
            )
        form = self.transfers.form(
            location.key,
            content_type=content_type_of(filename),
            attributes=metadata,
            max_bytes=MAX_FILE_BYTES,
            seconds=FORM_SECONDS,
        )
        stored = self.documents.get(location.catalog_id, location.document_id)
        # An existing document of that name stays as it is until the file comes.
        if stored is None or stored.status is DocumentStatus.UPLOADING:
            self._announce(location, stored, until=self.now() + timedelta(seconds=FORM_SECONDS))
        return Sent(catalog=catalog, document_id=location.document_id, filename=filename, form=form)

    def _location(self, catalog: Catalog, filename: str) -> Location:
        """
        Return where a document of this name is stored, or would be; its key may be encoded
        otherwise.
        """
        location = _location(catalog, filename)
        stored = self.documents.get(location.catalog_id, location.document_id)
        known = locate(stored.s3_key) if stored is not None else location
        assert isinstance(known, Location), "a catalog's document has a key of a document"
        return known

    def _metadata(self, location: Location, attributes: Mapping[str, Attribute]) -> dict[str, str]:
        """
        Return the object's metadata, checked as the upload handler will check it, so that nothing
        fails afterwards.
        """
        carried = object_metadata(attributes)
        own_sidecar(location, user_attributes(carried), uploaded_at=self.now())
        return carried

    def _written(self, location: Location, *, size: int, etag: str) -> None:
        """Return the result for an object that is stored, with this size and ETag."""
        stored = self.documents.get(location.catalog_id, location.document_id)
        if stored is None or stored.status is DocumentStatus.UPLOADING:
            self._announce(location, stored, until=self.now() + _EVENT, size=size, etag=etag)
        elif stored.status is not DocumentStatus.DELETING:  # a removal is called off by the event
            # The index no longer matches the stored file. Without a fingerprint, so that the event,
            # or the reconciler, registers it anew.
            pending = stored.moved(DocumentStatus.PENDING, at=self.now())
            changes: dict[str, object] = {"fingerprint": "", "attempts": 0}
            changes |= {"etag": etag, "size": size}
            if stored.etag != etag:  # until then it has no text: the one it has is of another file
                changes |= {"unread": True, "version_id": None, "text_id": None}
            with suppress(RecordChanged):
                self.documents.save(pending.model_copy(update=changes))

    def _announce(
        self,
        location: Location,
        stored: Document | None,
        *,
        until: datetime,
        size: int = 0,
        etag: str = "",
    ) -> None:
        now = self.now()
        announced = Document(
            catalog_id=location.catalog_id,
            document_id=location.document_id,
            filename=location.filename,
            s3_key=location.key,
            size=size,
            etag=etag,
            content_type=content_type_of(location.filename),
            status=DocumentStatus.UPLOADING,
            uploaded_at=now,
            updated_at=now,
            upload_until=until,
        ).following(stored)
        with suppress(RecordChanged):
            self.documents.save(announced)


def _location(catalog: Catalog, filename: str) -> Location:
    if is_junk(filename):
        raise ValidationError(
            "filename: systems and programs keep files of this name for themselves, so it is left "
            "out. Allowed: the name of a document, such as report.pdf"
        )
    if problem := unsupported(filename):
        raise FileTypeUnsupported(problem)
    length = len(filename.encode())
    if length > MAX_FILENAME_BYTES:
        raise ValidationError(
            f"filename: it has {length} bytes. Allowed: at most {MAX_FILENAME_BYTES}"
        )
    key = catalog.s3_prefix + filename
    location = locate(key)
    is_in_catalog = isinstance(location, Location) and location.catalog_id == catalog.catalog_id
    is_sound = is_in_catalog and not is_ours(key) and path_problem(filename) is None
    if not isinstance(location, Location) or not is_sound:
        raise ValidationError(
            "filename: it has an empty, '.' or '..' folder in it, or a name that Stackroom keeps "
            "for itself. Allowed: a name such as report.pdf, or folders before it: 2026/report.pdf"
        )
    return location


# A check that a file is of the kind that its name says, as far as its bytes tell.

# PDF readers take the header within the first 1,024 bytes [PDF reference 1.7, appendix H.3.4.1].
_PDF_HEADER_WITHIN = 1024
_MEMBERS = {"docx": "word/document.xml", "xlsx": "xl/workbook.xml"}
_WIDE = (b"\xff\xfe", b"\xfe\xff")  # byte order marks of UTF-16, whose text is full of zero bytes
# Characters that text has only by damage; the inspection refuses a file by the same share of them.
_CONTROLS = bytes(code for code in (*range(32), 127) if chr(code) not in "\t\n\v\f\r\b\x1b")
_MOST_CONTROLS = 0.02
_BINARY = (b"%PDF-", b"PK\x03\x04", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"\x7fELF", b"\x1f\x8b")


def require_matching_content(filename: str, content: bytes) -> None:
    """Raise ValidationError if the content can't be a file of that name."""
    extension = extension_of(filename)
    if extension == "pdf":
        fits = b"%PDF-" in content[:_PDF_HEADER_WITHIN]
    elif member := _MEMBERS.get(extension):
        fits = _has_member(content, member)
    else:
        fits = _is_text(content)
    if not fits:
        raise ValidationError(
            f"file_content: it is no {extension} file, as its name '{filename}' says. "
            "Allowed: the file's own bytes in base64"
        )


def _has_member(content: bytes, member: str) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return member in archive.namelist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return False


def _is_text(content: bytes) -> bool:
    if content.startswith(_WIDE):
        return True
    if content.startswith(_BINARY) or b"\x00" in content:
        return False
    controls = len(content) - len(content.translate(None, delete=_CONTROLS))
    return controls <= _MOST_CONTROLS * len(content)


# Links to a document's file, for its owner.

LINK_SECONDS = 900  # contract
_SHOWN = {"pdf"}  # by browsers themselves, at a page; no type that could run a script


@dataclass(frozen=True, kw_only=True)
class DownloadLink:
    """
    A link to a file. `is_shown` is True if a browser shows it, else it saves it. `is_earlier` is
    True if a newer version is stored.
    """

    document: Document
    url: str
    is_shown: bool = False
    is_earlier: bool = False


@dataclass(frozen=True, kw_only=True)
class Fetching:
    catalogs: Catalogs
    documents: Documents
    transfers: Transfers
    now: Callable[[], datetime] = utc_now

    def link(
        self,
        user_id: str,
        catalog_id: str,
        document_id: str,
        *,
        to_show: bool = False,
        cited: str | None = None,
    ) -> DownloadLink:
        """
        Return a link that saves the file, or that shows it in a browser if its type may be shown.
        The version is the one that an answer has `cited`, while answers are from it; else the
        stored one.

        Raises CatalogNotFound, CatalogDeleting or DocumentNotFound.
        """
        document = self._document(user_id, catalog_id, document_id)
        answering = document.answering_version_id(self.now())
        return self._link(document, answering if answering == cited else None, to_show=to_show)

    def link_of_answers(self, user_id: str, catalog_id: str, document_id: str) -> DownloadLink:
        """
        Return a link that saves the file in the version that answers are from. Raises what `link`
        raises.
        """
        document = self._document(user_id, catalog_id, document_id)
        return self._link(document, document.answering_version_id(self.now()))

    def _document(self, user_id: str, catalog_id: str, document_id: str) -> Document:
        in_use(self.catalogs, user_id, catalog_id)
        document = self.documents.get(catalog_id, document_id)
        if document is None or not document.is_counted:
            raise DocumentNotFound(document_id)
        return document

    def _link(
        self, document: Document, version_id: str | None, *, to_show: bool = False
    ) -> DownloadLink:
        name = PurePosixPath(document.filename).name
        is_shown = to_show and extension_of(name) in _SHOWN
        url = self.transfers.link(
            document.s3_key,
            filename=name,
            seconds=LINK_SECONDS,
            shown_as=content_type_of(name) if is_shown else None,
            version_id=version_id,
        )
        is_earlier = version_id is not None
        return DownloadLink(document=document, url=url, is_shown=is_shown, is_earlier=is_earlier)
