"""Searching knowledge bases that an agent was given: whose passages, in which order, how late."""

from collections.abc import Mapping
from threading import Event
from typing import Any

import pytest

from stackroom.access.identity import Caller
from stackroom.clock import NO_DEADLINE, Deadline
from stackroom.errors import MissingIdentity, RetrievalFailed
from stackroom.model.filters import Has
from stackroom.model.passages import Passage
from stackroom.search.linked_retrieval import LinkedKnowledgeBase, LinkedRetrieval
from stackroom.search.results import SearchAnswer
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
