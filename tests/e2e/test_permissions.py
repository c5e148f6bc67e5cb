"""
Who may write where: the deployed policies, enforced against real IAM users.

The root-like keys of the local mode may do anything, so every caller here is a user of its own.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from stackroom.model import DocumentStatus
from stackroom_local.state import Instance
from tests.e2e.people import Person

SIDECAR = "frank/papers/a.exe.metadata.json"
ANYTHING = {"Effect": "Allow", "Action": "*", "Resource": "*"}


@pytest.fixture(scope="module")
def frank(instance: Instance) -> Person:
    """Somebody with a document, and with it a sidecar."""
    person = Person(instance, "frank")
    person.settle([person.put("papers/a.exe", "x")])
    return person


@pytest.fixture(scope="module")
def administrator(instance: Instance, aws: Callable[[str], Any]) -> Iterator[Callable[[str], Any]]:
    """boto3 clients of a user whom IAM allows everything."""
    with user(instance, aws, "administrator", ANYTHING) as clients:
        yield clients


@pytest.fixture(scope="module")
def uploader(instance: Instance, aws: Callable[[str], Any]) -> Iterator[Callable[[str], Any]]:
    """
    boto3 clients of frank with the deployed uploader policy.

    ministack 1.5.33 leaves policy variables as they are, so `${aws:PrincipalTag/user_id}` is filled
    in here with the user's tag, as IAM does it:
    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_variables.html
    """
    policies = aws("iam").list_policies(Scope="Local")["Policies"]
    (policy,) = (each for each in policies if each["PolicyName"].startswith("stackroom-uploader"))
    version = aws("iam").get_policy_version(
        PolicyArn=policy["Arn"], VersionId=policy["DefaultVersionId"]
    )
    document = json.dumps(version["PolicyVersion"]["Document"])
    assert "${aws:PrincipalTag/user_id}" in document
    filled = json.loads(document.replace("${aws:PrincipalTag/user_id}", "frank"))
    with user(instance, aws, "frank", *filled["Statement"]) as clients:
        yield clients


def test_an_uploader_writes_under_the_own_prefix(
    frank: Person, uploader: Callable[[str], Any]
) -> None:
    uploader("s3").put_object(
        Bucket=frank.instance.bucket, Key="frank/papers/own.exe", Body=b"his own"
    )

    assert frank.await_status("papers/own.exe", DocumentStatus.FAILED).size == 7


@pytest.mark.parametrize("key", ["alice/research/planted.txt", "frankly/a.txt", "planted.txt"])
def test_an_uploader_cannot_write_under_another_prefix(
    frank: Person, uploader: Callable[[str], Any], key: str
) -> None:
    with pytest.raises(ClientError, match="AccessDenied"):
        uploader("s3").put_object(Bucket=frank.instance.bucket, Key=key, Body=b"planted")


@pytest.mark.parametrize("who", ["administrator", "uploader"])
def test_nobody_but_the_upload_handler_writes_a_sidecar(
    frank: Person, request: pytest.FixtureRequest, who: str
) -> None:
    s3 = request.getfixturevalue(who)("s3")
    bucket = frank.instance.bucket

    with pytest.raises(ClientError, match="AccessDenied"):
        s3.put_object(Bucket=bucket, Key=SIDECAR, Body=b"{}")
    with pytest.raises(ClientError, match="AccessDenied"):
        s3.copy_object(
            Bucket=bucket, Key=SIDECAR, CopySource={"Bucket": bucket, "Key": "frank/papers/a.exe"}
        )
    with pytest.raises(ClientError, match="AccessDenied"):
        s3.create_multipart_upload(Bucket=bucket, Key=SIDECAR)


def test_nobody_but_the_upload_handler_deletes_a_sidecar_or_a_version_of_it(
    frank: Person, administrator: Callable[[str], Any]
) -> None:
    s3, bucket = administrator("s3"), frank.instance.bucket
    before = s3.get_object(Bucket=bucket, Key=SIDECAR)

    with pytest.raises(ClientError, match="AccessDenied"):
        s3.delete_object(Bucket=bucket, Key=SIDECAR)
    with pytest.raises(ClientError, match="AccessDenied"):
        s3.delete_object(Bucket=bucket, Key=SIDECAR, VersionId=before["VersionId"])

    assert s3.get_object(Bucket=bucket, Key=SIDECAR)["VersionId"] == before["VersionId"]


def test_nobody_but_the_inspection_writes_a_page_map(
    frank: Person, administrator: Callable[[str], Any]
) -> None:
    with pytest.raises(ClientError, match="AccessDenied"):
        administrator("s3").put_object(
            Bucket=frank.instance.bucket, Key="_pagemaps/doc-1.json", Body=b"{}"
        )


def test_an_uploader_reads_no_table_and_invokes_no_tool(
    frank: Person, uploader: Callable[[str], Any]
) -> None:
    with pytest.raises(ClientError, match="AccessDenied"):
        uploader("dynamodb").scan(TableName=frank.instance.catalog_table)
    with pytest.raises(ClientError, match="AccessDenied"):
        uploader("lambda").invoke(FunctionName="stackroom-retrieve", Payload=b"{}")


@contextmanager
def user(
    instance: Instance, aws: Callable[[str], Any], name: str, *statements: dict[str, Any]
) -> Iterator[Callable[[str], Any]]:
    """An IAM user with these rights, as boto3 clients that use the user's own access key."""
    iam = aws("iam")
    iam.create_user(UserName=name)
    policy = json.dumps({"Version": "2012-10-17", "Statement": statements})
    iam.put_user_policy(UserName=name, PolicyName="rights", PolicyDocument=policy)
    key = iam.create_access_key(UserName=name)["AccessKey"]
    session = boto3.session.Session(
        aws_access_key_id=key["AccessKeyId"],
        aws_secret_access_key=key["SecretAccessKey"],
        region_name="us-east-1",
    )

    def client(service: str) -> Any:
        # the stubs know each service by its literal name
        # The service is a name known when it runs; types-boto3 has types for literal names only.
        return session.client(service, endpoint_url=instance.aws_endpoint)  # type: ignore[call-overload]

    try:
        yield client
    finally:
        iam.delete_access_key(UserName=name, AccessKeyId=key["AccessKeyId"])
        iam.delete_user_policy(UserName=name, PolicyName="rights")
        iam.delete_user(UserName=name)
