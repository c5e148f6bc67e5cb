"""
bedrock-agent-runtime's RetrieveAndGenerate, by extraction: no language model runs here.

The answer is made of the retrieved sentences that are nearest to the question, says so, and
cites each. Sessions are named, not remembered.
"""

import re
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from stackroom_local.simulator.dispatch import Parameters
from stackroom_local.simulator.embedding import Embedder
from stackroom_local.simulator.retrieval import Retrieval, reference
from stackroom_local.simulator.rules import GUARDRAIL_MISSING, NOT_SIMULATED
from stackroom_local.simulator.vectors import Hit

NOTICE = "Extracted, not generated (no language model runs here): "
NOTHING = "Sorry, I am unable to assist you with this request."  # AWS's words, observed

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_SENTENCES = 3
_CANDIDATES = 24  # sentences compared with the question, which bounds the time
_SHORTEST = 20  # characters; below that it is a heading or a fragment


@dataclass(frozen=True, kw_only=True)
class Generation:
    retrieval: Retrieval
    embedder: Embedder

    def answer(self, parameters: Parameters) -> Parameters:
        configuration = parameters.get("retrieveAndGenerateConfiguration") or {}
        chosen = configuration.get("knowledgeBaseConfiguration")
        if configuration.get("type") != "KNOWLEDGE_BASE" or chosen is None:
            raise NOT_SIMULATED.broken(what="RetrieveAndGenerate without a knowledge base")
        if (chosen.get("generationConfiguration") or {}).get("guardrailConfiguration"):
            raise GUARDRAIL_MISSING.broken()
        question = parameters["input"]["text"]
        search = chosen.get("retrievalConfiguration") or {}
        hits = self.retrieval.hits(chosen["knowledgeBaseId"], question, search)
        text, citations = self._extracted(question, hits)
        session = parameters.get("sessionId") or str(uuid4())
        return {"sessionId": session, "output": {"text": text}, "citations": citations}

    def _extracted(self, question: str, hits: list[Hit]) -> tuple[str, list[dict[str, Any]]]:
        if not hits:
            return NOTHING, []
        text, citations = NOTICE, []
        for sentence, hit in self._nearest(question, hits):
            start, text = len(text), f"{text}{sentence} "
            # AWS's spans end with the last character, inclusively.
            span = {"start": start, "end": start + len(sentence) - 1}
            part = {"textResponsePart": {"text": sentence, "span": span}}
            citations.append(
                {"generatedResponsePart": part, "retrievedReferences": [reference(hit)]}
            )
        return text.rstrip(), citations

    def _nearest(self, question: str, hits: list[Hit]) -> list[tuple[str, Hit]]:
        """Sentences of the passages, nearest first, each once."""
        sentences: dict[str, Hit] = {}
        for hit in hits:
            for match in _SENTENCE.finditer(hit.text):
                sentence = " ".join(match[0].split())
                if len(sentence) >= _SHORTEST:
                    sentences.setdefault(sentence, hit)
        if not sentences:
            return [(hits[0].text, hits[0])]
        query = self.embedder.embed(question)
        scored = [
            (float(self.embedder.embed(sentence) @ query), sentence)
            for sentence in list(sentences)[:_CANDIDATES]
        ]
        scored.sort(reverse=True)
        return [(sentence, sentences[sentence]) for _, sentence in scored[:_SENTENCES]]
