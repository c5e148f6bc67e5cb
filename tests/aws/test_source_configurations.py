"""What is read out of a data source's configuration, whichever way it describes itself."""

import json
from typing import Any

import pytest

from stackroom.aws.source_configurations import (
    managed_over_prefix,
    over_prefix,
    prefix_in,
    type_in,
)
from stackroom.model import DataSourceType


def connector(parameters: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "MANAGED_KNOWLEDGE_BASE_CONNECTOR",
        "managedKnowledgeBaseConnectorConfiguration": {"connectorParameters": parameters},
    }


def test_parameters_may_be_answered_as_a_text_of_json() -> None:
    chosen = {"type": "S3", "filterConfiguration": {"inclusionPrefixes": ["alice/research/"]}}
    told = connector({})
    told["managedKnowledgeBaseConnectorConfiguration"]["connectorParameters"] = json.dumps(chosen)

    assert (type_in(told), prefix_in(told)) == (DataSourceType.S3, "alice/research/")


@pytest.mark.parametrize(
    "made",
    [
        over_prefix("docs", "alice/research/"),
        managed_over_prefix("docs", "alice/research/", owner="123456789012"),
    ],
    ids=["vector", "managed"],
)
def test_what_is_made_over_a_prefix_is_known_again(made: dict[str, Any]) -> None:
    assert (type_in(made), prefix_in(made)) == (DataSourceType.S3, "alice/research/")


@pytest.mark.parametrize(
    "shared", [{"type": "CUSTOM"}, connector({"type": "CUSTOM", "version": "1"})]
)
def test_a_shared_one_has_no_prefix(shared: dict[str, Any]) -> None:
    assert (type_in(shared), prefix_in(shared)) == (DataSourceType.CUSTOM, "")


@pytest.mark.parametrize("whole", [{"type": "S3"}, connector({"type": "S3"})])
def test_one_over_a_whole_bucket_has_none_either(whole: dict[str, Any]) -> None:
    assert (type_in(whole), prefix_in(whole)) == (DataSourceType.S3, "")


@pytest.mark.parametrize("strange", [{"type": "WEB"}, connector({"type": "BOX"}), connector({})])
def test_one_of_another_type_is_somebody_elses(strange: dict[str, Any]) -> None:
    assert type_in(strange) is None
