"""A user's linked tools, and the knowledge bases that they search."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from stackroom.access.access_log import Access
from stackroom.access.identity import Caller
from stackroom.clock import NO_DEADLINE
from stackroom.model.records import DataSource
from stackroom.search.budget import Budget
from stackroom.search.linked_retrieval import LinkedKnowledgeBase, LinkedRetrieval
from stackroom.search.search import Retrieval
from stackroom_agents.user_agents.agent import KnowledgeBaseLink, LinkedTool, OtherTool
from stackroom_agents.user_agents.agent_repositories import Brief, Listener, ModelTurn
from stackroom_agents.user_agents.agent_run import AgentRun
from stackroom_agents.user_agents.agents import AgentDefinition, Agents, Models
from stackroom_agents.user_agents.asking import Asking
from stackroom_agents.user_agents.available_knowledge_bases import (
    AvailableKnowledgeBase,
    AvailableKnowledgeBases,
)
from stackroom_agents.user_agents.chats import Chats
from stackroom_agents.user_agents.runner import Runner
from stackroom_agents.user_agents.runs import NewRun, Runs
from tests.fakes.agents import (
    FakeAgentRunQueue,
    FakeAgentRuns,
    FakeAgents,
    FakeChats,
    FakeConversations,
)
from tests.fakes.caps import FakeCaps
from tests.fakes.clock import FakeClock
from tests.fakes.knowledge_base import AllStaying, FakeKnowledgeBase
from tests.fakes.pipeline import FakeCatalogs
from tests.fakes.place_maps import FakePlaceMaps
from tests.fakes.usage import FakeUsage, a_meter
from tests.support.records import a_catalog

ALICE = Caller("alice")


@dataclass
class KnowledgeBases:
    """Alice's catalog cat-1, Bob's cat-2, and a handbook for everyone that some groups may read."""

    pool: FakeKnowledgeBase = field(default_factory=FakeKnowledgeBase)
    handbook: FakeKnowledgeBase = field(default_factory=FakeKnowledgeBase)
    catalogs: FakeCatalogs = field(default_factory=FakeCatalogs)
    staying: AllStaying = field(default_factory=AllStaying)
    budget: Budget = field(default_factory=Budget)
    lines: list[Access] = field(default_factory=list)
    on_search: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        for user, key in (("alice", "cat-1"), ("bob", "cat-2")):
            self.catalogs.open(a_catalog(1, user, catalog_id=key, s3_prefix=f"{user}/{key}/"))
            source = DataSource(knowledge_base_id="KB1", data_source_id=f"DS-{key}")
            self.catalogs.place(key, source)

    @property
    def asking(self) -> Asking:
        shared = LinkedKnowledgeBase(
            knowledge_base_id="HANDBOOK01",
            knowledge_base=self.handbook,
            groups_in="allowed_groups",
        )
        available = AvailableKnowledgeBase(
            id="HANDBOOK01", name="Handbook", description="Rules", least_score=0.7
        )
        return Asking(
            available=AvailableKnowledgeBases(catalogs=self.catalogs, shared=(available,)),
            retrieval=Retrieval(
                pool={"KB1": self.pool},
                catalogs=self.catalogs,
                documents=self.staying,
                place_maps=FakePlaceMaps(),
                budget=self.budget,
            ),
            shared=LinkedRetrieval(linked=(shared,)),
            log=self.log,
        )

    def log(self, access: Access) -> None:
        self.lines.append(access)
        self.on_search()

    def ask(
        self, given: object, key: str = "cat-1", caller: Caller = ALICE, **config: Any
    ) -> dict[str, Any]:
        tool = a_tool(key, **config)
        return self.asking.answer(tool, given, caller, deadline=NO_DEADLINE)


def a_tool(key: str = "cat-1", **config: Any) -> LinkedTool:
    return LinkedTool(
        id="tool_kb_1_abcdefg",
        name="search_plans",
        description="Search Plans knowledge base",
        config=KnowledgeBaseLink(
            knowledge_base_id=key, knowledge_base_name="Plans", **{"default_min_score": 0, **config}
        ),
    )


MODEL = "amazon.nova-lite-v1:0"
QUESTION = NewRun(message="How many days of leave?")
Play = Callable[[Brief, Listener], None]


def turn(text: str = "", *, tokens: int = 10, is_last: bool = False) -> ModelTurn:
    return ModelTurn(text=text, input_tokens=tokens, output_tokens=1, seconds=0.5, is_last=is_last)


@dataclass
class Office:
    """Alice's agent, linked to her catalog."""

    clock: FakeClock = field(default_factory=FakeClock)
    bases: KnowledgeBases = field(default_factory=KnowledgeBases)
    book: FakeAgentRuns = field(default_factory=FakeAgentRuns)
    chats_book: FakeChats = field(default_factory=FakeChats)
    queue: FakeAgentRunQueue = field(default_factory=FakeAgentRunQueue)
    agents_book: FakeAgents = field(default_factory=FakeAgents)
    talk: FakeConversations = field(default_factory=FakeConversations)
    usage: FakeUsage = field(default_factory=FakeUsage)
    caps: FakeCaps = field(default_factory=FakeCaps)
    agent_id: str = ""

    def __post_init__(self) -> None:
        self.agent_id = self.agent(a_tool(), OtherTool(id="t", name="x", description="", type="y"))

    @property
    def agents(self) -> Agents:
        return Agents(book=self.agents_book, models=Models(usual=MODEL), now=self.clock)

    @property
    def runs(self) -> Runs:
        return Runs(
            agents=self.agents,
            book=self.book,
            chats=self.chats_book,
            queue=self.queue,
            now=self.clock,
        )

    @property
    def chats(self) -> Chats:
        return Chats(agents=self.agents, book=self.chats_book, runs=self.book, now=self.clock)

    @property
    def runner(self) -> Runner:
        return Runner(
            agents=self.agents_book,
            book=self.book,
            chats=self.chats_book,
            asking=self.bases.asking,
            conversations=self.talk,
            meter=a_meter(self.usage, self.caps, now=self.clock),
            now=self.clock,
        )

    def agent(self, *tools: LinkedTool | OtherTool) -> str:
        definition = AgentDefinition(name="Planner", model=MODEL, system_prompt="Be brief.")
        made = self.agents.create("alice", definition)
        return self.agents.changed("alice", made.id, lambda each: each.with_tools(tools)).id

    def start(self, **more: Any) -> AgentRun:
        return self.runs.start("alice", self.agent_id, QUESTION, **more)

    def carried_out(self, play: Play, **more: Any) -> AgentRun:
        self.talk.play = play
        run = self.start(**more)
        ended = self.runner.carry_out("alice", run.id)
        assert ended is not None
        assert ended == self.runs.get("alice", run.id)
        return ended
