"""The steps of a run, in their order."""

from collections.abc import Callable
from dataclasses import dataclass

from stackroom_local.smoke import asking, contending, doors, ingesting, removing
from stackroom_local.smoke.scene import Scene, Told


@dataclass(frozen=True)
class Step:
    """Raises `NotHere`, or whatever keeps it from going through."""

    name: str
    does: str
    run: Callable[[Scene], Told]


STEPS = (
    Step("people", "makes two users in a group, and signs them in", doors.people),
    Step("tools", "has eleven tools listed", doors.tools),
    Step("refusals", "sends a bad token, a batch, and invokes a tool's function", doors.refusals),
    Step("drop", "drops three files by links", ingesting.drop),
    Step("index", "waits until they are indexed and found, and takes the times", ingesting.index),
    Step("vectors", "reads their vectors in the index itself", ingesting.vectors),
    Step("question", "asks as their owner", asking.question),
    Step("stranger", "asks as the other user, with the owner's id forged, too", asking.stranger),
    Step("sharing", "asks as the other user for what is shared with the group", asking.sharing),
    Step("agreement", "compares the tool's first passage with Retrieve's", asking.agreement),
    Step("content", "uploads a file as large as a tool's call may hold", asking.content),
    Step("contention", "has a job and a direct call meet", contending.contention),
    Step("deletion", "deletes a document, until its receipt is closed", removing.deletion),
    Step("reconcile", "compares bucket, records and index, in a dry run", removing.reconcile),
)
