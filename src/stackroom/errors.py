"""
What can go wrong, sorted by what the caller should do about it.

StackroomError
├── Rejected                    change the request; never retried
│   ├── MalformedEvent          not an event that we know; belongs in the dead-letter queue
│   ├── CatalogLimitReached     the user already has as many catalogs as allowed
│   ├── CatalogFull             DynamoDB takes no more records under the catalog's key
│   ├── CatalogNotFound         there is none of that id, or it is somebody else's
│   ├── CatalogDeleting         it is being deleted
│   ├── CatalogNameTaken        the user has one of that name
│   ├── CatalogNameInvalid      a catalog can't be called that
│   ├── CatalogEmpty            nothing in it is indexed yet
│   ├── NoCatalogSelected       the call names none, and none is selected
│   ├── NoSession               the token tells no session to select for
│   ├── DocumentNotFound        there is none of that id in the catalog
│   ├── DocumentExists          there is one of that name, not to be replaced unasked
│   ├── FileTypeUnsupported     no file of that kind is taken
│   ├── FileTooLarge            larger than any file that is taken
│   ├── ContentTooLarge         larger than a tool call can carry
│   ├── ConfirmationRequired    a deletion that its caller has yet to confirm
│   ├── DataSourceLimit         the knowledge base has no room for another data source
│   ├── DataSourceBroken        a data source that will never take an ingestion job
│   ├── RunSuperseded           this execution no longer holds the catalog's lease
│   ├── Unreadable              no text can be had from the file, and why
│   │   └── Illegible           it was read, and a person would see no text in it
│   ├── ObjectRefused           S3 keeps this one object from us, and why
│   ├── DocumentsRefused        a knowledge base takes none of these documents, and why
│   ├── MissingIdentity         no verified user in the call
│   ├── TokenRefused            no valid access token of a user, and why
│   ├── ValidationError         an argument of a tool call is wrong
│   ├── KnowledgeBaseNotFound   not a knowledge base or catalog of this caller
│   ├── NoResults               the documents have no answer to the question
│   ├── LimitExceeded           the month's dollars of the user are spent
│   ├── AgentNotFound           the user has no agent of that id
│   ├── AgentLimitReached       the user already has as many agents as allowed
│   ├── ToolNotFound            the agent has no tool of that id
│   ├── ToolNameTaken           another tool of the agent is called that
│   ├── ChangedMeanwhile        it isn't any more as who changes it has seen it
│   ├── ToolLimitReached        the agent already has as many tools as allowed
│   ├── KnowledgeBaseLinked     the agent has a tool for that knowledge base
│   ├── NotKnowledgeBaseTool    a tool of another type, which has no knowledge base to ask
│   ├── AgentRunNotFound        the user has no run of that id; the oldest are forgotten
│   ├── AgentRunLimitReached    as many of the user's runs as allowed are not over yet
│   ├── ChatNotFound            the user has no conversation of that id
│   ├── ChatFull                the conversation has as many questions as one can have
│   ├── ChatBusy                its last question is still being answered
│   ├── WebhookNotFound         there is no webhook of that id
│   ├── WebhookLimitReached     the owner already has as many webhooks as allowed
│   ├── WebhookRefused          an address that no webhook may have, and why
│   ├── AnswerNotJson           an agent was to answer JSON, and didn't on two attempts
│   ├── AgentUnfinished         an agent reached a bound before it had an answer
│   └── ModelRefused            a model takes no such request, and why
├── Unavailable                 send the same request later; Step Functions retries each by name
│   ├── RecordChanged           someone saved the record after we read it
│   ├── StoreUnavailable        DynamoDB, S3, SQS or Step Functions throttled or failed
│   ├── KnowledgeBaseThrottled  Bedrock throttled, or its quota of requests is used up
│   └── KnowledgeBaseUnavailable  Bedrock failed, or did not answer
├── ServiceRefused              our own rights or credentials are wrong, whatever it is about
├── FiguresNotRead              a dashboard's figures can't be had; what else there is can
├── SearchRefused               a way to search can't be gone; another may
├── IssuerUnavailable           a token can't be checked now; no workflow knows this one
├── AgentError                  of an agent's own program; its operator must mend it
│   ├── AgentMisconfigured      its prompt or a tool can't be loaded, and which
│   └── AgentBroke              something that nobody expected; the log says where
├── ModelError                  of an agent's model, for a while; no workflow of ours knows these
│   ├── ModelThrottled
│   └── ModelUnavailable        it failed, or did not answer
├── SearchIndexError            of a deployment, which no workflow knows either
│   ├── SearchIndexGone         an index, or its bucket, that the deployment names is not there
│   └── SearchIndexBusy         another change of the index is under way
└── RetrievalError              a search found no knowledge base that answers
    ├── RetrievalFailed
    └── Throttled

Step Functions compares `ErrorEquals` with the exact class name and knows nothing of
inheritance, so every leaf name under `Unavailable` is part of the contract with
`statemachines/`, and the names under `ValidationError` to `Throttled` are the `errorType`s
that agents see. tests/contract keeps them in step.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeVar

_Answer = TypeVar("_Answer")


class StackroomError(Exception):
    """Anything this package raises on purpose."""


class Rejected(StackroomError):
    """The request can't succeed as it stands."""


