"""Users' agents, and knowledge bases as their tools."""

import json
import re
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from stackroom.errors import (
    Conflict,
    KnowledgeBaseNotFound,
    LimitReached,
    NotFound,
    ValidationError,
)
from stackroom.model.records import CatalogStatus
from stackroom_agents.user_agents.agent import Agent, OtherTool
from stackroom_agents.user_agents.agents import (
    MOST_AGENTS,
    AgentChanges,
    AgentDefinition,
    Agents,
    Models,
)
from stackroom_agents.user_agents.available_knowledge_bases import (
    AvailableKnowledgeBase,
    AvailableKnowledgeBases,
)
from stackroom_agents.user_agents.exchange import exported, imported
from stackroom_agents.user_agents.links import MOST_TOOLS, LinkChanges, Links, NewLink, tool_name_of
from tests.fakes.agents import TOOLS, FakeAgents, an_agent
from tests.fakes.pipeline import FakeCatalogs
from tests.support.records import NOW, a_catalog

DEFINITION = AgentDefinition(name="Planner", model="amazon.nova-lite-v1:0")
MODELS = Models(usual="amazon.nova-lite-v1:0", allowed=("amazon.nova-lite-v1:0", "m-2"))
SHARED = AvailableKnowledgeBase(id="KBSHARED01", name="Handbook", description="Everybody's")


@dataclass
class House:
    """Alice and Bob, each with a catalog."""

    book: FakeAgents = field(default_factory=FakeAgents)
    catalogs: FakeCatalogs = field(default_factory=FakeCatalogs)

    def __post_init__(self) -> None:
        self.catalog("alice", "cat-plans", "Plans")
        self.catalog("bob", "cat-letters", "Letters")

    @property
    def agents(self) -> Agents:
        return Agents(book=self.book, models=MODELS, now=lambda: NOW)

    @property
    def links(self) -> Links:
        available = AvailableKnowledgeBases(catalogs=self.catalogs, shared=(SHARED,))
        return Links(agents=self.agents, available=available, now=lambda: NOW)

    def catalog(
        self, user: str, id_: str, name: str, status: CatalogStatus = CatalogStatus.READY
    ) -> None:
        made = a_catalog(1, user, catalog_id=id_, name=name, status=status, document_count=3)
        self.catalogs.open(made)


@pytest.fixture
def house() -> House:
    return House()


@pytest.fixture
def agent(house: House) -> Agent:
    return house.agents.create("alice", DEFINITION)


def a_link(knowledge_base_id: str = "cat-plans", name: str = "search_plans") -> NewLink:
    return NewLink(
        knowledge_base_id=knowledge_base_id, tool_name=name, tool_description="Search plans"
    )


def test_linked_tool_has_the_agreed_members(house: House, agent: Agent) -> None:
    tool = house.links.link("alice", agent.id, a_link())

    assert house.agents.get("alice", agent.id).available_tools == (tool,)
    wire = tool.wire()
    assert re.fullmatch(rf"tool_kb_{int(NOW.timestamp() * 1000)}_[0-9a-z]{{7}}", wire["id"])
    assert wire["type"] == "knowledge_base"
    assert wire["config"] == {
        "knowledgeBaseId": "cat-plans",
        "knowledgeBaseName": "Plans",
        "defaultTopK": 5,
        "defaultMinScore": 0.7,
    }
    assert wire["schema"]["required"] == ["query"]
    top_k, min_score = (wire["schema"]["properties"][name] for name in ("topK", "minScore"))
    assert (top_k["default"], top_k["minimum"], top_k["maximum"]) == (5, 1, 20)
    assert (min_score["default"], min_score["minimum"], min_score["maximum"]) == (0.7, 0, 1)


@pytest.mark.parametrize("knowledge_base_id", ["cat-letters", "cat-none", "cat-going"])
def test_foreign_missing_or_deleting_knowledge_base_is_not_found(
    house: House, agent: Agent, knowledge_base_id: str
) -> None:
    house.catalog("alice", "cat-going", "Going", CatalogStatus.DELETING)

    with pytest.raises(KnowledgeBaseNotFound):
        house.links.link("alice", agent.id, a_link(knowledge_base_id))
    with pytest.raises(NotFound):
        house.links.link("bob", agent.id, a_link("cat-letters"))
    assert house.agents.get("alice", agent.id) == agent


def test_a_knowledge_base_is_linked_once_and_a_name_used_once(house: House, agent: Agent) -> None:
    house.links.link("alice", agent.id, a_link())

    with pytest.raises(Conflict, match=r"^KB already linked$"):
        house.links.link("alice", agent.id, a_link(name="search_plans_2"))
    with pytest.raises(Conflict):
        house.links.link("alice", agent.id, a_link(SHARED.id))


def test_change_of_a_link_keeps_unnamed_fields(house: House, agent: Agent) -> None:
    tool = house.links.link("alice", agent.id, a_link())

    changed = house.links.change("alice", agent.id, tool.id, LinkChanges(default_top_k=12))

    assert changed.config.default_top_k == 12
    expected = tool.model_copy(
        update={"config": tool.config.model_copy(update={"default_top_k": 12})}
    )
    assert changed == expected
    assert house.agents.get("alice", agent.id).available_tools == (expected,)


