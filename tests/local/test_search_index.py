"""The index of a local mode, made for search by words by the function that does it on AWS."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import pytest

from stackroom_local.deployment.assembly import Template
from stackroom_local.deployment.cloudformation import CloudFormation
from stackroom_local.state import Instance
from tests.local.mishaps import (
    SEARCH_INDEX_FUNCTION,
    TEXT,
    age,
    by_hand,
    forget_text_search,
    index_of,
)
from tests.local.running import local_mode, stackroom

STACK = "stackroom-knowledge-base"
OURS = "SearchIndex"  # begins the logical ids


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    # Slow enough for what is built of an index that holds something to be seen being built.
    state = tmp_path_factory.mktemp("search-index") / "state"
    with local_mode(state, "--speed", "5") as running:
        yield running


@pytest.fixture
def template(instance: Instance) -> Iterator[Template]:
    """As it was deployed, and as it is deployed after the test."""
    cloudformation = CloudFormation.of(instance.client)
    body = cloudformation.client.get_template(StackName=STACK)["TemplateBody"]
    deployed: Template = json.loads(body) if isinstance(body, str) else json.loads(json.dumps(body))
    yield deepcopy(deployed)
    cloudformation.deploy(STACK, deployed)


def searched_by(instance: Instance) -> dict[str, str]:
    """The languages by key."""
    metadata = index_of(instance)["metadataConfiguration"]
    configured = metadata.get("textSearchConfigurations", [])
    assert all(each["status"] in ("ACTIVE", "BUILDING") for each in configured)
    return {each["metadataKey"]: each.get("language", "none") for each in configured}


def test_a_fresh_start_has_an_index_that_is_searched_by_words(instance: Instance) -> None:
    made = index_of(instance)

    assert made["indexMode"] == "ENHANCED"
    assert searched_by(instance) == {TEXT: "en"}


def test_an_index_of_an_older_deployment_gains_it(instance: Instance, template: Template) -> None:
    cloudformation = CloudFormation.of(instance.client)
    older = deepcopy(template)
    resources = older["Resources"]
    older["Resources"] = {name: resources[name] for name in resources if not name.startswith(OURS)}
    cloudformation.deploy(STACK, older)
    age(instance)
    before = index_of(instance)["indexMode"], searched_by(instance)

    cloudformation.deploy(STACK, template)

    assert before == ("CLASSIC", {})
    assert index_of(instance)["indexMode"] == "ENHANCED"
    assert searched_by(instance) == {TEXT: "en"}


def test_changed_search_language_is_deployed_once_the_index_is_built(
    instance: Instance, template: Template
) -> None:
    cloudformation = CloudFormation.of(instance.client)
    [custom] = custom_resources(template)
    with something_in_the_index(instance):
        custom["Properties"]["Language"] = "de"
        cloudformation.deploy(STACK, template)
        [built] = index_of(instance)["metadataConfiguration"]["textSearchConfigurations"]
        custom["Properties"]["Language"] = "none"
        cloudformation.deploy(STACK, template)

    assert (built["language"], built["status"]) == ("de", "BUILDING")
    assert searched_by(instance) == {TEXT: "none"}


@contextmanager
def something_in_the_index(instance: Instance) -> Iterator[None]:
    s3vectors, arn = (
        instance.client("s3vectors"),
        index_of(instance)["indexArn"],
    )
    vector = {"key": "heron", "data": {"float32": [1.0] * 1024}, "metadata": {TEXT: "A heron."}}
    s3vectors.put_vectors(indexArn=arn, vectors=[vector])
    yield
    s3vectors.delete_vectors(indexArn=arn, keys=["heron"])


def test_an_index_that_can_not_be_made_so_is_told_and_breaks_nothing_off(
    instance: Instance, template: Template
) -> None:
    cloudformation = CloudFormation.of(instance.client)
    [custom] = custom_resources(template)
    custom["Properties"]["IndexArn"] += "-of-nobody"

    cloudformation.deploy(STACK, template)

    told = cloudformation.outputs([STACK])["SearchByWords"]
    assert re.search(r"-of-nobody' is not there: .* docs/deploy\.md", told)
    assert searched_by(instance) == {TEXT: "en"}


def test_doctor_tells_of_an_index_without_it_and_its_command_mends_it(instance: Instance) -> None:
    well = stackroom("doctor", state_dir=instance.state_dir)
    forget_text_search(instance)

    ill = stackroom("doctor", state_dir=instance.state_dir)
    mended = by_hand(instance)
    again = stackroom("doctor", state_dir=instance.state_dir)

    assert "index stackroom-1 is ENHANCED and its text search ACTIVE" in words(well.stdout)
    assert (well.returncode, ill.returncode, again.returncode) == (0, 1, 0)
    assert "index stackroom-1 has no text search, so searches go through" in words(ill.stdout)
    assert f"aws lambda invoke --function-name {SEARCH_INDEX_FUNCTION} /dev/stdout" in words(
        ill.stdout
    )
    assert list(mended.values()) == [{"text_search": "active", "language": "en"}]


def custom_resources(template: Template) -> list[dict[str, Any]]:
    found = template["Resources"].values()
    return [each for each in found if each["Type"] == "Custom::SearchIndex"]


def words(text: str) -> str:
    """Without the line breaks of a narrow terminal."""
    return " ".join(text.split())
