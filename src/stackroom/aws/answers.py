"""Answers from a Bedrock knowledge base, written by a model that Bedrock calls."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from stackroom.aws.answer_prompt import DEFAULT
from stackroom.aws.guardrail import Guardrail
from stackroom.aws.knowledge_base import rendered, search_error
from stackroom.aws.retrieved_passages import passage_of
from stackroom.filters import Filter
from stackroom.ports.answers import Citation, Generated

if TYPE_CHECKING:
    from types_boto3_bedrock_agent_runtime.client import AgentsforBedrockRuntimeClient
    from types_boto3_bedrock_agent_runtime.type_defs import (
        CitationTypeDef,
        GenerationConfigurationTypeDef,
        TextResponsePartTypeDef,
    )


class BedrockAnswers:
    """
    An `Answers` over Bedrock's `RetrieveAndGenerate`, each question in a session of its own.

    `model_arn` is that of a foundation model or an inference profile; `prompt` a template as in
    aws/answer_prompt.py, and without one the template there; `first_page` as in
    aws/knowledge_base.py.
    """

    def __init__(
        self,
        client: "AgentsforBedrockRuntimeClient",
        knowledge_base_id: str,
        *,
        model_arn: str,
        prompt: str | None = None,
        guardrail: Guardrail | None = None,
        first_page: int = 1,
    ) -> None:
        self._client = client
        self._id = knowledge_base_id
        self._model_arn = model_arn
        self._generation: GenerationConfigurationTypeDef = {
            "promptTemplate": {"textPromptTemplate": prompt or DEFAULT}
        }
        if guardrail is not None:
            self._generation["guardrailConfiguration"] = guardrail.configuration
        self._first_page = first_page

    # A002: the port's name
    def generate(self, question: str, filter: Filter, limit: int) -> Generated:  # noqa: A002
        try:
            response = self._client.retrieve_and_generate(
                input={"text": question},
                retrieveAndGenerateConfiguration={
                    "type": "KNOWLEDGE_BASE",
                    "knowledgeBaseConfiguration": {
                        "knowledgeBaseId": self._id,
                        "modelArn": self._model_arn,
                        "generationConfiguration": self._generation,
                        "retrievalConfiguration": {
                            "vectorSearchConfiguration": {
                                "numberOfResults": limit,
                                "filter": rendered(filter),
                            }
                        },
                    },
                },
            )
        except (ClientError, BotoCoreError) as error:
            raise search_error(error, "RetrieveAndGenerate") from error
        text = response["output"]["text"]
        return Generated(
            text=text,
            citations=tuple(self._citations(text, response.get("citations", ()))),
            guardrail_action=response.get("guardrailAction", "NONE"),
        )

    def _citations(self, text: str, citations: Iterable["CitationTypeDef"]) -> Iterator[Citation]:
        end = 0
        for each in citations:
            part = each.get("generatedResponsePart", {}).get("textResponsePart", {})
            end = _end(text, part, after=end)
            passages = tuple(
                passage_of(found, first_page=self._first_page)
                for found in each.get("retrievedReferences", ())
            )
            if passages:  # what the model cites nothing for is a citation of nothing
                yield Citation(end=end, passages=passages)


def _end(text: str, part: "TextResponsePartTypeDef", *, after: int) -> int:
    """
    Where the cited text ends in the answer.

    By its text, since AWS doesn't say whether a span includes its last character, nor what it
    counts as one. By its span if the answer has no such text.
    """
    cited = part.get("text", "")
    start = text.find(cited, after) if cited else -1
    if start >= 0:
        return start + len(cited)
    return max(after, min(part.get("span", {}).get("end", len(text)) + 1, len(text)))
