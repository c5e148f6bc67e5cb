"""Whole files out of the documents' bucket."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from stackroom.aws.error_mapping import code_of, store_errors
from stackroom.aws.s3.object_refusals import ABSENT, refusal
from stackroom.inspection.inspection import File

if TYPE_CHECKING:
    from types_boto3_s3.client import S3Client


@dataclass(frozen=True, kw_only=True)
class S3Files:
    client: "S3Client"
    bucket: str

    def read(self, key: str, *, limit: int) -> File | None:
        try:
            with store_errors():
                answer = self.client.get_object(Bucket=self.bucket, Key=key)
                fits = answer["ContentLength"] <= limit
                body = answer["Body"].read() if fits else None
                if not fits:
                    answer["Body"].close()
        except ClientError as error:
            if code_of(error) in ABSENT:
                return None
            raise refusal(self.client, self.bucket, key, error) from error
        return File(etag=_bare(answer["ETag"]), body=body)

    def etag_of(self, key: str) -> str | None:
        try:
            with store_errors():
                return _bare(self.client.head_object(Bucket=self.bucket, Key=key)["ETag"])
        except ClientError as error:
            if code_of(error) in ABSENT:
                return None
            raise


def _bare(etag: str) -> str:
    return etag.strip('"')  # HTTP quotes it, events and records do not
