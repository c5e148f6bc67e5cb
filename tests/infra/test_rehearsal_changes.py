"""As test_rehearsal.py, where the console goes and comes back, and where the pool grows."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from infra.app import build_app
from stackroom.app.function_settings import Pool
from tests.infra.assembly import Assembly
from tests.infra.rehearsal.cloud import Cloud, Failed, rehearsed
from tests.infra.synthesis import CHANGES, deployment


@pytest.fixture
def cloud(assembly: Assembly) -> Iterator[Cloud]:
    with rehearsed() as made:
        made.deploy(assembly)
        yield made


def test_a_console_is_taken_away_as_the_page_says_and_comes_back(
    cloud: Cloud, assembly: Assembly
) -> None:
    without = deployment("console off")
    address = addresses(cloud)

    cloud.deploy(without)
    cloud.destroy("stackroom-console")
    assert cloud.standing("stackroom-console") == {}
    cloud.deploy(without)
    cloud.deploy(assembly)

    assert cloud.standing("stackroom-console")
    assert addresses(cloud) == address


def addresses(cloud: Cloud) -> set[object]:
    return {each for each in cloud.standing() if each[0] == "AWS::ApiGatewayV2::Api"}


def test_a_pool_grows_and_does_not_shrink_and_its_knowledge_bases_stay(cloud: Cloud) -> None:
    before = pool_of(cloud)

    for name, size in (("pool of 3", 3), ("pool of 12", 12)):
        cloud.deploy(deployment(name))

        pool = pool_of(cloud)
        assert len(pool) == len({each.index for each in pool}) == size
        assert pool[: len(before)] == before
        before = pool

    with pytest.raises(Failed, match=r"knowledge-base UPDATE_ROLLBACK_COMPLETE.* in use by"):
        cloud.deploy(deployment("pool of 3"))
    assert pool_of(cloud) == before


@pytest.mark.parametrize(
    ("name", "size", "of_a_member"), [("largest pool", 49, 4), ("largest managed pool", 66, 3)]
)
def test_the_largest_pool_fits_under_the_longest_names(
    cloud: Cloud, name: str, size: int, of_a_member: int
) -> None:
    far, largest = cloud.elsewhere(region="ap-northeast-1"), deployment(name)

    far.deploy(largest)

    assert len(pool_of(far, project="p" * 20)) == size
    outputs = len(largest.template("knowledge-base")["Outputs"])
    assert 200 - of_a_member < outputs <= 200  # one more member has no room


def test_too_large_function_environment_is_refused_before_deployment(tmp_path: Path) -> None:
    shared = tmp_path / "shared.json"
    law = {"name": "Laws", "description": "a" * 1000, "knowledge_base_id": "ABCDE12345"}
    shared.write_text(json.dumps([law]))
    largest = {**CHANGES["largest pool"], "shared_knowledge_bases_file": str(shared)}

    with pytest.raises(ValueError, match=r"'p{20}-console' may take 4,\d+ bytes, .* for 4,096"):
        build_app(context=largest)


@pytest.mark.parametrize(("kind", "largest"), [("vector", 49), ("managed", 66)])
def test_a_pool_that_is_too_large_is_refused_with_what_is_allowed(kind: str, largest: int) -> None:
    context = {"knowledge_base_type": kind, "knowledge_base_pool_size": largest + 1}

    with pytest.raises(
        ValueError, match=rf"pool_size {largest + 1} is not 1 to {largest}: .* 200 outputs"
    ):
        build_app(context=context)


def pool_of(cloud: Cloud, *, project: str = "stackroom") -> Pool:
    """As the function `ingest` reads it, whose members there are."""
    functions = cloud.standing(f"{project}-pipeline")
    ingest = functions["AWS::Lambda::Function", f"{project}-ingest"].properties
    pool = TypeAdapter(Pool).validate_python(ingest["Environment"]["Variables"]["KB_POOL"])
    there = {ref for type_, ref in cloud.standing() if type_ == "AWS::Bedrock::KnowledgeBase"}
    assert {each.knowledge_base_id for each in pool} <= there
    return pool
