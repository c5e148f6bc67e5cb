"""An agent with linked knowledge bases, whose model and whose searches the simulator answers."""

import json
from typing import Any

import pytest
from strands import Agent
from strands.models.bedrock import BedrockModel

from stackroom_agents import registry
from stackroom_agents.registry import from_environment
from stackroom_local.simulator import script_orders
from tests.simulator.world import REGION, World

QUESTION = "How often is the pump greased?"
MODEL = "amazon.nova-pro-v1:0"  # that no other test gives a script
SCRIPTED = "us.amazon.nova-pro-v1:0"
DOCUMENTS = {
    "manual.txt": "Pumps stand in the cellar. By the manual the pump is greased every 200 hours.",
    "news.txt": "What is new: old pumps are greased every 100 hours by the crew.",
}


@pytest.fixture
def configuration(world: World, monkeypatch: pytest.MonkeyPatch) -> str:
    """Two knowledge bases, each with a document of its own."""
    monkeypatch.setattr(registry, "client_of", lambda _service: world.runtime)
    entries = []
    for key, text in DOCUMENTS.items():
        world.put(f"{key}/{key}", text)
        knowledge_base = world.knowledge_base()
        world.sync(knowledge_base, world.data_source(knowledge_base, prefix=f"{key}/"))
        entries.append(
            {"knowledgeBaseId": knowledge_base, "name": key, "description": f"Holds {key}."}
        )
    return json.dumps(entries)


def asked(world: World, configuration: str, model_id: str, *, streaming: bool) -> tuple[str, Any]:
    """The answer, and what the agent's history has of the search."""
    known = from_environment({"KNOWLEDGE_BASES_CONFIG": configuration})
    model = BedrockModel(
        model_id=model_id, streaming=streaming, endpoint_url=world.endpoint, region_name=REGION
    )
    agent = Agent(model=model, tools=known.tools(), callback_handler=None)
    answer = agent(QUESTION)
    return str(answer).strip(), agent.messages[2]["content"][0]["toolResult"]


@pytest.mark.parametrize("streaming", [False, True])
def test_the_stand_in_answers_from_both_knowledge_bases_and_cites_them(
    world: World, configuration: str, streaming: bool
) -> None:
    answer, found = asked(world, configuration, MODEL, streaming=streaming)

    assert found["status"] == "success"
    assert answer.startswith("Extracted, not generated")
    for fact, key in (("every 200 hours. [", "manual.txt"), ("by the crew. [", "news.txt")):
        _, _, cited = answer.partition(fact)
        assert cited.startswith(f"{key}, s3://{world.bucket}/{key}/{key}]")


def test_a_script_cites_what_was_really_found(world: World, configuration: str) -> None:
    cites = {
        "text": "{{often}} ({{first}}), old ones more often ({{second}}).",
        "quotes": {
            "often": "every 2\\d+ hours",
            "first": "s3://\\S+manual.txt",
            "second": "s3://\\S+news.txt",
        },
    }
    searches = {
        "uses": [{"name": "retrieve_from_knowledge_base", "input": {"query": "{{question}}"}}]
    }
    script_orders.order(
        world.endpoint, {"model": SCRIPTED, "where": QUESTION, "turns": [searches, cites]}
    )

    answer, _ = asked(world, configuration, SCRIPTED, streaming=False)

    manual, news = (f"s3://{world.bucket}/{key}/{key}" for key in DOCUMENTS)
    assert answer == f"every 200 hours ({manual}), old ones more often ({news})."
