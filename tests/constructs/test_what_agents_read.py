"""Constructs refuse during synthesis what an agent refuses when it starts, and nothing else."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from functools import partial
from typing import Any

import aws_cdk as cdk
import pytest

from stackroom.aws.bedrock.configured_filters import check
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
from stackroom_constructs.agent_knowledge_bases import (
    MEMBERS,
    STORE_MEMBERS,
    check_entry,
    members_of,
)
from stackroom_constructs.own_store_knowledge_base import OwnStoreKnowledgeBase
from stackroom_constructs.retrieval_filters import check_filter
from stackroom_constructs.search_options import STORES
from stackroom_stores import store_registry
from stackroom_stores.bedrock_entry import STANDS_ON, BedrockSettings
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
    assert {*STORES, *STORE_MEMBERS} == set(store_registry.STORES)


def test_constructs_and_settings_have_the_same_budget() -> None:
    defaults = {field.name: field.default for field in fields(AgentDefinitionProps)}

    assert tuple(Priority) == PRIORITIES
    assert MAX_TOKENS == budget.MOST_TOKENS
    assert defaults["retrieve_max_tokens"] == DEFAULT_BUDGET.max_tokens
    assert defaults["retrieve_prioritize_by"] == DEFAULT_BUDGET.prioritize_by


def test_constructs_and_settings_know_the_same_members() -> None:
    assert set(MEMBERS) == {each.alias for each in BedrockSettings.model_fields.values()}
    assert STORE_MEMBERS
    for store in STORE_MEMBERS:
        settings = store_registry.STORES[store]()
        members = members_of({"vectorStoreType": store})
        assert set(members) == {each.alias for each in settings.model_fields.values()}


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
    check_entry(stack, entry)

    [read] = linked_settings(json.dumps([entry]))

    assert read.model_dump(by_alias=True, mode="json", exclude_unset=True) == entry
    changed = {name: entry[name] for name in entry if entry[name] != least.get(name, entry)}
    assert len(changed) == len(arguments)
    plain = [
        each for each in arguments.values() if not isinstance(each, Reranking | ImplicitFilter)
    ]
    assert all(each in changed.values() for each in plain)


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


@pytest.mark.parametrize("made", OWN_STORES)
def test_tenancy_of_a_store_must_be_configured(
    stack: cdk.Stack, made: type[OwnStoreKnowledgeBase]
) -> None:
    entry = in_its_store(stack, made).export_configuration()
    del entry["tenancy"]

    with pytest.raises(LinkedKnowledgeBasesInvalid, match="tenancy"):
        linked_settings(json.dumps([entry]))
    with pytest.raises(InvalidArgument, match="tenancy None must be one of shared, user"):
        check_entry(stack, entry)


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
    ("override_search_type", "overrideSearchType", "HYBRID"),
    ("min_score", "minScore", 1.5),
    ("retrieval_filter", "retrievalFilter", {}),
]


def test_construct_and_settings_refuse_the_same_bedrock_options(stack: cdk.Stack) -> None:
    right = of_bedrock(stack).export_configuration()

    for argument, member, value in OF_BEDROCK:
        with pytest.raises(LinkedKnowledgeBasesInvalid, match=member):
            linked_settings(json.dumps([{**right, member: value}]))
        wrong = {"knowledge_base_id": "ABCDE12345", argument: value}
        with pytest.raises(InvalidArgument, match=argument):
            BedrockKnowledgeBase(cdk.Stack(), "Wrong", **wrong)


def filters() -> Iterator[Any]:
    """Yield filters with every operator, groups of every width, nested groups, and one too deep."""
    values: list[Any] = ["en", 7, True, ["en"], [], None, {}]
    for operator in ("equals", "in", "startsWith", "stringContains", "listContains", "like"):
        for value in values:
            yield {operator: {"key": "lang", "value": value}}
    yield from ("text", [], {"equals": {"key": "lang"}}, {**LEAF, "notEquals": LEAF["equals"]})
    yield {"equals": {"key": "k" * 101, "value": 1}}
    for outer in ("andAll", "orAll"):
        for inner in ("andAll", "orAll"):
            deep = {inner: [LEAF, {inner: [LEAF, LEAF]}]}
            yield {outer: [LEAF, deep]}
            for width in range(7):
                yield {outer: [LEAF] * width}
                for groups in range(1, 6):
                    yield {outer: [LEAF] * width + [{inner: [LEAF] * groups}] * groups}


def refuses(check: Callable[[], object], *errors: type[Exception]) -> bool:
    try:
        check()
    except errors:
        return True
    return False


def is_refused(condition: Any, store: str, *, narrowed: bool) -> bool:
    return refuses(
        lambda: check_filter("A filter", condition, store=store, is_narrowed=narrowed),
        InvalidArgument,
    )


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("narrowed", [False, True])
def test_construct_and_settings_refuse_the_same_filters(store: str, narrowed: bool) -> None:
    verdicts = {
        json.dumps(each): (
            is_refused(each, store, narrowed=narrowed),
            refuses(partial(check, each, store=store, is_narrowed=narrowed), ValueError),
        )
        for each in filters()
    }

    assert len({one for one, _ in verdicts.values()}) == 2  # some are refused, and some are not
    assert {text: both for text, both in verdicts.items() if both[0] != both[1]} == {}


def of_stores() -> Iterator[Any]:
    """Yield further filters: values without an order, unsupported keys, too many values."""
    yield from filters()
    for value in ("2026", 2026, 20.5, True, ["2026"]):
        for operator in (
            "greaterThan",
            "lessThanOrEquals",
            "startsWith",
            "stringContains",
            "notEquals",
        ):
            yield {operator: {"key": "year", "value": value}}
    for operator in ("in", "notIn"):
        for count in (1, 93, 94, 95, 200):
            yield {operator: {"key": "year", "value": list(range(count))}}
    yield {"equals": {"key": "$year", "value": 2026}}
    yield {"equals": {"key": "lang\x00", "value": "en"}}
    yield {"andAll": [LEAF, {"notIn": {"key": "lang", "value": ["de", "e\x00n"]}}]}
    yield {"orAll": [LEAF, {"andAll": [LEAF, {"startsWith": {"key": "$or", "value": "a"}}]}]}
    yield {"andAll": [LEAF, *[{"in": {"key": "year", "value": list(range(31))}}] * 3]}


@pytest.mark.parametrize("narrowed", [False, True])
@pytest.mark.parametrize("made", OWN_STORES)
def test_construct_and_settings_refuse_the_same_store_filters(
    stack: cdk.Stack, made: type[OwnStoreKnowledgeBase], narrowed: bool
) -> None:
    entry = in_its_store(stack, made, enable_acl=narrowed).export_configuration()

    def wrong(condition: Any) -> dict[str, Any]:
        return {**entry, "retrievalFilter": condition}

    verdicts = {
        json.dumps(each): (
            refuses(partial(check_entry, stack, wrong(each)), InvalidArgument),
            refuses(
                partial(linked_settings, json.dumps([wrong(each)])), LinkedKnowledgeBasesInvalid
            ),
        )
        for each in of_stores()
    }

    assert len({one for one, _ in verdicts.values()}) == 2
    assert {text: both for text, both in verdicts.items() if both[0] != both[1]} == {}
