"""Whose pages may send files into the documents' bucket, and read them, from a browser."""

from collections.abc import Sequence

from aws_cdk import aws_s3 as s3


def uploads_from(origins: Sequence[str | None]) -> list[s3.CorsRule]:
    """
    Those of these origins, letter by letter; None is no page's. Each request is signed for one key
    all the same: this keeps other pages from using a link that leaked to them.
    """
    allowed = [each for each in origins if each is not None]
    if not allowed:
        return []
    return [
        s3.CorsRule(
            allowed_methods=[s3.HttpMethods.PUT, s3.HttpMethods.POST, s3.HttpMethods.GET],
            allowed_origins=allowed,
            allowed_headers=["*"],
            exposed_headers=["ETag", "x-amz-version-id"],
            max_age=3600,
        )
    ]
