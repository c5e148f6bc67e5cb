"""The knowledge bases of an agent, with the configuration and the rights to search them."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from stackroom_constructs.argument_checks import InvalidArgument
from stackroom_constructs.base_knowledge_base import IKnowledgeBase, RetrievalTool
from stackroom_constructs.bedrock_knowledge_base import BedrockKnowledgeBase

_KEY = "knowledgeBaseId"
# The arguments besides scope and id, which are set here.
_ARGUMENTS = tuple(inspect.signature(BedrockKnowledgeBase.__init__).parameters)[3:]


@dataclass(frozen=True, kw_only=True)
class AgentKnowledgeBases:
    """
    Knowledge bases with what an agent's function needs to search them.

    `entries` are those of KNOWLEDGE_BASES_CONFIG, `statements` the rights to search, and `tools`
    the retrieval tools, one per knowledge base.
    """

    entries: tuple[dict[str, Any], ...]
    statements: tuple[iam.PolicyStatement, ...]
    tools: tuple[RetrievalTool, ...]

    @property
    def own_tools(self) -> tuple[RetrievalTool, ...]:
        """The tools other than Stackroom's own, each once."""
        return tuple({tool.name: tool for tool in self.tools if not tool.is_default}.values())

    @property
    def with_access_control(self) -> list[str]:
        """The names of knowledge bases with enable_acl that Stackroom's own tool searches."""
        return [
            str(entry["name"])
            for entry, tool in zip(self.entries, self.tools, strict=True)
            if entry.get("enableAcl") is True and tool.is_default
        ]

    @property
    def layers(self) -> list[lambda_.ILayerVersion]:
        return list(dict.fromkeys(layer for tool in self.tools for layer in tool.layers))

    @property
    def packages(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(each for tool in self.tools for each in tool.packages))

    @classmethod
    def of(cls, scope: Construct, given: Sequence[IKnowledgeBase | Mapping[str, Any]]) -> Self:
        """Return the knowledge bases. Raises InvalidArgument for invalid or conflicting ones."""
        if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
            allowed = "a list of knowledge bases, even if there is only one"
            raise InvalidArgument(scope, "knowledge_bases", given, allowed)
        known = [
            _to_knowledge_base(scope, number, each) for number, each in enumerate(given, start=1)
        ]
        tools = [each.retrieval_tool() for each in known]
        _check_tools(scope, tools)
        entries = [_entry(scope, each, tool) for each, tool in zip(known, tools, strict=True)]
        _check_ids(scope, entries)
        return cls(
            entries=tuple(entries),
            statements=tuple(
                statement for each in known for statement in each.generate_iam_permissions()
            ),
            tools=tuple(tools),
        )


def _to_knowledge_base(
    scope: Construct, number: int, given: IKnowledgeBase | Mapping[str, Any]
) -> IKnowledgeBase:
    """Return a knowledge base; plain props are those of a BedrockKnowledgeBase."""
    if isinstance(given, Mapping):
        if unknown := [name for name in given if name not in _ARGUMENTS]:
            allowed = f"arguments of BedrockKnowledgeBase: {', '.join(_ARGUMENTS)}"
            raise InvalidArgument(scope, f"knowledge_bases[{number - 1}]", unknown, allowed)
        return BedrockKnowledgeBase(scope, f"KnowledgeBase{number}", **given)
    if not isinstance(given, IKnowledgeBase):
        allowed = "a knowledge base, or the props of a BedrockKnowledgeBase"
        raise InvalidArgument(scope, f"knowledge_bases[{number - 1}]", given, allowed)
    return given


def _entry(scope: Construct, knowledge_base: IKnowledgeBase, tool: RetrievalTool) -> dict[str, Any]:
    entry = dict(knowledge_base.export_configuration())
    entry.setdefault("name", knowledge_base.name)
    entry.setdefault("description", knowledge_base.description)
    for member in (_KEY, "name", "description"):
        value = entry.get(member)
        if not isinstance(value, str) or not value.strip():
            argument = f"{member} of {knowledge_base.name!r}"
            raise InvalidArgument(scope, argument, value, "non-blank text")
    # The agent checks what its own tool reads when it starts (stackroom_stores.entries).
    return entry if tool.is_default else {**entry, "retrievalTool": tool.name}


def _check_ids(scope: Construct, entries: Sequence[Mapping[str, Any]]) -> None:
    """Check that ids are unique; errors show names, since the id of a created one is a token."""
    ids = [str(cdk.Stack.of(scope).resolve(entry[_KEY])) for entry in entries]
    duplicates = [entry for entry, id_ in zip(entries, ids, strict=True) if ids.count(id_) > 1]
    if duplicates:
        names = [str(entry["name"]) for entry in duplicates]
        first = duplicates[0][_KEY]
        value = names if cdk.Token.is_unresolved(first) else first
        allowed = f"unique, but {len(duplicates)} knowledge bases have it: {', '.join(names)}"
        raise InvalidArgument(scope, _KEY, value, allowed)


def _check_tools(scope: Construct, tools: Sequence[RetrievalTool]) -> None:
    found: dict[str, RetrievalTool] = {}
    for tool in tools:
        if tool.is_default and _implementation(tool) != (None, None):
            allowed = "another name, since Stackroom's own tool has this one"
            raise InvalidArgument(scope, "name of a retrieval tool", tool.name, allowed)
        if _implementation(found.setdefault(tool.name, tool)) != _implementation(tool):
            allowed = "unique, but two tools of the agent's knowledge bases have it"
            raise InvalidArgument(scope, "name of a retrieval tool", tool.name, allowed)


def _implementation(tool: RetrievalTool) -> tuple[str | None, str | None]:
    return (tool.asset.asset_hash if tool.asset is not None else None, tool.module)
