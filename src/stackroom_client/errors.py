"""
What can go wrong, sorted by what a program should do about it.

StackroomError
├── Refused                change the call; `code` is the tool's own word
│   ├── CatalogNotFound    there is none of that id, or it is somebody else's
│   ├── DocumentNotFound
│   ├── DuplicateName      a catalog has that name
│   ├── DuplicateFile      upload it with replace=True, or under another name
│   ├── InvalidArgument    a name, type, size or value that is not taken; the text says what is
│   ├── LimitExceeded
│   ├── CatalogEmpty       nothing in it is indexed yet
│   ├── CatalogDeleting
│   └── NoResults          the documents don't answer the question; `nearest` is what was found
├── NotSignedIn            the token is missing, expired, or not for this gateway
│   └── SignInFailed       nobody came back from the browser, or the issuer refused
├── Unavailable            make the same call later
│   └── Throttled          in `retry_after` seconds, where that is known
├── GatewayError           the gateway, or the bucket, answered with what is no tool's answer
└── WebhookNotVerified     a delivery is not signed with the secret, or not now
"""

from collections.abc import Mapping
from typing import Any

from stackroom_client.answers import Source, made


class StackroomError(Exception):
    """Anything this package raises on purpose; `str()` of it is the tool's own text."""


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
    """`nearest` are the sources of up to three passages that were found and don't answer."""

    def __init__(self, text: str, code: str, nearest: tuple[Source, ...] = ()) -> None:
        super().__init__(text, code)
        self.nearest = nearest


class NotSignedIn(StackroomError): ...


class SignInFailed(NotSignedIn): ...


class Unavailable(StackroomError): ...


class Throttled(Unavailable):
    def __init__(self, text: str, retry_after: float | None) -> None:
        super().__init__(text)
        self.retry_after = retry_after


class GatewayError(StackroomError): ...


class WebhookNotVerified(StackroomError): ...


# Of an `error_code` or `errorType` (docs/tools.md); others are called as their class is.
_REFUSALS: Mapping[str, type[Refused]] = {
    **{each.__name__: each for each in Refused.__subclasses__()},
    **dict.fromkeys(("ValidationError", "InvalidName", "InvalidFileType"), InvalidArgument),
    **dict.fromkeys(("FileTooLarge", "ContentTooLarge"), InvalidArgument),
    "KnowledgeBaseNotFound": CatalogNotFound,
}


def refusal(code: str, text: str, metadata: Mapping[str, Any]) -> StackroomError:
    """The error that a tool's answer stands for; `Refused` for a code of a later version."""
    name = "".join(map(str.capitalize, code.split("_"))) if code.isupper() else code
    if name == "MissingIdentity":
        return NotSignedIn(text)
    if name == "Throttled":
        return Throttled(text, metadata.get("retry_after_seconds"))
    if name in ("Unavailable", "RetrievalFailed"):
        return Unavailable(text)
    if name == "NoResults":
        return NoResults(
            text, code, tuple(made(Source, each) for each in metadata.get("nearest", ()))
        )
    return _REFUSALS.get(name, Refused)(text, code)
