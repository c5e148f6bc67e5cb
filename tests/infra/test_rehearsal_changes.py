"""Changes to a deployment: the console is removed and returns, and the pool grows."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from infra.app import build_app
from stackroom.app.function_settings import Pool
from tests.infra.assembly import Assembly
from tests.infra.rehearsal.cloud import Cloud, DeploymentFailed, empty_cloud
from tests.infra.synthesis import CHANGES, deployment


@pytest.fixture
def cloud(assembly: Assembly) -> Iterator[Cloud]:
    with empty_cloud() as made:
        made.deploy(assembly)
        yield made


def test_console_can_be_removed_and_deployed_again(cloud: Cloud, assembly: Assembly) -> None:
    without = deployment("console off")
    address = addresses(cloud)

    cloud.deploy(without)
    cloud.destroy("stackroom-console")
    assert cloud.resources("stackroom-console") == {}
    cloud.deploy(without)
    cloud.deploy(assembly)

    assert cloud.resources("stackroom-console")
    assert addresses(cloud) == address


def addresses(cloud: Cloud) -> set[object]:
    return {each for each in cloud.resources() if each[0] == "AWS::ApiGatewayV2::Api"}


def test_pool_grows_but_does_not_shrink(cloud: Cloud) -> None:
    before = pool_of(cloud)

    for name, size in (("pool of 3", 3), ("pool of 12", 12)):
        cloud.deploy(deployment(name))

        pool = pool_of(cloud)
        assert len(pool) == len({each.index for each in pool}) == size
        assert pool[: len(before)] == before
        before = pool

    with pytest.raises(
        DeploymentFailed, match=r"knowledge-base UPDATE_ROLLBACK_COMPLETE.* in use by"
    ):
        cloud.deploy(deployment("pool of 3"))
    assert pool_of(cloud) == before


def test_largest_pool_deploys_with_the_longest_names(cloud: Cloud) -> None:
    far, largest = cloud.elsewhere(region="ap-northeast-1"), deployment("largest pool")

    far.deploy(largest)

    assert len(pool_of(far, project="p" * 20)) == 49
    outputs = len(largest.template("knowledge-base")["Outputs"])
    assert 200 - 4 < outputs <= 200  # no room for another member, which has four


def test_too_large_function_environment_is_refused_before_deployment(tmp_path: Path) -> None:
    shared = tmp_path / "shared.json"
    law = {"name": "Laws", "description": "a" * 1000, "knowledge_base_id": "ABCDE12345"}
    shared.write_text(json.dumps([law]))
    largest = {**CHANGES["largest pool"], "shared_knowledge_bases_file": str(shared)}

    refused = r"p{20}-console/\w+: .* has 4,\d+ bytes and may have 4,096, .*_pool_size"
    with pytest.raises(ValueError, match=refused):
        build_app(context=largest)


@pytest.mark.parametrize(("kind", "largest"), [("vector", 49), ("managed", 66)])
def test_too_large_pool_is_refused_with_the_limit(kind: str, largest: int) -> None:
    context = {"knowledge_base_type": kind, "knowledge_base_pool_size": largest + 1}

    with pytest.raises(
        ValueError, match=rf"pool_size {largest + 1} must be 1 to {largest}: .* 200 outputs"
    ):
        build_app(context=context)


def pool_of(cloud: Cloud, *, project: str = "stackroom") -> Pool:
    """Return the pool as the function `ingest` reads it; its members must exist."""
    functions = cloud.resources(f"{project}-pipeline")
    ingest = functions["AWS::Lambda::Function", f"{project}-ingest"].properties
    pool = TypeAdapter(Pool).validate_python(ingest["Environment"]["Variables"]["KB_POOL"])
    existing = {ref for type_, ref in cloud.resources() if type_ == "AWS::Bedrock::KnowledgeBase"}
    assert {each.knowledge_base_id for each in pool} <= existing
    return pool
