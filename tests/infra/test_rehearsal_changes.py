"""Changes to a deployment's pool of knowledge bases."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from infra.app import build_app
from infra.deployment import LARGEST_POOL
from infra.pool_type import VECTOR
from stackroom.app.function_settings import Pool
from tests.infra.assembly import Assembly
from tests.infra.rehearsal.cloud import Cloud, DeploymentFailed, empty_cloud
from tests.infra.synthesis import deployment


@pytest.fixture
def cloud(assembly: Assembly) -> Iterator[Cloud]:
    with empty_cloud() as made:
        made.deploy(assembly)
        yield made


def test_pool_grows_but_does_not_shrink(cloud: Cloud, assembly: Assembly) -> None:
    before = pool_of(cloud)

    cloud.deploy(deployment("pool of 3"))

    pool = pool_of(cloud)
    assert len(pool) == len({each.index for each in pool}) == 3
    assert pool[: len(before)] == before
    with pytest.raises(
        DeploymentFailed, match=r"knowledge-base UPDATE_ROLLBACK_COMPLETE.* in use by"
    ):
        cloud.deploy(assembly)
    assert pool_of(cloud) == pool


@pytest.mark.parametrize(("kind", "largest"), [("vector", 49), ("managed", 66)])
def test_too_large_pool_is_refused_with_the_limit(kind: str, largest: int) -> None:
    context = {"knowledge_base_type": kind, "knowledge_base_pool_size": largest + 1}

    with pytest.raises(
        ValueError, match=rf"pool_size {largest + 1} must be 1 to {largest}: .* 200 outputs"
    ):
        build_app(context=context)


def test_largest_pool_is_what_the_stacks_outputs_leave_room_for(assembly: Assembly) -> None:
    of_one, of_three = (
        len(each.template("knowledge-base")["Outputs"])
        for each in (assembly, deployment("pool of 3"))
    )

    assert 1 + (200 - of_one) // ((of_three - of_one) // 2) == LARGEST_POOL[VECTOR]


def test_too_large_function_environment_is_refused_before_deployment(tmp_path: Path) -> None:
    law = {"name": "Laws", "description": "a" * 1000, "knowledge_base_id": "ABCDE12345"}
    shared = tmp_path / "shared.json"
    shared.write_text(json.dumps([law]))
    largest = {"knowledge_base_pool_size": 49, "shared_knowledge_bases_file": str(shared)}

    refused = r"stackroom-console/\w+: .* has 4,\d+ bytes and may have 4,096, .*_pool_size"
    with pytest.raises(ValueError, match=refused):
        build_app(context=largest)


def pool_of(cloud: Cloud, *, project: str = "stackroom") -> Pool:
    """Return the pool as the function `ingest` reads it; its members must exist."""
    functions = cloud.resources(f"{project}-pipeline")
    ingest = functions["AWS::Lambda::Function", f"{project}-ingest"].properties
    pool = TypeAdapter(Pool).validate_python(ingest["Environment"]["Variables"]["KB_POOL"])
    existing = {ref for type_, ref in cloud.resources() if type_ == "AWS::Bedrock::KnowledgeBase"}
    assert {each.knowledge_base_id for each in pool} <= existing
    return pool
