"""
Place maps in S3, beside the documents but outside every catalog.

    _pagemaps/{document_id}.json.gz    {"text_id": ..., "text": ...,
                                        "pieces": [{"page": 1, "at": 0}]}
                                       or, of a file with headings, {"section": "...", "at": 0};
                                       {"running": [...], "listed": [...]}, see PlaceMap

About 1.5 KB a page, 0.4 KB as it is packed: 480 KB for a manual of 1,158 pages.
"""

import gzip
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stackroom.aws.error_mapping import store_errors
from stackroom.documents.keys import PLACE_MAP_PREFIX
from stackroom.inspection.place_map import PlaceMap

if TYPE_CHECKING:
    from types_boto3_s3.client import S3Client


@dataclass(frozen=True)
class S3PlaceMaps:
    client: "S3Client"
    bucket: str

    def get(self, document_id: str) -> PlaceMap | None:
        """Raises ValueError for an object that is no place map."""
        try:
            with store_errors():
                answer = self.client.get_object(Bucket=self.bucket, Key=_key(document_id))
                packed = answer["Body"].read()
        except self.client.exceptions.NoSuchKey:
            return None
        return PlaceMap.model_validate_json(_unpacked(packed))

    def put(self, document_id: str, place_map: PlaceMap) -> None:
        body = gzip.compress(place_map.model_dump_json(exclude_none=True).encode(), mtime=0)
        with store_errors():
            self.client.put_object(
                Bucket=self.bucket,
                Key=_key(document_id),
                Body=body,
                ContentType="application/json",
                ContentEncoding="gzip",
            )

    def remove(self, document_id: str) -> None:
        with store_errors():
            self.client.delete_object(Bucket=self.bucket, Key=_key(document_id))


def _key(document_id: str) -> str:
    return f"{PLACE_MAP_PREFIX}{document_id}.json.gz"


def _unpacked(packed: bytes) -> bytes:
    try:
        return gzip.decompress(packed)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError("a place map that is not gzip, or cut off") from error
