"""
Empties the account of one project: every document, record, vector and user. There is no way back.

    python infra/purge.py --project stackroom      asks for the project's name before it starts

Run by `make destroy PURGE=yes` after the stacks that could make new things are gone. The order is
the one that works: a knowledge base needs its index and role to the end, a bucket must be empty.
Everything is found by its name, so that it may run again after it broke, or after the stacks went.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

if __package__ in (None, ""):  # run as a script
    sys.path[0] = str(Path(__file__).parents[1])

from infra.purge_knowledge_bases import KnowledgeBases

# Days. https://docs.aws.amazon.com/kms/latest/APIReference/API_ScheduleKeyDeletion.html
_LONGEST_WAIT = 30


def _write_line(text: str) -> object:
    return sys.stdout.write(f"{text}\n")


@dataclass(frozen=True, kw_only=True)
class Purge:
    project: str
    region: str
    client: Callable[[str], Any]
    knowledge_bases: KnowledgeBases
    say: Callable[[str], object]

    def run(self) -> None:
        self.knowledge_bases.purge(self.project)
        self._delete_vectors()
        self._delete_documents()
        self._delete_tables()
        self._delete_webhook_key()
        self._delete_users()
        self._delete_key()
        self._delete_stacks()

    def _bucket_name(self, kind: str) -> str:
        account = self.client("sts").get_caller_identity()["Account"]
        return f"{self.project}-{kind}-{account}-{self.region}"

    def _delete_vectors(self) -> None:
        s3vectors, bucket = self.client("s3vectors"), self._bucket_name("vectors")
        with _passing_over("NotFoundException"):
            for page in s3vectors.get_paginator("list_indexes").paginate(vectorBucketName=bucket):
                for index in page["indexes"]:
                    self.say(f"deleting index {index['indexName']}")
                    s3vectors.delete_index(vectorBucketName=bucket, indexName=index["indexName"])
            s3vectors.delete_vector_bucket(vectorBucketName=bucket)
            self.say(f"deleted vector bucket {bucket}")

    def _delete_documents(self) -> None:
        s3, bucket = self.client("s3"), self._bucket_name("kb-docs")
        with _passing_over("NoSuchBucket"):
            # The policy keeps everyone from deleting sidecars, this program too.
            s3.delete_bucket_policy(Bucket=bucket)
            for objects in _versions(s3, bucket):
                answer = s3.delete_objects(Bucket=bucket, Delete={"Objects": objects})
                if errors := answer.get("Errors"):
                    raise RuntimeError(f"{errors[0]['Key']!r} stays: {errors[0]['Code']}")
                self.say(f"deleted {len(objects)} object versions")
            self._abort_uploads(s3, bucket)
            s3.delete_bucket(Bucket=bucket)
            self.say(f"deleted bucket {bucket}")

    def _abort_uploads(self, s3: Any, bucket: str) -> None:
        for page in s3.get_paginator("list_multipart_uploads").paginate(Bucket=bucket):
            for upload in page.get("Uploads", []):
                s3.abort_multipart_upload(
                    Bucket=bucket, Key=upload["Key"], UploadId=upload["UploadId"]
                )

    def _delete_tables(self) -> None:
        dynamodb = self.client("dynamodb")
        for table in (f"{self.project}-kb-catalog", f"{self.project}-kb-control"):
            with _passing_over("ResourceNotFoundException"):
                dynamodb.update_table(TableName=table, DeletionProtectionEnabled=False)
                dynamodb.get_waiter("table_exists").wait(TableName=table)  # and is ACTIVE
                dynamodb.delete_table(TableName=table)
                self.say(f"deleted table {table}")

    def _delete_webhook_key(self) -> None:
        key = f"{self.project}-webhook-key"
        with _passing_over("ResourceNotFoundException"):
            # Else its name would be taken for a week or longer.
            self.client("secretsmanager").delete_secret(
                SecretId=key, ForceDeleteWithoutRecovery=True
            )
            self.say(f"deleted secret {key}")

    def _delete_key(self) -> None:
        """As late as can be: backups that are kept can't be restored without it."""
        kms, alias = self.client("kms"), f"alias/{self.project}"
        with _passing_over("NotFoundException"):
            key = kms.describe_key(KeyId=alias)["KeyMetadata"]["KeyId"]
            kms.schedule_key_deletion(KeyId=key, PendingWindowInDays=_LONGEST_WAIT)
            # After that, so that it is found where this breaks off; and its name is free.
            kms.delete_alias(AliasName=alias)
            self.say(
                f"key {key} goes in {_LONGEST_WAIT} days; kept backups need it:"
                f" aws kms cancel-key-deletion --key-id {key}"
            )

    def _delete_users(self) -> None:
        cognito = self.client("cognito-idp")
        for page in cognito.get_paginator("list_user_pools").paginate(MaxResults=60):
            for pool in page["UserPools"]:
                if pool["Name"] == f"{self.project}-users":
                    cognito.update_user_pool(UserPoolId=pool["Id"], DeletionProtection="INACTIVE")
                    cognito.delete_user_pool(UserPoolId=pool["Id"])
                    self.say(f"deleted user pool {pool['Id']}")

    def _delete_stacks(self) -> None:
        """Last: while they stand, the templates say what there was."""
        cloudformation = self.client("cloudformation")
        for kind in ("knowledge-base", "data"):
            stack = f"{self.project}-{kind}"
            cloudformation.delete_stack(StackName=stack)
            cloudformation.get_waiter("stack_delete_complete").wait(StackName=stack)
            self.say(f"deleted stack {stack}")


def _versions(s3: Any, bucket: str) -> Iterator[list[dict[str, str]]]:
    """All versions and delete markers, as many at a time as one DeleteObjects takes (1,000)."""
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=bucket):
        found = [*page.get("Versions", []), *page.get("DeleteMarkers", [])]
        if found:
            yield [{"Key": each["Key"], "VersionId": each["VersionId"]} for each in found]


@contextmanager
def _passing_over(code: str) -> Iterator[None]:
    """Ends quietly at the one error that says that the thing is gone already."""
    try:
        yield
    except ClientError as error:
        if error.response["Error"]["Code"] != code:
            raise


def main() -> None:
    parser = argparse.ArgumentParser(description="Delete everything that a project keeps on AWS.")
    parser.add_argument("--project", required=True)
    project = parser.parse_args().project
    # boto3 itself reads AWS_DEFAULT_REGION only, and might then purge another region.
    session = boto3.session.Session(region_name=os.environ.get("AWS_REGION"))
    if session.region_name is None:
        sys.exit("No region: export AWS_REGION, as for `make deploy`.")
    account = session.client("sts").get_caller_identity()["Account"]
    _write_line(
        f"This deletes every document, record, vector and user of {project!r} in account"
        f" {account}, {session.region_name}. It can't be undone."
    )
    if input("Type the project's name to go on: ").strip() != project:
        sys.exit("Nothing was deleted.")

    @cache
    def client(service: str) -> Any:
        # Bedrock takes two deletions a second; nobody waits for this program.
        patient = Config(retries={"mode": "adaptive", "total_max_attempts": 10})
        # The service is known here only, so that types-boto3 has no type to offer.
        return session.client(service, config=patient)  # type: ignore[call-overload]

    Purge(
        project=project,
        region=session.region_name,
        client=client,
        knowledge_bases=KnowledgeBases(
            bedrock=client("bedrock-agent"), iam=client("iam"), say=_write_line
        ),
        say=_write_line,
    ).run()


if __name__ == "__main__":
    main()
