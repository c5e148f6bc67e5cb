"""What an agent's zip holds: Stackroom's code, and the packages of the agent and its tools."""

from collections.abc import Mapping

from stackroom_constructs.agent import BaseAgent
from stackroom_constructs.bundling import BASE_SERVICES, Bundle, source_of
from stackroom_constructs.refusals import InvalidArgument

_CONTEXT = "stackroom:bundling"
# What the code calls of an agent that runs nobody's but Stackroom's.
SERVICES = BASE_SERVICES | {
    "bedrock-agent-runtime",
    "bedrock-runtime",
    "rds",  # signs the tokens that PostgreSQL is reached with
    "s3",
    "s3vectors",
    "sqs",
}


def bundle_of(
    agent: BaseAgent,
    *,
    extras: tuple[str, ...] = ("agents",),
    files: Mapping[str, str] | None = None,
) -> Bundle:
    linked = agent.knowledge_bases
    runs_others_code = bool(
        agent.definition.tools
        or agent.definition.lambda_layers
        or linked.own_tools
        or linked.layers
        or linked.packages
    )
    return Bundle(
        folders={name: source_of(name) for name in ("stackroom_agents", "stackroom")},
        files=files or {},
        extras=extras,
        packages=linked.packages,
        # What others' code calls isn't known, so then every service is kept.
        services=None if runs_others_code else SERVICES,
        architecture=agent.architecture,
    )


def with_dependencies(agent: BaseAgent) -> bool:
    for name in agent.node.get_all_context():
        if name.startswith("stackroom:") and name != _CONTEXT:
            raise InvalidArgument(agent, "context", name, f"{_CONTEXT!r}, our only one")
    chosen = agent.node.try_get_context(_CONTEXT) or "full"
    if chosen not in ("full", "none"):
        raise InvalidArgument(agent, f"context {_CONTEXT}", chosen, "'full' or 'none'")
    return bool(chosen == "full")
