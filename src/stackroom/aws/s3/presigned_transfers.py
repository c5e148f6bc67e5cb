"""Transfers into and out of the documents' bucket: written here, or by links for others to use."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from botocore.exceptions import ClientError

from stackroom.aws.error_mapping import code_of, store_errors
from stackroom.catalogs.transfers import UploadForm

if TYPE_CHECKING:
    from types_boto3_s3.client import S3Client

# If-None-Match met an object, or another such upload [S3 user guide: conditional-writes]
_TAKEN = frozenset({"PreconditionFailed", "ConditionalRequestConflict"})


@dataclass(frozen=True, kw_only=True)
class S3Transfers:
    """
    A `Transfers` in S3. A link expires no later than the credentials that signed it [S3 user guide:
    presigned-url].
    """

    client: "S3Client"
    bucket: str

    def put(
        self,
        key: str,
        body: bytes,
        *,
        content_type: str,
        attributes: Mapping[str, str],
        replace: bool,
    ) -> str | None:
        condition: dict[str, Any] = {} if replace else {"IfNoneMatch": "*"}
        try:
            with store_errors():
                answer = self.client.put_object(
                    Bucket=self.bucket,
                    Key=key,
                    Body=body,
                    ContentType=content_type,
                    Metadata=dict(attributes),
                    **condition,
                )
        except ClientError as error:
            if code_of(error) in _TAKEN:
                return None
            raise
        return answer["ETag"].strip('"')

    def form(
        self,
        key: str,
        *,
        content_type: str,
        attributes: Mapping[str, str],
        max_bytes: int,
        seconds: int,
    ) -> UploadForm:
        fields = {"Content-Type": content_type}
        fields |= {f"x-amz-meta-{name}": value for name, value in attributes.items()}
        # The policy names each field with its one value, so S3 refuses whatever differs.
        exact = [{name: value} for name, value in fields.items()]
        made = self.client.generate_presigned_post(
            Bucket=self.bucket,
            Key=key,
            Fields=dict(fields),
            Conditions=[*exact, ["content-length-range", 1, max_bytes]],
            ExpiresIn=seconds,
        )
        return UploadForm(url=made["url"], fields=made["fields"])

    def link(
        self,
        key: str,
        *,
        filename: str,
        seconds: int,
        shown_as: str | None = None,
        version_id: str | None = None,
    ) -> str:
        # RFC 6266: the name twice, the second for clients that read UTF-8; both are escaped.
        plain = "".join(each if _is_harmless(each) else "_" for each in filename)
        encoded = quote(filename, safe="")
        how = "attachment" if shown_as is None else "inline"
        disposition = f"{how}; filename=\"{plain}\"; filename*=UTF-8''{encoded}"
        # Whatever type the object was written with, a browser shows it as this one alone.
        as_type = {} if shown_as is None else {"ResponseContentType": shown_as}
        of_version = {} if version_id is None else {"VersionId": version_id}
        return self.client.generate_presigned_url(
            "get_object",
            Params={
                "Bucket": self.bucket,
                "Key": key,
                "ResponseContentDisposition": disposition,
                **as_type,
                **of_version,
            },
            ExpiresIn=seconds,
        )


def _is_harmless(character: str) -> bool:
    """Return True if the character can stand within the quotes of a header."""
    return character.isascii() and character.isprintable() and character not in '"\\%'
