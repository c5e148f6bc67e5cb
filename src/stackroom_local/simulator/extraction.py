"""
An answer by extraction, where no language model is configured: it says so, and invents nothing.

It is made of the retrieved sentences that are nearest to the question, and cites each.
"""

import re
from dataclasses import dataclass
from typing import Any

from stackroom_local.simulator.citing import citation
from stackroom_local.simulator.embedding import Embedder
from stackroom_local.simulator.vectors import Hit

NOTICE = "Extracted, not generated (no language model runs here): "

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_SENTENCES = 3
_CANDIDATES = 24  # sentences compared with the question, which bounds the time
_SHORTEST = 20  # characters; below that it is a heading or a fragment


@dataclass(frozen=True, kw_only=True)
class Extraction:
    embedder: Embedder

    def answer(self, question: str, hits: list[Hit]) -> tuple[str, list[dict[str, Any]]]:
        """The text of the answer, and its citations; there must be something found."""
        text, citations = NOTICE, []
        for sentence, hit in self._nearest(question, hits):
            citations.append(citation(sentence, len(text), [hit]))
            text = f"{text}{sentence} "
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
