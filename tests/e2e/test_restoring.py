"""The tables set back to a moment, and made true again out of the bucket (docs/operations.md)."""

from pathlib import Path

import pytest

from infra.restore import Restoration
from stackroom.clock import utc_now
from stackroom.model.records import DocumentStatus
from tests.e2e.people import Agent, Person, eventually
from tests.local.running import ANY_SCORE, local_mode, stackroom

pytestmark = pytest.mark.processes


def test_a_reconciliation_makes_restored_tables_true_again(tmp_path: Path) -> None:
    state = tmp_path / "state"
    with local_mode(state, *ANY_SCORE) as instance:
        otto, dynamodb = Person(instance, "otto"), instance.client("dynamodb")
        tables = (instance.catalog_table, instance.control_table)
        letters = {"letters/old.txt": "From Bruges.", "letters/torn.txt": "From Ghent."}
        otto.settle(otto.put_all(letters))
        streams = {
            each: dynamodb.describe_table(TableName=each)["Table"]["LatestStreamArn"]
            for each in tables
        }

        def event_filenames() -> set[str]:
            events = Agent(instance, "otto")("list_events", limit=100)["metadata"]["events"]
            return {each["detail"].get("filename") for each in events}

        restoration = Restoration(dynamodb=dynamodb, write_line=print)
        for table in tables:
            restoration.restore_copy(table, utc_now())
        otto.settle([otto.put("letters/new.txt", "From Antwerp.")])
        otto.remove("letters/torn.txt")
        otto.await_absence("letters/torn.txt")

        for table in tables:
            restoration.copy_back(table)
        for table in tables:
            restoration.delete_copy(table)
        known = set(otto.records())

        def reconciled() -> bool:
            assert stackroom("reconcile", state_dir=state).returncode == 0
            statuses = {key: each.status for key, each in otto.records().items()}
            kept = ("otto/letters/old.txt", "otto/letters/new.txt")
            return statuses == dict.fromkeys(kept, DocumentStatus.INDEXED)

        eventually(reconciled, "records are those of the bucket")
        assert known == {f"otto/{path}" for path in letters}
        assert set(otto.files_found("Where is the letter from?")) == {"old.txt", "new.txt"}
        # Of tables whose streams are others than when it was deployed, nobody would be told.
        streamed = {each: dynamodb.describe_table(TableName=each)["Table"] for each in tables}
        assert {name: each["LatestStreamArn"] for name, each in streamed.items()} == streams
        otto.settle([otto.put("letters/later.txt", "From Bruges again.")])
        eventually(lambda: "later.txt" in event_filenames(), "what happened after it is told")
        assert not [each for each in dynamodb.list_tables()["TableNames"] if "restored" in each]
