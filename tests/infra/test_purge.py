"""Emptying an account: Bedrock by a fake that refuses the wrong order, the rest by moto."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import boto3
import pytest
from moto import mock_aws

from infra.purge import Purge
from infra.purge_knowledge_bases import KnowledgeBases
from tests.infra.fakes import FakeBedrock, FakeStacks, FakeUserPools

REGION = "eu-central-1"
ACCOUNT = "123456789012"  # moto's
BUCKET = f"stackroom-kb-docs-{ACCOUNT}-{REGION}"


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


def test_jobs_stop_before_their_data_source_goes(account: Account) -> None:
    account.bedrock.add("stackroom-1", sources=2, running=True)

    account.purge()

    assert account.bedrock.deleted == ["DS-stackroom-1-0", "DS-stackroom-1-1", "KB-stackroom-1"]


def test_a_data_source_that_gives_its_vectors_up_keeps_its_settings(account: Account) -> None:
    account.bedrock.add("stackroom-1")
    settings = dict(account.bedrock.sources["DS-stackroom-1-0"])
    account.bedrock.store_refuses = True

    account.purge()

    assert account.bedrock.sources["DS-stackroom-1-0"] == {
        **settings,
        "dataDeletionPolicy": "RETAIN",
        "status": "GONE",
    }


def test_vectors_that_the_store_refuses_to_delete_hold_nothing_up(account: Account) -> None:
    account.bedrock.add("stackroom-1")
    account.bedrock.store_refuses = True

    account.purge()

    assert account.bedrock.knowledge_bases == {}


def test_a_managed_one_that_was_not_deleted_is_deleted_once_more(account: Account) -> None:
    account.bedrock.add("stackroom-1")
    source = account.bedrock.sources["DS-stackroom-1-0"]
    source["dataSourceConfiguration"] = {"type": "MANAGED_KNOWLEDGE_BASE_CONNECTOR"}
    account.bedrock.refusals = 1

    account.purge()

    assert account.bedrock.knowledge_bases == {}
    assert account.bedrock.deleted.count("DS-stackroom-1-0") == 2


def test_a_knowledge_base_takes_its_role_along(account: Account) -> None:
    iam = account.client("iam")
    iam.create_role(RoleName="role-of-stackroom-1", AssumeRolePolicyDocument="{}")
    iam.put_role_policy(
        RoleName="role-of-stackroom-1",
        PolicyName="Ingestion",
        PolicyDocument=json.dumps(
            {
                "Version": "2012-10-17",
                "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}],
            }
        ),
    )
    account.bedrock.add("stackroom-1")

    account.purge()

    assert iam.list_roles()["Roles"] == []


def test_another_projects_knowledge_base_stays(account: Account) -> None:
    account.bedrock.add("stackroom-two-1")
    account.bedrock.add("stackroom-2-1")

    account.purge()

    assert len(account.bedrock.knowledge_bases) == 2


def test_every_version_of_every_document_goes(account: Account) -> None:
    s3 = account.client("s3")
    _make_bucket(s3)
    for body in (b"first", b"second"):
        s3.put_object(Bucket=BUCKET, Key="alice/research/report.txt", Body=body)
    s3.delete_object(Bucket=BUCKET, Key="alice/research/report.txt")
    s3.create_multipart_upload(Bucket=BUCKET, Key="alice/research/large.pdf")

    account.purge()

    assert s3.list_buckets()["Buckets"] == []
    assert "deleted 3 object versions" in account.said


def test_tables_and_users_go_and_other_projects_stay(account: Account) -> None:
    dynamodb = account.client("dynamodb")
    for name in ("stackroom-kb-catalog", "stackroom-kb-control", "other-kb-catalog"):
        dynamodb.create_table(
            TableName=name,
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
    account.users.protected = {"stackroom-users": True, "other-users": True}

    account.purge()

    assert dynamodb.list_tables()["TableNames"] == ["other-kb-catalog"]
    assert account.users.protected == {"other-users": True}


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


def test_the_stacks_that_were_kept_go_last(account: Account) -> None:
    account.stacks.standing = ["stackroom-data", "stackroom-knowledge-base", "other-data"]

    account.purge()

    assert account.stacks.standing == ["other-data"]
    assert account.said[-1] == "deleted stack stackroom-data"


def test_an_empty_account_is_left_as_it_is(account: Account) -> None:
    account.purge()
    account.purge()

    assert account.bedrock.deleted == []


def _make_bucket(s3: Any) -> None:
    s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