class MalformedEvent(Rejected):
    def __init__(self, problem: str) -> None:
        super().__init__(f"not an event we know: {problem}")


class CatalogLimitReached(Rejected):
    def __init__(self, limit: int) -> None:
        super().__init__(f"Maximum catalog limit ({limit}) reached")


class CatalogFull(Rejected):
    def __init__(self) -> None:
        super().__init__("The catalog is full: what is recorded of its documents takes 10 GB")


class CatalogNotFound(Rejected):
    def __init__(self, catalog_id: str) -> None:
        super().__init__(f"Catalog '{catalog_id}' not found")


class CatalogDeleting(Rejected):
    def __init__(self, name: str, since: datetime | None) -> None:
        told = f" since {since.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if since else ""
        super().__init__(f"Catalog '{name}' is being deleted{told}")


class CatalogNameTaken(Rejected):
    """`now` is the present name of a catalog that was renamed; its folder has the first one."""

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
    """In the words of stackroom.model.formats."""


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
    """`what` would be deleted."""

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
    """No text can be had from a file; `str()` of it is the reason to show to its owner."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Illegible(Unreadable):
    """A file was read, and all text in it, if there is any, is hidden or garbled."""


class ObjectRefused(Rejected):
    """`why` is the reason to show to the object's owner."""

    def __init__(self, key: str, why: str) -> None:
        super().__init__(f"{key!r}: {why}")
        self.why = why


class DocumentsRefused(Rejected):
    """A knowledge base takes none of a call's documents, now or later; `why` in its words."""

    def __init__(self, why: str) -> None:
        super().__init__(f"refused by the knowledge base: {why}")
        self.why = why


class MissingIdentity(Rejected):
    def __init__(self, remedy: str = "sign in and call through the gateway") -> None:
        super().__init__(f"the call carries no verified user; {remedy}")


