"""How a knowledge base can be searched, against botocore's own model of `Retrieve`."""

from typing import Any

import pytest
from botocore.stub import Stubber

from stackroom.aws.bedrock import configured_filters
from stackroom.aws.bedrock.bedrock_adapter import rendered
from stackroom.aws.bedrock.configured_filters import can_be_narrowed, parsed
from stackroom.aws.bedrock.retrieve_options import (
    ImplicitFilterSettings,
    RerankingSettings,
    RetrieveOptions,
)
from stackroom.aws.bedrock.retrieved_passages import OF_MANAGED, custom_id_of, uri_of

SERVICE = "bedrock-agent-runtime"  # of the fixture `client`
MODEL = "arn:aws:bedrock:us-east-1::foundation-model/amazon.rerank-v1:0"
YEAR = {"key": "year", "type": "NUMBER", "description": "the year of the document"}


def reranked(**entry: Any) -> RerankingSettings:
    return RerankingSettings.model_validate({"modelArn": MODEL, **entry})


def filtered(*attributes: dict[str, str]) -> ImplicitFilterSettings:
    return ImplicitFilterSettings.model_validate(
        {"modelArn": MODEL, "metadataAttributes": attributes}
    )


def passes_the_model(client: Any, configuration: Any) -> None:
    with Stubber(client) as stubber:
        stubber.add_response("retrieve", {"retrievalResults": []})
        client.retrieve(
            knowledgeBaseId="KB12345678",
            retrievalQuery={"text": "leave"},
            retrievalConfiguration=configuration,
        )


def test_result_count_is_capped_by_retrieve_and_reranking_by_passages() -> None:
    asked: Any = RetrieveOptions().configuration(250, None)
    reranking: Any = reranked(numberOfRerankedResults=50).configuration(5)

    assert asked["vectorSearchConfiguration"]["numberOfResults"] == 100
    assert reranking["bedrockRerankingConfiguration"]["numberOfRerankedResults"] == 5


def test_every_choice_of_a_vector_search_is_sent(client: Any) -> None:
    condition = {"equals": {"key": "city", "value": "Rome"}}
    options = RetrieveOptions(
        search_type="HYBRID",
        reranking=reranked(
            numberOfRerankedResults=3,
            fieldsToInclude=["title"],
            additionalModelRequestFields={"max_chunks": 2},
        ),
        implicit_filter=filtered(YEAR),
    )

    asked = options.configuration(20, condition)

    passes_the_model(client, asked)
    assert asked == {
        "vectorSearchConfiguration": {
            "numberOfResults": 20,
            "filter": condition,
            "overrideSearchType": "HYBRID",
            "rerankingConfiguration": {
                "type": "BEDROCK_RERANKING_MODEL",
                "bedrockRerankingConfiguration": {
                    "modelConfiguration": {
                        "modelArn": MODEL,
                        "additionalModelRequestFields": {"max_chunks": 2},
                    },
                    "numberOfRerankedResults": 3,
                    "metadataConfiguration": {
                        "selectionMode": "SELECTIVE",
                        "selectiveModeConfiguration": {"fieldsToInclude": [{"fieldName": "title"}]},
                    },
                },
            },
            "implicitFilterConfiguration": {
                "modelArn": MODEL,
                "metadataAttributes": [
                    {"key": "year", "type": "NUMBER", "description": "the year of the document"}
                ],
            },
        }
    }


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (RetrieveOptions(is_managed=True), {}),
        (
            RetrieveOptions(is_managed=True, managed_reranking="NONE"),
            {"rerankingModelType": "NONE"},
        ),
        (
            RetrieveOptions(is_managed=True, reranking=reranked()),
            {
                "rerankingModelType": "CUSTOM",
                "rerankingConfiguration": {
                    "type": "BEDROCK_RERANKING_MODEL",
                    "bedrockRerankingConfiguration": {"modelConfiguration": {"modelArn": MODEL}},
                },
            },
        ),
    ],
)
def test_a_managed_knowledge_base_has_a_configuration_of_its_own(
    client: Any, options: RetrieveOptions, expected: dict[str, Any]
) -> None:
    asked = options.configuration(20, {"equals": {"key": "city", "value": "Rome"}})

    passes_the_model(client, asked)
    condition = {"equals": {"key": "city", "value": "Rome"}}
    search = {"numberOfResults": 20, "filter": condition, **expected}
    assert asked == {"managedSearchConfiguration": search}


def both(fixed: Any, demanded: Any) -> Any:
    whole = configured_filters.both(fixed and parsed(fixed), demanded and parsed(demanded))
    return whole and rendered(whole)


def equals(key: str) -> dict[str, Any]:
    return {"equals": {"key": key, "value": "x"}}


def leaves(names: str) -> list[dict[str, Any]]:
    return [equals(name) for name in names]


def depth(condition: dict[str, Any]) -> int:
    inner = [*condition.get("andAll", ()), *condition.get("orAll", ())]
    return 1 + max(map(depth, inner)) if inner else 0


