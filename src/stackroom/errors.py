"""
Errors, sorted by what the caller should do about them.

`Rejected`: change the request; it is never retried. `Unavailable`: send the same request later;
Step Functions retries each of these by name. Any other error's class says what it means.

Step Functions compares `ErrorEquals` with the exact class name and knows nothing of inheritance, so
every name under `Unavailable` is part of the contract with `statemachines/`, and the names of
`ValidationError`, `MissingIdentity`, `KnowledgeBaseNotFound`, `RetrievalFailed` and `Throttled` are
the `errorType`s that agents see. tests/contract keeps them in step. Errors that nobody
distinguishes by class are of the kinds `NotFound`, `LimitReached` and `Conflict`, which carry their
names.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime


class StackroomError(Exception):
    """The base of all errors that this package raises on purpose."""


class Rejected(StackroomError):
    """The request can't succeed as it stands. Without a `name`, programs know it by its class."""

    name = ""


class NotFound(Rejected):
    """The user has none of that kind and id, or none any more; `what` is the kind in words."""

    def __init__(self, kind: str, what: str = "") -> None:
        super().__init__(f"{what or kind} not found")
        self.name = f"{kind}NotFound"


class LimitReached(Rejected):
    """The user has as many of that kind as allowed."""

    def __init__(self, kind: str, limit: int, message: str = "") -> None:
        super().__init__(message or f"Maximum {kind.lower()} limit ({limit}) reached")
        self.name = f"{kind}LimitReached"


class Conflict(Rejected):
    """The request conflicts with something that exists already."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


class MalformedEvent(Rejected):
    def __init__(self, problem: str) -> None:
        super().__init__(f"not an event we know: {problem}")


class CatalogFull(Rejected):
    def __init__(self) -> None:
        super().__init__("The catalog is full: what is recorded of its documents takes 10 GB")


class CatalogNotFound(Rejected):
    def __init__(self, catalog_id: str) -> None:
        super().__init__(f"Catalog '{catalog_id}' not found")


class CatalogDeleting(Rejected):
    def __init__(self, name: str, since: datetime | None) -> None:
        detail = f" since {since.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if since else ""
        super().__init__(f"Catalog '{name}' is being deleted{detail}")


class CatalogNameTaken(Rejected):
    """
    The name is another catalog's. `now` is its present name if it was renamed; its folder has the
    first one.
    """

    def __init__(self, name: str, *, now: str = "") -> None:
        was = f"Catalog '{now}' was first named '{name}' and keeps that name's folder"
        super().__init__(was if now else f"A catalog named '{name}' already exists")


class CatalogNameInvalid(Rejected):
    pass


class CatalogEmpty(Rejected):
    def __init__(self) -> None:
        super().__init__("Catalog has no indexed documents")


class NoCatalogSelected(Rejected):
    def __init__(self) -> None:
        super().__init__("No catalog selected. Use select_catalog first or specify catalog_id")


class NoSession(Rejected):
    def __init__(self) -> None:
        super().__init__(
            "The access token names no session to select for. Specify catalog_id when querying"
        )


class DocumentNotFound(Rejected):
    def __init__(self, document_id: str) -> None:
        super().__init__(f"Document '{document_id}' not found in catalog")


class DocumentExists(Rejected):
    def __init__(self, filename: str) -> None:
        super().__init__(f"File '{filename}' already exists. Use replace=true to overwrite")


class FileTypeUnsupported(Rejected):
    """The file's type is not supported; the message comes from stackroom.model.formats."""


class FileTooLarge(Rejected):
    def __init__(self, limit: int) -> None:
        super().__init__(f"File exceeds {limit // 1024**2}MB limit")


class ContentTooLarge(Rejected):
    def __init__(self, limit: int) -> None:
        super().__init__(
            f"A call carries at most {limit / 1024**2:.1f} MB of file. "
            "Call again without file_content for a link to upload it"
        )


class ConfirmationRequired(Rejected):
    """The deletion needs a confirmation. `what` would be deleted."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} would be deleted. Call again with confirm=true to delete")


class DataSourceLimit(Rejected):
    def __init__(self, knowledge_base_id: str) -> None:
        super().__init__(f"knowledge base {knowledge_base_id!r} takes no more data sources")


class DataSourceBroken(Rejected):
    def __init__(self, data_source_id: str, status: str) -> None:
        super().__init__(f"data source {data_source_id!r} is {status}")


class RunSuperseded(Rejected):
    def __init__(self, catalog_id: str, epoch: int) -> None:
        super().__init__(f"run {epoch} no longer holds the lease of catalog {catalog_id!r}")


class Unreadable(Rejected):
    """A file's text can't be read; `str()` of it is the reason to show to its owner."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Illegible(Unreadable):
    """A file was read, and all text in it, if there is any, is hidden or garbled."""


class ObjectRefused(Rejected):
    """An object can't be read. `reason` is the reason to show to its owner."""

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(f"{key!r}: {reason}")
        self.reason = reason


