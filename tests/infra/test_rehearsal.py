"""
Every stack created, failed, updated and deleted as CloudFormation does it.

ministack's engine runs with fake resource types that follow AWS's schemas (tests/infra/rehearsal).
"""

from collections.abc import Iterator

import pytest

from tests.infra.assembly import Assembly
from tests.infra.rehearsal.cloud import ORDER, Cloud, DeploymentFailed, empty_cloud
from tests.infra.synthesis import deployment

# The stacks that the Makefile's `destroy` deletes.
DESTROYED = ("operations", "console", "gateway", "pipeline")


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    with empty_cloud() as made:
        yield made


def stacks(*kinds: str) -> list[str]:
    return [f"stackroom-{kind}" for kind in kinds]


def test_failed_creation_leaves_nothing_and_the_next_deploy_works(
    cloud: Cloud, assembly: Assembly
) -> None:
    with empty_cloud() as elsewhere:
        elsewhere.deploy(assembly)
        last = {each.stack: each.logical_id for each in elsewhere.resources().values()}

    for stack in stacks(*ORDER):
        with pytest.raises(DeploymentFailed, match=f"^{stack} ROLLBACK_COMPLETE.*has it fail"):
            cloud.deploy(assembly, failing=last[stack])
        assert cloud.resources(stack) == {}
    cloud.deploy(assembly)

    assert {each.stack for each in cloud.resources().values()} == set(stacks(*ORDER))


def test_failed_update_is_rolled_back_and_the_next_one_works(
    cloud: Cloud, assembly: Assembly
) -> None:
    refused = ("knowledge-base", "AWS::Bedrock::KnowledgeBase", "KnowledgeBase3")
    changed, stack = deployment("pool of 3"), f"stackroom-{refused[0]}"
    cloud.deploy(assembly)
    before = cloud.resources(stack)

    with pytest.raises(DeploymentFailed, match=f"{stack} UPDATE_ROLLBACK_COMPLETE"):
        cloud.deploy(changed, failing=changed.one(*refused).logical_id)
    assert cloud.resources(stack) == before
    cloud.deploy(changed)

    assert cloud.resources(stack) != before


def test_deployments_in_other_projects_regions_or_accounts_coexist(
    cloud: Cloud, assembly: Assembly
) -> None:
    cloud.deploy(assembly)

    cloud.deploy(deployment("customised"))
    cloud.elsewhere(region="eu-west-1").deploy(assembly)
    cloud.elsewhere(account="210987654321").deploy(assembly)

    with pytest.raises(DeploymentFailed, match="already exists"):
        cloud.deploy_stack("again", assembly.template("operations"))


def test_documented_immutable_change_fails_and_changes_nothing(
    cloud: Cloud, assembly: Assembly
) -> None:
    stack = "stackroom-knowledge-base"
    cloud.deploy(assembly)
    before, ids = cloud.resources(stack), set(cloud.resources())

    with pytest.raises(DeploymentFailed, match=f"{stack} UPDATE_ROLLBACK_COMPLETE.*already exists"):
        cloud.deploy(deployment("managed"))

    assert (cloud.resources(stack), set(cloud.resources())) == (before, ids)


def test_destroyed_deployment_can_be_deployed_again(cloud: Cloud, assembly: Assembly) -> None:
    cloud.deploy(assembly)
    retained = {**cloud.resources("stackroom-data"), **cloud.resources("stackroom-knowledge-base")}

    cloud.destroy(*stacks(*DESTROYED))
    assert cloud.resources() == retained
    cloud.deploy(assembly)

    assert cloud.resources().items() >= retained.items()
