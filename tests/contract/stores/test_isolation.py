"""Nobody finds what is another's: by the filter of each view, and by the proof behind it."""

from concurrent.futures import ThreadPoolExecutor

from stackroom.access.identity import Caller
from stackroom.access.tenancy import Everyone, Member, Owned, Readers, Tenant, View
from stackroom.model.filters import Has
from stackroom.model.passages import KnowledgeBase, Passage
from tests.contract.stores.document_sets import (
    ALIKE,
    ALIKE_NAMES,
    DOCS,
    QUESTION,
    STRANGERS,
    a_catalog,
    found,
)
from tests.contract.stores.table import ALL
from tests.contract.stores.worlds import World

CATALOGS = {each.catalog: a_catalog(each.catalog, each.user) for each in DOCS.documents}
AT_ONCE = 16
USERS = ("alice", "bob", "carol", "nobody")
FINANCE = ("finance", "財務")


def proven(knowledge_base: KnowledgeBase, view: View) -> tuple[Passage, ...]:
    passages = knowledge_base.retrieve(QUESTION, view.filter(), 100).passages
    return view.proven(passages, catalog_of=CATALOGS.get)


@ALL
def test_tenant_filter_finds_only_the_tenants_own_documents(docs: KnowledgeBase) -> None:
    everything = found(docs, Tenant("alice").filter())
    one_catalog = found(docs, Tenant("alice", "cat-2").filter())
    foreign_catalog = found(docs, Tenant("alice", "cat-3").filter())

    assert everything == {"alice/berlin.txt", "alice/rome.txt", "alice/paris.txt"}
    assert one_catalog == {"alice/paris.txt"}
    assert foreign_catalog == set()


@ALL
def test_every_passage_that_a_view_finds_is_proven_to_be_the_owners(docs: KnowledgeBase) -> None:
    views: dict[View, int] = {
        Tenant("alice"): 3,
        Tenant("alice", "cat-1", "alice/cat-1/"): 2,
        Member("dora", FINANCE): 2,
        Owned("user_id", "alice"): 3,
        Tenant("nobody"): 0,
        Member("dora", ("strangers",)): 0,
    }

    seen = {view: docs.retrieve(QUESTION, view.filter(), 100).passages for view in views}

    assert {view: len(passages) for view, passages in seen.items()} == views
    assert {view: len(proven(docs, view)) for view in views} == views


@ALL
def test_catalog_documents_linked_by_mistake_are_shown_to_nobody(
    docs: KnowledgeBase,
) -> None:
    for view in (Everyone(), Owned("filename", "bare.txt"), Readers("allowed_groups", FINANCE)):
        assert docs.retrieve(QUESTION, view.filter(), 100).passages, view
        assert proven(docs, view) == (), view


@ALL
def test_similar_names_are_different_owners_and_groups(world: World) -> None:
    alike = world.holding(ALIKE)
    own = {name: {f"dora/{number}.txt"} for number, name in enumerate(ALIKE_NAMES)}

    for name in (*ALIKE_NAMES, *STRANGERS):
        assert found(alike, Owned("customer", name).filter()) == own.get(name, set()), name
        assert found(alike, Readers("allowed_groups", (name,)).filter()) == own.get(name, set())


@ALL
def test_one_users_groups_are_no_list_of_anothers(docs: KnowledgeBase) -> None:
    several = Member.of(Caller("dora", tuple(f"group-{number}" for number in range(12))))

    assert len(several) == 3
    assert [proven(docs, view) for view in several] == [(), (), ()]


def test_sixteen_threads_get_each_their_own(docs: KnowledgeBase) -> None:
    counts = {user: sum(each.user == user for each in DOCS.documents) for user in USERS}

    def owners(user: str) -> list[object]:
        question = f"what is the annual leave of {user}"
        found = docs.retrieve(question, Has("user_id", user), 10).passages
        return [passage.attributes["user_id"] for passage in found]

    # Questions are embedded before, so that what is asked at once is the store.
    asked = [(user, owners(user)) for user in USERS] * (AT_ONCE // 2)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        answers = list(threads.map(owners, (user for user, _ in asked)))

    assert answers == [expected for _, expected in asked]
    assert answers[: len(USERS)] == [[user] * counts[user] for user in USERS]