class TokenRefused(Rejected):
    """`str()` of it goes to the caller: it names the check that failed, never the token."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"token refused: {problem}")


class ValidationError(Rejected):
    """An argument is wrong; `str()` of it names the argument and what is allowed."""


class KnowledgeBaseNotFound(Rejected):
    def __init__(self, what: str) -> None:
        super().__init__(f"{what} not found")


class LimitExceeded(Rejected):
    """Of what an operator lets a user spend; `until` is when it begins anew, in words."""

    def __init__(self, spent: str, cap: str, until: str) -> None:
        super().__init__(
            f"The month's cap is spent ({spent} of {cap}). Questions are answered again from"
            f" {until}, or once the operator raises the cap"
        )


class NoResults(Rejected):
    """
    `nearest` are the places of passages that were found and don't answer the question;
    `not_searched` says how many documents are not indexed yet.
    """

    def __init__(
        self, nearest: Sequence[Mapping[str, object]] = (), *, not_searched: str = ""
    ) -> None:
        found = "No relevant information found for your query"
        super().__init__(f"{found}. {not_searched.rstrip('.')}" if not_searched else found)
        self.nearest = tuple(nearest)


class AgentNotFound(Rejected):
    def __init__(self) -> None:
        super().__init__("Agent not found")


class AgentLimitReached(Rejected):
    def __init__(self, limit: int) -> None:
        super().__init__(f"Maximum agent limit ({limit}) reached")


class ToolNotFound(Rejected):
    def __init__(self) -> None:
        super().__init__("Tool not found")


class ToolNameTaken(Rejected):
    def __init__(self, name: str) -> None:
        super().__init__(f"The agent has a tool named '{name}' already")


class ChangedMeanwhile(Rejected):
    def __init__(self, what: str) -> None:
        super().__init__(f"The {what} was changed in another window; nothing of yours was saved")


class ToolLimitReached(Rejected):
    def __init__(self, limit: int) -> None:
        super().__init__(f"Maximum tool limit ({limit}) reached")


class KnowledgeBaseLinked(Rejected):
    def __init__(self) -> None:
        super().__init__("KB already linked")


class NotKnowledgeBaseTool(Rejected):
    def __init__(self) -> None:
        super().__init__("Not a KB tool")


class AgentRunNotFound(Rejected):
    def __init__(self) -> None:
        super().__init__("Run not found")


class ChatNotFound(Rejected):
    def __init__(self) -> None:
        super().__init__("Conversation not found")


class ChatFull(Rejected):
    def __init__(self, limit: int) -> None:
        super().__init__(f"This conversation has {limit} questions, and takes no more")


class ChatBusy(Rejected):
    def __init__(self) -> None:
        super().__init__("The agent is still answering your last question")


class AgentRunLimitReached(Rejected):
    def __init__(self, limit: int) -> None:
        super().__init__(f"{limit} of your runs are not over yet. Wait for one of them, or stop it")


class WebhookNotFound(Rejected):
    def __init__(self, webhook_id: str) -> None:
        super().__init__(f"Webhook '{webhook_id}' not found")


class WebhookLimitReached(Rejected):
    def __init__(self, limit: int) -> None:
        super().__init__(f"Maximum webhook limit ({limit}) reached; remove one first")


class WebhookRefused(Rejected):
    """`str()` of it says why, and nothing of an address but its host: a path may be a secret."""


class AnswerNotJson(Rejected):
    """`problem` is told to the model, too, and holds nothing of what it wrote."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"the model's answer is no JSON: {problem}")
        self.problem = problem


class AgentUnfinished(Rejected):
    def __init__(self, why: str) -> None:
        super().__init__(f"the agent has no answer: {why}")
        self.why = why


class ModelRefused(Rejected):
    """`why` in the model's words, which may repeat what it was asked: for the caller alone."""

    def __init__(self, code: str, why: str) -> None:
        super().__init__(f"the model takes no such request ({code}): {why}")
        self.why = why


class Unavailable(StackroomError):
    """The same request may succeed later."""


class RecordChanged(Unavailable):
    def __init__(self, key: str) -> None:
        super().__init__(f"record {key!r} changed since it was read")


class StoreUnavailable(Unavailable):
    def __init__(self, operation: str, code: str) -> None:
        super().__init__(f"{operation} answered {code}")


class KnowledgeBaseThrottled(Unavailable):
    """`retry_after`: seconds, after which it may be worth the while; None if nobody can tell."""

    def __init__(self, operation: str, *, retry_after: int | None = None) -> None:
        told = "" if retry_after is None else f"; try again in {told_seconds(retry_after)}"
        super().__init__(f"{operation} was throttled{told}")
        self.retry_after = retry_after