def widest(condition: dict[str, Any]) -> int:
    inner = [*condition.get("andAll", ()), *condition.get("orAll", ())]
    return max([len(inner), *map(widest, inner)])


def test_two_filters_are_demanded_in_one_group() -> None:
    choice = {"orAll": leaves("bc")}

    assert both(equals("a"), equals("b")) == {"andAll": leaves("ab")}
    assert both(equals("a"), choice) == {"andAll": [equals("a"), choice]}
    assert both({"andAll": leaves("ab")}, {"andAll": leaves("cde")}) == {"andAll": leaves("abcde")}
    assert both({"andAll": [equals("a"), {"andAll": leaves("bc")}]}, equals("d")) == {
        "andAll": leaves("abcd")
    }


def test_more_demands_than_a_group_takes_are_put_in_groups_of_their_own() -> None:
    choices = [{"orAll": leaves(names)} for names in ("pq", "rs", "tu")]

    whole = both({"andAll": leaves("abc")}, {"andAll": [*leaves("de"), *choices]})
    many = both({"andAll": [{"andAll": leaves("abcde")}, {"andAll": leaves("fghij")}]}, equals("k"))

    assert whole == {"andAll": [{"andAll": leaves("abcde")}, *choices]}
    assert many == {
        "andAll": [{"andAll": leaves("abcde")}, {"andAll": leaves("fghij")}, equals("k")]
    }
    for condition in (whole, many):
        assert (depth(dict(condition)), widest(dict(condition)) <= 5) == (2, True)


def test_combined_filter_beyond_bedrocks_nesting_is_refused() -> None:
    deep = {"orAll": [{"andAll": leaves("ab")}, equals("c")]}
    choices = [{"orAll": leaves("ab")} for _ in range(5)]

    with pytest.raises(ValueError, match="an orAll that holds groups"):
        both(deep, equals("d"))
    with pytest.raises(ValueError, match="an orAll that holds groups"):
        both(equals("d"), deep)
    with pytest.raises(ValueError, match="more than 5 members"):
        both({"andAll": choices}, equals("d"))


@pytest.mark.parametrize(
    ("fixed", "expected"),
    [
        (equals("a"), True),
        ({"orAll": leaves("abcde")}, True),
        ({"andAll": leaves("abcde")}, True),
        ({"andAll": [{"orAll": leaves("ab")} for _ in range(4)]}, True),
        ({"andAll": [{"orAll": leaves("ab")} for _ in range(5)]}, False),
        ({"orAll": [{"andAll": leaves("ab")}, equals("c")]}, False),
    ],
)
def test_fixed_filter_can_be_narrowed_only_within_bedrocks_nesting(
    fixed: dict[str, Any], expected: bool
) -> None:
    assert can_be_narrowed(parsed(fixed)) is expected


SOURCE = "x-amz-bedrock-kb-source-uri"


@pytest.mark.parametrize(
    ("location", "uri"),
    [
        ({"type": "S3", "s3Location": {"uri": "s3://b/a.pdf"}}, "s3://b/a.pdf"),
        ({"type": "WEB", "webLocation": {"url": "https://a/b"}}, "https://a/b"),
        ({"type": "KENDRA", "kendraDocumentLocation": {"uri": "https://c"}}, "https://c"),
        ({"type": "SQL", "sqlLocation": {"query": "SELECT 1"}}, None),
        (None, None),
    ],
)
def test_a_passage_is_from_an_object_or_an_address(location: Any, uri: str | None) -> None:
    assert uri_of(location, {}) == uri


def test_an_address_elsewhere_is_never_taken_for_an_object() -> None:
    location: Any = {"type": "WEB", "webLocation": {"url": "s3://docs/alice/secret.txt"}}

    assert uri_of(location, {SOURCE: "https://a"}) is None


def test_custom_document_yields_its_id_and_the_noted_s3_uri() -> None:
    location: Any = {"type": "CUSTOM", "customDocumentLocation": {"id": "doc-1"}}

    assert custom_id_of(location) == "doc-1"
    assert uri_of(location, {SOURCE: "doc-1"}) is None
    assert uri_of(location, {SOURCE: "s3://docs/a"}) == "s3://docs/a"
    assert custom_id_of(None) is None


def test_source_uri_is_read_only_from_the_key_of_that_kind_of_base() -> None:
    """The other's word may stand in a sidecar, where whoever uploads has chosen it."""
    location: Any = {"type": "CUSTOM", "customDocumentLocation": {"id": "doc-1"}}
    of_managed = {"_source_uri": "s3://docs/a"}
    of_vector = {SOURCE: "s3://docs/alice/secret.txt"}

    assert uri_of(location, of_managed, OF_MANAGED) == "s3://docs/a"
    assert uri_of(location, of_managed) is None
    assert uri_of(location, of_vector, OF_MANAGED) is None
