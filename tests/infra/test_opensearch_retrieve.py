"""The stack that lets a gateway search a collection of OpenSearch Serverless."""

import json
from pathlib import Path
from typing import Any

import pytest

from functions.opensearch_retrieve.handler import OpenSearchRetrieveSettings
from stackroom_stores.linked_knowledge_bases import linked_settings
from stackroom_stores.opensearch.opensearch_entry import OpenSearchSettings
from tests.infra.assembly import Assembly, as_list
from tests.infra.opensearch import EXISTING, ROLE, cached_assembly, synthesised

STACK = "opensearch"


@pytest.fixture
def stack() -> Assembly:
    return cached_assembly()


def _only(assembly: Assembly, kind: str) -> dict[str, Any]:
    [found] = assembly.all(STACK, kind)
    return found.properties


def _resolved(value: Any) -> Any:
    """Return a value as it reads in the collection's account and region."""
    text = json.dumps(value).replace("{account}", "000000000000").replace("{region}", "us-east-1")
    return json.loads(text)


def entry_of(stack: Assembly) -> OpenSearchSettings:
    """Return the entry as the function reads it."""
    function = _only(stack, "AWS::Lambda::Function")
    text = function["Environment"]["Variables"]["KNOWLEDGE_BASES_CONFIG"]
    OpenSearchRetrieveSettings(knowledge_bases_config=text)
    [entry] = linked_settings(text)
    assert isinstance(entry, OpenSearchSettings)
    return entry


def test_defaults_of_the_stack_match_the_functions_settings(stack: Assembly) -> None:
    by_stack = entry_of(stack)
    needed = ("knowledge_base_id", "name", "description", "collection_endpoint", "tenancy")

    bare = by_stack.model_dump(mode="json", by_alias=True, include={*needed, "vector_store_type"})
    [by_default] = linked_settings(json.dumps([bare]))

    assert by_stack == by_default.model_copy(update={"override_search_type": "SEMANTIC"})


def test_role_may_embed_and_call_the_collection_only(stack: Assembly) -> None:
    statements = _only(stack, "AWS::IAM::Policy")["PolicyDocument"]["Statement"]
    log_group = "log-group:/aws/lambda/stackroom-opensearch-retrieve:*"

    granted = {
        (action, _resolved(each["Resource"]))
        for each in statements
        for action in as_list(each["Action"])
    }

    titan = "arn:aws:bedrock:us-east-1::foundation-model/amazon.titan-embed-text-v2:0"
    assert granted == {
        ("xray:PutTelemetryRecords", "*"),
        ("xray:PutTraceSegments", "*"),
        ("logs:CreateLogStream", f"arn:aws:logs:us-east-1:000000000000:{log_group}"),
        ("logs:PutLogEvents", f"arn:aws:logs:us-east-1:000000000000:{log_group}"),
        ("bedrock:InvokeModel", titan),
        ("aoss:APIAccessAll", EXISTING["collection_arn"]),
    }


def test_data_access_policy_allows_reading_one_index(stack: Assembly) -> None:
    policy = _only(stack, "AWS::OpenSearchServerless::AccessPolicy")

    assert (policy["Type"], policy["Name"]) == ("data", "stackroom-retrieve")
    assert _resolved(json.loads(policy["Policy"])) == [
        {
            "Rules": [
                {
                    "ResourceType": "index",
                    "Resource": ["index/finance-docs/knowledge-base"],
                    "Permission": ["aoss:DescribeIndex", "aoss:ReadDocument"],
                }
            ],
            "Principal": [ROLE],
        }
    ]


def test_only_the_gateways_role_may_invoke_the_function(stack: Assembly) -> None:
    policy = _resolved(_only(stack, "AWS::Lambda::ResourcePolicy")["PolicyDocument"])
    allow, deny = policy["Statement"]

    gateway = EXISTING["gateway_role_arn"]
    assert (allow["Effect"], allow["Principal"]) == ("Allow", {"AWS": gateway})
    assert (deny["Effect"], deny["Principal"]) == ("Deny", {"AWS": "*"})
    assert deny["Condition"] == {
        "ArnNotLike": {
            "aws:PrincipalArn": [gateway, "arn:aws:sts::000000000000:assumed-role/gateway/*"]
        }
    }
    assert {allow["Action"], deny["Action"]} == {"lambda:InvokeFunction"}


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"tenancy": "user"}, "tenancy 'user' must be 'shared'"),
        ({"gateway_role_arn": "gateway"}, "gateway_role_arn 'gateway' must match"),
        (
            {"collection_endpoint": "http://elsewhere"},
            "must be an address that begins with https://",
        ),
        ({"embedding_dimensions": "300"}, "embedding_dimensions 300 must be one of 256, 512, 1024"),
        ({"hybrid": "yes"}, "hybrid 'yes' must be true or false"),
        ({"text_field": " "}, "textField ' ' must be non-blank text"),
        (
            {"dimensions": "512"},
            "context 'dimensions' is no setting of this app; use one of bundling, ",
        ),
    ],
)
def test_wrong_setting_is_refused_by_name(
    tmp_path: Path, wrong: dict[str, str], named: str
) -> None:
    with pytest.raises(ValueError, match=named):
        synthesised(tmp_path, **wrong)
