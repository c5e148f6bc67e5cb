"""Searching knowledge bases that an agent was given: whose passages, in which order, how late."""

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any

import pytest

from stackroom.access.identity import Caller
from stackroom.access.tenancy import Everyone
from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.errors import MissingIdentity, RetrievalFailed
from stackroom.model.filters import AnyOf, Has, Lists
from stackroom.model.passages import Passage, Retrieved
from stackroom.search.linked_retrieval import LinkedKnowledgeBase, LinkedRetrieval
from stackroom.search.ranking import Relevance
from stackroom.search.replies import Query, Replies, SearchScope
from stackroom.search.results import SearchAnswer
from stackroom.search.search import ask_all
from stackroom.search.search_arguments import RETRIEVE_FROM_KNOWLEDGE_BASE
from tests.fakes.knowledge_base import FakeKnowledgeBase

NOBODY_KNOWN = None


class ForeignBase(FakeKnowledgeBase):
    """A knowledge base of another's making: its passages have none of our attributes."""

    def hold(
        self,
        text: str,
        *,
        name: str = "a.txt",
        attributes: Mapping[str, object] | None = None,
        score: float = 0.5,
    ) -> None:
        self.passages.append(
            Passage(text=text, score=score, uri=f"s3://theirs/{name}", attributes=attributes or {})
        )


@pytest.fixture
def laws() -> ForeignBase:
    return ForeignBase()


@pytest.fixture
def news() -> ForeignBase:
    return ForeignBase()


def linked(
    knowledge_base_id: str, knowledge_base: ForeignBase, **options: Any
) -> LinkedKnowledgeBase:
    return LinkedKnowledgeBase(
        knowledge_base_id=knowledge_base_id, knowledge_base=knowledge_base, **options
    )


def search(
    *bases: LinkedKnowledgeBase,
    caller: Caller | None = NOBODY_KNOWN,
    deadline: Deadline = NO_DEADLINE,
    **arguments: object,
) -> SearchAnswer:
    asked = RETRIEVE_FROM_KNOWLEDGE_BASE.parse({"query": "annual leave", **arguments})
    return LinkedRetrieval(linked=bases).search(asked, caller, deadline=deadline)


def contents(answer: SearchAnswer) -> list[str]:
    return [result.content for result in answer.results]


def test_broken_adapter_spares_other_answers_and_logs_no_question(
    laws: ForeignBase, news: ForeignBase, caplog: pytest.LogCaptureFixture
) -> None:
    broken = ForeignBase()
    broken.fails("retrieve", LookupError("nothing for annual leave"))
    laws.hold("annual leave is a right")

    answer = search(linked("LAWS", laws), linked("NEWS", broken))

    assert contents(answer) == ["annual leave is a right"]
    assert answer.failures == {"NEWS": "Retrieve answered LookupError"}
    [record] = caplog.records
    assert vars(record)["error_type"] == "LookupError"
    assert "in fail" in vars(record)["raised_at"]
    assert "annual leave" not in str(vars(record))


def test_each_passage_names_the_knowledge_base_that_it_is_from(
    laws: ForeignBase, news: ForeignBase
) -> None:
    laws.hold("annual leave is a right", name="rights.txt")
    laws.hold("annual leave is thirty days", name="days.txt")
    news.hold("annual leave is thirty days", name="copy.txt")

    answer = search(linked("LAWS", laws), linked("NEWS", news))

    told = {
        source.filename: source.knowledge_base_id
        for result in answer.results
        for source in (result.source, *result.other_sources)
    }
    assert told == {"rights.txt": "LAWS", "days.txt": "LAWS", "copy.txt": "NEWS"}


def test_two_groups_see_one_document_each_and_none_sees_none(laws: ForeignBase) -> None:
    laws.hold("annual leave of staff", attributes={"team": ["staff", "board"]}, name="1")
    laws.hold("annual leave of guests", attributes={"team": ["guests"]}, name="2")
    laws.hold("annual leave of nobody", name="3")
    base = linked("LAWS", laws, groups_in="team")

    assert contents(search(base, caller=Caller("ann", ("staff",)))) == ["annual leave of staff"]
    assert contents(search(base, caller=Caller("bob", ("guests",)))) == ["annual leave of guests"]
    assert contents(search(base, caller=Caller("cy"))) == []
    assert contents(search(base, caller=Caller("dee", ("",)))) == []


