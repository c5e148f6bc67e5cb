"""Every way of calling the console, one line each; the tests of access are made from this table."""

from stackroom_console import agents_api
from stackroom_console.endpoint import MAX_BODY, Answer, Audience, Endpoint, EndpointKind, Method
from stackroom_console.pages import (
    agent_pages,
    agent_test,
    agent_tool_dialogs,
    ask_page,
    assistant_page,
    catalog_pages,
    catalogs_page,
    chat_page,
    connect_page,
    document_pages,
    example_questions,
    feedback_forms,
    file_names,
    growing_answer,
    operations_page,
    sample_catalog,
    sign_in_page,
    text_page,
    theme,
)

# The lines of the route table that are about agents: their pages, and their API.

_BUILDER = "/agents/{agent_id}"
_LINK = _BUILDER + "/knowledge-bases/{knowledge_base_id}"
_CHAT = _BUILDER + "/chat/{chat_id}"
_TOOL = _BUILDER + "/tools/{tool_id}"
_AGENTS = "/api/agents"
_AGENT = _AGENTS + "/{agent_id}"
_LINKED = _AGENT + "/knowledge-base-tools"
_RUN = "/api/runs/{run_id}"
_ANSWERED = 4 * MAX_BODY  # with the longest answer, in the encoding of forms
_PROMPTED = 2 * MAX_BODY  # with the longest prompt, in the encoding of forms
_AGENT_FILE = 3 * 200 * 1024  # bytes: text of exchange.LARGEST, in the encoding of forms


def _api(method: Method, path: str, answer: Answer) -> Endpoint:
    return Endpoint(method=method, path=path, answer=answer, kind=EndpointKind.API)


AGENT_ROUTES = (
    Endpoint(method="GET", path="/chat", answer=assistant_page.page),
    Endpoint(method="POST", path="/chat", answer=assistant_page.begin),
    Endpoint(
        method="POST",
        path="/chat/continue",
        answer=assistant_page.resume,
        max_body=_ANSWERED,
        reads="ask",
    ),
    Endpoint(method="GET", path="/agents", answer=agent_pages.page),
    Endpoint(method="GET", path="/agents/new", answer=agent_pages.blank),
    Endpoint(method="POST", path="/agents", answer=agent_pages.create, max_body=_PROMPTED),
    Endpoint(method="GET", path="/agents/import", answer=agent_pages.import_dialog),
    Endpoint(
        method="POST", path="/agents/import", answer=agent_pages.import_agent, max_body=_AGENT_FILE
    ),
    Endpoint(method="GET", path="/tools-config.json", answer=agent_pages.tools_configuration),
    Endpoint(method="GET", path=_BUILDER, answer=agent_pages.builder),
    Endpoint(method="POST", path=_BUILDER, answer=agent_pages.save, max_body=_PROMPTED),
    Endpoint(method="GET", path=f"{_BUILDER}/delete", answer=agent_pages.removal),
    Endpoint(method="POST", path=f"{_BUILDER}/delete", answer=agent_pages.remove),
    Endpoint(method="POST", path=f"{_BUILDER}/test", answer=agent_test.ask),
    Endpoint(method="POST", path=f"{_BUILDER}/test/over", answer=agent_test.start_over),
    Endpoint(method="GET", path=f"{_BUILDER}/export", answer=agent_pages.export),
    Endpoint(method="GET", path=f"{_BUILDER}/chat", answer=chat_page.blank),
    Endpoint(method="POST", path=f"{_BUILDER}/chat", answer=chat_page.begin),
    Endpoint(method="GET", path=f"{_BUILDER}/chat/single", answer=chat_page.single),
    Endpoint(method="GET", path=_CHAT, answer=chat_page.page),
    Endpoint(method="POST", path=_CHAT, answer=chat_page.ask),
    Endpoint(method="GET", path=f"{_CHAT}/part", answer=chat_page.part),
    Endpoint(method="GET", path=f"{_CHAT}/rename", answer=chat_page.renaming),
    Endpoint(method="POST", path=f"{_CHAT}/rename", answer=chat_page.rename),
    Endpoint(method="GET", path=f"{_CHAT}/delete", answer=chat_page.removal),
    Endpoint(method="POST", path=f"{_CHAT}/delete", answer=chat_page.remove),
    Endpoint(method="POST", path="/runs/{run_id}/cancel", answer=chat_page.cancel),
    Endpoint(method="POST", path="/runs/{run_id}/feedback", answer=feedback_forms.on_run),
    Endpoint(method="GET", path=f"{_BUILDER}/knowledge-bases", answer=agent_tool_dialogs.choice),
    Endpoint(
        method="POST", path=f"{_BUILDER}/knowledge-bases", answer=agent_tool_dialogs.quick_add
    ),
    Endpoint(method="GET", path=_LINK, answer=agent_tool_dialogs.configuration),
    Endpoint(method="POST", path=_LINK, answer=agent_tool_dialogs.add),
    Endpoint(method="GET", path=f"{_TOOL}/edit", answer=agent_tool_dialogs.editing),
    Endpoint(method="POST", path=f"{_TOOL}/edit", answer=agent_tool_dialogs.edit),
    Endpoint(method="GET", path=f"{_TOOL}/delete", answer=agent_tool_dialogs.removal),
    Endpoint(method="POST", path=f"{_TOOL}/delete", answer=agent_tool_dialogs.remove),
    _api("GET", _AGENTS, agents_api.listed),
    _api("POST", _AGENTS, agents_api.created),
    _api("GET", _AGENT, agents_api.shown),
    _api("PATCH", _AGENT, agents_api.edited),
    _api("DELETE", _AGENT, agents_api.removed),
    _api("GET", f"{_AGENT}/available-knowledge-bases", agents_api.available),
    _api("POST", _LINKED, agents_api.linked),
    _api("PATCH", f"{_LINKED}/{{tool_id}}", agents_api.changed),
    _api("DELETE", f"{_AGENT}/tools/{{tool_id}}", agents_api.unlinked),
    _api("POST", f"{_AGENT}/runs", agents_api.started),
    _api("GET", f"{_AGENT}/runs", agents_api.runs_listed),
    _api("GET", _RUN, agents_api.run_shown),
    _api("POST", f"{_RUN}/cancel", agents_api.cancelled),
)


