"""Attempts on stores that the agent searches itself: on each the same, judged by who asks."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from tests.campaigns.attack.linked import LinkedAttempt, event
from tests.campaigns.attack.linked_stage import GROUPS, ODD, QUESTION, LinkedStage
from tests.campaigns.attack.linked_stores import STORES, Document, Holding, Place

# Each has documents of their own.
OWNERS = ("alice", "bob", "Alice", "alice.b", "alice-b", "a", "al", "alice@example.org", "hr")
# What a document may have instead of one user; nobody is let in by it.
_NO_OWNERS: tuple[object, ...] = (
    *(["alice", "bob"], ["alice"], 7, True, None, "", "alice,bob", " alice", "*", "%"),
    *("{'$ne': ''}", "ａlice", "аlice"),
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


_OF_USERS = ("of users", "of users and groups")
# Users who own nothing, under names that are almost those of who does.
_STRANGERS = (
    "mallory",
    "ALICE",
    "alice2",
    "alic",
    "alice.bob",
    "alice--",
    "7",
    "True",
    "null",
    "or",
)
_HOSTILE_GROUPS: tuple[Sequence[str], ...] = (
    *((), ("",), ('{"$ne": ""}',), ("hr' OR 'a'='a",), ('"]}, {"$exists": true',), ("%",)),
    *(("_r",), ("hr\u0000",), ("$or",), ("alice",), ("customer",)),
    tuple(f"team {number}" for number in range(40)),
)


def attempts(stage: LinkedStage) -> Iterator[LinkedAttempt]:
    """Of every store of the stage; each configures the agent's function as it needs it."""
    for store in stage.stores:
        for generator in (owners, nobody, groups):
            yield from generator(stage, store)


def owners(stage: LinkedStage, store: str) -> Iterator[LinkedAttempt]:
    """Each finds what is its own, and nothing of one that looks like it."""
    stage.configure_store(store, identity_from_event=True)
    for user in (*OWNERS, *_STRANGERS):
        yield _asked(stage, f"{store} of users", user)
    for user in OWNERS:
        for groups in (("hr",), ("law", "hr"), ("law",), ()):
            yield _asked(stage, f"{store} of users and groups", user, groups)


def nobody(stage: LinkedStage, store: str) -> Iterator[LinkedAttempt]:
    """Who is not verified finds what is everyone's; that nobody passes for a user: linked.py."""
    kind, everyones = f"{store}, no users", f"{store} of everyone"
    stage.configure_store(store, identity_from_event=False)
    for place in (f"{store} {each}" for each in _OF_USERS):
        yield LinkedAttempt(kind, place, event(), _asking(place), must_be_refused=True)
    sees = stage.found_in(everyones, None, ())
    yield LinkedAttempt(kind, everyones, event(), _asking(everyones), sees=sees)


def groups(stage: LinkedStage, store: str) -> Iterator[LinkedAttempt]:
    stage.configure_store(store, identity_from_event=True)
    for user in ("alice", "mallory"):
        for each in (*_HOSTILE_GROUPS, *((group,) for group in GROUPS)):
            yield _asked(stage, f"{store} of users and groups", user, each)


def _asked(stage: LinkedStage, place: str, user: str, groups: Sequence[str] = ()) -> LinkedAttempt:
    return LinkedAttempt(
        f"{place}, by name",
        f"{user!r} in {list(groups)[:3]!r}",
        _by(user, groups),
        _asking(place),
        user=user,
        groups=groups,
        sees=stage.found_in(place, user, groups),
    )


def _by(user: str, groups: Sequence[str]) -> dict[str, Any]:
    return event(identity={"user_id": user, "groups": list(groups)})


def _asking(place: str) -> dict[str, Any]:
    return {"query": QUESTION, "knowledge_base_id": place}
