"""The steps of a run, in their order."""

from collections.abc import Callable
from dataclasses import dataclass

from stackroom_local.smoke import asking, contending, doors, ingesting, removing, stored
from stackroom_local.smoke.scene import Scene, Told


@dataclass(frozen=True)
class Step:
    """
    Raises `NotHere`, or whatever keeps it from going through. It proves nothing unless the step
    that it `needs` went through.
    """

    name: str
    does: str
    run: Callable[[Scene], Told]
    needs: str = ""


_PEOPLE, _DROP, _INDEX = "people", "drop", "index"
STEPS = (
    Step(_PEOPLE, "makes two users in a group, and signs them in", doors.people),
    Step("tools", "has eleven tools listed", doors.tools, _PEOPLE),
    Step("refusals", "sends a bad token and a batch, invokes a function", doors.refusals, _PEOPLE),
    Step(_DROP, "drops three files by links", ingesting.drop, _PEOPLE),
    Step(_INDEX, "waits until they are found, and takes the times", ingesting.index, _DROP),
    Step("vectors", "reads their vectors in the index itself", stored.vectors, _INDEX),
    Step("question", "asks as their owner", asking.question, _INDEX),
    Step("stranger", "asks as the other one, with the owner's id, too", asking.stranger, _INDEX),
    Step("sharing", "asks as the other one for what is shared", asking.sharing, _INDEX),
    Step(
        "agreement", "compares the tool's first passage with Retrieve's", asking.agreement, _INDEX
    ),
    Step("content", "uploads a file as large as a tool's call may hold", asking.content, _DROP),
    Step("contention", "has a job and a direct call meet", contending.contention, _INDEX),
    Step("deletion", "deletes a document, until its receipt is closed", removing.deletion, _INDEX),
    Step(
        "reconcile", "compares bucket, records and index, in a dry run", removing.reconcile, _DROP
    ),
)
