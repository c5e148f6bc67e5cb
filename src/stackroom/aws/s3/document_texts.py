"""
The texts of documents in S3, beside the documents but outside every catalog.

    _text/{user_id}/{catalog_id}/{document_id}/{text_id}.md    the text, in UTF-8
                                               {text_id}.places.json.gz    its places: see PlaceMap

About 1.5 KB of places a page, 0.4 KB as they are packed: 480 KB for a manual of 1,158 pages.
"""

import gzip
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from stackroom.aws.error_mapping import store_errors
from stackroom.concurrency import chunks
from stackroom.errors import StoreUnavailable
from stackroom.model.keys import TextName, text_folder
from stackroom.text.place_map import PlaceMap

if TYPE_CHECKING:
    from types_boto3_s3.client import S3Client

    from stackroom.text.document_text import DocumentText

_AT_ONCE = 1_000  # keys of one DeleteObjects [S3 API reference]


@dataclass(frozen=True)
class S3DocumentTexts:
    client: "S3Client"
    bucket: str

    def get(self, name: TextName) -> PlaceMap | None:
        """Return the places of a text. Raises ValueError for an object that is not a place map."""
        packed = self._read(name.places_key)
        return None if packed is None else PlaceMap.model_validate_json(_unpacked(packed))

    def text(self, name: TextName) -> str | None:
        body = self._read(name.key)
        return None if body is None else body.decode()

    def put(self, name: TextName, text: "DocumentText") -> None:
        """Write the places first, so that a text always has its places."""
        places = gzip.compress(text.places.model_dump_json(exclude_none=True).encode(), mtime=0)
        with store_errors():
            self.client.put_object(
                Bucket=self.bucket,
                Key=name.places_key,
                Body=places,
                ContentType="application/json",
                ContentEncoding="gzip",
            )
            self.client.put_object(
                Bucket=self.bucket,
                Key=name.key,
                Body=text.markdown.encode(),
                ContentType="text/markdown; charset=utf-8",
            )

    def names(self, user_id: str, catalog_id: str, document_id: str) -> list[TextName]:
        """Return the names of all texts of a document; a thousand at most, and it has a few."""
        folder = text_folder(user_id, catalog_id, document_id)
        with store_errors():
            page = self.client.list_objects_v2(Bucket=self.bucket, Prefix=folder)
        ids = {
            PurePosixPath(each["Key"]).name.partition(".")[0] for each in page.get("Contents", ())
        }
        return [TextName(user_id, catalog_id, document_id, text_id) for text_id in sorted(ids)]

    def remove(self, names: Iterable[TextName]) -> None:
        keys = (key for name in names for key in (name.key, name.places_key))
        for some in chunks(keys, of=_AT_ONCE):
            with store_errors():
                answer = self.client.delete_objects(
                    Bucket=self.bucket,
                    Delete={"Objects": [{"Key": key} for key in some], "Quiet": True},
                )
            if errors := answer.get("Errors"):  # in an answer of status 200 [S3 API reference]
                raise StoreUnavailable("DeleteObjects", str(errors[0].get("Code")))

    def _read(self, key: str) -> bytes | None:
        try:
            with store_errors():
                return self.client.get_object(Bucket=self.bucket, Key=key)["Body"].read()
        except self.client.exceptions.NoSuchKey:
            return None


def _unpacked(packed: bytes) -> bytes:
    try:
        return gzip.decompress(packed)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError("a place map that is not gzip, or cut off") from error
