"""
An answer by extraction, where no language model is configured: it says so, and invents nothing.

It is made of those sentences of the passages that are nearest to the question, and cites each.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stackroom_local.simulator import prompts
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
        """RetrieveAndGenerate's text, and its citations; there must be something found."""
        text, citations = NOTICE, []
        for sentence, place in self._nearest(question, [hit.text for hit in hits]):
            citations.append(citation(sentence, len(text), [hits[place]]))
            text = f"{text}{sentence} "
        return text.rstrip(), citations

    def completion(self, question: str, prompt: str) -> str:
        """What a model says that was given a prompt with numbered passages, and asked to cite."""
        passages = prompts.numbered_in(prompt)
        if not passages:
            return f"{NOTICE}the prompt has no numbered passages."
        nearest = self._nearest(question, [text for _, text in passages])
        return NOTICE + " ".join(f"{said} [{passages[place][0]}]" for said, place in nearest)

    def _nearest(self, question: str, texts: Sequence[str]) -> list[tuple[str, int]]:
        """Sentences of the passages, nearest first, each once, with the place of its passage."""
        sentences: dict[str, int] = {}
        for place, text in enumerate(texts):
            for match in _SENTENCE.finditer(text):
                sentence = " ".join(match[0].split())
                if len(sentence) >= _SHORTEST:
                    sentences.setdefault(sentence, place)
        if not sentences:
            return [(texts[0], 0)]
        query = self.embedder.embed(question)
        scored = [
            (float(self.embedder.embed(sentence) @ query), sentence)
            for sentence in list(sentences)[:_CANDIDATES]
        ]
        scored.sort(reverse=True)
        return [(sentence, sentences[sentence]) for _, sentence in scored[:_SENTENCES]]
