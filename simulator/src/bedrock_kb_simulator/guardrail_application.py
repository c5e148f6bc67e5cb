"""bedrock-runtime's ApplyGuardrail."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from bedrock_kb_simulator.assessments import assessed, counted, reason
from bedrock_kb_simulator.dispatch import Parameters
from bedrock_kb_simulator.identifiers import Arns
from bedrock_kb_simulator.rules import GUARDRAIL_UNKNOWN, NOT_SIMULATED
from bedrock_kb_simulator.screening import Screening, Side


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
        milliseconds = int((time.monotonic() - began) * 1000)
        is_full = parameters.get("outputScope") == "FULL"
        assessment = {
            **assessed(verdict, text, milliseconds=milliseconds, full=is_full),
            "appliedGuardrailDetails": self._details(identifier, version),
        }
        return {
            "action": "GUARDRAIL_INTERVENED" if verdict.blocked else "NONE",
            "actionReason": reason(verdict),
            "outputs": [{"text": verdict.message}] if verdict.blocked else [],
            "assessments": [assessment],
            **counted(verdict, text),
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
