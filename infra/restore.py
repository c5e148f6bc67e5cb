"""
The tables as they were at a moment of the last 35 days, under their own names.

    python infra/restore.py --project stackroom --to 2026-11-25T10:00:00+00:00

DynamoDB restores into a new table only, and without some of its settings
(https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/pointintimerecovery_restores.html).
So each table is restored beside the one that there is, and then takes its place by way of a backup.
DynamoDB keeps a backup of what was deleted for 35 days. If it breaks off, run it again.
docs/operations.md says what comes before and after.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import boto3
from botocore.exceptions import ClientError

KINDS = ("kb-catalog", "kb-control")
_TWO_HOURS = {"Delay": 20, "MaxAttempts": 360}
_BACKUP_SECONDS, _PATIENCE_SECONDS = 5, 600


@dataclass(frozen=True, kw_only=True)
class Restoration:
    """Every step may be taken again: what is there already is not made anew."""

    dynamodb: Any
    say: Callable[[str], object]

    def beside(self, table: str, to: datetime) -> None:
        """As it was at that moment, as `{table}-restored`, with the settings that it has now."""
        if not self._is_there(restored := f"{table}-restored"):
            self.say(f"{restored}: as {table} was at {to}")
            self.dynamodb.restore_table_to_point_in_time(
                SourceTableName=table, TargetTableName=restored, RestoreDateTime=to
            )
        self._wait("table_exists", restored)
        if self._is_there(table):  # else it went in an earlier run, which set them
            self._set_as(table, restored)

    def swap(self, table: str) -> None:
        """`{table}-restored` takes its place. Whatever was written since that moment is gone."""
        restored = f"{table}-restored"
        backup = self._backup(restored)
        if self._is_there(table):
            self._wait("table_exists", table)  # an earlier run may have begun to restore it
            self.say(f"{table}: deleted; DynamoDB keeps a backup of it for 35 days")
            self.dynamodb.update_table(TableName=table, DeletionProtectionEnabled=False)
            self._wait("table_exists", table)
            self.dynamodb.delete_table(TableName=table)
            self._wait("table_not_exists", table)
        self.say(f"{table}: restored")
        self.dynamodb.restore_table_from_backup(TargetTableName=table, BackupArn=backup)
        self._wait("table_exists", table)
        self._set_as(restored, table)
        self.dynamodb.delete_backup(BackupArn=backup)

    def tidy(self, table: str) -> None:
        """When all have taken their places: until then each run needs what it restores from."""
        self.dynamodb.delete_table(TableName=f"{table}-restored")

    def _is_there(self, table: str) -> bool:
        try:
            self.dynamodb.describe_table(TableName=table)
        except self.dynamodb.exceptions.ResourceNotFoundException:
            return False
        return True

    def _wait(self, what: str, table: str) -> None:
        self.dynamodb.get_waiter(what).wait(TableName=table, WaiterConfig=_TWO_HOURS)

    def _backup(self, table: str) -> str:
        made = self.dynamodb.create_backup(TableName=table, BackupName=table)["BackupDetails"]
        arn, status = str(made["BackupArn"]), made["BackupStatus"]
        while status == "CREATING":
            time.sleep(_BACKUP_SECONDS)
            found = self.dynamodb.describe_backup(BackupArn=arn)["BackupDescription"]
            status = found["BackupDetails"]["BackupStatus"]
        return arn

    def _set_as(self, model: str, table: str) -> None:
        """What DynamoDB doesn't restore: expiry, recovery to a moment, tags."""
        expiry = self._expiry(model)
        if expiry != self._expiry(table):  # to say it again is refused
            self.dynamodb.update_time_to_live(
                TableName=table,
                TimeToLiveSpecification={"Enabled": True, "AttributeName": expiry},
            )
        self._have_moments(table)
        tags = self.dynamodb.list_tags_of_resource(ResourceArn=self._arn(model))["Tags"]
        if own := [each for each in tags if not each["Key"].startswith("aws:")]:
            self.dynamodb.tag_resource(ResourceArn=self._arn(table), Tags=own)

    def _have_moments(self, table: str) -> None:
        """
        A new table is ACTIVE some time before DynamoDB has it backed up at all, and refuses until
        then (scalar-labs/scalardb 347, aws-amplify/amplify-backend 1654).
        """
        end = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                self.dynamodb.update_continuous_backups(
                    TableName=table,
                    PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
                )
            except self.dynamodb.exceptions.ContinuousBackupsUnavailableException:
                if time.monotonic() > end:
                    raise
                time.sleep(_BACKUP_SECONDS)
            else:
                return

    def _expiry(self, table: str) -> str | None:
        told = self.dynamodb.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
        name: str | None = told.get("AttributeName")
        return name

    def _arn(self, table: str) -> str:
        return str(self.dynamodb.describe_table(TableName=table)["Table"]["TableArn"])


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
    if input("Type the project's name to have them take the others' place: ") != asked.project:
        sys.exit("Nothing was changed; the tables that end with -restored stay.")
    for table in tables:
        restoration.swap(table)
    for table in tables:
        restoration.tidy(table)


if __name__ == "__main__":
    main()
