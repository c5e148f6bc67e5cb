"""
Knowledge bases that a deployment shares with the agents of all users.

A file that the context names describes them.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import aws_cdk as cdk
from constructs import Construct

from stackroom_constructs.agent_knowledge_bases import AgentKnowledgeBases

_ROOT = Path(__file__).parents[1]
_SETTING = "shared_knowledge_bases_file"
# Arguments of `BedrockKnowledgeBase` that don't apply: shared knowledge bases exist already, and no
# tool of ours generates.
_NOT_ALLOWED = ("create", "generation")


@dataclass(frozen=True, kw_only=True)
class SharedKnowledgeBases:
    """
    Shared knowledge bases, each described by arguments of stackroom_constructs'
    `BedrockKnowledgeBase`.
    """

    described: tuple[Mapping[str, Any], ...]

    @classmethod
    def from_context(cls, app: cdk.App) -> Self:
        name = str(app.node.get_context(_SETTING))
        if not name:
            return cls(described=())
        try:
            described = json.loads((_ROOT / name).read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ValueError(f"context {_SETTING} {name!r} must be a file of JSON") from error
        if not isinstance(described, list) or not all(map(_is_description, described)):
            raise ValueError(
                f"context {_SETTING} {name!r} must be a JSON list of objects, each with name,"
                f" description and knowledge_base_id, and without {' and '.join(_NOT_ALLOWED)}"
            )
        return cls(described=tuple(described))

    def resolve(self, scope: Construct) -> AgentKnowledgeBases:
        """Return the knowledge bases. Raises ValueError for an invalid description."""
        described = [{**each, "generation": False} for each in self.described]
        return AgentKnowledgeBases.of(scope, described)


def shared_environment(given: AgentKnowledgeBases) -> dict[str, str]:
    """Return the variable that describes the shared knowledge bases, if there are any."""
    if not given.entries:
        return {}
    return {"KNOWLEDGE_BASES_CONFIG": json.dumps(given.entries, separators=(",", ":"))}


def _is_description(described: object) -> bool:
    if not isinstance(described, dict) or any(each in described for each in _NOT_ALLOWED):
        return False
    needed = ("name", "description", "knowledge_base_id")
    return all(isinstance(described.get(each), str) for each in needed)
