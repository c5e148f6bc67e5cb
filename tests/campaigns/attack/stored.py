"""Attempts on stores that the agent searches itself: on each the same, judged by who asks."""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from tests.campaigns.attack.linked import CLAIMS, NAMES, WORDS, LinkedAttempt, event
from tests.campaigns.attack.linked_stage import GROUPS, ODD, QUESTION, LinkedStage
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


_OF_USERS = ("of users", "of users and groups")
# Users who own nothing, under names that are almost those of who does.
_STRANGERS = (
    *("mallory", "ALICE", "Alice.", "alice2", "alic", "a", "bo", "alice@home", "7", "True", "null"),
    *("list", "alice.bob", "root", "alice--", "nobody", "customer", "or", "1"),
)
# What is no user's id, whatever a store would make of it.
_NO_USERS: tuple[object, ...] = (
    *("alice,bob", "alice' OR '1'='1", 'alice"}, {"$exists": true', "*", "%", "al*", "alice\u0000"),
    *("alice\n", " alice", "alice ", "$alice", "_alice", "{alice}", "аlice", "", "../a"),
    *(
        {"$ne": ""},
        {"$exists": True},
        {"$in": ["alice"]},
        ["alice"],
        ["alice", "bob"],
        7,
        True,
        None,
    ),
)
_HOSTILE_GROUPS: tuple[Sequence[str], ...] = (
    *((), ("",), ("*",), ("hr ",), ("HR",), ('{"$ne": ""}',), ("hr' OR 'a'='a",), ("hr,law",)),
    *(('"]}, {"$exists": true',), ("%",), ("hr%",), ("_r",), ("hr\u0000",), ("allowed_groups",)),
    *(("$or",), ("alice",), ("customer",), tuple(f"team {number}" for number in range(40))),
)


def attempts(stage: LinkedStage, seed: int) -> Iterator[LinkedAttempt]:
    """Of every store of the stage; each configures the agent's function as it needs it."""
    for store in stage.stores:
        for generator in GENERATORS:
            yield from generator(stage, store, random.Random(f"{seed} {generator.__name__}"))


def owners(stage: LinkedStage, store: str, _: random.Random) -> Iterator[LinkedAttempt]:
    """Each finds what is its own, and nothing of one that looks like it."""
    stage.configure_store(store, identity_from_event=True)
    for user in (*OWNERS, *_STRANGERS):
        yield _asked(stage, f"{store} of users", user)
    for user in OWNERS:
        for groups in (("hr",), ("law", "hr"), ("law",), ()):
            yield _asked(stage, f"{store} of users and groups", user, groups)


def owners_that_are_none(
    stage: LinkedStage, store: str, chance: random.Random
) -> Iterator[LinkedAttempt]:
    kind = f"{store}, no users"
    stage.configure_store(store, identity_from_event=True)
    for user in _NO_USERS:
        about = event(identity={"user_id": user, "groups": ["hr"]})
        given = _asking(f"{store} {chance.choice([*_OF_USERS])}")
        yield LinkedAttempt(kind, repr(user), about, given, must_be_refused=True)
    stage.configure_store(store, identity_from_event=False)
    for place in (f"{store} {each}" for each in _OF_USERS):
        for about in (event(), event(user_id="alice"), event(identity={"user_id": "alice"})):
            told = f"{place} by {about}"
            yield LinkedAttempt(kind, told, about, _asking(place), must_be_refused=True)
    everyones = f"{store} of everyone"
    sees = stage.found_in(everyones, None, ())
    yield LinkedAttempt(kind, "of everyone", event(), _asking(everyones), sees=sees)


def groups(stage: LinkedStage, store: str, _: random.Random) -> Iterator[LinkedAttempt]:
    stage.configure_store(store, identity_from_event=True)
    for user in ("alice", "mallory"):
        for each in (*_HOSTILE_GROUPS, *((group,) for group in GROUPS)):
            yield _asked(stage, f"{store} of users and groups", user, each)


def arguments(stage: LinkedStage, store: str, chance: random.Random) -> Iterator[LinkedAttempt]:
    """A model that says who asks, or what is to be found."""
    stage.configure_store(store, identity_from_event=True)
    of_law = ("law",)
    for name in (*NAMES, "customer", "tenant_key", "tenantKey", "owner"):
        for claim in chance.sample(CLAIMS, 2):
            place = f"{store} {chance.choice([*_OF_USERS, 'of everyone'])}"
            yield LinkedAttempt(
                f"{store}, arguments",
                f"{name}={claim!r} {place}",
                _by("mallory", of_law),
                {**_asking(place), name: claim},
                user="mallory",
                groups=of_law,
                must_be_refused=True,
            )


def questions(stage: LinkedStage, store: str, chance: random.Random) -> Iterator[LinkedAttempt]:
    stage.configure_store(store, identity_from_event=True)
    kind, of_law = f"{store}, questions", ("law",)
    for word in (*WORDS, "alice's harbour secret", '{"customer": {"$eq": "alice"}} harbour secret'):
        for place in (f"{store} {each}" for each in _OF_USERS):
            user = chance.choice(["mallory", "bob", "a"])
            told, given = f"{word[:60]!r} {place} of {user}", {**_asking(place), "query": word}
            yield LinkedAttempt(kind, told, _by(user, of_law), given, user=user, groups=of_law)


GENERATORS = (owners, owners_that_are_none, groups, arguments, questions)


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
