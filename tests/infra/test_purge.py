# ruff: noqa: N803 - arguments are spelled as boto3 spells them
"""Purging an account: Bedrock is the simulator, the rest is moto."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from infra import purge
from infra.protect import protect
from infra.purge import Purge
from infra.purge_knowledge_bases import DeletionTimeout, KnowledgeBases
from simulator.tests.world import knowledge_base_request
from tests.workflow.answering import answered
from tests.workflow.simulator import Simulator

REGION = "eu-central-1"
ACCOUNT = "123456789012"  # moto's
BUCKET = f"stackroom-kb-docs-{ACCOUNT}-{REGION}"


class Bedrock:
    """The simulator, with `calls` for deletions and stops; each call takes a second."""

    def __init__(self, s3: Any) -> None:
        self.simulator = Simulator(s3)
        self.calls: list[tuple[str, str]] = []

    def answer(self, operation: Any, request: dict[str, Any]) -> dict[str, Any]:
        if operation.name.startswith(("Delete", "Stop")):
            self.calls.append((operation.name, [*request.values()][-1]))
        response = self.simulator.call(operation, request, after=1.0)
        # The service omits fields that are None.
        return {
            name: {key: each for key, each in value.items() if each is not None}
            if isinstance(value, dict)
            else value
            for name, value in response.items()
        }

    def add(self, name: str) -> str:
        """Create a knowledge base with a data source that crawls the bucket; return its id."""
        ask, of_it = self.simulator.ask, {"vectorBucketName": name, "indexName": name}
        ask("CreateVectorBucket", service="s3vectors", vectorBucketName=name)
        shape = {"dataType": "float32", "dimension": 1024, "distanceMetric": "cosine"}
        index = ask("CreateIndex", service="s3vectors", **of_it, **shape)["indexArn"]
        role = f"arn:aws:iam::{ACCOUNT}:role/role-of-{name}"
        request = {**knowledge_base_request(index, name), "roleArn": role}
        made = str(ask("CreateKnowledgeBase", **request)["knowledgeBase"]["knowledgeBaseId"])
        self.simulator.pass_time(10)
        crawled = {"type": "S3", "s3Configuration": {"bucketArn": f"arn:aws:s3:::{BUCKET}"}}
        ask("CreateDataSource", knowledgeBaseId=made, name=name, dataSourceConfiguration=crawled)
        return made

    def source(self, knowledge_base_id: str) -> str:
        listed = self.simulator.ask("ListDataSources", knowledgeBaseId=knowledge_base_id)
        [found] = listed["dataSourceSummaries"]
        return str(found["dataSourceId"])

    def names(self) -> list[str]:
        listed = self.simulator.ask("ListKnowledgeBases")["knowledgeBaseSummaries"]
        return sorted(each["name"] for each in listed)


@dataclass
class Pages:
    page: Callable[..., dict[str, Any]]

    def paginate(self, **request: Any) -> list[dict[str, Any]]:
        return [self.page(**request)]


@dataclass
class FakeUserPools:
    """User pools by name, which is also their id, with their deletion protection."""

    protected: dict[str, bool] = field(default_factory=dict)

    def get_paginator(self, _operation: str) -> Pages:
        pools = [{"Id": name, "Name": name} for name in self.protected]
        return Pages(lambda **_request: {"UserPools": pools})

    def update_user_pool(self, *, UserPoolId: str, DeletionProtection: str) -> None:
        self.protected[UserPoolId] = DeletionProtection == "ACTIVE"

    def delete_user_pool(self, *, UserPoolId: str) -> None:
        if self.protected[UserPoolId]:
            raise _error("InvalidParameterException", "DeleteUserPool")
        del self.protected[UserPoolId]


@dataclass
class FakeStacks:
    """CloudFormation, which refuses to delete a stack while another imports its exports."""

    existing: list[str] = field(default_factory=list)

    def delete_stack(self, *, StackName: str) -> None:
        kept = [name for name in self.existing if name != StackName]
        if StackName.endswith("-data") and any(name.endswith("-base") for name in kept):
            raise _error("ValidationError", "DeleteStack")
        self.existing = kept

    def get_waiter(self, name: str) -> "FakeStacks":
        assert name == "stack_delete_complete", "the purge waits for nothing else"
        return self

    def wait(self, *, StackName: str) -> None:
        assert StackName not in self.existing, "the fake deletes at once"


def _error(code: str, operation: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "as Bedrock would say"}}, operation)


@dataclass
class Account:
    bedrock: Bedrock
    users: FakeUserPools
    stacks: FakeStacks
    client: Callable[[str], Any]
    lines: list[str] = field(default_factory=list)

    def purge(self, project: str = "stackroom") -> None:
        Purge(
            project=project,
            region=REGION,
            client=self.client,
            knowledge_bases=KnowledgeBases(
                bedrock=self.client("bedrock-agent"),
                iam=self.client("iam"),
                write_line=self.lines.append,
                sleep=self.bedrock.simulator.pass_time,
            ),
            write_line=self.lines.append,
        ).run()


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        # moto's own versions need packages that nothing else here does.
        users, stacks = FakeUserPools(), FakeStacks()
        fakes: dict[str, Any] = {"cognito-idp": users, "cloudformation": stacks}
        session: Any = boto3.session.Session(region_name=REGION)  # its stubs want literal names

        @cache
        def client(service: str) -> Any:
            return fakes.get(service) or session.client(service)

        bedrock = Bedrock(client("s3"))
        with answered(bedrock.answer, client("bedrock-agent")):
            yield Account(bedrock, users, stacks, client)
        bedrock.simulator.close()


def a_bucket(account: Account) -> Any:
    s3 = account.client("s3")
    s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    return s3


def test_purge_stops_jobs_first_and_deletes_the_role_last(account: Account) -> None:
    a_bucket(account).put_object(Bucket=BUCKET, Key="alice/research/report.txt", Body=b"text")
    made = account.bedrock.add("stackroom-1")
    iam = account.client("iam")
    iam.create_role(RoleName="role-of-stackroom-1", AssumeRolePolicyDocument="{}")
    statement = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    iam.put_role_policy(
        RoleName="role-of-stackroom-1", PolicyName="Ingestion", PolicyDocument=document
    )
    source = {"knowledgeBaseId": made, "dataSourceId": account.bedrock.source(made)}
    job = account.bedrock.simulator.ask("StartIngestionJob", **source)["ingestionJob"]

    account.purge()

    assert account.bedrock.calls == [
        ("StopIngestionJob", job["ingestionJobId"]),
        ("DeleteDataSource", source["dataSourceId"]),
        ("DeleteKnowledgeBase", made),
    ]
    assert (iam.list_roles()["Roles"], account.bedrock.names()) == ([], [])


def test_purge_deletes_every_version_of_every_document(account: Account) -> None:
    s3 = a_bucket(account)
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    for body in (b"first", b"second"):
        s3.put_object(Bucket=BUCKET, Key="alice/research/report.txt", Body=body)
    s3.delete_object(Bucket=BUCKET, Key="alice/research/report.txt")
    s3.create_multipart_upload(Bucket=BUCKET, Key="alice/research/large.pdf")

    account.purge()

    assert s3.list_buckets()["Buckets"] == []
    assert "deleted 3 object versions" in account.lines


def test_purge_removes_tables_users_and_kept_stacks_of_its_project_only(
    account: Account,
) -> None:
    dynamodb = account.client("dynamodb")
    for name in ("stackroom-kb-catalog", "stackroom-kb-control", "other-kb-catalog"):
        dynamodb.create_table(
            TableName=name,
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
    outputs = {
        "CatalogTableName": "stackroom-kb-catalog",
        "ControlTableName": "stackroom-kb-control",
    }
    protect({"stackroom-data": outputs, "stackroom-gateway": {}}, dynamodb)
    with pytest.raises(ClientError, match="DeletionProtection"):
        dynamodb.delete_table(TableName="stackroom-kb-control")
    secrets = account.client("secretsmanager")
    for name in ("stackroom-webhook-key", "other-webhook-key"):
        secrets.create_secret(Name=name, SecretString="key")
    account.users.protected = {"stackroom-users": True, "other-users": True}
    account.stacks.existing = ["stackroom-data", "stackroom-knowledge-base", "other-data"]
    for name in ("stackroom-two-1", "stackroom-2-1"):
        account.bedrock.add(name)

    account.purge()

    assert dynamodb.list_tables()["TableNames"] == ["other-kb-catalog"]
    assert [each["Name"] for each in secrets.list_secrets()["SecretList"]] == ["other-webhook-key"]
    assert account.users.protected == {"other-users": True}
    assert account.stacks.existing == ["other-data"]
    assert account.lines[-1] == "deleted stack stackroom-data"
    assert account.bedrock.names() == ["stackroom-2-1", "stackroom-two-1"]
    account.purge()  # nothing of this project is left
    assert account.bedrock.calls == []


def test_purge_schedules_key_deletion_and_frees_its_alias(account: Account) -> None:
    kms = account.client("kms")
    keys = {}
    for project in ("stackroom", "other"):
        keys[project] = kms.create_key()["KeyMetadata"]["KeyId"]
        kms.create_alias(AliasName=f"alias/{project}", TargetKeyId=keys[project])

    for _ in range(2):
        account.purge()

    states = {
        project: kms.describe_key(KeyId=key)["KeyMetadata"]["KeyState"]
        for project, key in keys.items()
    }
    assert states == {"stackroom": "PendingDeletion", "other": "Enabled"}
    names = {each["AliasName"] for each in kms.list_aliases()["Aliases"]}
    assert ("alias/stackroom" in names, "alias/other" in names) == (False, True)


def test_purge_deletes_the_projects_vectors_with_their_bucket(account: Account) -> None:
    s3vectors = account.client("s3vectors")
    buckets = [f"{project}-vectors-{ACCOUNT}-{REGION}" for project in ("other", "stackroom")]
    for bucket in buckets:
        s3vectors.create_vector_bucket(vectorBucketName=bucket)
        shape = {"dataType": "float32", "dimension": 4, "distanceMetric": "cosine"}
        s3vectors.create_index(vectorBucketName=bucket, indexName="stackroom-1", **shape)

    account.purge()

    left = s3vectors.list_vector_buckets()["vectorBuckets"]
    assert [each["vectorBucketName"] for each in left] == buckets[:1]


def test_version_that_s3_does_not_delete_ends_the_purge(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    s3 = a_bucket(account)
    s3.put_object(Bucket=BUCKET, Key="alice/a.txt", Body=b"text")
    refused = {"Errors": [{"Key": "alice/a.txt", "Code": "AccessDenied"}]}
    monkeypatch.setattr(s3, "delete_objects", lambda **_: refused)

    with pytest.raises(RuntimeError, match=r"'alice/a\.txt' is not deleted: AccessDenied"):
        account.purge()


def test_knowledge_base_that_never_goes_ends_the_purge(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = account.bedrock.add("stackroom-1")
    monkeypatch.setattr(account.client("bedrock-agent"), "delete_knowledge_base", lambda **_: {})

    with pytest.raises(DeletionTimeout, match=f"{made} still exists after 1800 seconds"):
        account.purge()


@pytest.mark.parametrize(
    ("region", "typed", "said"),
    [("", "stackroom", "No region is set"), (REGION, "other", "Nothing was deleted")],
)
def test_nothing_is_purged_without_a_region_or_the_typed_name(
    account: Account, monkeypatch: pytest.MonkeyPatch, region: str, typed: str, said: str
) -> None:
    a_bucket(account)
    for name, value in {"AWS_REGION": region, "AWS_DEFAULT_REGION": ""}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.argv", ["purge.py", "--project", "stackroom"])
    monkeypatch.setattr("builtins.input", lambda _: typed)

    with pytest.raises(SystemExit, match=said):
        purge.main()

    assert len(account.client("s3").list_buckets()["Buckets"]) == 1
