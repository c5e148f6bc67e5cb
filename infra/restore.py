"""
The tables as they were at a moment of the last 35 days.

    python infra/restore.py --project stackroom --to 2026-11-25T10:00:00+00:00

DynamoDB restores into a new table only, without its stream and other settings
(https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/pointintimerecovery_restores.html).
So each table is restored beside the one that there is, and its items are put in place of what is
there: the table stays the one whose stream is read. If it breaks off, run it again.
docs/operations.md says what comes before and after.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

import boto3
from botocore.exceptions import ClientError

KINDS = ("kb-catalog", "kb-control")
_AT_ONCE = 25  # of one BatchWriteItem [DynamoDB API reference]
Item = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Restoration:
    """Every step may be taken again."""

    dynamodb: Any
    say: Callable[[str], object]

    def beside(self, table: str, to: datetime) -> None:
        """As it was at that moment, as `{table}-restored`."""
        try:
            self.dynamodb.describe_table(TableName=f"{table}-restored")
        except self.dynamodb.exceptions.ResourceNotFoundException:
            self.say(f"{table}-restored: as {table} was at {to}")
            self.dynamodb.restore_table_to_point_in_time(
                SourceTableName=table, TargetTableName=f"{table}-restored", RestoreDateTime=to
            )
        wait = {"Delay": 20, "MaxAttempts": 360}  # two hours
        waiter = self.dynamodb.get_waiter("table_exists")
        waiter.wait(TableName=f"{table}-restored", WaiterConfig=wait)

    def put_back(self, table: str) -> None:
        """
        What was written since that moment is gone. Of an item that is as it was, its stream tells
        nothing [DynamoDB developer guide: Streams].
        """
        self.say(f"{table}: as {table}-restored is")
        schema = self.dynamodb.describe_table(TableName=table)["Table"]["KeySchema"]
        names = [each["AttributeName"] for each in schema]
        kept = set()

        def put(item: Item) -> Item:
            kept.add(tuple(item[name]["S"] for name in names))
            return {"PutRequest": {"Item": item}}

        self._write(table, map(put, self._items(f"{table}-restored")))
        self._write(
            table,
            (
                {"DeleteRequest": {"Key": {name: item[name] for name in names}}}
                for item in self._items(table)
                if tuple(item[name]["S"] for name in names) not in kept
            ),
        )

    def tidy(self, table: str) -> None:
        """When all are put back: until then each run needs what it restores from."""
        self.dynamodb.delete_table(TableName=f"{table}-restored")

    def _items(self, table: str) -> Iterator[Item]:
        pages = self.dynamodb.get_paginator("scan").paginate(TableName=table, ConsistentRead=True)
        return (item for page in pages for item in page["Items"])

    def _write(self, table: str, requests: Iterator[Item]) -> None:
        while some := list(islice(requests, _AT_ONCE)):
            left = {table: some}
            while left:
                left = self.dynamodb.batch_write_item(RequestItems=left)["UnprocessedItems"]


def _write_line(text: str) -> object:
    return sys.stdout.write(f"{text}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="Restore a project's tables to a moment.")
    parser.add_argument("--project", required=True)
    parser.add_argument("--to", required=True, type=datetime.fromisoformat, metavar="ISO TIME")
    asked = parser.parse_args()
    if asked.to.tzinfo is None:
        parser.error("--to needs a time zone, as 2026-11-25T10:00:00+00:00")
    # boto3 itself reads AWS_DEFAULT_REGION only.
    session = boto3.session.Session(region_name=os.environ.get("AWS_REGION"))
    try:
        session.client("cloudformation").describe_stacks(StackName=f"{asked.project}-pipeline")
    except ClientError as error:
        if "does not exist" not in str(error):
            raise
    else:
        sys.exit("The pipeline would write meanwhile: `make destroy` first; it keeps the data.")
    restoration = Restoration(dynamodb=session.client("dynamodb"), say=_write_line)
    tables = [f"{asked.project}-{kind}" for kind in KINDS]
    for table in tables:
        restoration.beside(table, asked.to)
    _write_line("Look at the tables that end with -restored.")
    if input("Type the project's name to have the others be as they are: ") != asked.project:
        sys.exit("Nothing was changed; the tables that end with -restored stay.")
    for table in tables:
        restoration.put_back(table)
    for table in tables:
        restoration.tidy(table)


if __name__ == "__main__":
    main()
