"""bedrock-runtime's ApplyGuardrail."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from stackroom_local.simulator.dispatch import Parameters
from stackroom_local.simulator.identifiers import Arns
from stackroom_local.simulator.rules import GUARDRAIL_UNKNOWN, NOT_SIMULATED
from stackroom_local.simulator.screening import Finding, Screening, Side, Verdict

_UNIT = 1000  # characters of a text unit, by which AWS counts and charges


@dataclass(frozen=True, kw_only=True)
class GuardrailApplication:
    screening: Screening
    arns: Arns

    def apply(self, parameters: Parameters) -> Parameters:
        began = time.monotonic()
        identifier, version = parameters["guardrailIdentifier"], parameters["guardrailVersion"]
        guard = self.screening.guard(identifier, version)
        if guard is None:
            raise GUARDRAIL_UNKNOWN.broken()
        text = "\n".join(_texts(parameters["content"]))
        verdict = guard.judged(text, Side(parameters["source"]))
        counted = _counted(verdict, text)
        latency = int((time.monotonic() - began) * 1000)
        assessment = {
            **_assessed(verdict, full=parameters.get("outputScope") == "FULL"),
            "invocationMetrics": {"guardrailProcessingLatency": latency, **counted},
            "appliedGuardrailDetails": self._details(identifier, version),
        }
        return {
            "action": "GUARDRAIL_INTERVENED" if verdict.blocked else "NONE",
            "actionReason": "Guardrail blocked." if verdict.blocked else "No action.",
            "outputs": [{"text": verdict.message}] if verdict.blocked else [],
            "assessments": [assessment],
            **counted,
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
            raise NOT_SIMULATED.broken(what="images in ApplyGuardrail")
        if block["text"].get("qualifiers"):
            raise NOT_SIMULATED.broken(what="qualifiers of a text in ApplyGuardrail")
        yield block["text"]["text"]


def _assessed(verdict: Verdict, *, full: bool) -> dict[str, Any]:
    """Only what was found, and with FULL other topics: rule guardrail.output-scope."""
    words = [each for each in verdict.words or () if each.detected]
    topics = [each for each in verdict.topics or () if each.detected or full]
    answer: dict[str, Any] = {}
    if topics:
        named = [{"name": each.name, "type": "DENY", **_action(each)} for each in topics]
        answer["topicPolicy"] = {"topics": named}
    if words:
        matches = [{"match": each.name, **_action(each)} for each in words]
        answer["wordPolicy"] = {"customWords": matches, "managedWordLists": []}
    return answer


def _action(finding: Finding) -> dict[str, Any]:
    return {"action": "BLOCKED" if finding.blocked else "NONE", "detected": finding.detected}


def _counted(verdict: Verdict, text: str) -> dict[str, Any]:
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
