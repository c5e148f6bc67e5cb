"""A guardrail over one conversation: what it blocks, and the trace that tells what it found."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bedrock_kb_simulator.assessments import assessed, reason
from bedrock_kb_simulator.messages import Text, Turn
from bedrock_kb_simulator.rules import CONVERSE_GUARDRAIL_MISSING, NOT_SIMULATED
from bedrock_kb_simulator.screening import Guard, Screening, Side


@dataclass(frozen=True, kw_only=True)
class Guarding:
    """Without a guard nothing is blocked and nothing traced."""

    guard: Guard | None = None
    identifier: str = ""
    trace: str = "disabled"
    _traced: dict[str, Any] = field(default_factory=dict)

    def refusal(self, text: str, side: Side) -> str | None:
        """The guardrail's own message where it blocks the text."""
        if self.guard is None:
            return None
        began = time.monotonic()
        verdict = self.guard.judged(text, side)
        milliseconds = int((time.monotonic() - began) * 1000)
        found = assessed(
            verdict, text, milliseconds=milliseconds, full=self.trace == "enabled_full"
        )
        if side is Side.INPUT:
            self._traced["inputAssessment"] = {self.identifier: found}
        else:
            self._traced["outputAssessments"] = {self.identifier: [found]}
        if not verdict.blocked:
            return None
        self._traced["actionReason"] = reason(verdict)
        return verdict.message

    @property
    def told(self) -> dict[str, Any]:
        """The member of an answer that has the trace: rule converse.guardrail-trace."""
        if self.guard is None or self.trace == "disabled":
            return {}
        return {"trace": {"guardrail": self._traced}}


def guarding(screening: Screening, named: dict[str, Any]) -> Guarding:
    """By a guardrailConfig; raises ServiceError where it names none that there is."""
    if named.get("streamProcessingMode", "sync") != "sync":
        raise NOT_SIMULATED.broken(what="guardrails beside a stream (streamProcessingMode)")
    identifier = named.get("guardrailIdentifier") or ""
    version = named.get("guardrailVersion") or ""
    if not identifier and not version:
        return Guarding()
    guard = screening.guard(identifier, version)
    if guard is None:
        raise CONVERSE_GUARDRAIL_MISSING.broken()
    return Guarding(
        guard=guard,
        identifier=identifier.rpartition("/")[2],
        trace=named.get("trace") or "disabled",
    )


def guarded(turns: Sequence[Turn]) -> str:
    """What a guardrail looks at: rule converse.guardrail."""
    blocks = [block for turn in turns for block in turn.blocks if isinstance(block, Text)]
    chosen = [block for block in blocks if block.is_guarded] or blocks
    return "\n".join(block.text for block in chosen)
