"""What is refused at synthesis is what an agent refuses when it starts, and the other way round."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

import aws_cdk as cdk
import pytest

from stackroom.aws.bedrock_entries import STORES as READ
from stackroom.aws.bedrock_entries import BedrockSettings
from stackroom.aws.linked_filters import checked
from stackroom.aws.linked_settings import LinkedKnowledgeBasesInvalid, linked_settings
from stackroom.retrieval import budget
from stackroom.retrieval.budget import DEFAULT_BUDGET, Priority
from stackroom_constructs import (
    AgentDefinitionProps,
    BedrockKnowledgeBase,
    ImplicitFilter,
    InvalidArgument,
    MetadataAttribute,
    Reranking,
)
from stackroom_constructs.agent_definition import MOST_TOKENS, PRIORITIES
from stackroom_constructs.retrieval_filters import check_filter
from stackroom_constructs.searching import STORES
from stackroom_constructs.served import MEMBERS

LEAF = {"equals": {"key": "lang", "value": "en"}}
CLAUDE = "anthropic.claude-haiku-4-5-20251001-v1:0"


def exported(stack: cdk.Stack, **arguments: Any) -> str:
    made = BedrockKnowledgeBase(stack, "Handbook", knowledge_base_id="ABCDE12345", **arguments)
    return json.dumps([made.export_configuration()])


def test_every_store_is_known_to_both() -> None:
    assert STORES == READ


def test_a_budget_is_the_same_to_both() -> None:
    unsaid = {field.name: field.default for field in fields(AgentDefinitionProps)}

    assert tuple(Priority) == PRIORITIES
    assert MOST_TOKENS == budget.MOST_TOKENS
    assert unsaid["retrieve_max_tokens"] == DEFAULT_BUDGET.max_tokens
    assert unsaid["retrieve_prioritize_by"] == DEFAULT_BUDGET.prioritize_by


def test_every_member_is_known_to_both() -> None:
    assert set(MEMBERS) == {each.alias for each in BedrockSettings.model_fields.values()}


def test_an_agent_reads_what_is_exported(stack: cdk.Stack) -> None:
    text = exported(
        stack,
        enable_acl=True,
        retrieval_filter={"andAll": [LEAF, {"orAll": [LEAF, LEAF]}]},
        guardrail_id="gr123",
        vector_store_type="RDS",
        override_search_type="HYBRID",
        min_score=1,
        reranking=Reranking(
            model="amazon.rerank-v1:0",
            number_of_results=3,
            fields_to_include=("title",),
            model_fields={"top": 1},
        ),
        implicit_filter=ImplicitFilter(
            model=CLAUDE,
            attributes=(MetadataAttribute(key="year", type="NUMBER", description="Of issue."),),
        ),
    )

    [entry] = linked_settings(text)

    assert isinstance(entry, BedrockSettings)
    assert (entry.groups_in, entry.min_score) == ("allowed_groups", 1)
    assert entry.reranking is not None
    assert entry.reranking.number_of_reranked_results == 3
    assert entry.reranking.fields_to_include == ("title",)
    assert entry.reranking.additional_model_request_fields == {"top": 1}
    assert entry.implicit_filter is not None


@pytest.mark.parametrize(
    ("argument", "member", "value"),
    [
        ("knowledge_base_id", "knowledgeBaseId", " "),
        ("name", "name", ""),
        ("description", "description", " "),
        ("number_of_results", "numberOfResults", 0),
        ("number_of_results", "numberOfResults", 101),
        ("number_of_results", "numberOfResults", "5"),
        ("number_of_results", "numberOfResults", True),
        ("enable_acl", "enableAcl", "yes"),
        ("acl_metadata_field", "aclMetadataField", ""),
        ("acl_metadata_field", "aclMetadataField", " "),
        ("acl_metadata_field", "aclMetadataField", "a" * 101),
        ("acl_metadata_field", "aclMetadataField", "X-Amz-Bedrock-kb-source-uri"),
        ("acl_metadata_field", "aclMetadataField", "user_id"),
        ("acl_metadata_field", "aclMetadataField", "catalog_id"),
        ("guardrail_id", "guardrailId", "Not One"),
        ("guardrail_version", "guardrailVersion", "latest"),
        ("guardrail_version", "guardrailVersion", "0"),
        ("vector_store_type", "vectorStoreType", "PINECONE"),
        ("override_search_type", "overrideSearchType", "LEXICAL"),
        ("override_search_type", "overrideSearchType", "HYBRID"),
        ("min_score", "minScore", -0.1),
        ("min_score", "minScore", 1.5),
        ("min_score", "minScore", "0.5"),
        ("min_score", "minScore", True),
        ("retrieval_filter", "retrievalFilter", {}),
    ],
)
def test_what_one_refuses_the_other_does(
    stack: cdk.Stack, argument: str, member: str, value: Any
) -> None:
    [right] = json.loads(exported(stack))

    with pytest.raises(LinkedKnowledgeBasesInvalid, match=member):
        linked_settings(json.dumps([{**right, member: value}]))
    with pytest.raises(InvalidArgument, match=argument):
        BedrockKnowledgeBase(stack, "Wrong", **{"knowledge_base_id": "ABCDE12345", argument: value})


def filters() -> Iterator[Any]:
    """Of every operator; groups of every width, one in another, and one too deep."""
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


def is_refused(condition: Any, store: str, *, narrowed: bool) -> bool:
    try:
        check_filter("A filter", condition, store=store, is_narrowed=narrowed)
    except InvalidArgument:
        return True
    return False


def is_refused_by_agents(condition: Any, store: str, *, narrowed: bool) -> bool:
    try:
        checked(condition, store=store, is_narrowed=narrowed)
    except ValueError:
        return True
    return False


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("narrowed", [False, True])
def test_a_filter_is_refused_by_both_or_neither(store: str, narrowed: bool) -> None:
    verdicts = {
        json.dumps(each): (
            is_refused(each, store, narrowed=narrowed),
            is_refused_by_agents(each, store, narrowed=narrowed),
        )
        for each in filters()
    }

    assert len({one for one, _ in verdicts.values()}) == 2  # some are refused, and some are not
    assert {text: both for text, both in verdicts.items() if both[0] != both[1]} == {}


def test_there_is_room_for_the_group_of_a_reader_or_there_is_not() -> None:
    wide: Mapping[str, Any] = {"andAll": [LEAF, LEAF, LEAF, LEAF, {"orAll": [LEAF, LEAF]}]}
    choice = {"orAll": [LEAF, {"andAll": [LEAF, LEAF]}]}

    assert not is_refused(wide, "RDS", narrowed=True)  # the four go into a group of their own
    assert is_refused(choice, "RDS", narrowed=True)
    assert not is_refused(choice, "RDS", narrowed=False)
