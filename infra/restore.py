"""
Restores the tables to a point in time of the last 35 days.

    python infra/restore.py --project stackroom --to 2026-11-25T10:00:00+00:00

DynamoDB restores only into a new table, without its stream and other settings
(https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/pointintimerecovery_restores.html).
So each table is restored to a copy, whose items then replace those of the table, which keeps its
stream. If it fails, run it again. docs/operations.md describes what comes before and after.
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
_BATCH = 25  # items in one BatchWriteItem [DynamoDB API reference]
Item = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Restoration:
    """The steps of a restoration, each of which can be repeated."""

    dynamodb: Any
    write_line: Callable[[str], object]

    def restore_copy(self, table: str, to: datetime) -> None:
        """Restore the table as of `to` as `{table}-restored`."""
        try:
            self.dynamodb.describe_table(TableName=f"{table}-restored")
        except self.dynamodb.exceptions.ResourceNotFoundException:
            self.write_line(f"{table}-restored: restoring {table} as of {to}")
            self.dynamodb.restore_table_to_point_in_time(
                SourceTableName=table, TargetTableName=f"{table}-restored", RestoreDateTime=to
            )
        wait = {"Delay": 20, "MaxAttempts": 360}  # two hours
        waiter = self.dynamodb.get_waiter("table_exists")
        waiter.wait(TableName=f"{table}-restored", WaiterConfig=wait)

    def copy_back(self, table: str) -> None:
        """
        Replace the table's items with those of its copy.

        Items written since then are deleted. Items that did not change add nothing to the stream
        [DynamoDB developer guide: Streams].
        """
        self.write_line(f"{table}: replacing its items with those of {table}-restored")
        schema = self.dynamodb.describe_table(TableName=table)["Table"]["KeySchema"]
        names = [each["AttributeName"] for each in schema]
        restored = set()

        def put(item: Item) -> Item:
            restored.add(tuple(item[name]["S"] for name in names))
            return {"PutRequest": {"Item": item}}

        self._write(table, map(put, self._items(f"{table}-restored")))
        self._write(
            table,
            (
                {"DeleteRequest": {"Key": {name: item[name] for name in names}}}
                for item in self._items(table)
                if tuple(item[name]["S"] for name in names) not in restored
            ),
        )

    def delete_copy(self, table: str) -> None:
        """Delete the copy, once all tables are restored: until then, another run needs it."""
        self.dynamodb.delete_table(TableName=f"{table}-restored")

    def _items(self, table: str) -> Iterator[Item]:
        pages = self.dynamodb.get_paginator("scan").paginate(TableName=table, ConsistentRead=True)
        return (item for page in pages for item in page["Items"])

    def _write(self, table: str, requests: Iterator[Item]) -> None:
        while batch := list(islice(requests, _BATCH)):
            unprocessed = {table: batch}
            while unprocessed:
                unprocessed = self.dynamodb.batch_write_item(RequestItems=unprocessed)[
                    "UnprocessedItems"
                ]


def _write_line(text: str) -> object:
    return sys.stdout.write(f"{text}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="Restore a project's tables to a point in time.")
    parser.add_argument("--project", required=True)
    parser.add_argument("--to", required=True, type=datetime.fromisoformat, metavar="ISO TIME")
    arguments = parser.parse_args()
    if arguments.to.tzinfo is None:
        parser.error("--to needs a time zone, as 2026-11-25T10:00:00+00:00")
    # boto3 itself reads AWS_DEFAULT_REGION only.
    session = boto3.session.Session(region_name=os.environ.get("AWS_REGION"))
    try:
        session.client("cloudformation").describe_stacks(StackName=f"{arguments.project}-pipeline")
    except ClientError as error:
        if "does not exist" not in str(error):
            raise
    else:
        sys.exit("The pipeline would write meanwhile: run `make destroy` first; it keeps the data.")
    restoration = Restoration(dynamodb=session.client("dynamodb"), write_line=_write_line)
    tables = [f"{arguments.project}-{kind}" for kind in KINDS]
    for table in tables:
        restoration.restore_copy(table, arguments.to)
    _write_line("Check the tables that end with -restored.")
    if input("Type the project's name to replace the tables' items: ") != arguments.project:
        sys.exit("Nothing was changed; the tables that end with -restored remain.")
    for table in tables:
        restoration.copy_back(table)
    for table in tables:
        restoration.delete_copy(table)


if __name__ == "__main__":
    main()
