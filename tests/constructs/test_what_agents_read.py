"""Constructs write what an agent reads, and refuse during synthesis most of what it refuses."""

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from typing import Any

import aws_cdk as cdk
import pytest

from stackroom.search import budget
from stackroom.search.budget import DEFAULT_BUDGET, Priority
from stackroom_constructs import (
    AgentDefinitionProps,
    BaseKnowledgeBase,
    BedrockKnowledgeBase,
    ImplicitFilter,
    InvalidArgument,
    MetadataAttribute,
    OpenSearchKnowledgeBase,
    PgvectorKnowledgeBase,
    Reranking,
    VectorIndexKnowledgeBase,
)
from stackroom_constructs.agent_definition import MAX_TOKENS, PRIORITIES
from stackroom_constructs.own_store_knowledge_base import OwnStoreKnowledgeBase
from stackroom_constructs.search_options import STORES
from stackroom_stores.bedrock_entry import STANDS_ON
from stackroom_stores.linked_knowledge_bases import (
    LinkedKnowledgeBasesInvalid,
    linked_settings,
)
from tests.constructs.stores import OWN_STORES, in_its_store

LEAF = {"equals": {"key": "lang", "value": "en"}}
CLAUDE = "anthropic.claude-haiku-4-5-20251001-v1:0"


def of_bedrock(stack: cdk.Stack, **arguments: Any) -> BedrockKnowledgeBase:
    return BedrockKnowledgeBase(stack, "Handbook", knowledge_base_id="ABCDE12345", **arguments)


def test_constructs_and_settings_know_the_same_stores() -> None:
    assert STORES == STANDS_ON


def test_constructs_and_settings_have_the_same_budget() -> None:
    defaults = {field.name: field.default for field in fields(AgentDefinitionProps)}

    assert tuple(Priority) == PRIORITIES
    assert MAX_TOKENS == budget.MOST_TOKENS
    assert defaults["retrieve_max_tokens"] == DEFAULT_BUDGET.max_tokens
    assert defaults["retrieve_prioritize_by"] == DEFAULT_BUDGET.prioritize_by


RANKED = Reranking(
    model="amazon.rerank-v1:0",
    number_of_results=3,
    fields_to_include=("title",),
    model_fields={"top": 1},
)
YEAR = MetadataAttribute(key="year", type="NUMBER", description="Of issue.")
# All optional arguments of each class.
ALL_OPTIONS: list[tuple[Callable[..., BaseKnowledgeBase], dict[str, Any]]] = [
    (
        of_bedrock,
        {
            "name": "Rules",
            "description": "What everybody must know.",
            "number_of_results": 100,
            "enable_acl": True,
            "acl_metadata_field": "readers",
            "retrieval_filter": {"andAll": [LEAF, {"orAll": [LEAF, LEAF]}]},
            "guardrail_id": "gr123",
            "guardrail_version": "7",
            "vector_store_type": "RDS",
            "override_search_type": "HYBRID",
            "min_score": 1,
            "reranking": RANKED,
            "implicit_filter": ImplicitFilter(model=CLAUDE, attributes=(YEAR,)),
        },
    ),
    (
        partial(in_its_store, made=OpenSearchKnowledgeBase),
        {
            "tenancy": "user",
            "tenant_key": "customer",
            "index_name": "parts",
            "vector_field": "v",
            "text_field": "t",
            "metadata_field": "m",
            "source_key": "url",
            "embedding_dimensions": 512,
            "override_search_type": "HYBRID",
            "min_score": None,
            "retrieval_filter": {"startsWith": {"key": "number", "value": "A-"}},
        },
    ),
    (
        partial(in_its_store, made=VectorIndexKnowledgeBase),
        {
            "tenancy": "user",
            "tenant_key": "customer",
            "text_key": "body",
            "source_key": "url",
            "embedding_dimensions": 512,
            "override_search_type": "SEMANTIC",
            "min_score": 0.5,
            "enable_acl": True,
            "retrieval_filter": {"in": {"key": "year", "value": [2025, 2026]}},
            "reranking": Reranking(model="amazon.rerank-v1:0", number_of_results=3),
            "guardrail_id": "gr123",
        },
    ),
    (of_bedrock, {}),
    *((partial(in_its_store, made=each), {}) for each in OWN_STORES),
]


@pytest.mark.parametrize(("make", "arguments"), ALL_OPTIONS)
def test_settings_read_each_exported_member(
    stack: cdk.Stack, make: Callable[..., BaseKnowledgeBase], arguments: dict[str, Any]
) -> None:
    entry = make(stack, **arguments).export_configuration()
    least = make(cdk.Stack()).export_configuration()

    [read] = linked_settings(json.dumps([entry]))

    assert read.model_dump(by_alias=True, mode="json", exclude_unset=True) == entry
    changed = {name: entry[name] for name in entry if entry[name] != least.get(name, entry)}
    assert len(changed) == len(arguments)
    plain = [
        each for each in arguments.values() if not isinstance(each, Reranking | ImplicitFilter)
    ]
    assert all(each in changed.values() for each in plain)


