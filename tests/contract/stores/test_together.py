"""Several who ask, several that are asked."""

from concurrent.futures import ThreadPoolExecutor

from stackroom.filters import Has
from stackroom.ports.retrieval import KnowledgeBase
from stackroom.retrieval.arguments import SearchArguments
from stackroom.retrieval.asking import ask_all
from stackroom.retrieval.linked import LinkedKnowledgeBase, LinkedRetrieval
from stackroom.retrieval.scope import Query, Scope
from stackroom.tenancy import Tenant
from tests.contract.stores.shelves import DOCS, QUESTION
from tests.contract.stores.table import each_in
from tests.contract.stores.test_isolation import CATALOGS
from tests.contract.stores.worlds import Trouble, World
from tests.fakes.knowledge_base import FakeKnowledgeBase

AT_ONCE = 16
USERS = ("alice", "bob", "carol", "nobody")


def test_sixteen_threads_get_each_their_own(docs: KnowledgeBase) -> None:
    counts = {user: sum(each.user == user for each in DOCS.documents) for user in USERS}
    asked = [USERS[number % len(USERS)] for number in range(AT_ONCE * 2)]

    def owners(user: str) -> list[object]:
        question = f"what is the annual leave of {user}"
        found = docs.retrieve(question, Has("user_id", user), 10).passages
        return [passage.attributes["user_id"] for passage in found]

    with ThreadPoolExecutor(AT_ONCE) as threads:
        answers = list(threads.map(owners, asked))

    assert answers == [[user] * counts[user] for user in asked]


# What is late is for test_deadlines.py: without a deadline it only takes its time.
@each_in(*sorted(set(Trouble) - {Trouble.FOREIGN, Trouble.LATE}))
def test_one_in_trouble_costs_no_answer_of_the_others(
    world: World, docs: KnowledgeBase, trouble: Trouble
) -> None:
    well = FakeKnowledgeBase()
    well.put("The annual leave of alice is long", user_id="alice", catalog_id="cat-1")
    queries = tuple(Query(target=target, view=Tenant("alice")) for target in ("ill", "well"))

    with world.in_trouble(trouble):
        replies = ask_all(
            Scope(queries=queries, catalog_of=CATALOGS.get),
            f"annual leave asked with {trouble}",
            pool={"ill": docs, "well": well},
            conditions=(),
            limits={"ill": 5, "well": 5},
        )

    assert [reply.target for reply in replies.given] == ["well"]
    assert list(replies.failures) == ["ill"]


@each_in(Trouble.DOWN)
def test_what_is_linked_answers_partly_and_says_so(
    world: World, docs: KnowledgeBase, trouble: Trouble
) -> None:
    well = FakeKnowledgeBase()
    well.put("The annual leave is long", attributes={"user_id": None})
    linked = LinkedRetrieval(
        linked=[
            LinkedKnowledgeBase(knowledge_base_id="ill", knowledge_base=docs),
            LinkedKnowledgeBase(knowledge_base_id="well", knowledge_base=well),
        ]
    )

    with world.in_trouble(trouble):
        answer = linked.search(SearchArguments(query=QUESTION), None)

    assert [result.text for result in answer.results] == ["The annual leave is long"]
    assert list(answer.failures) == ["ill"]
