"""Strands agents' tools: their descriptions, callers and log lines."""

import json
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any

import pytest
from strands import Agent

from examples.agent.scripted import Call, Script, ScriptedModel
from stackroom.aws import session
from stackroom.search.search_arguments import RETRIEVE_FROM_KNOWLEDGE_BASE
from stackroom.tools.tools import TOOLS
from stackroom_agents import configuration
from stackroom_agents.catalog_tools import catalog_tools
from tests.agents.conftest import Surfaces
from tests.agents.twins import call_in_process
from tests.functions.tools import text_of

_IDENTITY = {"user_id", "user", "session_id", "session", "groups", "tool_context", "context"}

VARIABLES = {
    "ANSWER_MODEL_ARN": "arn:aws:bedrock:us-east-1::foundation-model/m",
    "KB_CATALOG_TABLE": "catalogs",
    "KB_CONTROL_TABLE": "control",
    "KB_DOCS_BUCKET": "docs",
    "KB_POOL": json.dumps([{"knowledge_base_id": "KB1", "data_source_id": "DS1"}]),
    "STATE_MACHINE_ARN": "arn:aws:states:us-east-1:1:stateMachine:ingest",
}


class _Unused:
    """Use cases for tools that nobody calls."""


def test_each_tool_is_described_by_its_definition_and_by_nothing_else() -> None:
    agent = Agent(model=ScriptedModel(_silent()), tools=[*catalog_tools(_Unused())])  # type: ignore[arg-type]

    described = {each["name"]: each for each in agent.tool_registry.get_all_tool_specs()}

    definitions = [each.definition() for each in (*TOOLS, RETRIEVE_FROM_KNOWLEDGE_BASE)]
    assert list(described) == [each["name"] for each in definitions]
    for definition in definitions:
        spec = described[str(definition["name"])]
        schema: Any = definition["inputSchema"]
        assert spec["description"] == definition["description"]
        # Strands adds an empty list of what is required, where nothing is.
        assert spec["inputSchema"]["json"] == {"required": [], **schema}
        assert not _IDENTITY & schema["properties"].keys()


def test_the_caller_is_the_invocation_state_s_whatever_the_arguments_say(
    surfaces: Surfaces,
) -> None:
    made = surfaces.gateway.create("Mine")

    own = call_in_process("get_indexing_status", {"catalog_id": made}, {"user_id": "gates"})
    foreign = call_in_process("get_indexing_status", {"catalog_id": made}, {"user_id": "twins"})
    forged = call_in_process(
        "get_indexing_status", {"catalog_id": made, "user_id": "gates"}, {"user_id": "twins"}
    )

    assert own["status"] == "success"
    assert text_of(foreign) == f"Error: Catalog '{made}' not found"
    assert text_of(forged) == "Error: user_id: no such argument. Allowed: catalog_id"
    # A call around the agent's loop has no user but an argument.
    agent = Agent(model=ScriptedModel(_silent()), tools=[*catalog_tools()])
    assert agent.tool.list_catalogs()["metadata"]["error_code"] == "MISSING_IDENTITY"
    claiming = agent.tool.list_catalogs(user_id="gates")
    assert claiming["metadata"]["error_code"] == "VALIDATION_ERROR"


def test_each_tool_call_logs_one_line_without_text(
    surfaces: Surfaces, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "stackroom_agents")

    made = surfaces.in_process.create("Secret name")
    surfaces.in_process.call("query_catalog", query="secret question", catalog_id=made)
    call_in_process("list_catalogs", {"user_id": "alice"}, {})

    lines = [vars(each) for each in caplog.records if each.name == "stackroom_agents.tool_context"]
    assert [each["message"] for each in lines] == ["catalog accessed"] * 3
    told = [
        (each["tool"], each["outcome"], each["user_id"], each["session_id"], each["catalog_id"])
        for each in lines
    ]
    assert told == [
        ("create_catalog", "success", "twins", "session-1", made),
        ("query_catalog", "CATALOG_EMPTY", "twins", "session-1", made),
        ("unknown", "MISSING_IDENTITY", None, None, None),  # as behind the gateway
    ]
    assert all(each["latency_ms"] >= 0 for each in lines)
    assert not any("ecret" in str(each) for each in lines)


def test_clients_are_made_one_after_another_however_many_tools_ask(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    making = Lock()

    def make(service: str) -> str:
        assert making.acquire(blocking=False), "two are made at once"
        time.sleep(0.01)
        making.release()
        return service

    monkeypatch.setattr(session, "client", make)
    client = configuration.from_environment(VARIABLES).client

    with ThreadPoolExecutor(8) as tools:
        assert list(tools.map(client, ["s3"] * 16)) == ["s3"] * 16


def _silent() -> Script:
    yield Call("list_catalogs", {})
    return "done"


def test_by_a_project_s_name_the_settings_are_its_functions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    deployed = {
        "acme-retrieve": {"RETRIEVE_MAX_TOKENS": "77", "RETRIEVE_SHARING": "on"},
        "acme-catalog-tools": VARIABLES,
    }

    class Lambda:
        def get_function_configuration(self, *, FunctionName: str) -> dict[str, Any]:  # noqa: N803
            return {"Environment": {"Variables": deployed[FunctionName]}}

    monkeypatch.setattr(session, "client", {"lambda": Lambda()}.__getitem__)

    settings: Any = configuration.from_project("acme").settings

    assert (settings.kb_docs_bucket, settings.retrieve_max_tokens) == ("docs", 77)
    assert settings.retrieve_sharing == "on"
