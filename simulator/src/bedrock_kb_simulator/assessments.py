"""What a guardrail found in a text, in AWS's words: for ApplyGuardrail and Converse's traces."""

from typing import Any

from bedrock_kb_simulator.screening import Finding, Verdict

_UNIT = 1000  # characters of a text unit, by which AWS counts and charges


def assessed(verdict: Verdict, text: str, *, milliseconds: int, full: bool) -> dict[str, Any]:
    """Only what was found, and with `full` other topics: rule guardrail.output-scope."""
    words = [each for each in verdict.words or () if each.detected]
    topics = [each for each in verdict.topics or () if each.detected or full]
    metrics = {"guardrailProcessingLatency": milliseconds, **counted(verdict, text)}
    answer: dict[str, Any] = {"invocationMetrics": metrics}
    if topics:
        named = [{"name": each.name, "type": "DENY", **_action(each)} for each in topics]
        answer["topicPolicy"] = {"topics": named}
    if words:
        matches = [{"match": each.name, **_action(each)} for each in words]
        answer["wordPolicy"] = {"customWords": matches, "managedWordLists": []}
    return answer


def counted(verdict: Verdict, text: str) -> dict[str, Any]:
    """Text units and characters."""
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


def reason(verdict: Verdict) -> str:
    return "Guardrail blocked." if verdict.blocked else "No action."


def _action(finding: Finding) -> dict[str, Any]:
    return {"action": "BLOCKED" if finding.blocked else "NONE", "detected": finding.detected}
