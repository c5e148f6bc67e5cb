"""Who reads the vectors of a local mode: those that the bucket's policy spares, as on AWS."""

import json
from typing import Any

import boto3
import pytest

from stackroom_local.deployment.user_keys import UserKeys
from stackroom_local.state import REGION, Instance

# One call of each kind; that a role may do one is told by another refusal, or by an answer.
READING: dict[str, dict[str, Any]] = {
    "get_vectors": {"keys": ["none"]},
    "query_vectors": {"topK": 1, "queryVector": {"float32": [1.0] * 1024}},
}
CHANGING: dict[str, dict[str, Any]] = {
    "list_vectors": {},
    "put_vectors": {"vectors": [{"key": "planted", "data": {"float32": [1.0] * 1024}}]},
    "delete_vectors": {"keys": ["none"]},
}


@pytest.fixture(scope="module")
def index(instance: Instance) -> str:
    vectors = instance.client("s3vectors")
    name = f"{instance.project}-vectors-000000000000-{REGION}"
    return str(vectors.list_indexes(vectorBucketName=name)["indexes"][0]["indexArn"])


def vectors_of(instance: Instance, key: str, secret: str, token: str | None = None) -> Any:
    endpoint = instance.client("s3vectors").meta.endpoint_url
    session = boto3.session.Session(key, secret, token, region_name=REGION)
    return session.client("s3vectors", endpoint_url=endpoint)


def as_function(instance: Instance, name: str) -> Any:
    """With a session of the function's role."""
    role = f"arn:aws:iam::000000000000:role/{instance.project}-{name}-{REGION}"
    sts = instance.client("sts")
    made = sts.assume_role(RoleArn=role, RoleSessionName=name)["Credentials"]
    parts = (made["AccessKeyId"], made["SecretAccessKey"], made["SessionToken"])
    return vectors_of(instance, *parts)


def denied(client: Any, index: str, calls: dict[str, dict[str, Any]]) -> list[str]:
    return [each for each in calls if "explicit deny" in refusal(client, index, each, calls[each])]


def refusal(client: Any, index: str, operation: str, parameters: dict[str, Any]) -> str:
    try:
        getattr(client, operation)(indexArn=index, **parameters)
    except client.exceptions.AccessDeniedException as error:
        return str(error)
    return ""


def test_a_user_of_the_account_is_denied_every_use_of_vectors(
    instance: Instance, index: str
) -> None:
    key = UserKeys(instance).of("mallory")
    client = vectors_of(instance, key.access_key_id, key.secret_access_key)

    found = denied(client, index, READING | CHANGING)

    assert found == [*READING, *CHANGING]
    assert client.get_index(indexArn=index)["index"]["indexArn"] == index


@pytest.mark.parametrize("function", ["retrieve", "catalog-tools", "status-poller"])
def test_functions_that_search_read_vectors_and_change_none(
    instance: Instance, index: str, function: str
) -> None:
    client = as_function(instance, function)

    assert denied(client, index, READING | CHANGING) == [*CHANGING]


def test_a_function_that_does_not_search_reads_no_vectors(instance: Instance, index: str) -> None:
    assert denied(as_function(instance, "webhook-sender"), index, READING) == [*READING]


def test_policy_in_the_local_mode_is_the_templates(instance: Instance, index: str) -> None:
    bucket = index.partition("/index/")[0]
    vectors = instance.client("s3vectors")
    kept = json.loads(vectors.get_vector_bucket_policy(vectorBucketArn=bucket)["policy"])

    read, changed = kept["Statement"]
    assert {read["Effect"], changed["Effect"]} == {"Deny"}
    assert read["Resource"] == f"{bucket}/index/*"
    agent = instance.client("bedrock-agent")
    [base, *_] = agent.list_knowledge_bases()["knowledgeBaseSummaries"]
    found = agent.get_knowledge_base(knowledgeBaseId=base["knowledgeBaseId"])["knowledgeBase"]
    spared = changed["Condition"]["ArnNotLike"]["aws:PrincipalArn"]
    assert found["roleArn"] in ([spared] if isinstance(spared, str) else spared)
