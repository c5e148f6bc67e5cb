"""How a knowledge base can be searched, against botocore's own model of `Retrieve`."""

from typing import Any

import pytest
from botocore.stub import Stubber

from stackroom.aws.retrieve_models import Attribute, ImplicitFilter, Reranking
from stackroom.aws.retrieve_options import RetrieveOptions

SERVICE = "bedrock-agent-runtime"  # of the fixture `client`
MODEL = "arn:aws:bedrock:us-east-1::foundation-model/amazon.rerank-v1:0"
YEAR = Attribute(key="year", type="NUMBER", description="the year of the document")


def passes_the_model(client: Any, configuration: Any) -> None:
    with Stubber(client) as stubber:
        stubber.add_response("retrieve", {"retrievalResults": []})
        client.retrieve(
            knowledgeBaseId="KB12345678",
            retrievalQuery={"text": "leave"},
            retrievalConfiguration=configuration,
        )


def test_no_more_is_asked_for_than_retrieve_gives_nor_reranked_than_there_are_passages() -> None:
    asked: Any = RetrieveOptions().configuration(250, None)
    reranking: Any = Reranking(model_arn=MODEL, number_of_reranked_results=50).configuration(5)

    assert asked["vectorSearchConfiguration"]["numberOfResults"] == 100
    assert reranking["bedrockRerankingConfiguration"]["numberOfRerankedResults"] == 5


def test_every_choice_of_a_vector_search_is_sent(client: Any) -> None:
    condition = {"equals": {"key": "city", "value": "Rome"}}
    options = RetrieveOptions(
        search_type="HYBRID",
        reranking=Reranking(
            model_arn=MODEL,
            number_of_reranked_results=3,
            fields_to_include=("title",),
            model_fields={"max_chunks": 2},
        ),
        implicit_filter=ImplicitFilter(model_arn=MODEL, attributes=(YEAR,)),
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
            RetrieveOptions(is_managed=True, reranking=Reranking(model_arn=MODEL)),
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


@pytest.mark.parametrize(
    ("reranking", "expected"),
    [
        (Reranking(model_arn=MODEL), None),
        (Reranking(model_arn=MODEL, reads_attributes=True), {"selectionMode": "ALL"}),
        (
            Reranking(model_arn=MODEL, fields_to_exclude=("user_id",)),
            {
                "selectionMode": "SELECTIVE",
                "selectiveModeConfiguration": {"fieldsToExclude": [{"fieldName": "user_id"}]},
            },
        ),
    ],
)
def test_the_attributes_that_a_model_reads_are_chosen(reranking: Reranking, expected: Any) -> None:
    chosen = reranking.configuration(5)["bedrockRerankingConfiguration"]

    assert chosen.get("metadataConfiguration") == expected


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({"search_type": "TEXT"}, "search_type is 'TEXT', HYBRID or SEMANTIC is possible"),
        ({"is_managed": True, "search_type": "HYBRID"}, "neither search_type nor implicit_filter"),
        ({"managed_reranking": "NONE"}, "for a MANAGED knowledge base only"),
        (
            {
                "is_managed": True,
                "managed_reranking": "MANAGED",
                "reranking": Reranking(model_arn=MODEL),
            },
            "only one can be given",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(members: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        RetrieveOptions(**members)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: Reranking(model_arn=" "), "a reranking model needs an ARN"),
        (
            lambda: Reranking(model_arn=MODEL, number_of_reranked_results=0),
            "number_of_reranked_results is 0, 1 to 100 are taken",
        ),
        (
            lambda: Reranking(model_arn=MODEL, fields_to_include=("a",), fields_to_exclude=("b",)),
            "only one can be given",
        ),
        (
            lambda: ImplicitFilter(model_arn=MODEL, attributes=(YEAR,) * 26),
            "26 attributes, 1 to 25 are taken",
        ),
        (
            lambda: Attribute(key="k", type="DATE", description="x"),  # type: ignore[arg-type]
            "the type of 'k' is 'DATE', possible are STRING, NUMBER, BOOLEAN, STRING_LIST",
        ),
    ],
)
def test_models_are_described_as_bedrock_takes_it(make: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        make()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (RetrieveOptions(), True),
        (RetrieveOptions(search_type="HYBRID"), False),
        (RetrieveOptions(has_cosine_scores=False), False),
        (RetrieveOptions(is_managed=True), False),
        (RetrieveOptions(reranking=Reranking(model_arn=MODEL)), False),
    ],
)
def test_a_score_is_a_similarity_only_where_it_is_a_cosine(
    options: RetrieveOptions, expected: bool
) -> None:
    assert options.tells_similarity is expected
