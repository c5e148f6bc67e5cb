"""Searching what others share with the caller's groups, where the deployment allows it."""

from dataclasses import dataclass

import pytest

from stackroom.deadlines import NO_DEADLINE, Deadline
from stackroom.errors import (
    KnowledgeBaseNotFound,
    KnowledgeBaseThrottled,
    MissingIdentity,
)
from stackroom.filters import Filter, Has
from stackroom.identity import Caller
from stackroom.ports.retrieval import Retrieved
from stackroom.retrieval.search import Retrieval
from tests.fakes.knowledge_base import FakeKnowledgeBase
from tests.fakes.place_maps import FakePlaceMaps
from tests.unit.test_retrieval import CatalogShelf, contents, search

BOB = Caller("bob", ("finance", "staff"))
FINANCE = {"allowed_groups": ["finance", "board"]}


@dataclass
class Deployed:
    """Two knowledge bases over which documents can be shared."""

    catalogs: CatalogShelf
    first: FakeKnowledgeBase
    second: FakeKnowledgeBase
    sharing: bool = True

    @property
    def retrieval(self) -> Retrieval:
        return Retrieval(
            pool={"KB1": self.first, "KB2": self.second},
            catalogs=self.catalogs,
            place_maps=FakePlaceMaps(),
            sharing=self.sharing,
        )


@pytest.fixture
def deployed() -> Deployed:
    deployed = Deployed(CatalogShelf(), FakeKnowledgeBase(), FakeKnowledgeBase())
    deployed.catalogs.put("cat-bob", "KB1", user_id="bob")
    return deployed


def test_a_caller_finds_their_own_and_what_anybody_shares_with_a_group_of_theirs(
    deployed: Deployed,
) -> None:
    deployed.first.put("own", user_id="bob", score=0.5)
    deployed.first.put("alice's", attributes=FINANCE, score=0.9)
    deployed.second.put("carol's", user_id="carol", attributes=FINANCE, score=0.7)
    deployed.second.put("carol's other", user_id="carol", attributes={"allowed_groups": ["it"]})
    deployed.second.put("carol's own", user_id="carol")

    answer = search(deployed.retrieval, BOB)
    without_catalogs = search(deployed.retrieval, Caller("dora", ("finance",)))

    assert contents(without_catalogs) == ["alice's", "carol's"]
    assert contents(answer) == ["alice's", "carol's", "own"]
    assert answer.knowledge_bases == ("KB1", "KB2")
    assert (answer.withheld, answer.failures) == (0, {})
    assert answer.results[0].source.uri == "s3://docs/alice/cat-1/handbook.txt"


def test_nothing_is_shared_where_the_deployment_does_not_say_so_or_with_who_is_in_no_group(
    deployed: Deployed,
) -> None:
    deployed.sharing = False
    deployed.first.put("alice's", attributes=FINANCE)

    answer = search(deployed.retrieval, BOB)
    deployed.sharing = True
    of_no_group = search(deployed.retrieval, Caller("bob"))

    for each in (answer, of_no_group):
        assert (contents(each), each.knowledge_bases) == ([], ("KB1",))
    assert deployed.first.filters == [Has("user_id", "bob")] * 2


@pytest.mark.parametrize("name", ["Research, Berlin", "Café", "a|b___c", " x "])
def test_groups_may_be_called_anything(deployed: Deployed, name: str) -> None:
    deployed.first.put("alice's", attributes={"allowed_groups": [name]})

    members = search(deployed.retrieval, Caller("bob", (name,)))
    others = search(deployed.retrieval, Caller("bob", (name.upper() + "!", name[:-1], "Berlin")))

    assert (contents(members), contents(others)) == (["alice's"], [])


