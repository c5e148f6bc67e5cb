"""
The client's errors, by what a program should do about them.

StackroomError
├── Refused                change the call; `code` is the tool's error code
│   ├── CatalogNotFound    it doesn't exist, or belongs to somebody else
│   ├── DocumentNotFound
│   ├── DuplicateName      a catalog with that name exists
│   ├── DuplicateFile      upload with replace=True, or under another name
│   ├── InvalidArgument    a name, type, size or value is invalid; the text says what is allowed
│   ├── LimitExceeded
│   ├── CatalogEmpty       none of its documents is indexed yet
│   ├── CatalogDeleting
│   └── NoResults          the documents don't answer the question; `nearest` are close sources
├── NotSignedIn            the token is missing, expired, or not for this gateway
│   └── SignInFailed       the browser did not return, or the issuer refused
├── UploadReplaced         somebody uploaded another file in its place, before it was indexed
├── Unavailable            make the same call later
│   └── Throttled          after `retry_after` seconds, if known
├── GatewayError           the gateway or the bucket responded, but not with a tool's answer
└── WebhookNotVerified     a delivery is not signed with the secret, or too old or too new
"""

from collections.abc import Mapping
from typing import Any

from stackroom_client.answers import Source, from_fields


class StackroomError(Exception):
    """The base of all errors that this package raises; `str()` is the tool's own text."""


class Refused(StackroomError):
    def __init__(self, text: str, code: str) -> None:
        super().__init__(text)
        self.code = code


class CatalogNotFound(Refused): ...


class DocumentNotFound(Refused): ...


class DuplicateName(Refused): ...


class DuplicateFile(Refused): ...


class InvalidArgument(Refused): ...


class LimitExceeded(Refused): ...


class CatalogEmpty(Refused): ...


class CatalogDeleting(Refused): ...


class NoResults(Refused):
    """The documents don't answer; `nearest` are the sources of up to three passages found."""

    def __init__(self, text: str, code: str, nearest: tuple[Source, ...] = ()) -> None:
        super().__init__(text, code)
        self.nearest = nearest


class NotSignedIn(StackroomError): ...


class SignInFailed(NotSignedIn): ...


class UploadReplaced(StackroomError): ...


class Unavailable(StackroomError): ...


class Throttled(Unavailable):
    def __init__(self, text: str, retry_after: float | None) -> None:
        super().__init__(text)
        self.retry_after = retry_after


class GatewayError(StackroomError): ...


class WebhookNotVerified(StackroomError): ...


# By `error_code` or `errorType` (docs/tools.md); other codes are named like their class.
_REFUSALS: Mapping[str, type[Refused]] = {
    **{each.__name__: each for each in Refused.__subclasses__()},
    **dict.fromkeys(("ValidationError", "InvalidName", "InvalidFileType"), InvalidArgument),
    **dict.fromkeys(("FileTooLarge", "ContentTooLarge"), InvalidArgument),
    "KnowledgeBaseNotFound": CatalogNotFound,
}


def refusal(code: str, text: str, metadata: Mapping[str, Any]) -> StackroomError:
    """Return the error for a tool's answer; `Refused` for a code of a later version."""
    name = "".join(map(str.capitalize, code.split("_"))) if code.isupper() else code
    if name == "MissingIdentity":
        return NotSignedIn(text)
    if name == "Throttled":
        return Throttled(text, metadata.get("retry_after_seconds"))
    if name in ("Unavailable", "RetrievalFailed"):
        return Unavailable(text)
    if name == "NoResults":
        return NoResults(
            text, code, tuple(from_fields(Source, each) for each in metadata.get("nearest", ()))
        )
    return _REFUSALS.get(name, Refused)(text, code)
