"""The knowledge bases that an agent is given, and what they mean for its function."""

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from stackroom_constructs.argument_checks import (
    InvalidArgument,
    check_choice,
    check_flag,
    check_range,
)
from stackroom_constructs.base_knowledge_base import IKnowledgeBase, RetrievalTool, check_attribute
from stackroom_constructs.bedrock_knowledge_base import BedrockKnowledgeBase
from stackroom_constructs.own_store_knowledge_base import TENANCIES
from stackroom_constructs.retrieval_filters import check_filter, check_types
from stackroom_constructs.search_options import STORES

# What Stackroom's own tool reads of an entry, held to while the app is synthesised: any class may
# write one, and an entry that the agent refuses when it starts answers no event.
#
# What reads it holds it to the same rules (stackroom.stores.entries, and
# the settings of each store).

_OF_ALL = (
    "knowledgeBaseId",
    "name",
    "description",
    "numberOfResults",
    "retrievalFilter",
    "enableAcl",
    "aclMetadataField",
    "guardrailId",
    "guardrailVersion",
    "vectorStoreType",
    "overrideSearchType",
    "minScore",
    "reranking",
    "retrievalTool",
)
MEMBERS = (
    *_OF_ALL,
    "implicitFilter",
    "managedReranking",
    "embeddingModel",
    "embeddingDimensions",
)
OF_OWN_STORES = (*_OF_ALL, "tenancy", "tenantKey", "embeddingModel", "embeddingDimensions")
# What a store that Stackroom searches itself is told beside these.
OF_STORES: Mapping[str, tuple[str, ...]] = {
    "PGVECTOR": ("host", "port", "database", "user", "schema", "sslRootCert", "isLocal"),
    "S3_VECTORS_DIRECT": ("indexArn", "textKey", "sourceKey"),
}
# Of OPENSEARCH_SERVERLESS with a collectionEndpoint; without one, Bedrock's Retrieve searches it.
OF_COLLECTIONS = (
    "collectionEndpoint",
    "indexName",
    "vectorField",
    "textField",
    "metadataField",
    "sourceKey",
)


def check_entry(scope: Construct, entry: Mapping[str, Any]) -> None:
    """Of a knowledge base without a tool of its own. Raises InvalidArgument."""
    owner = f"{scope.node.path}: configuration of {entry['name']!r}"
    store = entry.get("vectorStoreType", "S3_VECTORS")
    check_choice(owner, "vectorStoreType", store, (*STORES, *OF_STORES))
    members = members_of(entry)
    if unknown := [member for member in entry if member not in members]:
        told = ", ".join(members)
        allowed = f"left out without a tool of its own, which alone reads others than {told}"
        raise InvalidArgument(owner, "members", unknown, allowed)
    if "tenancy" in members:
        check_choice(owner, "tenancy", entry.get("tenancy"), TENANCIES)
    narrowed = entry.get("enableAcl", False)
    check_flag(owner, "enableAcl", narrowed)
    check_attribute(owner, "aclMetadataField", entry.get("aclMetadataField", "allowed_groups"))
    check_range(owner, "numberOfResults", entry.get("numberOfResults", 5), 1, 100)
    condition = entry.get("retrievalFilter")
    check_filter(owner, condition, store=store, is_narrowed=narrowed)
    if _is_collection(entry):
        check_types(owner, condition)


def members_of(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """Those that the tool reads of an entry for this store."""
    own = OF_STORES.get(entry.get("vectorStoreType", ""))
    if _is_collection(entry):
        own = OF_COLLECTIONS
    return MEMBERS if own is None else (*OF_OWN_STORES, *own)


def _is_collection(entry: Mapping[str, Any]) -> bool:
    return entry.get("vectorStoreType") == "OPENSEARCH_SERVERLESS" and "collectionEndpoint" in entry


_KEY = "knowledgeBaseId"
# But for scope and id, which it is given here.
_ARGUMENTS = tuple(inspect.signature(BedrockKnowledgeBase.__init__).parameters)[3:]


@dataclass(frozen=True, kw_only=True)
class GivenKnowledgeBases:
    """
    `entries` of KNOWLEDGE_BASES_CONFIG, the `statements` that searching them takes, and the `tools`
    that search them, one for each.
    """

    entries: tuple[dict[str, Any], ...]
    statements: tuple[iam.PolicyStatement, ...]
    tools: tuple[RetrievalTool, ...]

    @property
    def own_tools(self) -> tuple[RetrievalTool, ...]:
        """Each once, however many knowledge bases it searches."""
        return tuple({tool.name: tool for tool in self.tools if not tool.is_default}.values())

    @property
    def telling_groups_apart(self) -> list[str]:
        """Names of those that Stackroom's own tool searches for nobody who isn't told of."""
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
        """Raises InvalidArgument for what can't stand side by side, or is no knowledge base."""
        if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
            allowed = "a list of knowledge bases, even of one"
            raise InvalidArgument(scope, "knowledge_bases", given, allowed)
        known = [_made(scope, number, each) for number, each in enumerate(given, start=1)]
        tools = [each.retrieval_tool() for each in known]
        _held_together(scope, tools)
        entries = [_entry(scope, each, tool) for each, tool in zip(known, tools, strict=True)]
        _held_apart(scope, entries)
        return cls(
            entries=tuple(entries),
            statements=tuple(
                statement for each in known for statement in each.generate_iam_permissions()
            ),
            tools=tuple(tools),
        )


def _made(
    scope: Construct, number: int, given: IKnowledgeBase | Mapping[str, Any]
) -> IKnowledgeBase:
    """Plain props are those of a BedrockKnowledgeBase."""
    if isinstance(given, Mapping):
        if unknown := [name for name in given if name not in _ARGUMENTS]:
            allowed = f"among the arguments of BedrockKnowledgeBase: {', '.join(_ARGUMENTS)}"
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
            raise InvalidArgument(scope, argument, value, "a text that is not blank")
    if tool.is_default:
        check_entry(scope, entry)
        return entry
    return {**entry, "retrievalTool": tool.name}


def _held_apart(scope: Construct, entries: Sequence[Mapping[str, Any]]) -> None:
    """The id of one that is made here is known to CloudFormation alone, so names are told, too."""
    ids = [str(cdk.Stack.of(scope).resolve(entry[_KEY])) for entry in entries]
    twice = [entry for entry, id_ in zip(entries, ids, strict=True) if ids.count(id_) > 1]
    if twice:
        names = [str(entry["name"]) for entry in twice]
        told = names if cdk.Token.is_unresolved(twice[0][_KEY]) else twice[0][_KEY]
        allowed = f"in one of the agent's knowledge bases, not in {len(twice)}: {', '.join(names)}"
        raise InvalidArgument(scope, _KEY, told, allowed)


def _held_together(scope: Construct, tools: Sequence[RetrievalTool]) -> None:
    found: dict[str, RetrievalTool] = {}
    for tool in tools:
        if tool.is_default and _implementation(tool) != (None, None):
            allowed = "another name, since this one is Stackroom's own tool"
            raise InvalidArgument(scope, "name of a retrieval tool", tool.name, allowed)
        if _implementation(found.setdefault(tool.name, tool)) != _implementation(tool):
            allowed = "the name of one tool, and knowledge bases of this agent bring two of it"
            raise InvalidArgument(scope, "name of a retrieval tool", tool.name, allowed)


def _implementation(tool: RetrievalTool) -> tuple[str | None, str | None]:
    return (tool.asset.asset_hash if tool.asset is not None else None, tool.module)
