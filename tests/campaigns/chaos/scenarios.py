"""People's actions as short stories, the same each time, into which faults are injected."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from stackroom.aws.dynamodb.cap_records import DynamoCaps
from stackroom.model.caps import Caps
from stackroom.model.records import Document, DocumentStatus
from tests.aws.stores import CONTROL_TABLE
from tests.campaigns.chaos.deployment import Command, Terms
from tests.campaigns.chaos.world import World

A, B, C = (f"alice/research/{name}.txt" for name in "abc")
BOB = "bob/notes/b.txt"
DOC = "alice/research/d.doc"  # no format of ours, and one of Bedrock's
TWICE = "alice/research//a.txt"  # of no path that a document can have

_CAP = 2  # documents of alice's


@dataclass(frozen=True)
class Scenario:
    """`before` is over, and all quiet, when `story` begins; faults are for the story alone."""

    name: str
    story: Callable[[World], None]
    before: Callable[[World], None] = lambda world: None
    own_slots: int = 4
    by_jobs: bool = False
    reconciles: bool = False  # the reconciliation belongs to the story

    def terms(self, seed: int = 0, **more: float) -> Terms:
        return Terms(
            seed=seed,
            own_slots=self.own_slots,
            by_jobs=self.by_jobs,
            **more,  # type: ignore[arg-type]
        )


def _drop(*keys: str) -> Callable[[World], None]:
    def drop(world: World) -> None:
        for key in keys:
            world.drop(key, f"the first text of {key}")

    return drop


def _redrop(world: World) -> None:
    world.drop(A, "the second text")
    world.drop(C, "a new one")
    world.pass_time(20)
    world.drop(A, "the third text")


def _keep_dropping(world: World) -> None:
    """Whatever a round has taken up, a newer version may lie there by now."""
    for number in range(8):
        world.drop(A, f"text {number}")
        world.pass_time(3)


def _delete(world: World) -> None:
    world.deleted |= {A, B}
    world.command(Command("delete_document", A))
    world.remove(B)


def _delete_under_way(world: World) -> None:
    """And there again before anything can have followed."""
    _drop(A, B)(world)
    world.pass_time(12)
    world.remove(A)
    world.command(Command("delete_document", B))
    world.pass_time(3)
    world.drop(A, "back again")


def _delete_catalog(world: World) -> None:
    world.deleted |= {A, B}
    world.command(Command("delete_catalog", A))


def _keep_catalog(world: World) -> None:
    world.command(Command("delete_catalog", A))
    world.pass_time(25)
    world.drop(C, "too late, or too early")


def _reject(world: World) -> None:
    world.may_fail.add(A)
    world.must_fail.add(A)
    world.drop(A, "")


def _reject_what_bedrock_takes(world: World) -> None:
    """A job that crawls it indexes it, and the next one does again."""
    world.may_fail |= {DOC, TWICE}
    world.must_fail |= {DOC, TWICE}
    _drop(DOC, B, TWICE)(world)
    world.pass_time(60)
    world.drop(A, "the second text")


def _compete(world: World) -> None:
    """One has the only place of its own, the other two share; all want the same knowledge base."""
    _drop(A)(world)
    world.pass_time(8)
    _drop(BOB, "alice/other/o.txt", B)(world)


def _cap(world: World) -> None:
    """All of what is dropped here, and no more of what comes later."""
    DynamoCaps(client=world.wire.client("dynamodb"), table=CONTROL_TABLE).keep(
        "alice", Caps(documents=_CAP)
    )
    _drop(A, B)(world)


def _exceed(world: World) -> None:
    """
    Exceed a cap with documents of two catalogs; one place comes free, and then the cap is removed.
    """
    _drop(C, "alice/other/o.txt", BOB)(world)
    _watch(world)
    world.deleted.add(A)
    world.command(Command("delete_document", A))
    _watch(world)
    world.command(Command("lift_caps", A))


def _watch(world: World) -> None:
    # A job takes all that lies in a catalog, and one has to begin for the deletion.
    most = _CAP + (2 if world.terms.by_jobs else 0)
    for _ in range(30):
        world.pass_time(3)
        taken = [each.s3_key for each in world.documents() if is_taken(each, "alice")]
        assert len(taken) <= most, f"over the cap of {_CAP}: {taken}"


def is_taken(document: Document, user_id: str) -> bool:
    """Return whether the document is to stay and a round took it up or indexed it."""
    mine = document.s3_key.startswith(f"{user_id}/")
    return mine and document.status in (DocumentStatus.INDEXING, DocumentStatus.INDEXED)


def _fall_apart(world: World) -> None:
    """Everything that events would have told, and what a restored table has forgotten."""
    with world.unheard():
        world.drop(A, "the second text")
        world.remove(B)
        world.drop("alice/unheard/u.txt", "nobody was told")
    world.forget_document(C)
    world.pass_time(180)


def _everywhere(
    name: str, story: Callable[[World], None], before: Callable[[World], None] = lambda _: None
) -> tuple[Scenario, ...]:
    anywhere = Scenario(name=name, story=story, before=before)
    return (
        replace(anywhere, name=f"{name}, own source"),
        replace(anywhere, name=f"{name}, shared source", own_slots=0),
        replace(anywhere, name=f"{name}, by jobs", by_jobs=True),
    )


SCENARIOS = {
    each.name: each
    for each in (
        *_everywhere("first drop", _drop(A, B)),
        *_everywhere("re-drop", _redrop, _drop(A, B)),
        *_everywhere("re-drop again and again", _keep_dropping),
        *_everywhere("delete", _delete, _drop(A, B, C)),
        *_everywhere("delete under way", _delete_under_way),
        *_everywhere("catalog deleted", _delete_catalog, _drop(A, B)),
        *_everywhere("catalog kept", _keep_catalog, _drop(A, B)),
        *_everywhere("rejected after a good one", _reject, _drop(A, B)),
        *_everywhere("rejected, and taken by Bedrock", _reject_what_bedrock_takes, _drop(A)),
        Scenario("two compete", _compete, own_slots=1),
        *_everywhere("over a cap", _exceed, _cap),
        *(
            replace(each, reconciles=True)
            for each in _everywhere("reconciler mends", _fall_apart, _drop(A, B, C))
        ),
    )
}
