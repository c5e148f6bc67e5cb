"""
Deletes every document, record, vector and user of a project from the account, for good.

    python infra/purge.py --project stackroom      asks for the project's name before it starts

`make destroy PURGE=yes` runs it after the stacks that could create new things are gone. The order
matters: a knowledge base needs its index and role to the end, and a bucket must be empty.
Everything is found by its name, so that it can run again after a failure, or after the stacks are
gone.
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
_PENDING_DAYS = 30


def _write_line(text: str) -> object:
    return sys.stdout.write(f"{text}\n")


@dataclass(frozen=True, kw_only=True)
class Purge:
    project: str
    region: str
    client: Callable[[str], Any]
    knowledge_bases: KnowledgeBases
    write_line: Callable[[str], object]

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
        with _ignore_error("NotFoundException"):
            for page in s3vectors.get_paginator("list_indexes").paginate(vectorBucketName=bucket):
                for index in page["indexes"]:
                    self.write_line(f"deleting index {index['indexName']}")
                    s3vectors.delete_index(vectorBucketName=bucket, indexName=index["indexName"])
            s3vectors.delete_vector_bucket(vectorBucketName=bucket)
            self.write_line(f"deleted vector bucket {bucket}")

    def _delete_documents(self) -> None:
        s3, bucket = self.client("s3"), self._bucket_name("kb-docs")
        with _ignore_error("NoSuchBucket"):
            # The policy denies everyone to delete sidecars, including this program.
            s3.delete_bucket_policy(Bucket=bucket)
            for objects in _versions(s3, bucket):
                answer = s3.delete_objects(Bucket=bucket, Delete={"Objects": objects})
                if errors := answer.get("Errors"):
                    raise RuntimeError(f"{errors[0]['Key']!r} is not deleted: {errors[0]['Code']}")
                self.write_line(f"deleted {len(objects)} object versions")
            self._abort_uploads(s3, bucket)
            s3.delete_bucket(Bucket=bucket)
            self.write_line(f"deleted bucket {bucket}")

    def _abort_uploads(self, s3: Any, bucket: str) -> None:
        for page in s3.get_paginator("list_multipart_uploads").paginate(Bucket=bucket):
            for upload in page.get("Uploads", []):
                s3.abort_multipart_upload(
                    Bucket=bucket, Key=upload["Key"], UploadId=upload["UploadId"]
                )

    def _delete_tables(self) -> None:
        dynamodb = self.client("dynamodb")
        for table in (f"{self.project}-kb-catalog", f"{self.project}-kb-control"):
            with _ignore_error("ResourceNotFoundException"):
                dynamodb.update_table(TableName=table, DeletionProtectionEnabled=False)
                dynamodb.get_waiter("table_exists").wait(TableName=table)  # until it is ACTIVE
                dynamodb.delete_table(TableName=table)
                self.write_line(f"deleted table {table}")

    def _delete_webhook_key(self) -> None:
        key = f"{self.project}-webhook-key"
        with _ignore_error("ResourceNotFoundException"):
            # Otherwise its name would stay taken for a week or longer.
            self.client("secretsmanager").delete_secret(
                SecretId=key, ForceDeleteWithoutRecovery=True
            )
            self.write_line(f"deleted secret {key}")

    def _delete_key(self) -> None:
        """
        Schedule the key's deletion, as late as possible: kept backups can't be restored without it.
        """
        kms, alias = self.client("kms"), f"alias/{self.project}"
        with _ignore_error("NotFoundException"):
            key = kms.describe_key(KeyId=alias)["KeyMetadata"]["KeyId"]
            kms.schedule_key_deletion(KeyId=key, PendingWindowInDays=_PENDING_DAYS)
            # Last, so that an interrupted purge finds the key again; this frees the name.
            kms.delete_alias(AliasName=alias)
            self.write_line(
                f"key {key} will be deleted in {_PENDING_DAYS} days; to keep it for backups:"
                f" aws kms cancel-key-deletion --key-id {key}"
            )

    def _delete_users(self) -> None:
        cognito = self.client("cognito-idp")
        for page in cognito.get_paginator("list_user_pools").paginate(MaxResults=60):
            for pool in page["UserPools"]:
                if pool["Name"] == f"{self.project}-users":
                    cognito.update_user_pool(UserPoolId=pool["Id"], DeletionProtection="INACTIVE")
                    cognito.delete_user_pool(UserPoolId=pool["Id"])
                    self.write_line(f"deleted user pool {pool['Id']}")

    def _delete_stacks(self) -> None:
        """Delete the stacks last: until then, their templates document what existed."""
        cloudformation = self.client("cloudformation")
        for kind in ("knowledge-base", "data"):
            stack = f"{self.project}-{kind}"
            cloudformation.delete_stack(StackName=stack)
            cloudformation.get_waiter("stack_delete_complete").wait(StackName=stack)
            self.write_line(f"deleted stack {stack}")


def _versions(s3: Any, bucket: str) -> Iterator[list[dict[str, str]]]:
    """Yield all versions and delete markers, in batches that one DeleteObjects takes (1,000)."""
    for page in s3.get_paginator("list_object_versions").paginate(Bucket=bucket):
        versions = [*page.get("Versions", []), *page.get("DeleteMarkers", [])]
        if versions:
            yield [{"Key": each["Key"], "VersionId": each["VersionId"]} for each in versions]


@contextmanager
def _ignore_error(code: str) -> Iterator[None]:
    """Ignore the one error that says that the resource doesn't exist any more."""
    try:
        yield
    except ClientError as error:
        if error.response["Error"]["Code"] != code:
            raise


def main() -> None:
    parser = argparse.ArgumentParser(description="Delete everything that a project keeps on AWS.")
    parser.add_argument("--project", required=True)
    project = parser.parse_args().project
    # boto3 itself reads AWS_DEFAULT_REGION only, and might then purge the wrong region.
    session = boto3.session.Session(region_name=os.environ.get("AWS_REGION"))
    if not session.region_name:
        sys.exit("No region is set: export AWS_REGION, as for `make deploy`.")
    account = session.client("sts").get_caller_identity()["Account"]
    _write_line(
        f"This deletes every document, record, vector and user of {project!r} in account"
        f" {account}, {session.region_name}. It can't be undone."
    )
    if input("Type the project's name to continue: ").strip() != project:
        sys.exit("Nothing was deleted.")

    @cache
    def client(service: str) -> Any:
        # Bedrock allows two deletions a second; nobody is waiting for this program.
        config = Config(retries={"mode": "adaptive", "total_max_attempts": 10})
        # The service is known at run time only, so that types-boto3 has no type for it.
        return session.client(service, config=config)  # type: ignore[call-overload]

    Purge(
        project=project,
        region=session.region_name,
        client=client,
        knowledge_bases=KnowledgeBases(
            bedrock=client("bedrock-agent"), iam=client("iam"), write_line=_write_line
        ),
        write_line=_write_line,
    ).run()


if __name__ == "__main__":
    main()
