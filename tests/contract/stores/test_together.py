"""Several who ask at once."""

from concurrent.futures import ThreadPoolExecutor

from stackroom.filters import Has
from stackroom.ports.retrieval import KnowledgeBase
from tests.contract.stores.shelves import DOCS

AT_ONCE = 16
USERS = ("alice", "bob", "carol", "nobody")


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
