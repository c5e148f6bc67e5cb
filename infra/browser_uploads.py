"""Whose pages may send files into the documents' bucket, and read them, from a browser."""

import aws_cdk as cdk
from aws_cdk import aws_s3 as s3

from infra.deployment import Deployment


def uploads_from(deployment: Deployment) -> list[s3.CorsRule]:
    """
    The console's, and those that the context names; no page's if there is neither. Each request is
    signed for one key all the same: this keeps other pages from using a link that leaked to them.
    """
    origins = [*_of_the_console(deployment), *deployment.upload_origins]
    if not origins:
        return []
    return [
        s3.CorsRule(
            allowed_methods=[s3.HttpMethods.PUT, s3.HttpMethods.POST, s3.HttpMethods.GET],
            allowed_origins=origins,
            allowed_headers=["*"],
            exposed_headers=["ETag", "x-amz-version-id"],
            max_age=3600,
        )
    ]


def _of_the_console(deployment: Deployment) -> list[str]:
    """
    API Gateway chooses the address of a console without a domain of its own after this bucket is
    made, so that any of its addresses in the region is as near as one comes. One asterisk is
    allowed [API reference: CORSRule].
    """
    if deployment.console is None:
        return []
    if (domain := deployment.console.domain) is not None:
        return [f"https://{domain.name}"]
    return [f"https://*.execute-api.{cdk.Aws.REGION}.{cdk.Aws.URL_SUFFIX}"]
