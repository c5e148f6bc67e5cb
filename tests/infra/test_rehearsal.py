"""
Every stack deployed, broken off, deployed again and taken away, as CloudFormation does it: through
ministack's engine, with types that stand in by AWS's schemas (tests/infra/rehearsal).
"""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.infra.assembly import Assembly
from tests.infra.opensearch import kept
from tests.infra.rehearsal.cloud import ORDER, Cloud, Failed, rehearsed
from tests.infra.synthesis import deployment

# As the Makefile's `destroy`.
GOES = ("operations", "console", "gateway", "pipeline")


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with rehearsed() as made:
        yield made


def stacks(*kinds: str) -> list[str]:
    return [f"stackroom-{kind}" for kind in kinds]


@pytest.mark.parametrize(
    ("break_it", "told"),
    [
        (lambda bucket: bucket.update(BucketNam="documents"), "'BucketNam' was unexpected"),
        (lambda bucket: bucket.update(BucketName="No such Name"), "does not match"),
        (lambda bucket: bucket["VersioningConfiguration"].clear(), "'Status' is a required"),
    ],
)
def test_what_a_schema_does_not_allow_is_refused(
    cloud: Cloud, assembly: Assembly, break_it: Callable[[Any], None], told: str
) -> None:
    template = copy.deepcopy(assembly.template("data"))
    [bucket] = [
        each for each in template["Resources"].values() if each["Type"] == "AWS::S3::Bucket"
    ]
    break_it(bucket["Properties"])

    with pytest.raises(Failed, match=f"ROLLBACK_COMPLETE.*{told}"):
        cloud.deploy_stack("broken", template)

    assert cloud.standing() == {}


def test_failed_creation_leaves_nothing_and_the_next_deploy_works(
    cloud: Cloud, assembly: Assembly
) -> None:
    with rehearsed() as elsewhere:
        elsewhere.deploy(assembly)
        last = {each.stack: each.logical_id for each in elsewhere.standing().values()}

    for stack in stacks(*ORDER):
        with pytest.raises(Failed, match=f"^{stack} ROLLBACK_COMPLETE.*has it fail"):
            cloud.deploy(assembly, failing=last[stack])
        assert cloud.standing(stack) == {}
    cloud.deploy(assembly)

    assert {each.stack for each in cloud.standing().values()} == set(stacks(*ORDER))


@pytest.mark.parametrize(
    ("other", "refused"),
    [
        # One that is made, and one that is changed.
        ("pool of 3", ("knowledge-base", "AWS::Bedrock::KnowledgeBase", "KnowledgeBase3")),
        ("console off", ("operations", "AWS::CloudWatch::Dashboard")),
    ],
)
def test_failed_update_leaves_what_was_there_and_the_next_one_works(
    cloud: Cloud, assembly: Assembly, other: str, refused: tuple[str, ...]
) -> None:
    changed, stack = deployment(other), f"stackroom-{refused[0]}"
    cloud.deploy(assembly)
    before = cloud.standing(stack)

    with pytest.raises(Failed, match=f"{stack} UPDATE_ROLLBACK_COMPLETE"):
        cloud.deploy(changed, failing=changed.one(*refused).logical_id)
    assert cloud.standing(stack) == before
    cloud.deploy(changed)

    assert cloud.standing(stack) != before


def test_another_project_region_or_account_has_room_beside_a_deployment(
    cloud: Cloud, assembly: Assembly
) -> None:
    cloud.deploy(assembly)

    cloud.deploy(deployment("otherwise"))
    cloud.elsewhere(region="eu-west-1").deploy(assembly)
    cloud.elsewhere(account="210987654321").deploy(assembly)

    with pytest.raises(Failed, match="already exists"):
        cloud.deploy_stack("again", assembly.template("operations"))


@pytest.mark.parametrize("other", ["by Retrieve", "cached and sharing", "prewarmed"])
def test_settings_change_over_a_deployment_and_back(
    cloud: Cloud, assembly: Assembly, other: str
) -> None:
    cloud.deploy(assembly)
    before = set(cloud.standing())

    cloud.deploy(deployment(other))
    cloud.deploy(assembly)

    assert set(cloud.standing()) == before


@pytest.mark.parametrize("other", ["managed", "hierarchical"])
def test_documented_immutable_change_fails_and_changes_nothing(
    cloud: Cloud, assembly: Assembly, other: str
) -> None:
    stack = "stackroom-knowledge-base"
    cloud.deploy(assembly)
    before, ids = cloud.standing(stack), set(cloud.standing())

    with pytest.raises(Failed, match=f"{stack} UPDATE_ROLLBACK_COMPLETE.*already exists"):
        cloud.deploy(deployment(other))

    assert (cloud.standing(stack), set(cloud.standing())) == (before, ids)


def test_a_deployment_that_was_destroyed_is_made_again_over_what_is_kept(
    cloud: Cloud, assembly: Assembly
) -> None:
    cloud.deploy(assembly)
    stay = {**cloud.standing("stackroom-data"), **cloud.standing("stackroom-knowledge-base")}

    cloud.destroy(*stacks(*GOES))
    assert cloud.standing() == stay
    cloud.deploy(assembly)

    assert cloud.standing().items() >= stay.items()


def test_what_outlives_both_kept_stacks_is_in_the_way_of_new_ones(
    cloud: Cloud, assembly: Assembly
) -> None:
    cloud.deploy(assembly)

    cloud.destroy(*stacks(*GOES, "knowledge-base", "data"))

    types = {type_ for type_, _ in cloud.standing()}
    assert types >= {"AWS::S3::Bucket", "AWS::DynamoDB::GlobalTable", "AWS::Bedrock::KnowledgeBase"}
    assert "AWS::Lambda::Function" not in types
    with pytest.raises(Failed, match=r"stackroom-data ROLLBACK_COMPLETE.*already exists"):
        cloud.deploy(assembly)


def test_the_stack_of_a_collection_has_room_beside_them(cloud: Cloud, assembly: Assembly) -> None:
    alone = kept()
    cloud.deploy(assembly)

    for stack in alone.stacks:
        cloud.deploy_stack(stack, alone.template(stack))

    assert [cloud.status(stack) for stack in alone.stacks] == ["CREATE_COMPLETE"]
