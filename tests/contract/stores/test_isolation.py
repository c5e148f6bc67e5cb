"""Nobody finds what is another's: by the filter of each view, and by the proof behind it."""

from datetime import UTC, datetime

import pytest

from stackroom.errors import KnowledgeBaseUnavailable
from stackroom.identity import Caller
from stackroom.model import Catalog
from stackroom.ports.retrieval import KnowledgeBase, Passage
from stackroom.tenancy import Everyone, Member, Owned, Readers, Tenant, View
from tests.contract.stores.shelves import DOCS, QUESTION
from tests.contract.stores.table import each
from tests.contract.stores.test_filters import found
from tests.contract.stores.worlds import Trouble, World

NOW = datetime(2026, 2, 3, 10, 30, tzinfo=UTC)
CATALOGS = {
    each.catalog: Catalog(
        catalog_id=each.catalog,
        user_id=each.user,
        name=each.catalog,
        s3_prefix=f"{each.user}/{each.catalog}/",
        created_at=NOW,
        updated_at=NOW,
    )
    for each in DOCS.documents
}
FINANCE = ("finance", "財務")


def proven(knowledge_base: KnowledgeBase, view: View) -> tuple[Passage, ...]:
    passages = knowledge_base.retrieve(QUESTION, view.filter(), 100).passages
    return view.proven(passages, catalog_of=CATALOGS.get)


def proven_or_refused(knowledge_base: KnowledgeBase, view: View) -> tuple[Passage, ...]:
    try:
        return proven(knowledge_base, view)
    except KnowledgeBaseUnavailable:
        return ()


def test_a_tenant_is_all_that_is_found(docs: KnowledgeBase) -> None:
    everything = found(docs, Tenant("alice").filter())
    one_catalog = found(docs, Tenant("alice", "cat-2").filter())
    foreign_catalog = found(docs, Tenant("alice", "cat-3").filter())

    assert everything == {"alice/berlin.txt", "alice/rome.txt", "alice/paris.txt"}
    assert one_catalog == {"alice/paris.txt"}
    assert foreign_catalog == set()


@pytest.mark.parametrize(
    ("view", "count"),
    [
        pytest.param(Tenant("alice"), 3, id="a tenant"),
        pytest.param(Tenant("alice", "cat-1", "alice/cat-1/"), 2, id="a catalog"),
        pytest.param(Member("dora", FINANCE), 2, id="a member"),
        pytest.param(Owned("user_id", "alice"), 3, id="an owner"),
        pytest.param(Tenant("nobody"), 0, id="a stranger"),
        pytest.param(Member("dora", ("strangers",)), 0, id="a member of no group here"),
    ],
)
def test_what_a_view_finds_it_also_proves(docs: KnowledgeBase, view: View, count: int) -> None:
    assert len(proven(docs, view)) == count
    assert len(docs.retrieve(QUESTION, view.filter(), 100).passages) == count


@pytest.mark.parametrize(
    "view",
    [
        pytest.param(Everyone(), id="everyone"),
        pytest.param(Owned("filename", "bare.txt"), id="an owner in another attribute"),
        pytest.param(Readers("allowed_groups", FINANCE), id="readers"),
    ],
)
def test_a_catalogs_documents_are_nobodys_where_they_are_linked_by_mistake(
    docs: KnowledgeBase, view: View
) -> None:
    assert docs.retrieve(QUESTION, view.filter(), 100).passages
    assert proven(docs, view) == ()


@each(lambda store: Trouble.FOREIGN in store.troubles)
@pytest.mark.parametrize(
    "view",
    [
        pytest.param(Tenant("alice"), id="a tenant"),
        pytest.param(Tenant("alice", "cat-2"), id="a catalog"),
        pytest.param(Member("dora", FINANCE), id="a member"),
        pytest.param(Readers("allowed_groups", FINANCE), id="readers"),
        pytest.param(Owned("user_id", "alice"), id="an owner"),
    ],
)
def test_a_store_that_ignores_the_filter_is_not_believed(
    world: World, docs: KnowledgeBase, view: View
) -> None:
    own = {passage.text for passage in proven(docs, view)}

    with world.in_trouble(Trouble.FOREIGN):
        shown = proven_or_refused(docs, view)

    # An adapter may leave out by itself what can't be meant; what is left is the caller's.
    assert {passage.text for passage in shown} <= own


def test_one_users_groups_are_no_list_of_anothers(docs: KnowledgeBase) -> None:
    several = Member.of(Caller("dora", tuple(f"group-{number}" for number in range(12))))

    assert len(several) == 3
    assert [proven(docs, view) for view in several] == [(), (), ()]
