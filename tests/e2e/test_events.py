"""Events of a running local mode reach their user through the tool and the command line."""

import json

from stackroom_local.state import Instance
from tests.e2e.people import Agent, Person, eventually
from tests.local.running import stackroom

FILE = "events.txt"


def test_events_of_a_documents_states_reach_only_its_user(
    instance: Instance, alice: Person
) -> None:
    told = Agent(instance, "alice")
    after = told("list_events", limit=1)["metadata"]["next_after"]

    alice.settle([alice.put(f"told/{FILE}", "Told of as it comes and goes.")])
    alice.remove(f"told/{FILE}")
    alice.await_absence(f"told/{FILE}")

    def states() -> list[str]:
        events = told("list_events", after=after, limit=100)["metadata"]["events"]
        own = [each["detail"] for each in events if each["detail"].get("filename") == FILE]
        return [each["state"] for each in own if "version" in each]

    wanted = ["pending", "indexing", "indexed", "deleting", "deleted"]
    eventually(lambda: states() == wanted, "the document's events")
    listed = stackroom("events", "--user", "alice", "--json", state_dir=instance.state_dir)
    lines = [json.loads(each) for each in listed.stdout.splitlines()]
    assert [
        each["detail"]["state"] for each in lines if each["detail"].get("filename") == FILE
    ].count("deleted") == 1
    others = stackroom("events", "--user", "mallory", state_dir=instance.state_dir)
    assert (others.returncode, others.stdout) == (0, "no events in the last seven days\n")
