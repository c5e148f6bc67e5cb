"""Answer one call of a tool, from its arguments to a response, whatever goes wrong in between."""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from stackroom import errors
from stackroom.access.access_log import SUCCESS, AccessLog, access_of, documents_shown
from stackroom.access.identity import ToolCall
from stackroom.access.tool import encodable, require_tool
from stackroom.tools.definition import Rendered, Services
from stackroom.tools.tools import BY_NAME, TOOLS

TOOL_TYPE = "knowledge_base"

logger = logging.getLogger(__name__)

Response = dict[str, object]


@dataclass(frozen=True, kw_only=True)
class Calls:
    """Answers calls. The program names the caller, from a verified token; a model never does."""

    services: Services
    log: AccessLog

    def answer(self, raw: object, read_call: Callable[[], ToolCall]) -> Response:
        """
        Return the tool's response to these arguments. Never raises, because a gateway would show
        "internal error" instead of the problem. `read_call` may raise; its errors are answered like
        any other refusal.
        """
        started = time.perf_counter()
        call = None
        try:
            call = read_call()
            require_tool(call.tool, TOOLS)
            tool = BY_NAME[call.tool]
            used = tool.use(self.services, tool.parse(raw), call.caller)
            response = _success(tool.render(used))
        except Exception as error:
            response = _refused(error)
        self._log_access(call, raw, response, time.perf_counter() - started)
        answer: Response = encodable(response)
        return answer

    def _log_access(
        self, call: ToolCall | None, raw: object, response: Response, seconds: float
    ) -> None:
        metadata = response["metadata"]
        assert isinstance(metadata, Mapping), "every response has metadata"
        self.log(
            access_of(
                call,
                tools=BY_NAME,
                outcome=str(metadata.get("error_code", SUCCESS)),
                seconds=seconds,
                named_in=(raw, metadata),  # what was selected is told by the answer alone
                shown=documents_shown(metadata),
            )
        )


def _success(rendered: Rendered) -> Response:
    return {
        "content": [{"text": rendered.text}],
        "status": "success",
        "metadata": {"tool_type": TOOL_TYPE, **rendered.metadata},
    }


def _refused(error: Exception) -> Response:
    refusal, seconds = refusal_of(error), retry_after(error)
    if refusal.message is not None:
        # Its own words are for whoever operates this: they name AWS's operations.
        logger.warning("a tool failed", exc_info=error)
    return {
        "content": [{"text": f"Error: {refusal.message or error}"}],
        "status": "error",
        "metadata": {
            "tool_type": TOOL_TYPE,
            "error_code": refusal.code,
            "error_details": refusal.details,
            **_nearest(error),
            **({} if seconds is None else {"retry_after_seconds": seconds}),
        },
    }


def _nearest(error: Exception) -> dict[str, object]:
    if not isinstance(error, errors.NoResults) or not error.nearest:
        return {}
    return {"nearest": [dict(each) for each in error.nearest]}


# Errors as answers of a tool: a code for programs, and a text that says what to do.

_TOO_MUCH = "Too much is being asked of the service at the moment."
_RETRY = "Try again in a few seconds."


@dataclass(frozen=True)
class Refusal:
    """
    The response to an error. `message` replaces the error's own message if that is no business of
    the caller.
    """

    code: str
    details: str
    message: str | None = None


_LIST_CATALOGS = "list_catalogs tells the ids of your catalogs."
UNAVAILABLE = Refusal(
    "UNAVAILABLE",
    "Nothing is wrong with the call.",
    f"The service can't answer at the moment. {_RETRY}",
)
_THROTTLED = Refusal(
    "THROTTLED",
    "Nothing is wrong with the call.",
    f"{_TOO_MUCH} {_RETRY}",
)

REFUSALS: Mapping[type[errors.StackroomError], Refusal] = {
    errors.CatalogNotFound: Refusal("CATALOG_NOT_FOUND", _LIST_CATALOGS),
    errors.DocumentNotFound: Refusal(
        "DOCUMENT_NOT_FOUND", "list_catalog_documents tells the ids of a catalog's documents."
    ),
    errors.CatalogNameTaken: Refusal(
        "DUPLICATE_NAME", f"Choose another name, or use the catalog that is there. {_LIST_CATALOGS}"
    ),
    errors.CatalogNameInvalid: Refusal(
        "INVALID_NAME", "Allowed: letters, digits, spaces and hyphens."
    ),
    errors.LimitReached: Refusal(
        "LIMIT_EXCEEDED", "delete_catalog makes room; a catalog holds millions of documents."
    ),
    errors.CatalogFull: Refusal("LIMIT_EXCEEDED", "create_catalog makes another."),
    errors.LimitExceeded: Refusal("LIMIT_EXCEEDED", "get_usage tells what was used, and the caps."),
    errors.FileTypeUnsupported: Refusal("INVALID_FILE_TYPE", "The type is the end of the name."),
    errors.FileTooLarge: Refusal("FILE_TOO_LARGE", "Divide the file, and upload its parts."),
    errors.ContentTooLarge: Refusal(
        "CONTENT_TOO_LARGE", "A file of up to 50 MB can be uploaded by a link."
    ),
    errors.DocumentExists: Refusal("DUPLICATE_FILE", "Another filename keeps both files."),
    errors.NoCatalogSelected: Refusal("NO_CATALOG_SELECTED", _LIST_CATALOGS),
    errors.CatalogEmpty: Refusal(
        "CATALOG_EMPTY",
        "upload_to_catalog adds documents; get_indexing_status tells how far they are.",
    ),
    errors.NoResults: Refusal(
        "NO_RESULTS",
        "Ask in other words, or read the nearest passages with knowledge_base_retrieve.",
    ),
    errors.ConfirmationRequired: Refusal("CONFIRMATION_REQUIRED", "Nothing was deleted."),
    errors.CatalogDeleting: Refusal(
        "CATALOG_DELETING", "Create a catalog of another name, or wait until it is gone."
    ),
    errors.MissingIdentity: Refusal(
        "MISSING_IDENTITY",
        "Sign in, and send the access token; in a process of your own, set user_id in the"
        " invocation state.",
    ),
    errors.NoSession: Refusal("MISSING_IDENTITY", "Sign in anew, for a token with origin_jti."),
    errors.ValidationError: Refusal("VALIDATION_ERROR", "Nothing was done."),
    errors.KnowledgeBaseThrottled: _THROTTLED,
    errors.Throttled: _THROTTLED,
}


def refusal_of(error: Exception) -> Refusal:
    """
    Return the refusal for an error. An error that isn't the call's own is the service's fault.
    """
    for kind in type(error).__mro__:
        if kind in REFUSALS:
            found = REFUSALS[kind]
            seconds = retry_after(error)
            if found is not _THROTTLED or seconds is None:
                return found
            return replace(
                found, message=f"{_TOO_MUCH} Try again in {errors.format_seconds(seconds)}."
            )
    return UNAVAILABLE


def retry_after(error: Exception) -> int | None:
    """Return the seconds to wait; None if the error is no throttle, or the time is unknown."""
    if isinstance(error, errors.Throttled | errors.KnowledgeBaseThrottled):
        return error.retry_after
    return None
