"""How a run ended, told to its user: a sentence, and what to do."""

from stackroom.errors import (
    AgentUnfinished,
    ModelRefused,
    ModelThrottled,
    ModelUnavailable,
    ServiceRefused,
    StackroomError,
    Unavailable,
)

BROKE = "Something broke that nobody expected; the operator finds where in the log. Try again."
AGENT_GONE = "The agent was deleted before it could answer."


_LATER = {
    ModelThrottled: "The model {model!r} has too much to do. Try again in a minute.",
    ModelUnavailable: "The model {model!r} did not answer. Try again in a minute.",
    Unavailable: "A store did not answer. Try again in a minute.",
}


def reason_of(error: StackroomError, model: str) -> str:
    """`model` is the one that the agent was to talk to."""
    for kind, told in _LATER.items():
        if isinstance(error, kind):
            return told.format(model=model)
    match error:
        case ModelRefused():
            return (
                f"The model {model!r} did not take the request: {error.why} If no model is called"
                " that, or it can't use tools, choose another in the agent's settings."
            )
        case ServiceRefused():
            # Of Converse: no such model in this region, or none that the account may use.
            return (
                f"The model {model!r} can't be used here ({error.code}). Choose another in the"
                " agent's settings, or have the operator allow it."
            )
        case AgentUnfinished():
            return f"The agent has no answer: {error.why}. Ask for less at a time."
    return BROKE
