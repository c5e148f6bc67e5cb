"""The ids in addresses: what can't be one of ours is as unknown as one that never was."""

import re
from collections.abc import Callable

from stackroom.errors import (
    CatalogNotFound,
    DocumentNotFound,
    NotFound,
)
from stackroom_console.problems import NOT_FOUND, Refused
from stackroom_console.request import Request

_CATALOG = re.compile(r"cat-[0-9a-f]{24}")
_DOCUMENT = re.compile(r"doc-[0-9a-f]{24}")
_RECEIPT = re.compile(r"rcpt-[0-9TZ.]{10,40}-[0-9a-f]{8}")
_AGENT = re.compile(r"agent-[0-9a-f]{24}")
_CHAT = re.compile(r"chat-[0-9a-f]{11,12}[0-9a-f]{16}")
_RUN = re.compile(r"run-[0-9a-f]{11,12}[0-9a-f]{16}")
_LONGEST_TOLD = 40


def is_catalog(text: str) -> bool:
    return _CATALOG.fullmatch(text) is not None


def catalog_id(request: Request) -> str:
    """Raises CatalogNotFound."""
    return _in_path(request, "catalog_id", _CATALOG, CatalogNotFound)


def document_id(request: Request) -> str:
    """Raises DocumentNotFound."""
    return _in_path(request, "document_id", _DOCUMENT, DocumentNotFound)


def chosen_documents(request: Request) -> list[str]:
    """
    Return the documents whose boxes of the form are checked; a box is named for its document's id.
    """
    return [name for name in request.form if _DOCUMENT.fullmatch(name)]


def receipt_id(request: Request) -> str:
    return _in_path(request, "receipt_id", _RECEIPT, lambda _: Refused(NOT_FOUND))


def agent_id(request: Request) -> str:
    """Raises NotFound."""
    return agent_id_in(request.path["agent_id"])


def agent_id_in(given: str) -> str:
    """The same of what a form says."""
    if not _AGENT.fullmatch(given):
        raise NotFound("Agent")
    return given


def chat_id(request: Request) -> str:
    """Raises NotFound."""
    return _in_path(request, "chat_id", _CHAT, lambda _: NotFound("Chat", "Conversation"))


def is_run(text: str) -> bool:
    return _RUN.fullmatch(text) is not None


def run_id(request: Request) -> str:
    """Raises NotFound."""
    return _in_path(request, "run_id", _RUN, lambda _: NotFound("AgentRun", "Run"))


def _in_path(
    request: Request, name: str, form: re.Pattern[str], unknown: Callable[[str], Exception]
) -> str:
    given = request.path[name]
    if not form.fullmatch(given):
        raise unknown(given[:_LONGEST_TOLD])
    return given


def after_catalog(request: Request) -> str | None:
    """The catalog after which a page of a list goes on."""
    return _after(request, _CATALOG)


def after_document(request: Request) -> str | None:
    return _after(request, _DOCUMENT)


def _after(request: Request, form: re.Pattern[str]) -> str | None:
    given = request.query.get("after")
    if given is not None and not form.fullmatch(given):
        raise Refused(NOT_FOUND)
    return given