_CATALOG = "/catalogs/{catalog_id}"
_DOCUMENT = f"{_CATALOG}/documents/{{document_id}}"


def _for_operators(path: str, answer: Answer) -> Endpoint:
    return Endpoint(
        method="GET", path=path, answer=answer, audience=Audience.OPERATORS, reads="operations"
    )


ROUTES: tuple[Endpoint, ...] = (
    Endpoint(method="GET", path="/", answer=sign_in_page.front, audience=Audience.ANYONE),
    Endpoint(method="GET", path="/sign-in", answer=sign_in_page.page, audience=Audience.ANYONE),
    Endpoint(
        method="GET", path="/sign-in/begin", answer=sign_in_page.begin, audience=Audience.ANYONE
    ),
    Endpoint(
        method="GET", path="/sign-in/callback", answer=sign_in_page.end, audience=Audience.ANYONE
    ),
    Endpoint(method="POST", path="/sign-out", answer=sign_in_page.sign_out),
    Endpoint(method="POST", path="/sign-out/everywhere", answer=sign_in_page.sign_out_everywhere),
    Endpoint(method="POST", path="/theme", answer=theme.choose),
    Endpoint(method="GET", path="/catalogs", answer=catalogs_page.list_page),
    Endpoint(method="GET", path="/catalogs/new", answer=catalogs_page.creation),
    Endpoint(method="GET", path="/catalogs/part", answer=catalogs_page.list_part),
    Endpoint(method="POST", path="/catalogs", answer=catalogs_page.create),
    Endpoint(method="POST", path="/catalogs/sample", answer=sample_catalog.add),
    Endpoint(method="GET", path=_CATALOG, answer=catalog_pages.page),
    Endpoint(method="GET", path=f"{_CATALOG}/part", answer=catalog_pages.part),
    Endpoint(method="GET", path=f"{_CATALOG}/edit", answer=catalogs_page.editing),
    Endpoint(method="POST", path=f"{_CATALOG}/edit", answer=catalogs_page.edit),
    Endpoint(method="GET", path=f"{_CATALOG}/delete", answer=catalogs_page.deletion),
    Endpoint(method="POST", path=f"{_CATALOG}/delete", answer=catalogs_page.delete),
    Endpoint(method="POST", path=f"{_CATALOG}/retry", answer=catalog_pages.retry_failed),
    Endpoint(method="POST", path=f"{_CATALOG}/selected", answer=catalog_pages.selected),
    Endpoint(
        method="POST", path=f"{_CATALOG}/selected/delete", answer=catalog_pages.delete_selected
    ),
    Endpoint(
        method="POST",
        path=f"{_CATALOG}/uploads",
        answer=document_pages.upload,
        kind=EndpointKind.API,
    ),
    Endpoint(method="GET", path=_DOCUMENT, answer=document_pages.page, reads="show_document"),
    Endpoint(method="GET", path=f"{_DOCUMENT}/part", answer=document_pages.part),
    Endpoint(
        method="GET",
        path=f"{_DOCUMENT}/passages/part",
        answer=document_pages.passages_part,
        reads="show_document",
    ),
    Endpoint(method="POST", path=f"{_DOCUMENT}/ingest-again", answer=document_pages.ingest_again),
    Endpoint(
        method="GET", path=f"{_DOCUMENT}/file", answer=document_pages.open_file, reads="open_file"
    ),
    Endpoint(method="GET", path=f"{_DOCUMENT}/text", answer=text_page.page, reads="read_text"),
    Endpoint(method="POST", path=f"{_DOCUMENT}/retry", answer=document_pages.retry),
    Endpoint(method="GET", path=f"{_DOCUMENT}/delete", answer=document_pages.deletion),
    Endpoint(method="POST", path=f"{_DOCUMENT}/delete", answer=document_pages.delete),
    Endpoint(
        method="GET", path="/ask", answer=ask_page.page, reads="ask", reads_when=ask_page.is_asked
    ),
    Endpoint(method="GET", path="/connect", answer=connect_page.page),
    Endpoint(method="POST", path="/ask", answer=ask_page.ask, reads="ask"),
    Endpoint(method="GET", path="/ask/examples/part", answer=example_questions.part),
    Endpoint(method="GET", path="/ask/files/part", answer=file_names.part),
    Endpoint(method="GET", path="/ask/growing/part", answer=growing_answer.part),
    Endpoint(method="POST", path="/ask/threshold", answer=ask_page.save_threshold),
    Endpoint(method="POST", path="/ask/feedback", answer=feedback_forms.on_answer),
    Endpoint(method="GET", path="/ask/test-questions", answer=feedback_forms.page),
    Endpoint(method="POST", path="/ask/test-questions/remove", answer=feedback_forms.remove),
    Endpoint(method="GET", path="/receipts/{receipt_id}", answer=document_pages.receipt_page),
    Endpoint(method="GET", path="/receipts/{receipt_id}/part", answer=document_pages.receipt_part),
    _for_operators("/operations", operations_page.page),
    _for_operators("/operations/part", operations_page.part),
    *AGENT_ROUTES,
)