def test_naming_a_group_in_the_filter_makes_nobody_a_member_of_it(deployed: Deployed) -> None:
    deployed.first.put("for the board", attributes={"allowed_groups": ["board"]})
    deployed.first.put("for finance", attributes={"allowed_groups": ["finance"]})
    deployed.first.put("for both", attributes=FINANCE)
    deployed.first.put("bob's", user_id="bob", attributes={"allowed_groups": ["board"]})

    narrowed = search(deployed.retrieval, BOB, filter={"allowed_groups": "board"})
    outsider = search(deployed.retrieval, Caller("eve"), filter={"allowed_groups": "board"})

    assert sorted(contents(narrowed)) == ["bob's", "for both"]
    assert contents(outsider) == []


def test_a_named_catalog_is_the_callers_own_and_nothing_shared_is_searched_beside_it(
    deployed: Deployed,
) -> None:
    deployed.catalogs.put("cat-1", "KB1")
    deployed.first.put("alice's", attributes=FINANCE)
    deployed.first.put("own", user_id="bob", catalog_id="cat-bob")

    answer = search(deployed.retrieval, BOB, catalog_id="cat-bob")
    with pytest.raises(KnowledgeBaseNotFound) as shared:
        search(deployed.retrieval, BOB, catalog_id="cat-1")
    with pytest.raises(KnowledgeBaseNotFound) as absent:
        search(deployed.retrieval, BOB, catalog_id="cat-nix")

    assert (contents(answer), len(deployed.first.filters)) == (["own"], 1)
    assert str(shared.value).replace("cat-1", "cat-nix") == str(absent.value)


def test_a_named_knowledge_base_is_the_only_one_that_is_asked(deployed: Deployed) -> None:
    deployed.first.put("first", attributes=FINANCE)
    deployed.second.put("second", attributes=FINANCE)

    answer = search(deployed.retrieval, BOB, knowledge_base_id="KB2")

    assert (contents(answer), answer.knowledge_bases) == (["second"], ("KB2",))
    assert deployed.first.filters == []


def test_a_sidecar_that_shares_somebody_elses_document_is_withheld_and_counted_once(
    deployed: Deployed, caplog: pytest.LogCaptureFixture
) -> None:
    groups = tuple(f"group {n}" for n in range(6))
    forged = {"allowed_groups": list(groups)}
    deployed.first.put("alice's", user_id="mallory", attributes=forged, key="alice/cat-1/plan.txt")
    deployed.first.put("mallory's", user_id="mallory", attributes=forged)

    answer = search(deployed.retrieval, Caller("bob", groups))

    assert (contents(answer), answer.withheld) == (["mallory's"], 1)
    assert "passages kept from 'bob': they are from ['s3://docs/alice/cat-1/plan.txt']" in (
        caplog.text
    )


class BusyWithOthers(FakeKnowledgeBase):
    """Throttles whatever doesn't ask for one user's documents."""

    # A002: the port's name
    def retrieve(
        self,
        query: str,
        filter: Filter | None,  # noqa: A002
        limit: int,
        *,
        deadline: Deadline = NO_DEADLINE,
    ) -> Retrieved:
        if not isinstance(filter, Has):
            raise KnowledgeBaseThrottled("Retrieve")
        return super().retrieve(query, filter, limit, deadline=deadline)


def test_a_throttled_query_for_groups_makes_a_partial_answer_that_says_so(
    deployed: Deployed,
) -> None:
    deployed.first = BusyWithOthers()
    deployed.first.put("own", user_id="bob")
    deployed.first.put("shared here", attributes=FINANCE)
    deployed.second.put("shared there", attributes=FINANCE)

    answer = search(deployed.retrieval, BOB)

    assert sorted(contents(answer)) == ["own", "shared there"]
    assert answer.failures == {"KB1": "Retrieve was throttled for what others share with you"}


@pytest.mark.parametrize("nobody", ["", " ", "!rejected", "alice/cat-1", "*"])
@pytest.mark.parametrize("sharing", [True])
def test_nobody_finds_nothing_whatever_groups_they_are_said_to_be_in(
    deployed: Deployed, nobody: str, sharing: bool
) -> None:
    deployed.sharing = sharing

    with pytest.raises(MissingIdentity):
        search(deployed.retrieval, Caller(nobody, ("finance",)))

    assert (deployed.first.filters, deployed.catalogs.reads) == ([], 0)
