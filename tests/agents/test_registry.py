"""The knowledge bases that an agent was given, searched by the tool and by the plain function."""

import json
import subprocess
import sys
import textwrap
from typing import Any

import pytest
from strands import Agent

from examples.agent.scripted import Call
from stackroom_agents import registry
from stackroom_agents.registry import from_environment
from tests.agents.linked import LAWS, NEWS, FakeRetrieve, configured
from tests.agents.models import PlayedModel
from tests.functions.tools import text_of


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeRetrieve:
    made = FakeRetrieve()
    monkeypatch.setattr(registry, "client_of", made)
    return made


def ask(
    configuration: str, given: object, /, variables: dict[str, str] | None = None, **state: Any
) -> dict[str, Any]:
    """The result of one call, in the loop, as the agent's history has it."""
    known = from_environment({"KNOWLEDGE_BASES_CONFIG": configuration, **(variables or {})})
    model = PlayedModel(Call("retrieve_from_knowledge_base", given), "done")
    agent = Agent(model=model, tools=known.tools(), callback_handler=None)
    agent("go on", invocation_state=state)
    [result] = [
        block["toolResult"]
        for message in agent.messages
        for block in message["content"]
        if "toolResult" in block
    ]
    answer: dict[str, Any] = json.loads(json.dumps(result, allow_nan=False))
    return answer


def contents(answer: dict[str, Any]) -> set[str]:
    return {each["content"] for each in answer["results"]}


def test_without_an_id_all_are_searched_and_with_one_that_one_if_it_is_linked(
    fake: FakeRetrieve,
) -> None:
    fake.hold(LAWS, "leave by law")
    fake.hold(NEWS, "leave in the news")
    both = configured(LAWS, NEWS)

    everything = ask(both, {"query": "leave"})
    blank = ask(both, {"query": "leave", "knowledge_base_id": ""})
    one = ask(both, {"query": "leave", "knowledge_base_id": "NEWS000001"})
    fake.asked.clear()
    none = ask(both, {"query": "leave", "knowledge_base_id": "OTHER00001"})

    assert contents(everything) == contents(blank) == {"leave by law", "leave in the news"}
    assert everything["metadata"]["knowledge_bases_queried"] == ["LAWS000001", "NEWS000001"]
    assert contents(one) == {"leave in the news"}
    assert (none["success"], none["errorType"]) == (False, "KnowledgeBaseNotFound")
    assert text_of(none) == "Error: Knowledge base 'OTHER00001' not found"
    assert fake.asked == []


def test_a_source_is_told_by_its_address_or_its_id(fake: FakeRetrieve) -> None:
    page, wiki = {"url": "https://laws/leave.html"}, {"url": "https://wiki/"}
    fake.hold(LAWS, "leave by law\nand more", name="leave.pdf", score=0.83)
    fake.hold_elsewhere(LAWS, "leave by law", type="WEB", webLocation=page)
    fake.hold_elsewhere(LAWS, "more leave", type="CONFLUENCE", confluenceLocation=wiki)
    fake.hold_elsewhere(LAWS, "leave", type="CUSTOM", customDocumentLocation={"id": "law-7"})

    told = text_of(ask(configured(LAWS), {"query": "leave"}))

    assert "leave.pdf, s3://theirs/leave.pdf, score 0.83\n> leave by law\n> and more" in told
    assert "leave.html, https://laws/leave.html, score 0.40\n> leave by law" in told
    assert "an unnamed file, https://wiki/, score 0.40\n> more leave" in told
    assert "law-7, score 0.40\n> leave" in told


def test_one_that_fails_is_told_and_all_that_fail_are_an_error(fake: FakeRetrieve) -> None:
    fake.hold(LAWS, "leave by law")
    fake.failing = {"NEWS000001": "ThrottlingException"}
    both = configured(LAWS, NEWS)

    partial = ask(both, {"query": "leave"})
    fake.failing = {"LAWS000001": "AccessDeniedException", "NEWS000001": "ThrottlingException"}
    nothing = ask(both, {"query": "leave"})

    assert contents(partial) == {"leave by law"}
    assert text_of(partial).splitlines()[-1] == (
        "These knowledge bases didn't answer, so this may not be all: NEWS000001."
    )
    assert (nothing["success"], nothing["status"]) == (False, "error")
    assert nothing["errorType"] == "RetrievalFailed"
    failed = nothing["metadata"]["failed_knowledge_bases"]
    assert {each["knowledge_base_id"] for each in failed} == {"LAWS000001", "NEWS000001"}