def test_six_groups_take_two_queries_and_their_answers_are_one(laws: ForeignBase) -> None:
    groups = tuple(f"team-{number}" for number in range(6))
    for number, group in enumerate(groups):
        score = 0.3 + number / 10
        laws.hold(f"leave of {group}", attributes={"team": [group]}, score=score, name=group)
    laws.hold("leave of both ends", attributes={"team": [groups[0], groups[5]]}, score=0.1)
    laws.hold("leave of team-9", attributes={"team": ["team-9"]}, name="9")
    laws.delay = 0.01
    base = linked("LAWS", laws, groups_in="team", limit=10)

    answer = search(base, caller=Caller("ann", groups))

    found = [f"leave of team-{number}" for number in reversed(range(6))]
    assert contents(answer) == [*found, "leave of both ends"]
    [figures] = answer.figures
    assert (figures.knowledge_base_id, figures.passages) == ("LAWS", 7)
    assert figures.milliseconds >= 10
    assert answer.knowledge_bases == ("LAWS",)
    assert set(laws.filters) == {
        AnyOf(tuple(Lists("team", group) for group in groups[:5])),
        Lists("team", "team-5"),
    }
    assert len(search(replace(base, limit=3), caller=Caller("ann", groups)).results) == 3


@pytest.mark.parametrize("caller", [None, Caller(""), Caller("!rejected", ("staff",))])
def test_base_that_separates_callers_is_not_searched_without_identity(
    laws: ForeignBase, news: ForeignBase, caller: Caller | None
) -> None:
    bases = (linked("LAWS", laws, groups_in="team"), linked("NEWS", news))

    with pytest.raises(MissingIdentity, match="the agent's program must say who is asking"):
        search(*bases, caller=caller)

    assert (laws.filters, news.filters) == ([], [])


def test_public_knowledge_base_needs_no_identity_and_no_filter(laws: ForeignBase) -> None:
    laws.hold("annual leave is a right")

    assert contents(search(linked("LAWS", laws), caller=None)) == ["annual leave is a right"]
    assert laws.filters == [None]


def test_answer_of_a_store_that_ignores_the_filter_is_discarded(
    laws: ForeignBase, news: ForeignBase
) -> None:
    laws.hold("annual leave of staff", attributes={"team": ["staff"]}, name="1")
    laws.hold("annual leave of guests", attributes={"team": ["guests"]}, name="2")
    laws.ignores_filters = True
    news.hold("annual leave is short this year")

    answer = search(
        linked("LAWS", laws, groups_in="team"),
        linked("NEWS", news),
        caller=Caller("ann", ("staff",)),
    )

    assert contents(answer) == ["annual leave is short this year"]
    assert list(answer.failures) == ["LAWS"]


def test_users_documents_stay_private_in_a_pool_linked_by_mistake(laws: ForeignBase) -> None:
    laws.put("annual leave of alice", user_id="alice", catalog_id="cat-1")
    laws.hold("annual leave is a right")

    answer = search(linked("POOL", laws), caller=Caller("bob"))

    assert contents(answer) == ["annual leave is a right"]
    assert answer.withheld == 1


def test_an_attribute_that_names_groups_opens_no_users_document_there(laws: ForeignBase) -> None:
    laws.hold("annual leave of staff", attributes={"team": ["staff"]}, name="1")
    laws.hold(
        "annual leave of alice",
        attributes={
            "team": ["staff"],
            "user_id": "alice",
            "catalog_id": "cat-1",
            "document_id": "doc-1",
        },
        name="2",
    )

    answer = search(linked("POOL", laws, groups_in="team"), caller=Caller("bob", ("staff",)))

    assert contents(answer) == ["annual leave of staff"]
    assert answer.withheld == 1


