"""The problems that people and programs are told: what happened, and what to do."""

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.responses import Response

from stackroom import errors
from stackroom.tools.calls import retry_after
from stackroom_console.messages import N_, ngettext
from stackroom_console.request_body import BodyRefused

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Problem:
    """`message` is what happened, `advice` what to do; neither tells how we are made."""

    status: int
    code: str
    message: str
    advice: str = ""
    retry_after: int | None = None

    @property
    def title(self) -> str:
        return HTTPStatus(self.status).phrase


class Refused(Exception):
    """Raised by what stands before a page, with what is to be told."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class RefusedOnPage(Refused):
    """A refusal that `page` shows on the form itself, with what was typed there."""

    def __init__(self, problem: Problem, page: Response) -> None:
        super().__init__(problem)
        self.page = page


NOT_FOUND = Problem(
    status=404,
    code="NOT_FOUND",
    message=N_("Not found"),
    advice=N_("It may have been deleted, or the address is wrong."),
)
NOT_SIGNED_IN = Problem(
    status=401,
    code="NOT_SIGNED_IN",
    message=N_("Session expired."),
    advice=N_("Sign in (opens a new tab), then send again."),
)
NOT_OWN_CHANGE = Problem(
    status=403,
    code="CSRF_TOKEN_INVALID",
    message=N_("Nothing was changed: the page was out of date."),
    advice=N_("Reload the page, then try again."),
)
FOR_OPERATORS = Problem(
    status=403,
    code="FORBIDDEN",
    message=N_("Only operators can open this page."),
    advice=N_("Ask an operator to add you to the group operators."),
)
_UNAVAILABLE = Problem(
    status=503,
    code="UNAVAILABLE",
    message=N_("The service is unavailable."),
    advice=N_("Try again in a few seconds. Saved work is not affected."),
)
_BROKEN = Problem(
    status=500,
    code="INTERNAL_ERROR",
    message=N_("Something went wrong on our side."),
    advice=N_("Try again. If it happens again, tell an operator when it happened."),
)
_TOOK_TOO_LONG = Problem(
    status=503,
    code="TOOK_TOO_LONG",
    message=N_("The service didn't respond in time."),
    advice=N_("Try again in a few seconds."),
    retry_after=5,
)
_MAY_BE_DONE = replace(
    _TOOK_TOO_LONG,
    message=N_("The request timed out, but it may have succeeded."),
    advice=N_("Reload the page and check before you try again."),
)
_BUSY = N_("The service is busy.")

# Status and advice by kind; the message is the error's own, which is meant for its caller.
_STATUSES: Mapping[type[errors.StackroomError], tuple[int, str]] = {
    errors.CatalogNotFound: (404, N_("It may have been deleted. Go to Catalogs to see all.")),
    errors.DocumentNotFound: (404, N_("It may have been deleted. Go to its catalog to see all.")),
    errors.KnowledgeBaseNotFound: (404, ""),
    errors.CatalogDeleting: (409, N_("Wait until it is deleted, or use another catalog.")),
    errors.CatalogNameTaken: (409, N_("Choose another name, or use the existing catalog.")),
    errors.CatalogNameInvalid: (400, N_("Allowed: 1 to 100 letters, digits, spaces and hyphens.")),
    errors.CatalogFull: (409, N_("Use another catalog.")),
    errors.DocumentExists: (409, N_("Replace it, or rename the file.")),
    errors.FileTypeUnsupported: (400, ""),
    errors.FileTooLarge: (400, N_("Split the file and upload the parts.")),
    errors.CatalogEmpty: (409, N_("Add documents and wait until they are searchable.")),
    errors.NoResults: (404, N_("Rephrase the question, or search all catalogs.")),
    errors.MissingIdentity: (401, N_("Sign in, then try again.")),
    errors.TokenRefused: (401, N_("Sign in again.")),
    errors.Rejected: (400, ""),
}
# The same of those that have a name.
_NAMED: Mapping[str, tuple[int, str]] = {
    "AgentNotFound": (404, N_("It may have been deleted.")),
    "AgentRunNotFound": (404, N_("It may have expired.")),
    "ChatNotFound": (404, N_("It may have been deleted, or have expired.")),
    "ChatFull": (409, N_("Start a new conversation.")),
    "ChatBusy": (409, N_("Wait for the answer, or stop it.")),
    "AgentRunLimitReached": (409, N_("Wait for one to finish, or stop one.")),
    "CatalogLimitReached": (
        409,
        N_("Delete a catalog that you no longer need. Each holds millions of documents."),
    ),
    "AgentLimitReached": (409, N_("Delete an agent that you no longer need.")),
    "ToolNotFound": (404, N_("It may have been deleted.")),
    "KnowledgeBaseLinked": (400, N_("It is already one of the agent's tools.")),
    "ChangedMeanwhile": (
        409,
        N_("What you typed is still here: copy it, then reload the page to see what changed."),
    ),
}
_OWN_WORDS: Mapping[type[errors.StackroomError], str] = {
    errors.CatalogNotFound: N_("Catalog not found"),
    errors.DocumentNotFound: N_("Document not found"),
    errors.DocumentExists: N_("A file with this name already exists."),
    errors.CatalogNameInvalid: N_('Names can\'t contain "/", ":" or quotes.'),
    errors.CatalogEmpty: N_("No document in this catalog is searchable yet."),
    errors.NoResults: N_("No document answers the question."),
    errors.MissingIdentity: N_("You aren't signed in."),
}


def too_long(*, changes: bool) -> Problem:
    return _MAY_BE_DONE if changes else _TOOK_TOO_LONG


def problem_of(error: Exception) -> Problem:
    """
    Return the problem that an error is; an error that isn't the request's fault is ours, and is
    logged.

    The message of a `Rejected` is for its caller, by stackroom.errors, so it is shown even if the
    mistake is ours.
    """
    match error:
        case Refused():
            return error.problem
        case BodyRefused():
            return Problem(status=error.status, code="BAD_REQUEST", message=str(error))
        case HTTPException():
            return _of_http(error)
        case errors.Rejected():
            return _of_rejected(error)
    logger.error("a request failed", exc_info=error)
    seconds = retry_after(error)
    if isinstance(error, errors.KnowledgeBaseThrottled | errors.Throttled):
        advice = N_("Try again in a few seconds.")
        if seconds is not None:
            advice = ngettext(
                "Try again in %(number)s second.", "Try again in %(number)s seconds.", seconds
            ) % {"number": seconds}
        return Problem(
            status=503,
            code="THROTTLED",
            message=_BUSY,
            advice=advice,
            retry_after=seconds,
        )
    return _UNAVAILABLE if isinstance(error, errors.StackroomError) else _BROKEN


def _of_rejected(error: errors.Rejected) -> Problem:
    kind = next(each for each in type(error).__mro__ if each in _STATUSES)
    status, advice = _NAMED.get(error.name, _STATUSES[kind])
    message = _OWN_WORDS.get(kind, str(error))
    code = _code(error.name or type(error).__name__)
    return Problem(status=status, code=code, message=message, advice=advice)


def _of_http(error: HTTPException) -> Problem:
    if error.status_code == 404:
        return NOT_FOUND
    phrase = HTTPStatus(error.status_code).phrase
    code = phrase.upper().replace(" ", "_")
    return Problem(status=error.status_code, code=code, message=f"{phrase}.")


def _code(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()
