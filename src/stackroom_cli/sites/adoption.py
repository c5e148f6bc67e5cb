"""
Copies files with AWS's sidecars, from another bucket or a local folder, into a user's catalog.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from botocore.exceptions import ClientError, ParamValidationError
from botocore.handlers import validate_bucket_name

from stackroom.errors import ValidationError
from stackroom.model.bucket import StoredObject
from stackroom.model.formats import content_type_of, unsupported
from stackroom.model.keys import (
    SIDECAR_SUFFIX,
    Location,
    Unplaced,
    is_folder_marker,
    is_junk,
    locate,
    taken_reason,
)
from stackroom.uploads.descriptions import describe, object_metadata, user_attributes
from stackroom_cli.sites import aws_sidecars
from stackroom_cli.sites.aws_sidecars import Adoption, AdoptionOutcome, AwsSidecar
from stackroom_cli.sites.file_drop import NOT_UTF8, is_hidden
from stackroom_cli.sites.site import Site

_AT_ONCE = 8
_MARK = "stackroom-adopted"  # the ETag in the source: a copy of a multipart upload has another one


@dataclass(frozen=True)
class SourceFile:
    """
    A file of a source. `name` is relative to the source; `etag` is None until the file is read.
    """

    name: str
    size: int
    etag: str | None = None


@dataclass(frozen=True)
class BucketSource:
    """The files below a prefix of a bucket, including sidecars and junk."""

    s3: Any
    bucket: str
    prefix: str

    def listed(self) -> Iterator[SourceFile]:
        pages = self.s3.get_paginator("list_objects_v2")
        for page in pages.paginate(Bucket=self.bucket, Prefix=self.prefix):
            for each in page.get("Contents", ()):
                if not is_folder_marker(each["Key"], each["Size"]):
                    name = each["Key"].removeprefix(self.prefix)
                    yield SourceFile(name, each["Size"], each["ETag"].strip('"'))

    def read(self, name: str) -> bytes:
        found = self.s3.get_object(Bucket=self.bucket, Key=self.prefix + name)
        return bytes(found["Body"].read())

    def etag_of(self, file: SourceFile) -> str:
        assert file.etag is not None, "a listing has it"
        return file.etag

    def put(self, s3: Any, file: SourceFile, **target: Any) -> None:
        s3.copy_object(
            CopySource={"Bucket": self.bucket, "Key": self.prefix + file.name},
            CopySourceIfMatch=f'"{file.etag}"',
            MetadataDirective="REPLACE",
            **target,
        )

    def remove(self, name: str, etag: str) -> None:
        key = self.prefix + name
        self.s3.delete_object(Bucket=self.bucket, Key=key, IfMatch=f'"{etag}"')
        self.s3.delete_object(Bucket=self.bucket, Key=key + SIDECAR_SUFFIX)


@dataclass(frozen=True)
class FolderSource:
    """The files below a local folder, as those of a `BucketSource`."""

    root: Path

    def listed(self) -> Iterator[SourceFile]:
        for path in sorted(self.root.rglob("*")):
            if path.is_file():
                yield SourceFile(path.relative_to(self.root).as_posix(), path.stat().st_size)

    def read(self, name: str) -> bytes:
        return (self.root / name).read_bytes()

    def etag_of(self, file: SourceFile) -> str:
        with (self.root / file.name).open("rb") as body:
            return hashlib.file_digest(body, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()

    def put(self, s3: Any, file: SourceFile, **target: Any) -> None:
        with (self.root / file.name).open("rb") as body:
            s3.put_object(Body=body, **target)

    def remove(self, name: str, etag: str) -> None:  # noqa: ARG002 - a bucket's needs it
        (self.root / name).unlink()
        (self.root / (name + SIDECAR_SUFFIX)).unlink(missing_ok=True)


FileSource = BucketSource | FolderSource


def source_at(site: Site, source: str) -> FileSource:
    """
    Return the source at a folder or an S3 URI. Raises ValidationError for Stackroom's own bucket.
    """
    neither = f"{source!r} is neither a local folder nor s3://BUCKET/PREFIX"
    if not source.startswith("s3://"):
        if not source or not Path(source).is_dir():
            raise ValidationError(neither)
        return FolderSource(Path(source))
    bucket, _, prefix = source.removeprefix("s3://").partition("/")
    try:
        validate_bucket_name({"Bucket": bucket})
    except ParamValidationError as error:
        raise ValidationError(neither) from error
    if bucket == site.bucket:
        raise ValidationError(
            f"{bucket!r} is Stackroom's own bucket; its files already belong to users"
        )
    return BucketSource(site.client("s3"), bucket, prefix and prefix.rstrip("/") + "/")


@dataclass
class Survey:
    """
    The files of a source by kind.

    `alone` are sidecars without their file, `not_taken` files of types that Stackroom doesn't take.
    """

    files: list[SourceFile] = field(default_factory=list)
    sidecars: dict[str, int] = field(default_factory=dict)
    junk: list[str] = field(default_factory=list)
    not_taken: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, listed: Iterable[SourceFile]) -> "Survey":
        found = cls()
        for each in listed:
            named = each.name.removesuffix(SIDECAR_SUFFIX)
            if is_junk(named) or is_hidden(PurePosixPath(named)):
                found.junk.append(each.name)
            elif named != each.name:
                found.sidecars[named] = each.size
            elif unsupported(named):
                found.not_taken.append(named)
            else:
                found.files.append(each)
        return found

    @property
    def alone(self) -> list[str]:
        names = {*(each.name for each in self.files), *self.not_taken}
        return [each + SIDECAR_SUFFIX for each in self.sidecars if each not in names]


@dataclass(frozen=True, kw_only=True)
class Adopting:
    site: Site
    source: FileSource
    survey: Survey
    prefix: str
    is_applied: bool
    moves: bool

    def run(self) -> Iterator[Adoption]:
        """
        Adopt each file in the survey's order, and yield its outcome.

        A file that is at the target already, with the same attributes, is left as it is, so an
        interrupted run can be repeated.
        """
        target = BucketSource(self._s3, self.site.bucket, self.prefix)
        there = self._by_document(target.listed())
        first = self._by_document(self.survey.files)

        def outcome_of(file: SourceFile) -> Adoption:
            try:
                location = self._location(file.name)
                if (taken := first[location.document_id]) != file.name:
                    raise ValidationError(taken_reason(taken))
                return self._of(file, location, there.get(location.document_id))
            except (ValidationError, ClientError, OSError) as error:
                return Adoption(name=file.name, outcome=AdoptionOutcome.REFUSED, reason=str(error))

        with ThreadPoolExecutor(_AT_ONCE) as workers:
            yield from workers.map(outcome_of, self.survey.files)

    @property
    def _s3(self) -> Any:
        return self.site.client("s3")

    def _by_document(self, files: Iterable[SourceFile]) -> dict[str, str]:
        """
        Return the first name of each document; further names of the same document only look alike.
        """
        names: dict[str, str] = {}
        for each in files:
            with suppress(ValidationError):
                names.setdefault(self._location(each.name).document_id, each.name)
        return names

    def _location(self, name: str) -> Location:
        try:
            location = locate(self.prefix + name)
        except UnicodeEncodeError as error:
            raise ValidationError(NOT_UTF8) from error
        if isinstance(location, Unplaced):
            raise ValidationError(location.reason)
        return location

    def _of(self, file: SourceFile, location: Location, there: str | None) -> Adoption:
        sidecar = self._sidecar_of(file.name)
        metadata = object_metadata(sidecar.attributes)
        _require_fit(location, file.size, metadata)
        etag = self.source.etag_of(file)
        key = self.prefix + (there or file.name)
        outcome = AdoptionOutcome.TO_ADOPT
        if there is not None and self._is_same(key, file.size, etag, metadata):
            outcome = AdoptionOutcome.PRESENT
        elif self.is_applied:
            outcome = AdoptionOutcome.ADOPTED
            put = {"Metadata": {**metadata, _MARK: etag}, "ContentType": content_type_of(file.name)}
            self.source.put(self._s3, file, Bucket=self.site.bucket, Key=key, **put)
        if self.is_applied and self.moves:
            self.source.remove(file.name, etag)
        return Adoption(name=file.name, outcome=outcome, sidecar=sidecar)

    def _sidecar_of(self, name: str) -> AwsSidecar:
        size = self.survey.sidecars.get(name)
        if size is None:
            return AwsSidecar()
        if size > aws_sidecars.MAX_BYTES:
            raise ValidationError(
                f"its metadata.json has {size} bytes; AWS allows at most {aws_sidecars.MAX_BYTES}"
            )
        return aws_sidecars.read(self.source.read(name + SIDECAR_SUFFIX))

    def _is_same(self, key: str, size: int, etag: str, metadata: Mapping[str, str]) -> bool:
        """
        Return whether the object is unchanged.

        Raises ValidationError if it is another file that was not adopted from this source.
        """
        head = self._s3.head_object(Bucket=self.site.bucket, Key=key)
        marked, its = head["Metadata"].get(_MARK), head["ETag"].strip('"')
        if head["ContentLength"] != size or etag not in (marked, its):
            # An ETag of a multipart upload says nothing about its bytes
            # [S3 user guide: checking-object-integrity].
            may_be_same = head["ContentLength"] == size and "-" in etag + its
            if marked is None and not may_be_same:
                raise ValidationError("the catalog has another file of that name")
            return False
        with suppress(ValidationError):  # S3 may encode them otherwise than they were written
            return user_attributes(head["Metadata"]) == user_attributes(metadata)
        return False


def _require_fit(location: Location, size: int, metadata: Mapping[str, str]) -> None:
    """Raise ValidationError if the upload handler would refuse such an object."""
    found = StoredObject(
        key=location.key,
        size=size,
        etag="",
        version_id=None,
        content_type="",
        last_modified=datetime.now(UTC),
        attributes=metadata,
    )
    if problem := describe(location, None, found, None, at=found.last_modified).problem:
        raise ValidationError(problem)
