from types import SimpleNamespace

from tests.clients.tally import PROPERTY, tally


def report(client: str, when: str, outcome: str) -> SimpleNamespace:
    return SimpleNamespace(
        user_properties=[(PROPERTY, client)], when=when, failed=outcome == "failed"
    )


def test_a_client_counts_once_whatever_let_it_down() -> None:
    stats = {
        "": [report("curl", "setup", "passed"), report("curl", "teardown", "passed")],
        "passed": [report("curl", "call", "passed")],
        "failed": [report("boto3 1.44.5", "call", "failed")],
        "error": [report("AWS CLI 1.46.3", "setup", "failed")],
    }

    told = tally(stats)

    assert told == [
        "works   curl",
        "FAILED  boto3 1.44.5",
        "FAILED  AWS CLI 1.46.3",
        "clients of docs/clients.md that work: 1 of 3",
    ]


def test_nothing_is_told_where_no_client_was_run() -> None:
    another = SimpleNamespace(user_properties=[], when="call", failed=False)

    assert tally({"passed": [another], "warnings": [SimpleNamespace()]}) == []
