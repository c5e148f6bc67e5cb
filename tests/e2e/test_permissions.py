"""
Who may write where: the deployed policies, enforced against real IAM users.

The root-like keys of the local mode may do anything, so every caller here is a user of its own.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from stackroom_local import synthesis
from stackroom_local.state import REGION, Instance
from tests.campaigns.permissions.needs import needs
from tests.campaigns.permissions.recorded import calls_of, lines_in, names_of
from tests.campaigns.permissions.roles import roles
from tests.e2e.people import Person
from tests.e2e.traffic import iam_user
from tests.infra.assembly import Assembly
from tests.local.running import stackroom

SIDECAR = "frank/papers/a.exe.metadata.json"
ANYTHING = {"Effect": "Allow", "Action": "*", "Resource": "*"}


@pytest.fixture(scope="module")
def frank(instance: Instance) -> Person:
    """Somebody with a document, and with it a sidecar."""
    person = Person(instance, "frank")
    person.settle([person.put("papers/a.exe", "x")])
    return person


def test_no_function_makes_a_call_that_its_role_forbids(instance: Instance, alice: Person) -> None:
    """In all that was done here so far, and in this."""
    alice.settle([alice.put("research/granted.txt", "The right to roam is granted to walkers.")])
    of_it = {"filename": "granted.txt"}
    assert alice.files_found("Who is granted the right?", filter=of_it) == ["granted.txt"]
    roles_granted = roles(Assembly(synthesis.assembly()))
    names = names_of(instance)

    lines = list(lines_in(calls_of(instance)))
    needed = [need for line in lines for need in needs(line, names)]

    # The poller follows jobs, which nothing here needs; `make permissions` has such.
    assert {each.function for each in needed} >= {
        *("upload-handler", "inspect", "ingest", "retrieve", "reconciler")
    }
    assert [str(each) for each in needed if not roles_granted[each.function].allows(each)] == []


@pytest.fixture(scope="module")
def administrator(instance: Instance, aws: Callable[[str], Any]) -> Iterator[Callable[[str], Any]]:
    """boto3 clients of a user whom IAM allows everything."""
    with iam_user(aws, "administrator", ANYTHING) as key:
        yield clients_of(instance, *key)


@pytest.fixture(scope="module")
def uploader(instance: Instance) -> Callable[[str], Any]:
    """boto3 clients with the keys that `stackroom env --user frank` prints."""
    said = stackroom("env", "--user", "frank", state_dir=instance.state_dir)
    assert said.returncode == 0, said.stderr
    exported = dict(re.findall(r"^export (\w+)=(\S+)$", said.stdout, re.MULTILINE))
    assert exported["AWS_ACCESS_KEY_ID"] != instance.root_key.access_key_id
    return clients_of(instance, exported["AWS_ACCESS_KEY_ID"], exported["AWS_SECRET_ACCESS_KEY"])


def test_uploader_reads_lists_and_deletes_under_their_own_prefix(
    frank: Person, uploader: Callable[[str], Any]
) -> None:
    s3, bucket, key = uploader("s3"), frank.instance.bucket, "frank/papers/passing.exe"
    s3.put_object(Bucket=bucket, Key=key, Body=b"passing")

    listed = s3.list_objects_v2(Bucket=bucket, Prefix="frank/papers/p")["Contents"]
    body = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
    s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": key}]})

    assert (body, key in {each["Key"] for each in listed}) == (b"passing", True)
    with pytest.raises(ClientError, match="404"):
        frank.instance.client("s3").head_object(Bucket=bucket, Key=key)


def test_uploader_cannot_change_objects_under_another_prefix(
    frank: Person, uploader: Callable[[str], Any]
) -> None:
    s3, bucket, key = uploader("s3"), frank.instance.bucket, "frankly/a.exe"
    operator = frank.instance.client("s3")
    operator.put_object(Bucket=bucket, Key=key, Body=b"somebody else's")
    attempts: list[Callable[[], Any]] = [
        lambda: s3.put_object(Bucket=bucket, Key=key, Body=b"planted"),
        lambda: s3.create_multipart_upload(Bucket=bucket, Key=key),
        lambda: s3.get_object(Bucket=bucket, Key=key),
        lambda: s3.head_object(Bucket=bucket, Key=key),
        lambda: s3.delete_object(Bucket=bucket, Key=key),
        # AWS refuses this key by key, in an answer of status 200; ministack the whole call.
        lambda: s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": key}]}),
        lambda: s3.list_objects_v2(Bucket=bucket, Prefix=key),
        lambda: s3.list_objects_v2(Bucket=bucket),
        lambda: s3.list_object_versions(Bucket=bucket, Prefix="frank/"),
        lambda: s3.copy_object(
            Bucket=bucket, Key="frank/papers/copy.exe", CopySource={"Bucket": bucket, "Key": key}
        ),
    ]

    for attempt in attempts:
        with pytest.raises(ClientError, match=r"AccessDenied|403"):
            attempt()

    assert operator.get_object(Bucket=bucket, Key=key)["Body"].read() == b"somebody else's"
    operator.delete_object(Bucket=bucket, Key=key)


@pytest.mark.parametrize("who", ["administrator", "uploader"])
def test_only_its_function_may_write_or_delete_a_sidecar_or_a_text(
    frank: Person, request: pytest.FixtureRequest, who: str
) -> None:
    s3 = request.getfixturevalue(who)("s3")
    bucket, operator = frank.instance.bucket, frank.instance.client("s3")
    before = operator.get_object(Bucket=bucket, Key=SIDECAR)["VersionId"]
    text = "_text/frank/cat-1/doc-1/0123456789abcdef.md"
    source = {"Bucket": bucket, "Key": "frank/papers/a.exe"}
    attempts: list[Callable[[], Any]] = [
        lambda: s3.put_object(Bucket=bucket, Key=SIDECAR, Body=b"{}"),
        lambda: s3.copy_object(Bucket=bucket, Key=SIDECAR, CopySource=source),
        lambda: s3.create_multipart_upload(Bucket=bucket, Key=SIDECAR),
        lambda: s3.delete_object(Bucket=bucket, Key=SIDECAR),
        lambda: s3.delete_object(Bucket=bucket, Key=SIDECAR, VersionId=before),
        lambda: s3.put_object(Bucket=bucket, Key=text, Body=b"a lie"),
        lambda: s3.delete_object(Bucket=bucket, Key=text),
    ]

    for attempt in attempts:
        with pytest.raises(ClientError, match="AccessDenied"):
            attempt()

    assert operator.get_object(Bucket=bucket, Key=SIDECAR)["VersionId"] == before


def clients_of(instance: Instance, key_id: str, secret: str) -> Callable[[str], Any]:
    session = boto3.session.Session(
        aws_access_key_id=key_id, aws_secret_access_key=secret, region_name=REGION
    )

    def of(service: str) -> Any:
        # The service is a name known when it runs; types-boto3 has types for literal names only.
        return session.client(service, endpoint_url=instance.aws_endpoint)  # type: ignore[call-overload]

    return of