def test_missing_tool_or_one_of_another_type_is_refused(house: House, agent: Agent) -> None:
    other = OtherTool(id="t1", name="n1", description="", type="http")
    house.agents.changed("alice", agent.id, lambda each: each.with_tools((other,)))

    with pytest.raises(NotFound):
        house.links.remove("alice", agent.id, "t2")
    with pytest.raises(NotFound):
        house.links.change("alice", agent.id, "t2", LinkChanges(default_top_k=12))
    with pytest.raises(Conflict, match="Not a KB tool"):
        house.links.change("alice", agent.id, "t1", LinkChanges(default_top_k=12))
    house.links.remove("alice", agent.id, "t1")
    assert house.agents.get("alice", agent.id).available_tools == ()


def test_tools_per_agent_and_agents_per_user_are_limited(house: House, agent: Agent) -> None:
    full = tuple(
        OtherTool(id=f"t{n}", name=f"n{n}", description="", type="http") for n in range(MOST_TOOLS)
    )
    house.agents.changed("alice", agent.id, lambda each: each.with_tools(full))
    for _ in range(MOST_AGENTS - 1):
        house.agents.create("alice", DEFINITION)

    with pytest.raises(LimitReached):
        house.links.link("alice", agent.id, a_link())
    with pytest.raises(LimitReached):
        house.agents.create("alice", DEFINITION)
    assert house.agents.create("bob", DEFINITION).user_id == "bob"


def test_an_agent_is_edited_and_removed_by_its_user_alone(house: House, agent: Agent) -> None:
    later = Agents(book=house.book, models=MODELS, now=lambda: NOW + timedelta(hours=1))
    changes = AgentChanges(description="Plans things", system_prompt="")

    with pytest.raises(NotFound):
        later.edit("bob", agent.id, changes)
    with pytest.raises(NotFound):
        later.remove("bob", agent.id)
    edited = later.edit("alice", agent.id, changes)

    assert (edited.name, edited.description, edited.version) == ("Planner", "Plans things", 2)
    assert edited.updated_at == NOW + timedelta(hours=1)
    later.remove("alice", agent.id)
    with pytest.raises(NotFound):
        later.get("alice", agent.id)


def test_own_and_shared_knowledge_bases_are_available(house: House) -> None:
    house.catalog("alice", "cat-art", "art")
    available = house.links.available

    assert [each.name for each in available.of_user("alice")] == ["art", "Plans", "Handbook"]
    assert [each.name for each in available.of_user("alice", limit=1, offset=1)] == ["Plans"]
    [plans] = [each for each in available.of_user("alice") if each.name == "Plans"]
    assert plans.document_count == 3


FILE = exported(an_agent())


def changed(**of_agent: Any) -> str:
    return json.dumps({**FILE, "agent": {**FILE["agent"], **of_agent}})


def test_exported_agent_can_be_imported() -> None:
    definition, tools = imported(json.dumps(FILE))

    assert tools == TOOLS
    agent = an_agent()
    assert dict(definition) == {
        name: getattr(agent, name) for name in ("name", "description", "model", "system_prompt")
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "not JSON"),
        ("[]", "the whole: "),
        (json.dumps({**FILE, "version": 2}), "version: "),
        (changed(name="a\u202eb"), "agent.name: "),
        (changed(available_tools=[FILE["agent"]["available_tools"][1]] * 2), "the same id"),
        (changed(system_prompt="x" * 300_000), "larger than 200 KB"),
    ],
)
def test_invalid_agent_file_is_refused_with_its_mistake(text: str, told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        imported(text)


@pytest.mark.parametrize(
    ("name", "taken", "called"),
    [
        ("Plans", (), "search_plans"),
        ("\N{EM DASH}", (), "search_catalog"),
        ("- _ -", ("search_catalog",), "search_catalog_2"),
        ("!?", ("search_catalog", "search_catalog_2"), "search_catalog_3"),
    ],
)
def test_tool_name_is_made_from_the_knowledge_bases_name(
    name: str, taken: tuple[str, ...], called: str
) -> None:
    assert tool_name_of(name, taken=taken) == called


def test_agent_gets_the_default_model_or_an_allowed_one(house: House) -> None:
    usual = house.agents.create("alice", AgentDefinition(name="Planner"))
    other = house.agents.create("alice", AgentDefinition(name="Planner", model="m-2"))
    with pytest.raises(ValidationError, match="Model: Allowed: amazon"):
        house.agents.create("alice", AgentDefinition(name="Planner", model="m-3"))
    with pytest.raises(ValidationError, match="Model: Allowed: "):
        house.agents.edit("alice", other.id, AgentChanges(model="m-3"))

    assert (usual.model, other.model) == ("amazon.nova-lite-v1:0", "m-2")
    assert house.agents.get("alice", other.id) == other
