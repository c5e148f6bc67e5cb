"""Errors in an agent's own program: the same event fails until the agent is deployed again."""

from stackroom.errors import StackroomError


class AgentMisconfigured(StackroomError):
    def __init__(self, what: str, problem: str) -> None:
        super().__init__(f"{what} can't be used: {problem}")


class AgentBroke(StackroomError):
    def __init__(self, kind: str) -> None:
        super().__init__(f"the agent broke ({kind}); the operator finds where in the log")