class DocumentsRefused(Rejected):
    """A knowledge base will never take any of a call's documents; `reason` in its words."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"refused by the knowledge base: {reason}")
        self.reason = reason


class MissingIdentity(Rejected):
    def __init__(self, remedy: str = "sign in and call through the gateway") -> None:
        super().__init__(f"the call carries no verified user; {remedy}")


class TokenRefused(Rejected):
    """
    A token was refused. `str()` of it goes to the caller: it names the check that failed, never the
    token.
    """

    def __init__(self, problem: str) -> None:
        super().__init__(f"token refused: {problem}")


class ValidationError(Rejected):
    """An argument is wrong; `str()` of it names the argument and what is allowed."""


class KnowledgeBaseNotFound(Rejected):
    def __init__(self, what: str) -> None:
        super().__init__(f"{what} not found")


class LimitExceeded(Rejected):
    """The user has spent the month's cap; `until` says in words when it begins anew."""

    def __init__(self, spent: str, cap: str, until: str) -> None:
        super().__init__(
            f"The month's cap is spent ({spent} of {cap}). Questions are answered again from"
            f" {until}, or once the operator raises the cap"
        )


class NoResults(Rejected):
    """
    The search found no passage that answers the question. `nearest` are the places of passages that
    were found and don't answer it; `not_searched` says how many documents are not indexed yet.
    """

    def __init__(
        self, nearest: Sequence[Mapping[str, object]] = (), *, not_searched: str = ""
    ) -> None:
        found = "No relevant information found for your query"
        super().__init__(f"{found}. {not_searched.rstrip('.')}" if not_searched else found)
        self.nearest = tuple(nearest)


class WebhookRefused(Rejected):
    """
    A webhook was refused. `str()` of it says why, and nothing of an address but its host: a path
    may be a secret.
    """


class AgentUnfinished(Rejected):
    def __init__(self, reason: str) -> None:
        super().__init__(f"the agent has no answer: {reason}")
        self.reason = reason


class ModelRefused(Rejected):
    """
    A model refused a request. `reason` is in the model's words, which may repeat the request: it is
    for the caller alone.
    """

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(f"the model takes no such request ({code}): {reason}")
        self.reason = reason


class Unavailable(StackroomError):
    """The same request may succeed later."""


class RecordChanged(Unavailable):
    def __init__(self, key: str) -> None:
        super().__init__(f"record {key!r} changed since it was read")


class StoreUnavailable(Unavailable):
    """DynamoDB, S3, SQS or Step Functions throttled or failed."""

    def __init__(self, operation: str, code: str) -> None:
        super().__init__(f"{operation} answered {code}")


class KnowledgeBaseThrottled(Unavailable):
    """
    A knowledge base throttled a call. `retry_after` is in seconds; None if the time is unknown.
    """

    def __init__(self, operation: str, *, retry_after: int | None = None) -> None:
        detail = "" if retry_after is None else f"; try again in {format_seconds(retry_after)}"
        super().__init__(f"{operation} was throttled{detail}")
        self.retry_after = retry_after


class KnowledgeBaseUnavailable(Unavailable):
    """Bedrock failed, or did not answer."""

    def __init__(self, operation: str, code: str) -> None:
        super().__init__(f"{operation} answered {code}")


class ServiceRefused(StackroomError):
    """
    AWS refuses our rights or credentials. No document is at fault, and nothing works until an
    operator fixes it.
    """

    def __init__(self, operation: str, code: str) -> None:
        super().__init__(
            f"{operation} answered {code}: the credentials or rights of the program that asked are"
            " at fault"
        )
        self.code = code


class FiguresNotRead(StackroomError):
    """A dashboard's figures could not be read; the rest of the overview is still available."""

    def __init__(self, operation: str, code: str) -> None:
        super().__init__(f"{operation} answered {code}")


class SearchRefused(StackroomError):
    """
    An index, a model or a filter doesn't fit a way to search, and retrying doesn't help. `str()` of
    it is for the operator, and holds nothing of the question.
    """


class IssuerUnavailable(StackroomError):
    def __init__(self) -> None:
        super().__init__("the token issuer's keys can't be fetched; try again")


class ModelThrottled(StackroomError):
    def __init__(self, operation: str) -> None:
        super().__init__(f"{operation} was throttled")


class ModelUnavailable(StackroomError):
    def __init__(self, operation: str, code: str) -> None:
        super().__init__(f"{operation} answered {code}")


class RetrievalError(StackroomError):
    """The search failed, because no knowledge base answered; it may succeed later."""

    def __init__(self, problem: str, failures: Mapping[str, str] | None = None) -> None:
        """Set `failures`, the reasons by knowledge base id."""
        super().__init__(problem)
        self.failures = dict(failures or {})


class RetrievalFailed(RetrievalError):
    pass


class Throttled(RetrievalError):
    """Searches are throttled: `what` is busy. `retry_after` is as in KnowledgeBaseThrottled."""

    def __init__(
        self,
        what: str,
        failures: Mapping[str, str] | None = None,
        *,
        retry_after: int | None = None,
    ) -> None:
        detail = "a few seconds" if retry_after is None else format_seconds(retry_after)
        super().__init__(f"{what} is busy; try again in {detail}", failures)
        self.retry_after = retry_after


def format_seconds(count: int) -> str:
    return f"{count} second" + ("s" if count != 1 else "")


def is_systemic(error: Exception) -> bool:
    """
    Return True if the next item would meet the same error.

    A loop over many keys, catalogs, records or data sources goes on after an error that concerns
    its item alone, and reports it with the item's name. An error of the stores, or of our right to
    use them, would affect every item and ends the loop. docs/decisions/0011 says why the line is
    drawn here.
    """
    return isinstance(error, StoreUnavailable | ServiceRefused)
