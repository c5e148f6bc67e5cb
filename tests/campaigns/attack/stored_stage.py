"""The knowledge bases in a store that the agent searches itself, and whose their documents are."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from tests.campaigns.attack.linked_stage import ODD, LinkedStage
from tests.campaigns.attack.linked_stores import STORES, Document, Holding, Place

# Each has documents of their own.
OWNERS = ("alice", "bob", "Alice", "alice.b", "alice-b", "a", "al", "alice@example.org", "hr")
# What a document may have instead of one user; nobody is let in by it.
_NO_OWNERS: tuple[object, ...] = (
    *(["alice", "bob"], ["alice"], 7, True, None, "", "alice,bob", "alice bob", " alice", "alice "),
    *("*", "%", "{'$ne': ''}", "alice\\n", "ａlice", "аlice"),
)
_NO_GROUP = "no group at all"
_PLACES: Mapping[str, Mapping[str, object]] = {
    "of users": {"tenancy": "user", "tenantKey": "customer"},
    "of users and groups": {"tenancy": "user", "tenantKey": "customer", "enableAcl": True},
    "of everyone": {"tenancy": "shared"},
}


@contextmanager
def furnished(stage: LinkedStage, stores: Mapping[str, Holding] = STORES) -> Iterator[LinkedStage]:
    """With the same documents in each of the stores."""
    with ExitStack() as held:
        for store, holding in stores.items():
            stage.stores[store] = {
                place: {
                    **_said_of(f"{store} {place}"),
                    **held.enter_context(holding(stage.world, documents, _place(store, place))),
                    **_PLACES[place],
                }
                for place, documents in _documents(stage, store).items()
            }
        yield stage


def _place(store: str, place: str) -> Place:
    owner_in = _PLACES[place].get("tenantKey")
    return Place(name=f"{store} {place}", owner_in=owner_in if isinstance(owner_in, str) else None)


def _said_of(name: str) -> dict[str, Any]:
    many = {"numberOfResults": 100, "description": "Harbour."}
    return {"knowledgeBaseId": name, "name": name, **many}


def _documents(stage: LinkedStage, store: str) -> Mapping[str, Sequence[Document]]:
    """Documents of users, of users for some of their groups, and of everyone."""
    documents: dict[str, list[Document]] = {place: [] for place in _PLACES}

    def add(place: str, attributes: Mapping[str, object], **of: Any) -> None:
        key = f"{len(documents[place])}.txt"
        text = stage.keep(key, place=f"{store} {place}", **of)
        told = {name: value for name, value in attributes.items() if value is not None}
        documents[place].append(Document(key=key, text=text, attributes=told))

    for owner in OWNERS:
        for _ in range(2):
            add("of users", {"customer": owner, "allowed_groups": ["hr"]}, owner=owner)
        for group in ("hr", "law"):
            of_both = {"customer": owner, "allowed_groups": [group]}
            add("of users and groups", of_both, owner=owner, readers=frozenset({group}))
    for nobody in _NO_OWNERS:
        add("of users", {"customer": nobody, "user_id": "mallory"})
        add("of users and groups", {"customer": nobody, "allowed_groups": ["hr", "law"]})
    for value, readers in ODD.values():
        let_in = readers or frozenset({_NO_GROUP})
        attributes = {"customer": "alice", "allowed_groups": value}
        add("of users and groups", attributes, owner="alice", readers=let_in, is_odd=True)
    add("of everyone", {"customer": "alice"}, anybody=True)
    return documents
