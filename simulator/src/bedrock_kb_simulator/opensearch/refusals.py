"""What a collection answers when it refuses."""

from typing import Any

from bedrock_kb_simulator.rules import Rule


class Refused(Exception):
    """`kind` and `reason` in OpenSearch's words."""

    def __init__(self, status: int, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.kind = kind
        self.reason = reason

    @property
    def body(self) -> dict[str, Any]:
        if self.kind == "Forbidden":  # of what stands before OpenSearch
            return {"status": self.status, "error": {"reason": self.reason, "type": self.kind}}
        cause = {"type": self.kind, "reason": self.reason}
        return {"error": {"root_cause": [cause], **cause}, "status": self.status}


def refused(rule: Rule, **details: Any) -> Refused:
    return Refused(rule.status, rule.error, rule.message.format(limit=rule.limit, **details))
