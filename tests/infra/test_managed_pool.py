"""A pool of MANAGED knowledge bases: its resources, and those that it doesn't need."""

import json
from typing import Any

import aws_cdk as cdk
import pytest
from pydantic import TypeAdapter

from infra.pool_type import require_managed_region
from stackroom.app.function_settings import Pool
from stackroom.runs.capacity import CAPACITIES
from tests.infra.assembly import KEPT, Assembly, as_list
from tests.infra.synthesis import deployment


@pytest.fixture
def managed() -> Assembly:
    """A deployment with a MANAGED pool."""
    return deployment("managed")


def test_managed_pool_has_no_s3_vectors_resources_or_rights(managed: Assembly) -> None:
    whole = {stack: json.dumps(managed.template(stack)) for stack in managed.stacks}

    assert [stack for stack, text in whole.items() if "s3vectors:" in text] == []
    assert [stack for stack, text in whole.items() if "AWS::S3Vectors" in text] == []
    assert "Custom::SearchIndex" not in whole["knowledge-base"]
    assert "titan" not in "".join(whole.values())


def test_managed_role_only_reads_documents_and_ids_match_a_vector_pool(
    managed: Assembly,
) -> None:
    role = managed.one("knowledge-base", "AWS::IAM::Role", "Role1").properties
    retained = {
        each.logical_id
        for each in managed.all("knowledge-base")
        if each.raw.get("DeletionPolicy") == KEPT
    }

    [policy] = role["Policies"]

    actions = [each["Action"] for each in policy["PolicyDocument"]["Statement"]]
    assert actions == ["s3:ListBucket", "s3:GetObject"]
    assert retained == {"Role13A5C70C1", "KnowledgeBase1", "SharedDataSource1"}


def test_managed_pool_names_its_type_and_parses_images(managed: Assembly) -> None:
    variables = [
        each.properties["Environment"]["Variables"]
        for stack in ("pipeline", "gateway")
        for each in managed.all(stack, "AWS::Lambda::Function")
    ]

    pools = {
        TypeAdapter(Pool).validate_python(each["KB_POOL"])
        for each in variables
        if "KB_POOL" in each
    }
    [[member]] = pools
    assert member.is_managed
    assert member.type in CAPACITIES
    assert member.index is None
    # Only the function that creates data sources knows the bucket's owner; scans are parsed.
    owners = {each["POWERTOOLS_SERVICE_NAME"] for each in variables if "KB_DOCS_OWNER" in each}
    assert owners == {"ingest"}
    assert managed.variables("ingest")["KB_DOCS_OWNER"] == "{account}"
    assert managed.variables("inspect")["PARSES_IMAGES"] == "true"


# Rights that are unnecessary where Bedrock stores the vectors itself: to the index, to the
# embedding
# model, and to make a data source retain its vectors.
GONE = {
    ("ingest", "bedrock:UpdateDataSource"),
    *(
        (function, action)
        for function in ("ingest", "status-poller", "reconciler", "retrieve", "catalog-tools")
        for action in ("s3vectors:GetIndex", "s3vectors:GetVectors", "s3vectors:QueryVectors")
    ),
    *((function, "bedrock:InvokeModel titan") for function in ("retrieve", "catalog-tools")),
}
# Functions that check whether documents are found call Retrieve if there is no index.
NEW = {(function, "bedrock:Retrieve") for function in ("ingest", "status-poller", "reconciler")}


def test_functions_over_managed_pool_differ_only_in_the_listed_rights(
    assembly: Assembly, managed: Assembly
) -> None:
    before, now = rights(assembly), rights(managed)

    assert before - now == GONE
    assert now - before == NEW


def rights(assembly: Assembly) -> set[tuple[str, str]]:
    """Return actions by function; a model's with its name, if it embeds."""
    return {
        (role.removeprefix("stackroom-").removesuffix("-{region}"), _named(action, statement))
        for stack in ("pipeline", "gateway")
        for policy in assembly.all(stack, "AWS::IAM::Policy")
        for role in policy.properties["Roles"]
        for statement in policy.properties["PolicyDocument"]["Statement"]
        for action in as_list(statement["Action"])
    }


def _named(action: str, statement: dict[str, Any]) -> str:
    return f"{action} titan" if "titan" in json.dumps(statement["Resource"]) else action


def test_known_region_without_managed_knowledge_bases_is_refused() -> None:
    def a_stack_in(region: str) -> cdk.Stack:
        return cdk.Stack(cdk.App(), "Stack", env=cdk.Environment(region=region))

    with pytest.raises(ValueError, match="region 'ap-northeast-2' must be a region with MANAGED"):
        require_managed_region(a_stack_in("ap-northeast-2"))

    stack = a_stack_in("eu-west-1")
    require_managed_region(stack)
    assert stack.node.children == []