class KnowledgeBaseUnavailable(Unavailable):
    def __init__(self, operation: str, code: str) -> None:
        super().__init__(f"{operation} answered {code}")


class ServiceRefused(StackroomError):
    """Nobody's document is at fault, and nothing will do until an operator mends it."""

    def __init__(self, operation: str, code: str) -> None:
        super().__init__(
            f"{operation} answered {code}: the credentials or rights of the program that asked are"
            " at fault"
        )
        self.code = code


class FiguresNotRead(StackroomError):
    """Of a dashboard; the rest of what an operator sees can be told all the same."""

    def __init__(self, operation: str, code: str) -> None:
        super().__init__(f"{operation} answered {code}")


class SearchRefused(StackroomError):
    """
    An index, a model or a filter is not what a way to search needs, and asking again is no use.

    `str()` of it is for the operator, and holds nothing of the question.
    """


class IssuerUnavailable(StackroomError):
    def __init__(self) -> None:
        super().__init__("the token issuer's keys can't be fetched; try again")


class AgentError(StackroomError):
    """The same event fails again until the agent is deployed anew."""


class ModelError(StackroomError):
    """Send the same event later: Lambda does so by itself with asynchronous ones, and SQS."""


class ModelThrottled(ModelError):
    def __init__(self, operation: str) -> None:
        super().__init__(f"{operation} was throttled")


class ModelUnavailable(ModelError):
    def __init__(self, operation: str, code: str) -> None:
        super().__init__(f"{operation} answered {code}")


class AgentMisconfigured(AgentError):
    def __init__(self, what: str, problem: str) -> None:
        super().__init__(f"{what} can't be used: {problem}")


class AgentBroke(AgentError):
    def __init__(self, kind: str) -> None:
        super().__init__(f"the agent broke ({kind}); the operator finds where in the log")


class SearchIndexError(StackroomError):
    """An index can't be made for search by words; whoever deploys reads why."""


class SearchIndexGone(SearchIndexError):
    def __init__(self, arn: str) -> None:
        super().__init__(f"{arn!r} is not there")


class SearchIndexBusy(SearchIndexError):
    def __init__(self, arn: str) -> None:
        super().__init__(f"{arn!r} is busy with another change")


class RetrievalError(StackroomError):
    """No knowledge base answered; the same search may succeed later."""

    def __init__(self, problem: str, failures: Mapping[str, str] | None = None) -> None:
        """`failures`: why, by knowledge base id."""
        super().__init__(problem)
        self.failures = dict(failures or {})


class RetrievalFailed(RetrievalError):
    pass


class Throttled(RetrievalError):
    """`retry_after` as of KnowledgeBaseThrottled; `what` is busy."""

    def __init__(
        self,
        what: str,
        failures: Mapping[str, str] | None = None,
        *,
        retry_after: int | None = None,
    ) -> None:
        told = "a few seconds" if retry_after is None else told_seconds(retry_after)
        super().__init__(f"{what} is busy; try again in {told}", failures)
        self.retry_after = retry_after


def told_seconds(count: int) -> str:
    return f"{count} second" + ("s" if count != 1 else "")


def is_everybodys(error: Exception) -> bool:
    """
    Whether the next item would meet it, too.

    A loop over many keys, catalogs, records or data sources goes on after an error that is its
    item's, and tells it with the item's name. What no item can do without ends the loop: the
    stores, and our right to use them. docs/decisions/0011 says why the line is drawn here.
    """
    return isinstance(error, StoreUnavailable | ServiceRefused)


def tried(once: Callable[[], _Answer]) -> _Answer | Exception:
    """What it answers, or else what went wrong; raises what is everybody's trouble."""
    try:
        return once()
    except Exception as error:
        if is_everybodys(error):
            raise
        return error
