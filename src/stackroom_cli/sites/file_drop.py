"""Uploads files and folders of this machine to the bucket, and recognises their records there."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePath
from threading import Event

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,  # noqa: A004 - botocore's own, base of its connection errors
    ReadTimeoutError,
)

from stackroom.aws.error_mapping import code_of
from stackroom.model.keys import is_junk, is_ours
from stackroom.model.records import Document, DocumentStatus
from stackroom_cli.sites.site import Site

_UPLOADERS = 8
NOT_UTF8 = "its name is not UTF-8, as keys must be; rename the file"
_OVER = {DocumentStatus.INDEXED, DocumentStatus.FAILED}


@dataclass(frozen=True)
class DroppableFile:
    """A file to upload. `key` is its document's key, if its name is encoded differently there."""

    path: Path
    name: str  # within the catalog: relative to what was dropped, folders kept
    key: str | None = None


@dataclass(frozen=True)
class FoundFiles:
    files: tuple[DroppableFile, ...]
    left_out: tuple[Path, ...]  # hidden files, junk, and sidecars, which only Stackroom writes


@dataclass(frozen=True)
class Dropped:
    """An uploaded object; `covers` tells its record from that of an earlier version."""

    key: str
    etag: str
    version_id: str | None
    at: datetime

    def covers(self, document: Document) -> bool:
        """
        Return whether the record is about this upload, and has settled or is postponed.

        After an identical upload, the record of the earlier version stays if it is indexed; if it
        is in progress, its outcome counts.
        """
        is_over = document.status in _OVER or document.is_postponed
        if document.s3_key != self.key or not is_over:
            return False
        if document.version_id == self.version_id:
            return True
        same = document.etag.strip('"') == self.etag
        return same and (
            document.status is DocumentStatus.INDEXED or document.updated_at >= self.at
        )


@dataclass(frozen=True)
class NotDropped:
    key: str
    reason: str


def find(paths: Iterable[Path]) -> FoundFiles:
    """Return every file below `paths`. Raises FileNotFoundError for a path that doesn't exist."""
    files: list[DroppableFile] = []
    left_out: list[Path] = []
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(path)
        root = path if path.is_dir() else path.parent
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if not file.is_file():
                continue
            relative = file.relative_to(root)
            name = relative.as_posix()
            if is_hidden(relative) or is_junk(name) or is_ours(name):
                left_out.append(file)
            else:
                files.append(DroppableFile(file, name))
    return FoundFiles(tuple(files), tuple(left_out))


def drop(
    site: Site,
    files: Iterable[DroppableFile],
    *,
    prefix: str,
    on_put: Callable[[DroppableFile], None],
) -> Iterator[Dropped | NotDropped]:
    """
    Upload every file under `prefix`, and yield its outcome; one that fails doesn't stop the others.

    Once the server doesn't answer, no further file is tried.
    """
    s3 = site.client("s3")
    no_answer = f"no answer from {s3.meta.endpoint_url}"
    is_gone = Event()

    def put(file: DroppableFile) -> Dropped | NotDropped:
        key = file.key or prefix + file.name
        at = datetime.now(UTC)
        if is_gone.is_set():
            return NotDropped(key, no_answer)
        try:
            with file.path.open("rb") as body:
                answer = s3.put_object(Bucket=site.bucket, Key=key, Body=body)
        except (ConnectionError, ReadTimeoutError):
            is_gone.set()
            return NotDropped(key, no_answer)
        except (OSError, BotoCoreError, ClientError) as error:
            return NotDropped(key, str(error))
        except UnicodeEncodeError:
            return NotDropped(key, NOT_UTF8)
        finally:
            on_put(file)
        return Dropped(key, answer["ETag"].strip('"'), answer.get("VersionId"), at)

    with ThreadPoolExecutor(_UPLOADERS) as uploaders:
        yield from uploaders.map(put, files)


def was_replaced(site: Site, dropped: Dropped) -> bool:
    """Return whether the bucket no longer has this version of the file, but another one or none."""
    try:
        found = site.client("s3").head_object(Bucket=site.bucket, Key=dropped.key)
    except ClientError as error:
        return code_of(error) == "404"
    except BotoCoreError:
        return False  # the next check tells
    return bool(found.get("VersionId") != dropped.version_id)


def is_hidden(relative: PurePath) -> bool:
    return any(part.startswith(".") for part in relative.parts)
