"""One call of a tool: from its arguments to an answer, whatever goes wrong in between."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from stackroom.catalog_tools.definition import Rendered
from stackroom.catalog_tools.refusals import refusal_of, retry_after
from stackroom.catalog_tools.services import Services
from stackroom.catalog_tools.tools import BY_NAME, TOOLS
from stackroom.gateway.access import SUCCESS, AccessLog, access_of
from stackroom.gateway.encoding import encodable
from stackroom.gateway.tool import require_tool
from stackroom.identity import ToolCall

TOOL_TYPE = "knowledge_base"

logger = logging.getLogger(__name__)

Response = dict[str, object]


@dataclass(frozen=True, kw_only=True)
class Calls:
    """Whoever is calling is for the program to say, from a verified token, never for a model."""

    services: Services
    log: AccessLog

    def answer(self, given: object, asked: Callable[[], ToolCall]) -> Response:
        """
        What the tool answers to these arguments. Never raises, for a gateway would show "internal
        error" instead of what went wrong: `asked` may, and is answered like any other refusal.
        """
        started = time.perf_counter()
        call = None
        try:
            call = asked()
            require_tool(call, TOOLS)
            response = _success(BY_NAME[call.tool].answer(self.services, given, call.caller))
        except Exception as error:
            response = _refused(error)
        self._tell(call, given, response, time.perf_counter() - started)
        answer: Response = encodable(response)
        return answer

    def _tell(
        self, call: ToolCall | None, given: object, response: Response, seconds: float
    ) -> None:
        metadata = response["metadata"]
        assert isinstance(metadata, Mapping), "every response has metadata"
        self.log(
            access_of(
                call,
                tools=BY_NAME,
                outcome=str(metadata.get("error_code", SUCCESS)),
                seconds=seconds,
                named_in=(given, metadata),  # what was selected is told by the answer alone
                shown=_shown(metadata),
            )
        )


def _success(rendered: Rendered) -> Response:
    return {
        "content": [{"text": rendered.text}],
        "status": "success",
        "metadata": {"tool_type": TOOL_TYPE, **rendered.metadata},
    }


def _refused(error: Exception) -> Response:
    refusal = refusal_of(error)
    if refusal.says is not None:
        # Its own words are for whoever operates this: they name AWS's operations.
        logger.warning("a tool failed", exc_info=error)
    return {
        "content": [{"text": f"Error: {refusal.says or error}"}],
        "status": "error",
        "metadata": {
            "tool_type": TOOL_TYPE,
            "error_code": refusal.code,
            "error_details": refusal.details,
            **_later(error),
        },
    }


def _later(error: Exception) -> dict[str, object]:
    """When to call again, where that is known."""
    seconds = retry_after(error)
    return {} if seconds is None else {"retry_after_seconds": seconds}


def _shown(metadata: Mapping[str, object]) -> Iterator[object]:
    """The documents that the answer quotes, or has a link to."""
    sources = metadata.get("sources")
    if isinstance(sources, list):
        for each in sources:
            yield each["document_id"]
            yield from (other["document_id"] for other in each.get("other_sources", ()))
    if "download_url" in metadata:
        yield metadata["document_id"]
