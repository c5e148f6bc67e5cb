"""RetrieveAndGenerate: what is refused, and answers by extraction and under a guardrail."""

from typing import Any

import pytest

from simulator.tests.holding import holds
from simulator.tests.world import TITAN, World, answer_request, invalid, refused

SORRY = "Sorry, I am unable to assist you with this request."
QUESTION = "Which city has hills?"


@pytest.fixture(scope="module")
def shelf(shared: World) -> tuple[World, str]:
    """Three documents; read only."""
    world = shared.anew()
    return world, world.filled(
        rome=("Rome has seven hills.", {"year": 2025}),
        bonn=("Bonn lies at a river called Rhine.", {"year": 2026}),
        pay=("The head of marketing earns 120,000 a year.", {"year": 2026}),
    )


def refusal(shelf: tuple[World, str], question: str = QUESTION, **more: Any) -> str:
    """`more` is of the knowledgeBaseConfiguration."""
    world, knowledge_base = shelf
    asked = answer_request(knowledge_base, question, **more)
    return invalid(world.runtime.retrieve_and_generate, **asked)


@holds("generate.citations")
def test_an_answer_is_extracted_says_so_and_cites(shelf: tuple[World, str]) -> None:
    world, knowledge_base = shelf

    answer = world.answer(knowledge_base, QUESTION)

    text, citation = answer["output"]["text"], answer["citations"][0]
    assert text.startswith("Extracted, not generated")
    part = citation["generatedResponsePart"]["textResponsePart"]
    assert part["text"] == "Rome has seven hills."
    assert text[part["span"]["start"] : part["span"]["end"] + 1] == part["text"]
    [reference] = citation["retrievedReferences"]
    assert reference["location"]["s3Location"]["uri"].endswith("rome.txt")
    assert reference["content"] == {"type": "TEXT", "text": "Rome has seven hills."}
    assert reference["metadata"]["year"] == 2025
    assert "score" not in reference
    assert "guardrailAction" not in answer


@holds("generate.stream")
def test_stream_matches_whole_answer_with_citations_and_guardrail_last(
    shelf: tuple[World, str],
) -> None:
    world, knowledge_base = shelf
    template = {"textPromptTemplate": "Of $search_results$: $output_format_instructions$"}
    request = answer_request(
        knowledge_base, QUESTION, generationConfiguration={"promptTemplate": template}
    )
    whole = world.runtime.retrieve_and_generate(**request)

    answer = world.runtime.retrieve_and_generate_stream(**request)
    events = list(answer["stream"])

    told = ""
    citations = []
    for event in events:
        if "output" in event:
            told += event["output"]["text"]
        else:
            citations.append(event["citation"])
            part = event["citation"]["generatedResponsePart"]["textResponsePart"]
            assert told.endswith(part["text"])
    assert told == whole["output"]["text"]
    assert len(events) > len(citations) + 1
    plain = [
        {name: each[name] for name in ("generatedResponsePart", "retrievedReferences")}
        for each in citations
    ]
    assert plain == [each["citation"] for each in citations] == whole["citations"]
    again = world.runtime.retrieve_and_generate(**request, sessionId=answer["sessionId"])
    assert again["sessionId"] == answer["sessionId"]
    # It ends with what a guardrail did, and what is refused has none.
    named = {"guardrailId": world.guardrail(words=["hills"]), "guardrailVersion": "DRAFT"}
    guarded = answer_request(
        knowledge_base, QUESTION, generationConfiguration={"guardrailConfiguration": named}
    )
    *said, last = list(world.runtime.retrieve_and_generate_stream(**guarded)["stream"])
    missing = answer_request("NOSUCHBASE", QUESTION)
    error = refused(world.runtime.retrieve_and_generate_stream, **missing)
    text = "".join(event["output"]["text"] for event in said)
    assert text == "That question is not for this assistant."
    assert last == {"guardrail": {"action": "INTERVENED"}}
    assert error["Code"] == "ResourceNotFoundException"


@holds("generate.nothing-found", "generate.format-instructions")
def test_answer_follows_search_filter_and_apologises_if_nothing_is_found(
    shelf: tuple[World, str],
) -> None:
    world, knowledge_base = shelf

    def answer(year: int, **more: Any) -> Any:
        search = {"numberOfResults": 1, "filter": {"equals": {"key": "year", "value": year}}}
        asked = answer_request(
            knowledge_base,
            "Where do Rome and Bonn lie?",
            retrievalConfiguration={"vectorSearchConfiguration": search},
            **more,
        )
        return world.runtime.retrieve_and_generate(**asked)

    template = {"promptTemplate": {"textPromptTemplate": "Answer from $search_results$ alone."}}
    found, nothing = answer(2026), answer(1)
    uncited = answer(2025, generationConfiguration=template)

    [citation] = found["citations"]
    assert citation["retrievedReferences"][0]["content"]["text"].startswith("Bonn")
    assert (nothing["output"]["text"], nothing["citations"]) == (SORRY, [])
    assert "Rome has seven hills." in uncited["output"]["text"]
    assert uncited["citations"] == []
    assert refusal(shelf, "  ")


@holds("generate.session")
def test_a_session_goes_on_and_can_not_be_chosen(shelf: tuple[World, str]) -> None:
    world, knowledge_base = shelf
    request = answer_request(knowledge_base, QUESTION)

    first = world.runtime.retrieve_and_generate(**request)["sessionId"]
    second = world.runtime.retrieve_and_generate(**request, sessionId=first)["sessionId"]
    error = refused(world.runtime.retrieve_and_generate, **request, sessionId="mine")

    assert first == second
    assert error["Code"] == "ValidationException"
    assert error["Message"] == "Session with Id mine is not valid. Please check and try again."


@holds("generate.model", "request.not-simulated", "generate.search-results")
def test_a_generation_that_is_refused_says_why(shelf: tuple[World, str]) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"promptTemplate": {"textPromptTemplate": "Answer $query$."}}, "$search_results$"),
        ({"promptTemplate": {"textPromptTemplate": "x" * 4001}}, "4000"),
        ({"additionalModelRequestFields": {"top_k": 5}}, "additionalModelRequestFields"),
        ({"inferenceConfig": {"textInferenceConfig": {"temperature": 1.5}}}, "temperature"),
    ]

    for chosen, message in cases:
        assert message in refusal(shelf, generationConfiguration=chosen)
    for model in (None, "", "claude haiku", "arn:aws:s3:::model", TITAN):
        assert "model" in refusal(shelf, modelArn=model)
