"""RetrieveAndGenerate: what is refused, and answers by extraction and under a guardrail."""

from typing import Any

import pytest

from tests.simulator.holding import holds
from tests.simulator.topics import TOPICS
from tests.simulator.world import HAIKU, TITAN, World, answer_request, eventually, refused

SORRY = "Sorry, I am unable to assist you with this request."
QUESTION = "Which city has hills?"


@pytest.fixture(scope="module")
def shelf(shared: World) -> tuple[World, str]:
    """Three documents; read only."""
    world = shared.anew()
    knowledge_base, source = world.pair()
    world.put("rome.txt", "Rome has seven hills.", {"year": 2025})
    world.put("bonn.txt", "Bonn lies at a river called Rhine.", {"year": 2026})
    world.put("pay.txt", "The head of marketing earns 120,000 a year.", {"year": 2026})
    world.sync(knowledge_base, source)
    eventually(lambda: len(world.search(knowledge_base, "city")) == 3)
    return world, knowledge_base


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
def test_a_stream_tells_the_same_answer_and_each_citation_after_its_part(
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


@holds("generate.stream")
def test_what_is_refused_is_refused_before_a_stream_begins(shelf: tuple[World, str]) -> None:
    world, _ = shelf

    error = refused(
        world.runtime.retrieve_and_generate_stream, **answer_request("NOSUCHBASE", QUESTION)
    )

    assert error["Code"] == "ResourceNotFoundException"


@holds("generate.stream")
def test_a_stream_ends_with_what_a_guardrail_did(shelf: tuple[World, str]) -> None:
    world, knowledge_base = shelf
    named = {"guardrailId": world.guardrail(words=["hills"]), "guardrailVersion": "DRAFT"}
    request = answer_request(
        knowledge_base, QUESTION, generationConfiguration={"guardrailConfiguration": named}
    )

    *said, last = list(world.runtime.retrieve_and_generate_stream(**request)["stream"])

    text = "".join(event["output"]["text"] for event in said)
    assert text == "That question is not for this assistant."
    assert last == {"guardrail": {"action": "INTERVENED"}}


def test_filter_and_number_of_results_are_those_of_the_search(shelf: tuple[World, str]) -> None:
    world, knowledge_base = shelf
    search = {"numberOfResults": 1, "filter": {"equals": {"key": "year", "value": 2026}}}

    answer = world.runtime.retrieve_and_generate(
        **answer_request(
            knowledge_base,
            "Which city lies at a river?",
            retrievalConfiguration={"vectorSearchConfiguration": search},
        )
    )

    [citation] = answer["citations"]
    assert citation["retrievedReferences"][0]["content"]["text"].startswith("Bonn")


@holds("generate.nothing-found")
def test_nothing_is_invented_where_nothing_is_found(shelf: tuple[World, str]) -> None:
    world, knowledge_base = shelf
    search = {"filter": {"equals": {"key": "year", "value": 1}}}

    answer = world.runtime.retrieve_and_generate(
        **answer_request(
            knowledge_base, QUESTION, retrievalConfiguration={"vectorSearchConfiguration": search}
        )
    )

    assert (answer["output"]["text"], answer["citations"]) == (SORRY, [])


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


@holds("generate.model")
@pytest.mark.parametrize("model", [None, "", "claude haiku", "arn:aws:s3:::model", TITAN])
def test_a_model_that_can_not_answer_is_refused(
    shelf: tuple[World, str], model: str | None
) -> None:
    world, knowledge_base = shelf

    request = answer_request(knowledge_base, QUESTION, modelArn=model)
    if model is None:
        del request["retrieveAndGenerateConfiguration"]["knowledgeBaseConfiguration"]["modelArn"]
    error = refused(world.runtime.retrieve_and_generate, **request)

    assert error["Code"] == "ValidationException"
    assert "model" in error["Message"]


@pytest.mark.parametrize(
    "model",
    [
        HAIKU,
        "anthropic.claude-3-haiku-20240307-v1:0",
        "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-lite-v1:0",
        "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3d4e5f6",
    ],
)
def test_a_model_is_named_by_id_arn_or_inference_profile(
    shelf: tuple[World, str], model: str
) -> None:
    world, knowledge_base = shelf

    request = answer_request(knowledge_base, QUESTION, modelArn=model)

    assert world.runtime.retrieve_and_generate(**request)["citations"]


@holds("request.not-simulated", "generate.search-results")
@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (
            {"promptTemplate": {"textPromptTemplate": "Answer $query$."}},
            "must contain the placeholder $search_results$",
        ),
        ({"promptTemplate": {"textPromptTemplate": "x" * 4001}}, "4000"),
        ({"additionalModelRequestFields": {"top_k": 5}}, "additionalModelRequestFields"),
        ({"performanceConfig": {"latency": "optimized"}}, "performanceConfig"),
        ({"inferenceConfig": {"textInferenceConfig": {"temperature": 1.5}}}, "temperature"),
    ],
)
def test_a_generation_that_is_refused_says_why(
    shelf: tuple[World, str], chosen: dict[str, Any], message: str
) -> None:
    world, knowledge_base = shelf

    request = answer_request(knowledge_base, QUESTION, generationConfiguration=chosen)
    error = refused(world.runtime.retrieve_and_generate, **request)

    assert error["Code"] == "ValidationException"
    assert message in error["Message"]


