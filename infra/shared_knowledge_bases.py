"""
Knowledge bases that a deployment shares: everybody's agents may be linked to them, and search them
in runs. A file that the context names says which.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import aws_cdk as cdk
from constructs import Construct

from stackroom_constructs.agent_knowledge_bases import GivenKnowledgeBases

_ROOT = Path(__file__).parents[1]
_SETTING = "shared_knowledge_bases_file"
# Of `BedrockKnowledgeBase`: what is there already is shared, and no tool of ours generates.
_NOT_HERE = ("create", "generation")


@dataclass(frozen=True, kw_only=True)
class SharedKnowledgeBases:
    """`described` as the arguments of a `BedrockKnowledgeBase` of stackroom_constructs, each."""

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
        if not isinstance(described, list) or not all(map(_is_of_one, described)):
            raise ValueError(
                f"context {_SETTING} {name!r} must be a JSON list of objects, each with name,"
                f" description and knowledge_base_id, and without {' and '.join(_NOT_HERE)}"
            )
        return cls(described=tuple(described))

    def given(self, scope: Construct) -> GivenKnowledgeBases:
        """Raises ValueError for what no knowledge base can be."""
        described = [{**each, "generation": False} for each in self.described]
        return GivenKnowledgeBases.of(scope, described)


def environment_of_shared(given: GivenKnowledgeBases) -> dict[str, str]:
    """Nothing, if none are shared."""
    if not given.entries:
        return {}
    return {"KNOWLEDGE_BASES_CONFIG": json.dumps(given.entries, separators=(",", ":"))}


def _is_of_one(described: object) -> bool:
    if not isinstance(described, dict) or any(each in described for each in _NOT_HERE):
        return False
    needed = ("name", "description", "knowledge_base_id")
    return all(isinstance(described.get(each), str) for each in needed)
