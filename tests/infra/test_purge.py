# ruff: noqa: N803 - arguments are spelled as boto3 spells them
"""Emptying an account: Bedrock by a fake that refuses the wrong order, the rest by moto."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from infra.purge import Purge
from infra.purge_knowledge_bases import KnowledgeBases

REGION = "eu-central-1"
ACCOUNT = "123456789012"  # moto's
BUCKET = f"stackroom-kb-docs-{ACCOUNT}-{REGION}"


class FakeBedrock:
    """Knowledge bases, data sources and jobs; stopping and deleting take a few looks."""

    def __init__(self) -> None:
        self.knowledge_bases: dict[str, dict[str, Any]] = {}
        self.sources: dict[str, dict[str, Any]] = {}
        self.jobs: dict[str, dict[str, Any]] = {}
        # Deletions that its vector store refuses: of vectors, which may be given up with RETAIN.
        self.refusals = 0
        self.deleted: list[str] = []

    def add(self, name: str, *, sources: int = 1, running: bool = False) -> None:
        knowledge_base = f"KB-{name}"
        role = f"arn:aws:iam::123456789012:role/role-of-{name}"
        self.knowledge_bases[knowledge_base] = {"name": name, "roleArn": role}
        for number in range(sources):
            source = f"DS-{name}-{number}"
            self.sources[source] = {
                "knowledgeBaseId": knowledge_base,
                "name": source,
                "dataSourceConfiguration": {"type": "CUSTOM"},
                "serverSideEncryptionConfiguration": {"kmsKeyArn": "arn:key"},
                "status": "AVAILABLE",
                "dataDeletionPolicy": "DELETE",
            }
            if running:
                self.jobs[f"JOB-{source}"] = {"source": source, "status": "IN_PROGRESS"}

    def get_paginator(self, operation: str) -> "Pages":
        return Pages(getattr(self, operation))

    def list_knowledge_bases(self) -> dict[str, Any]:
        return {
            "knowledgeBaseSummaries": [
                {"knowledgeBaseId": id_, "name": each["name"]}
                for id_, each in self.knowledge_bases.items()
            ]
        }

    def list_data_sources(self, *, knowledgeBaseId: str) -> dict[str, Any]:
        return {
            "dataSourceSummaries": [
                {"dataSourceId": id_}
                for id_, each in self.sources.items()
                if each["knowledgeBaseId"] == knowledgeBaseId
            ]
        }

    def list_ingestion_jobs(self, *, knowledgeBaseId: str, dataSourceId: str) -> dict[str, Any]:
        jobs = [
            {"ingestionJobId": id_, "status": job["status"]}
            for id_, job in self.jobs.items()
            if job["source"] == dataSourceId
        ]
        self._move_on(self.jobs.values(), {"STOPPING": "STOPPED"})
        return {"ingestionJobSummaries": jobs}

    def stop_ingestion_job(
        self, *, knowledgeBaseId: str, dataSourceId: str, ingestionJobId: str
    ) -> None:
        self.jobs[ingestionJobId]["status"] = "STOPPING"

    def get_data_source(self, *, knowledgeBaseId: str, dataSourceId: str) -> dict[str, Any]:
        found = self.sources.get(dataSourceId)
        if found is None or found["status"] == "GONE":
            raise _error("ResourceNotFoundException", "GetDataSource")
        shown = dict(found)
        ending = "GONE"
        is_refused = self.refusals > 0 and found["dataDeletionPolicy"] == "DELETE"
        if is_refused and found["status"] == "DELETING":
            self.refusals -= 1
            ending = "DELETE_UNSUCCESSFUL"
        self._move_on([found], {"DELETING": ending})
        return {"dataSource": shown}

    def delete_data_source(self, *, knowledgeBaseId: str, dataSourceId: str) -> None:
        if any(
            job["source"] == dataSourceId and job["status"] != "STOPPED"
            for job in self.jobs.values()
        ):
            raise _error("ValidationException", "DeleteDataSource")
        self.sources[dataSourceId]["status"] = "DELETING"
        self.deleted.append(dataSourceId)

    def update_data_source(
        self, *, knowledgeBaseId: str, dataSourceId: str, **settings: Any
    ) -> None:
        """Replaces everything: what is not said again is gone."""
        source = self.sources[dataSourceId]
        if source["dataSourceConfiguration"]["type"] == "MANAGED_KNOWLEDGE_BASE_CONNECTOR":
            raise _error("ValidationException", "UpdateDataSource")  # as RETAIN is none for it
        kept = {key: source[key] for key in ("knowledgeBaseId", "status")}
        self.sources[dataSourceId] = {**kept, **settings}

    def get_knowledge_base(self, *, knowledgeBaseId: str) -> dict[str, Any]:
        if knowledgeBaseId not in self.knowledge_bases:
            raise _error("ResourceNotFoundException", "GetKnowledgeBase")
        return {"knowledgeBase": self.knowledge_bases[knowledgeBaseId]}

    def delete_knowledge_base(self, *, knowledgeBaseId: str) -> None:
        if any(
            each["knowledgeBaseId"] == knowledgeBaseId and each["status"] != "GONE"
            for each in self.sources.values()
        ):
            raise _error("ConflictException", "DeleteKnowledgeBase")
        del self.knowledge_bases[knowledgeBaseId]
        self.deleted.append(knowledgeBaseId)

    def _move_on(self, things: Any, moves: dict[str, str]) -> None:
        for thing in things:
            thing["status"] = moves.get(thing["status"], thing["status"])


@dataclass
class Pages:
    page: Callable[..., dict[str, Any]]

    def paginate(self, **request: Any) -> list[dict[str, Any]]:
        return [self.page(**request)]


@dataclass
class FakeUserPools:
    """User pools by name, which is their id too, and whether deletion protection is on."""

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
    """CloudFormation: a stack is refused while another still imports what it exports."""

    standing: list[str] = field(default_factory=list)

    def delete_stack(self, *, StackName: str) -> None:
        kept = [name for name in self.standing if name != StackName]
        if StackName.endswith("-data") and any(name.endswith("-base") for name in kept):
            raise _error("ValidationError", "DeleteStack")
        self.standing = kept

    def get_waiter(self, name: str) -> "FakeStacks":
        assert name == "stack_delete_complete", "nothing else is waited for"
        return self

    def wait(self, *, StackName: str) -> None:
        assert StackName not in self.standing, "deleting is at once here"


def _error(code: str, operation: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "as Bedrock would say"}}, operation)


@dataclass
class Account:
    bedrock: FakeBedrock
    users: FakeUserPools
    stacks: FakeStacks
    client: Callable[[str], Any]
    said: list[str] = field(default_factory=list)

    def purge(self, project: str = "stackroom") -> None:
        Purge(
            project=project,
            region=REGION,
            client=self.client,
            knowledge_bases=KnowledgeBases(
                bedrock=self.bedrock,
                iam=self.client("iam"),
                say=self.said.append,
                sleep=lambda _seconds: None,
            ),
            say=self.said.append,
        ).run()


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        # moto's own need packages that nothing else here does.
        users, stacks = FakeUserPools(), FakeStacks()
        fakes: dict[str, Any] = {"cognito-idp": users, "cloudformation": stacks}
        session: Any = boto3.session.Session(region_name=REGION)  # its stubs want literal names

        @cache
        def client(service: str) -> Any:
            return fakes.get(service) or session.client(service)

        yield Account(FakeBedrock(), users, stacks, client)


def test_jobs_stop_before_their_data_source_goes_and_a_role_goes_last(account: Account) -> None:
    account.bedrock.add("stackroom-1", sources=2, running=True)
    iam = account.client("iam")
    iam.create_role(RoleName="role-of-stackroom-1", AssumeRolePolicyDocument="{}")
    statement = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    iam.put_role_policy(
        RoleName="role-of-stackroom-1", PolicyName="Ingestion", PolicyDocument=document
    )

    account.purge()

    assert account.bedrock.deleted == ["DS-stackroom-1-0", "DS-stackroom-1-1", "KB-stackroom-1"]
    assert iam.list_roles()["Roles"] == []


def test_vectors_that_the_store_refuses_to_delete_are_given_up_and_hold_nothing_up(
    account: Account,
) -> None:
    account.bedrock.add("stackroom-1")
    settings = dict(account.bedrock.sources["DS-stackroom-1-0"])
    account.bedrock.refusals = 99

    account.purge()

    assert account.bedrock.sources["DS-stackroom-1-0"] == {
        **settings,
        "dataDeletionPolicy": "RETAIN",
        "status": "GONE",
    }
    assert account.bedrock.knowledge_bases == {}


def test_a_managed_one_that_was_not_deleted_is_deleted_once_more(account: Account) -> None:
    account.bedrock.add("stackroom-1")
    source = account.bedrock.sources["DS-stackroom-1-0"]
    source["dataSourceConfiguration"] = {"type": "MANAGED_KNOWLEDGE_BASE_CONNECTOR"}
    account.bedrock.refusals = 1

    account.purge()

    assert account.bedrock.knowledge_bases == {}
    assert account.bedrock.deleted.count("DS-stackroom-1-0") == 2


def test_every_version_of_every_document_goes(account: Account) -> None:
    s3 = account.client("s3")
    s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    for body in (b"first", b"second"):
        s3.put_object(Bucket=BUCKET, Key="alice/research/report.txt", Body=body)
    s3.delete_object(Bucket=BUCKET, Key="alice/research/report.txt")
    s3.create_multipart_upload(Bucket=BUCKET, Key="alice/research/large.pdf")

    account.purge()

    assert s3.list_buckets()["Buckets"] == []
    assert "deleted 3 object versions" in account.said


def test_tables_users_and_the_stacks_that_were_kept_go_and_other_projects_stay(
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
    account.users.protected = {"stackroom-users": True, "other-users": True}
    account.stacks.standing = ["stackroom-data", "stackroom-knowledge-base", "other-data"]
    for name in ("stackroom-two-1", "stackroom-2-1"):
        account.bedrock.add(name)

    account.purge()

    assert dynamodb.list_tables()["TableNames"] == ["other-kb-catalog"]
    assert account.users.protected == {"other-users": True}
    assert account.stacks.standing == ["other-data"]
    assert account.said[-1] == "deleted stack stackroom-data"
    assert len(account.bedrock.knowledge_bases) == 2
    account.purge()  # of what is left there is nothing of this project
    assert account.bedrock.deleted == []


def test_indexes_go_before_their_bucket(account: Account) -> None:
    s3vectors = account.client("s3vectors")
    bucket = f"stackroom-vectors-{ACCOUNT}-{REGION}"
    s3vectors.create_vector_bucket(vectorBucketName=bucket)
    s3vectors.create_index(
        vectorBucketName=bucket,
        indexName="stackroom-1",
        dataType="float32",
        dimension=1024,
        distanceMetric="cosine",
    )

    account.purge()

    assert s3vectors.list_vector_buckets()["vectorBuckets"] == []
