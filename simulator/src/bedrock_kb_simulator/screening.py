"""
Guardrails applied to texts: blocked words and denied topics.

AWS asks a model about a text's topics; here the embedder compares its sentences with each topic's
name and definition, and with its examples.
"""

import re
import time
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from bedrock_kb_simulator import rules
from bedrock_kb_simulator.dispatcher import Parameters
from bedrock_kb_simulator.embedder import Embedder, Vector
from bedrock_kb_simulator.guardrails import guardrail, topics_of, words_of
from bedrock_kb_simulator.identifiers import Arns
from bedrock_kb_simulator.store import Store, loaded


def fold(text: str) -> str:
    """Return the text without differences of case, character width and white space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def contains_phrase(phrase: str, text: str) -> bool:
    """Return True if the phrase occurs in the text, but not within a word; both are folded."""
    if not phrase or phrase not in text:  # most aren't, and a guardrail may have 10,000
        return False
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text) is not None


_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_PIECES = 64  # texts to embed at most, which bounds the time; further sentences are joined


class Side(StrEnum):
    INPUT = "INPUT"
    OUTPUT = "OUTPUT"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """An entry of a guardrail, and whether it was detected in a text."""

    name: str
    detected: bool


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """A guardrail's findings in a text; None for a policy that it lacks."""

    message: str
    words: Sequence[Finding] | None
    topics: Sequence[Finding] | None

    @property
    def blocked(self) -> bool:
        return any(each.detected for each in (*(self.words or ()), *(self.topics or ())))


@dataclass(frozen=True, kw_only=True)
class Guard:
    """
    A version of a guardrail that judges texts.

    `known` caches the vectors of guardrails' own texts.
    """

    body: dict[str, Any]
    embedder: Embedder
    known: dict[str, Vector] = field(default_factory=dict)

    def judge(self, text: str, side: Side) -> Verdict:
        words, topics = words_of(self.body), topics_of(self.body)
        message = "blockedInputMessaging" if side is Side.INPUT else "blockedOutputsMessaging"
        return Verdict(
            message=self.body[message],
            words=self._words(text, words) if words else None,
            topics=self._topics(text, topics) if topics else None,
        )

    def _words(self, text: str, entries: list[dict[str, Any]]) -> list[Finding]:
        """Find blocked words: rule guardrail.words."""
        plain = fold(text)
        return [
            Finding(
                name=entry["text"],
                detected=contains_phrase(fold(entry["text"]), plain),
            )
            for entry in entries
        ]

    def _topics(self, text: str, entries: list[dict[str, Any]]) -> list[Finding]:
        vectors = [self.embedder.embed_question(piece) for piece in _pieces(text)]
        return [
            Finding(
                name=entry["name"],
                detected=self._nearness(entry, vectors) >= rules.GUARDRAIL_TOPICS.value,
            )
            for entry in entries
        ]

    def _nearness(self, topic: dict[str, Any], vectors: list[Vector]) -> float:
        texts = (f"{topic['name']}. {topic['definition']}", *(topic.get("examples") or ()))
        return max(
            (float(self._known(each) @ vector) for each in texts for vector in vectors), default=0.0
        )

    def _known(self, text: str) -> Vector:
        if text not in self.known:
            self.known[text] = self.embedder.embed_question(text)
        return self.known[text]


@dataclass(frozen=True, kw_only=True)
class Screening:
    store: Store
    embedder: Embedder
    _known: dict[str, Vector] = field(default_factory=dict)

    def guard(self, identifier: str, version: str) -> Guard | None:
        """Return a version of a guardrail, or None if it doesn't exist."""
        row = guardrail(self.store, identifier, version)
        if row is None:
            return None
        return Guard(body=loaded(row["body"]), embedder=self.embedder, known=self._known)

    def requested(self, request: dict[str, Any]) -> Guard | None:
        """Return the guard of a guardrailConfiguration; raises ServiceError if it is missing."""
        named = request.get("guardrailConfiguration")
        if not named:
            return None
        guard = self.guard(named["guardrailId"], named["guardrailVersion"])
        if guard is None:
            raise rules.GUARDRAIL_MISSING.broken()
        return guard


