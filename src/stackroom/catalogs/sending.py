"""
A file sent into a catalog: within the call, or by a form that its owner's program posts.

Either way the object lands where `aws s3 cp` would put it, and what follows is its event's business
(stackroom.uploads). Until then its record is an announcement.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from stackroom.catalog_access import in_use
from stackroom.catalogs.announcements import Announcements
from stackroom.catalogs.contents import require_what_its_name_says
from stackroom.clock import utc_now
from stackroom.errors import (
    DocumentExists,
    FileTooLarge,
    FileTypeUnsupported,
    ValidationError,
)
from stackroom.formats import MAX_FILE_BYTES, content_type_of, unsupported
from stackroom.keys import Location, is_ours, locate, path_problem
from stackroom.model import Catalog
from stackroom.ports.bucket import DocumentBucket
from stackroom.ports.catalogs import Catalogs
from stackroom.ports.documents import Documents
from stackroom.ports.transfers import Transfers, UploadForm
from stackroom.uploads.descriptions import MAX_FILENAME_BYTES
from stackroom.uploads.sidecars import Attribute, object_metadata, sidecar

FORM_SECONDS = 900  # contract


@dataclass(frozen=True, kw_only=True)
class Sent:
    """`form` is None if the file came with the call; `size` is None if it has yet to come."""

    catalog: Catalog
    document_id: str
    filename: str
    size: int | None = None
    form: UploadForm | None = None


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
        replace: bool = False,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Sent:
        """
        Write the file. Raises CatalogNotFound, CatalogDeleting, FileTypeUnsupported, FileTooLarge,
        DocumentExists, or ValidationError of the name, the content or the attributes.
        """
        catalog = in_use(self.catalogs, user_id, catalog_id)
        location = _location(catalog, filename)
        metadata = self._metadata(location, attributes or {})
        if len(content) > MAX_FILE_BYTES:
            raise FileTooLarge(MAX_FILE_BYTES)
        require_what_its_name_says(filename, content)
        etag = self.transfers.put(
            location.key,
            content,
            content_type=content_type_of(filename),
            attributes=metadata,
            replace=replace,
        )
        if etag is None:
            raise DocumentExists(filename)
        self._announcements.written(location, size=len(content), etag=etag)
        return Sent(
            catalog=catalog,
            document_id=location.document_id,
            filename=filename,
            size=len(content),
        )

    def form(
        self,
        user_id: str,
        catalog_id: str,
        filename: str,
        *,
        replace: bool = False,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Sent:
        """
        A form by which to send the file within FORM_SECONDS; it takes just this file name, type
        and attributes. Raises what `put` raises. Nothing is left of a form that nobody posts.
        """
        catalog = in_use(self.catalogs, user_id, catalog_id)
        location = _location(catalog, filename)
        metadata = self._metadata(location, attributes or {})
        if not replace and self.bucket.head(location.key) is not None:
            raise DocumentExists(filename)
        form = self.transfers.form(
            location.key,
            content_type=content_type_of(filename),
            attributes=metadata,
            max_bytes=MAX_FILE_BYTES,
            seconds=FORM_SECONDS,
        )
        until = self.now() + timedelta(seconds=FORM_SECONDS)
        self._announcements.expected(location, until=until)
        return Sent(catalog=catalog, document_id=location.document_id, filename=filename, form=form)

    @property
    def _announcements(self) -> Announcements:
        return Announcements(documents=self.documents, now=self.now)

    def _metadata(self, location: Location, attributes: Mapping[str, Attribute]) -> dict[str, str]:
        """Checked as the upload handler will check it, so that nothing fails afterwards."""
        sidecar(
            user_id=location.user_id,
            catalog_id=location.catalog_id,
            document_id=location.document_id,
            filename=location.filename,
            uploaded_at=self.now(),
            attributes=attributes,
        )
        return object_metadata(attributes)


def _location(catalog: Catalog, filename: str) -> Location:
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
