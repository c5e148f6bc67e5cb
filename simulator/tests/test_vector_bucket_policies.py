"""Deny statements in vector bucket policies, for callers and for a knowledge base's role."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.session import Session

from bedrock_kb_simulator.access_keys import RootKey
from bedrock_kb_simulator.identifiers import Arns
from bedrock_kb_simulator.service_errors import ServiceError
from bedrock_kb_simulator.store import Store
from bedrock_kb_simulator.vector_bucket_policies import CallersRights
from simulator.tests.holding import holds
from simulator.tests.world import ROLE, World, at, eventually, invalid

ACCOUNT = "000000000000"
ARNS = Arns(account=ACCOUNT, region="us-east-1")
INDEX = ARNS.index("vectors", "passages")
ROOT = RootKey(access_key_id="AKIAOFTHEROOT", secret_access_key="of-the-root")
READER, CLERK = (f"arn:aws:iam::{ACCOUNT}:{each}" for each in ("role/reader", "user/clerk"))
KEYS = {
    "ASIAOFTHEREADER": f"arn:aws:sts::{ACCOUNT}:assumed-role/reader/session",
    "AKIAOFTHECLERK": CLERK,
}
OTHERS = {"ArnNotLike": {"aws:PrincipalArn": [READER, f"arn:aws:iam::{ACCOUNT}:role/knowledge*"]}}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "store.sqlite")
    yield made
    made.close()


def denial(**more: Any) -> dict[str, Any]:
    said = {"Principal": {"AWS": "*"}, "Action": "s3vectors:*Vectors", "Resource": "*"}
    return {"Effect": "Deny", **said, **more}


def is_denied(store: Store, key: str, operation: str, statement: dict[str, Any]) -> bool:
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    with store.transaction():
        store.write("DELETE FROM vector_buckets")
        row = {"name": "vectors", "created_at": "2026-11-01T00:00:00+00:00", "policy": policy}
        store.insert("vector_buckets", row)
    rights = CallersRights(store=store, arns=ARNS, root=ROOT, identity=KEYS.__getitem__)
    model = Session().get_service_model("s3vectors").operation_model(operation)
    try:
        rights.check(key, model, {"vectorBucketName": "vectors", "indexName": "passages"})
    except ServiceError as error:
        said = f"not authorized to perform: s3vectors:{operation} on resource: {INDEX}"
        return error.code == "AccessDeniedException" and said in error.message
    return False


@holds("vector-bucket.policy-denies")
@pytest.mark.parametrize(
    ("statement", "denied"),
    [
        (denial(), {*KEYS}),
        (denial(Condition=OTHERS), {"AKIAOFTHECLERK"}),
        (denial(Condition={"ArnLike": {"aws:principalarn": READER}}), {"ASIAOFTHEREADER"}),
        (denial(Principal={"AWS": [CLERK]}), {"AKIAOFTHECLERK"}),
        (denial(Resource=ARNS.vector_bucket("vectors")), set()),
        ({**denial(), "Effect": "Allow"}, set()),
    ],
)
def test_denied_callers_are_those_a_statement_names(
    store: Store, statement: dict[str, Any], denied: set[str]
) -> None:
    found = {key for key in KEYS if is_denied(store, key, "GetVectors", statement)}

    assert found == denied
    assert not is_denied(store, ROOT.access_key_id, "GetVectors", statement)
    assert not is_denied(store, "AKIAOFTHECLERK", "GetVectorBucketPolicy", statement)


@holds("vector-bucket.policy-denies-role")
@pytest.mark.parametrize("spared", [True, False])
def test_knowledge_base_works_unless_its_role_is_denied(world: World, spared: bool) -> None:
    index = world.index()
    knowledge_base = world.knowledge_base(index)
    source = world.data_source(knowledge_base)
    role = ROLE if spared else READER
    statement = denial(Condition={"ArnNotLike": {"aws:PrincipalArn": [role]}})
    world.s3vectors.put_vector_bucket_policy(
        vectorBucketArn=index.partition("/index/")[0],
        policy=json.dumps({"Version": "2012-10-17", "Statement": [statement]}),
    )
    world.put("tea.txt", "tea")

    job = world.sync(knowledge_base, source)

    if spared:
        eventually(lambda: world.search(knowledge_base, "tea"))
        return
    assert job["statistics"]["numberOfDocumentsFailed"] == 1
    assert f"User: {ROLE} is not authorized to perform: s3vectors:PutVectors" in str(
        job["failureReasons"]
    )
    query = {"knowledgeBaseId": knowledge_base, "retrievalQuery": {"text": "tea"}}
    assert "s3vectors:QueryVectors" in invalid(world.runtime.retrieve, **query)
    key = at(knowledge_base, source)
    world.agent.delete_data_source(**key)
    eventually(
        lambda: world.agent.get_data_source(**key)["dataSource"]["status"] == "DELETE_UNSUCCESSFUL"
    )