class Endless(ForeignBase):
    """Answers when it is let go, and not before."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go, self.answered = Event(), Event()
        self.before("retrieve", lambda *_, **__: self.let_go.wait(timeout=120))
        self.after("retrieve", lambda *_, **__: self.answered.set())


def test_late_knowledge_base_has_failed_and_the_others_answer(laws: ForeignBase) -> None:
    laws.hold("annual leave is a right")
    late = Endless()
    late.hold("annual leave is late", name="late.txt")

    answer = search(linked("LAWS", laws), linked("LATE", late), deadline=Deadline.after(0.5))

    assert contents(answer) == ["annual leave is a right"]
    assert answer.failures == {"LATE": "Retrieve answered nothing in the time that there was"}
    assert not late.answered.is_set()
    late.let_go.set()
    assert late.answered.wait(timeout=120)


def test_linked_document_of_an_owner_is_hidden_from_others(laws: ForeignBase) -> None:
    for owner in ("ann", "bob"):
        laws.hold(f"annual leave of {owner}", name=owner, attributes={"owner": owner})
    laws.hold("annual leave of nobody", name="nobody")
    base = linked("LAWS", laws, owner_in="owner")

    assert contents(search(base, caller=Caller("ann"))) == ["annual leave of ann"]
    assert laws.filters == [Has("owner", "ann")]
    with pytest.raises(MissingIdentity):
        search(base)


def test_owner_and_group_are_both_demanded(laws: ForeignBase) -> None:
    for number, (owner, team) in enumerate((("ann", "hr"), ("ann", "it"), ("bob", "hr"))):
        laws.hold(
            f"annual leave of {owner} in {team}",
            name=str(number),
            attributes={"owner": owner, "team": [team]},
        )
    base = linked("LAWS", laws, owner_in="owner", groups_in="team")

    found = contents(search(base, caller=Caller("ann", ("hr",))))

    assert found == ["annual leave of ann in hr"]
    assert contents(search(base, caller=Caller("ann"))) == []


@pytest.mark.parametrize("attributes", [{"owner": "bob"}, {"owner": ["bob"]}, {}])
def test_answer_with_another_owners_document_is_discarded(
    laws: ForeignBase, attributes: dict[str, object]
) -> None:
    laws.ignores_filters = True
    laws.hold("annual leave of ann", name="ann", attributes={"owner": "ann"})
    laws.hold("annual leave of another", name="other", attributes=attributes)

    with pytest.raises(RetrievalFailed) as raised:
        search(linked("LAWS", laws, owner_in="owner"), caller=Caller("ann"))
    assert raised.value.failures == {"LAWS": "Retrieve answered passages outside the filter"}


def test_document_with_a_list_of_owners_is_withheld_and_others_are_found(
    laws: ForeignBase, caplog: pytest.LogCaptureFixture
) -> None:
    laws.hold("annual leave of ann", name="ann", attributes={"owner": "ann"})
    laws.hold("annual leave of several", name="all", attributes={"owner": ["ann", "bob"]})

    found = search(linked("LAWS", laws, owner_in="owner"), caller=Caller("ann"))

    assert contents(found) == ["annual leave of ann"]
    assert "passages kept back: 'owner' of theirs is a list" in caplog.text


def test_uploaders_own_attribute_never_makes_an_owner_in_our_pool(
    laws: ForeignBase,
) -> None:
    ours = {"user_id": "bob", "catalog_id": "cat-1", "document_id": "doc-1"}
    laws.hold("annual leave of bob", attributes={**ours, "owner": "ann"})

    assert contents(search(linked("L", laws, owner_in="owner"), caller=Caller("ann"))) == []
    assert contents(search(linked("L", laws, owner_in="user_id"), caller=Caller("bob"))) == [
        "annual leave of bob"
    ]


def test_an_answer_says_how_near_its_passages_are(laws: ForeignBase) -> None:
    laws.hold("The pump is greased every 200 hours.")

    def relevance(query: str) -> Relevance | None:
        asked = RETRIEVE_FROM_KNOWLEDGE_BASE.parse({"query": query})
        return LinkedRetrieval(linked=(linked("LAWS", laws),)).search(asked, None).relevance

    assert relevance("pump greased") is Relevance.STRONG
    assert relevance("stolen valve") is Relevance.WEAK
    laws.passages.clear()
    assert relevance("pump greased") is None


def test_negative_score_is_shown_without_a_least_score(laws: ForeignBase) -> None:
    opposite = Passage(text="annual leave is the opposite", score=-0.2, uri="s3://theirs/a.txt")
    laws.retrieve = lambda *_, **__: Retrieved(passages=(opposite,))  # type: ignore[method-assign]

    assert contents(search(linked("LAWS", laws))) == ["annual leave is the opposite"]
    assert contents(search(linked("LAWS", laws, min_score=0.0))) == []


MOST = 20


@dataclass
class Stuck:
    """A `KnowledgeBase` that answers nobody, until it is `over`."""

    over: threading.Event = field(default_factory=threading.Event)
    asked: int = 0

    def retrieve(self, *_: object, **__: object) -> Retrieved:
        self.asked += 1
        self.over.wait()
        return Retrieved(passages=())


@pytest.fixture
def stuck() -> Iterator[Stuck]:
    made = Stuck()
    yield made
    made.over.set()


def ask(seconds: float, **pool: Stuck) -> Replies:
    queries = tuple(Query(target=each, view=Everyone()) for each in pool)
    return ask_all(
        SearchScope(queries=queries, catalog_of=lambda _: None),
        "is there leave?",
        pool=pool,
        conditions=(),
        limits=dict.fromkeys(pool, 5),
        deadline=Deadline.after(seconds),
    )


def test_search_given_up_before_it_began_is_never_started(stuck: Stuck) -> None:
    pool = {f"kb{number}": Stuck(stuck.over) for number in range(MOST + 4)}

    with pytest.raises(RetrievalFailed):
        ask(0.5, **pool)
    stuck.over.set()
    for thread in threading.enumerate():
        if thread.name.startswith("ThreadPoolExecutor"):
            thread.join(60)

    assert sum(each.asked for each in pool.values()) == MOST