def test_reranking_and_filter_models_are_exported_in_retrieve_syntax(
    stack: cdk.Stack,
) -> None:
    entry = of_bedrock(
        stack,
        vector_store_type="RDS",
        reranking=RANKED,
        implicit_filter=ImplicitFilter(model=CLAUDE, attributes=(YEAR,)),
    ).export_configuration()

    ranks, filters = entry["reranking"], entry["implicitFilter"]
    assert ranks.pop("modelArn").endswith("::foundation-model/amazon.rerank-v1:0")
    assert ranks == {
        "numberOfRerankedResults": 3,
        "fieldsToInclude": ["title"],
        "additionalModelRequestFields": {"top": 1},
    }
    assert filters["modelArn"].endswith(f"::foundation-model/{CLAUDE}")
    attribute = {"key": "year", "type": "NUMBER", "description": "Of issue."}
    assert filters["metadataAttributes"] == [attribute]


# Required members, and those with other defaults in an agent's environment.
REQUIRED = {"knowledgeBaseId", "name", "description", "vectorStoreType", "tenancy", "indexArn"} | {
    *("collectionEndpoint", "host", "database", "user", "sslRootCert", "port"),
}


@pytest.mark.parametrize("made", OWN_STORES)
def test_constructs_and_settings_have_the_same_store_defaults(
    stack: cdk.Stack, made: type[OwnStoreKnowledgeBase]
) -> None:
    entry = in_its_store(stack, made).export_configuration()
    least = {name: value for name, value in entry.items() if name in REQUIRED}

    assert linked_settings(json.dumps([entry])) == linked_settings(json.dumps([least]))


OF_ANY_STORE: list[tuple[str, str, Any]] = [
    ("name", "name", ""),
    ("override_search_type", "overrideSearchType", "TEXT"),
    ("tenant_key", "tenantKey", " X-Amz-Bedrock-kb-source-uri"),
    ("embedding_model", "embeddingModel", "cohere.embed-v4:0"),
    ("embedding_dimensions", "embeddingDimensions", True),
]
OF_ONE_STORE: Mapping[type[OwnStoreKnowledgeBase], list[tuple[str, str, Any]]] = {
    VectorIndexKnowledgeBase: [
        ("index_arn", "indexArn", "chunks"),
        ("text_key", "textKey", "t" * 64),
        ("source_key", "sourceKey", "s" * 64),
    ],
    PgvectorKnowledgeBase: [
        ("host", "host", "a.example.com,b.example.com"),
        ("port", "port", 0),
        ("user", "user", "u" * 64),
    ],
    OpenSearchKnowledgeBase: [],
}


@pytest.mark.parametrize("made", OWN_STORES)
def test_construct_and_settings_refuse_the_same_store_options(
    stack: cdk.Stack, made: type[OwnStoreKnowledgeBase]
) -> None:
    right = in_its_store(stack, made).export_configuration()

    for argument, member, value in [*OF_ANY_STORE, *OF_ONE_STORE[made]]:
        with pytest.raises(LinkedKnowledgeBasesInvalid, match=member):
            linked_settings(json.dumps([{**right, member: value}]))
        with pytest.raises(InvalidArgument, match=argument):
            in_its_store(cdk.Stack(), made, **{argument: value})


def test_access_attributes_must_be_filterable_in_the_index(stack: cdk.Stack) -> None:
    options: dict[str, Any] = {"tenancy": "user", "enable_acl": True, "text_key": "body"}
    right = in_its_store(stack, VectorIndexKnowledgeBase, **options).export_configuration()

    for argument, member in (
        ("tenant_key", "tenantKey"),
        ("acl_metadata_field", "aclMetadataField"),
    ):
        for name in ("$owner", "body"):
            with pytest.raises(LinkedKnowledgeBasesInvalid, match=member):
                linked_settings(json.dumps([{**right, member: name}]))
            with pytest.raises(InvalidArgument, match=argument):
                in_its_store(cdk.Stack(), VectorIndexKnowledgeBase, **options, **{argument: name})


OF_BEDROCK: list[tuple[str, str, Any]] = [
    ("knowledge_base_id", "knowledgeBaseId", " "),
    ("name", "name", ""),
    ("number_of_results", "numberOfResults", 101),
    ("enable_acl", "enableAcl", "yes"),
    ("acl_metadata_field", "aclMetadataField", "X-Amz-Bedrock-kb-source-uri"),
    ("acl_metadata_field", "aclMetadataField", "user_id"),
    ("guardrail_id", "guardrailId", "Not One"),
    ("guardrail_version", "guardrailVersion", "latest"),
    ("vector_store_type", "vectorStoreType", "PINECONE"),
    ("min_score", "minScore", 1.5),
]


def test_construct_and_settings_refuse_the_same_bedrock_options(stack: cdk.Stack) -> None:
    right = of_bedrock(stack).export_configuration()

    for argument, member, value in OF_BEDROCK:
        with pytest.raises(LinkedKnowledgeBasesInvalid, match=member):
            linked_settings(json.dumps([{**right, member: value}]))
        wrong = {"knowledge_base_id": "ABCDE12345", argument: value}
        with pytest.raises(InvalidArgument, match=argument):
            BedrockKnowledgeBase(cdk.Stack(), "Wrong", **wrong)
