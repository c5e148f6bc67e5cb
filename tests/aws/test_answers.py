"""The Bedrock adapter against botocore's own model of `RetrieveAndGenerate`."""

from typing import Any

import pytest
from botocore.stub import Stubber

from stackroom.aws import session
from stackroom.aws.answer_prompt import DEFAULT, MAX_LENGTH, checked
from stackroom.aws.answers import BedrockAnswers
from stackroom.aws.guardrail import Guardrail
from stackroom.errors import KnowledgeBaseThrottled, KnowledgeBaseUnavailable
from stackroom.filters import Has
from stackroom.ports.answers import Citation
from stackroom.ports.retrieval import Passage

SERVICE = "bedrock-agent-runtime"  # of the fixture `client`

ALICE = Has("user_id", "alice")
MODEL = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/global.amazon.nova-2-lite-v1:0"


def expected(generation: dict[str, Any]) -> dict[str, Any]:
    return {
        "input": {"text": "annual leave"},
        "retrieveAndGenerateConfiguration": {
            "type": "KNOWLEDGE_BASE",
            "knowledgeBaseConfiguration": {
                "knowledgeBaseId": "KB12345678",
                "modelArn": MODEL,
                "generationConfiguration": generation,
                "retrievalConfiguration": {
                    "vectorSearchConfiguration": {
                        "numberOfResults": 7,
                        "filter": {"equals": {"key": "user_id", "value": "alice"}},
                    }
                },
            },
        },
    }


def said(text: str, *citations: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {
        "sessionId": "session-1",
        "output": {"text": text},
        "citations": list(citations),
        **members,
    }


def cited(text: str, *references: dict[str, Any], end: int = 0) -> dict[str, Any]:
    part = {"text": text, "span": {"start": 0, "end": end}}
    return {
        "generatedResponsePart": {"textResponsePart": part},
        "retrievedReferences": list(references),
    }


def a_reference(**metadata: Any) -> dict[str, Any]:
    return {
        "content": {"type": "TEXT", "text": "30 days"},
        "location": {"type": "S3", "s3Location": {"uri": "s3://docs/alice/cat-1/a.pdf"}},
        "metadata": {"user_id": "alice", **metadata},
    }


def test_an_answer_has_its_text_and_what_it_cites(client: Any, stubber: Stubber) -> None:
    reference = a_reference(**{"x-amz-bedrock-kb-document-page-number": 3.0})
    stubber.add_response(
        "retrieve_and_generate",
        said("You have 30 days. Ask!", cited("You have 30 days.", reference)),
        expected({"promptTemplate": {"textPromptTemplate": DEFAULT}}),
    )

    answers = BedrockAnswers(client, "KB12345678", model_arn=MODEL)
    generated = answers.generate("annual leave", ALICE, 7)

    assert (generated.text, generated.guardrail_action) == ("You have 30 days. Ask!", "NONE")
    assert generated.citations == (
        Citation(
            end=len("You have 30 days."),
            passages=(
                Passage(
                    text="30 days",
                    score=0.0,
                    uri="s3://docs/alice/cat-1/a.pdf",
                    page=3,
                    attributes=reference["metadata"],
                ),
            ),
        ),
    )


def test_a_guardrail_and_another_prompt_go_with_the_question(client: Any, stubber: Stubber) -> None:
    prompt = "Be brief. $search_results$ $output_format_instructions$"
    stubber.add_response(
        "retrieve_and_generate",
        said("No.", guardrailAction="INTERVENED"),
        expected(
            {
                "promptTemplate": {"textPromptTemplate": prompt},
                "guardrailConfiguration": {"guardrailId": "gr123", "guardrailVersion": "2"},
            }
        ),
    )

    guardrail = Guardrail(id="gr123", version="2")
    answers = BedrockAnswers(
        client, "KB12345678", model_arn=MODEL, prompt=prompt, guardrail=guardrail
    )
    generated = answers.generate("annual leave", ALICE, 7)

    assert (generated.guardrail_action, generated.citations) == ("INTERVENED", ())


@pytest.mark.parametrize(
    ("parts", "ends"),
    [
        ([("One.", 3), ("Two.", 8)], [4, 9]),
        ([("Two.", 8), ("Two.", 13)], [9, 14]),  # the same words again are found further on
        ([], []),
        ([("one!", 3), ("Two.", 8)], [4, 9]),  # words that the answer hasn't: by the span
        ([("Two.", 8), ("gone", 2)], [9, 9]),  # never backwards
        ([("gone", 99)], [14]),  # never beyond the answer
    ],
)
def test_a_citation_ends_where_its_text_ends(
    client: Any, stubber: Stubber, parts: list[tuple[str, int]], ends: list[int]
) -> None:
    citations = [cited(text, a_reference(), end=end) for text, end in parts]
    stubber.add_response(
        "retrieve_and_generate", said("One. Two. Two.", *citations, cited("x"), {})
    )

    answers = BedrockAnswers(client, "KB12345678", model_arn=MODEL)

    assert [each.end for each in answers.generate("annual leave", ALICE, 5).citations] == ends


def test_throttling_is_told_apart_from_other_errors(client: Any, stubber: Stubber) -> None:
    stubber.add_client_error("retrieve_and_generate", "ThrottlingException", "slow down", 429)
    stubber.add_client_error("retrieve_and_generate", "AccessDeniedException", "no", 403)
    answers = BedrockAnswers(client, "KB12345678", model_arn=MODEL)

    with pytest.raises(KnowledgeBaseThrottled, match="RetrieveAndGenerate was throttled"):
        answers.generate("annual leave", ALICE, 5)
    with pytest.raises(KnowledgeBaseUnavailable, match="AccessDeniedException"):
        answers.generate("annual leave", ALICE, 5)


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ("Answer! $output_format_instructions$", r"without \$search_results\$$"),
        ("Answer! $search_results$", r"without \$output_format_instructions\$$"),
        ("$search_results$ $output_format_instructions$" + "x" * MAX_LENGTH, "at most 4000"),
    ],
)
def test_a_prompt_without_passages_or_citations_or_end_is_refused(
    template: str, problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        checked(template)


def test_a_model_is_waited_for_and_given_up_within_a_functions_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    session.client.cache_clear()

    answers, search = session.client("answers"), session.client("bedrock-agent-runtime")

    config = answers.meta.config
    longest = config.retries["total_max_attempts"] * (config.connect_timeout + config.read_timeout)
    assert answers.meta.service_model.service_name == "bedrock-agent-runtime"
    assert search.meta.config.read_timeout < config.read_timeout
    assert longest < 60
