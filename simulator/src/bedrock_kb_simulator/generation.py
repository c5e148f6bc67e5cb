"""
bedrock-agent-runtime's RetrieveAndGenerate and RetrieveAndGenerateStream.

A language model answers if one is configured (`model_endpoint`), otherwise the answer is extracted
from what was found (`stand_in`), and says so. Sessions are known, not remembered.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from bedrock_kb_simulator import citing, rules
from bedrock_kb_simulator.aws_clock import Clock
from bedrock_kb_simulator.conversation_parts import Conversation, Text, Turn
from bedrock_kb_simulator.converse import pieces
from bedrock_kb_simulator.dispatcher import Parameters
from bedrock_kb_simulator.indexes import is_managed
from bedrock_kb_simulator.knowledge_bases import knowledge_base
from bedrock_kb_simulator.model_endpoint import (
    EndpointBroke,
    EndpointBusy,
    EndpointFailed,
    ModelEndpoint,
)
from bedrock_kb_simulator.models import TITAN
from bedrock_kb_simulator.passage_search import Retrieval
from bedrock_kb_simulator.screening import Screening, Side, action_of
from bedrock_kb_simulator.stand_in import Extraction
from bedrock_kb_simulator.store import Store
from bedrock_kb_simulator.vectors import Hit

_Answer = tuple[str, list[dict[str, Any]]]


@dataclass(frozen=True, kw_only=True)
class Generation:
    store: Store
    clock: Clock
    retrieval: Retrieval
    screening: Screening
    extraction: Extraction
    model: ModelEndpoint | None

    def answer(self, parameters: Parameters) -> Parameters:
        """Under a guardrail, if one is named: rule generate.guardrail."""
        chosen = _configuration(parameters)
        if is_managed(knowledge_base(self.store, chosen["knowledgeBaseId"])):
            raise rules.MANAGED_GENERATE.broken()
        generation = chosen.get("generationConfiguration") or {}
        template = citing.template_of(generation)
        guard = self.screening.asked_for(generation)
        question = parameters["input"]["text"]
        asked = (chosen["knowledgeBaseId"], question, chosen.get("retrievalConfiguration") or {})
        self.retrieval.check(*asked)
        self._check_session(parameters.get("sessionId"))
        verdict = guard.judged(question, Side.INPUT) if guard else None
        if verdict is None or not verdict.blocked:
            hits = self.retrieval.hits(*asked)
            text, citations = self._answered(question, hits, template, generation)
            verdict = guard.judged(text, Side.OUTPUT) if guard else None
        if verdict and verdict.blocked:
            text, citations = verdict.message, []
        return {
            "sessionId": parameters.get("sessionId") or self._new_session(),
            "output": {"text": text},
            "citations": citations,
            **action_of(verdict),
        }

    def stream(self, parameters: Parameters) -> Parameters:
        """The same answer, and the same refusals before it: rule generate.stream."""
        answer = self.answer(parameters)
        return {"sessionId": answer["sessionId"], "stream": list(events_of(answer))}

    def _answered(
        self, question: str, hits: list[Hit], template: str, generation: dict[str, Any]
    ) -> _Answer:
        if not hits:
            return rules.NOTHING_FOUND.message, []
        if self.model is None:
            text, citations = self.extraction.answer(question, hits)
        else:
            now = self.clock.now()
            prompt = citing.rendered(template, question=question, hits=hits, now=now)
            inference = (generation.get("inferenceConfig") or {}).get("textInferenceConfig") or {}
            completion = _completed(self.model, prompt, question, inference)
            if not citing.asks_for_citations(template):
                return completion.strip(), []  # the marks are the template's own matter
            text, citations = citing.cited(completion, hits, own=self.retrieval.own)
        return text, citations if citing.asks_for_citations(template) else []

    def _check_session(self, session: str | None) -> None:
        if session and not self.store.row("SELECT 1 FROM sessions WHERE id = ?", session):
            raise rules.SESSION_UNKNOWN.broken(session=session)

    def _new_session(self) -> str:
        session = {"id": str(uuid4()), "created_at": self.clock.now().isoformat()}
        self.store.insert("sessions", session)
        return session["id"]


def _completed(model: ModelEndpoint, prompt: str, question: str, inference: dict[str, Any]) -> str:
    asked = Turn(role="user", blocks=[Text(text=question)])
    conversation = Conversation(
        model=model.model, prompt=prompt, turns=[asked], inference=inference
    )
    try:
        return model.complete(conversation).text
    except EndpointBusy:
        raise rules.MODEL_THROTTLED.broken() from None
    except EndpointBroke as failure:
        raise rules.MODEL_BROKEN.broken(problem=failure) from None
    except EndpointFailed as failure:
        raise rules.MODEL_UNREACHABLE.broken(problem=failure) from None


def _configuration(parameters: Parameters) -> dict[str, Any]:
    """The knowledgeBaseConfiguration; raises ServiceError for what is wrong, or not simulated."""
    configuration = parameters.get("retrieveAndGenerateConfiguration") or {}
    chosen: dict[str, Any] | None = configuration.get("knowledgeBaseConfiguration")
    if configuration.get("type") != "KNOWLEDGE_BASE" or chosen is None:
        raise rules.NOT_SIMULATED.broken(what="RetrieveAndGenerate without a knowledge base")
    for member in ("userContext", "sessionConfiguration"):
        if parameters.get(member):
            raise rules.NOT_SIMULATED.broken(what=f"{member} of RetrieveAndGenerate")
    if chosen.get("orchestrationConfiguration"):
        raise rules.NOT_SIMULATED.broken(what="orchestrationConfiguration")
    generation = chosen.get("generationConfiguration") or {}
    for member in ("additionalModelRequestFields", "performanceConfig"):
        if generation.get(member):
            raise rules.NOT_SIMULATED.broken(what=f"{member} of RetrieveAndGenerate")
    model = chosen["modelArn"].rpartition("/")[2]
    if model == TITAN:
        raise rules.GENERATION_MODEL.broken(model=model)
    return chosen


# An answer of RetrieveAndGenerate as RetrieveAndGenerateStream tells it: the same, in events.

Event = dict[str, Any]


def events_of(answer: dict[str, Any]) -> Iterator[Event]:
    """Rule generate.stream."""
    text, told = answer["output"]["text"], 0
    for citation in answer["citations"]:
        end = citation["generatedResponsePart"]["textResponsePart"]["span"]["end"] + 1
        yield from _outputs(text[told:end])
        yield {"citation": {**citation, "citation": citation}}
        told = end
    yield from _outputs(text[told:])
    if action := answer.get("guardrailAction"):
        yield {"guardrail": {"action": action}}


def _outputs(text: str) -> Iterator[Event]:
    for piece in pieces(text):
        yield {"output": {"text": piece}}