def test_how_much_is_shown_is_configured_or_asked_for(fake: FakeRetrieve) -> None:
    fake.hold(LAWS, "best", name="a.txt", score=0.9, uploaded_at="2020-01-01T00:00:00Z")
    fake.hold(LAWS, "new1", name="b.txt", score=0.8, uploaded_at="2026-01-01T00:00:00Z")
    variables = {"RETRIEVE_MAX_TOKENS": "1", "RETRIEVE_PRIORITIZE_BY": "recency"}
    best = {"query": "q", "prioritize_by": "similarity", "max_tokens": 2}

    configured_so = ask(configured(LAWS), {"query": "q"}, variables=variables)
    asked_so = ask(configured(LAWS), best, variables=variables)

    assert contents(configured_so) == {"new1"}
    assert configured_so["metadata"]["omitted_results"] == 1
    assert [each["content"] for each in asked_so["results"]] == ["best", "new1"]


@pytest.mark.parametrize(
    "state", [{}, {"user_id": "../ann", "groups": ["hr"]}, {"user_id": "ann", "groups": "hr"}]
)
def test_without_a_verified_user_groups_are_not_searched(
    fake: FakeRetrieve, state: dict[str, Any]
) -> None:
    fake.hold(LAWS, "for hr", allowed_groups=["hr"])

    answer = ask(configured({**LAWS, "enableAcl": True}), {"query": "q"}, **state)

    assert (answer["success"], answer["errorType"]) == (False, "MissingIdentity")
    assert fake.asked == []


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "query: Field required. Allowed: What to look for"),
        ({"query": "q", "user_context": {"groups": ["hr"]}}, "user_context: no such argument. All"),
        ({"query": "q", "prioritize_by": "date"}, "'similarity', 'recency' or 'balanced'"),
    ],
)
def test_a_model_that_calls_with_nonsense_is_told_what_is_allowed(
    fake: FakeRetrieve, given: object, problem: str
) -> None:
    answer = ask(configured(LAWS), given, user_id="ann", groups=["staff"])

    assert (answer["status"], answer["errorType"]) == ("error", "ValidationError")
    assert problem in text_of(answer)
    assert fake.asked == []


def test_what_a_guardrail_blocked_and_that_nothing_was_found_is_told_in_a_sentence(
    fake: FakeRetrieve,
) -> None:
    fake.hold(LAWS, "leave by law")
    fake.hold(NEWS, "leave in the news")
    fake.blocked = {"LAWS000001"}
    guarded = {**LAWS, "guardrailId": "gr1"}

    alone = ask(configured(guarded), {"query": "leave"})
    both = ask(configured(guarded, NEWS), {"query": "leave"})
    nothing = ask(configured({**NEWS, "knowledgeBaseId": "EMPTY00001"}), {"query": "leave"})

    sentence = "A guardrail stepped in and blocked the question or what was found"
    assert (alone["success"], alone["metadata"]["guardrail_action"]) == (True, "INTERVENED")
    assert text_of(alone).startswith(sentence)
    assert "No relevant information" not in text_of(alone)  # nobody knows whether there is some
    assert sentence in text_of(both)
    assert contents(both) == {"leave in the news"}
    assert text_of(nothing) == "No relevant information found for your query."


@pytest.mark.processes
def test_the_example_for_programs_without_strands_runs_without_it() -> None:
    indented = str(registry.__doc__).split("by stackroom alone:\n")[1].split("\n\n`caller`")[0]
    program = f"""
import os, sys
sys.modules["strands"] = None  # importing it is an error
import stackroom.aws.session
from tests.agents.linked import LAWS, FakeRetrieve, configured
os.environ["KNOWLEDGE_BASES_CONFIG"] = configured(LAWS)
stackroom.aws.session.client = fake = FakeRetrieve()
fake.hold(LAWS, "thirty days")
{textwrap.dedent(indented)}
"""

    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert ended.stdout == "s3://theirs/a.txt thirty days\n", ended.stderr


def test_without_knowledge_bases_there_is_no_tool_and_the_prompt_is_the_users() -> None:
    for environ in ({}, {"KNOWLEDGE_BASES_CONFIG": ""}):
        known = from_environment(environ)

        assert known.tools() == []
        assert known.prompted("Grüße\r\n".encode()) == "Grüße\r\n"