def action_of(verdict: Verdict | None) -> dict[str, str]:
    """Return the response member with a guardrail's action, if one was applied."""
    if verdict is None:
        return {}
    return {"guardrailAction": "INTERVENED" if verdict.blocked else "NONE"}


def _pieces(text: str) -> list[str]:
    sentences = [match[0].strip() for match in _SENTENCE.finditer(text)]
    sentences = [sentence for sentence in sentences if sentence]
    together = -(-len(sentences) // _PIECES) or 1
    return [" ".join(sentences[at : at + together]) for at in range(0, len(sentences), together)]


# Assessments of a text, in ApplyGuardrail's responses and Converse's traces.

_BLOCKED = {"action": "BLOCKED", "detected": True}
_UNIT = 1000  # characters of a text unit, by which AWS counts and charges


def assessment(verdict: Verdict, text: str, *, milliseconds: int) -> dict[str, Any]:
    words = [each for each in verdict.words or () if each.detected]
    topics = [each for each in verdict.topics or () if each.detected]
    metrics = {"guardrailProcessingLatency": milliseconds, **usage_members(verdict, text)}
    answer: dict[str, Any] = {"invocationMetrics": metrics}
    if topics:
        named = [{"name": each.name, "type": "DENY", **_BLOCKED} for each in topics]
        answer["topicPolicy"] = {"topics": named}
    if words:
        matches = [{"match": each.name, **_BLOCKED} for each in words]
        answer["wordPolicy"] = {"customWords": matches, "managedWordLists": []}
    return answer


def usage_members(verdict: Verdict, text: str) -> dict[str, Any]:
    """Return the usage in text units, and the characters covered."""
    units = -(-len(text) // _UNIT)
    usage = {
        "topicPolicyUnits": units if verdict.topics is not None else 0,
        "contentPolicyUnits": 0,
        "wordPolicyUnits": units if verdict.words is not None else 0,
        "sensitiveInformationPolicyUnits": 0,
        "sensitiveInformationPolicyFreeUnits": 0,
        "contextualGroundingPolicyUnits": 0,
    }
    characters = {"guarded": len(text), "total": len(text)}
    return {"usage": usage, "guardrailCoverage": {"textCharacters": characters}}


def action_reason(verdict: Verdict) -> str:
    return "Guardrail blocked." if verdict.blocked else "No action."


# bedrock-runtime's ApplyGuardrail.


@dataclass(frozen=True, kw_only=True)
class GuardrailApplication:
    screening: Screening
    arns: Arns

    def apply(self, parameters: Parameters) -> Parameters:
        if parameters.get("outputScope") == "FULL":
            raise rules.NOT_SIMULATED.broken(what="outputScope FULL of ApplyGuardrail")
        began = time.monotonic()
        identifier, version = parameters["guardrailIdentifier"], parameters["guardrailVersion"]
        guard = self.screening.guard(identifier, version)
        if guard is None:
            raise rules.GUARDRAIL_UNKNOWN.broken()
        text = "\n".join(_texts(parameters["content"]))
        verdict = guard.judge(text, Side(parameters["source"]))
        milliseconds = int((time.monotonic() - began) * 1000)
        assessed = {
            **assessment(verdict, text, milliseconds=milliseconds),
            "appliedGuardrailDetails": self._details(identifier, version),
        }
        return {
            "action": "GUARDRAIL_INTERVENED" if verdict.blocked else "NONE",
            "actionReason": action_reason(verdict),
            "outputs": [{"text": verdict.message}] if verdict.blocked else [],
            "assessments": [assessed],
            **usage_members(verdict, text),
        }

    def _details(self, identifier: str, version: str) -> dict[str, Any]:
        id_ = identifier.rpartition("/")[2]
        return {
            "guardrailId": id_,
            "guardrailVersion": version,
            "guardrailArn": self.arns.guardrail(id_),
            "guardrailOrigin": ["REQUEST"],
            "guardrailOwnership": "SELF",
        }


def _texts(content: Sequence[dict[str, Any]]) -> Iterable[str]:
    for block in content:
        if "text" not in block:
            raise rules.NOT_SIMULATED.broken(what="images in ApplyGuardrail")
        if block["text"].get("qualifiers"):
            raise rules.NOT_SIMULATED.broken(what="qualifiers of a text in ApplyGuardrail")
        yield block["text"]["text"]