@pytest.mark.parametrize("question", ["", "  ", "q" * 1001])
def test_a_question_has_at_most_1000_characters(shelf: tuple[World, str], question: str) -> None:
    world, knowledge_base = shelf

    error = refused(world.runtime.retrieve_and_generate, **answer_request(knowledge_base, question))

    assert error["Code"] == "ValidationException"


@holds("generate.format-instructions")
def test_a_template_without_format_instructions_gets_no_citations(
    shelf: tuple[World, str],
) -> None:
    world, knowledge_base = shelf
    template = {"textPromptTemplate": "Answer from $search_results$ alone."}

    answer = world.answer(knowledge_base, QUESTION, promptTemplate=template)

    assert "Rome has seven hills." in answer["output"]["text"]
    assert answer["citations"] == []


@holds("generate.guardrail")
@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Which city has the most pigeons?", "That question is not for this assistant."),
        ("Should I invest in shares?", "That question is not for this assistant."),
        ("What does the head of marketing do?", "That answer is not for you."),
        (QUESTION, None),
    ],
)
def test_a_guardrail_blocks_the_question_or_the_answer(
    shelf: tuple[World, str], question: str, said: str | None
) -> None:
    world, knowledge_base = shelf
    topics = {"Investment advice": TOPICS["Investment advice"]}
    id_ = world.guardrail(words=["pigeons", "120,000"], topics=topics)
    version = world.bedrock.create_guardrail_version(guardrailIdentifier=id_)["version"]
    named = {"guardrailId": id_, "guardrailVersion": version}
    one = {"vectorSearchConfiguration": {"numberOfResults": 1}}

    answer = world.runtime.retrieve_and_generate(
        **answer_request(
            knowledge_base,
            question,
            retrievalConfiguration=one,
            generationConfiguration={"guardrailConfiguration": named},
        )
    )

    if said is None:
        assert answer["guardrailAction"] == "NONE"
        assert answer["citations"]
    else:
        assert answer["guardrailAction"] == "INTERVENED"
        assert (answer["output"]["text"], answer["citations"]) == (said, [])


@holds("retrieve.guardrail-missing")
@pytest.mark.parametrize("named", [{"guardrailVersion": "3"}, {"guardrailId": "nosuchguardrail"}])
def test_a_guardrail_that_is_not_there_is_an_error(
    shelf: tuple[World, str], named: dict[str, str]
) -> None:
    world, knowledge_base = shelf
    there = {"guardrailId": world.guardrail(words=["a"]), "guardrailVersion": "DRAFT"}
    chosen = {"guardrailConfiguration": {**there, **named}}

    error = refused(
        world.runtime.retrieve_and_generate,
        **answer_request(knowledge_base, QUESTION, generationConfiguration=chosen),
    )

    assert error["Code"] == "ValidationException"
    assert "does not exist" in error["Message"]
