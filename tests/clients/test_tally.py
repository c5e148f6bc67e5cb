from types import SimpleNamespace

from tests.clients.tally import PROPERTY, tally


def report(client: str, when: str, outcome: str) -> SimpleNamespace:
    return SimpleNamespace(
        user_properties=[(PROPERTY, client)], when=when, failed=outcome == "failed"
    )


def test_a_client_works_if_nothing_let_it_down() -> None:
    stats = {
        "": [report("curl", "setup", "passed"), report("curl", "teardown", "passed")],
        "passed": [report("curl", "call", "passed"), report("Inspector", "call", "passed")],
        "failed": [report("Inspector", "call", "failed")],
        "error": [report("AWS CLI", "setup", "failed")],
    }

    told = tally(stats)

    assert told == [
        "works   curl",
        "FAILED  AWS CLI",
        "FAILED  Inspector",
        "clients of docs/clients.md that work: 1 of 3",
    ]


def test_nothing_is_told_where_no_client_was_run() -> None:
    another = SimpleNamespace(user_properties=[], when="call", failed=False)

    assert tally({"passed": [another], "warnings": [SimpleNamespace()]}) == []
