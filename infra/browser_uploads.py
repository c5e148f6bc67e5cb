"""The web origins whose pages may upload to the documents' bucket, and read from it."""

from collections.abc import Sequence

from aws_cdk import aws_s3 as s3


def upload_cors_rules(origins: Sequence[str | None]) -> list[s3.CorsRule]:
    """
    Return the bucket's CORS rules for these exact origins; None is skipped.

    Each request is signed for one key anyway: the rules keep other pages from using a leaked link.
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
