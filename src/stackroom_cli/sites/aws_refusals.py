"""
Sentences that explain why AWS refused an operator's request, and what to do.

Our own errors carry AWS's as their cause. Codes: [AWS General Reference: Common Errors; S3 API
reference: ErrorResponses].
"""

import re
from collections.abc import Iterator

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,  # noqa: A004 - botocore's own, base of its connection errors
    CredentialRetrievalError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    ProfileNotFound,
    ReadTimeoutError,
    SSOError,
    TokenRetrievalError,
)

from stackroom.aws.error_mapping import code_of, message_of

_DENIED = {"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "403", "Forbidden"}
_EXPIRED = {"ExpiredToken", "ExpiredTokenException", "RequestExpired"}
_UNKNOWN = {
    "InvalidAccessKeyId",
    "InvalidClientTokenId",
    "UnrecognizedClientException",
    "SignatureDoesNotMatch",
    "InvalidSignatureException",
    "AuthFailure",
}
# Errors for a bucket, table or function that is in another region, or doesn't exist.
_ABSENT = {"NoSuchBucket", "ResourceNotFoundException", "PermanentRedirect", "404"}
_LOCAL_DISK_FULL = "InsufficientStorage"  # of the local mode, whose message says what to do
_ACTION = re.compile(r"not authorized to perform: (?P<action>[\w-]+:\w+)")

_GET = "get credentials as for the AWS CLI (aws configure sso, AWS_PROFILE), and try again"
_NONE = f"this needs an operator's AWS credentials, and there are none: {_GET}"
_STALE = "your AWS credentials have expired; sign in to AWS again (aws sso login), and try again"


def sentence(error: BaseException) -> str | None:
    """Return a sentence for an error that AWS or its SDK caused, or None for any other."""
    for each in _causes(error):
        if isinstance(each, ClientError):
            return _of_service(each)
        if isinstance(each, BotoCoreError):
            return _of_client(each)
    return None


def _of_service(error: ClientError) -> str | None:
    code, operation = code_of(error), error.operation_name
    if code in _EXPIRED:
        return _STALE
    if code in _UNKNOWN:
        return f"AWS does not know your credentials ({code}): {_GET}"
    if code in _DENIED:
        found = _ACTION.search(message_of(error))
        action = found["action"] if found else operation
        return (
            f"your AWS credentials don't allow {action}; use an operator's (AWS_PROFILE), or have"
            " this right added to yours"
        )
    if code in _ABSENT:
        return (
            f"{operation} failed with {code}: what it names does not exist. Check the name; on AWS,"
            " the account and the region, too (aws sts get-caller-identity, stackroom deployments"
            " list)"
        )
    return message_of(error) if code == _LOCAL_DISK_FULL else None


def _of_client(error: BotoCoreError) -> str | None:
    match error:
        case NoCredentialsError() | PartialCredentialsError():
            return _NONE
        case ProfileNotFound():
            return f"{error}: set AWS_PROFILE to one of `aws configure list-profiles`"
        case TokenRetrievalError() | SSOError() | CredentialRetrievalError():
            return _STALE
        case NoRegionError():
            return "name the region with --region or AWS_REGION"
        case ConnectionError() | ReadTimeoutError():
            return (
                f"no answer ({error}); check the region and the network, or in the local mode run"
                " stackroom doctor to find the server that hangs"
            )
        case _:
            return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__
