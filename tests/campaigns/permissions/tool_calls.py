"""
Agents' calls of tools in the recorded run: one table, each call once, in this order.

A new tool gets its calls here. Arguments may name in braces what an earlier answer was kept as:
"{catalog}" is what a call with keep={"catalog": ("metadata", "catalog_id")} found there.
"""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any

import httpx2

from stackroom.model.records import DocumentStatus
from stackroom_client.calls import SEARCH as RETRIEVE
from tests.e2e.people import Person, eventually
from tests.gateway.mcp_client import call_tool

QUESTION = "Which harbour has a crane?"
_SHELF = "tools shelf"
_ID = ("metadata", "catalog_id")
_DOCUMENT = ("metadata", "document_id")

Answer = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """`also` is what somebody does with the answer, before the next call."""

    tool: str  # as the gateway has it: `target___tool`
    arguments: Mapping[str, object] = field(default_factory=dict)
    keep: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    also: Callable[[Person, Answer], object] = lambda person, answer: None


def _catalog(tool: str, **arguments: object) -> ToolCall:
    return ToolCall(tool=f"catalogs___{tool}", arguments=arguments)


def _upload(filename: str, text: str = "", **more: object) -> ToolCall:
    """Without a text: a form."""
    content = {"file_content": base64.b64encode(text.encode()).decode()} if text else {}
    arguments = {"catalog_id": "{catalog}", "filename": filename, **content, **more}
    return _catalog("upload_to_catalog", **arguments)


def _indexed(filename: str) -> Callable[[Person, Answer], object]:
    def wait(person: Person, answer: Answer) -> None:
        assert answer["status"] == "success", answer
        catalog_id = answer["metadata"]["catalog_id"]
        person.await_status(f"{catalog_id}/{filename}", DocumentStatus.INDEXED)

    return wait


def _send(person: Person, answer: Answer) -> None:
    """Through the form that was handed out, with the rights of whoever signed it."""
    form = answer["metadata"]
    sent = httpx2.post(
        form["upload_url"], data=form["upload_fields"], files={"file": b"A form came by post."}
    )
    assert sent.is_success, sent.text
    _indexed("form.txt")(person, answer)


def _download(person: Person, answer: Answer) -> None:
    assert httpx2.get(answer["metadata"]["download_url"]).is_success


def _forget_its_runs(person: Person, answer: Answer) -> None:
    """Once none is alive; then names of runs were used that the control table knows nothing of."""
    steps: Any = person.instance.client("stepfunctions")
    [machine] = steps.list_state_machines()["stateMachines"]
    alive = partial(
        steps.list_executions,
        stateMachineArn=machine["stateMachineArn"],
        statusFilter="RUNNING",
    )
    eventually(lambda: not alive()["executions"], "no run is alive")
    forget_runs(person)


def forget_runs(person: Person) -> None:
    """Set the control table back, so that the next run's name was used before."""
    table = person.instance.control_table
    control: Any = person.instance.client("dynamodb")
    for item in control.scan(TableName=table)["Items"]:
        if item["pk"]["S"].startswith("RUN#"):
            control.delete_item(TableName=table, Key={"pk": item["pk"], "sk": item["sk"]})


def _gone(person: Person, answer: Answer) -> None:
    eventually(lambda: not _has(person), "the catalog is gone")


def _has(person: Person) -> bool:
    listed = call_tool(person.instance.mcp_url, person.token(), "catalogs___list_catalogs", {})
    return any(each["catalog_name"] == _SHELF for each in listed["metadata"]["catalogs"])


TOOL_CALLS: tuple[ToolCall, ...] = (
    ToolCall(tool=RETRIEVE, arguments={"query": QUESTION, "top_k": 20}),
    ToolCall(tool=RETRIEVE, arguments={"query": QUESTION, "catalog_id": "{harbours}"}),
    ToolCall(tool=RETRIEVE, arguments={"query": QUESTION, "catalog_id": "none-of-theirs"}),
    replace(_catalog("create_catalog", catalog_name=_SHELF), keep={"catalog": _ID}),
    _catalog("create_catalog", catalog_name=_SHELF),
    _catalog("update_catalog", catalog_id="{catalog}", description="What stands on the quay."),
    _catalog("list_catalogs"),
    replace(
        _upload("crane.txt", "The crane is in Ghent."),
        keep={"document": _DOCUMENT},
        also=_indexed("crane.txt"),
    ),
    replace(_upload("form.txt"), also=_send),
    replace(_upload("form.txt", "Another form.", replace=True), also=_indexed("form.txt")),
    _upload("crane.txt", "Which crane?"),
    _catalog("list_catalog_documents", catalog_id="{catalog}"),
    _catalog("get_indexing_status", catalog_id="{catalog}"),
    _catalog("query_catalog", query=QUESTION, catalog_id="{catalog}"),
    _catalog("query_catalog", query=QUESTION),
    _catalog("select_catalog", catalog_id="{catalog}"),
    _catalog("query_catalog", query=QUESTION),
    _catalog("select_catalog", catalog_id="none"),
    _catalog("feedback", question=QUESTION, helpful=True, catalog_id="{catalog}", file="crane.txt"),
    _catalog("list_feedback", catalog_id="{catalog}"),
    _catalog("list_events", catalog_id="{catalog}"),
    _catalog("get_usage"),
    replace(
        _catalog("download_from_catalog", catalog_id="{catalog}", document_id="{document}"),
        also=_download,
    ),
    _catalog("query_catalog", query=QUESTION, catalog_id="{harbours}"),
    replace(_catalog("get_indexing_status", catalog_id="{catalog}"), also=_forget_its_runs),
    _catalog("delete_catalog_document", catalog_id="{catalog}", document_id="{document}"),
    replace(_upload("never sent.txt"), keep={"unsent": _DOCUMENT}),
    _catalog("delete_catalog_document", catalog_id="{catalog}", document_id="{unsent}"),
    _catalog("delete_catalog", catalog_id="{catalog}"),
    _catalog("upload_to_catalog", catalog_id="none-of-theirs", filename="a.txt"),
    replace(_catalog("delete_catalog", catalog_id="{catalog}", confirm=True), also=_gone),
)


def call_tools(person: Person, *, url: str | None = None) -> None:
    """Each of TOOL_CALLS in one session, through the local mode's gateway or another one."""
    token = person.token()
    kept: dict[str, object] = {"harbours": person.catalog("harbours").catalog_id}
    for each in TOOL_CALLS:
        arguments = {name: _filled(value, kept) for name, value in each.arguments.items()}
        answer = call_tool(url or person.instance.mcp_url, token, each.tool, arguments)
        for name, path in each.keep.items():
            kept[name] = reduce(lambda part, step: part[step], path, answer)
        each.also(person, answer)


def _filled(given: object, kept: Mapping[str, object]) -> object:
    if isinstance(given, str) and given[:1] == "{" and given[-1:] == "}":
        return kept[given[1:-1]]
    return given
