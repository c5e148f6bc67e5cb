"""
An answer by extraction, where no language model is configured: it says so, and invents nothing.

It is made of those sentences of the passages that are nearest to the question, and cites each.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bedrock_kb_simulator import prompts
from bedrock_kb_simulator.citing import citation
from bedrock_kb_simulator.embedding import Embedder
from bedrock_kb_simulator.found import Passage
from bedrock_kb_simulator.metadata import OF_VECTOR, OwnKeys
from bedrock_kb_simulator.vectors import Hit

NOTICE = "Extracted, not generated (no language model runs here): "

# A full stop within a word ends none: 3.5 bar, manual.pdf.
_SENTENCE = re.compile(r"[^\n]+?(?:[.!?]+(?=\s)|$)", re.MULTILINE)
_SENTENCES = 3
_CANDIDATES = 24  # sentences compared with the question, which bounds the time
_PASSAGES = 8  # of tools' results, which come best first
_COMPARED = 48  # sentences of all of those together
_NEAR = 0.5  # of the nearest sentence's score; what is below that is about something else
_WRAPPED = 60  # characters: a line that long goes on in the next, whatever that begins with
_SHORTEST = 20  # characters; below that it is a heading or a fragment


@dataclass(frozen=True, kw_only=True)
class Extraction:
    embedder: Embedder
    own: OwnKeys = OF_VECTOR

    def answer(self, question: str, hits: list[Hit]) -> tuple[str, list[dict[str, Any]]]:
        """RetrieveAndGenerate's text, and its citations; there must be something found."""
        text, citations = NOTICE, []
        for sentence, place in self._nearest(question, [hit.text for hit in hits]):
            citations.append(citation(sentence, len(text), [hits[place]], own=self.own))
            text = f"{text}{sentence} "
        return text.rstrip(), citations

    def completion(self, question: str, prompt: str) -> str:
        """What a model says that was given a prompt with numbered passages, and asked to cite."""
        passages = prompts.numbered_in(prompt)
        if not passages:
            return f"{NOTICE}the prompt has no numbered passages."
        nearest = self._nearest(question, [text for _, text in passages])
        return NOTICE + " ".join(f"{said} [{passages[place][0]}]" for said, place in nearest)

    def of_passages(self, question: str, passages: Sequence[Passage]) -> str:
        """
        What a model says that was given passages: of each place the sentence nearest to the
        question, if it is near, so that none outdoes all others; of one place alone several.
        """
        standing = _standing(question, passages[:_PASSAGES])
        if not standing:
            return f"{NOTICE}nothing was found."
        found: dict[str, list[tuple[float, str]]] = {}
        for score, sentence in self._scored(question, list(standing)):
            found.setdefault(standing[sentence].source, []).append((score, sentence))
        each = 1 if len(found) > 1 else _SENTENCES
        ranked = sorted(
            ((*best, place) for place, scored in found.items() for best in scored[:each]),
            reverse=True,
        )
        least = ranked[0][0] * _NEAR
        chosen = [near for near in ranked[:_SENTENCES] if near[0] >= least]
        return NOTICE + " ".join(f"{said} [{at}]" if at else said for _, said, at in chosen)

    def _nearest(self, question: str, texts: Sequence[str]) -> list[tuple[str, int]]:
        """Sentences of the passages, nearest first, each once, with the place of its passage."""
        sentences: dict[str, int] = {}
        for place, text in enumerate(texts):
            for sentence in _sentences(text):
                sentences.setdefault(sentence, place)
        if not sentences:
            return [(texts[0], 0)]
        scored = self._scored(question, list(sentences)[:_CANDIDATES])
        return [(sentence, sentences[sentence]) for _, sentence in scored[:_SENTENCES]]

    def _scored(self, question: str, sentences: Sequence[str]) -> list[tuple[float, str]]:
        """The nearest to the question first."""
        query = self.embedder.embed(question)
        scored = [(float(self.embedder.embed(each) @ query), each) for each in sentences]
        return sorted(scored, reverse=True)


def _standing(question: str, passages: Sequence[Passage]) -> dict[str, Passage]:
    """
    The likeliest sentences of the passages, each once and as a whole, with the passage that cites
    it: of those that overlap, the one over the fewest pages, and of these the first.
    """
    standing: dict[str, Passage] = {}
    for passage in sorted(passages, key=lambda each: each.pages):
        sentences = _sentences(passage.text) or [" ".join(passage.text.split())]
        for sentence in _likeliest(question, sentences, _COMPARED // len(passages)):
            standing.setdefault(sentence, passage)
    is_part = {one for one in standing for other in standing if one != other and one in other}
    return {each: passage for each, passage in standing.items() if each not in is_part}


def _sentences(text: str) -> list[str]:
    sentences = (" ".join(match[0].split()) for match in _SENTENCE.finditer(_unwrapped(text)))
    return [each for each in sentences if len(each) >= _SHORTEST and not each.startswith("#")]


def _unwrapped(text: str) -> str:
    """
    With each sentence in one line, if it was wrapped. A heading and an item of a list end with
    their line, and what follows them begins anew.
    """
    joined = [""]
    for line in map(str.strip, text.splitlines()):
        before = joined[-1]
        goes_on = before[-1:] not in ("", ".", "!", "?", ":") and line[:1].isalnum()
        if goes_on and (line[:1].islower() or len(before) >= _WRAPPED):
            joined[-1] = f"{before} {line}"
        else:
            joined.append(line)
    return "\n".join(joined)


def _likeliest(question: str, sentences: Sequence[str], most: int) -> list[str]:
    """Those with most of the question's words, in their order where there are as many."""
    asked = set(_words(question))
    return sorted(sentences, key=lambda each: -len(asked.intersection(_words(each))))[:most]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
