"""A user's cap, as an operator sets it and its user sees it."""

from stackroom.model.records import DocumentStatus
from stackroom_local.state import Instance
from tests.e2e.people import Person, eventually
from tests.local.running import stackroom


def test_a_document_over_the_cap_waits_until_the_cap_is_raised(instance: Instance) -> None:
    cara = Person(instance, "cara")
    allow(instance, cara, documents=1)
    cara.settle([cara.put("mills/first.txt", "The first mill grinds rye.")])
    cara.put("mills/second.txt", "The second mill grinds barley.")

    reason = eventually(lambda: reason_of(cara, "mills/second.txt"), "the second document waits")
    found = cara.files_found("what does a mill grind?")
    allow(instance, cara, documents=2)

    assert "1 of 1" in reason
    assert found == ["first.txt"]
    cara.await_status("mills/second.txt", DocumentStatus.INDEXED)


def allow(instance: Instance, person: Person, *, documents: int) -> None:
    given = ("--user", person.name, "--documents", str(documents))
    answer = stackroom("caps", "set", *given, state_dir=instance.state_dir)
    assert answer.returncode == 0, answer.stderr


def reason_of(person: Person, path: str) -> str:
    record = person.record(path)
    return "" if record is None else record.status_reason or ""
