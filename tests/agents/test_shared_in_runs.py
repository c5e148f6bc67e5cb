"""
A knowledge base that a deployment shares: offered to everybody, linked, and searched in runs, by
the tenancy that its entry says (docs/decisions/0015 and 0017).
"""

import json

import pytest

from stackroom.agent_run import AgentRun, RunState
from stackroom.agents.agents import AgentDefinition
from stackroom.agents.links import NewLink
from stackroom.agents.runs import NewRun
from tests.agents.runner_world import CITES, MODEL, QUESTION, SEARCHES, SECRET, TOOL, World
from tests.agents.test_agent_runner import found, house, said, simulator

__all__ = ["house", "simulator"]
pytestmark = pytest.mark.processes  # of the simulator, on a port of this machine

RULES = f"Everybody reads: the pump is greased every 300 hours, and {SECRET} watch it."
OF_BOARD = f"For the board: the pump is greased every 400 hours, and {SECRET} watch it."


@pytest.fixture
def shared(house: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """Two of them: what everybody may read, and what members of a group may."""
    entries = [
        {
            "knowledgeBaseId": filled(house, "rules", RULES),
            "name": "Rules",
            "description": "What everybody reads",
        },
        {
            "knowledgeBaseId": filled(house, "board", OF_BOARD, allowed_groups=["board"]),
            "name": "Board",
            "description": "What the board reads",
            "enableAcl": True,
        },
    ]
    monkeypatch.setenv("KNOWLEDGE_BASES_CONFIG", json.dumps(entries))
    return house


def filled(house: World, prefix: str, text: str, **attributes: object) -> str:
    knowledge_base = house.simulated.knowledge_base()
    house.simulated.put(f"{prefix}/pump.txt", text, {"filename": "pump.txt", **attributes})
    source = house.simulated.data_source(knowledge_base, prefix=f"{prefix}/")
    job = house.simulated.sync(knowledge_base, source)
    assert job["statistics"]["numberOfNewDocumentsIndexed"] == 1
    return knowledge_base


def offered(house: World, user: str) -> dict[str, str]:
    """Ids by names."""
    available = house.use_cases.available_knowledge_bases
    return {each.name: each.id for each in available.of_user(user)}


def asked(house: World, user: str, knowledge_base_id: str, *groups: str) -> AgentRun:
    """By an agent of the user's own that is linked to it and to nothing else."""
    services = house.use_cases
    agent = services.agents.create(user, AgentDefinition(name="Fitter", model=MODEL))
    link = NewLink(
        knowledge_base_id=knowledge_base_id,
        tool_name=TOOL,
        tool_description="Search it",
        default_min_score=0.0,
    )
    services.agent_links.link(user, agent.id, link)
    run = services.agent_runs.start(user, agent.id, NewRun(message=QUESTION), groups=groups)
    assert house.deliver(house.handed_on()) == []
    return services.agent_runs.get(user, run.id)


def test_what_everybody_may_read_is_offered_behind_their_own_and_answers_in_runs(
    shared: World,
) -> None:
    shared.model_says(SEARCHES, CITES)
    assert list(offered(shared, "alice")) == ["Manuals", "Rules", "Board"]
    assert list(offered(shared, "bob")) == ["Rules", "Board"]

    run = asked(shared, "bob", offered(shared, "bob")["Rules"])

    assert run.state is RunState.SUCCEEDED
    assert "every 300 hours" in (run.answer or "")
    [search] = found(run)
    assert [each.content for each in search.passages] == [RULES]


def test_what_a_group_may_read_answers_its_members_alone(shared: World) -> None:
    board = offered(shared, "bob")["Board"]
    shared.model_says(SEARCHES, {"text": "Nothing says so."})
    outsider = asked(shared, "bob", board, "people")
    shared.model_says(SEARCHES, CITES)
    member = asked(shared, "bob", board, "people", "board")

    assert passages(outsider) == []
    assert SECRET not in json.dumps(outsider.model_dump(mode="json"))
    assert passages(member) == [OF_BOARD]
    assert "every 400 hours" in said(member)[-1]


def passages(run: AgentRun) -> list[str]:
    return [passage.content for each in found(run) for passage in each.passages]
